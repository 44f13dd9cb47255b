// The crowd: one panel per attack and release, each with the verdict, the gauge of bits and the bars. All change in place.

import { byId, count, el, oneDigit, percent, resize, setText, twoDigits } from "./dom.js";

/** @typedef {{key: string, attack: string, what_if: boolean, heading: string, answer: any}} PanelData */

const MOST_CELLS = 40;
/** A bar is at least this long, so that a small probability is still seen. */
const LEAST = 0.003;

/** @type {Map<string, Panel>} */
const panels = new Map();

/**
 * @param {PanelData[]} wanted
 * @param {number} chosen rank of the chosen candidate
 * @param {(rank: number) => void} choose
 */
export function showCrowd(wanted, chosen, choose) {
  const place = byId("panels");
  const now = wanted.map((data) => {
    let panel = panels.get(data.key);
    if (!panel) panels.set(data.key, (panel = new Panel(data.key, choose)));
    panel.update(data, chosen, wanted.length > 1);
    return panel.root;
  });
  for (const child of Array.from(place.children)) if (!now.includes(child)) child.remove();
  now.forEach((root, index) => {
    if (place.children[index] !== root) place.insertBefore(root, place.children[index] ?? null);
  });
  place.classList.toggle("several", now.length > 1);
}

class Panel {
  /**
   * @param {string} key
   * @param {(rank: number) => void} choose
   */
  constructor(key, choose) {
    this.choose = choose;
    this.heading = el("h3", { class: "panel-heading", id: `panel-${key}` });
    this.sentence = el("p", { class: "verdict" });
    this.cells = el("div", { class: "cells", "aria-hidden": "true" });
    this.left = el("strong", { class: "number" });
    this.before = el("span", { class: "soft" });
    this.hint = el("p", { class: "soft hint", text: "Each cell is one bit. A bit halves the crowd." });
    this.gauge = el("div", { class: "gauge", role: "meter", "aria-label": "Bits left", "aria-valuemin": 0 }, this.cells);
    this.facts = el("dl", { class: "figures" });
    this.bars = el("div", { class: "bars", role: "radiogroup", "aria-label": "Candidates: choose one to see why", keydown: (event) => this.onKey(event) });
    this.rest = el("ul", { class: "bars rest", "aria-label": "Others" });
    this.more = el("p", { class: "soft assumes" });
    this.root = el(
      "article",
      { class: "panel", "aria-labelledby": `panel-${key}`, "data-panel": key },
      this.heading,
      this.sentence,
      el("div", { class: "bits" }, el("p", {}, this.left, " ", this.before), this.gauge, this.hint),
      this.facts,
      this.bars,
      this.rest,
      this.more,
    );
    this.ranks = 0;
  }

  /**
   * @param {PanelData} data
   * @param {number} chosen
   * @param {boolean} several
   */
  update({ heading, answer }, chosen, several) {
    setText(this.heading, heading);
    this.heading.classList.toggle("unseen", !several);
    setText(this.sentence, answer.sentence);
    this.root.classList.toggle("claim", answer.claim);
    this.showBits(answer.bits, answer.nobody > 0 && answer.lineup.length > 0);
    this.hint.hidden = answer.lineup.length > 0;
    this.facts.hidden = !answer.lineup.length;
    this.showFigures(answer);
    this.showBars(answer.lineup, Math.min(chosen, answer.lineup.length - 1));
    this.showRest(answer);
    setText(this.more, answer.lineup.length ? answer.assumes ?? "" : "");
  }

  /**
   * @param {{before: number, left: number}} bits
   * @param {boolean} conditional the attack also considers that the person is not in the data
   */
  showBits({ before, left }, conditional) {
    setText(this.left, oneDigit(left));
    setText(this.before, `of ${oneDigit(before)} bits left${conditional ? ", if the person is in the data" : ""}`);
    const top = Math.max(before, left, 1);
    const each = Math.ceil(top / MOST_CELLS);
    resize(this.cells, Math.ceil(top / each), () => el("span", {}, el("i")));
    Array.from(this.cells.children).forEach((cell, index) => {
      const full = Math.min(Math.max(left / each - index, 0), 1);
      const size = Math.min(top / each - index, 1);
      cell.style.flexGrow = String(size);
      cell.firstElementChild.style.transform = `scaleX(${full / size})`;
    });
    this.gauge.setAttribute("aria-valuemax", top.toFixed(1));
    this.gauge.setAttribute("aria-valuenow", left.toFixed(1));
    this.gauge.setAttribute("aria-valuetext", `${oneDigit(left)} of ${oneDigit(before)} bits left`);
  }

  /** @param {any} answer */
  showFigures(answer) {
    const first = answer.lineup[0];
    /** @type {[string, string][]} */
    const figures = [
      ["People compared", count(answer.candidates)],
      ["Eccentricity (lead)", twoDigits(answer.eccentricity)],
    ];
    if (answer.ties > 1 && first) figures.push(["Tied for first", count(answer.ties)]);
    resize(this.facts, figures.length, () => el("div", {}, el("dt"), el("dd", { class: "number" })));
    figures.forEach(([name, text], index) => {
      const [dt, dd] = this.facts.children[index].children;
      setText(dt, name);
      setText(dd, text);
    });
  }

  /**
   * @param {any[]} lineup
   * @param {number} chosen
   */
  showBars(lineup, chosen) {
    this.ranks = lineup.length;
    this.bars.hidden = !lineup.length;
    resize(this.bars, lineup.length, (rank) => {
      const row = bar({ role: "radio", class: "bar" });
      row.addEventListener("click", () => this.choose(rank));
      return row;
    });
    lineup.forEach((candidate, rank) => {
      const row = this.bars.children[rank];
      fill(row, candidate.id ?? candidate.name, candidate.probability, candidate.id === null ? "" : candidate.name);
      row.setAttribute("aria-checked", String(rank === chosen));
      row.tabIndex = rank === chosen ? 0 : -1;
    });
  }

  /** @param {any} answer */
  showRest({ everybody_else: others, nobody, lineup, candidates }) {
    const left = candidates - lineup.length;
    /** @type {[string, string, number, string][]} */
    const rows = [];
    if (left > 0 || !lineup.length) rows.push(["others", lineup.length ? "everybody else" : "everybody", others, count(left)]);
    if (nobody > 0) rows.push(["nobody", "not in the data", nobody, ""]);
    resize(this.rest, rows.length, () => bar({ class: "bar" }, "li"));
    rows.forEach(([kind, name, share, note], index) => {
      const row = this.rest.children[index];
      row.className = `bar ${kind}`;
      fill(row, name, share, note);
    });
  }

  /** Arrow keys move along the candidates, as in every group of radio buttons. @param {KeyboardEvent} event */
  onKey(event) {
    const now = Array.from(this.bars.children).indexOf(/** @type {any} */ (document.activeElement));
    const last = this.ranks - 1;
    const target = { ArrowDown: now + 1, ArrowRight: now + 1, ArrowUp: now - 1, ArrowLeft: now - 1, Home: 0, End: last, " ": now, Enter: now }[event.key];
    if (target === undefined || now < 0) return;
    event.preventDefault();
    const rank = Math.min(Math.max(target, 0), last);
    this.bars.children[rank].focus();
    this.choose(rank);
  }
}

/**
 * @param {import("./dom.js").Attributes} attributes
 * @param {string} [tag]
 */
function bar(attributes, tag = "div") {
  const name = el("span", { class: "name" }, el("bdi"), el("small", { class: "soft" }));
  return el(tag, attributes, name, el("span", { class: "track", "aria-hidden": "true" }, el("i")), el("span", { class: "number percent" }));
}

/**
 * @param {any} row
 * @param {string} name
 * @param {number} share
 * @param {string} [note]
 */
function fill(row, name, share, note = "") {
  const [label, track, number] = row.children;
  setText(label.firstElementChild, name);
  setText(label.lastElementChild, note);
  track.firstElementChild.style.transform = `scaleX(${share > 0 ? Math.min(Math.max(share, LEAST), 1) : 0})`;
  setText(number, percent(share));
}
