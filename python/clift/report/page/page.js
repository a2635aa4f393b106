"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const kinds = { f8: Float64Array, f4: Float32Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, u8: BigUint64Array };

/** Decodes a column; a missing column is null. */
function numbers(column) {
  if (!column) return null;
  const text = atob(column.d), bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return new kinds[column.t](bytes.buffer);
}

/** Makes an element; texts become text nodes, so no label is parsed as HTML. */
function make(tag, attributes, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
    else if (value === true) found.setAttribute(name, "");
    else if (value !== false && value != null) found.setAttribute(name, value);
  }
  found.append(...children);
  return found;
}

const axes = data.axes, places = data.places.map(numbers), runsOf = numbers(data.runs_of);
const size = runsOf.length;
const varying = axes.map((_, number) => number).filter(number => axes[number].labels.length > 1);
const metrics = data.metrics.map(one => {
  const found = { ...one };
  for (const name of ["mean", "low", "high", "median", "p95", "runs"]) found[name] = numbers(one[name]);
  return found;
});
const title = one => one.title[0].toUpperCase() + one.title.slice(1);
const withUnit = (text, unit) => unit ? `${text} (${unit})` : text;
const nameOf = (cell, of = varying) => of.map(axis => axes[axis].names[places[axis][cell]]).join(", ");

/** Formats a number with five digits. */
function shown(value, digits = 5) {
  if (value == null || Number.isNaN(value)) return "";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4)) return value.toPrecision(digits);
  return String(Number(value.toPrecision(digits)));
}

// --- colours ---

const COLOURS = {
  light: ["#0072B2", "#B84A00", "#007A5A", "#A8487E", "#7A5C00", "#5A4FCF", "#333333"],
  dark: ["#56B4E9", "#FF9D5C", "#3ED6A4", "#E7A6CB", "#F2C14E", "#B7AEFF", "#DDDDDD"],
};
const INK = { light: { text: "#1a1f26", grid: "#d5dbe1" }, dark: { text: "#e8ecf1", grid: "#333d49" } };
const DASHES = [[], [8, 4], [2, 3], [9, 3, 2, 3]];
const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
const theme = () => root.dataset.shown || (system.matches ? "dark" : "light");
const colour = (number, of = theme()) => COLOURS[of][number % COLOURS[of].length];

// --- tables ---

/** A table with sorting by column, a filter and pages. */
function table(place, { caption, columns, rows, per = 50, filter = true }) {
  let order = rows.slice(), page = 0, by = -1, down = false, word = "";
  const body = make("tbody"), heads = [];
  const told = make("span", { "aria-live": "polite" });
  const before = make("button", { type: "button", onclick: () => { page--; fill(); } }, "Previous");
  const after = make("button", { type: "button", onclick: () => { page++; fill(); } }, "Next");
  const head = make("tr", {}, ...columns.map((column, number) => {
    const cell = make("th", { scope: "col", class: column.number && "number", "aria-sort": "none" },
      make("button", { type: "button", onclick: () => sort(number) }, column.title));
    heads.push(cell);
    return cell;
  }));
  function sort(number) {
    down = by === number && !down;
    by = number;
    heads.forEach((cell, at) => cell.setAttribute("aria-sort", at !== by ? "none" : down ? "descending" : "ascending"));
    select();
  }
  function select() {
    const wanted = word.toLowerCase();
    order = !wanted ? rows.slice() : rows.filter(row =>
      columns.some(column => String(column.text(row)).toLowerCase().includes(wanted)));
    if (by >= 0) {
      const { value, text } = columns[by], of = value || text, sign = down ? -1 : 1;
      const keyed = order.map(row => [of(row), row]);
      const none = key => key == null || Number.isNaN(key);
      keyed.sort(([a], [b]) => none(a) || none(b) ? none(a) - none(b)
        : sign * (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : Number(a > b) - Number(a < b)));
      order = keyed.map(([, row]) => row);
    }
    page = 0;
    fill();
  }
  function fill() {
    const pages = Math.max(1, Math.ceil(order.length / per));
    page = Math.min(Math.max(0, page), pages - 1);
    body.replaceChildren(...order.slice(page * per, (page + 1) * per).map(row => make("tr", {},
      ...columns.map((column, number) => make(number || column.number ? "td" : "th",
        { class: column.number && "number", scope: number || column.number ? null : "row" }, String(column.text(row)))))));
    before.disabled = page === 0;
    after.disabled = page === pages - 1;
    told.textContent = pages > 1 ? `rows ${page * per + 1} to ${Math.min(order.length, (page + 1) * per)} of ${order.length}` : `${order.length} rows`;
  }
  const many = rows.length > per;
  const search = make("input", { type: "search", "aria-label": `Filter: ${caption}`, placeholder: "filter",
    oninput: event => { word = event.target.value; select(); } });
  place.replaceChildren(
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      make("table", {}, make("caption", {}, caption), make("thead", {}, head), body)),
    make("div", { class: "controls filter" }, ...(filter && rows.length > 8 ? [search] : []),
      ...(many ? [before, after] : []), told));
  fill();
}

// --- plots ---

const SVG = "http://www.w3.org/2000/svg";
function drawn(tag, attributes, ...children) {
  const found = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) if (value != null) found.setAttribute(name, value);
  found.append(...children);
  return found;
}

/** The shape of a mark around a place, as the path of an SVG. */
function mark(kind, x, y, r) {
  switch (kind) {
    case "square": return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
    case "up": return `M${x} ${y - r}l${r} ${2 * r}h${-2 * r}z`;
    case "down": return `M${x} ${y + r}l${r} ${-2 * r}h${-2 * r}z`;
    case "diamond": return `M${x} ${y - 1.3 * r}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}l${-1.3 * r} ${-1.3 * r}z`;
    case "cross": return `M${x - r} ${y - r}l${2 * r} ${2 * r}M${x - r} ${y + r}l${2 * r} ${-2 * r}`;
    default: return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  }
}
/** The same on a canvas, where paths in words would take most of the time. */
function stamp(pen, kind, x, y, r) {
  const corners = { square: [[-r, -r], [r, -r], [r, r], [-r, r]], up: [[0, -r], [r, r], [-r, r]], down: [[0, r], [r, -r], [-r, -r]],
    diamond: [[0, -1.3 * r], [1.3 * r, 0], [0, 1.3 * r], [-1.3 * r, 0]] }[kind];
  if (corners) {
    corners.forEach(([a, b], at) => at ? pen.lineTo(x + a, y + b) : pen.moveTo(x + a, y + b));
    pen.closePath();
  } else if (kind === "cross") {
    pen.moveTo(x - r, y - r); pen.lineTo(x + r, y + r); pen.moveTo(x - r, y + r); pen.lineTo(x + r, y - r);
  } else {
    pen.moveTo(x + r, y);
    pen.arc(x, y, r, 0, 7);
  }
}
const MARKS = ["dot", "square", "up", "down"];

/** Where ticks stand between two ends. */
function ticks(low, high, log, count = 6) {
  const found = [];
  if (log) {
    const steps = high / low < 100 ? [1, 2, 5] : high / low < 1e4 ? [1, 3] : [1];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
      for (const step of steps) {
        const at = step * 10 ** power;
        if (at >= low * 0.999 && at <= high * 1.001) found.push(at);
      }
    return found;
  }
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = power * ([1, 2, 2.5, 5, 10].find(one => one * power >= rough) || 10);
  for (let at = Math.ceil(low / step); at * step <= high + step * 1e-9; at++) found.push(at * step);
  return found;
}

function lowest(lines, part, from = 0) {
  let low = Infinity, high = -Infinity;
  for (const line of lines)
    for (const values of part(line)) {
      if (!values) continue;
      for (let at = 0; at < values.length; at++) {
        const value = values[at];
        if (value == null || Number.isNaN(value) || value < from) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
  return low > high ? null : [low, high];
}

/** The ends of both axes of a plot with what is in view. */
function ends(spec) {
  const least = spec.x.log ? 1e-12 : -Infinity;
  let x = lowest(spec.lines, line => [line.x], least) || [0, 1];
  if (spec.x.labels) x = [-0.5, spec.x.labels.length - 0.5];
  else if (x[0] === x[1]) x = spec.x.log ? [x[0] / 2, x[0] * 2] : [x[0] - 0.5, x[1] + 0.5];
  else if (!spec.x.log && spec.x.margin) x = [x[0] - (x[1] - x[0]) * 0.05, x[1] + (x[1] - x[0]) * 0.05];
  let y = lowest(spec.lines, line => [line.y, line.low, line.high, line.printed && line.printed.map(one => one[1])], -Infinity) || [0, 1];
  const spread = y[1] - y[0] || Math.abs(y[1]) || 1;
  y = spec.y.zero && y[0] >= 0 ? [0, y[1] ? y[1] * 1.06 : 1] : [y[0] - spread * 0.06, y[1] + spread * 0.06];
  if (spec.y.ends) y = spec.y.ends;
  return { x, y };
}

/** How the labels of categories stand below a plot: every one up to 40, slanted where they do not fit. */
function labelled(labels, width) {
  const longest = Math.max(4, ...labels.map(label => label.length)) * 7.5, every = Math.ceil(labels.length / 40);
  const slant = labels.length / every * longest > width;
  return { every, slant, room: slant ? Math.min(150, Math.ceil(longest * 0.6)) : 0 };
}

/** A plot as SVG: what is in view, in the light colours, for print and for papers. */
function svg(spec, { x, y }, width = 640, height = 380) {
  const lines = spec.lines.filter(line => !line.hidden);
  const perRow = Math.max(1, Math.floor(width / (40 + 6.6 * Math.max(1, ...lines.map(line => line.name.length)))));
  const rows = lines.length > 1 ? Math.ceil(lines.length / perRow) : 0;
  const left = 68, right = width - 14, top = 30;
  const { every: step, slant, room } = labelled(spec.x.labels || [], right - left);
  const bottom = height - 46 - room;
  const px = value => { const f = spec.x.log ? Math.log(value / x[0]) / Math.log(x[1] / x[0]) : (value - x[0]) / (x[1] - x[0]); return Math.round((left + f * (right - left)) * 100) / 100; };
  const py = value => Math.round((bottom - (value - y[0]) / (y[1] - y[0]) * (bottom - top)) * 100) / 100;
  const text = { fill: "#000", "font-family": "Helvetica, Arial, sans-serif", "font-size": 12 };
  const id = `clip-${spec.id}`;
  const out = drawn("svg", { xmlns: SVG, viewBox: `0 0 ${width} ${height + rows * 18}`, width, height: height + rows * 18, role: "img" },
    drawn("title", {}, spec.title), drawn("rect", { width, height: height + rows * 18, fill: "#fff" }),
    drawn("defs", {}, drawn("clipPath", { id }, drawn("rect", { x: left, y: top - 4, width: right - left, height: bottom - top + 8 }))),
    drawn("text", { ...text, x: left, y: 18, "font-weight": "bold" }, spec.title));
  const xs = spec.x.labels ? spec.x.labels.map((_, at) => at) : spec.x.at || ticks(x[0], x[1], spec.x.log);
  const every = spec.x.labels ? step : Math.ceil(xs.length / 12);
  xs.forEach((at, number) => {
    if (number % every || at < x[0] || at > x[1]) return;
    out.append(drawn("path", { d: `M${px(at)} ${top}V${bottom}`, stroke: "#ddd" }),
      drawn("text", slant ? { ...text, transform: `translate(${px(at) + 4} ${bottom + 14}) rotate(-35)`, "text-anchor": "end" } : { ...text, x: px(at), y: bottom + 17, "text-anchor": "middle" }, spec.x.labels ? spec.x.labels[at] : shown(at)));
  });
  for (const at of ticks(y[0], y[1], false))
    out.append(drawn("path", { d: `M${left} ${py(at)}H${right}`, stroke: "#ddd" }),
      drawn("text", { ...text, x: left - 7, y: py(at) + 4, "text-anchor": "end" }, shown(at)));
  out.append(drawn("rect", { x: left, y: top, width: right - left, height: bottom - top, fill: "none", stroke: "#666" }),
    drawn("text", { ...text, x: (left + right) / 2, y: bottom + 36 + room, "text-anchor": "middle" }, spec.x.title),
    drawn("text", { ...text, transform: `translate(15 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, spec.y.title));
  const inside = drawn("g", { "clip-path": `url(#${id})`, fill: "none", "stroke-width": 1.6 });
  for (const line of lines) {
    const ink = colour(line.colour, "light");
    let path = "", marks = "", bars = "", last = null;
    for (let at = 0; at < line.x.length; at++) {
      const value = line.y[at];
      if (value == null || Number.isNaN(value) || (spec.x.log && line.x[at] <= 0)) continue;
      const here = [px(line.x[at]), py(value)];
      if (line.kind !== "points") path += last === null ? `M${here}` : line.kind === "step" ? `H${here[0]}V${here[1]}` : `L${here}`;
      if (line.mark) marks += mark(line.mark, ...here, line.radius || 3.5);
      if (line.low && !Number.isNaN(line.low[at])) {
        const [a, b] = [py(line.low[at]), py(line.high[at])];
        const x = here[0] + (line.aside || 0);
        bars += `M${x} ${a}V${b}M${x - 4} ${a}h8M${x - 4} ${b}h8`;
      }
      last = here;
    }
    const dash = DASHES[line.dash || 0].join(" ");
    if (path) inside.append(drawn("path", { d: path, stroke: ink, "stroke-dasharray": dash || null }));
    if (bars) inside.append(drawn("path", { d: bars, stroke: ink, "stroke-width": 1.1 }));
    if (marks) inside.append(drawn("path", { d: marks, stroke: ink, fill: line.mark === "cross" ? "none" : ink }));
    if (line.printed) inside.append(drawn("path", { d: line.printed.map(one => mark("diamond", px(one[0]), py(one[1]), 4.5)).join(""), stroke: "#000", fill: "#fff" }));
  }
  out.append(inside);
  if (rows) lines.forEach((line, number) => {
    const across = left - 54 + (number % perRow) * (width / perRow), down = height + Math.floor(number / perRow) * 18;
    out.append(key(line, across, down, "light"), drawn("text", { ...text, x: across + 36, y: down + 4 }, line.name));
  });
  return out;
}

/** How a line looks, for legends. */
function key(line, x, y, of) {
  const ink = colour(line.colour, of), found = drawn("g", { stroke: ink, fill: "none", "stroke-width": 2 });
  if (line.kind !== "points") found.append(drawn("path", { d: `M${x} ${y}h30`, "stroke-dasharray": DASHES[line.dash || 0].join(" ") || null }));
  if (line.mark) found.append(drawn("path", { d: mark(line.mark, x + 15, y, 4), fill: line.mark === "cross" ? "none" : ink, "stroke-width": 1.5 }));
  return found;
}

const figures = [];

/** A figure: caption, summary, plot, legend, tools and its numbers as a table. */
function figure(place, id) {
  const caption = make("h3", { id: `${id}-title` }), summary = make("p", { id: `${id}-summary` });
  const plot = make("div", { class: "plot", tabindex: "0", role: "group", "aria-roledescription": "interactive plot",
    "aria-labelledby": `${id}-title`, "aria-describedby": `${id}-summary ${id}-keys` });
  const readout = make("p", { class: "readout" }), legend = make("ul", { class: "legend", "aria-label": "Lines: press to hide or show" });
  const paper = make("div", { class: "paper" }), numbersOf = make("div");
  const details = make("details", { ontoggle: () => { if (details.open) tabulate(); } }, make("summary", {}, "The numbers of this plot as a table"), numbersOf);
  const reset = make("button", { type: "button", onclick: () => whole() }, "Show all");
  const save = make("a", { href: "#", download: `${id}.svg`, onclick: () => {
    const text = new XMLSerializer().serializeToString(svg(spec, view()));
    save.href = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  } }, "Download this plot as SVG");
  place.append(make("figure", { id }, make("figcaption", {}, caption, summary), plot, paper, legend, readout,
    make("div", { class: "tools" }, reset, save, make("span", { class: "note", id: `${id}-keys` },
      "Drag to zoom. With the keyboard: arrows read values, + and - zoom, 0 shows all.")), details));
  let spec = null, chart = null, at = null, xs = [];

  const view = () => chart ? { x: [chart.scales.x.min, chart.scales.x.max], y: [chart.scales.y.min, chart.scales.y.max] } : ends(spec);
  function whole() { if (chart) { const { x } = ends(spec); chart.setScale("x", { min: x[0], max: x[1] }); } }

  function tabulate() {
    const rows = [];
    for (const line of spec.lines) {
      if (line.hidden) continue;
      for (let n = 0; n < line.x.length; n++) if (line.y[n] != null && !Number.isNaN(line.y[n])) rows.push([line, n]);
    }
    const columns = [{ title: spec.lineTitle || "line", text: ([line]) => line.name },
      { title: spec.x.title, number: true, value: ([line, n]) => line.x[n], text: ([line, n]) => spec.x.labels ? spec.x.labels[Math.round(line.x[n])] : shown(line.x[n], 7) },
      { title: spec.y.title, number: true, value: ([line, n]) => line.y[n], text: ([line, n]) => shown(line.y[n], 7) }];
    if (spec.lines.some(line => line.low)) for (const [part, name] of [["low", "interval from"], ["high", "to"]])
      columns.push({ title: name, number: true, value: ([line, n]) => line[part] ? line[part][n] : NaN, text: ([line, n]) => line[part] ? shown(line[part][n], 7) : "" });
    table(numbersOf, { caption: spec.title, columns, rows, per: 25, filter: false });
  }

  /** What the lines in view have at a place. */
  function values(x) {
    const parts = [];
    for (const line of spec.lines) {
      if (line.hidden || !line.x.length || line.kind === "points" && parts.length > 8) continue;
      let a = 0, b = line.x.length - 1;
      while (b - a > 1) { const middle = (a + b) >> 1; if (line.x[middle] <= x) a = middle; else b = middle; }
      const n = Math.abs(line.x[a] - x) <= Math.abs(line.x[b] - x) ? a : b;
      if (spec.exact && Math.abs(line.x[n] - x) > spec.exact) continue;
      if (line.y[n] == null || Number.isNaN(line.y[n])) continue;
      const interval = line.low && !Number.isNaN(line.low[n]) ? ` (${shown(line.low[n], 4)} to ${shown(line.high[n], 4)})` : "";
      parts.push(`${line.name} ${shown(line.y[n], 4)}${interval}`);
    }
    const where = spec.x.labels ? spec.x.labels[Math.min(spec.x.labels.length - 1, Math.max(0, Math.round(x)))] : `${shown(x, 4)}${spec.x.unit ? " " + spec.x.unit : ""}`;
    return parts.length ? `${where}: ${parts.join("; ")}` : "";
  }

  function draw() {
    const full = ends(spec), of = theme(), ink = INK[of];
    const keep = chart && chart.spec === spec ? view() : null;
    if (chart) chart.destroy();
    plot.replaceChildren();
    const live = spec.lines.filter(line => !line.hidden);
    // Lines with the same x values need no merging.
    const same = live.length && live.every(line => line.x === live[0].x);
    const plain = values => Array.from(values, value => Number.isNaN(value) ? null : value);
    const columns = !live.length ? [[0], [null]] : same ? [Array.from(live[0].x), ...live.map(line => plain(line.y))]
      : uPlot.join(live.map(line => [Array.from(line.x), plain(line.y)]));
    xs = columns[0];
    const narrow = plot.clientWidth < 500;
    const { every, slant, room } = labelled(spec.x.labels || [], plot.clientWidth - 72);
    const options = {
      width: Math.max(200, plot.clientWidth), height: narrow ? 300 : 380, padding: [12, 14, 0, 0],
      legend: { show: false }, cursor: { drag: { x: true, y: false }, points: { show: false } },
      scales: {
        x: { time: false, distr: spec.x.log ? 3 : 1, range: (u, low, high) => low == null ? full.x : u.zoomed ? [low, high] : full.x },
        y: { range: (u, low, high) => !u.zoomed || low == null || spec.y.zero || spec.y.ends ? full.y : [low - (high - low || 1) * 0.06, high + (high - low || 1) * 0.06] },
      },
      axes: [
        { label: spec.x.title, stroke: ink.text, grid: { stroke: ink.grid, width: 1 }, ticks: { stroke: ink.grid }, labelSize: 22, font: "12px system-ui, sans-serif", labelFont: "13px system-ui, sans-serif", rotate: slant ? -35 : 0, size: 50 + room,
          splits: u => { const [a, b] = [u.scales.x.min, u.scales.x.max]; if (spec.x.labels) { return spec.x.labels.map((_, n) => n).filter(n => n >= a && n <= b && n % every === 0); } return spec.x.at ? spec.x.at.filter(x => x >= a && x <= b) : ticks(a, b, spec.x.log, narrow ? 4 : 8); },
          values: (u, splits) => splits.map(at => spec.x.labels ? spec.x.labels[at] : shown(at)), filter: (u, splits) => splits },
        { label: spec.y.title, stroke: ink.text, grid: { stroke: ink.grid, width: 1 }, ticks: { stroke: ink.grid }, size: 58, labelSize: 20, font: "12px system-ui, sans-serif", labelFont: "13px system-ui, sans-serif",
          splits: u => ticks(u.scales.y.min, u.scales.y.max, false), values: (u, splits) => splits.map(at => shown(at)) },
      ],
      series: [{}, ...(live.length ? live : [{ colour: 0, kind: "points" }]).map(line => ({
        stroke: colour(line.colour, of), width: 1.6, dash: DASHES[line.dash || 0], spanGaps: true, points: { show: false },
        paths: line.kind === "points" ? () => null : line.kind === "step" ? uPlot.paths.stepped({ align: 1 }) : undefined }))],
      hooks: {
        setSelect: [u => { if (u.select.width > 0) u.zoomed = true; }],
        draw: [u => marks(u, live, of)],
        setCursor: [u => { if (u.cursor.left >= 0 && at === null) readout.textContent = values(u.posToVal(u.cursor.left, "x")); }],
      },
    };
    chart = new uPlot(options, columns, plot);
    chart.spec = spec;
    const set = chart.setScale.bind(chart);
    chart.setScale = (name, limits) => { if (name === "x") chart.zoomed = limits.min !== full.x[0] || limits.max !== full.x[1]; set(name, limits); };
    chart.over.addEventListener("dblclick", whole);
    if (keep && (keep.x[0] !== full.x[0] || keep.x[1] !== full.x[1])) chart.setScale("x", { min: keep.x[0], max: keep.x[1] });
  }

  /** Marks, intervals and printed values, which uPlot does not draw. */
  function marks(u, lines, of) {
    const pen = u.ctx, ratio = devicePixelRatio || 1;
    const [low, high] = [u.scales.x.min, u.scales.x.max];
    pen.save();
    pen.beginPath();
    pen.rect(u.bbox.left, u.bbox.top - 6 * ratio, u.bbox.width, u.bbox.height + 12 * ratio);
    pen.clip();
    pen.setLineDash([]);
    for (const line of lines) {
      pen.strokeStyle = pen.fillStyle = colour(line.colour, of);
      const bars = new Path2D(), dots = new Path2D(), crowded = line.x.length > 400;
      const printed = new Path2D();
      for (let n = 0; n < line.x.length; n++) {
        if (line.y[n] == null || Number.isNaN(line.y[n]) || line.x[n] < low || line.x[n] > high) continue;
        const x = u.valToPos(line.x[n], "x", true), y = u.valToPos(line.y[n], "y", true);
        if (line.low && !Number.isNaN(line.low[n])) {
          const a = u.valToPos(line.low[n], "y", true), b = u.valToPos(line.high[n], "y", true), w = crowded ? 0 : 4 * ratio;
          const c = x + (line.aside || 0) * ratio;
          bars.moveTo(c, a); bars.lineTo(c, b);
          if (w) { bars.moveTo(c - w, a); bars.lineTo(c + w, a); bars.moveTo(c - w, b); bars.lineTo(c + w, b); }
        }
        if (line.mark && !(crowded && line.kind !== "points")) stamp(dots, line.mark, x, y, (line.radius || 3.5) * ratio);
      }
      pen.lineWidth = (crowded ? 0.6 : 1.2) * ratio;
      pen.stroke(bars);
      pen.stroke(dots);
      if (line.mark !== "cross") pen.fill(dots);
      if (line.printed) {
        pen.strokeStyle = INK[of].text;
        pen.lineWidth = 1.6 * ratio;
        for (const [x, y] of line.printed) if (x >= low && x <= high)
          stamp(printed, "diamond", u.valToPos(x, "x", true), u.valToPos(y, "y", true), 4.5 * ratio);
        pen.stroke(printed);
      }
    }
    pen.restore();
  }

  function legends() {
    legend.replaceChildren(...(spec.lines.length < 2 ? [] : spec.lines.map(line => {
      const picture = drawn("svg", { width: 30, height: 12, "aria-hidden": "true" }, key(line, 0, 6, theme()));
      return make("li", {}, make("button", { type: "button", "aria-pressed": String(!line.hidden), onclick: event => {
        line.hidden = !line.hidden;
        event.currentTarget.setAttribute("aria-pressed", String(!line.hidden));
        draw();
        if (details.open) tabulate();
      } }, picture, line.name));
    })));
  }

  plot.addEventListener("keydown", event => {
    if (!chart || !xs.length || event.ctrlKey || event.metaKey || event.altKey) return;
    const [low, high] = [chart.scales.x.min, chart.scales.x.max];
    const inside = xs.filter(x => x >= low && x <= high);
    // Move through long lines in 100 steps.
    const step = Math.max(1, Math.round(inside.length / 100));
    if (["ArrowRight", "ArrowLeft", "Home", "End"].includes(event.key) && inside.length) {
      const last = inside.length - 1;
      at = event.key === "Home" ? 0 : event.key === "End" ? last
        : at === null ? 0 : Math.min(last, Math.max(0, at + (event.key === "ArrowRight" ? step : -step)));
      chart.setCursor({ left: chart.valToPos(inside[at], "x"), top: 10 });
      readout.setAttribute("aria-live", "polite");
      readout.textContent = values(inside[at]);
    } else if (event.key === "+" || event.key === "-") {
      const middle = at === null ? (low + high) / 2 : inside[Math.min(at, inside.length - 1)] ?? (low + high) / 2;
      const factor = event.key === "+" ? 0.5 : 2, full = ends(spec).x;
      if (spec.x.log) {
        const of = Math.log, centre = of(Math.max(middle, low)), span = (of(high) - of(low)) * factor / 2;
        chart.setScale("x", { min: Math.max(full[0], Math.exp(centre - span)), max: Math.min(full[1], Math.exp(centre + span)) });
      } else chart.setScale("x", { min: Math.max(full[0], middle - (high - low) * factor / 2), max: Math.min(full[1], middle + (high - low) * factor / 2) });
    } else if (event.key === "0" || event.key === "Escape") whole();
    else return;
    event.preventDefault();
  });
  plot.addEventListener("blur", () => { at = null; readout.removeAttribute("aria-live"); });
  new ResizeObserver(() => { if (chart && Math.abs(chart.width - plot.clientWidth) > 1 && plot.clientWidth) chart.setSize({ width: plot.clientWidth, height: chart.height }); }).observe(plot);

  const one = {
    show(made) {
      spec = { ...made, id };
      caption.textContent = spec.title;
      summary.textContent = spec.summary;
      readout.textContent = "";
      at = null;
      legends();
      draw();
      if (details.open) tabulate();
    },
    recolour() { if (spec) { legends(); draw(); } },
    print() { if (spec) paper.replaceChildren(svg(spec, view(), 640, 340)); },
    get chart() { return chart; },
  };
  figures.push(one);
  return one;
}

// --- selection ---

function select(place, label, options, chosen, change) {
  const id = `choice-${place.id}-${place.childElementCount}`;
  const found = make("select", { id, onchange: () => change(Number(found.value)) },
    ...options.map((text, value) => make("option", { value: String(value), selected: value === chosen }, text)));
  place.append(make("div", {}, make("label", { for: id }, label), found));
  return found;
}

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

const mainFigure = metrics.length ? figure(document.getElementById("main-figure"), "figure-metric") : null;
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
    return { ...look(cells[0], each, number), name: nameOf(cells[0], each) || title(one), kind: labels ? "points" : "line", aside: moved, x, y: part(one.mean),
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
  const plot = figure(inside, "figure-delay");
  updates.push(() => {
    const found = data.delays.filter(one => within(one.cell));
    const lines = found.slice(0, MOST_LINES).map((one, number) => ({ ...look(one.cell, insideEach(), number), mark: null, kind: "step", name: lineName(one), x: cached(one.x), y: cached(one.y) }));
    const quantile = (line, share) => { let n = 0; while (n < line.y.length - 1 && line.y[n] < share) n++; return shown(line.x[n], 4); };
    const range = lowest(lines, line => [line.x]) || [1, 1], log = range[0] > 0 && range[1] > 10 * range[0];
    plot.show({ title: `One-way delay of segments${fixedInside() ? `, ${fixedInside()}` : ""}`, lines, lineTitle: "cell",
      summary: said(lines.length ? `Share of segments with at most this delay, from first transmission to first arrival. Median and 95 %: ${lines.slice(0, 8).map(line => `${line.name} ${quantile(line, 0.5)} and ${quantile(line, 0.95)} ms`).join("; ")}.` : "No segment arrived in the selected cells.", found.length),
      x: { title: `one-way delay (ms${log ? ", log scale" : ""})`, log, unit: "ms" }, y: { title: "share of segments", ends: [0, 1.02] } });
  });
}
for (const [id, name, unit, told] of [["rate", "Goodput over time", "kbit/s", "Means over 1/80 of the run"], ["window", "Congestion window", "packets", "Minimum and maximum per interval"], ["queue", "Queue of the first link", "packets", "Minimum and maximum per interval"]]) {
  if (!data.series.length) continue;
  const plot = figure(inside, `figure-${id}`);
  updates.push(() => {
    const found = data.series.filter(one => within(one.cell) && (id !== "queue" || one.flow === 0));
    const lines = found.slice(0, MOST_LINES).map((one, number) => ({ ...look(one.cell, insideEach(), number), mark: null, dash: one.several ? one.flow % 4 : look(one.cell, insideEach(), number).dash,
      kind: "line", name: lineName(id === "queue" ? { ...one, several: false } : one), x: cached(one[id][0]), y: cached(one[id][1]) }));
    const most = lines.slice(0, 8).map(line => `${line.name} ${shown((lowest([line], one => [one.y]) || [0, 0])[1], 4)}`);
    plot.show({ title: `${name}${fixedInside() ? `, ${fixedInside()}` : ""}`, lines, lineTitle: "cell",
      summary: said(lines.length ? `${told}. Maximum (${unit}): ${most.join("; ")}.` : "The selected cells have no data here.", found.length),
      x: { title: "time (s)", unit: "s" }, y: { title: unit, zero: true } });
  });
}
if (data.sequence.length) {
  const plot = figure(inside, "figure-sequence");
  // Kinds of events with their names and marks.
  const events = [[0, "sent", 0, "dot", 2], [1, "retransmitted", 1, "cross", 4], [4, "lost", 6, "down", 4]];
  updates.push(() => {
    const found = data.sequence.filter(one => within(one.cell)), pick = Math.min(sequencePick, found.length - 1), one = found[Math.max(0, pick)];
    const chooser = document.getElementById("sequence-choice");
    chooser.replaceChildren();
    if (found.length > 1) select(chooser, "Time-sequence of", found.map(each => nameOf(each.cell)), Math.max(0, pick), value => { sequencePick = value; updates.at(-1)(); chooser.querySelector("select").focus(); });
    const lines = [];
    let again = 0, lost = 0;
    if (one) {
      const time = cached(one.time), kind = cached(one.kind), seq = cached(one.seq);
      const part = what => { const x = [], y = []; for (let n = 0; n < kind.length; n++) if (kind[n] === what) { x.push(time[n]); y.push(seq[n] / 1000); } return { x, y }; };
      for (const [what, name, ink, look_, radius] of events) { const points = part(what); if (what === 1) again = points.x.length; if (what === 4) lost = points.x.length; if (points.x.length) lines.push({ name, colour: ink, mark: look_, radius, kind: "points", ...points }); }
      const acked = part(5);
      if (acked.x.length) lines.push({ name: "acknowledged", colour: 2, kind: "step", ...acked });
    }
    plot.show({ title: `Time-sequence at the longest wait for an ACK${one && varying.length ? `, ${nameOf(one.cell)}` : ""}`, lines, lineTitle: "event",
      summary: !one ? "The selected cells have no data here." : one.around ? `Segments of the first flow around the loss with the longest wait: ${lost} lost, ${again} retransmitted in this window.` : "Start of the run: nothing was lost.",
      x: { title: "time (s)", unit: "s", margin: true }, y: { title: "sequence number (kB)" } });
  });
  inside.insertBefore(make("div", { class: "controls", id: "sequence-choice" }), document.getElementById("figure-sequence"));
}
if (data.units.length) {
  const chooser = make("div", { class: "controls", id: "units-choice" });
  inside.append(chooser);
  const plot = figure(inside, "figure-units");
  const draw = pick => {
    const one = data.units[pick], [time, arrival, kind, asked, number, ours] = ["time", "arrival", "kind", "asked", "number", "ours"].map(name => cached(one[name]));
    const pointsOf = (wanted, at = time) => { const x = [], y = []; for (let n = 0; n < time.length; n++) if (wanted(n)) { x.push(at[n]); y.push(number[n]); } return { x, y }; };
    const lines = [
      { name: "repair, unrequested", colour: 3, mark: "dot", radius: 3, ...pointsOf(n => kind[n] === 2 && !asked[n]) },
      { name: "first transmission", colour: 0, mark: "dot", radius: 1.6, ...pointsOf(n => kind[n] === 0) },
      { name: "retransmission", colour: 1, mark: "cross", radius: 4, ...pointsOf(n => kind[n] === 1) },
      { name: "repair, requested", colour: 3, mark: "up", radius: 3, ...pointsOf(n => kind[n] === 2 && asked[n]) },
      { name: "erased", colour: 6, mark: "square", radius: 3, ...pointsOf(n => Number.isNaN(arrival[n])) },
      { name: "arrival of the lost packet", colour: 1, mark: "down", radius: 4, ...pointsOf(n => ours[n] && !Number.isNaN(arrival[n]), arrival) },
    ].filter(line => line.x.length).map(line => {
      const order = Array.from(line.x.keys()).sort((a, b) => line.x[a] - line.x[b]);
      return { ...line, kind: "points", x: order.map(n => line.x[n]), y: order.map(n => line.y[n]) };
    });
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
    { title: "cell", text: at => nameOf(cell[at]) || "the only cell" }, { title: "run", number: true, value: at => run[at], text: at => String(run[at]) },
    { title: "seed", number: true, value: at => seed[at], text: at => String(seed[at]) }] });
});
const choice = document.getElementById("theme");
const recolour = () => figures.forEach(one => one.recolour());
choice.addEventListener("change", () => { if (choice.value) root.dataset.shown = choice.value; else delete root.dataset.shown; recolour(); });
system.addEventListener("change", recolour);
addEventListener("beforeprint", () => figures.forEach(one => one.print()));
root.dataset.ready = String(Math.round(performance.now()));
})();
