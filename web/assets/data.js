// What the page knows: the packed data, opened. One function scope holds data.js, chart.js and page.js together.
(() => {
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const valueOf = new Map([...digits].map((d, i) => [d, i]));

// unpack opens a series: differences as variable-length quantities, the last value repeated up to length. Sums above 2^31 are
// possible (microdollars), so no bit operators on whole values.
function unpack(text, length) {
  const out = new Float64Array(length);
  let at = 0, value = 0;
  for (let i = 0; i < text.length && at < length; at++) {
    let n = 0, weight = 1, digit;
    do {
      digit = valueOf.get(text[i++]);
      n += (digit & 31) * weight;
      weight *= 32;
    } while (digit & 32);
    value += n % 2 ? -(n - 1) / 2 : n / 2;
    out[at] = value;
  }
  out.fill(value, at);
  return out;
}

// open prepares a run when it is first shown.
function open(group, run) {
  if (run.tokens) return run;
  run.x = run.x ? unpack(run.x, run.n) : Float64Array.from({ length: run.n }, (_, i) => i + 1);
  run.parts = data.contents.map(() => null);
  run.tokens = new Float64Array(run.n);
  for (const part of run.by) {
    const list = unpack(part.t, run.n);
    run.parts[part.c] = list;
    for (let i = 0; i < run.n; i++) run.tokens[i] += list[i];
  }
  run.raw = group.raw ? unpack(group.raw, run.n) : null;
  run.read = unpack(run.read, run.n);
  run.cost = run.paid ? Array.from(unpack(run.cost, run.n), (micro, i) => (i < run.paid ? micro / 1e6 : null)) : null;
  run.at = new Map(); // the Step's place in the lists
  run.x.forEach((step, i) => run.at.set(step, i));
  run.marksAt = new Map();
  for (const m of run.marks) run.marksAt.set(m[0], [...(run.marksAt.get(m[0]) ?? []), m]);
  run.badAt = new Map(run.bad.map(([step, why]) => [step, why]));
  run.lostAt = new Map(run.lost);
  return run;
}

const number = new Intl.NumberFormat("en-US");
const count = (n) => number.format(Math.round(n)).replace("-", "−");
const share = (part, whole) => (whole > 0 ? (part / whole * 100).toFixed(1) + " %" : "–");
const short = (n) => n >= 1e6 ? +(n / 1e6).toFixed(2) + "M" : n >= 1000 ? +(n / 1000).toFixed(1) + "k" : String(n);
const dollars = (n) => "$" + (n >= 0.1 || n === 0 ? n.toFixed(2) : n.toFixed(4));

// make builds an element with text and children; texts never become markup.
function make(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== false) e.setAttribute(name, value === true ? "" : value);
  e.append(...children);
  return e;
}

// sheet builds a table whose rows come in portions; row(i) returns the cells of row i.
const portion = 100;
function sheet(box, title, heads, length, row) {
  const body = make("tbody");
  const head = make("tr", {}, ...heads.map((h) => make("th", { scope: "col", class: h.n ? "n" : false }, h.name)));
  const table = make("table", {}, make("caption", { class: "unseen" }, title), make("thead", {}, head), body);
  const more = make("button", { type: "button", class: "more" });
  let shown = 0;
  const grow = (n) => {
    const end = Math.min(shown + n, length);
    for (; shown < end; shown++) {
      const cells = row(shown).map((c, k) => make(k ? "td" : "th", { scope: k ? false : "row", class: heads[k].n ? "n" : c.length > 28 ? "t" : false }, c));
      body.append(make("tr", {}, ...cells));
    }
    more.hidden = shown >= length;
    more.textContent = `Show ${count(Math.min(portion, length - shown))} more of ${count(length)}`;
  };
  more.addEventListener("click", () => {
    const next = body.rows.length;
    grow(portion);
    body.rows[next]?.querySelector("button")?.focus();
  });
  grow(portion);
  box.replaceChildren(table, more);
  return { body, until: (i) => { if (i >= shown) grow(i + 1 - shown); } };
}
