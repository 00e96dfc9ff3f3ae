// @ts-check
/** The library in threads of its own, so that nothing freezes. Work is cancelled by ending its thread; a warm one takes over. */

/** @returns {Promise<WebAssembly.Module>} */
async function unpacked() {
  const text = document.getElementById("module")?.textContent ?? "";
  const bytes = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/** @type {Promise<WebAssembly.Module> | null} */
let library = null;
/** @type {string | null} */
let source = null;

/** @returns {Worker} */
function thread() {
  source ??= URL.createObjectURL(new Blob([document.getElementById("worker")?.textContent ?? ""], { type: "text/javascript" }));
  const worker = new Worker(source);
  library ??= unpacked();
  library.then((module) => worker.postMessage({ module }));
  return worker;
}

/** Why there is no answer because nobody wants it any more. */
export const CANCELLED = "cancelled";

/** One thread and what it is asked. */
export class Engine {
  constructor() {
    this.worker = thread();
    this.spare = /** @type {Worker | null} */ (null);
    this.next = 0;
    /** @type {Map<number, { resolve: (answer: any) => void, reject: (reason: Error) => void }>} */
    this.waiting = new Map();
    /** The problem that the thread has open, and whether it is to be planned: one that takes over is told first. @type {any[]} */
    this.told = [];
    this.listen();
  }

  listen() {
    this.worker.onmessage = ({ data }) => {
      if (data.ready) {
        this.spare ??= thread();
        return;
      }
      const waiting = this.waiting.get(data.number);
      this.waiting.delete(data.number);
      if (data.broken) {
        waiting?.reject(new Error(`the computation ended: ${data.broken}`));
        this.cancel();
      } else if (data.answer?.error) {
        waiting?.reject(new Error(data.answer.error));
      } else {
        waiting?.resolve(data.answer);
      }
    };
  }

  /** @param {any} question @returns {Promise<any>} */
  ask(question) {
    if (question.op === "open") this.told = [question];
    if (question.plan) this.told = [...this.told.filter((told) => told.op === "open"), question];
    this.next += 1;
    const number = this.next;
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { resolve, reject });
      const send = () => this.worker.postMessage({ number, question: JSON.stringify(question) });
      // Messages keep their order, so the module is there before the first question.
      library?.then(send, (error) => reject(new Error(`the library cannot be started: ${error}`)));
    });
  }

  /** Ends what is being computed. What was asked and not answered is refused. */
  cancel() {
    this.worker.terminate();
    for (const { reject } of this.waiting.values()) reject(new Error(CANCELLED));
    this.waiting.clear();
    this.worker = this.spare ?? thread();
    this.spare = null;
    this.listen();
    this.spare = thread();
    for (const question of [...this.told]) this.ask(question).catch(() => {});
  }

  /** Opens a problem at once: nobody wants to know more of the one before. @param {any} question @returns {Promise<any>} */
  openNow(question) {
    this.told = [];
    if (this.waiting.size > 0) this.cancel();
    return this.ask(question);
  }
}
