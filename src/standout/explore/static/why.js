// Why: what each fact adds to the chosen candidate and to the runner-up. Every row of the waterfall starts where the one
// above it ended; parts that add go right, parts that take away go left.

import { byId, el, resize, setText, svg, twoDigits } from "./dom.js";
import { titleOf } from "./state.js";

/** @typedef {{has: boolean, score: number, by_item: number | null, by_value: number | null, by_time: number | null}} Part */
/** @typedef {{name: string, score: number, facts: Part[]}} Parts */

const KINDS = /** @type {const} */ (["item", "value", "time"]);
const WORDS = { item: "item", value: "value", time: "date" };
const WIDTH = 1000;
const LANE = 12;

/** @type {Map<string, Chart>} */
const charts = new Map();

/**
 * @param {{key: string, attack: string, what_if: boolean, heading: string, answer: any}[]} panels
 * @param {string[]} items ids of the facts' items
 */
export function showWhy(panels, items) {
  const wanted = panels.filter(({ answer }) => answer.why?.chosen?.facts.length);
  byId("why").hidden = !wanted.length;
  const place = byId("why-charts");
  const now = wanted.map((panel) => {
    let chart = charts.get(panel.key);
    if (!chart) charts.set(panel.key, (chart = new Chart(panel.key)));
    chart.update(panel, items, wanted.length > 1);
    return chart.root;
  });
  for (const child of Array.from(place.children)) if (!now.includes(child)) child.remove();
  now.forEach((root, index) => {
    if (place.children[index] !== root) place.insertBefore(root, place.children[index] ?? null);
  });
  place.classList.toggle("several", now.length > 1);
}

class Chart {
  /** @param {string} key */
  constructor(key) {
    this.heading = el("h3", { class: "panel-heading" });
    this.lead = el("p", { class: "lead" });
    this.names = [el("span", { role: "columnheader", class: "number chosen" }), el("span", { role: "columnheader", class: "number" })];
    this.minus = swatch("minus", "takes away");
    this.head = el("div", { role: "row", class: "why-row why-head" }, el("span", { role: "columnheader", text: "Fact" }), legend(this.minus), ...this.names);
    this.rows = el("div", { role: "rowgroup" });
    this.total = rowOf();
    this.total.classList.add("why-total");
    this.table = el(
      "div",
      { role: "table", class: "why-table", "aria-label": "What each fact adds" },
      el("div", { role: "rowgroup" }, this.head),
      this.rows,
      el("div", { role: "rowgroup" }, this.total),
    );
    this.note = el("p", { class: "soft" });
    this.root = el("article", { "data-why": key }, this.heading, this.lead, this.table, this.note);
  }

  /**
   * @param {{attack: string, heading: string, answer: any}} panel
   * @param {string[]} items
   * @param {boolean} several
   */
  update({ attack, heading, answer }, items, several) {
    /** @type {Parts} */
    const chosen = answer.why.chosen;
    /** @type {Parts | null} */
    const other = answer.why.runner_up;
    setText(this.heading, heading);
    this.heading.hidden = !several;
    const nameOf = (/** @type {Parts} */ parts) => answer.lineup.find((/** @type {any} */ row) => row.name === parts.name)?.id ?? parts.name;
    setText(this.lead, lead(chosen, other, items, nameOf));
    setText(this.names[0], nameOf(chosen));
    setText(this.names[1], other ? nameOf(other) : "");
    this.minus.hidden = !(other ? [chosen, other] : [chosen]).some(({ facts }) => facts.some((part) => partsOf(part).some(([, size]) => size < 0)));
    const scale = scaleOf(other ? [chosen, other] : [chosen]);
    resize(this.rows, chosen.facts.length, rowOf);
    let start = [0, 0];
    chosen.facts.forEach((part, index) => {
      const pair = [part, other?.facts[index] ?? null];
      drawRow(this.rows.children[index], titleOf(items[index] ?? ""), pair, start, scale);
      start = start.map((at, lane) => at + (pair[lane]?.score ?? 0));
    });
    drawTotal(this.total, chosen, other, scale);
    setText(
      this.note,
      attack === "paper"
        ? "The score is the paper's: similarity times the rarity of the item. It ignores errors and doubts that are stated per fact."
        : "The score is a logarithm: 1 more makes a candidate 2.7 times likelier, 2.3 more ten times.",
    );
  }
}

/**
 * @param {Parts} chosen
 * @param {Parts | null} other
 * @param {string[]} items
 * @param {(parts: Parts) => string} nameOf
 */
function lead(chosen, other, items, nameOf) {
  if (!other) return `What each fact adds to the score of ${nameOf(chosen)}.`;
  const gaps = chosen.facts.map((part, index) => part.score - other.facts[index].score);
  const difference = chosen.score - other.score;
  if (Math.abs(difference) < 5e-4) return `${nameOf(chosen)} and ${nameOf(other)} have the same score: these facts do not tell them apart.`.replace(/^c/, "C");
  const sign = difference > 0 ? 1 : -1;
  const best = gaps.reduce((at, gap, index) => (gap * sign > gaps[at] * sign ? index : at), 0);
  const [ahead, behind] = difference > 0 ? [chosen, other] : [other, chosen];
  return `\u2068${titleOf(items[best] ?? "")}\u2069 does most to set ${nameOf(ahead)} apart from ${nameOf(behind)}.`;
}

/** The parts of a score; all of it counts as the item's where they are not known. @param {Part} part @returns {[string, number][]} */
function partsOf(part) {
  const sizes = KINDS.map((kind) => part[`by_${kind}`] ?? 0);
  if (!sizes.some(Boolean)) sizes[0] = part.score;
  return KINDS.map((kind, index) => [kind, sizes[index]]);
}

/**
 * The range of all running totals, as a function to the drawing's width.
 * @param {Parts[]} all
 */
function scaleOf(all) {
  let low = 0;
  let high = 0;
  for (const { facts } of all) {
    let at = 0;
    for (const part of facts) {
      const sizes = partsOf(part).map(([, size]) => size);
      high = Math.max(high, at + sizes.filter((size) => size > 0).reduce((a, b) => a + b, 0));
      low = Math.min(low, at + sizes.filter((size) => size < 0).reduce((a, b) => a + b, 0));
      at += part.score;
    }
    high = Math.max(high, at);
    low = Math.min(low, at);
  }
  const width = high - low || 1;
  return (/** @type {number} */ score) => ((score - low) / width) * WIDTH;
}

/** @param {string} kind @param {string} word */
const swatch = (kind, word) =>
  el("span", { class: "key" }, svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("rect", { width: 10, height: 10, class: `part ${kind}` })), word);

/** @param {HTMLElement} minus */
function legend(minus) {
  const keys = KINDS.map((kind) => swatch(kind, WORDS[kind]));
  return el("span", { role: "columnheader", class: "legend" }, el("span", { class: "unseen", text: "Drawing: parts by " }), ...keys, minus);
}

function rowOf() {
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${2 * LANE + 4}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  return el(
    "div",
    { role: "row", class: "why-row" },
    el("span", { role: "rowheader", class: "title" }, el("bdi")),
    el("span", { role: "cell", class: "drawing" }, drawing),
    el("span", { role: "cell", class: "number chosen" }),
    el("span", { role: "cell", class: "number" }),
  );
}

/**
 * @param {any} row
 * @param {string} title
 * @param {(Part | null)[]} pair
 * @param {number[]} start
 * @param {(score: number) => number} scale
 */
function drawRow(row, title, pair, start, scale) {
  const [name, drawing, ...numbers] = row.children;
  setText(name.firstElementChild, title);
  const shapes = [];
  pair.forEach((part, lane) => {
    setText(numbers[lane], part ? (part.has ? twoDigits(part.score) : "lacks it") : "");
    numbers[lane].classList.toggle("soft", !part?.has);
    numbers[lane].title = part?.has ? partsOf(part).map(([kind, size]) => `${WORDS[/** @type {"item"} */ (kind)]} ${twoDigits(size)}`).join(", ") : "";
    if (part) shapes.push(...bars(part, start[lane], lane, scale));
  });
  shapes.push(line(scale(0), 0, 2 * LANE + 4));
  drawing.firstElementChild.replaceChildren(...shapes);
}

/**
 * @param {Part} part
 * @param {number} start
 * @param {number} lane
 * @param {(score: number) => number} scale
 */
function bars(part, start, lane, scale) {
  const top = lane * (LANE + 2);
  const shapes = [];
  let [right, left] = [start, start];
  for (const [kind, size] of partsOf(part)) {
    if (!size) continue;
    const from = size > 0 ? right : left + size;
    const shape = svg("rect", { x: scale(from), y: top, width: scale(from + Math.abs(size)) - scale(from), height: LANE, class: `part ${kind} ${lane ? "other" : "own"} ${size < 0 ? "minus" : ""}` });
    shapes.push(shape);
    if (size > 0) right += size;
    else left += size;
  }
  if (start > 0 || part.score) shapes.push(line(scale(start), top, LANE));
  return shapes;
}

/** @param {number} x @param {number} top @param {number} height */
const line = (x, top, height) => svg("line", { x1: x, x2: x, y1: top, y2: top + height, class: "start" });

/**
 * @param {any} row
 * @param {Parts} chosen
 * @param {Parts | null} other
 * @param {(score: number) => number} scale
 */
function drawTotal(row, chosen, other, scale) {
  const [name, drawing, ...numbers] = row.children;
  setText(name.firstElementChild, "Total score");
  const shapes = [chosen, ...(other ? [other] : [])].map((parts, lane) => {
    const [from, to] = [scale(Math.min(0, parts.score)), scale(Math.max(0, parts.score))];
    return svg("rect", { x: from, y: lane * (LANE + 2), width: to - from, height: LANE, class: `part ${lane ? "other" : "own"} whole` });
  });
  drawing.firstElementChild.replaceChildren(...shapes);
  [chosen, other].forEach((parts, lane) => setText(numbers[lane], parts ? twoDigits(parts.score) : ""));
}
