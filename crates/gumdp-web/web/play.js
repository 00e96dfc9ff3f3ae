// @ts-check
import { distributionView, percent, worldView, words } from "../../gumdp-plot/web/views.js";
import { isCancelled, live } from "./compute.js";
import { attitudeName, fill, inks, knownAt, page, part, row, sized, widthOf } from "./page.js";
import { remember } from "./link.js";
import { domain } from "./show.js";
import { term } from "./terms.js";

/** Episodes: watched step by step, or played with the keys. Chance is that of the number of the episode, whoever plays. */

let playing = false;
let number = 0;
let time = 0;
/** @type {import("./types").Episode | null} */
let episode = null;
/** What the player did. @type {number[]} */
let actions = [];
/** @type {import("./types").Situation | null} */
let situation = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let asked = 0;
/** The attitude of the one who is shown. */
let shownOf = "";

/** The steps that are shown. */
export function stepsShown() {
  return (playing ? situation?.steps : episode?.steps) ?? [];
}

/** The attitude of the one who plays. */
export function risk() {
  return knownAt(page.a)?.risk ?? page.a;
}

/** @param {unknown} error */
function failed(error) {
  if (!isCancelled(error)) fill("story", error instanceof Error ? error.message : String(error));
}

/** The state at the time that is shown. */
function stateNow() {
  if (playing) return situation?.state ?? null;
  if (!episode) return null;
  return time < episode.steps.length ? episode.steps[time].state : episode.steps[episode.steps.length - 1]?.next ?? null;
}

function showStage() {
  const { problem } = page;
  if (!problem) return;
  const box = part("stage");
  const known = knownAt(page.a);
  const drawn = worldView(problem, { width: widthOf(box, 520), height: 300, inks: inks(), behaviour: playing ? undefined : known?.behaviour, agent: stateNow() });
  box.replaceChildren(sized(drawn));
  part("time").max = String(episode?.steps.length ?? 1);
  part("time").value = String(time);
  part("time").setAttribute("aria-valuetext", `step ${time}`);
}

function tell() {
  const { problem } = page;
  const steps = stepsShown();
  const end = playing ? steps.length : time;
  if (!problem) return;
  const last = steps[end - 1];
  const parts = /** @type {(string | Node)[]} */ ([]);
  if (last) {
    parts.push(`Step ${end} of ${problem.horizon}: ${problem.actions[last.action]} in ${problem.states[last.state]} led to ${problem.states[last.next]}`);
    if (last.probability < 1) parts.push(` (${percent(last.probability)})`);
    if (last.unlikely) parts.push(". ", Object.assign(document.createElement("b"), { textContent: "Chance struck: something else was more likely." }));
    else parts.push(".");
  } else parts.push(`The episode begins in ${problem.states[stateNow() ?? 0]}.${playing ? " Choose an action below, or focus the map and use the arrow keys." : ""}`);
  if (!playing && episode && time === episode.steps.length) parts.push(` It cost ${words(episode.cost)}.`);
  if (playing && situation?.over) {
    parts.push(` Your episode cost ${words(situation.cost)}.`);
    if (situation.not_above !== undefined) parts.push(` ${percent(situation.not_above)} of the episodes of the optimum cost at most that.`);
  }
  fill("story", ...parts);
}

function showReasons() {
  const { problem } = page;
  const table = part("reasons");
  const reasons = situation?.reasons ?? [];
  if (!problem || reasons.length === 0 || situation?.over) return table.replaceChildren();
  const head = document.createElement("thead");
  // A planner that only ranks has no numbers to show.
  const numbers = reasons.some(({ risk, mean }) => risk !== null || mean !== null);
  head.append(row(numbers ? ["action", term("actionRisk", "risk"), term("actionMean", "mean"), ""] : ["action", ""], "", true));
  const body = document.createElement("tbody");
  for (const reason of reasons) {
    const best = reason.action === situation?.best;
    const button = document.createElement("button");
    button.type = "button";
    if (playing) {
      button.textContent = "take";
      button.setAttribute("aria-label", `Take ${problem.actions[reason.action]}`);
      button.addEventListener("click", () => act(reason.action));
    } else {
      button.textContent = "what if?";
      button.setAttribute("aria-label", `What if ${problem.actions[reason.action]}?`);
      button.addEventListener("click", () => whatIf(reason.action));
    }
    const offered = playing || situation?.exact ? button : "";
    const name = `${problem.actions[reason.action]}${best ? (situation?.exact ? " (best)" : " (chosen by the planner)") : ""}`;
    body.append(row([name, ...(numbers ? [words(reason.risk), words(reason.mean)] : []), offered], best ? "chosen" : ""));
  }
  table.replaceChildren(head, body);
  part("reasons-box").style.minHeight = "";
}

function forgetWhatIf() {
  part("what-if").hidden = true;
  fill("what-if-words", "");
}

/** Asks what is known where the episode stands. */
async function look() {
  asked += 1;
  const own = asked;
  shownOf = risk();
  const done = playing ? actions : (episode?.steps ?? []).slice(0, time).map((step) => step.action);
  page.episode = { number, step: time, actions: playing ? actions : null };
  remember();
  forgetWhatIf();
  if (!playing || situation) {
    showStage();
    tell();
  }
  try {
    const answer = await live.ask({ op: "situation", risk: risk(), number, actions: done });
    if (own !== asked) return;
    situation = answer;
    showStage();
    tell();
    showReasons();
    if (playing && situation?.over) showEnd();
  } catch (error) {
    if (own !== asked) return;
    failed(error);
    // A link may bring steps of another problem.
    if (playing && !situation && actions.length > 0 && !isCancelled(error)) {
      actions = [];
      await look();
      part("story").prepend("The steps of the link do not fit this problem. ");
    }
  }
}

/** Where the cost of the player lies. */
function showEnd() {
  const known = knownAt(page.a);
  if (!known || situation?.cost === undefined) return;
  const box = part("what-if");
  box.hidden = false;
  const [low, high] = domain();
  const own = Number(situation.cost);
  box.replaceChildren(sized(distributionView([{ distribution: known.behaviour, name: attitudeName(known) }], {
    width: widthOf(box, 560), height: 200, inks: inks(), domain: [Math.min(low, own), Math.max(high, own)], mark: { cost: own, name: `you: ${words(own)}` },
  })));
}

/** @param {number} action */
async function whatIf(action) {
  const { problem } = page;
  if (!problem || situation?.best === undefined) return;
  const done = (episode?.steps ?? []).slice(0, time).map((step) => step.action);
  const ask = (/** @type {number} */ which) => live.ask({ op: "what_if", risk: risk(), number, actions: done, action: which });
  try {
    const [best, other] = await Promise.all([ask(situation.best), ask(action)]);
    const box = part("what-if");
    box.hidden = false;
    const ends = /** @type {[number, number]} */ ([Math.min(best.low, other.low), Math.max(best.high, other.high)]);
    const distributions = [{ distribution: best, name: problem.actions[situation.best] }, { distribution: other, name: `what if ${problem.actions[action]}` }];
    box.replaceChildren(sized(distributionView(action === situation.best ? distributions.slice(0, 1) : distributions, { width: widthOf(box, 560), height: 200, inks: inks(), domain: ends })));
    const leads = (/** @type {typeof best} */ distribution) => `to a mean of ${words(distribution.mean)} and costs from ${words(distribution.low)} to ${words(distribution.high)}`;
    const instead = action === situation.best ? ", and is the best" : `; ${problem.actions[situation.best]}, the best, ${leads(best)}`;
    fill("what-if-words", `From here, ${problem.actions[action]} leads ${leads(other)}${instead}. Everything after is played as well as possible.`);
  } catch (error) {
    fill("what-if-words", error instanceof Error ? error.message : String(error));
  }
}

/** @param {number} action */
function act(action) {
  if (situation?.over) return;
  actions = [...actions, action];
  look();
}

/** @param {number} to */
function go(to) {
  if (playing) {
    if (to < actions.length) {
      actions = actions.slice(0, Math.max(0, to));
      look();
    }
    return;
  }
  const end = episode?.steps.length ?? 0;
  time = Math.max(0, Math.min(end, to));
  if (time >= end) pause();
  look();
}

function pause() {
  clearTimeout(timer);
  timer = undefined;
  part("run").textContent = "Run";
}

function run() {
  if (timer !== undefined) return pause();
  if (episode && time >= episode.steps.length) time = 0;
  part("run").textContent = "Pause";
  const step = () => {
    timer = setTimeout(step, Number(part("speed").value));
    go(time + 1);
  };
  timer = setTimeout(step, 0);
}

/** Begins an episode. */
async function begin() {
  pause();
  const { wanted } = page;
  if (page.problem && page.a) page.wanted = null;
  if (wanted?.actions) setPlaying(true);
  [time, actions, episode, situation] = [0, wanted?.actions ?? [], null, null];
  for (const id of ["run", "forward", "time"]) part(id).disabled = playing;
  if (!page.problem || !page.a) return;
  asked += 1;
  const own = asked;
  shownOf = risk();
  fill("story", "playing…");
  if (!playing) {
    try {
      const played = await live.ask({ op: "episode", risk: risk(), number });
      if (own !== asked) return;
      episode = /** @type {import("./types").Episode} */ (played);
      time = Math.min(wanted?.step ?? 0, episode.steps.length);
    } catch (error) {
      return failed(error);
    }
  }
  look();
}

/** @param {boolean} own */
function setPlaying(own) {
  playing = own;
  part("watch").setAttribute("aria-pressed", String(!own));
  part("play").setAttribute("aria-pressed", String(own));
}

/** @param {boolean} own */
function choose(own) {
  setPlaying(own);
  begin();
  if (own) part("stage").focus();
}

export function startPlaying() {
  part("back").addEventListener("click", () => go((playing ? actions.length : time) - 1));
  part("forward").addEventListener("click", () => go(time + 1));
  part("run").addEventListener("click", run);
  part("time").addEventListener("input", () => go(Number(part("time").value)));
  part("another").addEventListener("click", () => {
    number += 1;
    begin();
  });
  part("watch").addEventListener("click", () => choose(false));
  part("play").addEventListener("click", () => choose(true));
  part("stage").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const { problem } = page;
    if (!playing || !problem || !situation || situation.over || !event.key.startsWith("Arrow")) return;
    const action = problem.actions.indexOf(event.key.slice(5).toLowerCase());
    if (action < 0 || !problem.actions_of_state[situation.state].includes(action)) return;
    event.preventDefault();
    act(action);
  });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  const anew = () => {
    clearTimeout(later);
    later = setTimeout(() => (playing && actions.length > 0 ? look() : begin()), 250);
  };
  document.addEventListener("attitude", anew);
  document.addEventListener("problem", () => {
    number = page.wanted?.number ?? 0;
    pause();
    [episode, situation, actions, shownOf] = [null, null, [], ""];
    // What is below must not jump while somebody paints there.
    part("reasons-box").style.minHeight = `${part("reasons-box").offsetHeight}px`;
    part("reasons").replaceChildren();
    forgetWhatIf();
  });
  document.addEventListener("computed", () => {
    if (!episode && actions.length === 0) anew();
  });
  // The level of a link, or one that was asked for, is known later than the first one.
  document.addEventListener("known", () => {
    if (shownOf && shownOf !== page.a && page.known.has(page.a)) anew();
  });
}

/** Draws the stage again, in other colours or another size. */
export function redrawStage() {
  if (page.problem) showStage();
}
