// What operators did, service by service; each act carries the hash of the one before.

import { at, get, query, services } from "./api.js";
import { address, badge, count, h, id, json, moment, say } from "./dom.js";
import { alarm, button, field, go, heading, into, select, table, tableRow } from "./parts.js";

const limit = 50;

const columns = [
  { title: "No.", kind: "number", cell: (row) => row.number },
  { title: "When", cell: (row) => moment(row.happened_at) },
  { title: "Who", cell: (row) => h("b", {}, row.actor) },
  { title: "What", cell: (row) => h("span", { class: "mono" }, row.act) },
  { title: "To what", cell: (row) => id(row.subject) },
  { title: "Why", cell: (row) => row.reason ?? "–" },
  { title: "Before and after", cell: changes },
];

function changes(row) {
  if (!row.before && !row.after) return h("span", { class: "none" }, "–");
  const part = (title, text) => (text ? [h("dt", {}, title), h("dd", {}, h("pre", { class: "data" }, json(JSON.parse(text))))] : []);
  return h("details", {}, h("summary", {}, "Show"), h("dl", {}, part("before", row.before), part("after", row.after)));
}

export default function audit(element, { parameters, signal }) {
  const service = services.includes(parameters.service) ? parameters.service : "transaction";
  const subject = parameters.subject ?? "";
  const form = h(
    "form",
    { class: "filter", "aria-label": "Filter of acts" },
    field("Service", select("service", services.map((name) => [name, name]), service)),
    field("To what", h("input", { name: "subject", value: subject, autocomplete: "off", spellcheck: "false" })),
    h("div", { class: "acts" }, h("button", { type: "submit", class: "main" }, "Show"), button("Verify the chain", () => verify(service, verdict), { class: "quiet" })),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(address("audit", Object.fromEntries(new FormData(form))));
  });
  const verdict = h("div", { "aria-live": "polite" });
  const place = h("div", {});
  element.append(heading("Audit", "What operators did, and why. Nothing here can be changed."), form, verdict, place);
  into(place, async () => {
    const found = await get(query(at(service, "/ops/audit"), { subject, limit }), { signal });
    const shown = table({ caption: `Acts in ${service}, the newest first`, columns, rows: found.data, empty: "Nobody did anything here." });
    say(`${found.data.length} acts`);
    return [shown, more(found.next_cursor, service, subject, shown)];
  }, signal);
}

function more(cursor, service, subject, shown) {
  const place = h("div", { class: "more" });
  const renew = (next) => place.replaceChildren(...(next ? [button("Older acts", async () => {
    try {
      const found = await get(query(at(service, "/ops/audit"), { subject, limit, cursor: next }));
      shown.querySelector("tbody").append(...found.data.map((row) => tableRow(columns, row)));
      renew(found.next_cursor);
    } catch (error) {
      place.replaceChildren(alarm(error));
    }
  })] : []));
  renew(cursor);
  return place;
}

async function verify(service, verdict) {
  try {
    const found = await get(at(service, "/ops/audit/check"));
    const isWhole = found.problems.length === 0;
    verdict.replaceChildren(
      h("p", { class: `notice ${isWhole ? "good" : "bad"}` },
        badge(isWhole ? "whole" : "broken", isWhole ? "good" : "bad"),
        ` ${count(found.acts)} acts; the last has the hash `, h("span", { class: "mono wrap" }, found.head),
        found.problems.map((problem) => h("span", {}, ` ${problem.name} ${problem.detail}.`))),
    );
  } catch (error) {
    verdict.replaceChildren(alarm(error));
  }
}
