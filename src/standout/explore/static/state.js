// What the page is about. It lives in the address's fragment, which browsers do not send to servers.

/**
 * @typedef {object} Fact
 * @property {string} item id of the item
 * @property {number | string | null} value
 * @property {number | null} value_error largest error of the value; 0: exact; null: as the attack assumes
 * @property {string | null} time
 * @property {number | null} time_error largest error of the date in days; 0: exact; null: as the attack assumes
 * @property {boolean} doubtful value and date may be wrong
 */

/**
 * @typedef {object} Round
 * @property {string} adversary
 * @property {number} seed
 * @property {number} dealt number of facts on the table
 */

/**
 * @typedef {object} State
 * @property {Fact[]} facts
 * @property {"likelihood" | "paper" | "both"} attack
 * @property {boolean} whatIf
 * @property {Round | null} round
 * @property {[number | null, number | null]} length
 * @property {[string | null, string | null]} joined
 * @property {boolean} inData the person is known to be in the data
 * @property {number} chosen rank of the candidate that is explained, from 0
 * @property {boolean} showIds not part of the link: whoever opens it decides
 */

/** @type {State} */
export const state = {
  facts: [],
  attack: "likelihood",
  whatIf: false,
  round: null,
  length: [null, null],
  joined: [null, null],
  inData: false,
  chosen: 0,
  showIds: false,
};

/** Names and supports of items, as far as the page has seen them. @type {Map<string, {title: string, records: number}>} */
export const items = new Map();

/** @param {{item: string, title: string, records: number}[]} seen */
export function remember(seen) {
  for (const { item, title, records } of seen) items.set(item, { title, records });
}

/** @param {string} item */
export const titleOf = (item) => items.get(item)?.title || item;

/** The fragment that reproduces the state. */
export function toFragment() {
  const query = new URLSearchParams();
  if (state.round) {
    query.set("play", state.round.adversary);
    query.set("seed", String(state.round.seed));
    query.set("dealt", String(state.round.dealt));
  } else {
    for (const fact of state.facts) {
      query.append("fact", JSON.stringify([fact.item, fact.value, fact.value_error, fact.time, fact.time_error, fact.doubtful]));
    }
    if (state.length.some((end) => end !== null)) query.set("length", state.length.map((end) => end ?? "").join("~"));
    if (state.inData) query.set("in_data", "1");
    if (state.joined.some(Boolean)) query.set("joined", state.joined.map((end) => end ?? "").join("~"));
  }
  if (state.attack !== "likelihood") query.set("attack", state.attack);
  if (state.whatIf) query.set("what_if", "1");
  return query.toString();
}

/**
 * Take the state from a fragment. What is malformed is left out: a link may come from anywhere.
 * @param {string} fragment
 * @param {number} most largest number of facts
 */
export function fromFragment(fragment, most) {
  const query = new URLSearchParams(fragment.replace(/^#/, ""));
  const attack = query.get("attack");
  state.attack = attack === "paper" || attack === "both" ? attack : "likelihood";
  state.whatIf = query.get("what_if") === "1";
  state.chosen = 0;
  const seed = Number(query.get("seed") ?? "0");
  const dealt = Number(query.get("dealt") ?? "1");
  const adversary = query.get("play");
  state.round =
    adversary && Number.isSafeInteger(seed) && seed >= 0 ? { adversary, seed, dealt: Number.isSafeInteger(dealt) ? Math.max(dealt, 0) : 1 } : null;
  state.facts = state.round ? [] : query.getAll("fact").slice(0, most).flatMap(readFact);
  const [low, high] = ends(query.get("length"));
  state.length = [whole(low), whole(high)];
  const [first, last] = ends(query.get("joined"));
  state.joined = [first || null, last || null];
  state.inData = query.get("in_data") === "1";
}

/** @param {string | null} text */
const ends = (text) => [...(text ?? "").split("~"), "", ""].slice(0, 2);

/** @param {string} text */
export const whole = (text) => (/^\d{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : null);

/**
 * @param {string} text
 * @returns {Fact[]}
 */
function readFact(text) {
  let parts;
  try {
    parts = JSON.parse(text);
  } catch {
    return [];
  }
  if (!Array.isArray(parts) || typeof parts[0] !== "string") return [];
  const [item, value = null, valueError = null, time = null, timeError = null, doubtful = false] = parts;
  const isError = (/** @type {any} */ error) => error === null || (typeof error === "number" && error >= 0);
  if (!(value === null || typeof value === "number" || typeof value === "string")) return [];
  if (!(time === null || typeof time === "string") || !isError(valueError) || !isError(timeError)) return [];
  return [{ item, value, value_error: valueError, time, time_error: timeError, doubtful: doubtful === true }];
}

/** @returns {Fact} @param {string} item */
export const newFact = (item) => ({ item, value: null, value_error: 0, time: null, time_error: 0, doubtful: false });
