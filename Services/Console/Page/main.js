// Signs people in, and shows the view that the address names.

import * as api from "./api.js";
import { address, h, say } from "./dom.js";
import { alarm, button, field, go, tell } from "./parts.js";
import audit from "./audit.js";
import breaks from "./breaks.js";
import events from "./events.js";
import jobs from "./jobs.js";
import overview from "./overview.js";
import parked from "./parked.js";
import replay from "./replay.js";
import sessions from "./sessions.js";
import trace from "./trace.js";
import transfers from "./transfers.js";

const views = [
  ["overview", "Overview", overview],
  ["events", "Events", events],
  ["trace", "Trace", trace],
  ["parked", "Parked", parked],
  ["jobs", "Jobs", jobs],
  ["replay", "Replay", replay],
  ["transfers", "Transfers", transfers],
  ["breaks", "Breaks", breaks],
  ["audit", "Audit", audit],
];

// The one that the operator's name leads to.
const own = ["sessions", "Your sessions", sessions];

const main = document.getElementById("main");
const nav = document.querySelector("nav.views");
const who = document.querySelector(".who");
const jump = document.querySelector("form.jump");

let session = null;
let leaving = null;
let isFirst = true;

/** What cannot be decoded is taken as it stands, and names nothing. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The view that the address names, with its parameters. */
function place() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/").map(decoded);
  const view = [...views, own].find(([known]) => known === name) ?? views[0];
  return { view, rest, parameters: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

/** Ends what the view before had under way; a question it asked would stand in the way of all else. */
function leave() {
  leaving?.abort();
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
}

function show() {
  if (!session) return;
  leave();
  leaving = new AbortController();
  const { view, rest, parameters } = place();
  const [name, title, make] = view;
  document.title = `${title} · Transfa console`;
  for (const link of nav.querySelectorAll("a")) {
    if (link.dataset.view === name) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "nearest" });
    } else link.removeAttribute("aria-current");
  }
  const element = h("div", { class: `view ${name}` });
  main.replaceChildren(element);
  try {
    make(element, { parameters, rest, signal: leaving.signal, session });
  } catch (error) {
    element.replaceChildren(alarm(error));
  }
  // Whoever cannot see the change is taken to it; at the first load the page begins at its beginning.
  if (!isFirst) element.querySelector("h1")?.focus({ preventScroll: true });
  isFirst = false;
  window.scrollTo(0, 0);
}

function frame(isIn) {
  nav.hidden = who.hidden = jump.hidden = !isIn;
  document.body.classList.toggle("out", !isIn);
  if (!isIn) return;
  document.querySelector(".operator").textContent = session.name;
  nav.replaceChildren(
    h("ul", {}, views.map(([name, title]) => h("li", {}, h("a", { href: `#/${name}`, "data-view": name }, title)))),
  );
}

// Signing in

async function showSignIn(note) {
  session = null;
  leave();
  frame(false);
  document.title = "Sign in · Transfa console";
  const token = h("input", { type: "password", name: "token", required: true, autocomplete: "current-password", spellcheck: "false" });
  const problem = h("div", {});
  const enter = async (given) => {
    problem.replaceChildren();
    try {
      session = await api.signIn(given);
      begin();
    } catch (error) {
      problem.replaceChildren(alarm(error));
      token.select();
    }
  };
  const form = h(
    "form",
    { class: "signin" },
    h("h1", { tabindex: "-1" }, "Sign in"),
    note ? h("p", { role: "alert", class: "notice" }, note) : null,
    field("Operator token", token),
    problem,
    h("div", { class: "acts" }, h("button", { type: "submit", class: "main" }, "Sign in")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    enter(token.value.trim());
  });
  main.replaceChildren(form);
  const ways = await api.ways().catch(() => ({ token: true, organization: false }));
  if (ways.organization) {
    form.querySelector(".acts").append(button("Use my organization's session", () => enter(null), { class: "quiet" }));
  }
  if (!ways.token && !ways.organization) {
    problem.replaceChildren(h("p", { class: "notice" }, "Nobody can sign in here yet: set OPERATOR_TOKENS or OPERATOR_ROLE."));
  }
  token.focus();
}

function begin() {
  frame(true);
  show();
  say(`Signed in as ${session.name}`);
}

api.whenSignedOut(() => {
  if (session) showSignIn("Your session has ended.");
});

document.getElementById("leave").addEventListener("click", async () => {
  try {
    await api.signOut();
  } catch (error) {
    // 401: it had ended before. Otherwise it goes on, and whoever goes away has to know.
    if (error.status !== 401) return tell(`You are still signed in. ${error.message}`);
  }
  showSignIn();
});

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  (main.querySelector("h1") ?? main).focus();
});

jump.addEventListener("submit", (event) => {
  event.preventDefault();
  const name = jump.elements.id.value.trim();
  if (name) go(address("trace", { id: name }));
  jump.reset();
});

window.addEventListener("hashchange", show);

session = await api.session().catch(() => null);
if (session) begin();
else showSignIn();
