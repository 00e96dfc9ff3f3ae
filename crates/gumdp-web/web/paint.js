// @ts-check
import { svg, worldView } from "../../gumdp-plot/web/views.js";
import { fill, inks, page, part, sized, widthOf } from "./page.js";
import { edit } from "./problem.js";
import { ADDITIONS, findMap, painted, resized, withTerrain } from "./source.js";

/** The grid editor: paints into the text of the problem. */

/** Larger maps are changed as text. */
const MOST_PAINTED = 10000;

/** The chosen paint: a character of the legend, or an addition to it. */
let brush = "wall";
/** The cell that keys move. */
let cursor = 0;
/** Cells of the stroke that is being painted. @type {Set<number>} */
let stroke = new Set();

/** @returns {{ grid: import("../../gumdp-plot/web/views.js").Grid, floor: string } | null} */
function map() {
  const scene = page.problem?.scene;
  if (!scene || scene.kind !== "grid" || scene.cells.length > MOST_PAINTED || !findMap(page.text)) return null;
  return { grid: scene, floor: scene.terrains.find((terrain) => terrain.name === "floor")?.symbol ?? "." };
}

/** What a terrain is called: its own name, or the usual one; of a one-way cell the way, too. @param {import("../../gumdp-plot/web/views.js").Terrain} terrain */
function paintName(terrain) {
  const known = ADDITIONS.find((other) => other.test(terrain));
  const plain = known && (terrain.name === known.name || terrain.name === terrain.symbol || known.name.startsWith("one-way"));
  return plain ? known.name : terrain.name;
}

/** Paints that can be chosen: what the legend has, and what it may have. */
function paints() {
  const terrains = map()?.grid.terrains ?? [];
  const own = terrains.map((terrain) => ({ key: terrain.symbol, symbol: terrain.symbol, name: paintName(terrain) }));
  const others = ADDITIONS.filter((addition) => !terrains.some((terrain) => addition.test(terrain)));
  return [...own, ...others.map((addition) => ({ key: addition.name, symbol: addition.wanted, name: addition.name }))];
}

function showPalette() {
  const all = paints();
  if (!all.some((paint) => paint.key === brush)) brush = (all.find((paint) => paint.name === brush || paint.symbol === brush) ?? all[0])?.key ?? "";
  const buttons = all.map(({ key, symbol, name }) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("role", "radio");
    button.setAttribute("aria-checked", String(key === brush));
    button.tabIndex = key === brush ? 0 : -1;
    button.append(Object.assign(document.createElement("kbd"), { textContent: symbol }), name);
    button.addEventListener("click", () => pick(key));
    return button;
  });
  fill("palette", ...buttons);
}

/** @param {string} key */
function pick(key) {
  brush = key;
  showPalette();
  part("palette").querySelector('[aria-checked="true"]')?.focus();
}

function showCanvas() {
  const found = map();
  if (!found || !page.problem) return;
  const { grid } = found;
  cursor = Math.min(cursor, grid.cells.length - 1);
  const box = part("canvas");
  const drawn = worldView(page.problem, { width: widthOf(box, 620), height: 460, inks: inks(), whole: true });
  sized(drawn);
  drawn.removeAttribute("role");
  drawn.setAttribute("aria-hidden", "true");
  const size = (drawn.viewBox.baseVal.width - 2) / grid.columns;
  const at = svg("rect", { x: 1 + (cursor % grid.columns) * size, y: 1 + Math.floor(cursor / grid.columns) * size, width: size, height: size, class: "at" });
  if (document.activeElement === box) drawn.append(at);
  box.replaceChildren(drawn);
}

/** Shows the editor if the problem is a grid. */
export function showEditor() {
  part("editor").hidden = map() === null;
  const { scene } = page.problem ?? {};
  part("too-large").hidden = !(scene?.kind === "grid" && scene.cells.length > MOST_PAINTED);
  if (map() === null) return;
  showPalette();
  showCanvas();
}

/** Paints some cells. @param {number[]} cells */
function paint(cells) {
  const found = map();
  if (!found || cells.length === 0) return;
  const { grid, floor } = found;
  let text = page.text;
  let symbol = brush;
  const addition = ADDITIONS.find((other) => other.name === brush);
  if (addition && !grid.terrains.some((terrain) => terrain.symbol === brush)) {
    const added = withTerrain(text, addition.wanted, addition.value);
    if (!added) return;
    [text, symbol] = added;
    brush = symbol;
  }
  const terrain = grid.terrains.find((other) => other.symbol === symbol);
  const only = terrain ? terrain.start || terrain.home : addition?.name === "start";
  // Where episodes start can be moved, not painted over.
  const needed = grid.terrains.filter((other) => other.start || other.home).map((other) => other.symbol);
  const free = cells.filter((cell) => only || !needed.includes(grid.terrains[grid.cells[cell]].symbol));
  if (free.length < cells.length) fill("painted", "The start cannot be painted over; paint a start elsewhere to move it.");
  else fill("painted", "");
  const places = free.slice(only ? -1 : 0).map((cell) => /** @type {[number, number]} */ ([Math.floor(cell / grid.columns), cell % grid.columns]));
  if (places.length > 0) edit(painted(text, places, symbol, floor, only === true));
}

/** @param {number} x @param {number} y */
function cellAt(x, y) {
  const cell = document.elementFromPoint(x, y)?.closest("#canvas [data-cell]");
  return cell ? Number(/** @type {SVGElement} */ (cell).dataset.cell) : null;
}

/** Pixels between two places of a stroke that are looked at: less than any cell is wide. */
const STRIDE = 4;

export function startPainting() {
  const box = part("canvas");
  /** Where the stroke was last. @type {[number, number]} */
  let [lastX, lastY] = [0, 0];
  const touch = (/** @type {number} */ x, /** @type {number} */ y) => {
    const cell = cellAt(x, y);
    if (cell === null || stroke.has(cell)) return;
    stroke.add(cell);
    box.querySelector(`[data-cell="${cell}"] rect`)?.setAttribute("fill", inks().a);
  };
  // A quick hand moves over several cells between two events.
  const draw = (/** @type {PointerEvent} */ { clientX, clientY }) => {
    const places = Math.max(1, Math.ceil(Math.hypot(clientX - lastX, clientY - lastY) / STRIDE));
    for (let k = 1; k <= places; k += 1) touch(lastX + ((clientX - lastX) * k) / places, lastY + ((clientY - lastY) * k) / places);
    [lastX, lastY] = [clientX, clientY];
  };
  box.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    box.focus();
    stroke = new Set();
    [lastX, lastY] = [event.clientX, event.clientY];
    touch(lastX, lastY);
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => event.buttons > 0 && draw(event));
  box.addEventListener("pointerup", () => {
    paint([...stroke]);
    stroke = new Set();
  });
  box.addEventListener("pointercancel", () => {
    stroke = new Set();
    showCanvas();
  });
  box.addEventListener("focus", showCanvas);
  box.addEventListener("blur", showCanvas);
  box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const found = map();
    if (!found) return;
    const { columns, rows, cells, terrains } = found.grid;
    const [row, column] = [Math.floor(cursor / columns), cursor % columns];
    const moves = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] });
    const move = moves[event.key];
    if (move) {
      event.preventDefault();
      cursor = Math.max(0, Math.min(rows - 1, row + move[0])) * columns + Math.max(0, Math.min(columns - 1, column + move[1]));
      showCanvas();
      fill("painted", `row ${Math.floor(cursor / columns) + 1}, column ${(cursor % columns) + 1}: ${paintName(terrains[cells[cursor]])}`);
    } else if (event.key === " " || event.key === "Enter") {
      event.preventDefault();
      paint([cursor]);
    }
  });
  part("palette").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const step = ["ArrowRight", "ArrowDown"].includes(event.key) ? 1 : ["ArrowLeft", "ArrowUp"].includes(event.key) ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const all = paints();
    const place = all.findIndex((other) => other.key === brush);
    pick(all[(place + step + all.length) % all.length].key);
  });
  part("sizes").addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const wanted = /** @type {HTMLElement} */ (event.target).dataset.size;
    const found = map();
    if (!wanted || !found) return;
    const needed = found.grid.terrains.filter((terrain) => terrain.start || terrain.home).map((terrain) => terrain.symbol);
    const text = resized(page.text, wanted.startsWith("rows") ? "rows" : "columns", wanted.endsWith("+") ? 1 : -1, found.floor, needed);
    if (text === null) fill("painted", "The map cannot be made smaller: its start would be cut off, or nothing would be left.");
    else edit(text);
  });
}
