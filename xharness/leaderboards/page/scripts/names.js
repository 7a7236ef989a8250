// How rows and columns are called.

// A model with its setting, and its source where another row has both in common.
function rowLabel(row, table) {
  const alike = table.rows.filter((other) => other.model === row.model && other.setting === row.setting);
  const label = `${row.model} (${row.setting})`;
  return alike.length > 1 ? `${label}, ${row.sources.length ? row.sources.map((source) => source.label).join(", ") : "own"}` : label;
}

function columnLabel(column) {
  return column.name ? `${column.name} (${column.title})` : column.title;
}

// Isolated, so that a name written from right to left does not turn its surroundings around.
function isolated(text) {
  return el("bdi", {}, text);
}

const NOUNS = {
  tasks: ["task", "tasks"], categories: ["category", "categories"], languages: ["language", "languages"],
  families: ["family", "families"], scripts: ["script", "scripts"],
};

function capital(word) {
  return word[0].toUpperCase() + word.slice(1);
}

function sourceLink({ label, href }) {
  if (!href || !/^https?:/i.test(href)) return isolated(label);
  return el("a", { href, rel: "noopener noreferrer", target: "_blank" }, isolated(label));
}

function dot() {
  return el("span", { class: "dot" }, " \u00b7 ");
}

function setLine(row, open) {
  const seeds = new Set(row.records.map((record) => open.suite.records[record].seed)).size;
  return el("span", { class: "about" },
    isolated(row.setting),
    row.sources.length === 1 && [dot(), sourceLink(row.sources[0])],
    row.sources.length > 1 && [
      dot(),
      el("button", {
        type: "button", class: "plain", "data-focus": `source-${row.key}`, "aria-haspopup": "dialog", click: () => showSources(row),
      }, counted(row.sources.length, "source", "sources"), unseen(`of ${row.model}`)),
    ],
    row.records.length > 0 && [
      dot(),
      el("button", {
        type: "button", class: "plain", "data-focus": `record-${row.key}`, "aria-haspopup": "dialog",
        click: () => showProvenance(row, open),
      }, counted(seeds, "seed", "seeds"), unseen(`of ${row.model}: how it was run`)),
    ]);
}

// A header that sorts. `column` is {key, title, detail}; the direction of the first click is that of the best.
function sortHeader(open, column, attributes = {}) {
  const { key, downwards } = open.order;
  const current = key === column.key;
  const first = !["model", "gap"].includes(column.key);
  return el("th", {
    scope: "col", ...attributes,
    "aria-sort": current ? (downwards ? "descending" : "ascending") : null,
  }, el("button", {
    type: "button", class: "sort", "data-focus": `sort-${column.key}`, title: column.detail || null,
    click: () => update({ sort: column.key, order: (current ? !downwards : first) ? "down" : "up" }),
  },
  isolated(column.title),
  column.detail && unseen(`(${column.detail})`),
  el("span", { class: "arrow", "aria-hidden": "true" }, current ? (downwards ? "\u2193" : "\u2191") : "")));
}

function scrolling(label, wide, ...children) {
  return el("div", { class: wide ? "scroll wide" : "scroll", role: "region", "aria-label": label, tabindex: "0", "data-focus": "region" }, ...children);
}
