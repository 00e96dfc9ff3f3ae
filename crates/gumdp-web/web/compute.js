// @ts-check
import { CANCELLED, Engine } from "./engine.js";
import { levelOf, numberOf, page, part, say } from "./page.js";
import { showAll, showHonesty } from "./show.js";
import { showMarks, showSlider } from "./slider.js";
import { remember } from "./link.js";

/** Computing ahead what the slider will ask for: solved, and planned beside it while that takes long or if it cannot be done. */

/** Answers what is asked now. */
export const live = new Engine();
/** Solves. */
const ahead = new Engine();
/** Plans while the other one solves. @type {Engine | null} */
let beside = null;

/** Attitudes that are solved ahead. */
const COUNT = 64;
/** Milliseconds without a first answer after which the problem is planned, too. */
const PATIENCE = 1500;
/** Milliseconds without a first answer after which solving is given up. */
const GIVE_UP = 60000;
/** Milliseconds after which changes are left where they are: between two levels. */
const LOCATING = 20000;
/** What was computed for texts and measures before. @type {Map<string, { levels: any[], known: Map<string, any>, changes: any, planned: string | null }>} */
const cache = new Map();
const MOST_CACHED = 12;
/** Grows with each new problem or measure; what was asked for an older one is not looked at. */
let turn = 0;
/** Whether anything is computed. */
let busy = false;
/** When that began. */
let since = 0;
/** @type {ReturnType<typeof setTimeout>[]} */
let timers = [];

/** @param {unknown} error */
export function isCancelled(error) {
  return error instanceof Error && error.message === CANCELLED;
}

function showProgress() {
  const [done, of] = [page.known.size, page.levels.length];
  const share = of > 0 ? Math.round((100 * done) / of) : 0;
  const seconds = Math.floor((performance.now() - since) / 1000);
  const clock = busy && seconds > 1 ? `, ${seconds} s` : "";
  part("ring").setAttribute("aria-valuenow", String(share));
  part("ring").querySelector(".fore").style.strokeDasharray = `${share} 100`;
  part("ring").classList.toggle("busy", busy && done === 0);
  const after = busy && of > 1 && done >= of ? `, ${page.planned ? "improving" : "changes"}…` : "";
  if (of > 0 && done > 0) part("progress").textContent = `${done} of ${of} levels${after}${clock}`;
  else part("progress").textContent = busy ? `${page.planned ? "planning" : "solving"}${clock || "…"}` : "";
  part("cancel").hidden = !busy;
}

/** Nothing more is computed. */
function rest() {
  timers.forEach(clearTimeout);
  timers = [];
  busy = false;
}

/** Ends what is computed ahead; what is known stays. */
export function cancelAhead() {
  turn += 1;
  if (busy) ahead.cancel();
  stopPlanning();
  rest();
  showProgress();
}

function stopPlanning() {
  if (planning) beside?.cancel();
  planning = false;
}

/** Whether the problem is planned while it is solved. */
let planning = false;

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

/** Learns and shows; the first answer is also played. @param {any} known */
function showNew(known) {
  const first = page.known.size === 0;
  learn(known);
  if (first) {
    performance.measure("first answer", { start: since, end: performance.now() });
    settle();
    document.dispatchEvent(new CustomEvent("computed"));
    return;
  }
  showProgress();
  showAll();
  showHonesty();
  document.dispatchEvent(new CustomEvent("known"));
}

/** What solving has to say takes the place of what was planned. @param {any} known */
function showSolved(known) {
  timers.forEach(clearTimeout);
  timers = [setInterval(showProgress, 1000)];
  if (page.planned) {
    stopPlanning();
    [page.planned, page.levels, page.known, page.bounds] = [null, [], new Map(), new Map()];
    // Who plays is the optimum from now on.
    live.ask({ op: "open", file: page.file, text: page.text }).catch(() => {});
    document.dispatchEvent(new CustomEvent("problem"));
  }
  showNew(known);
}

/** Plans a few levels: proven bounds at once, then rough answers, then better ones. @param {Engine} engine @param {string} because @param {() => boolean} current */
async function plan(engine, because, current) {
  const question = { op: "levels", measure: page.measure, count: COUNT, plan: true };
  const told = await engine.ask(question);
  if (!current()) return;
  page.planned = because;
  page.levels = [...told.levels].sort(ascending);
  page.known = new Map();
  settle();
  // Who plays does not solve, either.
  live.ask(question).catch(() => {});
  const order = [page.a, ...told.levels.map((/** @type {any} */ level) => level.risk)].filter((risk, place, all) => risk && all.indexOf(risk) === place);
  for (const risk of order) {
    page.bounds.set(risk, await engine.ask({ op: "bound", risk }));
    if (!current()) return;
    showHonesty();
    showAll();
  }
  for (const rough of [true, false]) {
    for (const risk of wantedFirst(order)) {
      const answer = await engine.ask({ op: "look", risk, rough });
      if (!current()) return;
      showNew(answer);
    }
  }
}

/** Attitudes in their order, but where the handles stand comes first, even if they move meanwhile. @param {string[]} risks */
function* wantedFirst(risks) {
  const left = new Set(risks);
  while (left.size > 0) {
    const next = [page.a, page.comparing ? page.b : ""].find((risk) => left.has(risk)) ?? [...left][0];
    left.delete(next);
    yield next;
  }
}

/** Plans while the problem is still being solved. @param {() => boolean} current */
async function planBeside(current) {
  beside ??= new Engine();
  planning = true;
  const own = () => current() && planning;
  try {
    await beside.ask({ op: "open", file: page.file, text: page.text });
    if (own()) await plan(beside, "not solved yet, which goes on", own);
  } catch (error) {
    if (own() && !isCancelled(error)) say(error instanceof Error ? error.message : String(error));
  }
}

/** Solves all levels, the first one as soon as can be. @param {() => boolean} current */
async function solveAll(current) {
  await ahead.ask({ op: "open", file: page.file, text: page.text });
  /** @param {string} risk @returns {Promise<boolean>} whether to go on */
  const look = async (risk) => {
    const answer = await ahead.ask({ op: "look", risk });
    if (!current()) return false;
    if (answer.too_large) {
      timers.forEach(clearTimeout);
      timers = [setInterval(showProgress, 1000)];
      stopPlanning();
      await plan(ahead, answer.too_large, current);
      return false;
    }
    if (page.known.size === 0 || page.planned) showSolved(answer);
    else showNew(answer);
    return true;
  };
  if (!current()) return;
  if (page.measure === "erm" && !(await look("erm:0"))) return;
  const told = await ahead.ask({ op: "levels", measure: page.measure, count: COUNT });
  if (!current()) return;
  if (told.planned) return plan(ahead, told.planned, current);
  const order = /** @type {any[]} */ (told.levels);
  if (!page.planned) page.levels = [...order].sort(ascending);
  settle();
  // A link may ask for a level that is not on the slider, and for one that is none.
  for (const handle of /** @type {const} */ (["a", "b"])) {
    const risk = page[handle];
    if (order.some((level) => level.risk === risk) || (page.known.has(risk) && !page.planned)) continue;
    try {
      if (!(await look(risk))) return;
    } catch (error) {
      if (!current() || isCancelled(error)) throw error;
      page[handle] = "";
      settle();
    }
  }
  for (const risk of wantedFirst(order.map((level) => level.risk))) {
    if (page.known.has(risk) && !page.planned) continue;
    if (!(await look(risk))) return;
    // What was planned for other levels is gone: these are the levels now.
    for (const level of order) if (!page.levels.some((other) => other.risk === level.risk)) page.levels = [...page.levels, level].sort(ascending);
  }
  settle();
  performance.measure("all levels", { start: since, end: performance.now() });
  page.changes = await ahead.ask({ op: "changes", quick: true });
  if (!current()) return;
  settle();
  const limit = setTimeout(() => ahead.cancel(), LOCATING);
  try {
    const located = await ahead.ask({ op: "changes" });
    if (current()) page.changes = located;
  } catch (error) {
    if (!isCancelled(error)) throw error;
  } finally {
    clearTimeout(limit);
  }
}

/** Finds out all that is to be known of the problem that is open. */
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
  page.bounds = new Map();
  if (kept) {
    settle();
    document.dispatchEvent(new CustomEvent("computed"));
    return;
  }
  busy = true;
  since = performance.now();
  let planned = Promise.resolve();
  timers = [
    setInterval(showProgress, 1000),
    setTimeout(() => (planned = planBeside(current)), PATIENCE),
    setTimeout(() => {
      if (!current()) return;
      page.planned = "not solved within a minute";
      ahead.cancel();
    }, GIVE_UP),
  ];
  showProgress();
  showHonesty();
  try {
    await solveAll(current);
    if (!current()) return;
    cache.set(key, { levels: page.levels, known: page.known, changes: page.changes, planned: page.planned });
    if (cache.size > MOST_CACHED) cache.delete(cache.keys().next().value ?? "");
  } catch (error) {
    if (!current()) return;
    if (isCancelled(error)) {
      // Solving was given up: what is planned beside it goes on.
      showHonesty();
      await planned;
      if (!current()) return;
    } else say(error instanceof Error ? error.message : String(error));
  }
  rest();
  settle();
}

/** Shows what is known now. */
function settle() {
  const neutral = page.levels.find((level) => levelOf(level.level) === 0) ?? page.levels[0];
  const there = (/** @type {string} */ risk) => page.levels.some((level) => level.risk === risk);
  // The same attitude may be written otherwise, as in a link.
  const own = (/** @type {string} */ risk) => page.levels.find((level) => level.measure === risk.split(":")[0] && levelOf(level.level) === numberOf(risk))?.risk ?? risk;
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
  showProgress();
  document.dispatchEvent(new CustomEvent("known"));
}

/** Solves one more attitude. @param {string} risk */
export async function solveExactly(risk) {
  const now = turn;
  say(`solving ${risk}…`);
  try {
    const answer = await live.ask({ op: "look", risk });
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
