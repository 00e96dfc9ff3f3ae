// @ts-check
import { INKS } from "../../gumdp-plot/web/inks.js";

/** What the page knows, and small helpers to say it. */

/** @typedef {import("./types").Known} Known */

/** Everything that is shown. */
export const page = {
  file: "rooms.toml",
  text: "",
  /** The name in the gallery, if the text was not changed. @type {string | null} */
  task: null,
  /** Whether the command line knows it by that name. */
  builtIn: false,
  /** @type {import("./types").Problem | null} */
  problem: null,
  measure: "erm",
  /** Ascending. @type {import("./types").Attitude[]} */
  levels: [],
  /** What is known, by attitude. @type {Map<string, Known>} */
  known: new Map(),
  /** @type {import("./types").Changes | null} */
  changes: null,
  /** What no behaviour can go below, by attitude, where it is planned. @type {Map<string, { value: number | string, method: string }>} */
  bounds: new Map(),
  /** Why it is planned. @type {string | null} */
  planned: null,
  /** The attitudes of both handles. */
  a: "",
  b: "",
  comparing: false,
  /** The episode that is shown: its number, its step, and what was done if it is played by hand. */
  episode: { number: 0, step: 0, actions: /** @type {number[] | null} */ (null) },
  /** The one that a link asks for. @type {{ number: number, step: number, actions: number[] | null } | null} */
  wanted: null,
  dark: false,
};

/** @param {string} id @returns {any} */
export function part(id) {
  return document.getElementById(id);
}

export function inks() {
  return page.dark ? INKS.dark : INKS.light;
}

/** @param {number | string} level */
export function levelOf(level) {
  return Number(level);
}

/** The number of an attitude: 2.5 of "erm:2.5". @param {string} risk */
export function numberOf(risk) {
  return Number(risk.split(":")[1]?.replace("inf", "Infinity") || NaN);
}

/** The step of the slider at which an attitude stands: its own, or else the next one; -1 if there is none. @param {string} risk */
export function stepOf(risk) {
  const own = page.levels.findIndex((level) => level.risk === risk);
  const number = numberOf(risk);
  if (own >= 0 || Number.isNaN(number)) return own;
  const next = page.levels.findIndex((level) => levelOf(level.level) >= number);
  return next < 0 ? page.levels.length - 1 : next;
}

/** What is known at a handle: its level, or the nearest that is known. @param {string} risk @returns {Known | null} */
export function knownAt(risk) {
  const exact = page.known.get(risk);
  if (exact) return exact;
  const place = stepOf(risk);
  for (let far = 0; far <= page.levels.length; far += 1) {
    for (const near of [place - far, place + far]) {
      const found = page.known.get(page.levels[near]?.risk ?? "");
      if (found) return found;
    }
  }
  return null;
}

/** The name of an attitude. @param {{ measure: string, level: number | string }} of */
export function attitudeName({ measure, level }) {
  const number = levelOf(level);
  const shown = number === Infinity ? "∞" : number === -Infinity ? "−∞" : String(number).replace("-", "−");
  const name = measure === "erm" ? `β = ${shown}` : `${measure === "cvar" ? "CVaR" : "EVaR"} ${shown}`;
  if (measure !== "erm") return name;
  if (number === 0) return `${name}, the mean`;
  if (number === Infinity) return `${name}, the worst case`;
  return number === -Infinity ? `${name}, the best case` : name;
}

/** "1 step", "2 steps". @param {number} count @param {string} what */
export function counted(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** @param {string} text */
export function say(text) {
  part("status").textContent = text;
}

/** Replaces what an element shows. @param {string} id @param {...(Node | string)} children */
export function fill(id, ...children) {
  part(id).replaceChildren(...children);
}

/** A row of a table. @param {(Node | string)[]} cells @param {string} [kind] @param {boolean} [heads] */
export function row(cells, kind = "", heads = false) {
  const line = document.createElement("tr");
  if (kind) line.className = kind;
  cells.forEach((content, place) => {
    const named = content !== "" && (heads || place === 0);
    const cell = document.createElement(named ? "th" : "td");
    if (named) cell.scope = heads ? "col" : "row";
    cell.append(content);
    line.append(cell);
  });
  return line;
}

/** The size of letters for which drawings are made, in pixels. */
const LETTERS = 15;

/** The room for a drawing, in its own units, which grow with the letters of the page. @param {HTMLElement} box @param {number} most */
export function widthOf(box, most) {
  const letters = parseFloat(getComputedStyle(document.documentElement).fontSize) || LETTERS;
  return Math.max(200, Math.min(most, ((box.clientWidth || 320) * LETTERS) / letters));
}

/** A drawing as large as its letters want. @param {SVGSVGElement} drawing */
export function sized(drawing) {
  drawing.style.width = `${drawing.viewBox.baseVal.width / LETTERS}rem`;
  return drawing;
}

/** A drawing with words below it. @param {SVGSVGElement} drawing @param {string} words @param {string} kind */
export function figure(drawing, words, kind) {
  const box = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.className = kind;
  caption.textContent = words;
  box.append(sized(drawing), caption);
  return box;
}
