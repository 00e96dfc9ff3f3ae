// @ts-check
import { svg, worldView } from "../../gumdp-plot/web/views.js";
import { link } from "./link.js";
import { live } from "./compute.js";
import { attitudeName, inks, knownAt, page, part } from "./page.js";
import { stepsShown } from "./play.js";
import { frontierPoints } from "./show.js";

/** Links, copies and files of what is shown. */

/** The attitude as the command line and Python have it. */
function attitude() {
  const known = knownAt(page.a);
  const risk = known?.risk ?? "erm:0";
  return { risk, beta: risk.startsWith("erm:") ? risk.slice(4) : null };
}

/** @param {string} kind */
async function copied(kind) {
  const { risk, beta } = attitude();
  const name = page.builtIn && page.task ? page.task : page.file;
  if (kind === "link") {
    const state = await link();
    if (state === null) throw new Error("the problem is too long for a link: save it as a file instead");
    return `${location.href.split("#")[0]}${state}`;
  }
  if (kind === "toml") return page.problem?.source ?? page.text;
  // The same effort gives the same numbers.
  const { runs, simulations } = knownAt(page.a) ?? {};
  const effort = page.planned && runs ? ` --runs ${runs} --simulations ${simulations}` : "";
  if (kind === "command") return `gumdp ${page.planned ? "run" : "solve"} ${shell(name)} ${beta === null ? `--risk ${risk}` : `--beta=${beta}`}${effort}`;
  const load = page.builtIn ? `gumdp.tasks["${page.task}"]` : `gumdp.Problem.from_file(${JSON.stringify(page.file)})`;
  if (page.planned) return `import gumdp\n\nproblem = ${load}\nprint(gumdp.evaluate(problem, risk="${risk}"${runs ? `, runs=${runs}, simulations=${simulations}` : ""}))\nprint(gumdp.bound(problem, "${risk}"))\n`;
  return `import gumdp\n\nproblem = ${load}\nsolution = gumdp.solve(problem, "${risk}")\nprint(solution.value, solution.mean)\n`;
}

/** @param {string} text */
function shell(text) {
  return /^[\w.\-/]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** @param {string} name @param {Blob} content */
function save(name, content) {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(content);
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
}

/** A drawing as a file of its own, with paper behind it. @param {SVGSVGElement} drawing */
function standalone(drawing) {
  const copy = /** @type {SVGSVGElement} */ (drawing.cloneNode(true));
  const { width, height } = drawing.viewBox.baseVal;
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.prepend(svg("rect", { width, height, fill: inks().paper }));
  return new XMLSerializer().serializeToString(copy);
}

/** "β = 0" without further words. @param {import("./types").Known} known */
const plainName = (known) => attitudeName(known).split(",")[0];

/** What is shown, as the library draws it for papers. @param {string} id @returns {any} */
function figureOf(id) {
  const { problem } = page;
  const shown = [knownAt(page.a), page.comparing ? knownAt(page.b) : null].filter((known) => known !== null);
  if (!problem || shown.length === 0) throw new Error("nothing is known yet");
  const { scene } = problem;
  const how = shown.every((known) => known.exact) ? "" : ", as played";
  if (id === "distribution") {
    const distributions = shown.map((known) => ({ name: plainName(known), mean: known.behaviour.mean, outcomes: known.behaviour.outcomes }));
    return { kind: "distribution", title: `Distribution of the cost${how}`, distributions };
  }
  if (id === "frontier") {
    const place = (/** @type {{ mean: number, tail: number }} */ { mean, tail }) => [mean, tail];
    const bargain = page.changes?.bargain;
    const named = [...shown.map((known) => [plainName(known), place(known.behaviour)]), ...(bargain ? [["best bargain", place(bargain)]] : [])];
    return { kind: "frontier", title: `What a lower risk costs in the mean${how}`, points: frontierPoints().map(place), named };
  }
  const rows = (/** @type {import("./types").Known} */ { behaviour }) => {
    if (scene.kind !== "grid") return behaviour.actions;
    const cell = (/** @type {number} */ at) => (scene.terrains[scene.cells[at]].wall ? null : behaviour.occupancy[at]);
    return Array.from({ length: scene.rows }, (_, row) => Array.from({ length: scene.columns }, (_, column) => cell(row * scene.columns + column)));
  };
  const panels = shown.map((known) => ({ name: plainName(known), rows: rows(known) }));
  const names = scene.kind === "grid" ? { row_names: [], column_names: [] } : { row_names: problem.states, column_names: problem.actions };
  return { kind: "world", title: `Where the time is spent${how}`, panels, ...names };
}

const TYPES = /** @type {Record<string, string>} */ ({ svg: "image/svg+xml", pdf: "application/pdf", png: "image/png" });

/** The steps of the episode one after the other, as one animated drawing. */
function animated() {
  const { problem } = page;
  const steps = stepsShown();
  if (!problem || steps.length === 0) return null;
  const states = [...steps.map((step) => step.state), steps[steps.length - 1].next];
  const seconds = 0.5 * states.length;
  const frames = states.map((state, place) => {
    const frame = worldView(problem, { width: 480, inks: inks(), agent: state });
    frame.setAttribute("width", String(frame.viewBox.baseVal.width));
    frame.setAttribute("height", String(frame.viewBox.baseVal.height));
    const [from, to] = [place / states.length, (place + 1) / states.length];
    const times = place === 0 ? `0;${to}` : `0;${from};${Math.min(1, to)}`;
    const values = place === 0 ? "inline;none" : "none;inline;none";
    const shown = svg("animate", { attributeName: "display", dur: `${seconds}s`, repeatCount: "indefinite", calcMode: "discrete", keyTimes: times, values });
    return svg("g", { display: place === 0 ? "inline" : "none" }, [shown, frame]);
  });
  const size = worldView(problem, { width: 480, inks: inks() }).viewBox.baseVal;
  return /** @type {SVGSVGElement} */ (svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${size.width} ${size.height}` }, frames));
}

/** @param {string} kind */
async function saved(kind) {
  const name = page.problem?.name ?? "problem";
  if (kind === "toml") return save(`${name}.toml`, new Blob([page.problem?.source ?? page.text], { type: "text/plain" }));
  if (kind === "episode") {
    const drawing = animated();
    if (!drawing) throw new Error("there is no episode yet: press Run first");
    return save(`${name}-episode.svg`, new Blob([standalone(drawing)], { type: "image/svg+xml" }));
  }
  const [id, format] = kind.split("-");
  const { text, bytes } = await live.ask({ op: "figure", figure: figureOf(id), format });
  save(`${name}-${id}.${format}`, new Blob([text ?? new Uint8Array(bytes)], { type: TYPES[format] }));
}

export function startSharing() {
  const dialog = /** @type {HTMLDialogElement} */ (part("share"));
  const told = (/** @type {string} */ text) => (part("shared-words").textContent = text);
  part("share-open").addEventListener("click", () => {
    told("");
    dialog.showModal();
  });
  part("share-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", async (event) => {
    const { copy, save: kept } = /** @type {HTMLElement} */ (event.target).dataset ?? {};
    try {
      if (copy) {
        const text = await copied(copy);
        part("shared").value = text;
        // A page that was opened from a file may not reach the clipboard: the text is there to be selected.
        await navigator.clipboard?.writeText(text).then(() => told("Copied."), () => {
          part("shared").select();
          told("Select the text above and copy it.");
        });
      } else if (kept) {
        await saved(kept);
        told("Saved.");
      }
    } catch (error) {
      told(error instanceof Error ? error.message : String(error));
    }
  });
}
