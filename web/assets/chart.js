// Charts: colours, axes, and the three kinds that the page shows.

// Contents that are hatched, so that nobody needs colour to tell them from their neighbours.
const hatched = new Set(["tools", "notes", "thinking", "stubs"]);
const probe = make("span", { hidden: true });
document.body.append(probe);
let colours = new Map(), patterns = new Map();

// colour resolves one of the style sheet's colours in the theme that is on.
function colour(name) {
  if (!colours.has(name)) {
    probe.style.color = `var(${name})`;
    colours.set(name, getComputedStyle(probe).color);
  }
  return colours.get(name);
}
const forget = () => { colours = new Map(); patterns = new Map(); };

// fill is a content's colour, or its pattern.
function fill(content, ratio) {
  const base = colour("--c-" + content);
  if (!hatched.has(content)) return base;
  if (!patterns.has(content)) {
    const size = Math.round(6 * ratio), tile = make("canvas", { width: size, height: size }), ink = tile.getContext("2d");
    ink.fillStyle = base;
    ink.fillRect(0, 0, size, size);
    ink.strokeStyle = colour("--surface");
    ink.lineWidth = ratio;
    for (const d of [-size, 0, size]) {
      ink.beginPath();
      ink.moveTo(d, size);
      ink.lineTo(d + size, 0);
      ink.stroke();
    }
    patterns.set(content, ink.createPattern(tile, "repeat"));
  }
  return patterns.get(content);
}

const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const axis = (more) => ({
  font, stroke: () => colour("--muted"), grid: { stroke: () => colour("--line"), width: 1 },
  ticks: { stroke: () => colour("--line"), width: 1, size: 4 }, ...more,
});

// axes are those of Steps below and of values on the left.
const axes = (write) => [
  axis({ size: 28, gap: 4, grid: { show: false }, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000], values: (_, v) => v.map(count) }),
  axis({ size: 52, gap: 6, values: (_, v) => v.map(write) }),
];

// plot makes a chart as wide as its box; moved(i) is told where the pointer is.
function plot(box, o) {
  const at = () => ({ width: Math.max(box.clientWidth, 60), height: Math.max(box.clientHeight, 20) });
  const u = new uPlot({
    ...at(), legend: { show: false }, padding: o.padding ?? [10, 20, 0, 0], axes: o.axes, series: o.series, select: { show: !!o.zoom },
    cursor: { show: !!o.moved, y: false, points: { show: false }, drag: { x: !!o.zoom, y: false, setScale: !!o.zoom } },
    scales: { x: { time: false, range: o.x ?? ((_, min, max) => [min, max > min ? max : min + 1]) }, y: { range: o.y } },
    hooks: {
      draw: o.draw ? [o.draw] : [],
      setCursor: o.moved ? [(v) => { if (v.cursor.idx != null && v.cursor.event) o.moved(v.cursor.idx); }] : [],
    },
  }, o.data, box);
  const watch = new ResizeObserver(() => { if (box.clientWidth) u.setSize(at()); });
  watch.observe(box);
  return { u, end: () => { watch.disconnect(); u.destroy(); } };
}

// ceiling is the highest value of the y axis: all that was sent, and the limit unless it is so far up that nothing else would be seen.
function ceiling(run) {
  let top = 0;
  for (let i = 0; i < run.n; i++) top = Math.max(top, run.tokens[i], run.raw ? run.raw[i] : 0);
  return (run.limit && run.limit <= top * 3 ? Math.max(top, run.limit) : top) * 1.06 || 1;
}

// rule draws a dashed line across the plot with its name, or says that it lies above.
function rule(u, value, name) {
  const { ctx, bbox: b } = u, r = devicePixelRatio || 1, above = value > u.scales.y.max;
  const y = above ? b.top + 2 * r : Math.round(u.valToPos(value, "y", true));
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = colour("--limit");
  ctx.lineWidth = 1.5 * r;
  if (!above) {
    ctx.setLineDash([6 * r, 4 * r]);
    ctx.beginPath();
    ctx.moveTo(b.left, y);
    ctx.lineTo(b.left + b.width, y);
    ctx.stroke();
  }
  if (name) {
    ctx.font = font.replace("12px", `600 ${12 * r}px`);
    ctx.textAlign = "left";
    const label = above ? `${name} ${count(value)} ↑` : `${name} ${count(value)}`, wide = ctx.measureText(label).width;
    const low = y - b.top < 18 * r;
    ctx.globalAlpha = 0.85;
    ctx.fillStyle = colour("--surface");
    ctx.fillRect(b.left + 4 * r, low ? y + 3 * r : y - 17 * r, wide + 8 * r, 15 * r);
    ctx.globalAlpha = 1;
    ctx.fillStyle = colour("--limit");
    ctx.textBaseline = low ? "top" : "bottom";
    ctx.fillText(label, b.left + 8 * r, low ? y + 4 * r : y - 3 * r);
  }
  ctx.restore();
}

// marks draws a triangle at the foot of the plot for each Step with something done, a diamond for the backstop, a cross for a Step that
// nothing could bring within the limit. Where they would run together they become ticks.
function marks(u, run, chosen) {
  const { ctx, bbox: b } = u, r = devicePixelRatio || 1, bottom = b.top;
  const steps = [...run.marksAt.keys()].filter((x) => x >= u.scales.x.min && x <= u.scales.x.max);
  const dense = steps.length * 9 * r > b.width, size = dense ? 1 : 4;
  ctx.save();
  ctx.beginPath();
  ctx.rect(b.left - 6 * r, b.top - 10 * r, b.width + 12 * r, b.height + 10 * r);
  ctx.clip();
  for (const step of steps) {
    const x = u.valToPos(step, "x", true), list = run.marksAt.get(step);
    const own = list.every((m) => data.texts[m[1]] === "backstop"), on = step === chosen;
    ctx.fillStyle = ctx.strokeStyle = on ? colour("--accent") : colour("--mark");
    ctx.globalAlpha = on ? 1 : 0.28;
    ctx.lineWidth = (on ? 2 : 1) * r;
    if (on || !dense) {
      ctx.beginPath();
      ctx.moveTo(x, b.top);
      ctx.lineTo(x, u.valToPos(run.tokens[run.at.get(step) ?? 0], "y", true));
      ctx.stroke();
    }
    ctx.globalAlpha = on || !dense ? 1 : 0.6;
    ctx.beginPath();
    ctx.moveTo(x - size * r, bottom - 9 * r);
    ctx.lineTo(x + size * r, bottom - 9 * r);
    if (own) ctx.lineTo(x + size * r, bottom - 5 * r);
    ctx.lineTo(x, bottom - r);
    if (own) ctx.lineTo(x - size * r, bottom - 5 * r);
    ctx.fill();
  }
  ctx.strokeStyle = colour("--bad");
  ctx.lineWidth = 2 * r;
  for (const step of run.badAt.keys()) {
    const x = u.valToPos(step, "x", true), y = b.top + b.height - 7 * r, d = 4 * r;
    ctx.beginPath();
    ctx.moveTo(x - d, y - d); ctx.lineTo(x + d, y + d);
    ctx.moveTo(x + d, y - d); ctx.lineTo(x - d, y + d);
    ctx.stroke();
  }
  ctx.restore();
}

// stacked draws contents on one another, the limit, the client's own line and the marks.
function stacked(box, run, o) {
  const present = data.contents.map((name, c) => ({ name, c })).filter(({ c }) => run.parts[c]);
  let below = new Float64Array(run.n);
  const layers = present.map(({ name, c }) => {
    const sum = below = below.map((v, i) => v + run.parts[c][i]);
    return { name, sum };
  }).reverse(); // the highest first: each covers the foot of the one before
  const paths = uPlot.paths.linear();
  const series = layers.map(({ name }) => ({
    fill: (u) => fill(name, devicePixelRatio || 1), stroke: () => colour("--surface"), width: run.n > 600 ? 0 : 0.75, points: { show: run.n === 1 }, paths,
  }));
  const lists = [Array.from(run.x), ...layers.map((l) => l.sum)];
  if (run.raw) {
    series.push({ stroke: () => colour("--raw"), width: 1.5, points: { show: false }, paths });
    lists.push(run.raw);
  }
  const top = ceiling(run);
  return plot(box, {
    data: lists, series: [{}, ...series], axes: axes(short), padding: [16, 20, 0, 0], zoom: true, y: () => [0, top], moved: o.moved,
    draw: (u) => {
      if (run.limit) rule(u, run.limit, data.kind === "inspect" ? "window" : "limit");
      marks(u, run, o.chosen());
    },
  });
}

// mini is a run as small as a word: what was sent, what the client sent, the limit.
function mini(box, run) {
  const top = ceiling(run), paths = uPlot.paths.linear();
  return plot(box, {
    data: [Array.from(run.x), run.tokens, run.raw ?? run.tokens], padding: [2, 0, 2, 0], axes: [{ show: false }, { show: false }], y: () => [0, top],
    series: [{},
      { fill: () => colour("--c-outputs"), width: 0, points: { show: false }, paths },
      { stroke: () => colour("--muted"), width: 1, points: { show: false }, paths }],
    draw: (u) => { if (run.limit && run.limit < top) rule(u, run.limit, ""); },
  });
}

// money draws what was paid up to each Step, as far as it is known: the chosen run's line thick, the others thin, each with its name at its end.
function money(box, runs, o) {
  const longest = runs.reduce((a, b) => (b.n > a.n ? b : a)), wide = runs.length > 1 && box.clientWidth > 420;
  const lists = runs.map((r) => Array.from({ length: longest.n }, (_, i) => (i < r.n ? r.cost[i] : null)));
  const top = Math.max(...runs.map((r) => r.cost[r.paid - 1])) * 1.06 || 1;
  const names = (u) => {
    const { ctx, bbox: b } = u, ratio = devicePixelRatio || 1;
    const ends = runs.map((r, i) => ({ r, i, y: u.valToPos(r.cost[r.paid - 1], "y", true) })).sort((a, b) => b.y - a.y);
    ctx.save();
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    const apart = 13 * ratio;
    ends.forEach((e, i) => { e.y = Math.min(e.y, i ? ends[i - 1].y - apart : Infinity); });
    ends.reverse().forEach((e, i) => { e.y = Math.max(e.y, i ? ends[i - 1].y + apart : b.top); });
    for (const e of ends) {
      ctx.font = font.replace("12px", `${e.i === o.chosen() ? "600 " : ""}${12 * ratio}px`);
      ctx.fillStyle = colour(e.i === o.chosen() ? "--accent" : "--muted");
      ctx.fillText(o.names[e.i], b.left + b.width + 8 * ratio, e.y);
    }
    ctx.restore();
  };
  return plot(box, {
    data: [Array.from(longest.x), ...lists], axes: axes(dollars), y: () => [0, top], moved: o.moved, padding: [10, wide ? 104 : 20, 0, 0],
    series: [{}, ...runs.map((_, i) => ({
      stroke: () => colour(i === o.chosen() ? "--accent" : "--edge"), width: i === o.chosen() ? 2.5 : 1, points: { show: false },
    }))],
    draw: wide ? names : null,
  });
}

// cached draws the prompt and what of it was read from the provider's cache, with a tick where a warm prefix was lost.
function cached(box, run, o) {
  const top = Math.max(...run.tokens, 1) * 1.06, paths = uPlot.paths.linear();
  return plot(box, {
    data: [Array.from(run.x), run.tokens, run.read], axes: axes(short), y: () => [0, top], moved: o.moved,
    series: [{},
      { fill: () => colour("--line"), stroke: () => colour("--edge"), width: 1, points: { show: false }, paths },
      { fill: () => colour("--c-thinking"), width: 0, points: { show: false }, paths }],
    draw: (u) => {
      const { ctx, bbox: b } = u, r = devicePixelRatio || 1;
      ctx.save();
      ctx.fillStyle = colour("--bad");
      for (const step of run.lostAt.keys()) {
        const x = u.valToPos(step, "x", true);
        if (x < b.left - r || x > b.left + b.width + r) continue;
        ctx.beginPath();
        ctx.moveTo(x - 4 * r, b.top - 6 * r);
        ctx.lineTo(x + 4 * r, b.top - 6 * r);
        ctx.lineTo(x, b.top + r);
        ctx.fill();
      }
      ctx.restore();
    },
  });
}
