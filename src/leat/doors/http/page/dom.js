// Elements. Text always becomes text: nothing here, or elsewhere, turns a string into markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

// h("p", {class: "note"}, "text", child, …)
export function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

const ICONS = {
  bucket: "M4 6h16l-2 13H6zM4 6c0-3 16-3 16 0",
  folder: "M3 7h6l2 2h10v10H3z",
  shard: "M5 4h14v5H5zM5 9.5h14v5H5zM5 15h14v5H5z",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.5h.01",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
};

export function icon(kind) {
  return svg("svg", {class: `icon icon-${kind}`, viewBox: "0 0 24 24", "aria-hidden": "true"},
    svg("path", {d: ICONS[kind]}));
}

// What a name promises; what an object is, its bytes say.
export function kindOf(name) {
  if (/\.tar$/i.test(name)) return "shard";
  if (/\.(png|jpe?g|gif|webp)$/i.test(name)) return "image";
  return "file";
}

// What a server says begins small and ends without a full stop, as parts of longer messages do.
export function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

export function failure(error, retry) {
  return h("div", {class: "notice bad", role: "alert"},
    h("strong", {}, error.title ?? "That did not work"),
    h("p", {}, sentence(error.message)),
    retry && h("button", {type: "button", onclick: retry}, "Try again"));
}

export function empty(title, ...advice) {
  return h("div", {class: "empty"}, h("strong", {}, title), ...advice.map((line) => h("p", {}, line)));
}

export const waiting = () => h("p", {class: "waiting", role: "status"}, "Loading …");
