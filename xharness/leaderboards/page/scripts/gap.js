// The transfer gap as a bar chart, which is a table with a bar in each row.

function gapChart(open) {
  const { suite, table } = open;
  if (!table.hasGap) {
    const others = suite.tables.filter((candidate) => candidate.hasGap);
    return {
      content: [el("p", { class: "empty" },
        table.kind === "languages" ? "This task has no gap: it is not tested in English. " : "The transfer gap is one of languages. ",
        others.length > 0 && ["See ", others.map((other, i) => [
          i > 0 && ", ", el("a", { href: address({ ...open.state, suite: suite.key, table: other.name }) }, other.label),
        ]), "."])],
      sheet: null,
    };
  }
  const axis = axisOver(open.rows.map((row) => valueOf(row, "gap")).filter((value) => value !== null));
  const figures = [
    { key: "gap", title: "Gap", detail: "English minus the mean of the other languages" },
    { key: "languages:en", title: "English" },
    { key: "others", title: "Others", detail: "mean of the other languages" },
  ];
  return {
    content: [
      scrolling(`${table.title}, transfer gap`, true,
        el("table", { class: "grid gaps" },
          el("caption", { class: "unseen" }, `${table.title}: transfer gap in points, English minus the mean of the other languages`),
          el("thead", {}, el("tr", {},
            sortHeader(open, { key: "model", title: "Model" }, { class: "model" }),
            sortHeader(open, figures[0], { class: "figure" }),
            el("th", { scope: "col", class: "bars" }, unseen("Gap as a bar"), axisLabels(axis)),
            figures.slice(1).map((figure) => sortHeader(open, figure, { class: "figure" })))),
          el("tbody", {}, open.rows.map((row) => el("tr", {},
            el("th", { scope: "row", class: "model" }, el("span", { class: "name" }, isolated(row.model)), el("span", { class: "about" }, isolated(row.setting))),
            figureCell(cellOf(row, "gap"), { details: true, class: "figure strong" }),
            el("td", { class: "bars" }, bar(valueOf(row, "gap"), axis, "lower")),
            figures.slice(1).map((figure) => figureCell(cellOf(row, figure.key)))))))),
    ],
    sheet: {
      header: ["Model", "Setting", ...figures.map((figure) => figure.title)],
      rows: open.rows.map((row) => [row.model, row.setting, ...figures.map((figure) => {
        const cell = cellOf(row, figure.key);
        return cell && cell.value !== null ? { value: cell.value, deviation: cell.deviation, seeds: cell.seeds } : null;
      })]),
    },
  };
}
