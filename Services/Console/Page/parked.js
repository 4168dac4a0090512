// Events that could not be handled, with what waits behind them.

import { at, get, post, services } from "./api.js";
import { address, badge, count, h, id, moment, say, traceLink, words } from "./dom.js";
import { alarm, bound, button, confirm, heading, into, table } from "./parts.js";

export default function parked(element, { signal }) {
  const place = h("div", {});
  const look = () => into(place, () => all(signal, look), signal);
  element.append(
    heading("Parked events", "An event that cannot be handled is parked; later ones of its subject wait behind it, in order.", button("Look again", look, { class: "quiet" })),
    place,
  );
  look();
}

async function all(signal, again) {
  const asked = await Promise.allSettled(services.map((service) => get(at(service, "/ops/parked"), { signal })));
  const failed = asked.flatMap((answer, index) => (answer.status === "rejected" ? [[services[index], answer.reason]] : []));
  const found = asked.flatMap((answer, index) =>
    answer.status === "fulfilled" ? answer.value.map((key) => ({ service: services[index], ...key })) : []);
  say(found.length === 0 ? "Nothing is parked" : `${found.length} subjects are parked`);
  return [
    ...failed.map(([, reason]) => alarm(reason)),
    found.length === 0 && failed.length === 0 ? h("p", { class: "empty good" }, "Nothing is parked: every event was handled.") : null,
    ...found.map((key) => card(key, again)),
  ].filter(Boolean);
}

/** A subject with its events, the one that failed first. */
function card(key, again) {
  const events = key.events ?? [];
  const waiting = key.waiting ?? events.length;
  const columns = [
    { title: "Place", cell: (row) => (row === events[0] ? badge("failed", "bad") : badge(`waits, ${events.indexOf(row) + 1}`, "busy")) },
    { title: "Type", cell: (row) => h("a", { href: address(`events/${row.id}`), class: "mono strong" }, row.type) },
    { title: "Parked", cell: (row) => moment(row.parked_at) },
    { title: "Error", cell: (row) => tries(row) },
    { title: "Attempts", kind: "number", cell: (row) => count(row.tries?.length || row.attempts) },
    { title: "Trace", cell: (row) => h("a", { href: traceLink(row.id) }, "Trace", h("span", { class: "unseen" }, ` ${row.type}`)) },
    { title: "", kind: "acts", cell: (row) => button("Discard", () => discard(key, row, again), { class: "quiet", "aria-label": `Discard ${row.type}` }) },
  ];
  const name = `parked-${key.service}-${key.subject}`;
  return h(
    "section",
    { class: "card", "aria-labelledby": name },
    h(
      "div",
      { class: "heading" },
      h("div", {},
        h("h2", { id: name }, `${key.service}: `, id(key.subject, address("events", { subject: key.subject }))),
        h("p", { class: "lead" }, badge(words(key.reason), "bad"), " since ", moment(key.parked_at), `, ${waiting === 1 ? "nothing waits behind it" : `${waiting - 1} wait behind it`}`)),
      h("div", { class: "beside" }, key.retry ? badge(`retry by ${key.retry.operator} under way`, "busy") : null, button("Retry in order", () => retry(key, again), { class: "main", "aria-label": `Retry ${key.service} ${key.subject} in order` })),
    ),
    waiting > events.length ? bound(events.length) : null,
    table({ caption: `Parked events of ${key.subject}`, columns, rows: events }),
  );
}

function tries(row) {
  if (!row.tries?.length) return words(row.reason);
  const list = row.tries.map((one) => h("li", {}, moment(one.tried_at), " ", words(one.error)));
  return h("details", {}, h("summary", {}, words(row.reason)), h("ol", { class: "runs" }, list));
}

function retry(key, done) {
  // One decision for as long as the dialog stands: sent twice it is one retry.
  const decision = crypto.randomUUID();
  confirm({
    title: `Retry ${key.service} in order`,
    explanation: "The events are handled one after the other, each in a transaction of its own, until one fails again.",
    verb: "Retry",
    act: async (reason) => {
      const answer = await post(at(key.service, "/ops/parked/retry"), { subject: key.subject, reason, decision });
      const applied = `${answer.applied ?? 0} applied`;
      if (answer.outcome === "applied") return `Retried: ${applied}, nothing is left.`;
      if (answer.outcome === "failed_again") return `Failed again after ${applied}: ${words(answer.reason)}`;
      return words(answer.outcome);
    },
    done,
  });
}

function discard(key, event, done) {
  confirm({
    title: `Discard ${event.type}`,
    explanation: "The event is dropped for good: its effect in this service never happens. What waits behind it stays.",
    verb: "Discard",
    isGrave: true,
    act: async (reason) => {
      await post(at(key.service, "/ops/parked/discard"), { subject: key.subject, event: event.id, reason });
      return `Discarded ${event.type}.`;
    },
    done,
  });
}
