// @ts-check
import { words } from "../../gumdp-plot/web/views.js";
import { attitudeName, counted, fill, levelOf, page, part, stepOf } from "./page.js";
import { showAll } from "./show.js";
import { remember } from "./link.js";

/** The slider with its two handles, and the marks where behaviour changes. */

/** Marks on the slider: more would be a wall. */
const MOST_MARKS = 16;

/** @param {string} risk */
function placeOf(risk) {
  return Math.max(0, stepOf(risk));
}

export function showSlider() {
  const last = Math.max(1, page.levels.length - 1);
  for (const [id, risk] of [["handle-a", page.a], ["handle-b", page.b]]) {
    const handle = part(id);
    handle.max = String(last);
    handle.value = String(placeOf(risk));
    const level = page.levels[placeOf(risk)];
    if (level) handle.setAttribute("aria-valuetext", attitudeName(level));
  }
  part("handle-b").hidden = !page.comparing;
  const neutral = page.levels.findIndex((level) => levelOf(level.level) === 0);
  const entropic = page.measure === "erm";
  part("end-low").textContent = entropic && levelOf(page.levels[0]?.level ?? 0) < 0 ? "best case" : "mean";
  part("end-high").textContent = entropic ? "worst case" : `worst ${words(100 - 100 * levelOf(page.levels[page.levels.length - 1]?.level ?? 0))} %`;
  part("end-mid").hidden = neutral <= 0;
  part("end-mid").style.left = `calc(12px + (100% - 24px) * ${neutral / last})`;
  part("exact-label").textContent = entropic ? "exact β" : "exact level";
}

/** What changes, in words. @param {import("./types").Change} change */
export function changeWords(change) {
  const { problem } = page;
  const where = change.level === null ? `between ${change.between.map((level) => words(level)).join(" and ")}` : `at ${words(change.level)}`;
  const first = change.first[0].map((action, place) => [action, change.first[1][place]]).find(([before, after]) => before !== after);
  const done = first && problem ? `the first action changes from ${problem.actions[first[0]]} to ${problem.actions[first[1]]}; ` : "";
  const most = change.visits[0];
  const visits = most ? `${most.state}${most.action ? ` (${most.action})` : ""} is visited ${words(most.after)} times instead of ${words(most.before)}; ` : "";
  const price = `mean ${words(change.mean[0])} → ${words(change.mean[1])}, worst 5 % ${words(change.tail[0])} → ${words(change.tail[1])}`;
  return `${page.measure === "erm" ? "β" : "level"} ${where}: ${done}${visits}${price}`;
}

/** Between which steps of the slider a change lies. @param {import("./types").Change} change */
function stepAfter(change) {
  const level = levelOf(change.level ?? change.between[1] ?? Infinity);
  const after = page.levels.findIndex((other) => levelOf(other.level) >= level);
  return after < 0 ? page.levels.length - 1 : after;
}

/** Shows what changes at a mark, just after it. @param {import("./types").Change} change */
function goToChange(change) {
  page.a = page.levels[stepAfter(change)]?.risk ?? page.a;
  moved();
  fill("change", changeWords(change));
}

/** The changes that are marked, ascending. @type {import("./types").Change[]} */
let marked = [];

/** Steps to the next change before or after the one that is shown. @param {1 | -1} way */
function stepChange(way) {
  const shown = marked.findIndex((change) => part("change").textContent === changeWords(change));
  const here = marked.findIndex((change) => stepAfter(change) > placeOf(page.a));
  const beyond = here < 0 ? marked.length : here;
  const next = shown >= 0 ? shown + way : way > 0 ? beyond : beyond - 1;
  goToChange(marked[Math.max(0, Math.min(marked.length - 1, next))]);
}

export function showMarks() {
  const last = Math.max(1, page.levels.length - 1);
  const all = page.changes?.changes ?? [];
  const size = (/** @type {import("./types").Change} */ { mean, tail }) => Math.abs(mean[1] - mean[0]) + Math.abs(tail[1] - tail[0]);
  const least = all.map(size).sort((a, b) => b - a)[MOST_MARKS - 1] ?? 0;
  const changes = all.filter((change) => size(change) >= least).slice(0, MOST_MARKS);
  const marks = changes.map((change, number) => {
    const mark = document.createElement("button");
    mark.type = "button";
    // Keys use the buttons below.
    mark.tabIndex = -1;
    const step = stepAfter(change);
    // Several between the same two steps stand side by side.
    const same = changes.filter((other) => stepAfter(other) === step);
    const share = (same.indexOf(change) + 1) / (same.length + 1);
    mark.style.left = `${(100 * Math.max(0, step - 1 + share)) / last}%`;
    mark.title = changeWords(change);
    mark.setAttribute("aria-label", `Change ${number + 1} of ${changes.length}: ${changeWords(change)}`);
    mark.addEventListener("click", () => goToChange(change));
    return mark;
  });
  fill("marks", ...marks);
  marked = changes;
  for (const id of ["change-before", "change-after"]) part(id).disabled = changes.length === 0;
  if (page.changes) {
    const found = all.length === 0 ? "No change of behaviour" : `${counted(all.length, "change")} of behaviour`;
    const more = page.changes.complete ? "" : all.length === 0 ? " was found between the levels" : ", and perhaps more";
    const some = changes.length < all.length ? ` (the ${changes.length} largest are marked)` : "";
    const how = all.length === 0 ? "" : " Click a mark, or step through them, to read what changes there.";
    fill("change", `${found}${more}${some}.${how}`);
  } else fill("change", page.planned ? "Changes are marked only where problems are solved." : "");
}

/** A handle was moved. */
function moved() {
  showSlider();
  showAll();
  remember();
  document.dispatchEvent(new CustomEvent("attitude"));
}

export function startSlider() {
  const move = (/** @type {"a" | "b"} */ which) => () => {
    const level = page.levels[Number(part(`handle-${which}`).value)];
    if (!level || level.risk === page[which]) return;
    const started = performance.now();
    page[which] = level.risk;
    moved();
    performance.measure("slide", { start: started, end: performance.now() });
  };
  part("handle-a").addEventListener("input", move("a"));
  part("handle-b").addEventListener("input", move("b"));
  part("change-before").addEventListener("click", () => stepChange(-1));
  part("change-after").addEventListener("click", () => stepChange(1));
  part("compare").addEventListener("change", () => {
    page.comparing = part("compare").checked;
    moved();
  });
}
