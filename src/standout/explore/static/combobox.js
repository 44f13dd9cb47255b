// The search box: an editable combobox with a list of suggestions (ARIA Authoring Practices).

import { Channel, Superseded } from "./api.js";
import { byId, count, el, plural, setText } from "./dom.js";
import { remember } from "./state.js";

/** @typedef {{item: string, title: string, records: number}} Item */

/**
 * @param {object} parts
 * @param {(item: Item) => void} parts.add called with the chosen item
 * @param {(item: Item) => boolean} parts.taken whether the item is among the facts already
 * @param {(error: unknown) => void} parts.trouble
 */
export function combobox({ add, taken, trouble }) {
  const input = byId("search");
  const list = byId("suggestions");
  const status = byId("search-status");
  const channel = new Channel("items");
  /** @type {Item[]} */
  let found = [];
  let active = -1;
  /** The text that the list answers, and whether Enter was pressed before the list for the present text came. */
  let answered = "";
  let entered = false;

  const isOpen = () => !list.hidden;

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    entered = false;
    activate(-1);
  }

  /** @param {number} index */
  function activate(index) {
    list.children[active]?.setAttribute("aria-selected", "false");
    active = index;
    const option = list.children[active];
    if (option) {
      option.setAttribute("aria-selected", "true");
      option.scrollIntoView({ block: "nearest" });
      input.setAttribute("aria-activedescendant", option.id);
    } else input.removeAttribute("aria-activedescendant");
  }

  /** @param {number} index */
  function choose(index) {
    const item = found[index];
    if (!item || taken(item)) return;
    channel.cancel();
    input.value = "";
    found = [];
    answered = "";
    close();
    setText(status, "");
    add(item);
  }

  /** @param {Item} item @param {number} index */
  function option(item, index) {
    const known = taken(item);
    return el(
      "li",
      { role: "option", id: `suggestion-${index}`, "aria-selected": "false", "aria-disabled": known ? "true" : null },
      el("bdi", { class: "title", text: item.title || item.item }),
      el("span", { class: "soft number", text: known ? "added" : plural(item.records, "person", "people") }),
    );
  }

  /** @param {Item[]} suggested */
  function show(suggested) {
    found = suggested;
    remember(found);
    active = -1;
    input.removeAttribute("aria-activedescendant");
    list.replaceChildren(...found.map(option));
    if (!found.length) list.append(el("li", { class: "none soft", role: "option", "aria-disabled": "true", text: "No item is called that." }));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    setText(status, found.length ? `${count(found.length)} suggestions` : "No suggestions");
    if (found.length) activate(0);
  }

  async function suggest() {
    const text = input.value.trim();
    entered = false;
    if (!text) {
      channel.cancel();
      close();
      setText(status, "");
      return;
    }
    try {
      const { items } = await channel.ask(`/api/items?${new URLSearchParams({ q: text.slice(0, 200), count: "8" })}`);
      if (input.value.trim() !== text || document.activeElement !== input) return;
      const chosen = entered;
      answered = text;
      show(items);
      if (chosen && items.length) choose(0);
      entered = false;
    } catch (error) {
      if (!(error instanceof Superseded)) trouble(error);
    }
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    if (event.isComposing) return;
    const last = found.length - 1;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!isOpen()) suggest();
      else if (event.key === "ArrowDown") activate(active < last ? active + 1 : 0);
      else activate(active > 0 ? active - 1 : last);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const text = input.value.trim();
      if (text && text !== answered) entered = true;
      else if (isOpen()) choose(active);
    } else if (event.key === "Escape" && (isOpen() || input.value)) {
      event.preventDefault();
      if (isOpen()) close();
      else input.value = "";
    } else if (event.key === "Tab") close();
  }

  input.addEventListener("input", suggest);
  input.addEventListener("keydown", onKey);
  input.addEventListener("blur", close);
  input.addEventListener("focus", () => input.value && suggest());
  list.addEventListener("mousedown", (/** @type {Event} */ event) => event.preventDefault());
  list.addEventListener("click", (/** @type {any} */ event) => {
    const row = event.target.closest("[role=option]");
    if (row) choose(Array.from(list.children).indexOf(row));
  });
  input.disabled = false;
}
