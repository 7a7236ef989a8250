// Models by columns, as a table and as a heat map.

const LEVELS = 25;

function grid(open, heat) {
  const { table, rows, columns, set } = open;
  const { key } = open.order;
  const places = ranks(rows, ["model", "others"].includes(key) ? order(parsed(""), table, "table").key : key);
  const figures = table.averages.map((average) => ({ key: average.key, title: capital(average.title), extra: true }));
  if (table.hasGap && !heat) {
    figures.push({ key: "gap", title: "Gap", detail: "English minus the mean of the other languages", extra: true });
  }
  for (const column of columns) figures.push({ key: `${set}:${column.key}`, title: column.title, detail: column.name });
  const best = new Map(figures.map((figure) => [figure.key, bestText(rows, figure.key)]));
  const level = heat ? heatLevels(open, figures) : null;
  const details = !heat && open.state.cells !== "plain";
  const marks = footnoteMarks(rows);

  const head = el("tr", {},
    el("th", { scope: "col", class: "rank" }, el("span", { "aria-hidden": "true" }, "#"), unseen("Rank")),
    sortHeader(open, { key: "model", title: "Model" }, { class: "model" }),
    figures.map((figure) => sortHeader(open, figure, { class: figure.extra ? "figure extra" : "figure" })));
  const body = rows.map((row) => el("tr", {},
    el("td", { class: "rank" }, places.get(row) === null ? "" : String(places.get(row))),
    el("th", { scope: "row", class: "model" },
      el("span", { class: "name" }, isolated(row.model), marks.get(row).map((mark) => el("sup", {}, unseen("note "), mark))),
      heat ? el("span", { class: "about" }, isolated(row.setting)) : setLine(row, open)),
    figures.map((figure) => {
      const cell = cellOf(row, figure.key);
      const known = cell && cell.value !== null;
      const isBest = known && fixed(cell.value) === best.get(figure.key);
      const tone = level && known ? level(cell.value, figure.key) : null;
      return figureCell(cell, {
        details,
        class: `figure${figure.extra ? " extra" : ""}${isBest && !heat ? " best" : ""}`,
        heat: tone,
      });
    })));
  return {
    content: [
      heat && legend(open, figures),
      scrolling(`${table.title}, ${heat ? "heat map" : "table"}`, false,
        el("table", { class: heat ? "grid heat" : "grid" },
          el("caption", { class: "unseen" }, `${table.title}: models by ${NOUNS[set][1]}, in percent`),
          el("thead", {}, head), el("tbody", {}, body))),
    ],
    sheet: {
      header: ["Model", "Setting", ...figures.map((figure) => figure.title)],
      rows: rows.map((row) => [row.model, row.setting, ...figures.map((figure) => {
        const cell = cellOf(row, figure.key);
        if (!cell || cell.value === null) return null;
        return { value: cell.value, deviation: cell.deviation, seeds: cell.seeds, best: fixed(cell.value) === best.get(figure.key) };
      })]),
    },
  };
}

// The best figure of a column as printed: what looks equal is equally good. A gap is not a score, so none is the best.
function bestText(rows, key) {
  if (key === "gap") return null;
  const values = rows.map((row) => valueOf(row, key)).filter((value) => value !== null);
  if (values.length < 2) return null;
  return fixed(Math.max(...values));
}

function figureCell(cell, { details = false, heat = null, class: name = "figure" } = {}) {
  const more = [];
  if (details && cell && cell.deviation !== null) {
    more.push(el("small", {}, `\u00b1 ${fixed(cell.deviation)}, `, el("i", {}, "n"), ` ${cell.seeds}`));
  }
  if (details && cell && cell.parts) {
    for (const [figure, part] of Object.entries(cell.parts)) {
      const [value, deviation] = Array.isArray(part) ? part : [part, null];
      more.push(el("small", {}, `${figureTitle(figure)} ${typeset(value)}${deviation === null ? "" : ` \u00b1 ${fixed(deviation)}`}`));
    }
  }
  if (!cell || cell.value === null) {
    const reason = cell ? cell.reason : "there is no such figure";
    return el("td", { class: `${name} hole`, title: reason },
      el("span", { "aria-hidden": "true" }, HOLE), unseen(`hole: ${reason}`), more);
  }
  return el("td", { class: name, "data-heat": heat }, el("span", { class: "value" }, typeset(cell.value)), more);
}

// From a figure to its step on the colour scale, over the whole table or within each column.
function heatLevels(open, figures) {
  const columns = figures.map((figure) => figure.key);
  const range = (keys) => {
    const values = keys.flatMap((key) => open.rows.map((row) => valueOf(row, key))).filter((value) => value !== null);
    return [Math.min(...values), Math.max(...values)];
  };
  const ranges = new Map(columns.map((key) => [key, range(open.state.scale === "column" ? [key] : columns)]));
  return (value, key) => {
    const [low, high] = ranges.get(key);
    return high > low ? Math.round(((value - low) / (high - low)) * (LEVELS - 1)) : Math.floor(LEVELS / 2);
  };
}

function legend(open, figures) {
  const values = figures.flatMap((figure) => open.rows.map((row) => valueOf(row, figure.key))).filter((value) => value !== null);
  if (!values.length) return null;
  const byColumn = open.state.scale === "column";
  const steps = Array.from({ length: LEVELS }, (_, level) => el("span", { "data-heat": level }));
  return el("p", { class: "legend" },
    byColumn ? "lowest of the column" : typeset(Math.min(...values)),
    el("span", { class: "steps", "aria-hidden": "true" }, steps),
    byColumn ? "highest of the column" : typeset(Math.max(...values)));
}

// Numbers of the footnotes of each row, in the order shown.
function footnoteMarks(rows) {
  let last = 0;
  return new Map(rows.map((row) => [row, row.remarks.map(() => String(++last))]));
}
