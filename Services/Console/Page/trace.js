// The causal tree of a request, event, transfer or payment, as a waterfall.

import { get } from "./api.js";
import { address, badge, count, h, id, moment, mood, say, span, words } from "./dom.js";
import { button, facts, field, go, heading, into } from "./parts.js";

const kinds = { request: "request", event: "event", handler: "handler", job: "job", provider_call: "provider call" };

export default function trace(element, { parameters, signal }) {
  const wanted = parameters.id ?? "";
  const input = h("input", { name: "id", value: wanted, required: true, autocomplete: "off", spellcheck: "false", maxlength: "128" });
  const form = h(
    "form",
    { class: "filter one" },
    field("Id of a request, event, job, transfer or payment, or a reference", input),
    h("div", { class: "acts" }, h("button", { type: "submit", class: "main" }, "Trace")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(address("trace", { id: input.value.trim() }));
  });
  const place = h("div", {});
  element.append(heading("Trace", "What a request started, and what came of it."), form, place);
  if (!wanted) return;
  into(place, async () => waterfall(await get(`/archive/traces/${encodeURIComponent(wanted)}`, { signal }), wanted), signal);
}

/** Milliseconds since 1970, with fractions. */
function start(step) {
  return step.started_at ? Date.parse(step.started_at) : null;
}

/** All steps in the order of the tree, each with its depth. */
function flatten(steps, depth, rows) {
  for (const step of steps) {
    rows.push({ step, depth });
    flatten(step.children ?? [], depth + 1, rows);
  }
  return rows;
}

function waterfall(found, wanted) {
  const branches = found.data.map((branch) => ({ branch, rows: flatten(branch.steps, 0, []) }));
  const rows = branches.flatMap(({ rows }) => rows);
  const starts = rows.map(({ step }) => start(step)).filter((time) => time !== null);
  // Where nothing is known to have begun, there are no bars either.
  const from = starts.length ? Math.min(...starts) : 0;
  const ends = rows.map(({ step }) => (start(step) ?? from) + (step.duration_us ?? 0) / 1000);
  const scale = { from, length: Math.max(...ends, from + 1) - from };
  const counted = new Map();
  for (const { step } of rows) counted.set(step.kind, (counted.get(step.kind) ?? 0) + 1);
  say(`${rows.length} steps`);
  const detail = h("div", { class: "detail", "aria-live": "polite" });
  const list = branches.map(({ branch, rows }) => branchTable(branch, rows, scale, detail, wanted));
  const notes = [
    found.unreachable?.length
      ? h("p", { class: "notice bad", role: "alert" }, `No answer from ${found.unreachable.join(", ")}: what they did is missing below.`)
      : null,
    found.is_complete ? null : h("p", { class: "notice" }, "There is more: a trace ends at 2000 events."),
  ];
  const summary = facts([
    ["Asked", h("span", { class: "mono" }, found.asked)],
    ["From", starts.length ? moment(new Date(from).toISOString()) : null],
    ["Length", span(scale.length / 1000)],
    ...[...counted].map(([kind, all]) => [`${kinds[kind] ?? words(kind)}s`, count(all)]),
  ]);
  return [...notes.filter(Boolean), summary, h("div", { class: "waterfall" }, h("div", { class: "steps" }, list), detail)];
}

function branchTable(branch, rows, scale, detail, wanted) {
  const caption = h(
    "caption",
    {},
    "Started by ",
    branch.correlation_id ? h("a", { class: "mono", href: address("events", { correlation: branch.correlation_id }) }, branch.correlation_id) : "no request",
  );
  const head = h(
    "tr",
    { role: "row" },
    ["Step", "State", "Began", "Lasted"].map((title) => h("th", { role: "columnheader", scope: "col", class: ["Began", "Lasted"].includes(title) ? "number" : null }, title)),
    h("th", { role: "columnheader", scope: "col", class: "bars" }, "When", h("span", { class: "unseen" }, " in the whole")),
  );
  const body = rows.map(({ step, depth }) => stepRow(step, depth, scale, detail, wanted));
  return h(
    "div",
    { class: "table" },
    h("table", { role: "table", class: "trace" }, caption, h("thead", { role: "rowgroup" }, head), h("tbody", { role: "rowgroup" }, body)),
  );
}

/** How a step stands; of a request its status says so. */
function moodOf(step) {
  if (step.kind === "request") return { 2: "good", 4: "busy", 5: "bad" }[step.state[0]] ?? "";
  if (step.kind === "provider_call") return step.state === "open" ? "busy" : "";
  return mood(step.state);
}

function attempts(step) {
  if (!(step.attempts > 1)) return "";
  return step.kind === "provider_call" ? ` attempt ${step.attempts}` : ` ×${step.attempts}`;
}

function stepRow(step, depth, scale, detail, wanted) {
  const began = start(step);
  const offset = began === null ? null : began - scale.from;
  const lasted = step.duration_us === undefined || step.duration_us === null ? null : step.duration_us / 1e6;
  const open = button(step.name, () => show(step, detail), { class: "step" });
  const what = h(
    "div",
    {},
    h("span", { class: "kind" }, kinds[step.kind] ?? words(step.kind)),
    open,
    step.service ? h("span", { class: "service" }, step.service) : null,
  );
  what.style.paddingInlineStart = `${Math.min(depth, 14) * 1.1}rem`;
  const bar = h("span", { class: `bar ${step.kind} ${moodOf(step)}` });
  if (offset !== null) {
    bar.style.marginInlineStart = `${(Math.min(offset / scale.length, 1) * 100).toFixed(3)}%`;
    bar.style.inlineSize = `${(((lasted ?? 0) * 1000 / scale.length) * 100).toFixed(3)}%`;
  } else bar.hidden = true;
  const isWanted = step.id === wanted;
  return h(
    "tr",
    { role: "row", class: isWanted ? "wanted" : null, "data-kind": step.kind, "data-level": depth },
    h("td", { role: "cell", class: "name" }, what),
    h("td", { role: "cell", "data-title": "State" }, badge(words(step.state), moodOf(step)), attempts(step)),
    h("td", { role: "cell", class: "number", "data-title": "Began" }, offset === null ? "–" : `+${span(offset / 1000)}`),
    h("td", { role: "cell", class: "number", "data-title": "Lasted" }, lasted === null ? "–" : span(lasted)),
    h("td", { role: "cell", class: "bars", "aria-hidden": "true" }, bar),
  );
}

/** All that is known of one step. */
function show(step, detail) {
  const runs = (step.runs ?? []).map((run) =>
    h("li", {}, `attempt ${run.attempt}: ${words(run.outcome)}${run.error ? `, ${words(run.error)}` : ""} `, moment(run.started_at)));
  detail.replaceChildren(
    h("h2", {}, step.name),
    facts([
      ["Kind", kinds[step.kind] ?? words(step.kind)],
      step.service ? ["Service", step.service] : null,
      ["State", badge(words(step.state), moodOf(step))],
      ["Id", step.kind === "event" ? h("a", { href: address(`events/${step.id}`), class: "mono" }, step.id) : h("span", { class: "mono" }, step.id)],
      step.subject ? ["Subject", id(step.subject, address("events", { subject: step.subject }))] : null,
      step.sequence === undefined ? null : ["Sequence", step.sequence],
      step.reference ? ["Reference", h("span", { class: "mono" }, step.reference)] : null,
      step.key ? ["Key", h("span", { class: "mono" }, step.key)] : null,
      ["Began", moment(step.started_at)],
      ["Lasted", step.duration_us === undefined ? "–" : span(step.duration_us / 1e6)],
      step.attempts ? ["Attempts", step.attempts] : null,
      step.reason ? ["Last error", words(step.reason)] : null,
      step.due_at ? ["Due", moment(step.due_at)] : null,
    ]),
    runs.length ? h("ul", { class: "runs" }, runs) : "",
  );
}
