// Requests to the server that served this page. For each kind of request the last one wins.

/** How long an answer that is under way may delay a newer question, in milliseconds. */
const PATIENCE = 120;

export class Superseded extends Error {}
export class Trouble extends Error {}

/**
 * @typedef {object} Question
 * @property {string} path
 * @property {object} [body] sent as JSON with POST; without it the request is a GET
 * @property {"json" | "blob"} read what the answer is
 */

const page = Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(16)).join("");

/**
 * @param {string} kind
 * @param {number} number
 * @param {Question} question
 * @param {AbortSignal} signal
 * @returns {Promise<any>}
 */
async function send(kind, number, { path, body, read }, signal) {
  /** @type {Record<string, string>} */
  const headers = { "X-Client": `${page}-${kind}`, "X-Number": String(number) };
  if (body) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal });
    if (response.ok) return await response[read]();
  } catch {
    if (signal.aborted) throw new Superseded();
    throw new Trouble("The server does not answer: it was probably stopped. Start it again with “standout explore” and open its new address.");
  }
  if (response.status === 409) throw new Superseded();
  throw new Trouble(await reason(response));
}

/** @param {Response} response */
async function reason(response) {
  if (response.status === 403) return "The server refused this page. Open the address that “standout explore” printed.";
  try {
    const { error } = await response.json();
    if (typeof error === "string" && error) return error;
  } catch {
    // The answer is not JSON: the sentence below has to do.
  }
  return `The server could not answer (status ${response.status}). Try again.`;
}

/**
 * A channel sends one request at a time. A question that comes while another is under way waits for it a little, then
 * replaces it; of several that wait, only the last is sent.
 */
export class Channel {
  /** @param {string} kind */
  constructor(kind) {
    this.kind = kind;
    this.number = 0;
    /** @type {AbortController | null} */
    this.running = null;
    /** @type {{question: Question, resolve: (answer: any) => void, reject: (error: Error) => void} | null} */
    this.waiting = null;
    this.timer = 0;
  }

  /**
   * The answer. Rejects with Superseded if a newer question replaced this one, and with Trouble if there is none.
   * @param {string} path
   * @param {object} [body]
   * @param {"json" | "blob"} [read]
   * @returns {Promise<any>}
   */
  ask(path, body, read = "json") {
    const question = { path, body, read };
    if (!this.running) return this.start(question);
    this.waiting?.reject(new Superseded());
    if (!this.timer) this.timer = window.setTimeout(() => this.running?.abort(), PATIENCE);
    return new Promise((resolve, reject) => {
      this.waiting = { question, resolve, reject };
    });
  }

  /**
   * @param {Question} question
   * @returns {Promise<any>}
   */
  async start(question) {
    const running = (this.running = new AbortController());
    try {
      return await send(this.kind, ++this.number, question, running.signal);
    } finally {
      this.running = null;
      window.clearTimeout(this.timer);
      this.timer = 0;
      const next = this.waiting;
      this.waiting = null;
      if (next) this.start(next.question).then(next.resolve, next.reject);
    }
  }

  /** Forget what is under way: its answer is no longer wanted. */
  cancel() {
    this.waiting?.reject(new Superseded());
    this.waiting = null;
    this.running?.abort();
  }
}
