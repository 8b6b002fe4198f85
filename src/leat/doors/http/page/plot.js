// A plot of the last minutes: one or two lines, the first over a filled area.
import {h, svg} from "./dom.js";

const HEIGHT = 100;

// The next of 1, 2, 5, 10, 20 … so that the scale stands still while values wander; of bytes, in
// units of which there are 1024 in the next.
function niceAbove(value, base) {
  if (!(value > 0)) return 1;
  const unit = base === 1024 ? 1024 ** Math.floor(Math.log(value) / Math.log(1024)) : 1;
  const power = unit * 10 ** Math.floor(Math.log10(value / unit));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

export class Plot {
  #length; #format; #base; #series; #paths; #areas; #scale; #marks; #points = [];

  // `series`: [{label, pick: (point) => number or null}, …]; `base`: 10, or 1024 for bytes
  constructor(title, length, format, series, base = 10) {
    this.#length = length;
    this.#base = base;
    this.#format = format;
    this.#series = series;
    const line = (i) => svg("path", {class: `line line-${i}`, "vector-effect": "non-scaling-stroke"});
    this.#paths = series.map((_, i) => line(i));
    this.#areas = [svg("path", {class: "area"})];
    this.#scale = h("span", {class: "scale"});
    this.#marks = series.map(({label}, i) =>
      h("span", {class: `mark mark-${i}`}, h("b", {}, "–"), label && h("i", {}, label)));
    const cursor = svg("path", {class: "cursor", "vector-effect": "non-scaling-stroke"});
    const drawing = svg("svg", {viewBox: `0 0 ${length - 1} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true"},
      [25, 50, 75].map((y) => svg("path", {class: "grid", d: `M0 ${y}H${length - 1}`, "vector-effect": "non-scaling-stroke"})),
      this.#areas, [...this.#paths].reverse(), cursor);
    const area = h("div", {class: "drawing"}, drawing, this.#scale);
    area.addEventListener("pointermove", (event) => {
      const box = area.getBoundingClientRect();
      const at = Math.round((event.clientX - box.left) / box.width * (length - 1));
      cursor.setAttribute("d", `M${at} 0V${HEIGHT}`);
      this.#show(this.#points[at - (length - this.#points.length)]);
      this.hovered = true;
    });
    area.addEventListener("pointerleave", () => {
      cursor.removeAttribute("d");
      this.hovered = false;
      this.#show(this.#points.at(-1));
    });
    this.hovered = false;
    this.element = h("section", {class: "card plot"},
      h("header", {}, h("h2", {}, title), h("div", {class: "marks"}, this.#marks)),
      area,
      h("footer", {}, h("span", {}, `${Math.round(length / 60)} min ago`), h("span", {}, "now")));
  }

  #show(point) {
    this.#series.forEach(({pick}, i) => {
      const value = point ? pick(point) : null;
      this.#marks[i].firstChild.textContent = value === null ? "–" : this.#format(value);
    });
  }

  // `points`: the newest last, at most as many as the plot is long.
  update(points) {
    this.#points = points;
    const values = points.flatMap((point) => this.#series.map(({pick}) => pick(point) ?? 0));
    const top = niceAbove(Math.max(0, ...values), this.#base);
    const first = this.#length - points.length;
    this.#series.forEach(({pick}, i) => {
      const parts = [];
      let area = "", run = [];
      const end = () => {
        if (run.length === 1) run.push([run[0][0] + 0.01, run[0][1]]);
        if (run.length > 0) {
          const path = run.map(([x, y]) => `${x} ${y}`).join("L");
          parts.push(`M${path}`);
          area += `M${run[0][0]} ${HEIGHT}L${path}L${run.at(-1)[0]} ${HEIGHT}Z`;
        }
        run = [];
      };
      points.forEach((point, at) => {
        const value = pick(point);
        if (value === null) end();
        else run.push([first + at, (HEIGHT - value / top * (HEIGHT - 4)).toFixed(2)]);
      });
      end();
      this.#paths[i].setAttribute("d", parts.join(""));
      if (i === 0) this.#areas[0].setAttribute("d", area);
    });
    this.#scale.textContent = values.some((value) => value > 0) ? this.#format(top) : "";
    if (!this.hovered) this.#show(points.at(-1));
  }
}
