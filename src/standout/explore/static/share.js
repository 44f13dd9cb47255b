// Take it with you: files, the link and the command.

import { Channel, Superseded } from "./api.js";
import { byId, setText } from "./dom.js";

const TYPES = { "facts.csv": "facts.csv", "lineup.csv": "lineup.csv", json: "lineup.json" };

/**
 * @param {() => object} request the present lineup request
 * @param {(error: unknown) => void} trouble
 */
export function share(request, trouble) {
  const channel = new Channel("export");
  const said = byId("shared");

  for (const button of byId("share").querySelectorAll("[data-format]")) {
    button.addEventListener("click", async () => {
      const format = button.dataset.format;
      try {
        save(await channel.ask("/api/export", { ...request(), format }, "blob"), TYPES[/** @type {"json"} */ (format)]);
        setText(said, `Saved ${TYPES[/** @type {"json"} */ (format)]}.`);
      } catch (error) {
        if (!(error instanceof Superseded)) trouble(error);
      }
    });
  }

  const copy = async (/** @type {string} */ text, /** @type {string} */ what) => {
    try {
      await navigator.clipboard.writeText(text);
      setText(said, `Copied the ${what}.`);
    } catch {
      setText(said, `The browser did not allow copying. Select the ${what} and copy it yourself.`);
    }
  };
  byId("copy-link").addEventListener("click", () => copy(location.href, "link"));
  byId("copy-command").addEventListener("click", () => copy(byId("command").textContent, "command"));
}

/**
 * @param {Blob} content
 * @param {string} name
 */
function save(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
