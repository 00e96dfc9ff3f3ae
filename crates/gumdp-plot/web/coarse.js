// @ts-check
/** Large worlds, drawn with fewer places than they have: nobody sees a cell of two pixels, and a page that draws a million is stuck. */

/** @typedef {import("./views.js").Grid} Grid */
/** @typedef {import("./views.js").Behaviour} Behaviour */

/** Cells of a map with a behaviour that are drawn one by one. */
export const MOST_CELLS = 2500;
/** States without places that are drawn. */
export const MOST_BOXES = 400;

/** How many cells stand together on each side of a block. @param {Grid} grid @param {number} most */
export function blockOf(grid, most) {
  return Math.max(1, Math.ceil(Math.sqrt(grid.cells.length / most)));
}

/**
 * Blocks of cells instead of cells: time and actions add up; a block looks as what most of it is, or as the start if that is in it.
 * @template {Behaviour | undefined} B
 * @param {Grid} grid @param {B} behaviour @param {number} block @returns {{ grid: Grid, behaviour: B, placeOf: (cell: number) => number }}
 */
export function inBlocks(grid, behaviour, block) {
  const [rows, columns] = [Math.ceil(grid.rows / block), Math.ceil(grid.columns / block)];
  const placeOf = (/** @type {number} */ cell) => Math.floor(Math.floor(cell / grid.columns) / block) * columns + Math.floor((cell % grid.columns) / block);
  const counts = Array.from({ length: rows * columns }, () => /** @type {Map<number, number>} */ (new Map()));
  grid.cells.forEach((kind, cell) => {
    const own = counts[placeOf(cell)];
    const { start, home } = grid.terrains[kind];
    own.set(kind, (own.get(kind) ?? 0) + (start || home ? Infinity : 1));
  });
  const cells = counts.map((own) => [...own].reduce((best, one) => (one[1] > best[1] ? one : best))[0]);
  const merged = { ...grid, rows, columns, cells, start: placeOf(grid.start), path: [] };
  if (!behaviour) return { grid: merged, behaviour, placeOf };
  const occupancy = cells.map(() => 0);
  const actions = cells.map(() => /** @type {number[]} */ ([]));
  behaviour.occupancy.forEach((mass, cell) => {
    const place = placeOf(cell);
    occupancy[place] += mass;
    behaviour.actions[cell]?.forEach((own, action) => (actions[place][action] = (actions[place][action] ?? 0) + own));
  });
  return { grid: merged, behaviour: { ...behaviour, occupancy, actions }, placeOf };
}

/** The states that are drawn: all, or those where most time is spent. @param {number} count @param {Behaviour | undefined} behaviour @param {number | null | undefined} agent @returns {number[]} */
export function boxesOf(count, behaviour, agent) {
  const all = Array.from({ length: count }, (_, state) => state);
  if (count <= MOST_BOXES) return all;
  const mass = (/** @type {number} */ state) => (state === agent ? Infinity : behaviour?.occupancy[state] ?? 0);
  return all.sort((a, b) => mass(b) - mass(a) || a - b).slice(0, MOST_BOXES).sort((a, b) => a - b);
}

/** What is better than every other behaviour in one of the two. @param {{ mean: number, tail: number }[]} points */
export function unbeaten(points) {
  return points.filter(({ mean, tail }) => !points.some((other) => other.mean <= mean && other.tail <= tail && (other.mean < mean || other.tail < tail)));
}
