// @ts-check
import { blockOf, boxesOf, inBlocks, MOST_CELLS, unbeaten } from "./coarse.js";
import { INKS } from "./inks.js";
/**
 * Interactive views of what comes of an attitude to risk: pure functions from plain data to SVG elements. The studio and the
 * reports share them; nothing here computes anything but where ink goes. Colours are those of `inks.js`; scales and number formats are
 * defined here.
 *
 * Data, all of it plain JSON:
 *
 * Problem   { states: [name], actions: [name], place_of_state: [cell or null] or null, scene: Scene, horizon }
 * Scene     { kind: "grid", rows, columns, cells: [index of terrain], terrains: [Terrain], start: cell, path: [cell] }
 *           { kind: "graph", positions: [[x, y]] or null, edges: [[state, action, next, probability]] or null }
 * Terrain   { symbol, name, wall, start, home, resource, enemy, sticky, one_way: action or null, absorbing, cost }
 * Distribution { mean, low, high, median, quantile95, count, outcomes: [[cost, probability]] }     costs ascending
 * Behaviour Distribution and { tail, occupancy: [per place], actions: [per place, per action], first: [[state, action]],
 *           features: [{ name, value }] }          a place is a cell of a grid or a state of a graph
 * Level     { risk: "erm:1", measure: "erm", level: number or "Infinity", value, value_low, value_high, exact, behaviour: Behaviour,
 *           intervals: { mean: [low, high], tail: [low, high] } (sampled only), bound: { value, method } (sampled only), runs, simulations (sampled only) }
 *
 * Every view is a function `(data, options) => SVGSVGElement` with a `viewBox` and an `aria-label`. `options.width` is in CSS pixels.
 *
 * @typedef {{ mean: number, low: number, high: number, median: number, quantile95: number, count: number,
 *   outcomes: [number, number][] }} Distribution
 * @typedef {Distribution & { tail: number, occupancy: number[], actions: number[][], first: [number, number][],
 *   features: { name: string, value: number }[] }} Behaviour
 * @typedef {{ risk: string, measure: string, level: number | string, value: number, value_low: number, value_high: number,
 *   exact: boolean, number?: number, behaviour: Behaviour, intervals?: { mean: [number, number], tail: [number, number] },
 *   bound?: { value: number, method: string }, runs?: number, simulations?: number, because?: string }} Level
 * @typedef {{ symbol: string, name: string, wall: boolean, start: boolean, home: boolean, resource: string | null,
 *   enemy: number | null, sticky: [number, number] | null, one_way: number | null, absorbing: boolean, cost: number }} Terrain
 * @typedef {{ kind: "grid", rows: number, columns: number, cells: number[], terrains: Terrain[], start: number, path: number[] }} Grid
 * @typedef {{ kind: "graph", positions: [number, number][] | null, edges: [number, number, number, number][] | null }} Graph
 * @typedef {{ states: string[], actions: string[], place_of_state: (number | null)[] | null, scene: Grid | Graph,
 *   horizon: number }} Drawn
 */

/** @typedef {typeof INKS.light} Inks */

const NAMESPACE = "http://www.w3.org/2000/svg";
/** An SVG element. @param {string} name @param {Record<string, string | number>} [attributes] @param {(Node | string)[]} [children] */
export function svg(name, attributes = {}, children = []) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, typeof value === "number" ? String(Math.round(value * 100) / 100) : value);
  element.append(...children);
  return element;
}

/** A drawing of this size. @param {number} width @param {number} height @param {string} label @param {Inks} inks */
export function drawing(width, height, label, inks) {
  const root = svg("svg", {
    xmlns: NAMESPACE, viewBox: `0 0 ${Math.round(width)} ${Math.round(height)}`, role: "img", "aria-label": label,
    "font-family": "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif", "font-size": 12, fill: inks.ink,
  });
  return /** @type {SVGSVGElement} */ (root);
}

/** A number for people: four digits that count. @param {number | string | null | undefined} value */
export function words(value) {
  const number = typeof value === "string" ? Number(value) : value;
  if (number === null || number === undefined || Number.isNaN(number)) return "unknown";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size < 1e5 && size >= 1e-4) return Number(number.toPrecision(4)).toString().replace("-", "−");
  const [digits, power] = number.toExponential(2).split("e");
  const raised = [...String(Number(power))].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)])).join("");
  return `${Number(digits)}·10${raised}`.replace("-", "−");
}

/** A share for people. @param {number} share */
export function percent(share) {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "below 0.1 %";
  if (value < 100 && value > 99.9) return "above 99.9 %";
  return `${Number(value.toFixed(value < 10 ? 1 : 0))} %`;
}

/** From values to places. @param {[number, number]} domain @param {[number, number]} range @returns {(value: number) => number} */
export function scale([low, high], [from, to]) {
  const spread = high > low ? high - low : 1;
  const shift = high > low ? 0 : 0.5;
  return (value) => from + ((value - low) / spread + shift) * (to - from);
}

/** About so many round numbers between two. @param {number} low @param {number} high @param {number} count @returns {number[]} */
export function ticks(low, high, count) {
  // What differs by rounding only has no numbers between.
  if (!(high - low > 1e-12 * Math.max(Math.abs(low), Math.abs(high)))) return [low];
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 2.5, 5, 10].find((each) => each * power >= raw * 0.999) ?? 10) * power;
  const all = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) all.push(Number((k * step).toPrecision(12)));
  // One number alone is no scale.
  return all.length < 2 && count < 9 ? ticks(low, high, count + 1) : all;
}

/** @param {string} colour */
const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

/** A colour between paper and full, for an occupancy. @param {Inks} inks @param {number} share in [0, 1] @param {"a" | "b" | "mark"} which */
export function shade(inks, share, which = "a") {
  const [from, to] = [channels(inks.floor), channels(inks[which])];
  const part = Math.max(0, Math.min(1, share)) ** 0.6; // little is still seen
  return `#${from.map((value, k) => Math.round(value + (to[k] - value) * part).toString(16).padStart(2, "0")).join("")}`;
}

/** Ink that is read on a colour. @param {string} colour @param {Inks} inks */
function inkOn(colour, inks) {
  const [red, green, blue] = channels(colour);
  const bright = 0.299 * red + 0.587 * green + 0.114 * blue > 140;
  return bright === (inks.paper === INKS.light.paper) ? inks.ink : inks.paper;
}

/** What a terrain looks like where nothing else is told. @param {Terrain} terrain @param {Inks} inks */
function ground(terrain, inks) {
  if (terrain.wall) return inks.wall;
  if (terrain.start || terrain.home) return shade(inks, 0.3, "mark");
  if (terrain.sticky || terrain.enemy !== null || terrain.absorbing || terrain.cost > 0) return shade(inks, 0.25, "b");
  return terrain.name === "floor" ? inks.floor : shade(inks, 0.12, "a");
}

/** @param {SVGElement} root @param {number} x @param {number} y @param {string} content @param {Record<string, string | number>} more */
function label(root, x, y, content, more = {}) {
  root.append(svg("text", { x, y, "paint-order": "stroke", ...more }, [content]));
}

/**
 * The axes of a plot of this size; returns where the data go.
 * @param {SVGSVGElement} root @param {{ width: number, height: number, x: [number, number], y: [number, number], xName: string,
 *   yName: string, inks: Inks }} frame
 */
function axes(root, { width, height, x, y, xName, yName, inks }) {
  const box = { left: 46, right: width - 12, top: 22, bottom: height - 36 };
  const [toX, toY] = [scale(x, [box.left, box.right]), scale(y, [box.bottom, box.top])];
  for (const value of ticks(y[0], y[1], 4)) {
    root.append(svg("line", { x1: box.left, x2: box.right, y1: toY(value), y2: toY(value), stroke: inks.grid }));
    label(root, box.left - 6, toY(value) + 4, words(value), { "text-anchor": "end", fill: inks.muted, "font-size": 11 });
  }
  for (const value of ticks(x[0], x[1], Math.max(2, Math.floor((box.right - box.left) / 90)))) {
    root.append(svg("line", { x1: toX(value), x2: toX(value), y1: box.bottom, y2: box.bottom + 4, stroke: inks.muted }));
    label(root, toX(value), box.bottom + 16, words(value), { "text-anchor": "middle", fill: inks.muted, "font-size": 11 });
  }
  root.append(svg("line", { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom, stroke: inks.muted }));
  label(root, (box.left + box.right) / 2, height - 5, xName, { "text-anchor": "middle", fill: inks.muted });
  label(root, 4, 10, yName, { fill: inks.muted, "font-size": 11 });
  return { ...box, toX, toY };
}

/** Stems where there are few costs, else bars, the same for every distribution. @param {Distribution} distribution @param {[number, number]} domain @param {number} most */
function stretches(distribution, [low, high], most) {
  const inside = distribution.outcomes.filter(([cost]) => cost >= low - 1e-12 * Math.abs(low) && cost <= high + 1e-12 * Math.abs(high));
  if (inside.length <= most) return inside.map(([cost, p]) => ({ from: cost, to: cost, p }));
  const width = (high - low) / most;
  const sums = Array.from({ length: most }, () => 0);
  for (const [cost, p] of inside) sums[Math.min(most - 1, Math.max(0, Math.floor((cost - low) / width)))] += p;
  return sums.map((p, k) => ({ from: low + k * width, to: low + (k + 1) * width, p })).filter(({ p }) => p > 0);
}

/**
 * Distributions of the cost: the first in full colour, a second one beside it.
 * @param {{ distribution: Distribution, name: string, tail?: number }[]} distributions one or two
 * @param {{ width: number, height?: number, inks: Inks, domain: [number, number], mark?: { cost: number, name: string }, played?: boolean }} options
 */
export function distributionView(distributions, { width, height = 230, inks, domain, mark, played = false }) {
  const spoken = distributions.map(({ distribution, name }) => `${name}: mean ${words(distribution.mean)}, from ${words(distribution.low)} to ${words(distribution.high)}`);
  const root = drawing(width, height, `Distribution of the cost. ${spoken.join("; ")}`, inks);
  const many = distributions.some(({ distribution }) => distribution.outcomes.length > 48);
  const bars = Math.max(16, Math.min(48, Math.floor(width / 14)));
  const all = distributions.map(({ distribution }) => stretches(distribution, domain, many ? bars : 48));
  const top = Math.max(1e-9, ...all.flat().map(({ p }) => p));
  const pad = many ? 0 : 0.03 * (domain[1] - domain[0]);
  const x = /** @type {[number, number]} */ ([domain[0] - pad, domain[1] + pad]);
  const { toX, toY, bottom, top: above } = axes(root, {
    width, height, x, y: [0, top * 1.08], xName: "cost (lower is better)", yName: played ? "share of the episodes" : "probability", inks,
  });
  distributions.forEach((_, which) => {
    const colour = which === 0 ? inks.a : inks.b;
    const shift = distributions.length > 1 ? (which === 0 ? -2.5 : 2.5) : 0;
    for (const { from, to, p } of all[which]) {
      const title = svg("title", {}, [from === to ? `cost ${words(from)}: ${percent(p)}` : `cost ${words(from)} to ${words(to)}: ${percent(p)}`]);
      if (from === to) {
        const at = toX(from) + shift;
        const dash = /** @type {Record<string, string>} */ (which === 1 ? { "stroke-dasharray": "5 2" } : {});
        root.append(svg("g", {}, [title,
          svg("line", { x1: at, x2: at, y1: bottom, y2: toY(p), stroke: colour, "stroke-width": 3, ...dash }),
          svg("circle", { cx: at, cy: toY(p), r: 4, fill: colour })]));
      } else {
        const [left, right] = [toX(from), toX(to)];
        const style = /** @type {Record<string, string | number>} */ (which === 0
          ? { fill: colour, "fill-opacity": distributions.length > 1 ? 0.55 : 0.85 }
          : { fill: "none", stroke: colour, "stroke-width": 2 });
        // What is rare may be what matters: it is seen, however rare.
        const tall = Math.max(2, bottom - toY(p));
        root.append(svg("g", {}, [title, svg("rect", { x: left + 0.5, width: Math.max(1, right - left - 1), y: bottom - tall, height: tall, ...style })]));
      }
    }
  });
  distributions.forEach(({ distribution, name: of, tail }, which) => {
    const colour = which === 0 ? inks.a : inks.b;
    const line = (/** @type {number} */ cost, /** @type {string} */ name, /** @type {string} */ dash) => {
      if (cost < x[0] || cost > x[1]) return;
      root.append(svg("g", {}, [svg("title", {}, [`${name} ${words(cost)}`]),
        svg("line", { x1: toX(cost), x2: toX(cost), y1: above - 4, y2: bottom, stroke: colour, "stroke-width": 1.5, "stroke-dasharray": dash })]));
      const end = toX(cost) > width - 20 - 6.5 * name.length;
      label(root, toX(cost) + (end ? -3 : 3), above + 4 + 12 * which, name, { fill: colour, stroke: inks.paper, "stroke-width": 3, "font-size": 11, "text-anchor": end ? "end" : "start" });
    };
    line(distribution.mean, distributions.length > 1 ? `mean, ${of.split(",")[0]}` : "mean", "4 3");
    if (tail !== undefined && tail - distribution.mean > (distributions.length > 1 ? 0.4 : 0.12) * (x[1] - x[0])) line(tail, "worst 5 %", "1 3");
  });
  if (mark) {
    const at = toX(Math.max(x[0], Math.min(x[1], mark.cost)));
    root.append(svg("path", { d: `M${at - 7} ${above - 6}h14l-7 12z`, fill: inks.mark }));
    const end = at > width / 2;
    label(root, at + (end ? -10 : 10), above + 2, mark.name, { fill: inks.mark, "font-weight": 600, "text-anchor": end ? "end" : "start" });
  }
  return root;
}

/**
 * Mean against the mean of the worst 5 %, one mark for each behaviour.
 * @param {{ points: { mean: number, tail: number, name: string, exact: boolean }[], now?: { mean: number, tail: number },
 *   other?: { mean: number, tail: number }, bargain?: { mean: number, tail: number } | null }} data
 * @param {{ width: number, height?: number, inks: Inks }} options
 */
export function frontierView({ points, now, other, bargain }, { width, height = 230, inks }) {
  const [means, tails] = [points.map((point) => point.mean), points.map((point) => point.tail)];
  const root = drawing(width, height, `Mean against the worst 5 %, ${points.length} behaviours`, inks);
  if (points.length === 0) return root;
  const range = (/** @type {number[]} */ values) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const spread = high - low > 1e-9 * Math.max(Math.abs(low), Math.abs(high)) ? high - low : 0;
    const pad = 0.08 * spread || 0.05 * Math.abs(high) || 1;
    return /** @type {[number, number]} */ ([low - pad, high + pad]);
  };
  const close = [...unbeaten(points), ...[now, other, bargain].flatMap((at) => (at ? [at] : []))];
  const wide = (/** @type {number[]} */ values) => Math.max(...values) - Math.min(...values);
  const [closeMeans, closeTails] = [close.map((point) => point.mean), close.map((point) => point.tail)];
  // What is beaten in both and far away would press all others into a corner.
  const near = close.length > 1 && (wide(means) > 3 * wide(closeMeans) || wide(tails) > 3 * wide(closeTails));
  const [x, y] = near ? [range(closeMeans), range(closeTails)] : [range(means), range(tails)];
  const { toX, toY } = axes(root, { width, height, x, y, xName: "mean cost", yName: "mean of the worst 5 %", inks });
  const seen = points.filter(({ mean, tail }) => mean >= x[0] && mean <= x[1] && tail >= y[0] && tail <= y[1]);
  const away = points.length - seen.length;
  if (away > 0) label(root, width - 12, 10, `${away} that are worse in both lie outside`, { "text-anchor": "end", fill: inks.muted, "font-size": 11 });
  for (const point of seen) {
    root.append(svg("circle", { cx: toX(point.mean), cy: toY(point.tail), r: 4, fill: inks.muted, "fill-opacity": 0.75 }, [
      svg("title", {}, [`${point.name}: mean ${words(point.mean)}, worst 5 % ${words(point.tail)}`])]));
  }
  if (bargain) {
    const [left, top] = [toX(bargain.mean), toY(bargain.tail)];
    root.append(svg("path", { d: `M${left} ${top - 9}L${left + 9} ${top}L${left} ${top + 9}L${left - 9} ${top}Z`, fill: "none", stroke: inks.mark, "stroke-width": 2.5 }));
    const end = left > width * 0.6;
    label(root, left + (end ? -13 : 13), top + 4, "best bargain", { fill: inks.mark, stroke: inks.paper, "stroke-width": 4, "text-anchor": end ? "end" : "start" });
  }
  for (const [at, colour, r] of /** @type {const} */ ([[other, inks.b, 6], [now, inks.a, 6.5]])) {
    if (at) root.append(svg("circle", { cx: toX(at.mean), cy: toY(at.tail), r, fill: colour, stroke: inks.paper, "stroke-width": 1.5 }));
  }
  return root;
}

/** Where the actions of a grid point to. @type {Record<string, [number, number]>} */
const WAYS = { left: [-1, 0], up: [0, -1], right: [1, 0], down: [0, 1] };

/** An arrow through a place, or from it. @param {number} x @param {number} y @param {[number, number]} way @param {number} length @param {string} colour @param {number} width @param {boolean} from */
function arrow(x, y, [dx, dy], length, colour, width, from) {
  const [tipX, tipY] = [x + dx * length, y + dy * length];
  const head = Math.min(length, width * 2.2);
  const wing = (/** @type {number} */ side) => `${tipX - dx * head - dy * head * side} ${tipY - dy * head + dx * head * side}`;
  const tail = from ? 0 : length;
  return svg("path", { d: `M${x - dx * tail} ${y - dy * tail}L${tipX} ${tipY}M${wing(0.8)}L${tipX} ${tipY}L${wing(-0.8)}`,
    stroke: colour, "stroke-width": width, fill: "none", "stroke-linecap": "round", "stroke-linejoin": "round" });
}

/**
 * What a behaviour does in a problem: where it spends its time, and its actions there. Without a behaviour, the problem alone.
 * @typedef {{ width: number, height?: number, inks: Inks, which?: "a" | "b", behaviour?: Behaviour, name?: string, most?: number,
 *   agent?: number | null, small?: boolean, whole?: boolean }} WorldOptions   `whole`: every cell is drawn, however many
 * @param {Drawn} problem @param {WorldOptions} options
 */
export function worldView(problem, options) {
  const { scene } = problem;
  if (scene.kind === "grid") return gridView(problem, scene, options);
  return scene.positions && scene.edges ? graphView(problem, scene.positions, scene.edges, options) : stripView(problem, options);
}

/** @param {WorldOptions} options @param {string} what */
const spokenWorld = ({ behaviour, name }, what) => (behaviour ? `${what}: where time is spent and what is done${name ? `, ${name}` : ""}` : what);

/** @param {Drawn} problem @param {Grid} given @param {WorldOptions} options */
function gridView(problem, given, options) {
  const { width, height = 360, inks, which = "a", agent, small = false } = options;
  const block = options.whole ? 1 : blockOf(given, MOST_CELLS);
  const { grid, behaviour, placeOf } = block > 1 ? inBlocks(given, options.behaviour, block) : { grid: given, behaviour: options.behaviour, placeOf: (/** @type {number} */ cell) => cell };
  const size = Math.min((width - 2) / grid.columns, (height - 2) / grid.rows, 56);
  const root = drawing(grid.columns * size + 2, grid.rows * size + 2, spokenWorld(options, `Map of ${given.rows} rows and ${given.columns} columns`), inks);
  const most = (block === 1 && options.most) || Math.max(1e-12, ...(behaviour?.occupancy ?? [0]));
  const lines = (/** @type {number} */ place, /** @type {number} */ end) => (block === 1 ? String(place + 1) : `${place * block + 1} to ${Math.min(end, (place + 1) * block)}`);
  grid.cells.forEach((kind, cell) => {
    const terrain = grid.terrains[kind];
    const [x, y] = [1 + (cell % grid.columns) * size, 1 + Math.floor(cell / grid.columns) * size];
    const mass = behaviour?.occupancy[cell] ?? 0;
    const fill = behaviour && !terrain.wall ? shade(inks, mass / most, which) : ground(terrain, inks);
    const group = svg("g", { "data-cell": cell }, [
      svg("title", {}, [`${terrain.name}, row ${lines(Math.floor(cell / grid.columns), given.rows)}, column ${lines(cell % grid.columns, given.columns)}${behaviour && !terrain.wall ? `: ${percent(mass)} of the time` : ""}`]),
      svg("rect", { x, y, width: size, height: size, fill, stroke: inks.grid })]);
    const plain = terrain.name === "floor" || terrain.wall;
    if (!plain && size >= 9) {
      const letter = terrain.symbol;
      const place = behaviour && !small ? [x + 3, y + 11, "start", 10] : [x + size / 2, y + size * 0.68, "middle", Math.max(7, size * 0.5)];
      group.append(svg("text", { x: place[0], y: place[1], "text-anchor": place[2], "font-size": place[3], fill: inkOn(fill, inks), "font-weight": 600 }, [letter]));
    }
    if (behaviour && mass > 0.003 * most && !terrain.absorbing) {
      // In small cells only what is done most often; else an arrow for each, as long as it is usual.
      const masses = behaviour.actions[cell];
      const highest = Math.max(...masses);
      const taken = masses.flatMap((own, action) => {
        const way = WAYS[problem.actions[action]];
        return way && own > 0.15 * mass && (size >= 30 || own === highest) ? [{ own, way }] : [];
      });
      const several = taken.length > 1;
      for (const { own, way } of taken) group.append(arrow(x + size / 2, y + size / 2, way, several ? size * 0.42 * (own / highest) : size * 0.28, inkOn(fill, inks), size > 26 ? 2 : 1.4, several));
    }
    root.append(group);
  });
  const cell = agent === null || agent === undefined ? null : problem.place_of_state?.[agent] ?? null;
  const place = cell === null ? null : placeOf(cell);
  if (place !== null) root.append(svg("circle", { cx: 1 + ((place % grid.columns) + 0.5) * size, cy: 1 + (Math.floor(place / grid.columns) + 0.5) * size, r: size * 0.3, fill: inks.mark, stroke: inks.paper, "stroke-width": 2, class: "agent" }));
  return root;
}

/** @param {Drawn} problem @param {[number, number][]} positions @param {[number, number, number, number][]} edges @param {WorldOptions} options */
function graphView(problem, positions, edges, options) {
  const { width, inks, which = "a", behaviour, agent, small = false } = options;
  const usual = small ? 9 : 24;
  const [xs, ys] = [positions.map(([x]) => x), positions.map(([, y]) => y)];
  const ends = (/** @type {number[]} */ values) => /** @type {[number, number]} */ ([Math.min(...values), Math.max(...values)]);
  const [domainX, domainY] = [ends(xs), ends(ys)];
  const margin = usual * (small ? 2 : 2.4);
  const room = Math.max(1, width - 2 * margin);
  const unit = Math.min(small ? 34 : 120, room / Math.max(1e-9, domainX[1] - domainX[0]), ((options.height ?? 360) - 2 * margin) / Math.max(1e-9, domainY[1] - domainY[0]));
  const height = (domainY[1] - domainY[0]) * unit + 2 * margin;
  const left = (width - (domainX[1] - domainX[0]) * unit) / 2;
  // Arrows need room between neighbours.
  let near = Infinity;
  positions.forEach(([x, y], state) => {
    for (let other = 0; other < state; other += 1) near = Math.min(near, Math.hypot(x - positions[other][0], y - positions[other][1]));
  });
  const radius = Math.min(usual, Math.max(0.3 * near * unit, small ? 4 : 11));
  const centre = (/** @type {number} */ state) => [left + (xs[state] - domainX[0]) * unit, margin + (ys[state] - domainY[0]) * unit];
  const root = drawing(width, height, spokenWorld(options, `Graph of ${problem.states.length} states`), inks);
  const most = options.most ?? Math.max(1e-12, ...(behaviour?.occupancy ?? [0]));
  const colour = inks[which];
  /** @type {Map<string, { from: number, to: number, share: number, names: string[] }>} */
  const joined = new Map();
  for (const [from, action, to, p] of edges) {
    const own = behaviour ? behaviour.actions[from][action] / Math.max(1e-12, behaviour.occupancy[from]) : 0;
    const taken = behaviour && behaviour.occupancy[from] > 1e-9 ? own : 0;
    const edge = joined.get(`${from} ${to}`) ?? { from, to, share: 0, names: [] };
    edge.share = Math.max(edge.share, taken);
    edge.names.push(`${problem.actions[action]}${p < 1 ? ` (${percent(p)})` : ""}${taken > 0 ? `, taken in ${percent(taken)}` : ""}`);
    joined.set(`${from} ${to}`, edge);
  }
  for (const { from, to, share, names } of [...joined.values()].sort((a, b) => a.share - b.share)) {
    const [[x1, y1], [x2, y2]] = [centre(from), centre(to)];
    const stroke = share > 0.02 ? colour : small ? inks.muted : inks.grid;
    const thick = share > 0.02 ? 1.5 + 2.5 * share : 1.5;
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const bend = small ? 5 : (2 / 3) * radius;
    const [mx, my] = [(x1 + x2) / 2 - dy * bend, (y1 + y2) / 2 + dx * bend];
    const towards = (/** @type {number} */ x, /** @type {number} */ y) => {
      const far = Math.hypot(x - mx, y - my) || 1;
      return [x + ((mx - x) / far) * (radius + 2), y + ((my - y) / far) * (radius + 2)];
    };
    const [[ax, ay], [bx, by]] = [towards(x1, y1), towards(x2, y2)];
    const bent = Math.hypot(bx - mx, by - my) || 1;
    const [hx, hy] = [(bx - mx) / bent, (by - my) / bent];
    const head = small ? 3 : 6;
    const loop = `M${x1 - radius * 0.5} ${y1 - radius * 0.9}c${-radius * 0.5} ${-radius} ${radius * 1.5} ${-radius} ${radius} 0`;
    const curve = `M${ax} ${ay}Q${mx} ${my} ${bx} ${by}M${bx - hx * head - hy * head * 0.6} ${by - hy * head + hx * head * 0.6}L${bx} ${by}L${bx - hx * head + hy * head * 0.6} ${by - hy * head - hx * head * 0.6}`;
    root.append(svg("path", { d: from === to ? loop : curve, fill: "none", stroke, "stroke-width": small ? 1.2 : thick, "stroke-linecap": "round" },
      [svg("title", {}, [`${problem.states[from]} to ${problem.states[to]}: ${names.join("; ")}`])]));
  }
  problem.states.forEach((name, state) => {
    const [x, y] = centre(state);
    const mass = behaviour?.occupancy[state] ?? 0;
    const colour = shade(inks, mass / most, which);
    const group = svg("g", { "data-state": state }, [
      svg("title", {}, [`${name}${behaviour ? `: ${percent(mass)} of the time` : ""}`]),
      svg("circle", { cx: x, cy: y, r: radius, fill: colour, stroke: inks.muted, "stroke-width": small ? 1 : 1.5 })]);
    if (!small) {
      const ink = inkOn(colour, inks);
      const told = behaviour && radius > 18;
      const letters = Math.max(2, Math.floor((7 * radius) / usual));
      label(group, x, y + (told ? 0 : 4), name.length > letters ? `${name.slice(0, letters - 1)}…` : name, { "text-anchor": "middle", "font-weight": 600, fill: ink, "font-size": radius > 14 ? 12 : 10 });
      if (told) label(group, x, y + 13, `${Math.round(100 * mass)} %`, { "text-anchor": "middle", "font-size": 10, fill: ink });
      if (state === agent) group.append(svg("circle", { cx: x, cy: y, r: radius + 5, fill: "none", stroke: inks.mark, "stroke-width": 5, class: "agent" }));
    }
    root.append(group);
  });
  return root;
}

/** States without places: one box each. @param {Drawn} problem @param {WorldOptions} options */
function stripView(problem, options) {
  const { width, inks, which = "a", behaviour, agent, small = false } = options;
  const [box, tall] = small ? [16, 12] : [104, 46];
  const boxes = boxesOf(problem.states.length, behaviour, agent);
  const columns = Math.max(1, Math.min(Math.ceil(Math.sqrt(boxes.length) * 1.4), Math.floor((width - 2) / box)));
  const rows = Math.ceil(boxes.length / columns);
  const root = drawing(columns * box + 2, rows * tall + 2, spokenWorld(options, boxes.length < problem.states.length ? `The ${boxes.length} states with most of the time of ${problem.states.length}` : `${boxes.length} states`), inks);
  const most = options.most ?? Math.max(1e-12, ...(behaviour?.occupancy ?? [0]));
  const short = (/** @type {string} */ text, /** @type {number} */ most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  boxes.forEach((state, number) => {
    const name = problem.states[state];
    const [x, y] = [1 + (number % columns) * box, 1 + Math.floor(number / columns) * tall];
    const mass = behaviour?.occupancy[state] ?? 0;
    const group = svg("g", { "data-state": state }, [
      svg("title", {}, [`${name}${behaviour ? `: ${percent(mass)} of the time` : ""}`]),
      svg("rect", { x, y, width: box - 2, height: tall - 2, rx: 3, fill: shade(inks, (0.55 * mass) / most, which), stroke: inks.grid })]);
    if (!small) {
      label(group, x + 8, y + 18, short(name, 11), { "font-weight": 600 });
      const masses = behaviour?.actions[state] ?? [];
      const best = masses.indexOf(Math.max(0, ...masses));
      if (mass > 1e-9 && best >= 0) label(group, x + 8, y + 35, short(problem.actions[best], 14), { fill: inks.ink, "font-size": 11 });
      if (state === agent) group.append(svg("rect", { x: x + 1, y: y + 1, width: box - 4, height: tall - 4, rx: 3, fill: "none", stroke: inks.mark, "stroke-width": 4, class: "agent" }));
    }
    root.append(group);
  });
  return root;
}
