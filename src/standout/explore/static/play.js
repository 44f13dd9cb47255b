// A round: the server draws a person and deals facts about them one at a time; the page guesses, then reveals.

import { Channel, Superseded } from "./api.js";
import { drawCurve } from "./curve.js";
import { byId, count, dateText, days, el, percent, plural, setText, svg } from "./dom.js";
import { remember, state } from "./state.js";

/**
 * @typedef {object} Table what the play needs from the page
 * @property {any} release
 * @property {() => void} refresh
 * @property {(error: unknown) => void} trouble
 * @property {(facts: import("./state.js").Fact[]) => object} request the lineup request for these facts
 */

const SHOWN_ENTRIES = 200;

/** The attack that plays: the first one on the screen. */
const attack = () => (state.attack === "paper" ? "paper" : "likelihood");

export class Play {
  /** @param {Table} table */
  constructor(table) {
    this.table = table;
    this.channel = new Channel("play");
    this.curves = new Channel("curve");
    this.of = 0;
    this.done = false;
    /** Bits left by number of facts. @type {(number | undefined)[]} */
    this.bits = [];
    this.before = 0;
    this.candidates = 0;
    /** @type {any} */
    this.revealed = null;
    /** @type {any[] | null} */
    this.entries = null;
    this.guess = "";
    this.guessed = 0;
    this.build();
  }

  build() {
    const button = (/** @type {string} */ name, /** @type {string} */ text, /** @type {() => void} */ click) => el("button", { type: "button", class: name, text, click });
    const adversaries = this.table.release.adversaries ?? [];
    this.menu = el("select", { id: "adversary", change: () => this.start(this.menu.value) });
    this.menu.append(...adversaries.map((/** @type {any} */ one) => el("option", { value: one.name, text: one.title || one.text || one.name })));
    this.about = el("p", { class: "soft" });
    this.next = button("primary", "Deal the next fact", () => this.deal(1));
    this.tell = button("", "Reveal", () => this.reveal(false));
    this.progress = el("p", { class: "progress number", role: "status" });
    this.curve = svg("svg", { class: "bits-curve", role: "img" });
    this.caption = el("figcaption", { class: "soft" });
    this.figure = el("figure", {}, this.caption, this.curve);
    this.result = el("div", { class: "result", role: "status", tabindex: -1 });
    byId("play").append(
      el("p", { class: "lead", text: "Somebody in the data was picked at random. Who is it?" }),
      el("label", { for: "adversary", text: "You know what this adversary knows" }),
      this.menu,
      this.about,
      el("div", { class: "buttons" }, this.next, this.tell),
      this.progress,
      this.figure,
      this.result,
      el(
        "div",
        { class: "actions" },
        button("quiet", "Pick somebody else", () => this.start()),
        button("quiet", "Edit these facts", () => this.leave(true)),
        button("quiet", "Leave the game", () => this.leave(false)),
      ),
    );
  }

  /**
   * A new round with a person drawn at random.
   * @param {string} [adversary]
   */
  start(adversary) {
    const names = (this.table.release.adversaries ?? []).map((/** @type {any} */ one) => one.name);
    const name = adversary ?? state.round?.adversary ?? names[0];
    state.round = { adversary: name, seed: crypto.getRandomValues(new Uint32Array(1))[0] >>> 1, dealt: 0 };
    state.facts = [];
    this.enter();
    this.deal(1);
  }

  /** Take up the round that the state names. */
  enter() {
    this.bits = [];
    this.before = 0;
    this.revealed = this.entries = null;
    this.guess = "";
    this.of = 0;
    this.done = false;
    state.chosen = 0;
    this.channel.cancel();
    this.curves.cancel();
    if (state.round) this.menu.value = state.round.adversary;
  }

  /**
   * Ask for more facts (0: those that are on the table already, after a link was opened).
   * @param {number} more
   */
  async deal(more) {
    const round = state.round;
    if (!round || this.revealed) return;
    const facts = round.dealt + more;
    try {
      const answer = await this.channel.ask("/api/play", { adversary: round.adversary, seed: round.seed, facts });
      if (state.round !== round) return;
      round.dealt = answer.dealt.length;
      this.of = answer.of;
      this.done = answer.done;
      remember(answer.dealt);
      state.facts = answer.dealt.map((/** @type {any} */ fact, /** @type {number} */ index) => state.facts[index] ?? plain(fact));
      state.chosen = 0;
      const atButton = document.activeElement === this.next;
      this.table.refresh();
      if (atButton && this.done) this.tell.focus();
      if (!more && facts > 1) this.fillCurve(round);
    } catch (error) {
      if (!(error instanceof Superseded)) this.table.trouble(error);
    }
  }

  /**
   * After a link was opened: the bits of the facts before the last.
   * @param {import("./state.js").Round} round
   */
  async fillCurve(round) {
    try {
      for (let facts = 1; facts < state.facts.length; facts++) {
        const answer = await this.curves.ask("/api/lineup", this.table.request(state.facts.slice(0, facts)));
        if (state.round !== round) return;
        this.bits[facts] = answer.answers[attack()].bits.left;
      }
      this.show();
    } catch (error) {
      if (!(error instanceof Superseded)) this.table.trouble(error);
    }
  }

  /**
   * The page shows a new lineup: note its bits.
   * @param {any} answers
   */
  noted(answers) {
    const answer = answers[attack()];
    if (!state.round || !answer || this.revealed) return;
    this.before = answer.bits.before;
    this.candidates = answer.candidates;
    this.bits[0] = answer.bits.before;
    this.bits[state.facts.length] = answer.bits.left;
    const row = answer.lineup[Math.min(state.chosen, answer.lineup.length - 1)];
    this.guess = row ? row.id ?? row.name : "";
    this.show();
  }

  /** @param {boolean} entries whether to show what would have been learned */
  async reveal(entries) {
    const round = state.round;
    if (!round || !state.facts.length) return;
    const body = { adversary: round.adversary, seed: round.seed, facts: round.dealt, attack: attack(), show_ids: state.showIds, entries };
    try {
      const answer = await this.channel.ask("/api/reveal", body);
      if (state.round !== round) return;
      if (!this.revealed) this.guessed = state.chosen;
      this.revealed = answer;
      this.entries = answer.entries?.filter((/** @type {any} */ entry) => !entry.named) ?? null;
      this.show();
      this.result.focus();
    } catch (error) {
      if (!(error instanceof Superseded)) this.table.trouble(error);
    }
  }

  /** @param {boolean} keep keep the facts, to change them */
  leave(keep) {
    state.facts = keep ? state.facts.map((fact) => ({ ...fact })) : [];
    state.round = null;
    state.chosen = 0;
    this.enter();
    this.table.refresh();
    byId("search").focus();
  }

  show() {
    const round = state.round;
    byId("play").hidden = !round;
    byId("own").hidden = Boolean(round);
    if (!round) return;
    const adversary = (this.table.release.adversaries ?? []).find((/** @type {any} */ one) => one.name === round.adversary);
    setText(this.about, adversary ? described(adversary) : "");
    this.next.hidden = this.done || Boolean(this.revealed);
    this.tell.hidden = Boolean(this.revealed);
    this.tell.disabled = !state.facts.length;
    this.tell.classList.toggle("primary", this.done);
    setText(this.tell, this.guess ? `Guess ${this.guess} and reveal` : "Reveal");
    setText(this.progress, this.of ? `${round.dealt} of ${plural(this.of, "fact")} dealt${this.revealed ? "" : ". Choose another candidate to change your guess."}` : "");
    this.figure.hidden = !this.before;
    setText(this.caption, this.revealed ? "Bits left to find the person, by number of facts; dashed: for the best guess" : "Bits left for the best guess, by number of facts");
    const lines = [{ bits: this.bits, kind: this.revealed ? "before" : "now" }, ...(this.revealed ? [{ bits: this.revealed.bits, kind: "now" }] : [])];
    if (this.before) drawCurve(this.curve, lines, Math.max(this.of, round.dealt), this.before);
    this.showResult();
  }

  showResult() {
    const revealed = this.revealed;
    this.result.hidden = !revealed;
    this.result.replaceChildren();
    if (!revealed) return;
    const right = this.guessed === 0 ? revealed.right : revealed.rank === this.guessed + 1;
    this.result.classList.toggle("right", right);
    this.result.append(
      el("p", { class: "lead" }, el("strong", { text: right ? "Right." : "Wrong." }), ` ${whereabouts(revealed, right, this.candidates)}`),
      el("p", { text: learnedText(revealed.learned) }),
      ...(this.entries ? [entryTable(this.entries)] : revealed.learned ? [el("button", { type: "button", text: revealed.learned === 1 ? "Show this entry" : "Show these entries", click: () => this.reveal(true) })] : []),
    );
  }
}

/** @param {any} dealt @returns {import("./state.js").Fact} */
const plain = ({ item, value, value_error, time, time_error, doubtful }) => ({ item, value: value ?? null, value_error: value_error ?? null, time: time ?? null, time_error: time_error ?? null, doubtful: Boolean(doubtful) });

/** What an adversary knows, in one sentence. @param {any} adversary */
function described({ title, text, knows, wrong, value_error, time_error }) {
  if (title) return text;
  const error = (/** @type {number | null} */ size, /** @type {string} */ words) => (size === null ? "unknown" : size ? `within ${words}` : "exact");
  return `Knows ${plural(knows, "entry", "entries")}${wrong ? `, ${count(wrong)} of them wrong` : ""}; values ${error(value_error, String(value_error))}, dates ${error(time_error, days(time_error))}.`;
}

/**
 * @param {any} revealed
 * @param {boolean} right
 * @param {number} candidates
 */
function whereabouts({ rank, ties, probability, id }, right, candidates) {
  const name = id ? ` (id ${id})` : "";
  const share = `the attack gave this person ${percent(probability)}`;
  if (right) return `The guess is the person${name}; ${share}.`;
  if (rank === 1 && ties > 1) return `The person${name} is one of ${count(ties)} with the best score; ${share}.`;
  return `The person${name} is number ${count(rank)} of ${count(candidates)} in the lineup; ${share}.`;
}

/** @param {number} learned */
const learnedText = (learned) => (learned ? `Whoever finds this record learns ${plural(learned, "more entry", "more entries")} of this person.` : "The facts already named every entry of this record.");

/** @param {any[]} entries */
function entryTable(entries) {
  const shown = entries.slice(0, SHOWN_ENTRIES);
  const rows = shown.map(({ item, title, value, time }) =>
    el("tr", {}, el("th", { scope: "row" }, el("bdi", { text: title || item })), el("td", { class: "number", text: value ?? "" }), el("td", { class: "number", text: time ? dateText(String(time)) : "" })),
  );
  const head = el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "Item" }), el("th", { scope: "col", class: "number", text: "Value" }), el("th", { scope: "col", class: "number", text: "Date" })));
  const rest = entries.length > shown.length ? el("p", { class: "soft", text: `and ${count(entries.length - shown.length)} more` }) : null;
  return el("div", { class: "entries", tabindex: 0, role: "region", "aria-label": "What would have been learned" }, el("table", {}, head, el("tbody", {}, ...rows)), rest);
}
