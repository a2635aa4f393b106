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

let engine = null;
if (typeof onmessage !== "undefined") onmessage = ({ data }) => {
  if (data.module) {
    engine = new WebAssembly.Instance(data.module, {}).exports;
    for (const [name, content] of data.files) addFile(engine, name, content);
    return;
  }
  const begin = performance.now();
  try {
    const answer = ask(engine, data.name, data.request);
    postMessage({ id: data.id, answer, ms: performance.now() - begin });
  } catch (error) {
    postMessage({ id: data.id, fault: fault(engine) || `the simulator stopped: ${error.message}` });
  }
};
