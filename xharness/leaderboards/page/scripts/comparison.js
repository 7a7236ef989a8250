// Two models side by side.

function comparison(open) {
  const { table, columns, set } = open;
  const candidates = open.rows.filter((row) => columns.some((column) => valueOf(row, `${set}:${column.key}`) !== null));
  if (candidates.length < 2) {
    return { content: [el("p", { class: "empty" }, "Comparing takes two models with figures; here are fewer.")], sheet: null };
  }
  const [one, other] = chosenPair(open, candidates);
  const figures = table.averages.map(({ key, title }) => ({ label: capital(title), key, extra: true }));
  if (table.hasGap) figures.push({ label: "Gap", detail: "English minus the mean of the others", key: "gap", extra: true });
  for (const column of columns) figures.push({ label: column.name || column.title, detail: column.name && column.title, key: `${set}:${column.key}` });
  const lines = figures.map((figure) => {
    const [a, b] = [cellOf(one, figure.key), cellOf(other, figure.key)];
    const known = a && b && a.value !== null && b.value !== null;
    return { ...figure, a, b, difference: known ? b.value - a.value : null };
  });
  const axis = axisOver(lines.flatMap((line) => [line.difference || 0, -line.difference || 0]));
  const [titleA, titleB] = [one, other].map((row) => (one.model === other.model ? rowLabel(row, table) : row.model));
  const heads = [["A", titleA], ["B", titleB]];
  return {
    content: [
      pair(open, candidates, one, other),
      summary(lines, set),
      scrolling(`Comparison, ${table.title}`, true,
        el("table", { class: "grid comparison" },
          el("caption", { class: "unseen" }, `${table.title}: ${titleA} and ${titleB}, in percent, and the difference in points`),
          el("thead", {}, el("tr", {},
            el("th", { scope: "col", class: "model" }, capital(NOUNS[set][0])),
            heads.map(([letter, title]) => el("th", { scope: "col", class: "figure named" },
              el("span", { class: "letter" }, letter), isolated(title))),
            el("th", { scope: "col", class: "figure" }, `B ${MINUS} A`),
            el("th", { scope: "col", class: "bars" }, unseen("Difference as a bar"), axisLabels(axis)))),
          el("tbody", {}, lines.map((line) => el("tr", { class: line.extra ? "extra" : null },
            el("th", { scope: "row", class: "model" }, el("span", { class: "name" }, isolated(line.label)),
              line.detail && el("span", { class: "about" }, isolated(line.detail))),
            figureCell(line.a, { details: true }),
            figureCell(line.b, { details: true }),
            line.difference === null
              ? figureCell(decoded("one of the two is a hole"))
              : el("td", { class: "figure difference" }, signed(line.difference)),
            el("td", { class: "bars" }, bar(line.difference, axis, line.key === "gap" ? "lower" : "higher")))))))
    ],
    sheet: {
      header: ["", titleA, titleB, "B - A"],
      rows: lines.map((line) => [line.label, ...[line.a, line.b].map((cell) =>
        (cell && cell.value !== null ? { value: cell.value, deviation: cell.deviation, seeds: cell.seeds } : null)),
      line.difference === null ? null : { value: line.difference }]),
    },
  };
}

// The rows that the address names, or the best ones.
function chosenPair(open, candidates) {
  const ranked = open.table.rows.filter((row) => candidates.includes(row));
  const named = (key) => ranked.find((row) => row.key === key);
  const one = named(open.state.a) || ranked.find((row) => row.key !== open.state.b);
  const other = named(open.state.b) || ranked.find((row) => row !== one);
  return [one, other];
}

function pair(open, candidates, one, other) {
  const choice = (letter, chosen) => el("label", {}, el("span", { class: "letter" }, letter),
    el("select", {
      "data-focus": `pair-${letter}`, "aria-label": `Model ${letter}`,
      change: (event) => update(letter === "A" ? { a: event.target.value, b: other.key } : { a: one.key, b: event.target.value }),
    }, sorted(candidates, "model", false).map((row) =>
      el("option", { value: row.key, selected: row === chosen }, rowLabel(row, open.table)))));
  return el("div", { class: "pair", role: "group", "aria-label": "Models to compare" },
    choice("A", one),
    el("button", { type: "button", "data-focus": "swap", click: () => update({ a: other.key, b: one.key }) }, "Swap"),
    choice("B", other));
}

function summary(lines, set) {
  const own = lines.filter((line) => !line.extra);
  const known = own.filter((line) => line.difference !== null);
  const higher = known.filter((line) => signed(line.difference).startsWith("+")).length;
  const lower = known.filter((line) => signed(line.difference).startsWith(MINUS)).length;
  const holes = own.length - known.length;
  return el("p", { class: "summary" },
    `B is higher in ${higher} and lower in ${lower} of ${counted(known.length, ...NOUNS[set])}`,
    holes ? `; ${counted(holes, "is a hole", "are holes")} on one side. ` : ". ",
    "These are differences of the figures, not a test of significance: ",
    el("code", {}, "xharness compare"), " gives intervals and p-values.");
}
