// The explorer's page: reads the state, asks the server for the lineup, shows it.

import { Channel, Superseded, Trouble } from "./api.js";
import { combobox } from "./combobox.js";
import { showCrowd } from "./crowd.js";
import { byId, el, oneDigit, percent, plural, setText } from "./dom.js";
import { showFacts } from "./facts.js";
import { Play } from "./play.js";
import { share } from "./share.js";
import { fromFragment, items, newFact, remember, state, toFragment, whole } from "./state.js";
import { showWhy } from "./why.js";

const ATTACKS = { likelihood: "Likelihood", paper: "Paper (Algorithm 1B)" };
/** Screen readers hear a verdict once it has stayed for this long, in milliseconds. */
const SETTLED = 700;

const lineups = new Channel("lineup");
const others = new Channel("other");
/** @type {any} */
let release = null;
/** @type {Play} */
let play;
/** The last answer, and how many were shown. @type {any} */
let shown = null;
let answers = 0;
let speaking = 0;

/** @param {unknown} error */
function trouble(error) {
  const box = byId("trouble");
  byId("waiting").hidden = true;
  setText(box, error instanceof Trouble ? error.message : "Something went wrong on this page. Reload it.");
  box.hidden = false;
  if (!(error instanceof Trouble)) console.error(error);
}

/** @returns {("likelihood" | "paper")[]} */
const attacks = () => (state.attack === "both" ? ["likelihood", "paper"] : [state.attack]);

/** An interval with its open ends closed, or null. @param {any[]} ends @param {any} low @param {any} high */
const interval = ([from, to], low, high) => (from === null && to === null ? null : [from ?? low, to ?? high]);

/** @param {import("./state.js").Fact[]} facts */
function request(facts) {
  return {
    facts,
    length: state.round ? null : interval(state.length, 1, Math.max(release.entries, 1)),
    joined: state.round || !release.dates ? null : interval(state.joined, release.dates.first.slice(0, 10), release.dates.last.slice(0, 10)),
    attacks: attacks(),
    top: 20,
    chosen: state.chosen,
    show_ids: state.showIds,
    what_if: state.whatIf && Boolean(release.what_if),
    in_data: state.inData || Boolean(state.round),
  };
}

/** What to say if the ends of an interval are exchanged. */
function exchangedEnds() {
  const exchanged = (/** @type {any[]} */ [low, high]) => !state.round && low !== null && high !== null && low > high;
  if (exchanged(state.length)) return "Number of entries: “at least” is larger than “at most”. The page still shows the previous answer.";
  if (exchanged(state.joined)) return "Date of the first entry: “from” is later than “to”. The page still shows the previous answer.";
  return "";
}

/** Something changed: show what is known at once, and the answer when it comes. */
async function refresh() {
  history.replaceState(null, "", `#${toFragment()}`);
  showKnown();
  const asked = [...state.facts];
  const exchanged = exchangedEnds();
  if (exchanged) {
    lineups.cancel();
    return trouble(new Trouble(exchanged));
  }
  try {
    const answer = await lineups.ask("/api/lineup", request(state.facts));
    remember(answer.facts);
    shown = { answer, facts: asked };
    byId("trouble").hidden = byId("waiting").hidden = true;
    showAnswer();
    play.noted(answer.answers);
    byId("panels").dataset.answers = String(++answers);
  } catch (error) {
    if (!(error instanceof Superseded)) trouble(error);
  }
}

function showKnown() {
  const inRound = Boolean(state.round);
  showFacts(state.facts, release, inRound, { changed: refresh, removed });
  byId("start").hidden = inRound || state.facts.length > 0;
  byId("fact-actions").hidden = inRound || !state.facts.length;
  byId("whole").hidden = inRound;
  byId("search").disabled = state.facts.length >= release.limits.facts;
  byId("search").placeholder = byId("search").disabled ? `At most ${release.limits.facts} facts` : "Search items by title or id";
  play.show();
}

/** Data whose steps are not known need not be an output of sanitize. */
const otherData = () => (release.what_if.steps ? "sanitized data" : "other data");

/** What a reader of the comparison must know. */
function showOther() {
  byId("what-if-steps").hidden = !state.whatIf;
  if (!release.what_if) return;
  const steps = release.what_if.steps ?? [];
  const narrowed = !state.round && [...state.length, ...state.joined].some((end) => end !== null);
  const notes = [
    steps.length ? `Sanitized by ${steps.join("; ")}.` : "",
    release.what_if.steps ? "" : "How these data were changed is not known, so the attacks assume that they were not: they can look safer than they are.",
    release.what_if.steps && narrowed ? "The number of entries and the first date count only for the data as it is, because the steps may have changed them. Remove them for a fair comparison." : "",
    `Candidates of the ${otherData()} have numbers of their own.`,
  ];
  setText(byId("what-if-steps"), notes.filter(Boolean).join(" "));
}

function panelsOf() {
  const { answer } = shown;
  const one = (/** @type {any} */ group, /** @type {boolean} */ changed) =>
    Object.entries(group ?? {}).map(([attack, result]) => ({
      key: `${attack}${changed ? "-what-if" : ""}`,
      attack,
      what_if: changed,
      heading: ATTACKS[/** @type {"paper"} */ (attack)] + (answer.what_if ? (changed ? `, ${otherData()}` : ", data as it is") : ""),
      answer: result,
    }));
  const [now, changed] = [one(answer.answers, false), one(answer.what_if, true)];
  return now.flatMap((panel, index) => (changed[index] ? [panel, changed[index]] : [panel]));
}

function showAnswer() {
  const panels = panelsOf();
  showOther();
  showCrowd(panels, state.chosen, choose);
  showWhy(panels, shown.facts.map((/** @type {any} */ fact) => fact.item));
  byId("share").hidden = !shown.facts.length;
  byId("same-numbers").hidden = state.attack !== "both" || !shown.facts.length;
  showCommand(shown.answer.command ?? "");
  showGlance(panels[0].answer);
  window.clearTimeout(speaking);
  const [first] = panels;
  speaking = window.setTimeout(() => setText(byId("spoken"), `${first.answer.sentence} ${oneDigit(first.answer.bits.left)} bits left.`), SETTLED);
}

/** The command, which breaks into lines at spaces only. @param {string} command */
function showCommand(command) {
  if (byId("command").textContent === command) return;
  byId("command").replaceChildren(...command.split(/(?<= )/).map((word) => el("span", { text: word })));
}

/** The line at the bottom of a phone. @param {any} answer */
function showGlance({ bits, lineup }) {
  const first = lineup[0];
  byId("glance").classList.toggle("off", !first);
  byId("glance").replaceChildren(
    el("span", { text: `${oneDigit(bits.left)} bits left` }),
    el("span", { text: first ? `first ${percent(first.probability)} ↓` : "" }),
  );
}

/** @param {number} rank */
function choose(rank) {
  if (rank === state.chosen) return;
  state.chosen = rank;
  showCrowd(panelsOf(), rank, choose);
  refresh();
}

/** @param {{item: string, title: string, records: number}} item */
function add(item) {
  remember([item]);
  if (state.facts.length >= release.limits.facts) return;
  state.facts.push(newFact(item.item));
  state.chosen = 0;
  refresh();
}

/**
 * @param {import("./state.js").Fact} fact
 * @param {number} index
 */
function removed(fact, index) {
  state.facts = state.facts.filter((kept) => kept !== fact);
  state.chosen = 0;
  refresh();
  const next = byId("facts").children[Math.min(index, state.facts.length - 1)];
  (next?.querySelector(".remove") ?? byId("search")).focus();
}

/** Set the controls to the state. */
function showControls() {
  for (const radio of byId("attack").querySelectorAll("input")) radio.checked = radio.value === state.attack;
  byId("what-if").checked = state.whatIf;
  byId("show-ids").checked = state.showIds;
  byId("length-low").value = state.length[0] ?? "";
  byId("length-high").value = state.length[1] ?? "";
  byId("joined-low").value = state.joined[0] ?? "";
  byId("joined-high").value = state.joined[1] ?? "";
  byId("in-data").checked = state.inData;
  if (state.inData || [...state.length, ...state.joined].some((end) => end !== null)) byId("whole").open = true;
}

function listen() {
  byId("attack").addEventListener("change", (/** @type {any} */ event) => {
    state.attack = event.target.value;
    state.chosen = 0;
    refresh();
  });
  byId("what-if").addEventListener("change", () => {
    state.whatIf = byId("what-if").checked;
    refresh();
  });
  byId("show-ids").addEventListener("change", () => {
    state.showIds = byId("show-ids").checked;
    refresh();
  });
  byId("whole").addEventListener("input", () => {
    state.length = [whole(byId("length-low").value), whole(byId("length-high").value)];
    state.joined = [byId("joined-low").value || null, byId("joined-high").value || null];
    state.inData = byId("in-data").checked;
    refresh();
  });
  byId("clear").addEventListener("click", () => {
    state.facts = [];
    state.chosen = 0;
    refresh();
    byId("search").focus();
  });
  for (const name of ["random", "random-again"]) {
    byId(name).addEventListener("click", () => {
      play.start();
      play.next.hidden = false;
      byId("play").hidden = false;
      play.next.focus();
    });
    byId(name).hidden = !release.adversaries?.length;
  }
  combobox({ add, trouble, taken: (item) => !release.repeats && state.facts.some((fact) => fact.item === item.item) });
  share(() => request(state.facts), trouble);
  byId("skip").addEventListener("click", () => byId("known-heading").focus());
  byId("glance").addEventListener("click", () => byId("crowd-heading").scrollIntoView({ behavior: "smooth" }));
  const observer = new IntersectionObserver(([seen]) => (byId("glance").hidden = seen.isIntersecting || seen.boundingClientRect.top < 0));
  observer.observe(byId("panels"));
  window.addEventListener("hashchange", open);
}

/** Once: what depends on the release and not on the state. */
function prepare() {
  setText(byId("counts"), [plural(release.records, "person", "people"), plural(release.items, "item"), plural(release.entries, "entry", "entries")].join(" · "));
  byId("joined").hidden = !release.dates;
  if (release.what_if) {
    byId("what-if-label").hidden = false;
    setText(byId("what-if-name"), `(${release.what_if.name})`);
    setText(byId("what-if-data"), otherData());
  }
  const chips = (release.examples ?? []).map((/** @type {any} */ item) =>
    el("li", {}, el("button", { type: "button", class: "chip", click: () => add(item) }, el("bdi", { text: item.title || item.item }))),
  );
  byId("examples").replaceChildren(...chips);
  byId("examples").hidden = byId("examples-label").hidden = !chips.length;
}

/** Take the state from the address, and show it. */
async function open() {
  try {
    await openState();
  } catch (error) {
    if (!(error instanceof Superseded)) trouble(error);
  }
}

async function openState() {
  fromFragment(location.hash, release.limits.facts);
  if (!release.what_if) state.whatIf = false;
  showControls();
  play.enter();
  if (state.round) {
    showKnown();
    await play.deal(0);
    return;
  }
  const unnamed = state.facts.map((fact) => fact.item).filter((item) => !items.has(item));
  if (unnamed.length) {
    const query = new URLSearchParams(unnamed.map((item) => ["item", item]));
    remember((await others.ask(`/api/items/by-id?${query}`)).items);
  }
  await refresh();
}

async function start() {
  release = await others.ask("/api/release");
  play = new Play({ release, refresh, trouble, request });
  prepare();
  listen();
  await open();
  document.documentElement.dataset.ready = "yes";
}

start().catch(trouble);
