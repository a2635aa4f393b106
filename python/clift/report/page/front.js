"use strict";
// What every page shares: numbers, tables, plots, colours. `page.js` and the explorer come after it.

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

/** Sets the text of an element. A text that stays the same, or its node, needs no new layout of what is around. */
function say(place, text) {
  const node = place.firstChild;
  if (place.childNodes.length === 1 && node.nodeType === Node.TEXT_NODE) { if (node.data !== text) node.data = text; }
  else if (node || text) place.textContent = text;
}

/** A text that opens a page of its own, or the plain text without an address. */
const linked = (href, text) => href ? make("a", { href, target: "_blank" }, text) : text;

const withUnit = (text, unit) => unit ? `${text} (${unit})` : text;

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
      keyed.sort(([a], [b]) => none(a) || none(b) ? Number(none(a)) - Number(none(b))
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
        { class: column.number && "number", scope: number || column.number ? null : "row" }, linked(column.href?.(row), String(column.text(row))))))));
    before.disabled = page === 0;
    after.disabled = page === pages - 1;
    told.textContent = pages > 1 ? `rows ${page * per + 1} to ${Math.min(order.length, (page + 1) * per)} of ${order.length}` : `${order.length} row${order.length === 1 ? "" : "s"}`;
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
  else if (spec.x.ends) x = spec.x.ends;
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

/** Pixels outside the window at which a plot is drawn. */
const NEAR = 100;
const isNear = ({ top, bottom, height }) => height > 0 && top < innerHeight + NEAR && bottom > -NEAR;

/** What a legend shows of a line, and what uPlot is told when a plot is made. */
const look = line => [line.colour, line.dash, line.kind, line.mark, Boolean(line.hidden)].join();

/** A figure: caption, summary, plot, legend, tools and its numbers as a table. `enter` says what the key does. */
function figure(place, id, enter = "") {
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
  const outer = make("figure", { id }, make("figcaption", {}, caption, summary), plot, paper, legend, readout,
    make("div", { class: "tools" }, reset, save, make("span", { class: "note", id: `${id}-keys` },
      `Drag to zoom. With the keyboard: arrows read values, + and - zoom, 0 shows all${enter}.`)), details);
  place.append(outer);
  let spec = null, chart = null, at = null, xs = [], shownNow = null;
  // A plot out of view is drawn when it comes into view.
  let isInView = null, isDue = false;

  const view = () => chart && !isDue ? { x: [chart.scales.x.min, chart.scales.x.max], y: [chart.scales.y.min, chart.scales.y.max] } : ends(spec);
  function whole() { if (chart) { const { x } = ends(spec); chart.setScale("x", { min: x[0], max: x[1] }); } }

  function tabulate() {
    const rows = [];
    for (const line of spec.lines) {
      if (line.hidden) continue;
      for (let n = 0; n < line.x.length; n++) if (line.y[n] != null && !Number.isNaN(line.y[n])) rows.push([line, n]);
    }
    const columns = [{ title: spec.lineTitle || "line", text: ([line]) => line.name, href: ([line, n]) => line.href?.(n) },
      { title: spec.x.title, number: true, value: ([line, n]) => line.x[n], text: ([line, n]) => spec.x.labels ? spec.x.labels[Math.round(line.x[n])] : shown(line.x[n], 7) },
      { title: spec.y.title, number: true, value: ([line, n]) => line.y[n], text: ([line, n]) => shown(line.y[n], 7) }];
    if (spec.lines.some(line => line.low)) for (const [part, name] of [["low", "interval from"], ["high", "to"]])
      columns.push({ title: name, number: true, value: ([line, n]) => line[part] ? line[part][n] : NaN, text: ([line, n]) => line[part] ? shown(line[part][n], 7) : "" });
    table(numbersOf, { caption: spec.title, columns, rows, per: 25, filter: false });
  }

  /** The number of the point of a line that is nearest to a place. */
  function nearest(line, x) {
    let a = 0, b = line.x.length - 1;
    while (b - a > 1) { const middle = (a + b) >> 1; if (line.x[middle] <= x) a = middle; else b = middle; }
    return Math.abs(line.x[a] - x) <= Math.abs(line.x[b] - x) ? a : b;
  }

  /** Shows what the lines in view have at a place; each opens the run behind it, if it has one. */
  function values(x) {
    const parts = [];
    for (const line of spec.lines) {
      if (line.hidden || !line.x.length || line.kind === "points" && parts.length > 16) continue;
      const n = nearest(line, x);
      if (spec.exact && Math.abs(line.x[n] - x) > spec.exact) continue;
      if (line.y[n] == null || Number.isNaN(line.y[n])) continue;
      const interval = line.low && !Number.isNaN(line.low[n]) ? ` (${shown(line.low[n], 4)} to ${shown(line.high[n], 4)})` : "";
      parts.push(parts.length ? "; " : "", linked(line.href?.(n), `${line.name} ${shown(line.y[n], 4)}${interval}`));
    }
    const where = spec.x.labels ? spec.x.labels[Math.min(spec.x.labels.length - 1, Math.max(0, Math.round(x)))] : `${shown(x, 4)}${spec.x.unit ? " " + spec.x.unit : ""}`;
    readout.replaceChildren(...(parts.length ? [`${where}: `, ...parts] : []));
  }

  /** A click on the plot: picks the place, or opens the run behind the nearest point. */
  function follow(u, { offsetX, offsetY, detail }) {
    if (detail > 1) return;
    if (spec.pick) return spec.pick(u.posToVal(offsetX, "x"));
    let least = 20, href = "";
    for (const line of spec.lines) {
      if (line.hidden || !line.x.length || !line.href) continue;
      // Points may share a place; a line without marks can be clicked on between its points.
      const there = line.mark ? line.x.keys() : [nearest(line, u.posToVal(offsetX, "x"))];
      for (const n of there) {
        const across = line.mark ? u.valToPos(line.x[n], "x") - offsetX : 0;
        const off = Math.hypot(across, u.valToPos(line.y[n], "y") - offsetY);
        if (off < least) [least, href] = [off, line.href(n)];
      }
    }
    if (href) open(href, "_blank");
  }

  /** What is in view of a plot: its lines, its ends, and the columns that uPlot draws. */
  function inView() {
    const live = spec.lines.filter(line => !line.hidden);
    // Lines with the same x values need no merging.
    const same = live.length && live.every(line => line.x === live[0].x);
    const plain = values => Array.from(values, value => Number.isNaN(value) ? null : value);
    const columns = !live.length ? [[0], [null]] : same ? [Array.from(live[0].x), ...live.map(line => plain(line.y))]
      : uPlot.join(live.map(line => [Array.from(line.x), plain(line.y)]));
    xs = columns[0];
    return { live, columns, full: ends(spec) };
  }

  /** Draws other numbers of the lines that are there; false if more than the numbers changed. */
  function renewed() {
    const looks = ({ lines, x, y }) => JSON.stringify([lines.map(look), x.title, x.labels, x.log, y.title]);
    if (!chart || !chart.spec || chart.zoomed || looks(chart.spec) !== looks(spec)) return false;
    shownNow = inView();
    chart.spec = spec;
    chart.setData(shownNow.columns);
    return true;
  }

  function draw() {
    const of = theme(), ink = INK[of];
    const keep = chart && chart.spec === spec ? view() : null;
    if (chart) chart.destroy();
    plot.replaceChildren();
    shownNow = inView();
    const { live, columns } = shownNow;
    const narrow = plot.clientWidth < 500;
    const { every, slant, room } = labelled(spec.x.labels || [], plot.clientWidth - 72);
    const options = {
      width: Math.max(200, plot.clientWidth), height: narrow ? 300 : 380, padding: [12, 14, 0, 0],
      legend: { show: false }, cursor: { drag: { x: true, y: false }, points: { show: false } },
      scales: {
        x: { time: false, distr: spec.x.log ? 3 : 1, range: (u, low, high) => low == null ? shownNow.full.x : u.zoomed ? [low, high] : shownNow.full.x },
        y: { range: (u, low, high) => !u.zoomed || low == null || spec.y.zero || spec.y.ends ? shownNow.full.y : [low - (high - low || 1) * 0.06, high + (high - low || 1) * 0.06] },
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
        draw: [u => marks(u, shownNow.live, of)],
        setCursor: [u => { if (u.cursor.left >= 0 && at === null) values(u.posToVal(u.cursor.left, "x")); }],
      },
    };
    chart = new uPlot(options, columns, plot);
    chart.spec = spec;
    const set = chart.setScale.bind(chart);
    chart.setScale = (name, limits) => { if (name === "x") chart.zoomed = limits.min !== shownNow.full.x[0] || limits.max !== shownNow.full.x[1]; set(name, limits); };
    chart.over.addEventListener("dblclick", whole);
    chart.over.addEventListener("click", event => follow(chart, event));
    if (keep && (keep.x[0] !== shownNow.full.x[0] || keep.x[1] !== shownNow.full.x[1])) chart.setScale("x", { min: keep.x[0], max: keep.x[1] });
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
    if (spec.picked != null) {
      const x = u.valToPos(spec.picked, "x", true);
      pen.strokeStyle = INK[of].text;
      pen.lineWidth = 1.2 * ratio;
      pen.stroke(new Path2D(`M${x} ${u.bbox.top}V${u.bbox.top + u.bbox.height}`));
    }
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

  /** Draws what is to be shown: the plot at once, or when it comes into view. */
  function update() {
    const looks = JSON.stringify(spec.lines.map(look));
    if (looks !== legend.dataset.of) legends();
    else Array.from(legend.getElementsByTagName("span"), (name, n) => say(name, spec.lines[n].name));
    legend.dataset.of = looks;
    isInView ??= isNear(outer.getBoundingClientRect());
    isDue = !isInView;
    if (!isDue && !renewed()) draw();
  }

  function legends() {
    legend.replaceChildren(...(spec.lines.length < 2 ? [] : spec.lines.map((line, number) => {
      const picture = drawn("svg", { width: 30, height: 12, "aria-hidden": "true" }, key(line, 0, 6, theme()));
      return make("li", {}, make("button", { type: "button", "aria-pressed": String(!line.hidden), onclick: event => {
        const line = spec.lines[number];
        line.hidden = !line.hidden;
        event.currentTarget.setAttribute("aria-pressed", String(!line.hidden));
        draw();
        if (details.open) tabulate();
      } }, picture, make("span", {}, line.name)));
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
      values(inside[at]);
    } else if (event.key === "Enter" && spec.pick && at !== null) spec.pick(inside[Math.min(at, inside.length - 1)]);
    else if (event.key === "Enter" && readout.querySelector("a")) readout.querySelector("a").focus();
    else if (event.key === "+" || event.key === "-") {
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
  new IntersectionObserver(changes => {
    isInView = changes[changes.length - 1].isIntersecting;
    if (isInView && isDue) update();
  }, { rootMargin: `${NEAR}px` }).observe(plot);
  plot.addEventListener("focus", () => { isInView = true; if (isDue) update(); });
  plot.addEventListener("blur", () => { at = null; readout.removeAttribute("aria-live"); });
  new ResizeObserver(() => { if (chart && Math.abs(chart.width - plot.clientWidth) > 1 && plot.clientWidth) chart.setSize({ width: plot.clientWidth, height: chart.height }); }).observe(plot);

  const one = {
    show(made) {
      // Lines stay hidden when they get other numbers.
      const same = (line, n) => spec?.title === made.title && spec.lines[n] && look({ ...line, hidden: true }) === look(spec.lines[n]);
      for (const [n, line] of made.lines.entries()) if (same(line, n)) line.hidden = true;
      spec = { ...made, id };
      say(caption, spec.title);
      say(summary, spec.summary);
      say(readout, "");
      at = null;
      update();
      if (details.open) tabulate();
    },
    recolour() { if (spec) { legends(); if (!isDue) draw(); } },
    print() { if (spec) paper.replaceChildren(svg(spec, view(), 640, 340)); },
    get chart() { return chart; },
  };
  figures.push(one);
  return one;
}

// --- time-sequences ---

/** Points of rows that are wanted, in the order of their places. */
function points(x, y, wanted) {
  const rows = Array.from(x.keys()).filter(wanted).sort((a, b) => x[a] - x[b]);
  return { kind: "points", x: rows.map(n => x[n]), y: rows.map(n => y[n]) };
}

/** Lines of a time-sequence of segments; kinds are numbered as `EventKind` of the core. */
function segmentLines({ segment_time: time, segment_kind: kind, segment_seq: seq }) {
  const kb = Array.from(seq, byte => byte / 1000), of = what => points(time, kb, n => kind[n] === what);
  return [
    { name: "sent", colour: 0, mark: "dot", radius: 2, ...of(0) },
    { name: "retransmitted", colour: 1, mark: "cross", radius: 4, ...of(1) },
    { name: "lost", colour: 6, mark: "down", radius: 4, ...of(4) },
    { name: "acknowledged", colour: 2, ...of(5), kind: "step" },
  ].filter(line => line.x.length);
}

/** Lines of a time-sequence of a link's units around a loss; an erased unit has no arrival. */
function unitLines({ time, arrival, kind, asked, number, ours }) {
  const of = wanted => points(time, number, wanted);
  return [
    { name: "repair, unrequested", colour: 3, mark: "dot", radius: 3, ...of(n => kind[n] === 2 && !asked[n]) },
    { name: "first transmission", colour: 0, mark: "dot", radius: 1.6, ...of(n => kind[n] === 0) },
    { name: "retransmission", colour: 1, mark: "cross", radius: 4, ...of(n => kind[n] === 1) },
    { name: "repair, requested", colour: 3, mark: "up", radius: 3, ...of(n => kind[n] === 2 && asked[n]) },
    { name: "erased", colour: 6, mark: "square", radius: 3, ...of(n => Number.isNaN(arrival[n])) },
    { name: "arrival of the lost packet", colour: 1, mark: "down", radius: 4, ...points(arrival, number, n => ours[n] && !Number.isNaN(arrival[n])) },
  ].filter(line => line.x.length);
}

// --- selection ---

function select(place, label, options, chosen, change) {
  const id = `choice-${place.id}-${place.childElementCount}`;
  const found = make("select", { id, onchange: () => change(Number(found.value)) },
    ...options.map((text, value) => make("option", { value: String(value), selected: value === chosen }, text)));
  place.append(make("div", {}, make("label", { for: id }, label), found));
  return found;
}

// --- colours and print ---

const choice = /** @type {HTMLSelectElement} */ (document.getElementById("theme"));
const recolour = () => figures.forEach(one => one.recolour());
choice.addEventListener("change", () => { if (choice.value) root.dataset.shown = choice.value; else delete root.dataset.shown; recolour(); });
system.addEventListener("change", recolour);
addEventListener("beforeprint", () => figures.forEach(one => one.print()));
