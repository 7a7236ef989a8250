// Filters and copying.

function controls(open) {
  const { table, state } = open;
  const settings = Array.from(table.settings.keys())
    .sort((one, other) => table.settings.get(other) - table.settings.get(one) || byText(one, other));
  return [
    el("label", { class: "field search" }, "Model", el("input", {
      type: "search", value: state.q, autocomplete: "off", spellcheck: "false", "data-focus": "q",
      placeholder: "filter by name", input: (event) => update({ q: event.target.value }),
    })),
    table.sets.length > 1 && ["table", "heat", "compare"].includes(state.view) && el("label", { class: "field" }, "By", el("select", {
      "data-focus": "by", change: (event) => update({ by: event.target.value === table.kind ? "" : event.target.value }, true),
    }, table.sets.map((set) => el("option", { value: set, selected: set === open.set }, NOUNS[set][0])))),
    state.view !== "gap" && columnChoice(open),
    el("div", { class: "options" },
      state.view === "table" && table.hasSpread && option("Spread and parts", state.cells !== "plain", (on) => ({ cells: on ? "" : "plain" }), "cells"),
      state.view === "heat" && option("Colours within each column", state.scale === "column", (on) => ({ scale: on ? "column" : "" }), "scale")),
    settings.length > 1 && el("fieldset", { class: "chips" }, el("legend", {}, "Setting"),
      settings.map((setting) => el("label", { class: "chip" }, el("input", {
        type: "checkbox", value: setting, checked: state.setting.includes(setting), "data-focus": `setting-${setting}`,
        change: () => update({ setting: checkedValues(".chips input") }),
      }), isolated(setting), el("span", { class: "count" }, String(table.settings.get(setting)))))),
  ];
}

function copyButtons() {
  return [copyButton("Copy CSV", csv), copyButton("Copy LaTeX", latex)];
}

function checkedValues(selector, checked = true) {
  return Array.from(byId("controls").querySelectorAll(selector)).filter((box) => box.checked === checked).map((box) => box.value);
}

function option(label, on, change, name) {
  return el("label", { class: "check" }, el("input", {
    type: "checkbox", checked: on, "data-focus": name, change: (event) => update(change(event.target.checked)),
  }), label);
}

function columnChoice(open) {
  const columns = open.table.columns[open.set];
  const groups = new Map();
  for (const column of columns) {
    const group = column.group || "";
    groups.set(group, [...(groups.get(group) || []), column]);
  }
  const keys = columns.map((column) => column.key);
  const hide = (hidden) => update({ hide: [...state.hide.filter((key) => !keys.includes(key)), ...hidden] });
  const set = (wanted) => {
    for (const box of byId("controls").querySelectorAll(".columns input")) box.checked = wanted(box.value);
    hide(keys.filter((key) => !wanted(key)));
  };
  const boxes = (group) => group.map((column) => el("label", { class: "check" }, el("input", {
    type: "checkbox", value: column.key, checked: !state.hide.includes(column.key), "data-focus": `column-${column.key}`,
    change: () => hide(checkedValues(".columns input", false)),
  }), isolated(columnLabel(column))));
  const sets = Array.from(groups).sort((one, other) => other[1].length - one[1].length || byText(one[0], other[0]));
  return el("details", { class: "columns" },
    el("summary", { "data-focus": "columns" }, `${capital(NOUNS[open.set][1])} `, el("span", { class: "count", id: "column-count" })),
    el("div", { class: "sheet" },
      el("div", { class: "all" },
        el("button", { type: "button", click: () => set(() => true) }, "Show all"),
        el("button", { type: "button", click: () => set(() => false) }, "Hide all")),
      sets.map(([group, members]) => (groups.size === 1 ? el("div", { class: "boxes" }, boxes(members)) : el("fieldset", {},
        el("legend", {}, group || "Others"),
        el("button", {
          type: "button", class: "plain",
          click: () => set((key) => members.some((column) => column.key === key)),
        }, "only these", unseen(`(${group})`)),
        el("div", { class: "boxes" }, boxes(members)))))));
}

function copyButton(label, format) {
  return el("button", {
    type: "button", "data-focus": label,
    click: async (event) => {
      const button = event.currentTarget;
      if (!shown.sheet) return;
      const done = await copied(format(shown.sheet));
      button.textContent = done ? "Copied" : label;
      if (done) byId("status").textContent = `Copied ${counted(shown.sheet.rows.length, "row", "rows")}.`;
      else offer(format(shown.sheet));
      setTimeout(() => { button.textContent = label; }, 1600);
    },
  }, label);
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (_) {
    return false;
  }
}

// Where the clipboard is closed to pages, the text stands ready to be copied by hand.
function offer(text) {
  const area = el("textarea", { readonly: true, rows: "16", "aria-label": "Text to copy" });
  area.value = text;
  showDialog("Copy", area);
  area.select();
}
