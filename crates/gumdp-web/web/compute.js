// @ts-check
import { CANCELLED, Engine } from "./engine.js";
import { levelOf, page, part, say } from "./page.js";
import { showAll, showHonesty } from "./show.js";
import { showMarks, showSlider } from "./slider.js";
import { remember } from "./link.js";

/** Opening problems, and computing ahead what the slider will ask for. */

/** Answers what is asked now, and what will be asked. */
export const live = new Engine();
const ahead = new Engine();

/** Attitudes that are solved ahead. */
const COUNT = 64;
/** What was computed for texts and measures before. @type {Map<string, { levels: any[], known: Map<string, any>, changes: any, planned: string | null }>} */
const cache = new Map();
const MOST_CACHED = 12;
/** Grows with each new problem or measure; what was asked for an older one is not looked at. */
let turn = 0;
let busy = false;

/** @param {unknown} error */
export function isCancelled(error) {
  return error instanceof Error && error.message === CANCELLED;
}

/** @param {number} done @param {number} of */
function showProgress(done, of) {
  const share = of > 0 ? Math.round((100 * done) / of) : 0;
  part("ring").setAttribute("aria-valuenow", String(share));
  part("ring").querySelector(".fore").style.strokeDasharray = `${share} 100`;
  part("progress").textContent = of > 0 ? `${done} of ${of} levels` : "";
  part("cancel").hidden = !busy;
}

/** Ends what is computed ahead; what is known stays. */
export function cancelAhead() {
  turn += 1;
  if (busy) ahead.cancel();
  busy = false;
  showProgress(page.known.size, page.levels.length);
}

/** @param {{ level: number | string }} one @param {{ level: number | string }} other */
function ascending(one, other) {
  const [a, b] = [levelOf(one.level), levelOf(other.level)];
  return a < b ? -1 : a > b ? 1 : 0;
}

/** @param {any} known */
function learn(known) {
  page.known.set(known.risk, known);
  if (!page.levels.some((level) => level.risk === known.risk)) {
    page.levels = [...page.levels, { risk: known.risk, measure: known.measure, level: known.level }].sort(ascending);
  }
}

/** Solves all levels of the measure for the problem that is open, the first one as soon as can be. */
export async function compute() {
  cancelAhead();
  const now = turn;
  const current = () => now === turn;
  const key = `${page.measure}\n${page.text}`;
  const kept = cache.get(key);
  page.levels = kept?.levels ?? [];
  page.known = kept?.known ?? new Map();
  page.changes = kept?.changes ?? null;
  page.planned = kept?.planned ?? null;
  if (kept) {
    settle();
    document.dispatchEvent(new CustomEvent("computed"));
    return;
  }
  busy = true;
  showProgress(0, COUNT);
  const started = performance.now();
  try {
    await ahead.ask({ op: "open", file: page.file, text: page.text });
    if (!current()) return;
    if (page.measure === "erm") {
      const first = await ahead.ask({ op: "look", risk: "erm:0" });
      if (!current()) return;
      if (first.too_large) page.planned = first.too_large;
      else {
        learn(first);
        performance.measure("first answer", { start: started, end: performance.now() });
        settle();
        document.dispatchEvent(new CustomEvent("computed"));
      }
    }
    const told = await ahead.ask({ op: "levels", measure: page.measure, count: COUNT });
    if (!current()) return;
    page.planned = told.planned;
    const order = /** @type {any[]} */ (told.levels);
    page.levels = [...order].sort(ascending);
    settle();
    for (const { risk } of order) {
      if (page.known.has(risk)) continue;
      const answer = await ahead.ask({ op: "look", risk });
      if (!current()) return;
      if (answer.too_large) continue;
      learn(answer);
      if (page.known.size === 1) document.dispatchEvent(new CustomEvent("computed"));
      showProgress(page.known.size, page.levels.length);
      // What is shown is drawn again only if it changes: the frontier, the scale, or what the handle stands at.
      showAll();
      showHonesty();
    }
    performance.measure("all levels", { start: started, end: performance.now() });
    if (!page.planned) {
      part("progress").textContent = "locating changes…";
      page.changes = await ahead.ask({ op: "changes" });
      if (!current()) return;
    }
    cache.set(key, { levels: page.levels, known: page.known, changes: page.changes, planned: page.planned });
    if (cache.size > MOST_CACHED) cache.delete(cache.keys().next().value ?? "");
  } catch (error) {
    if (!current() || isCancelled(error)) return;
    say(error instanceof Error ? error.message : String(error));
  }
  busy = false;
  settle();
}

/** Shows what is known now. */
function settle() {
  const neutral = page.levels.find((level) => levelOf(level.level) === 0) ?? page.levels[0];
  const there = (/** @type {string} */ risk) => page.levels.some((level) => level.risk === risk);
  // The same attitude may be written otherwise, as in a link.
  const [measure, number] = [(/** @type {string} */ risk) => risk.split(":")[0], (/** @type {string} */ risk) => Number(risk.split(":")[1]?.replace("inf", "Infinity") || NaN)];
  const own = (/** @type {string} */ risk) => page.levels.find((level) => level.measure === measure(risk) && levelOf(level.level) === number(risk))?.risk ?? risk;
  [page.a, page.b] = [own(page.a), own(page.b)];
  // A handle that came with a link waits for its level.
  if (!page.a) page.a = neutral?.risk ?? "";
  if (!page.b) page.b = page.levels[page.levels.length - 1]?.risk ?? "";
  if (!busy && !there(page.a)) page.a = neutral?.risk ?? "";
  if (!busy && !there(page.b)) page.b = page.levels[page.levels.length - 1]?.risk ?? "";
  showSlider();
  showMarks();
  showAll();
  showHonesty();
  showProgress(page.known.size, page.levels.length);
}

/** Solves one more attitude. @param {string} risk */
export async function solveExactly(risk) {
  const now = turn;
  say(`solving ${risk}…`);
  try {
    const answer = page.planned ? await ahead.ask({ op: "look", risk }) : await live.ask({ op: "look", risk });
    if (now !== turn && page.planned) return;
    if (answer.too_large) throw new Error(answer.too_large);
    learn(answer);
    page.a = answer.risk;
    say(`${risk} is ${answer.exact ? "solved exactly" : "played"}`);
    settle();
    remember();
  } catch (error) {
    if (!isCancelled(error)) say(error instanceof Error ? error.message : String(error));
  }
}
