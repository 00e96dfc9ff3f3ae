// @ts-check
/** The map of a grid inside the text of its problem file: found, painted, resized. The text is the one truth; nothing else is kept. */

/** @typedef {{ lines: string[], first: number, last: number, rows: string[][] }} Found the lines of the map, `first` to before `last` */

/** @param {string} text @returns {Found | null} */
export function findMap(text) {
  const lines = text.split("\n");
  const opens = lines.findIndex((line) => /^\s*map\s*=\s*("""|''')\s*$/.test(line));
  if (opens < 0) return null;
  const quote = lines[opens].includes('"""') ? '"""' : "'''";
  const closes = lines.findIndex((line, number) => number > opens && line.trim().startsWith(quote));
  if (closes < 0) return null;
  return { lines, first: opens + 1, last: closes, rows: lines.slice(opens + 1, closes).map((line) => [...line]) };
}

/** @param {Found} found @param {string[][]} rows */
function written({ lines, first, last }, rows) {
  return [...lines.slice(0, first), ...rows.map((row) => row.join("")), ...lines.slice(last)].join("\n");
}

/**
 * The text with some cells painted. One start and one home: an older one becomes floor.
 * @param {string} text @param {[number, number][]} cells row and column @param {string} symbol @param {string} floor @param {boolean} only
 */
export function painted(text, cells, symbol, floor, only) {
  const found = findMap(text);
  if (!found) return text;
  const rows = found.rows.map((row) => (only ? row.map((other) => (other === symbol ? floor : other)) : [...row]));
  for (const [row, column] of cells) if (rows[row]?.[column] !== undefined) rows[row][column] = symbol;
  return written(found, rows);
}

/**
 * The text with one row or column more or less, at the end; what must stay is not cut off.
 * @param {string} text @param {"rows" | "columns"} what @param {1 | -1} by @param {string} floor @param {string[]} needed symbols that must stay
 * @returns {string | null}
 */
export function resized(text, what, by, floor, needed) {
  const found = findMap(text);
  if (!found) return null;
  const { rows } = found;
  const width = rows[0]?.length ?? 0;
  if (by < 0 && (what === "rows" ? rows.length : width) <= 1) return null;
  const lost = what === "rows" ? rows[rows.length - 1] : rows.map((row) => row[row.length - 1]);
  if (by < 0 && lost.some((symbol) => needed.includes(symbol))) return null;
  if (what === "rows") return written(found, by > 0 ? [...rows, Array(width).fill(floor)] : rows.slice(0, -1));
  return written(found, rows.map((row) => (by > 0 ? [...row, floor] : row.slice(0, -1))));
}

/** Terrains that can be added to a legend. @type {{ name: string, wanted: string, value: string, test: (terrain: any) => boolean }[]} */
export const ADDITIONS = [
  { name: "floor", wanted: ".", value: '"floor"', test: (terrain) => terrain.name === "floor" },
  { name: "wall", wanted: "#", value: '"wall"', test: (terrain) => terrain.wall },
  { name: "start", wanted: "S", value: '"start"', test: (terrain) => terrain.start },
  { name: "goal", wanted: "G", value: '"goal"', test: (terrain) => terrain.absorbing },
  { name: "mud", wanted: "~", value: '{ name = "mud", stuck = 0.2, unstuck = 0.3 }', test: (terrain) => terrain.sticky !== null },
  { name: "one-way left", wanted: "<", value: '{ one_way = "left" }', test: (terrain) => terrain.one_way === 0 },
  { name: "one-way up", wanted: "^", value: '{ one_way = "up" }', test: (terrain) => terrain.one_way === 1 },
  { name: "one-way right", wanted: ">", value: '{ one_way = "right" }', test: (terrain) => terrain.one_way === 2 },
  { name: "one-way down", wanted: "v", value: '{ one_way = "down" }', test: (terrain) => terrain.one_way === 3 },
];

/** The text with one more line in its legend, and the character that stands for it. @param {string} text @param {string} wanted @param {string} value @returns {[string, string] | null} */
export function withTerrain(text, wanted, value) {
  const lines = text.split("\n");
  const legend = lines.findIndex((line) => /^\s*\[legend\]\s*(#.*)?$/.test(line));
  if (legend < 0) return null;
  const taken = new Set(lines.slice(legend + 1).map((line) => /^\s*["'](.)["']\s*=/.exec(line)?.[1]).filter(Boolean));
  const symbol = [wanted, ..."abcdefghijklmnopqrstuvwxyz"].find((character) => !taken.has(character));
  if (!symbol) return null;
  lines.splice(legend + 1, 0, `"${symbol}" = ${value}`);
  return [lines.join("\n"), symbol];
}
