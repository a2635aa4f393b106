"use strict";
// The threads of both settings start while the page is read, and the first one unpacks and compiles the module.

const data = JSON.parse(document.getElementById("data").textContent);
const script = (...more) => URL.createObjectURL(new Blob([document.getElementById("worker").textContent, ...more], { type: "text/javascript" }));
const source = script();
// What the first one needs is in its script: a message would wait until the page is built.
const threads = [new Worker(script(`begin(${JSON.stringify({
  packed: document.getElementById("module").textContent, files: Object.entries(data.study?.files ?? {}),
  // A run that nobody sees: a browser compiles a function when it is called first, which takes longer than to run it.
  first: { text: "", changes: Object.entries({ ...data.start, duration: "3 s", "channel.length": "4 s" }).map(([key, value]) => [key, String(value)]) },
})});`)), new Worker(source)];
/** The module and the files of the study, for all other threads.
 * @type {Promise<{ module: WebAssembly.Module, files: [string, Uint8Array][] }>} */
const loaded = new Promise((resolve, reject) => {
  threads[0].addEventListener("message", ({ data: said }) => { if (said.module) resolve(said); else if (said.failed) reject(Error(said.failed)); });
});
