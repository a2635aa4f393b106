(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const axes = data.axes, places = data.places.map(numbers), runsOf = numbers(data.runs_of);
const size = runsOf.length;
const varying = axes.map((_, number) => number).filter(number => axes[number].labels.length > 1);
const metrics = data.metrics.map(one => {
  const found = { ...one };
  for (const name of ["mean", "low", "high", "median", "p95", "runs"]) found[name] = numbers(one[name]);
  return found;
});
const title = one => one.title[0].toUpperCase() + one.title.slice(1);
const nameOf = (cell, of = varying) => of.map(axis => axes[axis].names[places[axis][cell]]).join(", ");

/** The address of a run in the explorer beside this page, at an instant (s). */
const href = (cell, run = 0, at = null) => `${data.explorer}#cell=${cell}&run=${run}${at == null ? "" : `&at=${shown(at, 7)}`}`;
const opens = Boolean(data.explorer && globalThis.WebAssembly);
const enter = opens ? ", Enter goes to the runs that are read" : "";
/** The addresses of the points of a line; none without the explorer. */
const behind = of => opens ? { href: of } : {};
if (data.explorer && !opens) document.getElementById("runs-open").textContent = "Runs do not open from this page, since this browser has no WebAssembly.";

const MOST_LINES = 24;
const said = (text, count) => count > MOST_LINES ? `${text} The first ${MOST_LINES} of ${count} lines are drawn; select fewer.` : text;

/** Selected point of each axis; -1: all. */
const chosen = axes.map(() => -1);
function first(of, most) {
  let lines = 1;
  const wanted = [data.compared, ...of].filter((axis, at, all) => axis != null && of.includes(axis) && all.indexOf(axis) === at);
  const found = {};
  for (const axis of wanted) {
    const all = lines * axes[axis].labels.length <= most;
    found[axis] = all || axis === data.compared ? -1 : 0;
    if (found[axis] < 0) lines *= axes[axis].labels.length;
  }
  return found;
}

function look(cell, of, number) {
  // Colour marks the compared axis, dash and mark the other axes.
  if (data.compared == null || !of.includes(data.compared)) return { colour: number, dash: Math.floor(number / 7) % 4, mark: MARKS[Math.floor(number / 7) % 4] };
  const others = of.filter(axis => axis !== data.compared);
  const rest = others.reduce((sum, axis) => sum * axes[axis].labels.length + places[axis][cell], 0);
  return { colour: places[data.compared][cell], dash: rest % 4, mark: MARKS[rest % 4] };
}

// --- a metric against an axis ---

const mainFigure = metrics.length ? figure(document.getElementById("main-figure"), "figure-metric", enter) : null;
let metric = 0;
let along = varying.find(axis => axes[axis].condition && axes[axis].values) ?? varying.find(axis => axes[axis].values && axis !== data.compared)
  ?? varying.find(axis => axes[axis].condition) ?? varying.find(axis => axis !== data.compared) ?? varying[0] ?? null;

function against() {
  const of = varying.filter(axis => axis !== along), each = of.filter(axis => chosen[axis] < 0), one = metrics[metric];
  const axis = along == null ? null : axes[along], groups = new Map();
  for (let cell = 0; cell < size; cell++) {
    if (of.some(other => chosen[other] >= 0 && places[other][cell] !== chosen[other])) continue;
    const name = each.reduce((sum, other) => sum * axes[other].labels.length + places[other][cell], 0);
    if (!Number.isNaN(one.mean[cell])) (groups.get(name) || groups.set(name, []).get(name)).push(cell);
  }
  const all = [...groups.values()], drawnCells = all.slice(0, MOST_LINES), labels = axis ? axis.values ? null : axis.labels : ["all runs"];
  const printed = new Map(data.printed.filter(row => row[1] === one.name).map(row => [row[0], row[2]]));
  const lines = drawnCells.map((cells, number) => {
    const where = cell => !axis ? 0 : axis.values ? axis.values[places[along][cell]] : places[along][cell];
    cells.sort((a, b) => where(a) - where(b));
    // Side by side, because overlapping intervals would hide each other.
    const aside = labels && drawnCells.length > 1 ? (number / (drawnCells.length - 1) - 0.5) * Math.min(0.6, 0.12 * drawnCells.length) : 0;
    // On a numeric axis the points stay, and only the intervals shift by some pixels.
    const moved = labels ? 0 : (number - (drawnCells.length - 1) / 2) * Math.min(5, 30 / drawnCells.length);
    const part = values => values && cells.map(cell => values[cell] * one.scale);
    const x = cells.map(cell => where(cell) + aside);
    const marks = cells.map((cell, at) => [x[at], printed.get(cell) * one.scale]).filter(([, y]) => y === y);
    return { ...look(cells[0], each, number), name: nameOf(cells[0], each) || title(one), kind: labels ? "points" : "line", aside: moved, x, y: part(one.mean), ...behind(n => href(cells[n])),
      low: one.low && part(one.low), high: one.high && part(one.high), printed: marks.length ? marks : null };
  });
  const fixed = of.filter(other => chosen[other] >= 0).map(other => axes[other].names[chosen[other]]);
  const what = withUnit(title(one), one.unit), along_ = axis ? withUnit(axis.name, axis.values ? axis.unit : "") : "";
  const ranges = lines.slice(0, 6).map(line => {
    let low = 0, high = 0;
    line.y.forEach((y, n) => { if (y < line.y[low]) low = n; if (y > line.y[high]) high = n; });
    const at = n => axis ? ` (${axis.values ? `${shown(line.x[n], 4)} ${axis.unit}`.trim() : labels[Math.round(line.x[n])]})` : "";
    return low === high ? `${line.name} ${shown(line.y[low], 4)}` : `${line.name} from ${shown(line.y[low], 4)}${at(low)} to ${shown(line.y[high], 4)}${at(high)}`;
  });
  const more = lines.length > 6 ? `; and ${lines.length - 6} more lines` : "";
  const prints = lines.some(line => line.printed) ? " Diamonds: values printed in a paper." : "";
  mainFigure.show({ title: `${title(one)}${axis ? ` by ${axis.name}` : ""}${fixed.length ? `, ${fixed.join(", ")}` : ""}`, lines, lineTitle: each.map(other => axes[other].name).join(", ") || "line",
    summary: said(lines.length ? `Means with 95 % intervals, where available. ${what}: ${ranges.join("; ")}${more}.${prints}` : "No run of the selected cells has this metric.", all.length),
    x: { title: along_, labels, margin: true, at: axis && axis.values && axis.values.length <= 10 ? axis.values.slice().sort((a, b) => a - b) : null, unit: axis && axis.values ? axis.unit : "" }, y: { title: what, zero: true }, exact: labels ? 0.5 : 0 });
}

function cellTable() {
  const one = metrics[metric], rows = Array.from({ length: size }, (_, cell) => cell);
  const printed = new Map(data.printed.filter(row => row[1] === one.name).map(row => [row[0], row]));
  const number = (name, values, digits = 5) => ({ title: name, number: true, value: cell => values[cell], text: cell => shown(values[cell] * one.scale, digits) });
  const columns = (varying.length ? varying : axes.map((_, at) => at)).map(axis => ({ title: axes[axis].name,
    value: axes[axis].values ? cell => axes[axis].values[places[axis][cell]] : null, text: cell => axes[axis].labels[places[axis][cell]] }));
  const runs = one.runs || runsOf;
  columns.push({ title: "runs", number: true, value: cell => runs[cell], text: cell => String(runs[cell]) });
  for (const [part, name] of [["mean", withUnit(title(one), one.unit)], ["low", "95 % from"], ["high", "to"], ["median", "median"], ["p95", "95th percentile"]])
    if (one[part]) columns.push(number(name, one[part]));
  if (printed.size) {
    const value = cell => printed.has(cell) ? printed.get(cell)[2] : NaN;
    columns.push({ title: "printed", number: true, value, text: cell => shown(value(cell) * one.scale) },
      { title: "difference", number: true, value: cell => one.mean[cell] / value(cell) - 1, text: cell => { const off = one.mean[cell] / value(cell) - 1; return Number.isFinite(off) ? `${(off * 100).toFixed(1).replace(/^(?!-)/, "+").replace("-0.0", "0.0")} %` : ""; } },
      { title: "source", text: cell => printed.has(cell) ? printed.get(cell)[3] : "" });
  }
  Object.assign(columns[0], behind(href));
  table(document.getElementById("cells"), { caption: `${title(one)} of every cell: mean over the runs with 95 % interval`, columns, rows });
}

if (metrics.length) {
  const place = document.getElementById("choice");
  const sort = () => {
    const of = first(varying.filter(axis => axis !== along), 8);
    axes.forEach((_, axis) => { chosen[axis] = of[axis] ?? -1; });
  };
  const others = make("div", { class: "controls", id: "choice-others" });
  const fill = () => {
    others.replaceChildren();
    for (const axis of varying) if (axis !== along)
      select(others, axes[axis].name, ["each", ...axes[axis].labels], chosen[axis] + 1, value => { chosen[axis] = value - 1; against(); });
  };
  const kept = metrics.length < data.metrics_in_all ? ` (${metrics.length} of ${data.metrics_in_all})` : "";
  select(place, `Metric${kept}`, metrics.map(one => one.title === one.name ? one.name : `${title(one)} - ${one.name}`), 0, value => { metric = value; against(); cellTable(); });
  if (varying.length) select(place, "X axis", varying.map(axis => axes[axis].name), varying.indexOf(along), value => { along = varying[value]; sort(); fill(); against(); });
  place.after(others);
  sort();
  fill();
  against();
  cellTable();
} else document.getElementById("choice").textContent = "No run has finished.";

if (data.verdicts.length) {
  const names = ["condition", "best", "difference", "95 % interval", "further costs"];
  table(document.getElementById("verdicts"), { caption: "Verdicts by condition", rows: data.verdicts, per: 25,
    columns: names.map((name, at) => ({ title: name, text: row => row[at] })) });
}

// --- inside the first runs ---

const inside = document.getElementById("inside-figures"), insideChoice = document.getElementById("inside-choice");
const cellsInside = new Set([...data.series, ...data.delays, ...data.sequence].map(one => one.cell));
const insideChosen = { ...first(varying, 6) };
for (const axis of varying) if (insideChosen[axis] < 0 && axis !== data.compared && data.compared != null) insideChosen[axis] = 0;
const within = cell => varying.every(axis => insideChosen[axis] < 0 || places[axis][cell] === insideChosen[axis]);
const insideEach = () => varying.filter(axis => insideChosen[axis] < 0);
const fixedInside = () => varying.filter(axis => insideChosen[axis] >= 0).map(axis => axes[axis].names[insideChosen[axis]]).join(", ");
const decoded = new Map();
const cached = column => decoded.get(column) || decoded.set(column, numbers(column)).get(column);
const updates = [];

function lineName(one) {
  return [nameOf(one.cell, insideEach()), one.several ? `flow ${one.flow}` : ""].filter(part => part).join(", ") || "this run";
}

if (data.delays.length) {
  const plot = figure(inside, "figure-delay", enter);
  updates.push(() => {
    const found = data.delays.filter(one => within(one.cell));
    const lines = found.slice(0, MOST_LINES).map((one, number) => ({ ...look(one.cell, insideEach(), number), mark: null, kind: "step", name: lineName(one), x: cached(one.x), y: cached(one.y), ...behind(() => href(one.cell)) }));
    const quantile = (line, share) => { let n = 0; while (n < line.y.length - 1 && line.y[n] < share) n++; return shown(line.x[n], 4); };
    const range = lowest(lines, line => [line.x]) || [1, 1], log = range[0] > 0 && range[1] > 10 * range[0];
    plot.show({ title: `One-way delay of segments${fixedInside() ? `, ${fixedInside()}` : ""}`, lines, lineTitle: "cell",
      summary: said(lines.length ? `Share of segments with at most this delay, from first transmission to first arrival. Median and 95 %: ${lines.slice(0, 8).map(line => `${line.name} ${quantile(line, 0.5)} and ${quantile(line, 0.95)} ms`).join("; ")}.` : "No segment arrived in the selected cells.", found.length),
      x: { title: `one-way delay (ms${log ? ", log scale" : ""})`, log, unit: "ms" }, y: { title: "share of segments", ends: [0, 1.02] } });
  });
}
for (const [id, name, unit, told] of [["rate", "Goodput over time", "kbit/s", "Means over 1/80 of the run, or over 8 segments"], ["window", "Congestion window", "packets", "Minimum and maximum per interval"], ["queue", "Queue of the first link", "packets", "Minimum and maximum per interval"]]) {
  if (!data.series.length) continue;
  const plot = figure(inside, `figure-${id}`, enter);
  updates.push(() => {
    const found = data.series.filter(one => within(one.cell) && (id !== "queue" || one.flow === 0));
    const lines = found.slice(0, MOST_LINES).map((one, number) => ({ ...look(one.cell, insideEach(), number), mark: null, dash: one.several ? one.flow % 4 : look(one.cell, insideEach(), number).dash,
      kind: "line", name: lineName(id === "queue" ? { ...one, several: false } : one), x: cached(one[id][0]), y: cached(one[id][1]), ...behind(n => href(one.cell, 0, cached(one[id][0])[n])) }));
    const carried = new Map();
    for (const one of id === "rate" ? found : []) {
      // Of alternatives over one link, the longest run shows most of it.
      const of = nameOf(one.cell, insideEach().filter(axis => axis !== data.compared)), x = one.capacity && cached(one.capacity[0]);
      if (x && !(carried.get(of)?.x.at(-1) >= x.at(-1))) carried.set(of, { colour: 6, dash: 2, mark: null, kind: "line", name: [of, "capacity"].filter(part => part).join(", "), x, y: cached(one.capacity[1]) });
    }
    const most = lines.slice(0, 8).map(line => `${line.name} ${shown((lowest([line], one => [one.y]) || [0, 0])[1], 4)}`);
    plot.show({ title: `${name}${fixedInside() ? `, ${fixedInside()}` : ""}`, lines: [...lines, ...carried.values()], lineTitle: "cell",
      summary: said(lines.length ? `${told}. Maximum (${unit}): ${most.join("; ")}.` : "The selected cells have no data here.", found.length),
      x: { title: "time (s)", unit: "s" }, y: { title: unit, zero: true } });
  });
}
if (data.sequence.length) {
  const plot = figure(inside, "figure-sequence", enter);
  updates.push(() => {
    const found = data.sequence.filter(one => within(one.cell)), pick = Math.min(sequencePick, found.length - 1), one = found[Math.max(0, pick)];
    const chooser = document.getElementById("sequence-choice");
    chooser.replaceChildren();
    if (found.length > 1) select(chooser, "Time-sequence of", found.map(each => nameOf(each.cell)), Math.max(0, pick), value => { sequencePick = value; updates.at(-1)(); chooser.querySelector("select").focus(); });
    const lines = one ? segmentLines({ segment_time: cached(one.time), segment_kind: cached(one.kind), segment_seq: cached(one.seq) }) : [];
    for (const line of lines) if (line.mark) Object.assign(line, behind(n => href(one.cell, 0, line.x[n])));
    const [lost, again] = ["lost", "retransmitted"].map(name => lines.find(line => line.name === name)?.x.length ?? 0);
    plot.show({ title: `Time-sequence at the longest wait for an ACK${one && varying.length ? `, ${nameOf(one.cell)}` : ""}`, lines, lineTitle: "event",
      summary: !one ? "The selected cells have no data here." : one.around ? `Segments of the first flow around the loss with the longest wait: ${lost} lost, ${again} retransmitted in this window.` : "Start of the run: nothing was lost.",
      x: { title: "time (s)", unit: "s", margin: true }, y: { title: "sequence number (kB)" } });
  });
  inside.insertBefore(make("div", { class: "controls", id: "sequence-choice" }), document.getElementById("figure-sequence"));
}
if (data.units.length) {
  const chooser = make("div", { class: "controls", id: "units-choice" });
  inside.append(chooser);
  const plot = figure(inside, "figure-units", enter);
  const draw = pick => {
    const one = data.units[pick], columns = Object.fromEntries(["time", "arrival", "kind", "asked", "number", "ours"].map(name => [name, cached(one[name])]));
    const { time, arrival, kind } = columns;
    const lines = unitLines(columns).map(line => ({ ...line, ...behind(n => href(one.cell, 0, line.x[n])) }));
    const count = wanted => { let found = 0; for (let n = 0; n < time.length; n++) if (wanted(n)) found++; return found; };
    plot.show({ title: `A loss on the link and its repair${varying.length ? `, ${nameOf(one.cell)}` : ""}`, lines, lineTitle: "unit",
      summary: `Units of the link around its first repaired loss, by number of the ${one.unit}: ${count(n => kind[n] === 0)} first transmissions, ${count(n => kind[n] === 1)} retransmissions, ${count(n => kind[n] === 2)} repair units; ${count(n => Number.isNaN(arrival[n]))} erased.`,
      x: { title: "time (s)", unit: "s", margin: true }, y: { title: `${one.unit}, by number` } });
  };
  if (data.units.length > 1) select(chooser, "A loss and its repair of", data.units.map(one => nameOf(one.cell)), 0, draw);
  updates.unshift(() => { if (!plot.chart) draw(0); });
}
let sequencePick = 0;
const updateInside = () => updates.forEach(update => update());
if (cellsInside.size) {
  for (const axis of varying) {
    const there = new Set([...cellsInside].map(cell => places[axis][cell]));
    if (there.size < 2) { insideChosen[axis] = [...there][0]; continue; }
    const labels = axes[axis].labels.slice(0, Math.max(...there) + 1);
    select(insideChoice, axes[axis].name, ["each", ...labels], insideChosen[axis] + 1, value => { insideChosen[axis] = value - 1; updateInside(); });
  }
  updateInside();
} else inside.textContent = "The folder has no tables of the first runs.";

// --- seeds, colours, print ---

const runs = document.getElementById("runs");
runs.parentElement.addEventListener("toggle", () => {
  if (!runs.parentElement.open || runs.firstChild) return;
  const cell = numbers(data.runs.cell), run = numbers(data.runs.run), seed = numbers(data.runs.seed);
  const all = data.runs.in_all > cell.length ? `; the first ${cell.length} of ${data.runs.in_all}, the others are in runs.parquet` : "";
  table(runs, { caption: `The seed of every run${all}`, rows: Array.from(cell, (_, at) => at), columns: [
    { title: "cell", text: at => nameOf(cell[at]) || "the only cell", ...behind(at => href(cell[at], run[at])) }, { title: "run", number: true, value: at => run[at], text: at => String(run[at]) },
    { title: "seed", number: true, value: at => seed[at], text: at => String(seed[at]) }] });
});
root.dataset.ready = String(Math.round(performance.now()));
})();
