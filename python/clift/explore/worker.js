"use strict";
// Runs scenarios in a thread of its own: the page ends it to cancel a run. bindings/wasm describes
// the functions of the module and the form of an answer.

/** Calls a function of the module with a request and returns the bytes of its answer. */
function call(engine, name, request) {
  const place = engine.clift_input(request.length) >>> 0;
  new Uint8Array(engine.memory.buffer, place, request.length).set(request);
  const length = engine[name]() >>> 0, begin = engine.clift_output() >>> 0;
  return engine.memory.buffer.slice(begin, begin + length);
}

/** Asks for JSON ("clift_check", "clift_run"): its object, with the columns as arrays. */
function ask(engine, name, request) {
  const bytes = call(engine, name, new TextEncoder().encode(JSON.stringify(request)));
  const length = new DataView(bytes).getUint32(0, true);
  const found = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const begin = Math.ceil((4 + length) / 8) * 8;
  for (const [column, [first, count]] of Object.entries(found.columns || {}))
    found.columns[column] = new Float64Array(bytes, begin + 8 * first, count);
  return found;
}

/** Adds a file that scenarios may name. */
function addFile(engine, name, content) {
  const head = new TextEncoder().encode(`${name}\0`), whole = new Uint8Array(head.length + content.length);
  whole.set(head);
  whole.set(content, head.length);
  call(engine, "clift_add_file", whole);
}

/** The line of the panic that ended the module. */
function fault(engine) {
  try {
    const length = engine.clift_fault() >>> 0, begin = engine.clift_output() >>> 0;
    return new TextDecoder().decode(new Uint8Array(engine.memory.buffer, begin, length).slice());
  } catch {
    return "";
  }
}

/** The content of a packed text, unpacked while it is read. */
function unpacked(text, type) {
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), one => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream, { headers: { "Content-Type": type } });
}

/** The functions of a module, with files to name; a first thread is given both packed, passes them on, and makes a first run, unless it is asked already. */
async function begun({ module, packed, files, first }) {
  if (packed) {
    const compiled = WebAssembly.compileStreaming(unpacked(packed, "application/wasm"));
    files = await Promise.all(files.map(async ([name, text]) => [name, new Uint8Array(await unpacked(text, "").arrayBuffer())]));
    module = await compiled;
    postMessage({ module, files });
  }
  const engine = new WebAssembly.Instance(module, {}).exports;
  for (const [name, content] of files) addFile(engine, name, content);
  // What is wrong with it, a run that is asked for tells.
  try { if (first && !isAsked) ask(engine, "clift_run", first); } catch { /* see above */ }
  return engine;
}

let beginning = null, isAsked = false;
function begin(needed) {
  beginning = begun(needed);
  beginning.catch(error => postMessage({ failed: error.message }));
}

if (typeof onmessage !== "undefined") onmessage = async ({ data }) => {
  if (data.files) return begin(data);
  isAsked = true;
  const engine = await beginning, start = performance.now();
  try {
    const answer = ask(engine, data.name, data.request);
    postMessage({ answer, ms: performance.now() - start });
  } catch (error) {
    postMessage({ fault: fault(engine) || `the simulator stopped: ${error.message}` });
  }
};
