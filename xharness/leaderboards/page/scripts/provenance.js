// How a row of our own came about: a dialog with its records.

const SECTIONS = [
  ["model", "Model"], ["protocol", "Protocol"], ["training", "Training"], ["data", "Data"], ["counts", "Counts over all languages"],
  ["environment", "Versions and device"], ["timings", "Seconds and memory in MiB"],
];

function showDialog(title, ...content) {
  const dialog = byId("dialog");
  dialog.replaceChildren(
    el("div", { class: "dialog-head" },
      el("h2", { id: "dialog-title" }, isolated(title)),
      el("button", { type: "button", click: () => dialog.close() }, "Close")),
    ...content.flat());
  dialog.showModal();
}

function showProvenance(row, open) {
  const records = row.records.map((place) => open.suite.records[place]);
  showDialog(row.model,
    el("p", { class: "about" }, `${row.setting}; ${counted(records.length, "record", "records")}`),
    records.map((record) => recordDetails(record, records.length === 1)));
}

function showSources(row) {
  showDialog(row.model,
    el("p", { class: "about" }, row.setting),
    el("ul", {}, row.sources.map((source) => el("li", {}, sourceLink(source)))));
}

function recordDetails(record, opened) {
  const section = (name) => DATA.parts[record.sections[name]];
  const details = el("details", { open: opened },
    el("summary", {}, el("span", { class: "name" }, record.task),
      ` seed ${record.seed}`,
      el("span", { class: "score" }, record.score === null ? HOLE : typeset(record.score))));
  // Filled when it is first opened: a row may rest on many records.
  const fill = () => {
    if (details.childElementCount > 1) return;
    details.append(facts({
      "specification SHA-256": record.spec, "record SHA-256": record.content || "not sealed",
      suite: record.suite, profile: record.profile, seed: record.seed, "score at full precision": record.score,
    }));
    details.append(el("h3", {}, "Command"), el("pre", { tabindex: "0", role: "region", "aria-label": "Command" }, section("command") || "not recorded"));
    for (const [name, title] of SECTIONS) {
      if (name in record.sections) details.append(el("h3", {}, title), facts(section(name)));
    }
  };
  if (opened) fill();
  details.addEventListener("toggle", fill);
  return details;
}

function facts(content) {
  return el("dl", {}, Object.entries(content).map(([name, value]) =>
    [el("dt", {}, name.replace(/_/g, " ")), el("dd", {}, fact(value))]));
}

function fact(value) {
  if (value === null) return HOLE;
  if (Array.isArray(value) && value.every((item) => item === null || typeof item !== "object")) return value.join(", ") || "none";
  if (Array.isArray(value)) return value.map((item) => (Array.isArray(item) ? item.join(": ") : JSON.stringify(item))).join("; ");
  if (typeof value !== "object") return String(value);
  const entries = Object.entries(value);
  if (!entries.length) return "none";
  if (entries.length > 4) return el("details", {}, el("summary", {}, counted(entries.length, "entry", "entries")), facts(value));
  return facts(value);
}
