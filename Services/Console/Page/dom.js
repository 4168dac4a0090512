// Builds elements, and writes values the way people read them. Nothing is ever parsed as HTML.

const svgNamespace = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(4).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element of the page. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An element of a drawing. */
export function draw(tag, attributes, ...children) {
  return fill(document.createElementNS(svgNamespace, tag), attributes, children);
}

/** Says something to who cannot see it change. */
export function say(text) {
  const said = document.getElementById("said");
  // The same text would be no change, and not be said again.
  said.textContent = said.textContent === text ? `${text}\u00a0` : text;
}

let numbers = 0;

/** A name that no other element has. */
export function fresh(prefix) {
  numbers += 1;
  return `${prefix}-${numbers}`;
}

// Values

const naira = new Intl.NumberFormat("en-NG", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const whole = new Intl.NumberFormat("en-NG");

/** Kobo as naira. */
export function money(kobo) {
  if (kobo === null || kobo === undefined) return "–";
  return `₦${naira.format(kobo / 100)}`;
}

/** A count, with separators. */
export function count(value) {
  return value === null || value === undefined ? "–" : whole.format(value);
}

/** A rate or a length, as short as its size allows. */
export function short(value, unit) {
  if (value === null || value === undefined) return "–";
  const digits = value !== 0 && Math.abs(value) < 10 && !Number.isInteger(value) ? 1 : 0;
  return `${Number(value).toFixed(digits)}${unit ? ` ${unit}` : ""}`;
}

/** A span of time in the unit that says most. */
export function span(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 0.0005) return "0 s";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 100) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

/** A moment: the time of today, the date too of another day; the whole of it on hovering. */
export function moment(text) {
  if (!text) return h("span", { class: "none" }, "–");
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return String(text);
  const two = (value, length = 2) => String(value).padStart(length, "0");
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const milliseconds = h("span", { class: "faint" }, `.${two(date.getMilliseconds(), 3)}`);
  const isToday = date.toDateString() === new Date().toDateString();
  const day = isToday ? "" : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} `;
  return h("time", { datetime: text, title: date.toISOString(), class: "mono" }, day, clock, milliseconds);
}

/** An id that leads somewhere, or none. */
export function id(text, link) {
  if (!text) return h("span", { class: "none" }, "–");
  const isLong = text.length > 20;
  const shown = isLong ? `${text.slice(0, 8)}…${text.slice(-6)}` : text;
  return link ? h("a", { href: link, class: "mono", title: text }, shown) : h("span", { class: "mono", title: text }, shown);
}

/** A word with a colour that means something; the word alone says it too. */
export function badge(text, mood) {
  return h("span", { class: `badge ${mood ?? ""}` }, text);
}

/** Words of programs for people: `due_at` is "due at". */
export function words(text) {
  return String(text ?? "").replaceAll("_", " ");
}

/** Colours of states. */
export function mood(state) {
  if (["completed", "done", "handled", "applied"].includes(state)) return "good";
  if (["unknown", "failed", "reversed", "parked", "open"].includes(state)) return "bad";
  if (["accepted", "submitted", "queued", "running", "waiting", "suspected"].includes(state)) return "busy";
  return "";
}

/** Asks for the address of a view with these parameters. */
export function address(view, parameters) {
  const query = new URLSearchParams(Object.entries(parameters ?? {}).filter(([, value]) => value));
  const text = query.toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

export const traceLink = (name) => address("trace", { id: name });

// Data of events

const sealed = /^s1\.[A-Za-z0-9_-]+$/;

/** JSON as it is read best; what is sealed says so and nothing more. */
export function json(value, depth = 0) {
  const indent = "  ".repeat(depth + 1);
  const close = "  ".repeat(depth);
  if (typeof value === "string") {
    if (sealed.test(value)) return [h("span", { class: "sealed" }, "sealed")];
    return [h("span", { class: "text" }, JSON.stringify(value))];
  }
  if (value === null || typeof value !== "object") return [h("span", { class: "plain" }, String(value))];
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return [isList ? "[]" : "{}"];
  const parts = [isList ? "[\n" : "{\n"];
  entries.forEach(([name, inner], index) => {
    parts.push(indent);
    if (!isList) parts.push(h("span", { class: "name" }, name), ": ");
    parts.push(...json(inner, depth + 1), index + 1 < entries.length ? ",\n" : "\n");
  });
  parts.push(close, isList ? "]" : "}");
  return parts;
}
