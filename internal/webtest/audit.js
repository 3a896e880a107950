// Finds what is wrong with a page for people who see badly, use a keyboard or have a small screen. Returns a list of sentences.
(() => {
  const faults = [];
  const say = (text) => { if (faults.length < 40) faults.push(text); };
  const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0;
  const where = (e) => `<${e.tagName.toLowerCase()}${e.id ? " #" + e.id : ""} ${e.className}> ${e.textContent.trim().slice(0, 30)}`;

  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) say(`the page is ${root.scrollWidth} wide, the window ${root.clientWidth}`);

  // Names.
  const name = (e) => (e.getAttribute("aria-label") ?? (e.getAttribute("aria-labelledby") ?? "").split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" ")).trim()
    || [...(e.labels ?? [])].map((l) => l.textContent).join(" ").trim() || (e.matches("input, select") ? "" : e.textContent.trim());
  for (const e of document.querySelectorAll("a, button, input, select, summary, [role], [tabindex]")) {
    if (shown(e) && !name(e)) say("no name: " + where(e));
    if (Number(e.getAttribute("tabindex") ?? 0) > 0) say("an order of its own: " + where(e));
  }
  for (const f of document.querySelectorAll("fieldset")) if (shown(f) && !f.querySelector("legend")) say("no legend: " + where(f));

  // Headings.
  let level = 0;
  for (const h of document.querySelectorAll("h1, h2, h3, h4")) {
    if (!shown(h)) continue;
    const now = Number(h.tagName[1]);
    if (now > level + 1) say(`h${now} after h${level}: ` + where(h));
    level = now;
  }
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  if (new Set(ids).size !== ids.length) say("an id is there twice");

  // Tables.
  for (const t of document.querySelectorAll("table")) {
    if (!t.caption) say("no caption: " + where(t));
    const wide = t.tHead.rows[0].cells.length;
    for (const row of t.rows) {
      const cells = [...row.cells].reduce((n, c) => n + c.colSpan, 0);
      if (cells !== wide) say(`a row of ${cells} cells beneath ${wide} heads: ` + where(row));
      if (!row.querySelector("th[scope]")) say("a row without a head: " + where(row));
    }
  }

  // Contrast of texts, WCAG 2.2 1.4.3.
  const parse = (c) => {
    const n = (c.match(/[\d.]+/g) ?? []).map(Number);
    return { rgb: n.slice(0, 3), alpha: n.length > 3 ? n[3] : 1 };
  };
  const light = ([r, g, b]) => {
    const f = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b) + 0.05;
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.alpha === 1) return c.rgb;
      if (c.alpha > 0) say("half-transparent background: " + where(e));
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || e.matches("script, style, option, noscript") || !shown(e) || e.closest(".card:has(:disabled)")) continue;
    const style = getComputedStyle(e), size = parseFloat(style.fontSize), a = light(parse(style.color).rgb), b = light(behind(e));
    const ratio = Math.max(a, b) / Math.min(a, b), big = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
    if (ratio < (big ? 3 : 4.5)) say(`contrast ${ratio.toFixed(2)}: ` + where(e));
    if (size < 11) say(`${size} px: ` + where(e));
  }

  // Targets, WCAG 2.2 2.5.8.
  for (const e of document.querySelectorAll("button, select, summary, input")) {
    if (!shown(e)) continue;
    const box = e.getBoundingClientRect();
    if (box.height < 23.5 || box.width < 23.5) say(`target of ${box.width.toFixed(0)} by ${box.height.toFixed(0)}: ` + where(e));
  }

  // Canvases have something on them.
  for (const c of document.querySelectorAll("canvas")) {
    if (!shown(c)) continue;
    const copy = new OffscreenCanvas(c.width, c.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(c, 0, 0);
    const p = copy.getImageData(0, 0, c.width, c.height).data, colours = new Map();
    for (let i = 0; i < p.length; i += 4) {
      const key = p[i] << 16 | p[i + 1] << 8 | p[i + 2];
      if (p[i + 3]) colours.set(key, (colours.get(key) ?? 0) + 1);
    }
    const drawn = [...colours.values()].reduce((a, b) => a + b, 0);
    if (drawn < c.width * c.height / 200 || colours.size < 3) say(`a canvas with ${drawn} of ${c.width * c.height} pixels in ${colours.size} colours: ` + where(c.parentElement));
  }
  return faults;
})()
