// The library in a thread of its own: questions in, answers out. One at a time; who wants another answer sooner ends the thread.
/** @type {any} */
let library = null;
self.onmessage = async ({ data }) => {
  if (data.module) {
    const instance = await WebAssembly.instantiate(data.module, {});
    library = instance.exports;
    self.postMessage({ ready: true });
    return;
  }
  const { number, question } = data;
  try {
    const bytes = new TextEncoder().encode(question);
    const place = library.room(bytes.length);
    new Uint8Array(library.memory.buffer, place, bytes.length).set(bytes);
    const answer = library.ask(place, bytes.length) >>> 0;
    const length = new DataView(library.memory.buffer).getUint32(answer, true);
    const text = new TextDecoder().decode(new Uint8Array(library.memory.buffer, answer + 4, length));
    library.give_back(answer, length + 4);
    self.postMessage({ number, answer: JSON.parse(text) });
  } catch (error) {
    // A trap leaves the memory in an unknown state: the thread is not used again.
    self.postMessage({ number, broken: String(error) });
  }
};
