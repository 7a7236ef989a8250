// The data of the page, with cells decoded.

const DATA = JSON.parse(byId("data").textContent);

// {value, seeds, deviation, parts}; a hole is {value: null, reason}.
function decoded(cell) {
  if (typeof cell === "number") return { value: cell, seeds: 0, deviation: null, parts: null };
  if (typeof cell === "string") return { value: null, reason: cell, seeds: 0, deviation: null, parts: null };
  const [value, seeds, third = null, parts = null] = cell;
  return value === null ? { value, seeds, reason: third, deviation: null, parts } : { value, seeds, deviation: third, parts };
}

// A table's columns come in sets: its own ones and, for languages, their families and scripts. All cells of a row are
// found by a key: that of an average, "gap", "others", or a column's key after the name of its set.
for (const suite of DATA.suites) {
  for (const table of suite.tables) {
    table.sets = Object.keys(table.columns);
    table.averages = Object.entries(table.averages).map(([key, title]) => ({ key, title }));
    for (const row of table.rows) {
      row.found = new Map(Object.entries(row.averages).map(([key, cell]) => [key, decoded(cell)]));
      for (const name of ["gap", "others"]) if (row[name] !== undefined) row.found.set(name, decoded(row[name]));
      for (const set of table.sets) {
        table.columns[set].forEach((column, i) => row.found.set(`${set}:${column.key}`, decoded(row.cells[set][i])));
      }
      row.remarks = row.remarks || [];
      row.sources = row.sources || [];
    }
    table.hasGap = table.rows.some((row) => row.gap !== undefined);
    table.hasSpread = table.rows.some((row) => Array.from(row.found.values()).some((cell) => cell.deviation !== null || cell.parts));
    table.settings = new Map();
    for (const { setting } of table.rows) table.settings.set(setting, (table.settings.get(setting) || 0) + 1);
  }
}

function figureTitle(name) {
  return Object.prototype.hasOwnProperty.call(DATA.figures, name) ? DATA.figures[name] : name;
}

function cellOf(row, key) {
  return row.found.get(key) || null;
}

function valueOf(row, key) {
  const cell = cellOf(row, key);
  return cell ? cell.value : null;
}

// Holes come last; equal rows keep the order of the table.
function sorted(rows, key, downwards) {
  const direction = downwards ? -1 : 1;
  if (key === "model") return rows.slice().sort((one, other) => direction * byText(one.model, other.model));
  return rows.slice().sort((one, other) => {
    const [a, b] = [valueOf(one, key), valueOf(other, key)];
    return a === null || b === null ? (a === null) - (b === null) : direction * (a - b);
  });
}

// Places 1, 1, 3 ... by a figure, none for a hole; the smallest gap is the best. What differs by less than 1e-9 differs
// by the order of a sum only.
function ranks(rows, key) {
  const direction = key === "gap" ? -1 : 1;
  const values = rows.map((row) => valueOf(row, key)).filter((value) => value !== null);
  return new Map(rows.map((row) => {
    const value = valueOf(row, key);
    return [row, value === null ? null : 1 + values.filter((other) => direction * (other - value) > 1e-9).length];
  }));
}
