// How the suite is doing, asked every three seconds.

import { get } from "./api.js";
import { chart, Series } from "./chart.js";
import { address, badge, count, h, money, say, short, span, words } from "./dom.js";
import { alarm, button, heading, repeat, section, table } from "./parts.js";

const every = 3;

// They outlive the view: who comes back sees what was meanwhile known.
const history = { published: new Series(), handled: new Series(), lag: new Series(), flight: new Series(), queued: new Series() };
let before = null;

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const sum = (values) => values.reduce((all, value) => all + (value ?? 0), 0);
const most = (values) => values.reduce((all, value) => (value > all ? value : all), 0);

/** Kobo as naira in few digits: the chart and the transfers say it exactly. */
function brief(kobo) {
  if (kobo === null || kobo < 100000) return money(kobo);
  return kobo < 100000000 ? `₦${count(Math.round(kobo / 100))}` : `₦${compact.format(kobo / 100)}`;
}

/** What came twice and was known, since the services started; null while none of them says. */
function repeats(statuses) {
  const places = statuses.flatMap((status) => Object.values(status.answered ?? {}));
  // Whoever waited got the copy that the first one left in Redis.
  const byRedis = sum(places.flatMap((place) => [place.repeat_redis, place.waited]));
  const all = byRedis + sum(places.map((place) => place.repeat_postgres));
  return statuses.some((status) => status.answered) ? { all, byRedis } : null;
}

/** What the tiles and charts say. */
function digest(seen) {
  const statuses = seen.services.filter((service) => service.status).map((service) => service.status);
  const known = statuses.map((status) => status.messages);
  const open = seen.money?.data ?? [];
  const unknown = open.find((row) => row.state === "unknown");
  return {
    known,
    missing: seen.services.filter((service) => !service.status?.is_ready).map((service) => service.service),
    published: sum(known.map((one) => one.published_per_second)),
    handled: sum(known.map((one) => one.handled_per_second)),
    lag: most(known.map((one) => one.lag_seconds ?? 0)),
    unsent: sum(known.map((one) => one.outbox.unsent)),
    oldestUnsent: most(known.map((one) => one.outbox.oldest_seconds)),
    parked: sum(known.map((one) => one.parked.subjects)),
    failed: sum(known.map((one) => one.jobs.failed)),
    queued: seen.queues ? sum(seen.queues.map((queue) => (queue.name.endsWith("event-log") ? 0 : queue.messages))) : null,
    flight: seen.money ? sum(open.map((row) => row.amount)) : null,
    transfers: seen.money ? sum(open.map((row) => row.count)) : null,
    unknown: seen.money ? unknown?.count ?? 0 : null,
    oldestUnknown: unknown?.oldest_seconds ?? 0,
    breaks: seen.breaks?.open ?? null,
    explained: seen.breaks?.explained ?? null,
    repeats: repeats(statuses),
  };
}

function tile(title, value, note, mood, link) {
  const content = [h("span", { class: "name" }, title), h("span", { class: "value" }, value), h("span", { class: "note" }, note ?? "")];
  return h("li", { class: mood ?? "" }, link ? h("a", { href: link }, content) : h("div", {}, content));
}

function twice(repeats) {
  // All of them only when it is all: 99.9 % is 99 %.
  const share = repeats?.all ? `${Math.floor((100 * repeats.byRedis) / repeats.all)} % by Redis` : "none";
  return tile("Came twice", count(repeats?.all), repeats ? share : "not told", "");
}

/** How much of the provider's books ours explain: all of it within a quarter of an hour. */
function explained(now) {
  const { listed, matched, oldest_seconds: oldest } = now.explained ?? {};
  // All of it only when it is all.
  const share = listed ? `${Math.floor((100 * matched) / listed)} %` : "–";
  const rest = oldest === undefined ? "all matched" : `oldest ${span(oldest)}`;
  const note = now.breaks ? `${count(now.breaks)} breaks, ${rest}` : now.explained ? rest : "not told";
  return tile("Explained", share, note, now.breaks || oldest > 900 ? "bad" : "", "#/breaks");
}

function tiles(seen, now) {
  const archiveAge = seen.archive.newest_time ? (new Date(seen.now) - new Date(seen.archive.newest_time)) / 1000 : null;
  return h(
    "ul",
    { class: "tiles", "aria-label": "At a glance" },
    explained(now),
    tile("Money in flight", brief(now.flight), `${count(now.transfers)} transfers`, "", "#/transfers"),
    tile("Unknown", count(now.unknown), now.unknown ? `oldest ${span(now.oldestUnknown)}` : "none", now.unknown ? "bad" : "", address("transfers", { state: "unknown" })),
    tile("Oldest unsent", now.unsent ? span(now.oldestUnsent) : "none", `${count(now.unsent)} unsent`, now.oldestUnsent > 30 ? "bad" : ""),
    tile("Consumer lag", span(now.lag), `${short(now.handled, "handled/s")}`, now.lag > 5 ? "bad" : ""),
    tile("In queues", count(now.queued), now.queued === null ? "broker not asked" : "messages", ""),
    tile("Parked", count(now.parked), "subjects", now.parked ? "bad" : "", "#/parked"),
    tile("Jobs failed", count(now.failed), "to be decided", now.failed ? "bad" : "", address("jobs", { state: "failed" })),
    tile("Archive", count(seen.archive.position), archiveAge === null ? "empty" : `newest ${span(Math.max(0, archiveAge))} ago`, seen.archive.open_gaps ? "bad" : "", "#/events"),
    twice(now.repeats),
  );
}

const serviceColumns = [
  { title: "Service", cell: (row) => h("b", {}, row.service) },
  {
    title: "State",
    cell: (row) => {
      if (!row.status) return badge("no answer", "bad");
      const failing = Object.entries(row.status.checks).filter(([, good]) => !good).map(([name]) => words(name));
      return failing.length ? badge(`${row.status.is_ready ? "ready, not" : "not"} ${failing.join(", ")}`, row.status.is_ready ? "busy" : "bad") : badge("ready", "good");
    },
  },
  { title: "Version", cell: (row) => h("span", { class: "mono" }, row.status?.version ?? "–") },
  { title: "Published/s", kind: "number", cell: (row) => short(row.status?.messages.published_per_second) },
  { title: "Handled/s", kind: "number", cell: (row) => short(row.status?.messages.handled_per_second) },
  { title: "Lag", kind: "number", cell: (row) => span(row.status?.messages.lag_seconds) },
  { title: "Slowest handler", kind: "number", cell: (row) => short(row.status?.messages.slowest_milliseconds, "ms") },
  { title: "Unsent", kind: "number", cell: (row) => count(row.status?.messages.outbox.unsent) },
  { title: "Oldest unsent", kind: "number", cell: (row) => (row.status?.messages.outbox.unsent ? span(row.status.messages.outbox.oldest_seconds) : "–") },
  {
    title: "Jobs due",
    kind: "number",
    cell: (row) => (row.status ? h("a", { href: address("jobs", { service: row.service }) }, count(row.status.messages.jobs.due)) : "–"),
  },
  { title: "Failed", kind: "number", cell: (row) => count(row.status?.messages.jobs.failed) },
  { title: "Parked", kind: "number", cell: (row) => count(row.status?.messages.parked.events) },
];

const queueColumns = [
  { title: "Queue", cell: (row) => h("span", { class: "mono" }, row.name) },
  { title: "Messages", kind: "number", cell: (row) => count(row.messages) },
  { title: "Consumers", kind: "number", cell: (row) => count(row.consumers) },
];

function remember(now) {
  const time = Date.now();
  history.published.add(time, now.published);
  history.handled.add(time, now.handled);
  history.lag.add(time, now.lag);
  history.flight.add(time, now.flight === null ? null : now.flight / 100);
  history.queued.add(time, now.queued);
}

function charts() {
  return h(
    "div",
    { class: "charts" },
    chart("Events per second", [{ title: "published", series: history.published }, { title: "handled", series: history.handled }], (value) => compact.format(value)),
    chart("Consumer lag", [{ title: "longest", series: history.lag }], span),
    chart("Money in flight", [{ title: "naira", series: history.flight }], (value) => compact.format(value)),
    chart("In queues", [{ title: "messages", series: history.queued }], (value) => compact.format(value)),
  );
}

export default function overview(element, { signal }) {
  let isPaused = false;
  const trouble = h("div", {});
  const place = h("div", { "aria-busy": "true" });
  const pause = button("Pause", () => {
    isPaused = !isPaused;
    pause.textContent = isPaused ? "Go on" : "Pause";
    element.classList.toggle("paused", isPaused);
  }, { class: "quiet" });
  element.append(heading("Overview", "The suite as it is, asked every three seconds.", pause), trouble, place);
  const look = async () => {
    if (isPaused) return;
    try {
      const seen = await get("/overview", { signal });
      const now = digest(seen);
      remember(now);
      trouble.replaceChildren();
      place.removeAttribute("aria-busy");
      const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
      place.replaceChildren(
        tiles(seen, now),
        charts(),
        section("Services", table({ caption: "Services, their readiness and their work", columns: serviceColumns, rows: seen.services })),
        section("Queues", seen.queues
          ? table({ caption: "Queues of the broker", columns: queueColumns, rows: seen.queues, empty: "The broker has no queues." })
          : h("p", { class: "empty" }, "The broker's management API is not known here, or does not answer.")),
      );
      if (focused) place.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
      const state = now.missing.length ? `Not ready: ${now.missing.join(", ")}` : "All services are ready";
      if (before !== null && state !== before) say(state);
      before = state;
    } catch (error) {
      place.removeAttribute("aria-busy");
      // Said once; what was seen last stays below it.
      if (error.name !== "AbortError" && !trouble.hasChildNodes()) trouble.append(alarm(error));
    }
  };
  repeat(every, signal, look);
}
