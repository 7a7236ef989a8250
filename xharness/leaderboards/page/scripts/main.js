// What the address says is shown; what a control changes goes into the address.

let state = parsed(location.hash);
let shown = { sheet: null };

function update(changes, rebuild = false) {
  state = { ...state, ...changes };
  try {
    history.replaceState(null, "", address(state));
  } catch (_) {
    // A browser may refuse when this is done very often; the address is then behind for a moment.
  }
  render(rebuild);
}

function render(rebuild) {
  const { suite, table } = place(state);
  const chosen = order(state, table, state.view);
  const rows = sorted(shownRows(state, table), chosen.key, chosen.downwards);
  const columns = shownColumns(state, table);
  const set = columnSet(state, table);
  const open = { state, suite, table, set, rows, columns, order: chosen };
  document.title = `${table.title} \u2013 ${suite.title}`;
  byId("title").textContent = table.title;
  byId("copies").hidden = !rows.length;
  navigation(open);
  if (rebuild) replace(byId("controls"), controls(open));
  if (byId("column-count")) byId("column-count").textContent = `${columns.length} of ${table.columns[set].length}`;
  shown = rows.length ? drawn(open) : nothing(open);
  replace(byId("view"), shown.content);
  byId("status").textContent = statusText(open);
  replace(byId("notes"), notes(open));
}

function drawn(open) {
  if (state.view === "compare") return comparison(open);
  if (state.view === "gap") return gapChart(open);
  return grid(open, state.view === "heat");
}

function nothing(open) {
  if (!open.table.rows.length) return { content: [el("p", { class: "empty" }, "No model has figures here.")], sheet: null };
  return {
    content: [el("p", { class: "empty" }, "No model passes the filters. ",
      el("button", { type: "button", click: () => update({ q: "", setting: [] }, true) }, "Clear the filters"))],
    sheet: null,
  };
}

function navigation(open) {
  const link = (label, change, current, extra) => el("a", {
    href: address({ ...state, ...change }), "aria-current": current ? "page" : null, "data-focus": `to-${label}`, ...extra,
  }, label);
  byId("suites").hidden = DATA.suites.length < 2;
  replace(byId("suites"), DATA.suites.map((suite) => link(suite.title, { suite: suite.key, table: "" }, suite === open.suite)));
  replace(byId("tables"), open.suite.tables.map((table) => link(
    table.label, { suite: open.suite.key, table: table.name }, table === open.table,
    { class: table.kind === "languages" ? "task" : "overall" })));
  replace(byId("views"), VIEWS.map(([view, label]) => link(label, { view }, view === state.view)));
}

function statusText(open) {
  const { table, rows, columns } = open;
  const models = rows.length === table.rows.length
    ? counted(rows.length, "row", "rows") : `${rows.length} of ${counted(table.rows.length, "row", "rows")}`;
  if (state.view === "compare") return `Two of ${models}.`;
  const { key } = open.order;
  const average = table.averages.find((candidate) => candidate.key === key);
  const title = average ? average.title : { model: "model", gap: "gap", others: "the mean of the others" }[key]
    || table.columns[open.set].filter((column) => key === `${open.set}:${column.key}`).map(columnLabel)[0] || "English";
  const all = table.columns[open.set].length;
  const hidden = all - columns.length;
  return `${models}, sorted by ${title}, ${open.order.downwards ? "descending" : "ascending"}.`
    + (hidden ? ` ${hidden} of ${counted(all, ...NOUNS[open.set])} hidden; averages and gaps are over all of them.` : "");
}

function notes(open) {
  const items = open.table.notes.map((note) => el("li", {}, note));
  let mark = 0;
  const remarks = open.rows.flatMap((row) => row.remarks.map((remark) =>
    el("li", {}, el("sup", {}, String(++mark)), " ", isolated(row.model), `: ${remark}`)));
  const holes = new Map();
  for (const row of open.rows) {
    for (const column of open.columns) {
      const cell = cellOf(row, `${open.set}:${column.key}`);
      if (cell.value !== null) continue;
      const models = holes.get(cell.reason) || holes.set(cell.reason, new Map()).get(cell.reason);
      models.set(row, [...(models.get(row) || []), column.title]);
    }
  }
  const total = Array.from(holes.values()).flatMap((models) => Array.from(models.values())).flat().length;
  return [
    items.length > 0 && [el("h3", {}, "Notes"), el("ul", {}, items)],
    remarks.length > 0 && ["table", "heat"].includes(state.view) && [el("h3", {}, "Remarks"), el("ul", { class: "remarks" }, remarks)],
    total > 0 && el("details", { class: "holes", open: byId("notes").querySelector(".holes[open]") !== null },
      el("summary", { "data-focus": "holes" }, `${HOLE} is a hole: why ${counted(total, "figure is", "figures are")} not there`),
      Array.from(holes).sort((one, other) => byText(one[0], other[0])).map(([reason, models]) => [
        el("h3", {}, reason),
        el("ul", {}, Array.from(models).map(([row, columns]) => el("li", {}, isolated(rowLabel(row, open.table)), `: ${columns.join(", ")}`))),
      ])),
  ];
}

function themed(theme) {
  if (theme) document.documentElement.setAttribute("data-theme", theme);
  else document.documentElement.removeAttribute("data-theme");
}

// A file opened from disk may have no storage; the theme is then forgotten.
function stored(theme) {
  try {
    if (theme === undefined) return localStorage.getItem("xharness-theme") || "";
    localStorage.setItem("xharness-theme", theme);
  } catch (_) {
    // Nothing depends on it.
  }
  return "";
}

byId("copies").append(...copyButtons());
byId("theme").value = stored();
themed(byId("theme").value);
byId("theme").addEventListener("change", (event) => {
  themed(event.target.value);
  stored(event.target.value);
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
byId("dialog").addEventListener("click", (event) => {
  if (event.target === event.currentTarget) event.currentTarget.close();
});
window.addEventListener("hashchange", () => {
  state = parsed(location.hash);
  render(true);
});
document.addEventListener("click", (event) => {
  for (const choice of document.querySelectorAll(".columns[open]")) if (!choice.contains(event.target)) choice.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const choice of document.querySelectorAll(".columns[open]")) {
    choice.open = false;
    choice.querySelector("summary").focus();
  }
});
render(true);
