// Shows the description of the API. Where data-try is missing, nothing can be sent from the page.

import { invent } from "./people.js";

const place = document.getElementById("reference");
const methods = "try" in place.dataset ? ["get", "put", "post", "delete"] : [];
place.classList.toggle("reading", methods.length === 0);

const dark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScheme);
followScheme();

/** Who acts; nobody until somebody was invented. */
let somebody = null;
/** What stands in the fields of headers unless somebody writes something else. */
const examples = new Set();

/** A request as the person sends it: what was not written by hand is theirs. */
async function asSomebody(request) {
  const path = new URL(request.url, location.href).pathname;
  if (!somebody || request.loadSpec || path === "/openapi.yaml") return request;
  const isByHand = (name) => name in request.headers && !examples.has(request.headers[name]);
  if (!isByHand("Authorization")) request.headers.Authorization = `Bearer ${await somebody.token()}`;
  for (const name of ["X-Request-Id", "traceparent"]) if (!isByHand(name)) delete request.headers[name];
  if (request.method === "GET") return request;
  if (!isByHand("Idempotency-Key")) request.headers["Idempotency-Key"] = crypto.randomUUID();
  if (!isByHand("Transfa-Approval") && (request.body === undefined || typeof request.body === "string")) {
    request.headers["Transfa-Approval"] = await somebody.approval(request.method, path, request.body);
  }
  return request;
}

const page = SwaggerUIBundle({
  url: "/openapi.yaml",
  domNode: place,
  deepLinking: false,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  layout: "BaseLayout",
  presets: [SwaggerUIBundle.presets.apis],
  supportedSubmitMethods: methods,
  validatorUrl: null,
  requestInterceptor: asSomebody,
  onComplete: offerSomebody,
});

/** Lets one invent somebody, once the examples are known. */
function offerSomebody() {
  const parameters = page.specSelectors.specJson().toJS().components?.parameters ?? {};
  for (const parameter of Object.values(parameters)) {
    if (parameter.in !== "header") continue;
    const several = Object.values(parameter.examples ?? {}).map((one) => one.value);
    for (const value of [parameter.example, ...several]) if (value !== undefined) examples.add(value);
  }
  const section = document.getElementById("somebody");
  if (!section) return;
  const [button, who] = [document.getElementById("invent"), document.getElementById("who")];
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      somebody = await invent("adaeze", (text) => (who.textContent = text));
      who.textContent = `You are @${somebody.username}, with 2,000,000 kobo in the wallet, until this page is closed.`;
    } catch (problem) {
      who.textContent = `It did not work: ${problem.message}`;
    } finally {
      button.disabled = false;
    }
  });
  section.hidden = false;
}

/** Gives names to what Swagger UI leaves without, for who cannot see where it stands. */
function name() {
  const parameter = (field) => field.closest("tr")?.querySelector(".parameter__name")?.firstChild?.textContent.trim();
  for (const field of place.querySelectorAll("select:not([aria-label]), textarea:not([aria-label]), input:not([aria-label])")) {
    const isExample = field.matches(".examples-select-element");
    field.setAttribute("aria-label", [isExample && "Example of", parameter(field) ?? "the body"].filter(Boolean).join(" "));
  }
  for (const label of place.querySelectorAll("label[id]")) label.removeAttribute("id");
  for (const text of place.querySelectorAll("pre:not([tabindex])")) text.tabIndex = 0;
}

new MutationObserver(name).observe(place, { childList: true, subtree: true });
