// @ts-check
import { numberOf, page } from "./page.js";

/** The whole state in the address of the page, and back. */

/** @param {Uint8Array} bytes */
function encoded(bytes) {
  let text = "";
  bytes.forEach((byte) => (text += String.fromCharCode(byte)));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {Uint8Array<ArrayBuffer>} bytes @param {CompressionStream | DecompressionStream} stream */
async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/** Characters of an address that browsers keep and others take. */
const MOST_LINK = 1 << 20;

/** What follows # in the address; nothing if it would be too long. */
export async function link() {
  const state = new URLSearchParams();
  if (page.task) state.set("task", page.task);
  else {
    state.set("file", page.file);
    state.set("text", encoded(await through(new TextEncoder().encode(page.text), new CompressionStream("deflate-raw"))));
  }
  if (page.measure !== "erm") state.set("measure", page.measure);
  if (page.a) state.set("risk", page.a);
  if (page.comparing) state.set("with", page.b);
  if (page.dark) state.set("theme", "dark");
  const { number, step, actions } = page.episode;
  if (number > 0) state.set("episode", String(number));
  if (actions) state.set("played", actions.join("."));
  else if (step > 0) state.set("step", String(step));
  const text = `#${state}`;
  return text.length > MOST_LINK ? null : text;
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let later;

/** The file whose state is in the address. @type {string | null} */
let writtenFile = null;

/** Writes the state into the address, soon. Another problem is another page to go back from. */
export function remember() {
  clearTimeout(later);
  later = setTimeout(async () => {
    const { file } = page;
    const address = (await link()) ?? "#";
    if (writtenFile === null || writtenFile === file) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    writtenFile = file;
  }, 200);
}

const MEASURES = ["erm", "cvar", "evar"];

/** The attitude of a link, or nothing if it is none of this measure. @param {string | null} risk @param {string} measure */
function attitudeIn(risk, measure) {
  if (risk === null) return "";
  if (["best", "mean", "worst"].includes(risk)) return measure === "erm" ? risk : "";
  const number = numberOf(risk);
  const fits = measure === "erm" || (number >= 0 && number <= 1);
  return risk.startsWith(`${measure}:`) && !Number.isNaN(number) && fits ? risk : "";
}

/** What an address says. @param {string} hash @returns {Promise<{ task: string | null, file: string, text: string | null, measure: string, risk: string, other: string | null, dark: boolean | null,
 *   episode: typeof page.wanted } | null>} */
export async function followed(hash) {
  const state = new URLSearchParams(hash.replace(/^#/, ""));
  if (!state.has("task") && !state.has("text")) return null;
  const packed = state.get("text");
  let text = null;
  if (packed !== null) {
    const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
    text = new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
  }
  const whole = (/** @type {string | null} */ text) => (/^\d{1,9}$/.test(text ?? "") ? Number(text) : 0);
  const played = state.get("played");
  const measure = MEASURES.find((own) => own === state.get("measure")) ?? "erm";
  const actions = played === null ? null : played.split(".").filter(Boolean).map(whole);
  return {
    episode: { number: whole(state.get("episode")), step: whole(state.get("step")), actions },
    task: state.get("task"), file: state.get("file") ?? "mine.toml", text, measure,
    risk: attitudeIn(state.get("risk"), measure), other: state.has("with") ? attitudeIn(state.get("with"), measure) : null, dark: state.has("theme") ? state.get("theme") === "dark" : null,
  };
}
