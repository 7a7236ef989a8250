// Numbers as text, and what is shown as CSV or LaTeX.

const MINUS = "\u2212";
const HOLE = "\u2013";

// One decimal, as the text tables print it: where a value lies halfway, the even digit wins. Only quarters can lie
// exactly halfway, and toFixed would round those away from zero. What rounds to zero has no sign.
function fixed(value) {
  const size = Math.abs(value);
  const text = (size * 4) % 4 === 1 ? `${Math.floor(size)}.2` : size.toFixed(1);
  return value < 0 && text !== "0.0" ? `-${text}` : text;
}

function typeset(value) {
  return fixed(value).replace("-", MINUS);
}

function signed(value) {
  const text = typeset(value);
  return value > 0 && text !== "0.0" ? `+${text}` : text;
}

function counted(number, one, many) {
  return `${number} ${number === 1 ? one : many}`;
}

// Code points, so that the order is the same in every browser and locale.
function byText(one, other) {
  return one < other ? -1 : one > other ? 1 : 0;
}

// A sheet is what the view shows, for copying: {header: [text], rows: [[cell]]}; a cell is a text, or
// {value, deviation, seeds, best} with numbers, or null for a hole.

function csv(sheet) {
  const spread = sheet.header.map((_, i) => sheet.rows.some((row) => row[i] && row[i].deviation != null));
  const line = (cells) => cells.map(quoted).join(",");
  const header = sheet.header.flatMap((title, i) =>
    spread[i] ? [title, `${title} sd`, `${title} n`] : [title]);
  const rows = sheet.rows.map((row) => row.flatMap((cell, i) => {
    if (cell === null) return spread[i] ? ["", "", ""] : [""];
    if (typeof cell === "string") return [cell];
    const value = fixed(cell.value);
    if (!spread[i]) return [value];
    return [value, cell.deviation == null ? "" : fixed(cell.deviation), String(cell.seeds || "")];
  }));
  return [header, ...rows].map(line).join("\r\n") + "\r\n";
}

function quoted(text) {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function latex(sheet) {
  const numeric = sheet.header.map((_, i) => sheet.rows.some((row) => row[i] && typeof row[i] === "object"));
  const cell = (content) => {
    if (content === null) return "--";
    if (typeof content === "string") return escapedLatex(content);
    let text = fixed(content.value).replace("-", "$-$");
    if (content.best) text = `\\textbf{${text}}`;
    return content.deviation == null ? text : `${text} {\\scriptsize$\\pm$ ${fixed(content.deviation)}}`;
  };
  const line = (cells) => `${cells.map(cell).join(" & ")} \\\\`;
  return [
    `\\begin{tabular}{${numeric.map((is) => (is ? "r" : "l")).join("")}}`,
    "\\toprule",
    line(sheet.header),
    "\\midrule",
    ...sheet.rows.map(line),
    "\\bottomrule",
    "\\end{tabular}",
    "",
  ].join("\n");
}

const LATEX = {
  "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
  "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", '"': "\\textquotedbl{}",
  "[": "{[}", "]": "{]}", "\u2212": "$-$", "\u2013": "--",
};

function escapedLatex(text) {
  return text
    .replace(/[\\~^<>|"[\]\u2212\u2013]|[&%$#_{}]/g, (character) => LATEX[character] || `\\${character}`)
    .replace(/\s+/g, " ");
}
