// Jobs of the services: everything slow or external.

import { at, get, post, query, services } from "./api.js";
import { address, badge, count, h, id, moment, mood, say, traceLink, words } from "./dom.js";
import { bound, button, confirm, field, go, heading, into, select, table } from "./parts.js";

const states = ["queued", "running", "done", "failed", "cancelled", "skipped"];
const limit = 100;

export default function jobs(element, { parameters, signal }) {
  const service = services.includes(parameters.service) ? parameters.service : "transaction";
  const state = states.includes(parameters.state) ? parameters.state : "";
  const form = h(
    "form",
    { class: "filter", "aria-label": "Filter of jobs" },
    field("Service", select("service", services.map((name) => [name, name]), service)),
    field("State", select("state", [["", "any"], ...states.map((name) => [name, name])], state)),
    h("div", { class: "acts" }, h("button", { type: "submit", class: "main" }, "Show")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(address("jobs", Object.fromEntries(new FormData(form))));
  });
  const place = h("div", {});
  const look = () => into(place, async () => {
    const rows = await get(query(at(service, "/ops/jobs"), { state, limit }), { signal });
    say(`${rows.length} jobs`);
    const shown = table({ caption: `Jobs of ${service}, the newest first`, columns: columns(service, look), rows, empty: "No job is like that." });
    return rows.length === limit ? [bound(limit), shown] : shown;
  }, signal);
  element.append(heading("Jobs", "Everything slow or external, with its attempts."), form, place);
  look();
}

function columns(service, again) {
  return [
    { title: "Kind", cell: (row) => h("span", { class: "mono strong" }, row.kind) },
    { title: "Key", cell: (row) => id(row.key, traceLink(row.key)) },
    { title: "State", cell: (row) => badge(row.state, mood(row.state)) },
    { title: "Due", cell: (row) => moment(row.due_at) },
    { title: "Attempts", kind: "number", cell: (row) => count(row.attempts) },
    { title: "Last error", cell: (row) => words(row.last_error ?? "–") },
    { title: "Made", cell: (row) => moment(row.created_at) },
    { title: "Request", cell: (row) => id(row.correlation_id, row.correlation_id && traceLink(row.correlation_id)) },
    { title: "", kind: "acts", cell: (row) => acts(service, row, again) },
  ];
}

function acts(service, job, again) {
  const made = [];
  const act = (verb, path, explanation, said, isGrave) =>
    button(verb, () =>
      confirm({
        title: `${verb} ${job.kind}`,
        explanation,
        verb,
        isGrave,
        act: async (reason) => {
          await post(at(service, `/ops/jobs/${job.id}/${path}`), { reason });
          return said;
        },
        done: again,
      }), { class: "quiet", "aria-label": `${verb} ${job.kind} ${job.key}` });
  if (["queued", "failed", "skipped"].includes(job.state)) {
    made.push(act("Release", "release", "The job becomes due now, whatever it waited for.", "Released."));
  }
  if (["queued", "failed"].includes(job.state)) {
    made.push(act("Cancel", "cancel", "The job never runs again. What it should have done does not happen.", "Cancelled.", true));
  }
  if (job.state === "cancelled") {
    made.push(act("Retry", "retry", "The job is asked for again, and becomes due now.", "It runs again."));
  }
  return h("div", { class: "acts" }, made);
}
