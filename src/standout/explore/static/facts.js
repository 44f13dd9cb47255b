// The list of facts. Each has a card that is built once and changed in place, so focus and sliders stay where they are.

import { byId, dateText, days, el, plural, setText } from "./dom.js";
import { items, titleOf } from "./state.js";

/** @typedef {import("./state.js").Fact} Fact */
/** @typedef {{changed: () => void, removed: (fact: Fact, index: number) => void}} Listener */

/** Steps of the slider for dates, in days. */
const SPANS = [1, 2, 3, 7, 14, 30, 60, 90, 180, 365, 730];
const USUAL_SPAN = 14;
/** So many levels fit in a menu; more get a field. */
const MENU = 60;

/** @type {WeakMap<Fact, HTMLElement>} */
const cards = new WeakMap();
let names = 0;

/**
 * Show these facts: new ones get a card, others keep theirs.
 * @param {Fact[]} facts
 * @param {any} release
 * @param {boolean} fixed dealt facts cannot be changed
 * @param {Listener} listener
 */
export function showFacts(facts, release, fixed, listener) {
  const list = byId("facts");
  const wanted = facts.map((fact) => {
    let card = cards.get(fact);
    if (!card) cards.set(fact, (card = fixed ? fixedCard(fact) : editableCard(fact, release, listener)));
    return card;
  });
  for (const card of Array.from(list.children)) if (!wanted.includes(/** @type {HTMLElement} */ (card))) card.remove();
  wanted.forEach((card, index) => {
    if (list.children[index] !== card) list.insertBefore(card, list.children[index] ?? null);
  });
}

/** @param {Fact} fact */
const support = (fact) => {
  const records = items.get(fact.item)?.records;
  return records === undefined ? "" : `${plural(records, "person has", "people have")} it`;
};

/**
 * Value and date in words: "4 ± 1 · 1 Mar 2005 ± 14 days".
 * @param {Fact} fact
 */
export function describe(fact) {
  const error = (/** @type {number | null} */ size, /** @type {(size: number) => string} */ words) => (size ? ` ± ${words(size)}` : "");
  const parts = [];
  if (fact.value !== null) parts.push(`value ${fact.value}${error(fact.value_error, String)}`);
  if (fact.time !== null) parts.push(`${dateText(fact.time)}${error(fact.time_error, days)}`);
  if (fact.doubtful) parts.push("doubtful");
  return parts.join(" · ") || "nothing else known";
}

/** @param {Fact} fact */
function fixedCard(fact) {
  return el(
    "li",
    { class: "fact" },
    el("div", { class: "fact-head" }, el("h3", {}, el("bdi", { text: titleOf(fact.item) }))),
    el("p", { class: "number dealt", text: describe(fact) }),
    el("p", { class: "soft number", text: support(fact) }),
  );
}

/**
 * @param {Fact} fact
 * @param {any} release
 * @param {Listener} listener
 */
function editableCard(fact, release, listener) {
  const title = titleOf(fact.item);
  const card = el("li", { class: "fact" });
  const remove = el("button", { type: "button", class: "remove", "aria-label": `Remove ${title}`, title: "Remove" }, el("span", { "aria-hidden": "true", text: "×" }));
  remove.addEventListener("click", () => listener.removed(fact, Array.from(card.parentElement.children).indexOf(card)));
  const doubtful = el("input", { type: "checkbox" });
  doubtful.checked = fact.doubtful;
  doubtful.addEventListener("change", () => {
    fact.doubtful = doubtful.checked;
    listener.changed();
  });
  card.append(
    el("div", { class: "fact-head" }, el("h3", {}, el("bdi", { text: title })), remove),
    ...(release.values ? [valueRow(fact, release.values, title, listener)] : []),
    ...(release.dates ? [dateRow(fact, release.dates, title, listener)] : []),
    el(
      "div",
      { class: "fact-foot" },
      el("label", { class: "check", title: "Value and date are as likely wrong as right" }, doubtful, el("span", { text: "Doubtful" })),
      el("span", { class: "soft number", text: support(fact) }),
    ),
  );
  return card;
}

/**
 * One attribute of a fact: how precisely it is known, the field, and the slider of its error.
 * @param {object} parts
 * @param {string} parts.label
 * @param {string} parts.title
 * @param {HTMLElement & {value: string}} parts.field
 * @param {any} parts.slider
 * @param {"unknown" | "exact" | "about"} parts.precision
 * @param {() => string} parts.errorText
 * @param {(precision: string) => void} parts.update called after every change
 */
function attribute({ label, title, field, slider, precision, errorText, update }) {
  const name = `precision-${++names}`;
  const error = el("output", { class: "number" });
  const range = el("div", { class: "range" }, el("span", { "aria-hidden": "true", text: "±" }), slider, error);
  /** @type {("unknown" | "exact" | "about")[]} */
  const choices = slider ? ["unknown", "exact", "about"] : ["unknown", "exact"];
  let now = precision;

  const show = () => {
    field.hidden = now === "unknown";
    range.hidden = now !== "about" || !slider;
    if (slider) {
      setText(error, errorText());
      slider.setAttribute("aria-valuetext", errorText());
    }
  };
  const radios = choices.map((choice) => {
    const radio = el("input", { type: "radio", name, value: choice });
    radio.checked = choice === now;
    radio.addEventListener("change", () => {
      now = choice;
      update(now);
      show();
    });
    return el("label", {}, radio, el("span", { text: choice[0].toUpperCase() + choice.slice(1) }));
  });
  const refresh = () => {
    update(now);
    show();
  };
  field.addEventListener(field.tagName === "SELECT" ? "change" : "input", refresh);
  slider?.addEventListener("input", refresh);
  field.setAttribute("aria-label", `${label} of ${title}`);
  slider?.setAttribute("aria-label", `Largest error of the ${label.toLowerCase()} of ${title}`);
  show();
  return el(
    "div",
    { class: "attribute", role: "group", "aria-label": `${label} of ${title}` },
    el("span", { class: "label", "aria-hidden": "true", text: label }),
    el("fieldset", { class: "segments small" }, el("legend", { class: "unseen", text: `How precisely is the ${label.toLowerCase()} known?` }), ...radios),
    field,
    range,
  );
}

/** @param {number | string | null} value @param {number | null} error */
const precisionOf = (value, error) => (value === null ? "unknown" : error === 0 ? "exact" : "about");

/**
 * @param {Fact} fact
 * @param {any} values
 * @param {string} title
 * @param {Listener} listener
 */
function valueRow(fact, values, title, listener) {
  const numbers = values.kind === "numbers";
  const field = valueField(values);
  if (fact.value !== null) field.value = String(fact.value);
  const step = values.step || 1;
  const most = numbers ? Math.max(step, Math.min((values.highest - values.lowest) / 2, 20 * step)) : 0;
  const slider = numbers && values.highest > values.lowest ? el("input", { type: "range", min: step, max: most, step }) : null;
  if (slider) slider.value = String(fact.value_error || Math.min(Math.max(step, Math.round(1 / step) * step), most));
  let assumed = fact.value !== null && fact.value_error === null;
  slider?.addEventListener("input", () => (assumed = false), true);
  return attribute({
    label: "Value",
    title,
    field,
    slider,
    precision: precisionOf(fact.value, fact.value_error),
    errorText: () => (assumed ? "as assumed" : slider.value),
    update: (precision) => {
      const text = field.value;
      const usable = precision !== "unknown" && text !== "" && !(numbers && Number.isNaN(Number(text)));
      fact.value = usable ? (numbers ? Number(text) : text) : null;
      fact.value_error = precision !== "about" ? 0 : assumed ? null : Number(slider.value);
      listener.changed();
    },
  });
}

/**
 * A menu where the levels are few, a field where they are many.
 * @param {any} values
 */
function valueField(values) {
  const levels = values.levels ?? [];
  if (levels.length && levels.length <= MENU) {
    const options = levels.map((/** @type {any} */ level) => el("option", { value: level, text: String(level) }));
    return el("select", {}, el("option", { value: "", text: "choose" }), ...options);
  }
  if (values.kind !== "numbers") return el("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  return el("input", { type: "number", min: values.lowest, max: values.highest, step: "any", inputmode: "decimal" });
}

/**
 * @param {Fact} fact
 * @param {any} dates
 * @param {string} title
 * @param {Listener} listener
 */
function dateRow(fact, dates, title, listener) {
  const field = el("input", { type: dates.unit === "day" ? "date" : "datetime-local", min: dates.first, max: dates.last });
  field.value = fact.time ?? "";
  const spans = fact.time_error && !SPANS.includes(fact.time_error) ? [...SPANS, fact.time_error].sort((a, b) => a - b) : SPANS;
  const slider = el("input", { type: "range", min: 0, max: spans.length - 1, step: 1 });
  slider.value = String(spans.indexOf(fact.time_error || USUAL_SPAN));
  let assumed = fact.time !== null && fact.time_error === null;
  slider.addEventListener("input", () => (assumed = false), true);
  return attribute({
    label: "Date",
    title,
    field,
    slider,
    precision: precisionOf(fact.time, fact.time_error),
    errorText: () => (assumed ? "as assumed" : days(spans[Number(slider.value)])),
    update: (precision) => {
      fact.time = precision !== "unknown" && field.value ? field.value : null;
      fact.time_error = precision !== "about" ? 0 : assumed ? null : spans[Number(slider.value)];
      listener.changed();
    },
  });
}
