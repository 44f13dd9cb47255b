// Small helpers: elements, text and numbers. Data becomes text nodes only, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes */

/**
 * @param {Element} node
 * @param {Attributes} attributes
 */
function assign(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (name === "text") node.textContent = String(value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
  }
}

/**
 * An HTML element. Attributes that are functions are listeners; strings among the children become text.
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...(Node | string | null)} children
 * @returns {any}
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  assign(node, attributes);
  node.append(...children.filter((child) => child !== null));
  return node;
}

/**
 * An SVG element.
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  assign(node, attributes);
  node.append(...children);
  return node;
}

/**
 * @param {string} id
 * @returns {any}
 */
export const byId = (id) => document.getElementById(id);

/**
 * Change the text only if it differs, so that screen readers and selections are left alone.
 * @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Make the list of children exactly this long.
 * @param {Element} parent
 * @param {number} count
 * @param {(index: number) => Node} make
 */
export function resize(parent, count, make) {
  while (parent.children.length > count) parent.lastElementChild?.remove();
  while (parent.children.length < count) parent.append(make(parent.children.length));
}

const COUNT = new Intl.NumberFormat("en");
const ONE = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const TWO = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

/** @param {number} number */
export const count = (number) => COUNT.format(number);
/** @param {number} number */
export const oneDigit = (number) => ONE.format(number);
/** @param {number} number */
export const twoDigits = (number) => TWO.format(number).replace("-", "−");

/**
 * A probability as a percentage, never rounded to 0 % or 100 % unless it is that.
 * @param {number} share
 */
export function percent(share) {
  if (share <= 0) return "0 %";
  if (share < 0.0001) return "< 0.01 %";
  if (share < 0.00995) return `${TWO.format(share * 100)} %`;
  if (share > 0.999 && share < 1) return "> 99.9 %";
  return `${ONE.format(share * 100)} %`;
}

/**
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 */
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** @param {number} days */
export function days(days) {
  if (days % 365 === 0 && days) return plural(days / 365, "year");
  return plural(days, "day");
}

/**
 * An ISO date in words; other texts stay as they are.
 * @param {string} text
 */
export function dateText(text) {
  const moment = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(moment.valueOf()) ? DAY.format(moment) : text;
}
