// @ts-check
import { fill, page, part } from "./page.js";

/** The numbers beside the lines of the text. Only those in sight are written: a text may have a million. */

/** Lines with a mark. @type {Set<number | null>} */
let markedLines = new Set();
let lineCount = 1;

/** @param {CSSStyleDeclaration} style */
const paddingOf = (style) => parseFloat(style.paddingTop) || 0;

/** How tall a line is; measured over all of them where the text is taller than its box. */
function lineHeight() {
  const box = part("source");
  const style = getComputedStyle(box);
  const tall = box.scrollHeight > box.clientHeight;
  return tall ? (box.scrollHeight - 2 * paddingOf(style)) / lineCount : parseFloat(style.lineHeight) || 20;
}

/** Marks these lines, of a text that may be new. @param {Set<number | null>} lines */
export function markLines(lines) {
  markedLines = lines;
  lineCount = page.text.split("\n").length;
  showGutter();
}

export function showGutter() {
  const box = part("source");
  const height = lineHeight();
  const first = Math.max(0, Math.floor(box.scrollTop / height) - 1);
  const last = Math.min(lineCount, first + Math.ceil((box.clientHeight || 400) / height) + 3);
  const lines = Array.from({ length: Math.max(0, last - first) }, (_, place) => {
    const number = first + place + 1;
    const line = document.createElement(markedLines.has(number) ? "b" : "span");
    line.textContent = `${markedLines.has(number) ? "▸" : ""}${number}\n`;
    return line;
  });
  const numbers = document.createElement("div");
  numbers.style.transform = `translateY(${first * height - box.scrollTop}px)`;
  numbers.append(...lines);
  fill("gutter", numbers);
}

/** Puts the cursor where something was found. @param {number} line @param {number} column */
export function goTo(line, column) {
  const box = part("source");
  const before = page.text.split("\n").slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  box.focus();
  box.setSelectionRange(before + column - 1, before + column);
  box.scrollTop = Math.max(0, (line - 4) * lineHeight());
  showGutter();
}
