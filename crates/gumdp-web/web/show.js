// @ts-check
import { distributionView, frontierView, percent, worldView, words } from "../../gumdp-plot/web/views.js";
import { attitudeName, figure, fill, inks, knownAt, levelOf, page, part, row, sized, widthOf } from "./page.js";
import { term } from "./terms.js";

/** The linked views: everything that follows the handles of the slider. */

/** @typedef {import("./types").Known} Known */

/** Those who hope for the best may risk anything: they are shown where they are asked for. @param {Known} known */
function isUsual(known) {
  return levelOf(known.level) >= 0 || known.risk === page.a || (page.comparing && known.risk === page.b);
}

/** The costs that all views share, so that little jumps. @returns {[number, number]} */
export function domain() {
  const all = [...page.known.values()].filter(isUsual).map((known) => known.behaviour);
  if (all.length === 0) return [0, 1];
  return [Math.min(...all.map((own) => own.low)), Math.max(...all.map((own) => own.high))];
}

/** A number with what is known of it. @param {number} value @param {[number, number] | undefined} interval */
function withInterval(value, interval) {
  const box = document.createElement("span");
  box.append(words(value));
  box.title = String(value);
  box.dataset.value = String(value);
  if (interval) {
    const small = document.createElement("small");
    small.textContent = `95 %: ${words(interval[0])} to ${words(interval[1])}`;
    box.append(small);
  }
  return box;
}

/** A bound, and by what it is proven. @param {{ value: number | string, method: string }} bound */
function boundWords({ value, method }) {
  // Numbers are told to 1e-9.
  const number = Math.abs(Number(value)) < 1e-9 ? 0 : value;
  return `${words(number)} (by ${PROOFS[method] ?? method})`;
}

/** What proves a bound. @type {Record<string, string>} */
const PROOFS = { exact: "the optimum", visits: "visits that are possible", tangent: "a tangent of the objective", cells: "cells of the objective", range: "the lowest value of the objective" };

/** @param {Known[]} shown */
function showNumbers(shown) {
  const table = part("numbers");
  const head = document.createElement("thead");
  const names = row(["", ...shown.map((known) => attitudeName(known))], "", true);
  [...names.children].slice(1).forEach((cell, place) => cell.classList.add(place === 0 ? "a" : "b"));
  head.append(names);
  const body = document.createElement("tbody");
  /** @param {string} name @param {string} title @param {(known: Known) => Node | string} tell */
  const line = (name, title, tell) => body.append(row([term(name, title), ...shown.map(tell)]));
  line("risk", shown.every((known) => known.exact) ? "lowest risk" : "risk of what was played", (known) => withInterval(known.value, known.exact ? undefined : [known.value_low, known.value_high]));
  if (shown.some((known) => known.bound)) line("bound", "proven bound", (known) => (known.bound ? `≥ ${boundWords(known.bound)}` : "exact"));
  line("mean", "mean", (known) => withInterval(known.behaviour.mean, known.intervals?.mean));
  line("tail", "worst 5 %", (known) => withInterval(known.behaviour.tail, known.intervals?.tail));
  line("median", "median", (known) => words(known.behaviour.median));
  line("range", "lowest to highest", (known) => `${words(known.behaviour.low)} to ${words(known.behaviour.high)}`);
  (shown[0]?.behaviour.features ?? []).forEach((feature, place) => {
    line("feature", feature.name, (known) => words(known.behaviour.features[place]?.value));
  });
  table.replaceChildren(head, body);
}

/** What is done first. @param {Known} known */
function firstWords(known) {
  const { problem } = page;
  if (!problem) return "";
  const all = known.behaviour.first.slice(0, 4).map(([state, action]) => `${problem.actions[action]} in ${problem.states[state]}`);
  return all.join("; ") + (known.behaviour.first.length > 4 ? "; …" : "");
}

/** @param {Known[]} shown */
function showWorld(shown) {
  const { problem } = page;
  if (!problem) return;
  const box = part("world");
  const beside = shown.length > 1;
  const room = widthOf(box, 720);
  // Graphs need more room beside each other than maps.
  const enough = problem.scene.kind === "graph" && problem.scene.positions ? 640 : 480;
  const width = beside && room > enough ? room / 2 - 6 : room;
  const most = Math.max(1e-12, ...shown.flatMap((known) => known.behaviour.occupancy));
  const drawings = shown.map((known, place) => {
    const which = place === 0 ? "a" : "b";
    const drawn = worldView(problem, { width, inks: inks(), which, behaviour: known.behaviour, name: attitudeName(known), most });
    const darkest = percent(Math.max(...known.behaviour.occupancy));
    return figure(drawn, `${attitudeName(known)}: at most ${darkest} of the time in one place`, which);
  });
  box.replaceChildren(...drawings);
  fill("first", `First decision: ${shown.map((known) => firstWords(known)).join(" against ")}${shown.every((known) => known.exact) ? "" : " (most often)"}.`);
}

/** The behaviours that are compared. */
export function frontierPoints() {
  return [...page.known.values()].filter(isUsual).map((known) => ({
    mean: known.behaviour.mean, tail: known.behaviour.tail, name: attitudeName(known), exact: known.exact,
  }));
}

function showFrontier() {
  const points = frontierPoints();
  const bargain = page.changes?.bargain ?? null;
  const place = (/** @type {Known | null} */ known) => (known ? { mean: known.behaviour.mean, tail: known.behaviour.tail } : undefined);
  const box = part("frontier");
  const drawn = frontierView({ points, now: place(knownAt(page.a)), other: page.comparing ? place(knownAt(page.b)) : undefined, bargain }, { width: widthOf(box, 640), inks: inks() });
  box.replaceChildren(sized(drawn));
  const from = bargain?.from === null || bargain?.from === undefined ? "" : ` It is best from ${page.measure === "erm" ? "β" : "level"} = ${words(bargain.from)} on.`;
  let told = "";
  if (page.planned) told = "Each dot was played, not solved: dots differ by chance, too.";
  else if (bargain) told = `Best bargain: pays ${words(bargain.paid)} more in the mean to save ${words(bargain.saved)} in the worst 5 %.${from}`;
  else if (page.changes) told = "No behaviour saves anything in the worst 5 %.";
  fill("bargain", told);
}

/** Draws all that follows the handles. */
export function showAll() {
  const shown = [knownAt(page.a), page.comparing ? knownAt(page.b) : null].filter((known) => known !== null);
  showFrontier();
  showReading(shown);
  if (shown.length === 0) return;
  const distributions = shown.map((known) => ({ distribution: known.behaviour, name: attitudeName(known), tail: known.behaviour.tail }));
  const box = part("distribution");
  box.replaceChildren(sized(distributionView(distributions, { width: widthOf(box, 720), inks: inks(), domain: domain(), played: page.planned !== null })));
  showNumbers(shown);
  showWorld(shown);
}

/** @param {Known[]} shown */
function showReading(shown) {
  const parts = shown.map((known, place) => {
    const strong = document.createElement("b");
    if (place > 0) strong.className = "b";
    strong.textContent = attitudeName(known);
    const box = document.createElement("span");
    const how = known.exact ? "" : ` (${known.runs} episodes played, ${known.simulations} simulations for each decision)`;
    box.append(strong, `: mean ${words(known.behaviour.mean)}, worst 5 % ${words(known.behaviour.tail)}${how}${place + 1 < shown.length ? " · " : ""}`);
    return box;
  });
  const bound = page.bounds.get(page.a);
  if (shown.length === 0 && bound) parts.push(Object.assign(document.createElement("span"), { textContent: `Proven: no behaviour has a lower risk than ${boundWords(bound)}. Episodes are being played…` }));
  const snapped = shown.length > 0 && [page.a, page.comparing ? page.b : page.a].some((risk) => risk && !page.known.has(risk));
  if (snapped) parts.push(Object.assign(document.createElement("span"), { className: "muted", textContent: " · nearest level that is known so far" }));
  fill("reading-a", ...parts);
}

/** Says how the numbers were found. */
export function showHonesty() {
  const box = part("honesty");
  const known = [...page.known.values()];
  box.classList.toggle("planned", page.planned !== null);
  if (page.planned) {
    const rough = known.some((one) => (one.simulations ?? 100) < 100) ? " The first answers are rough; better ones follow." : "";
    box.textContent = `Planned, not solved: ${page.planned}. Numbers are of episodes that were played.${rough}`;
  } else if (known.length > 0) {
    box.textContent = "Solved exactly: nothing is sampled or interpolated.";
  } else {
    box.textContent = "Solving…";
  }
}
