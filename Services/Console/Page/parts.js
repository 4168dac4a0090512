// Pieces that views are made of: tables, forms, dialogs, notices.

import { Refusal } from "./api.js";
import { fresh, h, say } from "./dom.js";

/** The heading of a view, with what stands beside it. */
export function heading(title, lead, ...beside) {
  return h(
    "div",
    { class: "heading" },
    h("div", {}, h("h1", { tabindex: "-1" }, title), lead ? h("p", { class: "lead" }, lead) : null),
    beside.length ? h("div", { class: "beside" }, beside) : null,
  );
}

/** A part of a view with a heading of its own. */
export function section(title, ...content) {
  const name = fresh("section");
  return h("section", { "aria-labelledby": name }, h("h2", { id: name }, title), content);
}

/**
 * A table; on a narrow screen each row becomes a card. Roles are written out, for cards are no tables to a browser.
 *
 * Columns: `title`, `cell(row)`, `kind` ("number", "acts").
 */
export function table({ caption, columns, rows, empty, isCaptionSeen, rowOf }) {
  const head = h(
    "tr",
    { role: "row" },
    columns.map((column) =>
      h("th", { role: "columnheader", scope: "col", class: column.kind }, column.title || h("span", { class: "unseen" }, "Acts"))),
  );
  const body = h("tbody", { role: "rowgroup" }, rows.map((row) => (rowOf ?? tableRow)(columns, row)));
  const made = h(
    "table",
    { role: "table" },
    h("caption", { class: isCaptionSeen ? "" : "unseen" }, caption),
    h("thead", { role: "rowgroup" }, head),
    body,
  );
  return h("div", { class: "table" }, made, rows.length === 0 ? h("p", { class: "empty" }, empty ?? "Nothing here.") : null);
}

export function tableRow(columns, row, attributes) {
  const cells = columns.map((column) =>
    h("td", { role: "cell", class: column.kind, "data-title": column.title }, column.cell(row)));
  return h("tr", { role: "row", ...attributes }, cells);
}

/** Names and values side by side. */
export function facts(pairs) {
  return h(
    "dl",
    { class: "facts" },
    pairs.filter(Boolean).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value ?? "–"))),
  );
}

/** A field with its label. */
export function field(label, input, hint) {
  const name = fresh("field");
  input.id = name;
  const note = hint ? h("span", { class: "hint", id: `${name}-hint` }, hint) : null;
  if (note) input.setAttribute("aria-describedby", note.id);
  return h("div", { class: "field" }, h("label", { for: name }, label), input, note);
}

export function select(name, options, chosen) {
  return h(
    "select",
    { name },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
}

export function button(text, action, attributes) {
  return h("button", { type: "button", onclick: action, ...attributes }, text);
}

/** Says that there may be more than is shown. */
export function bound(limit) {
  return h("p", { class: "notice" }, `No more than ${limit} are shown here.`);
}

/** What went wrong, said aloud. */
export function alarm(error) {
  const text = error instanceof Refusal ? error.message : "This view has a fault; see the browser's log.";
  if (!(error instanceof Refusal)) console.error(error);
  return h("p", { class: "notice bad", role: "alert" }, text);
}

/** Fills a place with what comes, or with why it does not. */
export async function into(place, make, signal) {
  place.setAttribute("aria-busy", "true");
  try {
    const made = await make();
    if (signal?.aborted) return;
    const hadFocus = place.contains(document.activeElement);
    place.replaceChildren(...[made].flat());
    // Whoever stood on what is gone goes on from the heading, and not from the beginning of the page.
    if (hadFocus) document.querySelector("main h1")?.focus({ preventScroll: true });
  } catch (error) {
    if (error.name !== "AbortError" && !signal?.aborted) place.replaceChildren(alarm(error));
  } finally {
    place.removeAttribute("aria-busy");
  }
}

/**
 * Asks for a reason and then acts. `act` gives the sentence that says how it went; a refusal is shown and can be tried again.
 */
export function confirm({ title, explanation, verb, isGrave, hasNoReason, reasonLabel, act, done }) {
  const name = fresh("dialog");
  const reason = h("input", { name: "reason", required: true, maxlength: "500", autocomplete: "off" });
  const problem = h("div", {});
  const go = h("button", { type: "submit", class: isGrave ? "grave" : "main" }, verb);
  const leave = button("Never mind", () => dialog.close(), { class: "quiet" });
  const form = h(
    "form",
    { method: "dialog" },
    h("h2", { id: name }, title),
    h("p", { id: `${name}-says` }, explanation),
    hasNoReason ? null : field(reasonLabel ?? "Reason", reason, "One line; it stands in the audit with your name."),
    problem,
    h("div", { class: "acts" }, go, leave),
  );
  const dialog = h("dialog", { "aria-labelledby": name, "aria-describedby": `${name}-says` }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (go.disabled) return;
    go.disabled = true;
    problem.replaceChildren();
    try {
      const said = await act(reason.value.trim(), form);
      dialog.close();
      tell(said);
      done?.();
    } catch (error) {
      problem.replaceChildren(alarm(error));
      go.disabled = false;
    }
  });
  const before = document.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (before?.isConnected) before.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  (hasNoReason ? leave : reason).focus();
}

/** Says how an act ended, for some seconds in sight, and aloud. */
export function tell(text) {
  say(text);
  document.querySelector(".told")?.remove();
  // Said already: a second voice would repeat it.
  const told = h("p", { class: "told", "aria-hidden": "true" }, text);
  document.body.append(told);
  setTimeout(() => told.remove(), 6000);
}

/** Goes to an address; who is there already looks again. */
export function go(next) {
  if (location.hash === next) window.dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = next;
}

/** Calls again and again until the view is left or hidden; the first time at once. */
export function repeat(seconds, signal, action) {
  const tick = async () => {
    if (signal.aborted) return;
    if (!document.hidden) await action();
    if (!signal.aborted) setTimeout(tick, seconds * 1000);
  };
  tick();
}
