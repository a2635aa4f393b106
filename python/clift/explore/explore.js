(() => {
/** @typedef {{ [key: string]: any }} Given Values of a scenario by dotted key. */
/** @typedef {{ capacity_kbps: number, goodput_kbps: number, budget: any[], moment?: any, error?: string }} Causes */
/** @typedef {{ summary: any, columns: Object<string, Float64Array>, notes: string[] }} Answer */

// `run` is no key of a scenario: the number of the run, where it is not the first.
const SIDES = ["A", "B"];
/** @type {(id: string) => any} */
const by = id => document.getElementById(id);
// A run shows its beginning first, if the whole takes longer than this (ms).
const PROMPT = 25;
// A slider rests that has not moved for so long (ms).
const REST = 150;
// What the first part of a run may take (ms), so that a drag of a slider redraws many times a second.
const PART = 12;
const SAMPLES = 400, INTERVALS = 80;
const DRAWN = ["bernoulli", "gilbert-elliott"];

// --- quantities ---

const UNITS = { "%": 0.01, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9 };
/** The number of a value such as "2 %", in the base unit; NaN if it is none. */
function amount(value) {
  if (typeof value === "number") return value;
  if (value === "unlimited") return Infinity;
  const found = /^\s*(-?[\d.]+(?:e-?\d+)?)\s*(\S*)\s*$/.exec(String(value ?? ""));
  return found ? Number(found[1]) * (UNITS[found[2]] ?? 1) : NaN;
}

const SCHEME = /^\s*(none|FEC|ARQ|HARQ)\s*(?:\((\d+)\/(\d+)(?:, *(.*))?\))?/i;
/** A scheme's parts: its kind, the data and repair LLDUs of a block, and the extra ones of a round. */
function schemeOf(text) {
  const found = SCHEME.exec(text || "none") || ["", "none"];
  const extra = /extra\s+(\d+)/.exec(found[4] || "");
  return { kind: found[1], data: Number(found[2] || 10), repair: found[3] ? Number(found[3]) - Number(found[2] || 10) : 2, extra: extra ? Number(extra[1]) : 0 };
}
function schemeText({ kind, data, repair, extra }) {
  if (kind === "FEC") return `FEC(${data}/${data + repair})`;
  if (kind === "HARQ") return `HARQ(${data}/${data + repair}${extra ? `, extra ${extra}` : ""})`;
  return kind;
}

// --- scenarios ---

/** A scenario as a tree of sections; parts of a dotted key that are numbers make lists. */
function tree(given) {
  const found = {};
  for (const [key, value] of Object.entries(given)) {
    const parts = key.split(".");
    let here = found;
    parts.forEach((part, at) => {
      if (at === parts.length - 1) here[part] = value;
      else here = here[part] ??= /^\d+$/.test(parts[at + 1]) ? [] : {};
    });
  }
  return found;
}

/** Removes from the flows what they have from the scenario, so that a change of the scenario's key reaches them. */
function withoutInherited(given) {
  const found = { ...given };
  for (const flow of flowsOf(given)) {
    const own = Object.keys(given).filter(key => key.startsWith(flow)), base = key => key.slice(flow.length);
    const isSame = key => JSON.stringify(given[key]) === JSON.stringify(given[base(key)]);
    // A flow takes an application as a whole.
    const isWhole = own.concat(Object.keys(given).map(key => flow + key)).filter(key => base(key).startsWith("application.")).every(isSame);
    for (const key of own) if (base(key).startsWith("transport.") ? isSame(key) : isWhole && base(key).startsWith("application.")) delete found[key];
  }
  return found;
}
/** The beginnings of the keys of each flow, such as "flow.0.". */
const flowsOf = given => [...new Set(Object.keys(given).flatMap(key => /^flow\.\d+\./.exec(key) ?? []))];

/** The setting of a cell, of the keys that it gives. */
function setting({ preset, runs, description, ...all }, run) {
  const given = withoutInherited(all);
  const share = given["channel.erasures"], percent = Number((100 * share).toPrecision(12));
  if (typeof share === "number" && percent / 100 === share) given["channel.erasures"] = `${percent} %`;
  return run ? { ...given, run } : given;
}

const isTable = value => value !== null && typeof value === "object" && !Array.isArray(value);
const named = key => /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
/** A value in TOML. */
function literal(value) {
  if (Array.isArray(value)) return `[${value.filter(one => one != null).map(literal).join(", ")}]`;
  if (isTable(value)) return `{ ${Object.entries(value).filter(([, one]) => one != null).map(([key, one]) => `${named(key)} = ${literal(one)}`).join(", ")} }`;
  return JSON.stringify(value);
}

/** The scenario file of what is on the screen.
 * @param {any} setting */
function toml({ run, ...given }) {
  const whole = Object.entries(tree(given)).filter(([, value]) => value != null);
  const lines = whole.filter(([, value]) => !isTable(value)).map(([key, value]) => `${named(key)} = ${literal(value)}`);
  for (const [section, values] of whole) if (isTable(values)) {
    lines.push("", `[${named(section)}]`);
    for (const [key, value] of Object.entries(values)) if (value != null) lines.push(`${named(key)} = ${literal(value)}`);
  }
  return `${lines.join("\n")}\n`;
}

// --- links ---

const written = value => {
  try { JSON.parse(value); } catch { if (typeof value === "string") return value; }
  return JSON.stringify(value);
};
const read = text => { try { return JSON.parse(text); } catch { return text; } };
const pair = (key, value) => `${encodeURIComponent(key)}=${encodeURIComponent(written(value)).replace(/%20/g, "+")}`;

/** A state as the fragment of a link: all keys of A, those of B that differ, and the instant that is explained. */
function fragment({ stop, at, A, B }) {
  const parts = stop == null ? [] : [pair("stop", stop + 1)];
  if (at != null) parts.push(pair("at", Number(at.toPrecision(7))));
  for (const [key, value] of Object.entries(A)) parts.push(pair(`A.${key}`, value));
  for (const [key, value] of Object.entries(B)) if (JSON.stringify(A[key]) !== JSON.stringify(value)) parts.push(pair(`B.${key}`, value));
  for (const key of Object.keys(A)) if (!(key in B)) parts.push(pair(`B.-${key}`, ""));
  return `#${parts.join("&")}`;
}

/** The cell and run of the study that a link names, and the instant; null if it names none. */
function runOf(text) {
  const found = new URLSearchParams(text.replace(/^#/, ""));
  const [cell, run] = ["cell", "run"].map(name => Number(found.get(name) ?? 0));
  return data.study && found.has("cell") && cell >= 0 && run >= 0 ? { cell, run, at: instantOf(found.get("at")) } : null;
}
const instantOf = text => text != null && Number(text) >= 0 ? Number(text) : null;

/** The state of a link; null if it has none. */
function stateOf(text) {
  const A = {}, changes = [];
  let stop = null, at = null;
  for (const part of text.replace(/^#/, "").split("&")) {
    const [key, value] = part.split("=").map(one => { try { return decodeURIComponent(one.replace(/\+/g, " ")); } catch { return ""; } });
    if (key === "stop" && data.stops[value - 1]) stop = value - 1;
    else if (key === "at") at = instantOf(value);
    else if (key.startsWith("A.")) A[key.slice(2)] = read(value);
    else if (key.startsWith("B.")) changes.push([key.slice(2), value]);
  }
  if (!Object.keys(A).length) return stop == null ? null : { ...stopState(stop), at };
  const B = { ...A };
  for (const [key, value] of changes) if (key.startsWith("-")) delete B[key.slice(1)]; else B[key] = read(value);
  return { stop, at, A, B };
}

/** The state of a stop of the guide. */
function stopState(stop) {
  const { A, B } = data.stops[stop];
  return { stop, at: null, A: { ...data.start, ...A }, B: { ...data.start, ...B } };
}

// --- runs ---

// Files that were dropped.
const files = new Map();

/** A thread that answers one request at a time; to cancel a request is to start another thread. */
class Thread {
  constructor(isFirst = false) {
    this.waiting = null;
    this.start(isFirst);
  }

  start(isFirst = false) {
    this.worker?.terminate();
    const worker = this.worker = threads.shift() ?? new Worker(source);
    worker.onmessage = ({ data: said }) => { if (!said.module && !said.failed) this.finish(said); };
    worker.onerror = event => { event.preventDefault(); this.finish({ fault: `the simulator stopped: ${event.message}` }); };
    // Without a module the page says so and asks nothing.
    this.ready = isFirst ? Promise.resolve() : loaded.then(it => worker.postMessage({ module: it.module, files: [...it.files, ...files] }), () => {});
  }

  /** Asks, and resolves to `{ answer, ms }`, or to null if the request is cancelled. */
  ask(name, request) {
    return new Promise(resolve => {
      this.waiting = resolve;
      const { worker } = this;
      this.ready.then(() => worker.postMessage({ name, request }));
    });
  }

  cancel() {
    this.start();
    this.finish(null);
  }

  finish(said) {
    const resolve = this.waiting;
    this.waiting = null;
    // A module that a panic ended is not used any more.
    if (said?.fault) this.start();
    resolve?.(said?.fault ? { answer: { error: said.fault }, ms: 0 } : said);
  }
}

/** One of the two settings: its scenario, its thread and its last result. */
class Side {
  constructor(name, number) {
    this.name = name;
    this.number = number;
    /** @type {Given} */
    this.given = {};
    this.thread = new Thread(number === 0);
    /** @type {Answer | null} */
    this.answer = null;
    /** @type {Causes | null} */
    this.causes = null;
    // A loss on the link of the whole run.
    this.loss = null;
    // Whether the answer is of this setting, of its whole run, and the causes are.
    this.isShown = false;
    this.isWhole = false;
    this.isExplained = false;
    this.part = null;
    this.error = "";
    this.generation = 0;
    this.isBusy = false;
    // Whether the request that runs takes long, so that a change cancels it.
    this.isLong = false;
    // Milliseconds for a second of simulated time at 1 bit/s. The first run compiles what it calls, and
    // code runs slowly before it is optimised, so it is a short one.
    this.cost = 4e-5;
  }

  rate() { return amount(this.given["channel.rate"]) || 1e6; }
  duration() { return amount(this.given.duration) || 400; }

  /** Runs the setting, a first part at once, and once sliders rest the whole with its causes; with `isSame` only what is missing. */
  async run(isSame = false) {
    this.generation++;
    this.isExplained = false;
    if (!isSame) this.isWhole = this.isShown = false;
    if (this.isLong) this.thread.cancel();
    if (this.isBusy) return;
    this.isBusy = true;
    let mine;
    do {
      mine = this.generation;
      const whole = this.duration(), expected = this.cost * this.rate() * whole, isLong = expected > PROMPT;
      if (isLong && !this.isShown) {
        this.isShown = await this.simulate(Math.max(0.02, PART / expected) * whole) && mine === this.generation;
        if (!this.isShown || this.error) continue;
      }
      if (isLong && moving) break;
      this.isLong = isLong;
      if (!this.isWhole) this.isWhole = this.isShown = await this.simulate(null) && mine === this.generation;
      if (this.isWhole && !moving) await this.explain();
      this.isLong = false;
    } while (mine !== this.generation);
    this.isBusy = false;
    redraw();
  }

  /** Whether all is there. */
  get isDone() { return !this.isBusy && !moving && (this.isExplained || Boolean(this.error)); }

  request() { return { name: this.title(), text: toml(this.given), replication: this.given.run || 0 }; }

  /** Runs the first `part` seconds, or all (null), and shows the result. Resolves to whether it was not cancelled. */
  async simulate(part) {
    const ms = Math.ceil(part * 1e3), changes = part == null ? [] : [["duration", `${ms} ms`]];
    // The channel is drawn slot by slot, by default for a minute more than the run; a packet of its end needs slots beyond.
    if (part != null && DRAWN.includes(this.given["channel.model"]) && !("channel.length" in this.given)) changes.push(["channel.length", `${ms + 1000} ms`]);
    const said = await this.thread.ask("clift_run", { ...this.request(), changes, samples: SAMPLES });
    if (!said) return false;
    const { answer, ms: took } = said;
    this.error = answer.error || "";
    this.part = part;
    if (!answer.error) {
      this.answer = answer;
      if (took > 1) this.cost = took / (this.rate() * answer.summary.duration_s);
    }
    redraw();
    return true;
  }

  /** Finds the causes of the whole run, and what they were at the instant, if it is in the run. */
  async explain() {
    const mine = this.generation, isIn = !this.error && instant != null && instant <= this.answer.summary.duration_s;
    const ask = (name, at) => this.error ? null : this.thread.ask(name, { ...this.request(), at_ns: at == null ? null : Math.round(at * 1e9) });
    const said = await ask("clift_why", isIn ? instant : null);
    this.causes = said ? said.answer : null;
    redraw();
    if (!said || mine !== this.generation) return;
    // Without an instant, when the first packets are over.
    const lost = await ask("clift_loss", isIn ? instant : this.answer.summary.duration_s / 10);
    this.loss = lost ? lost.answer : null;
    this.isExplained = mine === this.generation && Boolean(lost);
    redraw();
  }

  title() { return `setting ${this.name}`; }

  /** The setting in a few words: what differs from the other one. */
  label() {
    const [a, b] = sides.map(side => side.given);
    const keys = Object.keys({ ...a, ...b }).filter(key => JSON.stringify(a[key]) !== JSON.stringify(b[key]));
    const words = keys.filter(key => key in this.given).map(key => {
      const control = data.controls.find(one => one.key === key);
      return control?.kind === "steps" ? `${control.label.toLowerCase()} ${inWords(this.given[key])}` : inWords(this.given[key]);
    });
    return [this.name, words.slice(0, 4).join(", ")].filter(Boolean).join(": ");
  }
}

let sides, stop = null;
/** The instant that is explained, s. */
let instant = null;
// Whether a slider is being moved.
let moving = false;
/** Runs the wholes, once no slider moves. */
function rest() {
  if (!moving) return;
  moving = false;
  sides.forEach(side => { if (!side.isExplained) side.run(true); });
}

// --- controls ---

/** What stands beside the slider of a control: the value, as a file has it. */
const inWords = value => value == null ? "default" : typeof value === "string" ? value : JSON.stringify(value);

function set(side, changes) {
  for (const [key, value] of Object.entries(changes)) if (value == null) delete side.given[key]; else side.given[key] = value;
  stop = null;
  side.run();
  fill();
  settle();
}

/** A slider over the steps of a control, or over whole numbers. */
function slider(id, label, steps, get, change) {
  const said = make("output", { for: id });
  const found = make("input", { type: "range", id, min: "0", max: String(steps.length - 1), step: "1", "aria-label": label,
    oninput: () => { moving = true; change(steps[found.value]); tell(steps[found.value]); }, onchange: rest });
  const tell = value => { said.textContent = inWords(value); found.setAttribute("aria-valuetext", inWords(value)); };
  return { elements: [found, said], fill: () => {
    const value = get(), at = amount(value);
    let near = 0;
    steps.forEach((step, number) => { if (Math.abs(amount(step) - at) < Math.abs(amount(steps[near]) - at) || amount(step) === at) near = number; });
    found.value = String(near);
    tell(value);
  } };
}

function chooser(id, label, options, get, change) {
  const found = make("select", { id, "aria-label": label, onchange: () => change(options[found.value].set) },
    ...options.map((one, at) => make("option", { value: String(at) }, one.text)));
  const other = make("option", { value: "-1", disabled: true }, "other");
  return { element: found, elements: [found], fill: () => {
    const at = options.findIndex(one => Object.entries(one.set).every(([key, value]) => JSON.stringify(get(key) ?? null) === JSON.stringify(value)));
    if (at < 0) found.prepend(other); else other.remove();
    found.value = String(at);
    const profile = get("transport.profile") || "linux";
    // The kernel's TCP has controls that ns-2's has not.
    options.forEach((one, number) => { found.querySelector(`[value="${number}"]`).disabled = Boolean(one.in) && !("transport.profile" in one.set) && !one.in.includes(profile); });
  } };
}

const fields = [];
/** The fields of one control for both settings, with what the key means. */
function row(control) {
  const label = control.unit ? `${control.label} (${control.unit})` : control.label;
  const title = make("div", { class: "name" }, control.help
    ? make("details", {}, make("summary", {}, label), make("p", {}, control.help), make("p", {}, make("code", {}, control.key || "scheme")))
    : make("span", {}, label));
  const cells = sides.map(side => {
    const id = `${side.name}-${control.id}`, name = `${label}, setting ${side.name}`, get = key => side.given[key];
    let field;
    if (control.kind === "steps") {
      // A key that excludes it, such as a slot instead of a rate, stands in its place.
      const other = () => Object.keys(control.set ?? {}).find(key => control.set[key] == null && get(key) != null);
      const instead = () => other() && `${other().split(".").pop()} ${get(other())}`;
      field = slider(id, name, control.steps, () => get(control.key) ?? control.default ?? instead(), value => set(side, { ...control.set, [control.key]: value }));
    } else if (control.kind === "block") {
      const steps = Array.from({ length: control.most - control.least + 1 }, (_, at) => control.least + at);
      field = slider(id, name, steps, () => schemeOf(get("scheme"))[control.part], value => set(side, { scheme: schemeText({ ...schemeOf(get("scheme")), [control.part]: value }) }));
    } else if (control.kind === "scheme") {
      const options = ["none", "FEC", "ARQ", "HARQ"].map(kind => ({ text: kind, set: { scheme: kind } }));
      field = chooser(id, name, options, () => schemeOf(get("scheme")).kind, ({ scheme }) => set(side, { scheme: schemeText({ ...schemeOf(get("scheme")), kind: scheme }) }));
    } else field = chooser(id, name, control.options, key => get(key) ?? control.defaults?.[key], changes => set(side, {
      ...Object.fromEntries(Object.keys(side.given).filter(key => control.section && key.startsWith(`${control.section}.`)).map(key => [key, null])), ...changes }));
    const cell = make("div", { class: "field", "data-side": side.name }, ...field.elements);
    fields.push({ side, control, cell, fill: field.fill });
    return cell;
  });
  return make("div", { class: "row", id: `row-${control.id}` }, title, ...cells);
}

/** Whether a scenario such as that of a setting has a use for a control. */
function isOf({ given }, { key = "", models, without = [] }) {
  const flows = flowsOf(given), has = section => Object.keys(given).some(one => one.startsWith(`${section}.`));
  // The flows may all have other values, and datagrams have no congestion control.
  const isOther = flows.length > 0 && flows.every(flow => flow + key in given) || key.startsWith("transport.") && given["transport.protocol"] === "udp";
  return !isOther && !without.some(has) && (!models || models.includes(given["channel.model"]));
}

/** Shows what the settings have; a control that a setting has no use for is off. */
function fill() {
  for (const { side, control, cell, fill: show } of fields) {
    const { kind } = schemeOf(side.given.scheme);
    const used = isOf(side, control) && (control.kind !== "block" || kind === "HARQ" || kind === "FEC" && control.part !== "extra");
    show();
    cell.querySelectorAll("input, select").forEach(one => { one.disabled = !used; });
    cell.classList.toggle("off", !used);
  }
  for (const control of data.controls) by(`row-${control.id}`).hidden = !sides.some(side => isOf(side, control));
}

// --- results ---

const sum = (list, name) => list.reduce((total, one) => total + (one[name] || 0), 0);
const percent = share => share == null ? "" : `${shown(100 * share, 3)} %`;
/** The figures of a run: name, value, and all digits of it.
 * @type {[string, (one: any) => string, ((one: any) => number)?][]} */
const FIGURES = [
  ["Goodput (kbit/s)", one => shown(one.goodput_kbps, 4), one => one.goodput_kbps],
  ["Of the link's capacity", one => percent(one.links?.[0]?.capacity_kbps ? one.goodput_kbps / one.links[0].capacity_kbps : null)],
  ["Completion (s)", one => one.completion_s == null ? "" : shown(one.completion_s, 4), one => one.completion_s],
  ["Packet delay, mean (ms)", one => shown(one.links?.[0]?.packet_delay_ms?.mean, 4)],
  ["Packet delay, 95 % (ms)", one => shown(one.links?.[0]?.packet_delay_ms?.p95, 4)],
  ["Packets lost on the link", one => { const link = one.links?.[0]; return link?.packets_offered ? percent(link.packets_lost / link.packets_offered) : ""; }],
  ["Sent again by TCP", one => String(one.retransmissions ?? sum(one.flows, "retransmissions"))],
  ["of these in vain", one => String(sum(one.flows, "spurious_retransmissions"))],
  ["Timeouts", one => String(sum(one.flows, "timeouts"))],
  ["Window reductions", one => String(sum(one.flows, "window_reductions"))],
  ["Reductions taken back", one => String(sum(one.flows, "undo_events"))],
];

/** The rows of the figures, with a cell for each setting. */
let rows = null;
function results() {
  rows ??= FIGURES.map(([name]) => {
    const cells = sides.map(() => make("td", { class: "number" }));
    return { cells, row: make("tr", {}, make("th", { scope: "row" }, name), ...cells) };
  });
  FIGURES.forEach(([, of, all], at) => {
    const { row, cells } = rows[at];
    const texts = sides.map(({ answer, error }, number) => {
      const one = answer && !error ? answer.summary : null, text = one ? of(one) : "";
      say(cells[number], text);
      cells[number].title = one && all?.(one) || "";
      return text;
    });
    row.hidden = !texts.some(Boolean);
    if (!row.parentNode) by("results-body").append(row);
  });
  for (const side of sides) {
    say(by(`head-${side.name}`), side.label());
    const place = by(`state-${side.name}`), notes = side.answer?.notes || [];
    place.className = side.error ? "warning" : "note";
    say(place, side.error ? fault(side) : side.isWhole ? [`${side.name}: the whole ${side.given.run ? `of run ${side.given.run}` : "run"}`, ...notes].join("; ") + "." : side.answer && side.part ? `${side.name}: the first ${shown(side.part, 3)} s; the rest follows.` : `${side.name}: running.`);
  }
  by("results").setAttribute("aria-busy", String(!sides.every(side => side.isDone)));
}

/** The error of a setting, which names it once. */
const fault = ({ name, error }) => `${name}: ${error.replace(RegExp(`^setting ${name}:? `), "")}`;

/** One sentence for both settings. */
function sentence() {
  const [a, b] = sides.map(side => side.error ? null : side.answer.summary.goodput_kbps);
  if (a == null || b == null) return sides.map(side => side.error && `Setting ${fault(side)}.`).filter(Boolean).join(" ");
  const [more, less, names] = a >= b ? [a, b, "AB"] : [b, a, "BA"];
  const ratio = more / less, head = `Goodput: A ${shown(a, 4)} kbit/s, B ${shown(b, 4)} kbit/s`;
  if (!(less > 0) || ratio < 1.005) return `${head}.`;
  return `${head}: ${names[0]} has ${ratio < 2 ? `${shown(100 * (ratio - 1), 2)} % more than ${names[1]}` : `${shown(ratio, 2)} times that of ${names[1]}`}, in one run each.`;
}

/** Means over some intervals, each at its middle. */
function averaged(x, y, most) {
  const per = Math.max(1, Math.ceil((x.length - 1) / most)), found = { x: [], y: [] };
  for (let at = 1; at + per <= x.length; at += per) {
    let total = 0;
    for (let n = at; n < at + per; n++) total += y[n];
    found.x.push((x[at - 1] + x[at + per - 1]) / 2);
    found.y.push(total / per);
  }
  return found;
}

/** Plots: name, title, unit, what is drawn, and its places and values.
 * @type {[string, string, string, string, (one: any) => { x: any, y: any }][]} */
const PLOTS = [
  ["goodput", "Goodput over time", "kbit/s", "Means over 1/80 of the run.", one => averaged(one.time_s, one.goodput_kbps, INTERVALS)],
  ["delay", "Delay of segments", "ms", "From the first transmission to the first arrival: the least and the most of each 1/400 of the run.", one => ({ x: one.arrival_s, y: one.delay_ms })],
  ["window", "Congestion window", "packets", "At 400 instants.", one => ({ x: one.time_s, y: one.cwnd_packets })],
  ["queue", "Longest queue", "packets", "At 400 instants, over the hops from sender to receiver.", one => ({ x: one.time_s, y: one.queue_packets })],
];
let plots;
const NOTHING = { x: [], y: [] };

function draw() {
  // Before the first answer both lines are there and empty: a plot is made once.
  const isFirst = sides.every(side => !side.answer), there = sides.filter(side => isFirst || side.answer && !side.error);
  const end = Math.max(...sides.map(side => side.answer?.summary.duration_s || 0));
  for (const [id, title, unit, told, of] of PLOTS) {
    const lines = there.map(side => ({ name: side.label(), colour: side.number, dash: side.number, kind: "line", ...(side.answer ? of(side.answer.columns) : NOTHING) }));
    const most = lines.map(line => `${line.name.slice(0, 1)} ${shown((lowest([line], one => [one.y]) || [0, 0])[1], 4)}`);
    plots[id].show({ title, lines, lineTitle: "setting", summary: `${told} Maximum (${unit}): ${most.join("; ") || "none"}.`,
      pick, picked: instant,
      x: { title: "time (s)", unit: "s", ends: [0, end || 1] }, y: { title: unit, zero: true } });
  }
}

// --- causes ---

// Whether the explanation of an instant is to be shown as soon as it is there.
let isPicked = false;
/** Explains an instant of both runs. */
function pick(x) {
  instant = Math.max(0, x);
  isPicked = true;
  sides.forEach(side => side.run(true));
  redraw();
  settle();
}

/** The names in two lists of the same order, in that order. */
function merged(a, b) {
  const rest = [...b];
  const found = a.flatMap(one => [...rest.splice(0, rest.indexOf(one) + 1).filter(other => other !== one), one]);
  return [...found, ...rest];
}

let told = null;
/** The use of the capacity by cause, and the instant that is explained. */
function causes() {
  const key = [theme(), ...sides.map(side => side.error ? null : side.causes)];
  for (const id of ["bars", "budget", "moment"]) by(id).classList.toggle("old", !sides.every(side => side.isDone));
  if (told?.every((one, at) => one === key[at])) return;
  told = key;
  const found = sides.map(side => side.error || side.causes?.error ? null : side.causes);
  const parts = found.map(one => one ? [{ title: "goodput", kbps: one.goodput_kbps }, ...one.budget] : []);
  const [a, b] = parts.map(list => list.map(one => one.title)), titles = merged(a, b);
  // Neighbours differ; green is for the goodput alone.
  const ink = title => colour(title === "goodput" ? 2 : [0, 1, 3, 4, 5, 6][titles.indexOf(title) % 6]);
  const painted = (tag, title, ...children) => { const one = make(tag, {}, ...children); one.style.background = ink(title); return one; };
  by("bars").replaceChildren(...sides.map((side, at) => make("div", {}, make("strong", {}, side.name), make("div", { class: "bar" }, ...parts[at].map(part => {
    const one = painted("span", part.title, part.kbps > 0.12 * found[at].capacity_kbps ? part.title : "");
    one.style.flexGrow = String(part.kbps);
    return one;
  })))));
  const row = (head, values) => make("tr", {}, make("th", { scope: "row" }, ...head), ...values.flatMap(([kbps, capacity]) =>
    [shown(kbps, 4), kbps == null ? "" : `${(100 * kbps / capacity).toFixed(1)} %`].map(text => make("td", { class: "number" }, text))));
  const values = title => found.map((one, at) => [one && (parts[at].find(part => part.title === title)?.kbps ?? 0), one?.capacity_kbps]);
  by("budget-body").replaceChildren(...titles.map(title => row([painted("i", title), title], values(title))),
    row(["capacity"], found.map(one => [one?.capacity_kbps, one?.capacity_kbps])));
  by("moment").replaceChildren(...sides.flatMap((side, at) => moment(side, found[at])));
  if (isPicked && sides.every(side => side.isDone)) {
    isPicked = false;
    by("moment").scrollIntoView({ block: "nearest" });
  }
}

/** What kept the senders of a setting from sending at the instant. */
function moment(side, found) {
  const one = found?.moment, where = instant == null ? "" : `${shown(instant, 5)} s`;
  if (!one) return side.causes?.error ? [make("p", { class: "note" }, `${side.name}: ${side.causes.error}.`)]
    : instant != null && found ? [make("p", { class: "note" }, `${side.name}: its run ends before ${where}.`)] : [];
  return [make("div", { "data-side": side.name }, make("h4", {}, `${side.name} at ${where}`),
    make("p", {}, `From ${one.from_s.toFixed(2)} to ${one.until_s.toFixed(2)} s, ${percent(one.idle_share)} of the capacity was idle.`),
    ...one.senders.flatMap(({ flow, name, connection, title, cut }) => [
      make("p", {}, `Flow ${name ?? flow}${connection ? `, connection ${connection}` : ""}: ${title}`),
      ...(cut ? [make("ol", {}, ...cut.events.map(({ at_s, text }) => make("li", {}, make("time", {}, `${at_s.toFixed(3)} s`), make("span", {}, text)))),
        make("p", { class: "note" }, `Estimated cost of this cut alone: ${shown(cut.cost_kbps, 4)} kbit/s of the run (${percent(cut.cost_kbps / found.capacity_kbps)}).`)] : []),
    ]))];
}

// --- a loss on the link ---

/** The figures of a loss: its units on the link, and the segments of its flow.
 * @type {[string, string, string, (columns: any) => any[]][]} */
const LOSSES = [["units", "units on the link", "LLDU, by number", unitLines], ["segments", "segments of TCP", "sequence number (kB)", segmentLines]];
let lost = null;
/** Draws a loss in both runs: the units and the segments until its receipt. */
function losses() {
  const key = sides.map(side => side.error ? null : side.loss);
  by("losses").classList.toggle("old", !sides.every(side => side.isDone));
  if (lost?.every((one, at) => one === key[at])) return;
  lost = key;
  for (const side of sides) {
    const found = side.error ? null : side.loss, columns = found?.columns;
    const span = columns && lowest([columns], one => [one.time, one.arrival, one.segment_time]);
    for (const [id, title, unit, of] of LOSSES) {
      const lines = columns ? of(columns) : [], place = by(`figure-${id}-${side.name}`);
      // Without a loss the first figure says why.
      place.classList.toggle("empty", !columns);
      place.hidden = !columns && id !== LOSSES[0][0];
      plots[`${id}-${side.name}`].show({ title: `${side.name}: ${title}`, lines, lineTitle: "event", summary: columns ? lossWords(found, id, lines) : noLoss(side), pick, picked: found?.at_s,
        x: { title: "time (s)", unit: "s", ends: span }, y: { title: unit } });
    }
  }
}

/** What a figure of a loss shows, in words. */
function lossWords({ at_s, received_s, seq }, id, lines) {
  const counts = lines.filter(({ name }) => !/arrival|acknowledged/.test(name)).map(({ name, x }) => `${name} ${x.length}`).join(", ");
  return id === "units" ? `At ${shown(at_s, 6)} s a unit of the segment at byte ${seq} is erased. ${received_s == null ? "The segment does not arrive" : `The segment arrives ${shown(1e3 * (received_s - at_s), 4)} ms later`}. Units in view: ${counts}.` : `Segments in view: ${counts}.`;
}

function noLoss(side) {
  if (side.error || !side.loss) return "";
  const { error } = side.loss;
  return error ? `${error}.` : side.given["link.live"] ? "The link erases no unit with data from that time on." : "Only a live link tells what it sends, unit by unit.";
}

let drawing = false;
/** Draws both settings as soon as the browser can. */
function redraw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    if (!sides.every(side => side.answer || side.error)) return;
    results();
    draw();
    causes();
    losses();
    const count = Number(root.dataset.draws || 0) + 1;
    root.dataset.draws = String(count);
    root.dataset.first ??= String(Math.round(performance.now()));
    const done = sides.every(side => side.isDone);
    root.dataset.done = String(done);
    if (done) by("told").textContent = sentence();
  });
}

// --- the scenario and the link ---

let settling = 0;
/** Writes the scenarios and the address, once a slider rests. */
function settle() {
  root.dataset.done = "false";
  clearTimeout(settling);
  settling = setTimeout(() => {
    rest();
    history.replaceState(null, "", fragment(state()));
    texts();
  }, REST);
}
/** @type {() => any} */
const state = () => ({ stop, at: instant, ...Object.fromEntries(sides.map(side => [side.name, side.given])) });

function texts() {
  for (const side of sides) by(`text-${side.name}`).value = toml(side.given);
  guide();
}

function copied(text, what) {
  const told = () => { by("told").textContent = `${what} is in the clipboard.`; };
  navigator.clipboard?.writeText(text).then(told, () => { by("told").textContent = `The browser does not allow it: select ${what.toLowerCase()} and copy it.`; });
}

/** Shows a state and runs it. The answers are of these runs, if they are known: then only the causes are missing.
 * @param {any} state
 * @param {Answer[]} answers */
function show(state, answers = []) {
  stop = state.stop;
  instant = state.at;
  sides.forEach((side, at) => {
    side.given = { ...state[side.name] };
    if (answers[at]) side.answer = answers[at];
    side.isWhole = side.isShown = Boolean(answers[at]);
    side.run(side.isWhole);
  });
  root.dataset.done = "false";
  fill();
  texts();
}

/** Takes a scenario file: a cell of it for each of these settings. */
let reader = null;
async function take({ name, text, changes = [] }, of, cells = [0, 1], run = 0) {
  reader ??= new Thread();
  for (const side of of) {
    const cell = cells[side.number];
    let { answer } = await reader.ask("clift_check", { name, text, changes, cell });
    if (answer.error && cell) ({ answer } = await reader.ask("clift_check", { name, text, changes }));
    if (answer.error) {
      // The faulty text stays, to be corrected.
      for (const one of of) one.error = answer.error;
      return redraw();
    }
    side.error = "";
    side.given = setting(answer.given, run);
    stop = null;
    side.run();
    study({ name, text, changes }, answer, cells);
  }
  fill();
  settle();
}

/** Takes a run of the study as both settings, so that one can be changed beside the other. */
function takeRun({ cell, run, at }) {
  instant = at;
  return take(data.study, sides, [cell, cell], run);
}

/** Lists the cells of a study, for each setting. */
function study(of, { cells, labels }, shownCells) {
  const place = by("study");
  place.hidden = cells < 2;
  if (cells < 2) return;
  const selects = place.getElementsByTagName("select");
  if (place.dataset.text !== of.text) {
    place.dataset.text = of.text;
    place.replaceChildren();
    const options = labels.map(one => one.map(([axis, label]) => `${axis} ${label}`).join(", "));
    for (const side of sides) select(place, `Cell of ${of.name} as ${side.name}`, options, 0,
      () => take(of, [side], Array.from(selects, one => Number(one.value))));
  }
  Array.from(selects, (one, at) => {
    const cell = String(Math.min(shownCells[at], cells - 1));
    // Of a large study only the first cells are listed.
    if (!one.querySelector(`[value="${cell}"]`)) one.append(make("option", { value: cell }, `cell ${cell}`));
    one.value = cell;
  });
}

/** Uses a file: a scenario, one that a setting names, or a trace in place of the channel. */
async function use(file) {
  await loaded;
  const content = new Uint8Array(await file.arrayBuffer());
  if (file.name.endsWith(".toml")) return take({ name: file.name, text: new TextDecoder().decode(content) }, sides);
  const name = sides.flatMap(side => Object.values(side.given)).find(value => `/${value}`.endsWith(`/${file.name}`));
  files.set(name ?? file.name, content);
  for (const side of sides) {
    const kept = Object.entries(side.given).filter(([key]) => !/^(channel|trace)\./.test(key));
    if (!name) side.given = { ...Object.fromEntries(kept), "trace.file": file.name, "link.wrap": true };
    side.generation++;
    side.thread.cancel();
    side.run();
  }
  stop = null;
  fill();
  settle();
}

// --- the guide ---

function guide() {
  by("stops").querySelectorAll("a").forEach((link, at) => { if (at === stop) link.setAttribute("aria-current", "step"); else link.removeAttribute("aria-current"); });
  const one = data.stops[stop];
  by("stop").hidden = !one;
  if (one) by("stop").replaceChildren(make("h3", {}, `${stop + 1}. ${one.title}`), make("p", {}, one.text),
    ...(stop + 1 < data.stops.length ? [make("p", {}, make("a", { href: fragment(stopState(stop + 1)) }, `Next: ${data.stops[stop + 1].title}`))] : []));
}

// --- the page ---

async function begin() {
  by("stops").append(...data.stops.map((one, at) => make("li", {}, make("a", { href: fragment(stopState(at)) }, one.title))));
  sides = SIDES.map((name, number) => new Side(name, number));
  by("controls").append(...data.controls.map(row));
  const told = ", Enter explains what is read";
  plots = Object.fromEntries([...PLOTS.map(([id]) => [id, figure(by("figures"), `figure-${id}`, told)]),
    ...SIDES.flatMap(side => LOSSES.map(([id]) => [`${id}-${side}`, figure(by("losses"), `figure-${id}-${side}`, told)]))]);
  loaded.catch(error => { by("told").textContent = `The simulator does not start in this browser: ${error.message}`; });
  const asked = stateOf(location.hash), run = runOf(location.hash);
  if (asked) show(asked);
  else if (run) await takeRun(run);
  else if (data.study) await take(data.study, sides);
  else show(stopState(0), data.first);
  if (sides.every(side => side.answer)) redraw(); else draw();
  addEventListener("hashchange", () => {
    const asked = stateOf(location.hash), run = runOf(location.hash);
    if (asked) show(asked); else if (run) takeRun(run);
  });
  for (const side of sides) {
    by(`text-${side.name}`).addEventListener("change", event => take({ name: side.title(), text: event.target.value }, [side], [0, 0]));
    by(`copy-${side.name}`).addEventListener("click", () => copied(by(`text-${side.name}`).value, `The scenario of ${side.name}`));
  }
  by("copy-link").addEventListener("click", () => copied(location.href.replace(/#.*/, "") + fragment(state()), "The link"));
  by("same").addEventListener("click", () => show({ stop: null, at: instant, A: sides[0].given, B: sides[0].given }));
  by("swap").addEventListener("click", () => show({ stop: null, at: instant, A: sides[1].given, B: sides[0].given }));
  by("file").addEventListener("change", event => { if (event.target.files[0]) use(event.target.files[0]); });
  addEventListener("dragover", event => event.preventDefault());
  addEventListener("drop", event => { event.preventDefault(); if (event.dataTransfer.files[0]) use(event.dataTransfer.files[0]); });
  // The colours of the bars follow the theme.
  figures.push({ recolour: causes, print() {} });
  root.dataset.ready = String(Math.round(performance.now()));
}
begin();
})();
