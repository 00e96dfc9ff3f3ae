// @ts-check
import { cancelAhead, compute, live, solveExactly } from "./compute.js";
import { followed, remember } from "./link.js";
import { page, part, say } from "./page.js";
import { showEditor, startPainting } from "./paint.js";
import { redrawStage, startPlaying } from "./play.js";
import { entryText, openText, showGallery, startProblem } from "./problem.js";
import { startSharing } from "./share.js";
import { showAll } from "./show.js";
import { startSlider } from "./slider.js";
import { explainOnDemand } from "./terms.js";

/** Puts the page together and opens the first problem. */

/** @param {boolean} dark */
function setTheme(dark) {
  page.dark = dark;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  part("theme").textContent = dark ? "Light theme" : "Dark theme";
}

/** The problem that the page was written for, if it was written for one. */
function embedded() {
  return /** @type {{ file: string, text: string } | null} */ (JSON.parse(part("problem").textContent || "null"));
}

/** @param {string} measure */
function setMeasure(measure) {
  page.measure = measure;
  const chosen = document.querySelector(`input[name="measure"][value="${CSS.escape(measure)}"]`);
  if (chosen instanceof HTMLInputElement) chosen.checked = true;
}

/** Milliseconds after which the page is shown though nothing is known yet. */
const BLANK = 600;

async function start() {
  const reveal = () => part("main").classList.remove("starting");
  document.addEventListener("computed", reveal, { once: true });
  setTimeout(reveal, BLANK);
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  explainOnDemand();
  startSlider();
  startProblem();
  startPainting();
  startPlaying();
  startSharing();
  const redraw = (/** @type {boolean} */ dark) => {
    setTheme(dark);
    showGallery();
    showAll();
    showEditor();
    redrawStage();
  };
  part("theme").addEventListener("click", () => {
    redraw(!page.dark);
    remember();
  });
  // Paper is white.
  let dark = false;
  window.addEventListener("beforeprint", () => {
    dark = page.dark;
    if (dark) redraw(false);
  });
  window.addEventListener("afterprint", () => dark && redraw(true));
  // A link that is put into the address of the open page.
  window.addEventListener("hashchange", () => {
    if (/[#&](task|text)=/.test(location.hash)) location.reload();
    else remember();
  });
  part("cancel").addEventListener("click", () => {
    cancelAhead();
    say("cancelled; what is known stays");
  });
  part("measures").addEventListener("change", (/** @type {Event} */ event) => {
    page.measure = /** @type {HTMLInputElement} */ (event.target).value;
    [page.a, page.b] = ["", ""];
    remember();
    compute();
  });
  part("exact").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const level = part("exact-level").value.trim().replace("−", "-").replace("∞", "inf");
    if (level) solveExactly(`${page.measure}:${level}`);
  });
  const gallery = await live.ask({ op: "gallery" });
  showGallery(gallery);
  performance.measure("usable", { start: 0, end: performance.now() });
  let wanted = null;
  let trouble = "";
  try {
    wanted = await followed(location.hash);
  } catch {
    trouble = "the link cannot be read: it is cut off or damaged";
  }
  if (wanted?.dark !== null && wanted?.dark !== undefined) setTheme(wanted.dark);
  if (wanted?.dark) showGallery();
  setMeasure(wanted?.measure ?? "erm");
  [page.a, page.b, page.comparing] = [wanted?.risk ?? "", wanted?.other ?? "", typeof wanted?.other === "string"];
  page.wanted = wanted?.episode ?? null;
  part("compare").checked = page.comparing;
  const own = embedded();
  const named = wanted?.task ? entryText(wanted.task) : null;
  if (wanted?.task && named === null) trouble = `the link asks for "${wanted.task}", which is not in the gallery`;
  if (trouble) document.addEventListener("problem", () => say(`${trouble}; this is ${page.problem?.name}`), { once: true });
  if (wanted?.text) await openText(wanted.text, wanted.file, true);
  else if (named !== null && wanted?.task) await openText(named, `${wanted.task}.toml`, true);
  else if (own) await openText(own.text, own.file);
  else await openText(entryText("rooms") ?? "", "rooms.toml");
}

start().catch((error) => say(`the studio cannot be started: ${error instanceof Error ? error.message : error}`));
