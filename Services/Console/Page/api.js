// Talks to the console's own endpoints; nothing else is ever asked.

const base = "/console/api";

// A page that nobody has touched for so long only looks: it keeps no session open.
const attended = 60000;

let guard = null;
let onSignedOut = () => {};
let touched = Date.now();

for (const event of ["pointerdown", "keydown", "wheel"]) {
  addEventListener(event, () => (touched = Date.now()), { capture: true, passive: true });
}

/** An answer that was not wanted. */
export class Refusal extends Error {
  constructor(status, error) {
    super(error?.detail ?? error?.title ?? `The console answered ${status}.`);
    this.status = status;
    this.code = error?.code;
  }

  /** Whether the same may be answered a moment later: nobody was there, or had the time. */
  get isPassing() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** Called when the session has ended. */
export function whenSignedOut(action) {
  onSignedOut = action;
}

async function send(method, path, { body, signal } = {}) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method !== "GET" && guard) headers["Transfa-Guard"] = guard;
  if (Date.now() - touched > attended) headers["Transfa-Unattended"] = "true";
  let answer;
  try {
    answer = await fetch(base + path, {
      method,
      headers,
      signal,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      redirect: "error",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, { detail: "The console does not answer." });
  }
  if (answer.status === 204) return null;
  const text = await answer.text();
  let read = null;
  try {
    read = text ? JSON.parse(text) : null;
  } catch {
    throw new Refusal(answer.status, { detail: "The answer cannot be read." });
  }
  if (!answer.ok) {
    const error = read?.errors?.[0];
    if (answer.status === 401 && path !== "/session") onSignedOut();
    throw new Refusal(answer.status, error);
  }
  return read;
}

export const get = (path, options) => send("GET", path, options);
export const post = (path, body, options) => send("POST", path, { ...options, body });
export const drop = (path) => send("DELETE", path);

/** A path with a query of what is not empty. */
export function query(path, parameters) {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") asked.set(name, value);
  }
  const text = asked.toString();
  return text ? `${path}?${text}` : path;
}

/** The path of a service's internal port. */
export const at = (service, path) => `/services/${service}${path}`;

// Sessions

/** Who has signed in; null for nobody. */
export async function session() {
  try {
    const found = await get("/session");
    guard = found.guard;
    return found;
  } catch (error) {
    if (error.status === 401) return null;
    throw error;
  }
}

/** Signs in with a token, or with the organization's session when there is none. */
export async function signIn(token) {
  const found = await send("POST", "/session", { body: token ? { token } : {} });
  guard = found.guard;
  return found;
}

export async function signOut() {
  await send("DELETE", "/session");
  guard = null;
}

export const ways = () => get("/ways");

export const services = [
  "auth", "customer", "account", "transaction", "subscription", "notification", "analytics", "console",
];
