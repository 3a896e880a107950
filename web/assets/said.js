// The conversation: every message folded, found by its words, reached from the charts.

let conversation = null;

// said opens what was said, once: it may be as large as the session.
function said() {
  conversation ??= JSON.parse(document.getElementById("said").textContent);
  return conversation;
}

const preview = 160; // characters of a message's first line
const wordsOf = (m) => m.p.map(([kind, name, text]) => [said().texts[kind], said().texts[name], said().texts[text]]);

// heading says in a line what a message is.
function heading(m) {
  const first = wordsOf(m).map(([kind, name, text]) => (kind === "text" ? "" : kind + " ") + (name ? name + " " : "") + text.slice(0, preview)).join(" ");
  return [make("span", { class: "who o-" + m.o }, m.o), make("span", { class: "what" }, first.replace(/\s+/g, " ").trim().slice(0, preview)),
    make("span", { class: "where" }, `${count(m.t)} tokens${m.s ? ", Step " + count(m.s) : ""}${m.l ? ", line " + count(m.l) : ""}`)];
}

// message builds one, whose text is put in when it is unfolded.
function message(m) {
  const d = make("details", { class: "said", "data-i": m.i }, make("summary", {}, make("span", { class: "i" }, count(m.i)), ...heading(m)));
  d.addEventListener("toggle", () => {
    if (!d.open || d.childElementCount > 1) return;
    for (const [k, [kind, name, text]] of wordsOf(m).entries()) {
      if (kind !== "text" || m.p.length > 1) d.append(make("p", { class: m.p[k][3] ? "kindof bad" : "kindof" }, kind + (name ? " " + name : "") + (m.p[k][3] ? ", failed" : "")));
      d.append(make("pre", { tabindex: "0" }, text));
    }
  });
  return d;
}

// listing shows messages in portions.
function listing(box, list) {
  const more = make("button", { type: "button", class: "more" }), body = make("div", {});
  let shown = 0;
  const grow = (n) => {
    const end = Math.min(shown + n, list.length);
    for (; shown < end; shown++) body.append(message(list[shown]));
    more.hidden = shown >= list.length;
    more.textContent = `Show ${count(Math.min(portion, list.length - shown))} more of ${count(list.length)}`;
  };
  more.addEventListener("click", () => grow(portion));
  grow(portion);
  box.replaceChildren(body, more);
  return body;
}

// beside shows what a cut took out next to what came in its place.
function beside(g) {
  const own = said().groups[g], before = said().groups[g - 1];
  if (!before || own.gone.length + own.new.length === 0) return [];
  const gone = make("div", {}), came = make("div", {});
  const d = make("details", { class: "cut" }, make("summary", {}, make("h4", {}, "What was taken out before it, and what came in its place")),
    make("div", { class: "apart" }, make("section", {}, make("h5", {}, `Taken out: ${count(own.gone.length)}`), gone), make("section", {}, make("h5", {}, `In its place: ${count(own.new.length)}`), came)));
  d.addEventListener("toggle", () => {
    if (!d.open || gone.childElementCount) return;
    listing(gone, own.gone.map((i) => before.m[i]).filter(Boolean));
    listing(came, own.new.map((i) => own.m[i]).filter(Boolean));
  });
  return [d];
}

const lists = new Map(); // of each group: how to list its messages from one on

// converse fills the conversation of a group.
function converse(box, g) {
  if (lists.has(g)) return lists.get(g);
  const all = said().groups[g].m, found = make("span", { role: "status", class: "note", "aria-label": "Messages found" }), hits = make("div", { class: "hits" });
  const input = make("input", { type: "search", placeholder: "Search the conversation", "aria-label": "Search the conversation" });
  const whole = make("button", { type: "button", hidden: true }, "Show all");
  const look = () => {
    const words = input.value.trim().toLowerCase();
    const list = words ? all.filter((m) => wordsOf(m).some(([, name, text]) => name.toLowerCase().includes(words) || text.toLowerCase().includes(words))) : all;
    found.textContent = words ? `${count(list.length)} of ${count(all.length)} messages` : "";
    whole.hidden = true;
    listing(hits, list);
  };
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, 150);
  });
  const everything = () => {
    input.value = "";
    look();
  };
  whole.addEventListener("click", everything);
  // from lists the messages from one on, so that a long way down is no long list.
  const from = (i) => {
    everything();
    if (i > portion / 2) {
      found.textContent = `from message ${count(all[i].i)} on`;
      whole.hidden = false;
      return listing(hits, all.slice(i)).children[0];
    }
    return hits.firstElementChild.children[i];
  };
  look();
  box.replaceChildren(make("p", { class: "seek" }, input, " ", found, " ", whole), ...beside(g), hits);
  lists.set(g, from);
  return from;
}

// reach shows what a Step of a group was sent first: the messages that were new to it.
function reach(g, step) {
  const d = document.querySelector(`details[data-said="${g}"]`);
  if (!d) return;
  d.open = true;
  const from = converse(d.lastElementChild, g), all = said().groups[g].m;
  const i = all.findIndex((m) => m.s >= step);
  const target = from(i < 0 ? all.length - 1 : i);
  target.open = true;
  target.scrollIntoView({ block: "start" });
  target.firstElementChild.focus();
}

// talks makes the conversations open when they are asked for.
function talks() {
  for (const d of document.querySelectorAll("details[data-said]")) {
    d.addEventListener("toggle", () => { if (d.open) converse(d.lastElementChild, Number(d.dataset.said)); });
  }
  document.getElementById("reach")?.addEventListener("click", () => reach(group, run.x[chosen]));
}
