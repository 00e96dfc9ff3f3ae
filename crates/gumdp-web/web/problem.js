// @ts-check
import { worldView } from "../../gumdp-plot/web/views.js";
import { compute, isCancelled, live } from "./compute.js";
import { goTo, markLines, showGutter } from "./gutter.js";
import { remember } from "./link.js";
import { counted, fill, inks, page, part, say } from "./page.js";
import { showEditor } from "./paint.js";
import { redrawStage } from "./play.js";
import { showAll } from "./show.js";

/** The problem: picked from the gallery, opened from a file, or edited as text; with undo and redo. */

/** @type {import("./types").Entry[]} */
let entries = [];
/** Texts before and after this one. @type {{ file: string, text: string }[]} */
let past = [];
/** @type {{ file: string, text: string }[]} */
let future = [];
const MOST_PAST = 200;
/** Characters of a text that is read: more would take the browser too long to show. */
const MOST_TEXT = 1 << 22;
/** Characters that are kept of older texts. */
const MOST_KEPT = 1 << 24;
/** Findings that are listed. */
const MOST_FINDINGS = 50;
let opening = 0;

/** The entry of the gallery with this text. @param {string} text */
function entryOf(text) {
  return entries.find((entry) => entry.text === text) ?? null;
}

function showHistory() {
  part("undo").disabled = past.length === 0;
  part("redo").disabled = future.length === 0;
}

/** @param {import("./types").Finding[]} findings */
function showFindings(findings) {
  const items = findings.slice(0, MOST_FINDINGS).map((finding) => {
    const item = document.createElement("li");
    item.className = finding.severity;
    if (finding.line !== null) {
      const go = document.createElement("button");
      go.type = "button";
      go.textContent = `line ${finding.line}`;
      go.addEventListener("click", () => goTo(finding.line ?? 1, finding.column ?? 1));
      item.append(go);
    }
    item.append(`${finding.severity}: ${finding.message}${finding.hint ? ` (${finding.hint})` : ""}`);
    return item;
  });
  if (findings.length > MOST_FINDINGS) items.push(Object.assign(document.createElement("li"), { textContent: `and ${findings.length - MOST_FINDINGS} more` }));
  if (items.length === 0) items.push(Object.assign(document.createElement("li"), { textContent: "check finds nothing to complain about" }));
  fill("findings", ...items);
  part("source").setAttribute("aria-invalid", String(findings.some((finding) => finding.severity === "error")));
  markLines(new Set(findings.map((finding) => finding.line)));
}

/** Shows another text. What is known of it is computed if it is a problem. @param {string} text @param {string} file @param {boolean} [keep] whether handles stay where they are */
export async function openText(text, file, keep = false) {
  // A line ends as it does in the text box, where the map is read from; half a character cannot be sent to the library.
  text = text.replace(/\r\n?/g, "\n").replace(/\p{Surrogate}/gu, "\uFFFD");
  opening += 1;
  const own = opening;
  const entry = entryOf(text);
  [page.text, page.file, page.task, page.builtIn] = [text, file, entry?.name ?? null, entry?.built_in ?? false];
  if (part("source").value !== text) part("source").value = text;
  showHistory();
  try {
    const opened = /** @type {import("./types").Opened} */ (await live.openNow({ op: "open", file, text }));
    if (own !== opening) return;
    showFindings(opened.findings);
    if (!opened.problem) {
      showMistakes(file);
      return;
    }
    part("main").classList.remove("empty");
    page.problem = opened.problem;
    if (!keep) [page.a, page.b] = ["", ""];
    part("title").textContent = opened.problem.title;
    part("description").textContent = [opened.problem.description, ...opened.problem.notes].join(" ");
    say(`${opened.problem.name}: ${counted(opened.problem.states.length, "state")}, ${counted(opened.problem.actions.length, "action")}, ${counted(opened.problem.horizon, "step")}`);
    document.querySelectorAll("#gallery button").forEach((button) => {
      const current = /** @type {HTMLElement} */ (button).dataset.name === page.task;
      button.setAttribute("aria-current", String(current));
      if (current) part("gallery").scrollLeft = /** @type {HTMLElement} */ (button).offsetLeft - part("gallery").clientWidth / 2;
    });
    showEditor();
    remember();
    document.dispatchEvent(new CustomEvent("problem"));
    await compute();
  } catch (error) {
    if (!isCancelled(error)) say(error instanceof Error ? error.message : String(error));
  }
}

/** Says that a text is no problem. @param {string} file */
function showMistakes(file) {
  if (page.problem) return say(`${file} has mistakes; what is shown is the last problem without`);
  say(`${file} has mistakes`);
  part("title").textContent = file;
  part("description").textContent = "This text has mistakes. They are listed below it; as soon as they are mended there is something to see.";
  part("main").classList.add("empty");
}

/** An edit that can be undone. @param {string} text @param {string} [file] @param {boolean} [keep] */
export function edit(text, file = page.file, keep = true) {
  if (text === page.text) return;
  past.push({ file: page.file, text: page.text });
  const kept = () => past.reduce((sum, { text }) => sum + text.length, 0);
  while (past.length > MOST_PAST || (past.length > 1 && kept() > MOST_KEPT)) past.shift();
  future = [];
  openText(text, file, keep);
}

/** @param {{ file: string, text: string }[]} from @param {{ file: string, text: string }[]} to */
function travel(from, to) {
  const there = from.pop();
  if (!there) return;
  to.push({ file: page.file, text: page.text });
  openText(there.text, there.file, true);
}

/** Whether a text is too long, which is said. @param {number} length @param {string} name */
function isTooLong(length, name) {
  const long = length > MOST_TEXT;
  if (long) say(`${name} has ${(length / (1 << 20)).toFixed(1)} MiB; this page reads at most ${MOST_TEXT >> 20}: use the command line`);
  return long;
}

/** @param {File} file */
async function openFile(file) {
  if (isTooLong(file.size, file.name)) return;
  edit(await file.text(), file.name, false);
}

/** @param {import("./types").Entry[]} all */
export function showGallery(all = entries) {
  entries = all;
  const items = all.map((entry) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.name = entry.name;
    button.title = entry.title;
    // Who speaks to the page says the name that is seen.
    button.setAttribute("aria-label", entry.title.toLowerCase().includes(entry.name) ? entry.title : `${entry.name}: ${entry.title}`);
    button.setAttribute("aria-current", String(entry.name === page.task));
    const drawn = worldView({ ...entry, actions: ["left", "up", "right", "down"], place_of_state: null, horizon: 0 }, { width: 112, height: 76, inks: inks(), small: true });
    drawn.setAttribute("aria-hidden", "true");
    drawn.removeAttribute("role");
    button.append(drawn, Object.assign(document.createElement("span"), { textContent: entry.name }));
    button.addEventListener("click", () => edit(entry.text, `${entry.name}.toml`, false));
    const item = document.createElement("li");
    item.append(button);
    return item;
  });
  fill("gallery", ...items);
}

/** The text of a built-in task or an example. @param {string} name */
export function entryText(name) {
  return entries.find((entry) => entry.name === name)?.text ?? null;
}

export function startProblem() {
  const box = part("source");
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  box.addEventListener("input", () => {
    clearTimeout(later);
    later = setTimeout(() => edit(box.value), 350);
  });
  box.addEventListener("paste", (/** @type {ClipboardEvent} */ event) => {
    const more = event.clipboardData?.getData("text").length ?? 0;
    if (isTooLong(box.value.length + more, "the text")) event.preventDefault();
  });
  box.addEventListener("scroll", showGutter);
  part("undo").addEventListener("click", () => travel(past, future));
  part("redo").addEventListener("click", () => travel(future, past));
  part("file").addEventListener("change", () => {
    const file = part("file").files[0];
    // The same file may be chosen again after it was edited elsewhere.
    if (file) openFile(file).then(() => (part("file").value = ""));
  });
  document.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || !["y", "z"].includes(key) || event.target === box) return;
    event.preventDefault();
    if (event.shiftKey || key === "y") travel(future, past);
    else travel(past, future);
  });
  window.addEventListener("dragover", (event) => {
    event.preventDefault();
    part("drop").hidden = false;
  });
  window.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) part("drop").hidden = true;
  });
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    part("drop").hidden = true;
    const file = event.dataTransfer?.files[0];
    if (file) openFile(file);
  });
  window.addEventListener("resize", () => requestAnimationFrame(() => {
    showAll();
    showEditor();
    showGutter();
    redrawStage();
  }));
}
