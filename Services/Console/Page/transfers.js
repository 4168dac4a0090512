// Transfers with the history of their states; decisions that need two people.

import { at, get, post, query } from "./api.js";
import { address, badge, count, h, id, moment, money, mood, say, traceLink, words } from "./dom.js";
import { bound, button, confirm, facts, field, go, heading, into, section, select, table } from "./parts.js";

const states = ["unknown", "accepted", "submitted", "completed", "failed", "reversed"];
const limit = 100;
const path = (rest) => at("transaction", rest);

const columns = [
  { title: "Made", cell: (row) => moment(row.created_at) },
  { title: "Transfer", cell: (row) => id(row.id, address(`transfers/${row.id}`)) },
  { title: "Type", cell: (row) => words(row.type) },
  { title: "State", cell: (row) => badge(row.state, mood(row.state)) },
  { title: "Route", cell: (row) => `${row.route}, ${words(row.route_reason)}` },
  { title: "Amount", kind: "number", cell: (row) => money(row.amount) },
  { title: "Sender", cell: (row) => id(row.sender_id, row.sender_id && address("events", { subject: row.sender_id })) },
  { title: "Recipient", cell: (row) => id(row.recipient_id, row.recipient_id && address("events", { subject: row.recipient_id })) },
  { title: "Trace", cell: (row) => h("a", { href: traceLink(row.id) }, "Trace", h("span", { class: "unseen" }, ` ${row.id}`)) },
];

const proposalColumns = [
  { title: "Proposed", cell: (row) => moment(row.proposed_at) },
  { title: "Transfer", cell: (row) => id(row.transaction_id, address(`transfers/${row.transaction_id}`)) },
  { title: "Outcome", cell: (row) => badge(row.outcome, mood(row.outcome)) },
  { title: "By", cell: (row) => row.proposed_by },
  { title: "Why", cell: (row) => row.reason },
  { title: "Until", cell: (row) => moment(row.expires_at) },
];

export default function transfers(element, { parameters, rest, signal }) {
  if (rest[0]) return one(element, rest[0], signal);
  const state = states.includes(parameters.state) ? parameters.state : "";
  const form = h(
    "form",
    { class: "filter", "aria-label": "Filter of transfers" },
    field("State", select("state", [["", "any"], ...states.map((name) => [name, name])], state)),
    h("div", { class: "acts" }, h("button", { type: "submit", class: "main" }, "Show")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(address("transfers", Object.fromEntries(new FormData(form))));
  });
  const place = h("div", {});
  element.append(heading("Transfers", "Ids, amounts and states; nothing that people wrote."), form, place);
  into(place, async () => {
    const asked = state ? [state] : states;
    const [proposals, ...answers] = await Promise.all([
      get(path("/transfer-proposals"), { signal }),
      ...asked.map((one) => get(query(path("/transfers"), { state: one, limit }), { signal })),
    ]);
    const rows = answers.flat().sort((one, other) => (one.created_at < other.created_at ? 1 : -1)).slice(0, limit);
    say(`${rows.length} transfers${proposals.length ? `, ${proposals.length} proposals wait for a second operator` : ""}`);
    return [
      proposals.length
        ? section("Waiting for a second operator", table({ caption: "Proposals, the oldest first", columns: proposalColumns, rows: proposals }))
        : null,
      answers.some((answer) => answer.length === limit) ? bound(limit) : null,
      table({ caption: "Transfers, the newest first", columns, rows, empty: "No transfer is in this state." }),
    ].filter(Boolean);
  }, signal);
}

function one(element, name, signal) {
  const place = h("div", {});
  element.append(heading("Transfer", null, h("a", { href: "#/transfers", class: "button quiet" }, "All transfers")), place);
  const look = () => into(place, async () => {
    const found = await get(path(`/transfers/${encodeURIComponent(name)}`), { signal });
    return detail(found, look);
  }, signal);
  look();
}

function detail(found, again) {
  const outcomes = found.state === "unknown" ? ["completed", "failed"] : found.state === "completed" ? ["reversed"] : [];
  return [
    h(
      "p",
      { class: "acts" },
      h("a", { href: traceLink(found.id), class: "button main" }, "Trace"),
      h("a", { href: address("events", { subject: found.id }), class: "button" }, "Its events"),
      outcomes.map((outcome) => button(`Propose: ${outcome}`, () => propose(found, outcome, again), { class: "quiet" })),
    ),
    facts([
      ["Transfer", h("span", { class: "mono" }, found.id)],
      ["Reference", h("span", { class: "mono" }, found.reference)],
      ["State", badge(found.state, mood(found.state))],
      ["Type", words(found.type)],
      ["Route", `${found.route}, ${words(found.route_reason)}`],
      ["Amount", money(found.amount)],
      ["Fee and duty", money((found.fee ?? 0) + (found.duty ?? 0))],
      ["Sender", found.sender_id ? h("span", { class: "mono" }, found.sender_id) : null],
      ["Recipient", found.recipient_id ? h("span", { class: "mono" }, found.recipient_id) : null],
      found.provider_id ? ["Provider's id", h("span", { class: "mono" }, found.provider_id)] : null,
      found.session_id ? ["Session at the banks", h("span", { class: "mono" }, found.session_id)] : null,
      found.failure_reason ? ["Reason", words(found.failure_reason)] : null,
      ["Made", moment(found.created_at)],
      found.ended_at ? ["Ended", moment(found.ended_at)] : null,
    ]),
    section("States", steps(found.history ?? [])),
    section("Calls to the provider", table({ caption: "Calls to the provider", columns: callColumns, rows: found.calls ?? [], empty: "None was made." })),
    found.answers?.length ? section("What the provider said", table({ caption: "Answers of the provider", columns: answerColumns, rows: found.answers })) : null,
    found.absences?.length ? section("Not known to the provider", table({ caption: "When the provider knew nothing of it", columns: absenceColumns, rows: found.absences })) : null,
    found.proposals?.length ? section("Proposals", found.proposals.map((proposal) => proposalCard(proposal, again))) : null,
  ].filter(Boolean);
}

const callColumns = [
  { title: "Attempt", cell: (row) => row.attempt },
  { title: "Began", cell: (row) => moment(row.started_at) },
  { title: "Ended", cell: (row) => moment(row.ended_at) },
  { title: "Outcome", cell: (row) => (row.outcome ? badge(words(row.outcome)) : badge("open", "busy")) },
];

const answerColumns = [
  { title: "Answer", cell: (row) => words(row.answer) },
  { title: "Times", kind: "number", cell: (row) => count(row.times) },
  { title: "Last", cell: (row) => moment(row.last_seen_at) },
];

const absenceColumns = [
  { title: "After attempt", cell: (row) => row.attempt },
  { title: "First seen", cell: (row) => moment(row.first_seen_at) },
  { title: "Last seen", cell: (row) => moment(row.last_seen_at) },
];

function steps(history) {
  return h(
    "ol",
    { class: "timeline" },
    history.map((step) =>
      h("li", { class: mood(step.state) }, badge(step.state, mood(step.state)), " ", moment(step.happened_at), " by ", words(step.actor), step.evidence ? h("span", { class: "faint" }, ` on ${words(step.evidence)}`) : "")),
  );
}

function proposalCard(proposal, again) {
  const isOpen = proposal.state === "open";
  return h(
    "div",
    { class: "card" },
    h("p", {}, badge(proposal.state, isOpen ? "busy" : ""), ` ${proposal.outcome}, by ${proposal.proposed_by} `, moment(proposal.proposed_at)),
    h("p", {}, proposal.reason),
    isOpen
      ? h("div", { class: "acts" },
        button("Approve", () => approve(proposal, again), { class: "main" }),
        button("Withdraw", () => withdraw(proposal, again), { class: "quiet" }))
      : null,
  );
}

function propose(found, outcome, done) {
  confirm({
    title: `Propose that it ${outcome === "reversed" ? "is" : "has"} ${outcome}`,
    explanation: "Nothing happens until a second operator approves it.",
    verb: "Propose",
    isGrave: true,
    act: async (reason) => {
      await post(path(`/transfers/${found.id}/proposals`), { outcome, reason });
      return "Proposed; a second operator has to approve it.";
    },
    done,
  });
}

function approve(proposal, done) {
  confirm({
    title: `Approve: ${proposal.outcome}`,
    explanation: "It is decided at once, and cannot be undone.",
    verb: "Approve",
    isGrave: true,
    hasNoReason: true,
    act: async () => {
      await post(path(`/transfer-proposals/${proposal.id}/approve`), {});
      return "Approved.";
    },
    done,
  });
}

function withdraw(proposal, done) {
  confirm({
    title: "Withdraw the proposal",
    explanation: "Nothing happens to the transfer.",
    verb: "Withdraw",
    act: async (reason) => {
      await post(path(`/transfer-proposals/${proposal.id}/withdraw`), { reason });
      return "Withdrawn.";
    },
    done,
  });
}
