// @ts-check
import { svg, worldView } from "../../gumdp-plot/web/views.js";
import { link } from "./link.js";
import { inks, knownAt, page, part } from "./page.js";
import { stepsShown } from "./play.js";

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
  if (kind === "link") return `${location.href.split("#")[0]}${await link()}`;
  if (kind === "toml") return page.problem?.source ?? page.text;
  const how = page.planned ? "run" : "solve";
  if (kind === "command") return `gumdp ${how} ${shell(name)} ${beta === null ? `--risk ${risk}` : `--beta=${beta}`}`;
  const load = page.builtIn ? `gumdp.tasks["${page.task}"]` : `gumdp.Problem.from_file(${JSON.stringify(page.file)})`;
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

/** Several drawings side by side as one. @param {string} id */
function drawingOf(id) {
  const all = /** @type {SVGSVGElement[]} */ ([...part(id).querySelectorAll("svg")]);
  if (all.length < 2) return all[0] ?? null;
  const width = all.reduce((sum, one) => sum + one.viewBox.baseVal.width + 12, 0);
  const height = Math.max(...all.map((one) => one.viewBox.baseVal.height));
  const joined = svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}` });
  let x = 0;
  for (const one of all) {
    const copy = /** @type {SVGSVGElement} */ (one.cloneNode(true));
    copy.setAttribute("x", String(x));
    copy.setAttribute("width", String(one.viewBox.baseVal.width));
    copy.setAttribute("height", String(one.viewBox.baseVal.height));
    x += one.viewBox.baseVal.width + 12;
    joined.append(copy);
  }
  return /** @type {SVGSVGElement} */ (joined);
}

/** @param {string} text @param {number} width @param {number} height @returns {Promise<Blob>} */
async function picture(text, width, height) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [3 * width, 3 * height];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser made no picture"))), "image/png"));
}

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
  const drawing = drawingOf(id);
  if (!drawing) throw new Error("nothing is drawn yet");
  const text = standalone(drawing);
  const { width, height } = drawing.viewBox.baseVal;
  if (format === "svg") return save(`${name}-${id}.svg`, new Blob([text], { type: "image/svg+xml" }));
  return save(`${name}-${id}.png`, await picture(text, width, height));
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
