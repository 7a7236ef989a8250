// What is shown, kept in the address: the part after # names whatever is not at its default.

const VIEWS = [["table", "Table"], ["heat", "Heat map"], ["compare", "Compare"], ["gap", "Transfer gap"]];
const LISTS = ["hide", "setting"];

function parsed(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { suite: "", table: "", view: "table", sort: "", order: "", q: "", a: "", b: "", scale: "", cells: "", by: "" };
  for (const name of Object.keys(state)) if (given.has(name)) state[name] = given.get(name);
  for (const name of LISTS) state[name] = given.getAll(name);
  if (!VIEWS.some(([name]) => name === state.view)) state.view = "table";
  return state;
}

function address(state) {
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (name === "view" && value === "table") continue;
    for (const item of LISTS.includes(name) ? value : [value]) if (item) kept.append(name, item);
  }
  return `#${kept}`;
}

// The suite and table that a state names, or the first ones.
function place(state) {
  const suite = DATA.suites.find((candidate) => candidate.key === state.suite) || DATA.suites[0];
  const table = suite.tables.find((candidate) => candidate.name === state.table) || suite.tables[0];
  return { suite, table };
}

// The set of columns that is chosen: languages, families or scripts; tasks; categories.
function columnSet(state, table) {
  return table.sets.includes(state.by) ? state.by : table.kind;
}

function shownColumns(state, table) {
  return table.columns[columnSet(state, table)].filter((column) => !state.hide.includes(column.key));
}

function shownRows(state, table) {
  const wanted = state.q.trim().toLocaleLowerCase();
  const settings = state.setting.filter((setting) => table.settings.has(setting));
  return table.rows.filter((row) =>
    row.model.toLocaleLowerCase().includes(wanted) && (!settings.length || settings.includes(row.setting)));
}

// The key to sort by and whether downwards; what the table lacks falls back to the average, or to the names.
function order(state, table, view) {
  const set = columnSet(state, table);
  const keys = ["model", ...table.averages.map(({ key }) => key), ...table.columns[set].map((column) => `${set}:${column.key}`)];
  if (table.hasGap) keys.push("gap", "others", "languages:en");
  const usual = view === "gap" && table.hasGap ? "gap" : table.averages.length ? table.averages[0].key : "model";
  const key = keys.includes(state.sort) ? state.sort : usual;
  const downwards = state.order ? state.order === "down" : !["model", "gap"].includes(key);
  return { key, downwards };
}
