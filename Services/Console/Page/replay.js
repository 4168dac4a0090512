// Replays: what would happen, or does happen, when a service handles events again.

import { at, get, post, query, services } from "./api.js";
import { address, badge, count, h, id, moment, say, words } from "./dom.js";
import { alarm, button, confirm, facts, field, go, heading, into, repeat, section, select, table, tableRow } from "./parts.js";

const path = (rest) => `/services/console${rest}`;
const moods = { running: "busy", finished: "good", failed: "bad", cancelled: "" };

export default function replay(element, { parameters, rest, signal }) {
  if (rest[0]) return one(element, rest[0], signal);
  const form = orderForm(parameters);
  const plan = h("div", { "aria-live": "polite" });
  const place = h("div", {});
  const built = h("div", {});
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    into(plan, () => planned(order(form), signal), signal);
  });
  element.append(
    heading("Replay", "One service handles events of the past again. A dry run changes nothing and shows what it would."),
    form,
    plan,
    section("Replays", place),
    section("Projections", built),
  );
  into(built, () => projections(signal), signal);
  into(place, async () => list(await get(query(path("/replays"), { limit: 20 }), { signal }), signal), signal);
}

// Planning

function orderForm(given) {
  const input = (name, attributes) => h("input", { name, value: given[name] ?? "", autocomplete: "off", spellcheck: "false", ...attributes });
  return h(
    "form",
    { class: "filter", "aria-label": "What to replay" },
    field("Service", select("service", services.filter((name) => name !== "console").map((name) => [name, name]), given.service ?? "analytics")),
    field("Correlation", input("correlation")),
    field("Subject", input("subject")),
    field("Types", input("types", { placeholder: "user.created, …" })),
    field("From", input("from", { placeholder: "2026-11-21T01:00:00Z" })),
    field("To", input("to", { placeholder: "2026-11-21T02:00:00Z" })),
    field("Ids", input("ids")),
    field("Events per second", input("rate", { type: "number", min: "1", max: "20000", placeholder: "500" })),
    field("Effects", select("effects", [["off", "off: jobs are skipped"], ["on", "on: jobs run"]], given.effects ?? "off")),
    h("div", { class: "acts" }, h("button", { type: "submit", class: "main" }, "Plan")),
  );
}

/** What the form asks for. */
function order(form) {
  const asked = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]));
  const several = (text) => text.split(/[\s,]+/).filter(Boolean);
  const selection = {};
  for (const name of ["correlation", "subject", "from", "to"]) if (asked[name]) selection[name] = asked[name];
  for (const name of ["types", "ids"]) if (asked[name]) selection[name] = several(asked[name]);
  return { service: asked.service, selection, effects: asked.effects, rate: asked.rate ? Number(asked.rate) : undefined };
}

const typeColumns = [
  { title: "Type", cell: (row) => h("span", { class: "mono strong" }, row.type) },
  { title: "Events", kind: "number", cell: (row) => count(row.events) },
  { title: "Heard", cell: (row) => (row.is_heard ? badge("heard", "good") : badge("left out")) },
];

async function planned(wanted, signal) {
  const plan = await post(path("/replay-plans"), { service: wanted.service, selection: wanted.selection }, { signal });
  const start = (mode) => () => begin(wanted, mode, plan);
  return h(
    "section",
    { class: "card", "aria-label": "Plan" },
    h("h2", {}, `Plan: ${plan.is_complete ? "" : "more than "}${count(plan.events)} events for ${plan.service}`),
    facts([["First", moment(plan.first)], ["Last", moment(plan.last)], ["Effects", wanted.effects], ["Rate", `${wanted.rate ?? 500} per second`]]),
    table({ caption: "Events of the plan by type", columns: typeColumns, rows: plan.types, empty: "Nothing is selected." }),
    h("div", { class: "acts" }, button("Dry run", start("dry_run"), { class: "main", disabled: plan.events === 0 }), button("Run", start("run"), { class: "grave", disabled: plan.events === 0 })),
  );
}

function begin(wanted, mode, plan) {
  const isDry = mode === "dry_run";
  confirm({
    title: `${isDry ? "Dry run" : "Run"} on ${wanted.service}`,
    explanation: isDry
      ? `${count(plan.events)} events are handled in transactions that are rolled back.`
      : `${count(plan.events)} events are handled again; those that were handled before change nothing. Effects are ${wanted.effects}.`,
    verb: isDry ? "Dry run" : "Run",
    isGrave: !isDry,
    act: async (reason) => {
      const body = { service: wanted.service, mode, reason, selection: wanted.selection };
      if (!isDry) body.effects = wanted.effects;
      if (wanted.rate) body.rate = wanted.rate;
      const made = await post(path("/replays"), body);
      location.hash = `#/replay/${made.id}`;
      return isDry ? "The dry run has begun." : "The replay has begun.";
    },
  });
}

// What is derived from events alone

/** Services that declare projections. */
const projecting = ["analytics"];

async function projections(signal) {
  const answers = await Promise.all(projecting.map((service) => get(at(service, "/ops/projections"), { signal })));
  const rows = answers.flatMap((answer, index) => answer.data.map((row) => ({ service: projecting[index], ...row })));
  const columns = [
    { title: "Projection", cell: (row) => h("b", {}, `${row.service} ${row.name}`) },
    { title: "Generation", kind: "number", cell: (row) => count(row.generation) },
    { title: "Since", cell: (row) => moment(row.since) },
    { title: "Tables", cell: (row) => words((row.tables ?? []).join(", ")) },
    { title: "Last rebuild", cell: (row) => (row.rebuild ? [badge(row.rebuild.state, row.rebuild.state === "failed" ? "bad" : row.rebuild.state === "live" ? "good" : "busy"), ` ${count(row.rebuild.applied)} events`] : "–") },
    { title: "", kind: "acts", cell: (row) => button("Rebuild", () => rebuild(row), { class: "quiet", "aria-label": `Rebuild ${row.service} ${row.name}` }) },
  ];
  return table({ caption: "Projections that can be made again from the archive", columns, rows, empty: "No service declares one." });
}

function rebuild(row) {
  confirm({
    title: `Rebuild ${row.name} of ${row.service}`,
    explanation: "It is made again from the archive beside the live one, and put in its place in one transaction.",
    verb: "Rebuild",
    isGrave: true,
    act: async (reason) => {
      const made = await post(path("/rebuilds"), { service: row.service, projection: row.name, reason });
      location.hash = `#/replay/${made.id}`;
      return "The rebuild has begun.";
    },
  });
}

// What there was

const columns = [
  { title: "Made", cell: (row) => moment(row.created_at) },
  { title: "Replay", cell: (row) => id(row.id, `#/replay/${row.id}`) },
  { title: "Service", cell: (row) => row.service },
  { title: "Mode", cell: (row) => words(row.mode) },
  { title: "State", cell: (row) => badge(row.state, moods[row.state]) },
  { title: "Events", kind: "number", cell: (row) => `${count(row.progress.done)} of ${count(row.progress.planned)}` },
  { title: "Operator", cell: (row) => row.operator },
  { title: "Why", cell: (row) => row.reason },
];

function list(found, signal) {
  const shown = table({ caption: "Replays, the newest first", columns, rows: found.data, empty: "Nothing was replayed yet." });
  return [shown, more(found.next_cursor, (cursor) => get(query(path("/replays"), { limit: 20, cursor }), { signal }), shown, columns)];
}

/** Further rows, asked for by a button. */
function more(cursor, ask, shown, ofColumns) {
  const place = h("div", { class: "more" });
  const renew = (next) => place.replaceChildren(...(next ? [button("More", async () => {
    try {
      const found = await ask(next);
      shown.querySelector("tbody").append(...found.data.map((row) => tableRow(ofColumns, row)));
      renew(found.next_cursor);
    } catch (error) {
      place.replaceChildren(alarm(error));
    }
  })] : []));
  renew(cursor);
  return place;
}

// One of them

function one(element, name, signal) {
  const trouble = h("div", {});
  const place = h("div", { "aria-busy": "true" });
  const outcome = h("div", {});
  element.append(heading("Replay", null, h("a", { href: "#/replay", class: "button quiet" }, "All replays")), trouble, place, outcome);
  let last = null;
  let state = null;
  const until = new AbortController();
  signal.addEventListener("abort", () => until.abort());
  const look = async () => {
    try {
      const found = await get(path(`/replays/${encodeURIComponent(name)}`), { signal });
      trouble.replaceChildren();
      const text = JSON.stringify(found);
      if (text === last) return;
      last = text;
      place.replaceChildren(...summary(found, again));
      place.removeAttribute("aria-busy");
      if (found.state !== state) say(`The replay is ${found.state}`);
      state = found.state;
      if (found.state === "running") return;
      until.abort();
      await into(outcome, () => results(found, signal), signal);
    } catch (error) {
      if (error.name === "AbortError") return;
      // The replay goes on without the page: who is away for a moment is asked again.
      if (!error.isPassing) until.abort();
      place.removeAttribute("aria-busy");
      if (!trouble.hasChildNodes()) trouble.append(alarm(error));
    }
  };
  const again = () => go(location.hash);
  repeat(1, until.signal, look);
}

function summary(found, again) {
  const { planned, done } = found.progress;
  const bar = h("progress", { value: done, max: Math.max(planned, 1), "aria-label": "Events handled" });
  const selection = Object.entries(found.selection).map(([name, value]) => `${words(name)} ${[value].flat().join(", ")}`).join("; ");
  const act = (verb, rest, explanation) => button(verb, () => confirm({
    title: `${verb} the replay`,
    explanation,
    verb,
    act: async (reason) => {
      await post(path(`/replays/${found.id}/${rest}`), { reason });
      return `${verb}: done.`;
    },
    done: again,
  }), { class: "quiet" });
  return [
    h("section", { class: "card progress", "aria-label": "Progress" },
      h("p", {}, badge(found.state, moods[found.state]), ` ${words(found.mode)} on ${found.service}: ${count(done)} of ${count(planned)} events`, found.error ? `, ${words(found.error)}` : ""),
      bar,
      h("div", { class: "acts" },
        found.state === "running" ? act("Cancel", "cancel", "It stops after the page of events that is under way.") : null,
        ["failed", "cancelled"].includes(found.state) ? act("Resume", "resume", "It goes on behind the last event that was handled.") : null)),
    facts([
      ...Object.entries(found.counts ?? {}).map(([word, value]) => [words(word), count(value)]),
      ["Selection", selection || "everything"],
      ["Effects", found.effects],
      ["Rate", `${count(found.rate)} per second`],
      ["Operator", found.operator],
      ["Why", found.reason],
      ["Made", moment(found.created_at)],
      ["Finished", moment(found.finished_at)],
    ]),
  ];
}

const changeColumns = [
  { title: "No.", kind: "number", cell: (row) => row.number },
  { title: "Kind", cell: (row) => row.kind },
  { title: "Change", cell: (row) => badge(row.change, { missing: "bad", deleted: "bad", changed: "busy", updated: "busy" }[row.change] ?? "good") },
  { title: "Name", cell: (row) => h("span", { class: "mono strong" }, row.name) },
  { title: "Key", cell: (row) => h("span", { class: "mono wrap" }, row.key) },
  { title: "Before and after", cell: difference },
  { title: "Caused by", cell: (row) => (row.caused_by ?? []).slice(0, 3).map((event) => [id(event, address(`events/${event}`)), " "]) },
];

/** Column by column, what was crossed out. */
function difference(row) {
  const names = [...new Set([...Object.keys(row.before ?? {}), ...Object.keys(row.after ?? {})])];
  if (names.length === 0) return "–";
  const said = (value) => (typeof value === "object" && value !== null ? JSON.stringify(value) : String(value));
  const line = (name) => {
    const [before, after] = [row.before?.[name], row.after?.[name]];
    const isSame = before !== undefined && JSON.stringify(before) === JSON.stringify(after);
    return h(
      "li",
      {},
      h("span", { class: "faint" }, `${name} `),
      isSame ? said(before) : [before === undefined ? null : h("del", {}, said(before)), " ", after === undefined ? null : h("ins", {}, said(after))],
    );
  };
  return h("ul", { class: "diff" }, names.map(line));
}

const problemColumns = [
  { title: "Event", cell: (row) => id(row.event, address(`events/${row.event}`)) },
  { title: "Type", cell: (row) => h("span", { class: "mono" }, row.type) },
  { title: "Subject", cell: (row) => id(row.subject) },
  { title: "Outcome", cell: (row) => badge(row.outcome, "bad") },
  { title: "Reason", cell: (row) => words(row.reason) },
];

async function results(found, signal) {
  const parts = [];
  if (found.mode === "dry_run") {
    const ask = (cursor) => get(query(path(`/replays/${found.id}/changes`), { limit: 100, cursor }), { signal });
    const changes = await ask(null);
    const shown = table({ caption: "What would be different", columns: changeColumns, rows: changes.data, empty: "Nothing would be different." });
    parts.push(section("What would be different", shown, more(changes.next_cursor, ask, shown, changeColumns)));
  }
  const ask = (cursor) => get(query(path(`/replays/${found.id}/problems`), { limit: 100, cursor }), { signal });
  const problems = await ask(null);
  const shown = table({ caption: "Events that were refused or failed", columns: problemColumns, rows: problems.data, empty: "No event was refused, and none failed." });
  parts.push(section("Problems", shown, more(problems.next_cursor, ask, shown, problemColumns)));
  return parts;
}
