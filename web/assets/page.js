// The page: what is chosen, and what is shown for it.

const $ = (id) => document.getElementById(id);
const groups = [...document.querySelectorAll(".group")];
const viewer = $("viewer"), form = $("choose"), main = $("main-plot"), tip = make("div", { class: "tip", hidden: true });
let group = 0, run = null, chosen = -1, charts = [], minis = [], list = null;

const value = (name) => Number(form?.elements[name]?.value ?? 0);
const title = (kind, i) => form?.querySelector(`input[name=${kind}][value="${i}"]`)?.parentElement.querySelector("span").textContent ?? "";
const inWindow = () => data.groups[group].runs.filter((r) => r.w === value("window"));

// show draws everything anew for the group, policy and window that are chosen.
function show() {
  groups.forEach((g, i) => { g.hidden = i !== group; });
  for (const c of [...charts, ...minis]) c.end();
  charts = [];
  minis = [];
  const g = data.groups[group], all = inWindow();
  viewer.hidden = !g || g.runs.length === 0;
  if (viewer.hidden) return;
  groups[group].querySelector(".slot").append(viewer);
  run = all.find((r) => r.p === value("policy")) ?? all[0] ?? g.runs[0];
  for (const r of all) open(g, r);
  open(g, run);
  chosen = -1;
  cards(all);
  drawMain();
  drawMoney(all.length ? all : [run]);
  drawCache();
  listEdits();
  for (const d of viewer.querySelectorAll(".figures")) {
    d.lastElementChild.replaceChildren();
    if (d.open) figures(d);
  }
  highlight();
  move(run.n - 1, true);
}

// cards draws the small multiples, which are the policies' radio buttons.
function cards(all) {
  for (const card of viewer.querySelectorAll(".card")) {
    const p = Number(card.dataset.policy), r = all.find((x) => x.p === p), box = card.querySelector(".mini");
    card.querySelector("input").disabled = !r;
    card.querySelector(".sub").replaceChildren(...(r ? [make("span", {}, r.usd), make("span", {}, share(r.sent, r.rawsent))] : ["not run"]));
    if (r) minis.push(mini(box, r));
  }
}

function drawMain() {
  main.replaceChildren(tip);
  charts.push(stacked(main, run, { moved: (i) => move(i), chosen: () => run.x[chosen] }));
  main.setAttribute("aria-valuemin", run.x[0]);
  main.setAttribute("aria-valuemax", run.x[run.n - 1]);
  const about = [make("b", {}, count(run.sent)), " tokens"];
  if (run.rawsent) about.push(`, ${share(run.sent, run.rawsent)} of the client’s`);
  about.push(" · ", make("b", {}, run.usd));
  if (form) about.push(" · ", make("b", {}, count(run.over)), " Steps over the limit · ", make("b", {}, count(run.marks.reduce((n, m) => n + m[4], 0))), " edits");
  $("run").replaceChildren(...about);
  const rows = data.contents.map((name, c) => ({ name, c })).filter(({ c }) => run.parts[c]).reverse().map(({ name, c }) =>
    make("tr", { "data-c": c }, make("th", { scope: "row" }, make("span", { class: `swatch s-${name}${hatched.has(name) ? " hatch" : ""}` }), name), make("td", { class: "n" }), make("td", { class: "n" })));
  rows.push(make("tr", { class: "sum" }, make("th", { scope: "row" }, "sent"), make("td", { class: "n" }), make("td", { class: "n" })));
  if (run.raw) rows.push(make("tr", { "data-raw": "" }, make("th", { scope: "row" }, make("span", { class: "swatch client" }), "client’s own"), make("td", { class: "n" }), make("td", { class: "n" })));
  if (run.limit) rows.push(make("tr", {}, make("th", { scope: "row" }, make("span", { class: "swatch rule" }), form ? "limit" : "window"), make("td", { class: "n" }, count(run.limit)), make("td", { class: "n" })));
  $("legend").tBodies[0].replaceChildren(...rows);
}

function drawMoney(all) {
  const priced = all.filter((r) => r.cost && r.n), box = $("money-plot");
  box.replaceChildren();
  box.classList.toggle("empty", !priced.length);
  $("moneynote").textContent = priced.length ? (form ? "What each policy’s Steps cost up to there, in dollars." : "What the Steps cost up to there, in dollars.") + (priced.some((r) => r.paid < r.n) ? " A line ends before the first Step whose cost is not known." : "") : "";
  if (!priced.length) return void box.append("A price is not known.");
  charts.push(money(box, priced, { moved: (i) => move(i), chosen: () => priced.indexOf(run), names: priced.map((r) => title("policy", r.p)) }));
}

function drawCache() {
  const box = $("cache-plot"), any = run.read.some((v) => v > 0);
  box.replaceChildren();
  box.classList.toggle("empty", !any);
  $("cachenote").textContent = any ? `Coloured: read; grey: the whole prompt; triangles: a warm prefix was lost (${count(run.lost.length)}).` : "";
  if (!any) return void box.append("Nothing was read from a cache.");
  charts.push(cached(box, run, { moved: (i) => move(i) }));
}

// move chooses Step i of the run: in the charts, the legend, the tooltip and for screen readers.
function move(i, quiet) {
  i = Math.max(0, Math.min(run.n - 1, i));
  if (i === chosen) return;
  chosen = i;
  const step = run.x[i], sent = run.tokens[i], marked = run.marksAt.get(step) ?? [];
  for (const row of $("legend").tBodies[0].rows) {
    const n = row.dataset.c ? run.parts[row.dataset.c][i] : row.classList.contains("sum") ? sent : "raw" in row.dataset ? run.raw[i] : run.limit;
    row.cells[1].textContent = count(n);
    row.cells[2].textContent = row.dataset.c ? share(n, sent) : run.limit && n !== run.limit ? share(n, run.limit) : "";
    row.classList.toggle("zero", n === 0);
  }
  $("legend").caption.textContent = `Step ${count(step)} of ${count(run.x[run.n - 1])}`;
  const said = sentence(i);
  main.setAttribute("aria-valuenow", step);
  main.setAttribute("aria-valuetext", said);
  for (const [k, c] of charts.entries()) {
    c.u.setCursor({ left: c.u.valToPos(step, "x"), top: 0 }, false);
    if (k === 0) c.u.redraw(false, false);
  }
  for (const row of list?.body.rows ?? []) row.classList.toggle("chosen", row.dataset.step === String(step));
  if (quiet) return void (tip.hidden = true);
  place(step, marked);
}

// sentence says what is at a Step.
function sentence(i) {
  const step = run.x[i], marked = run.marksAt.get(step) ?? [];
  const largest = run.parts.map((p, c) => [p ? p[i] : 0, data.contents[c]]).sort((a, b) => b[0] - a[0]).slice(0, 3).filter((p) => p[0]);
  return [`Step ${count(step)}: ${count(run.tokens[i])} tokens${run.limit ? ` of ${count(run.limit)}` : ""}`,
    largest.map(([n, name]) => `${name} ${count(n)}`).join(", "),
    ...marked.slice(0, 4).map(describe), run.badAt.has(step) ? data.texts[run.badAt.get(step)] : ""].filter(Boolean).join(". ");
}
// broke tells a cache break from what the client or a policy took out: nothing was saved by it.
const broke = (m) => !form && data.texts[m[2]] === "cache break";
const describe = (m) => broke(m) ? `${data.texts[m[1]]}: cache break, ${count(m[5] - m[6])} tokens not read` : `${data.texts[m[1]]}: ${data.texts[m[2]]} × ${count(m[4])}, ${count(m[5])} → ${count(m[6])} tokens`;

// place puts the tooltip beside the Step.
function place(step, marked) {
  const u = charts[0].u, lines = marked.slice(0, 4).map((m) => make("span", {}, describe(m)));
  if (marked.length > 4) lines.push(make("span", {}, `and ${count(marked.length - 4)} more`));
  if (run.badAt.has(step)) lines.push(make("span", {}, data.texts[run.badAt.get(step)]));
  const lost = run.lostAt.get(step);
  if (lost && !marked.some(broke)) lines.push(make("span", {}, `cache: ${count(lost)} tokens lost`));
  tip.replaceChildren(make("b", {}, `Step ${count(step)} · ${count(run.tokens[chosen])} tokens`), ...lines);
  tip.hidden = false;
  const x = u.valToPos(step, "x") + u.over.offsetLeft, wide = tip.offsetWidth;
  tip.style.left = Math.max(0, x + 12 + wide < main.clientWidth ? x + 12 : x - 12 - wide) + "px";
  tip.style.top = u.over.offsetTop + 26 + "px";
}

// listEdits lists what was done, with a button for each that leads to its Step.
function listEdits() {
  const what = form ? "Edits" : "Cuts and cache breaks";
  $("editnote").textContent = run.marks.length ? "" : form ? "None: every request left as it came." : "None.";
  if (!run.marks.length) {
    list = null;
    return $("edits").replaceChildren();
  }
  const heads = [["Step", 1], [form ? "Rule" : "Who", 0], ["Kind", 0], ["Count", 1], ["Before", 1], ["After", 1], ["Saved", 1], ...(form ? [] : [["Not read (paid again)", 1]]), ["Why", 0]].map(([name, n]) => ({ name, n }));
  list = sheet($("edits"), what, heads, run.marks.length, (i) => {
    const m = run.marks[i], b = make("button", { type: "button", "aria-label": `Step ${m[0]}, ${data.texts[m[2]]}` }, count(m[0]));
    for (const event of ["focus", "mouseenter", "click"]) b.addEventListener(event, () => move(run.at.get(m[0]) ?? 0));
    const less = count(m[5] - m[6]), figures = broke(m) ? ["", "", "", less] : [count(m[5]), count(m[6]), less, ...(form ? [] : [""])];
    return [b, data.texts[m[1]], data.texts[m[2]], count(m[4]), ...figures, data.texts[m[3]]];
  });
  const tag = () => [...list.body.rows].forEach((row, i) => { row.dataset.step = run.marks[i][0]; });
  tag();
  $("edits").querySelector(".more").addEventListener("click", tag);
}

// figures fills a chart's table when it is opened.
function figures(details) {
  const box = details.lastElementChild, step = (i) => count(run.x[i]), column = (name) => ({ name, n: 1 });
  if (details.dataset.chart === "main") {
    const present = data.contents.map((name, c) => ({ name, c })).filter(({ c }) => run.parts[c]);
    sheet(box, "Tokens by content", [column("Step"), ...present.map(({ name }) => column(name)), column("Sent"), ...(run.raw ? [column("Client’s")] : [])], run.n,
      (i) => [step(i), ...present.map(({ c }) => count(run.parts[c][i])), count(run.tokens[i]), ...(run.raw ? [count(run.raw[i])] : [])]);
  } else if (details.dataset.chart === "money") {
    const priced = (form ? inWindow() : [run]).filter((r) => r.cost);
    sheet(box, "Dollars up to each Step", [column("Step"), ...priced.map((r) => column(form ? title("policy", r.p) : "Cost"))], priced.length ? Math.max(...priced.map((r) => r.n)) : 0,
      (i) => [count(i + 1), ...priced.map((r) => (i < r.paid ? r.cost[i].toFixed(4) : "–"))]);
  } else {
    sheet(box, "Tokens read from the cache", ["Step", "Prompt", "Read", "Lost"].map(column), run.n,
      (i) => [step(i), count(run.tokens[i]), count(run.read[i]), count(run.lostAt.get(run.x[i]) ?? 0)]);
  }
}

// highlight marks the chosen run in the tables of its group.
function highlight() {
  if (!form) return;
  const policy = title("policy", run.p), window = "Window " + title("window", run.w);
  for (const body of groups[group].querySelectorAll(":scope > .sheet tbody")) {
    const band = body.querySelector(".band")?.textContent;
    for (const row of body.rows) row.classList.toggle("chosen", band === window && row.cells[0].textContent === policy);
  }
}

// step returns the place of the next or previous Step that has a mark.
function nextMark(direction) {
  for (let i = chosen + direction; i >= 0 && i < run.n; i += direction) if (run.marksAt.has(run.x[i])) return i;
  return chosen;
}

function zoom(factor) {
  const u = charts[0].u, { min, max } = u.scales.x, at = run.x[chosen], half = Math.max((max - min) * factor / 2, 2);
  const first = run.x[0], last = run.x[run.n - 1];
  u.setScale("x", factor ? { min: Math.max(first, at - half), max: Math.min(last, at + half) } : { min: first, max: Math.max(last, first + 1) });
}

const keys = {
  ArrowLeft: () => move(chosen - 1), ArrowRight: () => move(chosen + 1), ArrowDown: () => move(chosen - 1), ArrowUp: () => move(chosen + 1),
  PageUp: () => move(chosen + 10), PageDown: () => move(chosen - 10), Home: () => move(0), End: () => move(run.n - 1),
  n: () => move(nextMark(1)), p: () => move(nextMark(-1)), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), Escape: () => zoom(0),
};
main.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || !Object.hasOwn(keys, e.key)) return;
  e.preventDefault();
  keys[e.key]();
});
main.addEventListener("focus", () => place(run.x[chosen], run.marksAt.get(run.x[chosen]) ?? []));
for (const event of ["blur", "mouseleave"]) main.addEventListener(event, () => { tip.hidden = true; });

// The theme follows the system until the button is used.
const dark = matchMedia("(prefers-color-scheme: dark)"), theme = $("theme");
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
function themed() {
  theme.textContent = isDark() ? "Light" : "Dark";
  theme.setAttribute("aria-label", `Switch to the ${isDark() ? "light" : "dark"} theme`);
  forget();
  for (const c of [...charts, ...minis]) c.u.redraw(false, true);
}
theme.hidden = false;
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  themed();
});
dark.addEventListener("change", themed);

form?.addEventListener("change", () => {
  const policy = run.p;
  show();
  $("live").textContent = `${title("policy", run.p)}, window ${title("window", run.w)}: ${count(run.sent)} tokens, ${run.usd}` + (policy === run.p ? "" : ".");
});
form?.addEventListener("submit", (e) => e.preventDefault());
$("group")?.addEventListener("change", (e) => {
  group = Number(e.target.value);
  show();
});
if ($("pick")) $("pick").hidden = false;
for (const d of viewer.querySelectorAll(".figures")) d.addEventListener("toggle", () => { if (d.open && !d.lastElementChild.childElementCount) figures(d); });
// On paper all tables of the group are open, and the charts are light.
let before;
addEventListener("beforeprint", () => {
  before = document.documentElement.dataset.theme;
  document.querySelectorAll(".group:not([hidden]) details.sheet").forEach((d) => { d.open = true; });
  document.documentElement.dataset.theme = "light";
  themed();
});
addEventListener("afterprint", () => {
  if (before) document.documentElement.dataset.theme = before;
  else delete document.documentElement.dataset.theme;
  themed();
});
talks();
if (groups.length) show();
themed();
})();
