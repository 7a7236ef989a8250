// Elements. Data reach the page as text nodes and attribute values only, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

// Attributes with a function are listeners; those that are null, undefined or false are left out.
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value != null && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

// For screen readers only.
function unseen(text) {
  return el("span", { class: "unseen" }, text);
}

function byId(id) {
  return document.getElementById(id);
}

// Put new content into an element; what had the focus keeps it if it is there again.
function replace(element, ...children) {
  const active = document.activeElement;
  const key = active && element.contains(active) ? active.getAttribute("data-focus") : null;
  const region = element.querySelector(".scroll");
  const place = region ? [region.scrollLeft, region.scrollTop] : null;
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  const fresh = element.querySelector(".scroll");
  if (fresh && place) [fresh.scrollLeft, fresh.scrollTop] = place;
  if (key === null) return;
  const again = Array.from(element.querySelectorAll("[data-focus]"))
    .find((candidate) => candidate.getAttribute("data-focus") === key);
  if (again) again.focus({ preventScroll: true });
}
