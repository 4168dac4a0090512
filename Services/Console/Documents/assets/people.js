// Invents people in the sandbox: signs them up through the API, as an app does.

const letters = "abcdefghijklmnopqrstuvwxyz";
const pin = "482193";
const patience = 30_000;

/** So many random digits. */
const digits = (count) => Array.from(crypto.getRandomValues(new Uint8Array(count)), (byte) => byte % 10).join("");

/** So many random letters. */
const word = (count) => Array.from(crypto.getRandomValues(new Uint8Array(count)), (byte) => letters[byte % 26]).join("");

/** Bytes as base64url, without padding. */
const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const hexadecimal = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Sends JSON; an answer that is none of the statuses wanted is an error with the words of the refusal. */
async function send(method, path, { body, token, wanted }) {
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body), cache: "no-store" });
  const text = await answer.text();
  const content = text === "" ? null : JSON.parse(text);
  if (!wanted.includes(answer.status)) {
    const refusal = content?.errors?.[0];
    throw new Error(`${method} ${path}: ${answer.status} ${refusal?.code ?? ""} ${refusal?.detail ?? ""}`);
  }
  return { status: answer.status, content };
}

/** Asks again and again until the answer is as it should be. */
async function until(path, token, isGood) {
  const end = Date.now() + patience;
  for (;;) {
    const { status, content } = await send("GET", path, { token, wanted: [200, 409, 503] });
    if (status === 200 && isGood(content)) return content;
    if (Date.now() > end) throw new Error(`GET ${path} is not as it should be after ${patience / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Somebody who can act: with a session, and a phone that approves. */
export class Person {
  #token;
  #tokenSince;
  /** By how many milliseconds the services' clock is ahead. */
  #ahead = 0;
  #keys;
  #device;

  constructor(username) {
    this.username = username;
    this.subject = `user_docs_${word(12)}`;
  }

  /** A session token, a new one before the old one ends. */
  async token() {
    if (!this.#token || Date.now() - this.#tokenSince > 3_000_000) {
      const { content } = await send("POST", "/docs/sandbox/tokens", { body: { subject: this.subject }, wanted: [201] });
      [this.#token, this.#tokenSince] = [content.token, Date.now()];
      this.#ahead = 1000 * content.now - Date.now();
    }
    return this.#token;
  }

  /** Signs up. False when somebody else has the username. */
  async signUp() {
    const number = digits(7);
    const name = this.username.replace(/[^a-z]/g, "");
    const body = {
      username: this.username,
      account_type: "personal",
      kyc_details: {
        full_name: `${name[0].toUpperCase()}${name.slice(1)} Testperson`,
        bvn: `221${number}7`,
        date_of_birth: "1990-01-01",
      },
      contact_details: {
        email: `${this.username}.${number}@example.com`,
        phone: `000${number}1`,
        gender: "Others",
        address: { line_1: "1 Example Street", city: "Lagos", state: "Lagos", postal_code: "100001" },
      },
    };
    const { status, content } = await send("POST", "/onboarding", { body, token: await this.token(), wanted: [201, 409] });
    if (status === 409 && content.errors[0].code === "username_taken") return false;
    if (status === 409) throw new Error(content.errors[0].detail);
    this.id = content.user_id;
    return true;
  }

  /** Waits for the account and the wallet. */
  async settle() {
    const token = await this.token();
    const account = await until("/accounts/me", token, (one) => one.status === "open");
    this.accountNumber = account.account_number;
    await until("/wallet", token, () => true);
    await until("/limits", token, (limits) => limits.tier > 0);
  }

  /** Sets the PIN and registers a phone, whose private key nobody can read. */
  async secure() {
    const token = await this.token();
    await send("PUT", "/pin", { body: { pin }, token, wanted: [204] });
    this.#keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]);
    const publicKey = base64url(await crypto.subtle.exportKey("raw", this.#keys.publicKey));
    const body = { name: "Invented phone", public_key: publicKey, pin };
    this.#device = (await send("POST", "/devices", { body, token, wanted: [201] })).content.id;
  }

  /** Lets money come in. */
  async fund(kobo) {
    const body = { account_number: this.accountNumber, amount: kobo };
    await send("POST", "/docs/sandbox/money", { body, wanted: [204] });
    await until("/wallet", await this.token(), (wallet) => wallet.available >= kobo);
  }

  /** The phone's approval of exactly one request. */
  async approval(method, path, body) {
    const encoder = new TextEncoder();
    const hash = hexadecimal(await crypto.subtle.digest("SHA-256", encoder.encode(body ?? "")));
    const nonce = crypto.randomUUID();
    const seconds = Math.round((Date.now() + this.#ahead) / 1000);
    const text = ["TRANSFA-APPROVAL-1", method, path, hash, nonce, seconds, this.id].join("\n");
    const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, this.#keys.privateKey, encoder.encode(text));
    return `device id=${this.#device}, nonce=${nonce}, ts=${seconds}, sig=${base64url(signature)}`;
  }
}

/** Somebody with a wallet, a PIN, a phone and money, and whoever the examples pay. */
export async function invent(payee, say) {
  const somebody = new Person(`try${word(6)}`);
  say("Signing up ...");
  await somebody.signUp();
  const other = new Person(payee);
  const isNew = await other.signUp();
  say("Waiting for the account ...");
  await somebody.settle();
  if (isNew) await other.settle();
  await somebody.secure();
  say("Waiting for the money ...");
  await somebody.fund(2_000_000);
  return somebody;
}
