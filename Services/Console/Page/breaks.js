// Differences between the provider's books and ours.

import { at, get, post } from "./api.js";
import { badge, count, h, id, moment, mood, say, traceLink, words } from "./dom.js";
import { button, confirm, heading, into, table } from "./parts.js";

export default function breaks(element, { signal }) {
  const place = h("div", {});
  const look = () => into(place, async () => {
    const found = await get(at("transaction", "/reconciliations/breaks"), { signal });
    say(`${found.open} breaks are open`);
    return [
      h("p", { class: "lead" }, `${count(found.open)} open; ${count(found.waiting)} accounts wait to be looked at.`),
      table({ caption: "Differences between the provider's books and ours", columns: columns(look), rows: found.breaks, empty: "The books agree." }),
    ];
  }, signal);
  element.append(heading("Reconciliation breaks", "What the provider's books and ours say differently.", button("Look again", look, { class: "quiet" })), place);
  look();
}

function columns(again) {
  return [
    { title: "Kind", cell: (row) => words(row.kind) },
    { title: "State", cell: (row) => badge(row.state, mood(row.state)) },
    { title: "About", cell: (row) => id(row.key, row.key && traceLink(row.key)) },
    { title: "Account", cell: (row) => id(row.account) },
    { title: "Ours", kind: "number", cell: (row) => words(row.ours ?? "–") },
    { title: "Theirs", kind: "number", cell: (row) => words(row.theirs ?? "–") },
    { title: "First seen", cell: (row) => moment(row.first_seen) },
    { title: "Last seen", cell: (row) => moment(row.last_seen) },
    { title: "Notes", cell: (row) => notes(row) },
    {
      title: "",
      kind: "acts",
      cell: (row) => (row.state === "suspected" ? null : button("Add a note", () => note(row, again), { class: "quiet", "aria-label": `Add a note to break ${row.id}` })),
    },
  ];
}

function notes(row) {
  const all = row.notes ?? [];
  if (all.length === 0) return h("span", { class: "none" }, "none");
  return h("ul", { class: "runs" }, all.map((one) => h("li", {}, one.text, h("span", { class: "faint" }, ` ${one.author}`))));
}

function note(row, done) {
  confirm({
    title: "Add a note",
    explanation: `To the break ${words(row.kind)}. It changes nothing else.`,
    verb: "Add",
    reasonLabel: "Note",
    act: async (text) => {
      await post(at("transaction", `/reconciliations/breaks/${row.id}/notes`), { text });
      return "The note is there.";
    },
    done,
  });
}
