// Small charts, drawn as SVG: a line over time, with what it says in words for who cannot see it.

import { draw, h } from "./dom.js";

const width = 320;
const height = 84;
const margin = { left: 44, right: 8, top: 8, bottom: 16 };

/** Values of the last minutes, the newest last. */
export class Series {
  constructor(limit = 300) {
    this.limit = limit;
    this.points = [];
  }

  add(time, value) {
    this.points.push([time, value]);
    if (this.points.length > this.limit) this.points.shift();
  }

  get last() {
    return this.points.at(-1)?.[1] ?? null;
  }
}

/** A round number not below the highest value. */
function ceiling(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value);
}

/** A path through what is known; a gap where it is not. */
function path(points, x, y) {
  let isDown = false;
  const parts = [];
  for (const [time, value] of points) {
    if (value === null || value === undefined) {
      isDown = false;
      continue;
    }
    parts.push(`${isDown ? "L" : "M"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`);
    isDown = true;
  }
  return parts.join("");
}

/**
 * A chart of several lines. `lines`: `title`, `series`; `text(value)` writes a value.
 */
export function chart(title, lines, text) {
  const times = lines.flatMap((line) => line.series.points.map(([time]) => time));
  const values = lines.flatMap((line) => line.series.points.map(([, value]) => value ?? 0));
  const newest = Math.max(...times, Date.now() - 1);
  const oldest = Math.min(...times, newest - 60000);
  const top = ceiling(Math.max(...values, 0));
  const x = (time) => margin.left + ((time - oldest) / (newest - oldest)) * (width - margin.left - margin.right);
  const y = (value) => height - margin.bottom - (value / top) * (height - margin.top - margin.bottom);
  const grid = [0, top / 2, top].map((value) => [
    draw("line", { class: "grid", x1: margin.left, x2: width - margin.right, y1: y(value), y2: y(value) }),
    draw("text", { class: "axis", x: margin.left - 6, y: y(value) + 3.5, "text-anchor": "end" }, text(value)),
  ]);
  const span = Math.round((newest - oldest) / 60000);
  const axis = [
    draw("text", { class: "axis", x: margin.left, y: height - 3 }, `${span} min ago`),
    draw("text", { class: "axis", x: width - margin.right, y: height - 3, "text-anchor": "end" }, "now"),
  ];
  const drawn = lines.map((line, index) => [
    draw("path", { class: `line line-${index}`, d: path(line.series.points, x, y) }),
    line.series.last === null ? "" : draw("circle", { class: `dot line-${index}`, cx: x(newest), cy: y(line.series.last), r: 2.5 }),
  ]);
  const said = lines.map((line) => {
    const known = line.series.points.map(([, value]) => value).filter((value) => value !== null && value !== undefined);
    return known.length ? `${line.title}: now ${text(line.series.last ?? 0)}, at most ${text(Math.max(...known))}` : `${line.title}: not known`;
  });
  const image = draw(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title} of the last ${span} minutes. ${said.join("; ")}.` },
    grid,
    axis,
    drawn,
  );
  const legend = lines.map((line, index) =>
    h("span", { class: "key" }, draw("svg", { viewBox: "0 0 12 4", "aria-hidden": "true" }, draw("path", { class: `line line-${index}`, d: "M0 2H12" })), line.title, " ", h("b", {}, line.series.last === null ? "–" : text(line.series.last))));
  return h("figure", { class: "chart" }, h("figcaption", {}, h("span", { class: "title" }, title), legend), image);
}
