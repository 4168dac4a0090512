// Events of the archive: found, followed as they come, looked at one by one.

import { get, query, services } from "./api.js";
import { address, badge, h, id, json, moment, say, traceLink } from "./dom.js";
import { alarm, button, facts, field, go, heading, into, select, table, tableRow } from "./parts.js";

const names = ["type", "source", "subject", "correlation", "causation", "from", "to"];
const pageSize = 50;
/** The tail keeps no more rows. */
const longest = 500;
/** Milliseconds between two looks of the tail that found something. */
const pause = 500;

// A test compares them with the catalogue.
const types = [
  "account.opened", "auth.heartbeat", "beneficiary.added", "beneficiary.defaulted", "beneficiary.removed",
  "customer.created", "customer.details_refused", "customer.heartbeat", "customer.rejected", "customer.verified",
  "device.registered", "device.revoked", "dispute.answered", "dispute.closed", "dispute.opened", "external_slot.released",
  "external_slot.taken", "money_drop.claimed", "money_drop.ended", "money_drop.opened", "money_drop.refunded",
  "payment.unmatched", "payment_request.cancelled", "payment_request.created", "payment_request.declined",
  "payment_request.expired", "payment_request.fulfilled", "payment_request.reopened", "pin.changed", "pin.locked",
  "pin.reset", "pin.set", "provider.account_opened", "provider.payment_received", "provider.transfer_updated",
  "session.ended", "subscription.activated",
  "subscription.cancelled", "subscription.charge_requested", "subscription.heartbeat", "subscription.lapsed",
  "subscription.payment_failed", "subscription.renewed", "subscription_charge.paid", "subscription_charge.refused",
  "transaction.completed", "transaction.created", "transaction.failed", "transaction.reversed", "transfer.rerouted.internal",
  "usage.adjusted", "user.block_changed", "user.closed", "user.created", "user.details_provided", "user.erased",
  "user.erasure_cleared", "user.erasure_due", "user.export_ready", "user.restricted", "user.settings_changed",
  "user.tier_changed", "wallet.credited",
];

const columns = [
  { title: "Time", cell: (row) => moment(row.event.time) },
  {
    title: "Type",
    cell: (row) => h("a", { href: address(`events/${row.event.id}`), class: "mono strong" }, row.event.type),
  },
  { title: "Source", cell: (row) => row.event.source },
  { title: "Subject", cell: (row) => id(row.event.subject, address("events", { subject: row.event.subject })) },
  { title: "Sequence", kind: "number", cell: (row) => row.event.sequence },
  {
    title: "Correlation",
    cell: (row) => id(row.event.correlationid, row.event.correlationid && address("events", { correlation: row.event.correlationid })),
  },
  { title: "Trace", cell: (row) => h("a", { href: traceLink(row.event.id) }, "Trace", h("span", { class: "unseen" }, ` ${row.event.type}`)) },
];

export default function events(element, context) {
  if (context.rest[0]) return one(element, context.rest[0], context.signal);
  const { parameters, signal } = context;
  const list = h("datalist", { id: "types" }, types.map((type) => h("option", { value: type })));
  const input = (name, attributes) => h("input", { name, value: parameters[name] ?? "", autocomplete: "off", spellcheck: "false", ...attributes });
  const form = h(
    "form",
    { class: "filter", "aria-label": "Filter of events" },
    field("Type", input("type", { list: "types" })),
    field("Source", select("source", [["", "any"], ...services.map((name) => [name, name])], parameters.source ?? "")),
    field("Subject", input("subject")),
    field("Correlation", input("correlation")),
    field("From", input("from", { placeholder: "2026-11-21T01:00:00Z" })),
    field("To", input("to", { placeholder: "2026-11-21T02:00:00Z" })),
    list,
    h("div", { class: "acts" }, h("button", { type: "submit", class: "main" }, "Find"), h("a", { href: "#/events", class: "button quiet" }, "Clear")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]));
    go(address("events", wanted));
  });
  const filter = Object.fromEntries(names.map((name) => [name, parameters[name]]));
  const place = h("div", {});
  const tail = liveTail(filter, place, signal);
  element.append(heading("Events", "Every event of the suite, as it was published. Personal data is sealed.", tail), form, place);
  page(place, filter, signal);
}

/** Pages of the list, one below the other. */
function page(place, filter, signal) {
  into(place, async () => {
    const found = await get(query("/archive/events", { ...filter, limit: pageSize }), { signal });
    const shown = table({ caption: "Events, the newest first", columns, rows: found.data, empty: "No event is like that." });
    say(`${found.data.length} events`);
    return [shown, more(found.next_cursor, filter, shown, signal)];
  }, signal);
}

function more(cursor, filter, shown, signal) {
  const place = h("div", { class: "more" });
  const renew = (next) => {
    const fetchMore = async () => {
      older.disabled = true;
      try {
        const found = await get(query("/archive/events", { ...filter, limit: pageSize, cursor: next }), { signal });
        shown.querySelector("tbody").append(...found.data.map((row) => tableRow(columns, row)));
        say(`${found.data.length} older events`);
        renew(found.next_cursor);
      } catch (error) {
        place.replaceChildren(alarm(error));
      }
    };
    const older = button("Older events", fetchMore);
    place.replaceChildren(...(next ? [older] : []));
  };
  renew(cursor);
  return place;
}

/** A switch that puts events above the others as they come. */
function liveTail(filter, place, signal) {
  let running = null;
  const note = h("span", { class: "live", "aria-hidden": "true" });
  const toggle = button("Follow live", async () => {
    if (running) return stop();
    running = new AbortController();
    signal.addEventListener("abort", stop);
    toggle.textContent = "Stop following";
    toggle.classList.add("on");
    note.textContent = "live";
    say("Following live");
    await follow(filter, place, running.signal).catch((error) => {
      if (error.name !== "AbortError") place.prepend(alarm(error));
    });
    stop();
  });
  const stop = () => {
    running?.abort();
    running = null;
    toggle.textContent = "Follow live";
    toggle.classList.remove("on");
    note.textContent = "";
  };
  return [note, toggle];
}

async function follow(filter, place, signal) {
  let cursor = null;
  while (!signal.aborted) {
    const start = cursor ? { cursor } : { begin: "end" };
    const found = await get(query("/archive/feed", { ...filter, ...start, limit: 200, wait: cursor ? 5 : "" }), { signal });
    cursor = found.next_cursor;
    const body = place.querySelector("tbody");
    if (found.data.length === 0 || !body) continue;
    place.querySelector(".empty")?.remove();
    for (const row of found.data) body.prepend(tableRow(columns, row, { class: "new" }));
    while (body.rows.length > longest) body.lastElementChild.remove();
    say(found.data.length === 1 ? `New: ${found.data[0].event.type}` : `${found.data.length} new events`);
    // Where events come all the time an answer comes at once: neither console nor who listens shall be flooded.
    await new Promise((goOn) => setTimeout(goOn, pause));
  }
}

/** One event with all it says. */
function one(element, name, signal) {
  const place = h("div", {});
  element.append(heading("Event", null, h("a", { href: "#/events", class: "button quiet" }, "All events")), place);
  into(place, async () => {
    const found = await get(`/archive/events/${encodeURIComponent(name)}`, { signal });
    const event = found.event;
    const about = facts([
      ["Type", h("span", { class: "mono strong" }, event.type)],
      ["Id", h("span", { class: "mono" }, event.id)],
      ["Time", moment(event.time)],
      ["Source", event.source],
      ["Subject", h("a", { href: address("events", { subject: event.subject }), class: "mono" }, event.subject)],
      ["Sequence", event.sequence],
      ["Correlation", event.correlationid ? h("a", { href: address("events", { correlation: event.correlationid }), class: "mono" }, event.correlationid) : null],
      ["Caused by", event.causationid ? h("a", { href: traceLink(event.causationid), class: "mono" }, event.causationid) : null],
      event.replayid ? ["Replay", badge(event.replayid, "busy")] : null,
      ["Archived", [moment(found.stored_at), " from ", found.origin, `, position ${found.position}`]],
    ]);
    return [
      h("p", { class: "acts" }, h("a", { href: traceLink(event.id), class: "button main" }, "Trace"), h("a", { href: address("events", { causation: event.id }), class: "button" }, "What it caused")),
      about,
      h("section", { "aria-label": "Data" }, h("h2", {}, "Data"), h("pre", { class: "data", tabindex: "0", "aria-label": "Data of the event" }, json(event.data ?? {}))),
    ];
  }, signal);
}
