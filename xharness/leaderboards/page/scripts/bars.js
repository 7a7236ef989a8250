// Bars from zero, one in each row of a table, under a common axis in its head. They repeat figures that stand beside
// them, so they are hidden from screen readers.

// The axis holds zero and all values; ticks lie at every 1, 2, 5, 10, 20 or 50 points, eight or nine at most.
function axisOver(values) {
  const [low, high] = [Math.min(0, ...values), Math.max(1, ...values)];
  const step = [1, 2, 5, 10, 20].find((size) => (high - low) / size <= 7) || 50;
  const [start, end] = [Math.floor(low / step) * step, Math.ceil(high / step) * step];
  const ticks = [];
  for (let tick = start; tick <= end; tick += step) ticks.push(tick);
  return { ticks, at: (value) => `${((100 * (value - start)) / (end - start)).toFixed(3)}%` };
}

function axisLabels(axis) {
  const last = axis.ticks.length - 1;
  return svg("svg", { class: "bar", "aria-hidden": "true", width: "100%", height: "16" }, axis.ticks.map((tick, i) => svg("text", {
    x: axis.at(tick), y: "12", "text-anchor": i === 0 ? "start" : i === last ? "end" : "middle",
  }, String(tick).replace("-", MINUS))));
}

// `positive` says in which colour a bar to the right is drawn: that of "higher" or of "lower" figures.
function bar(value, axis, positive) {
  const negative = positive === "higher" ? "lower" : "higher";
  const [from, to] = value === null ? [0, 0] : [Math.min(0, value), Math.max(0, value)];
  return svg("svg", { class: "bar", "aria-hidden": "true", width: "100%", height: "22" },
    axis.ticks.map((tick) => svg("line", {
      class: tick === 0 ? "zero" : "tick", x1: axis.at(tick), x2: axis.at(tick), y1: "0", y2: "100%",
    })),
    to > from && svg("rect", {
      class: value > 0 ? positive : negative, x: axis.at(from), width: `${(parseFloat(axis.at(to)) - parseFloat(axis.at(from))).toFixed(3)}%`,
      y: "5", height: "12",
    }));
}
