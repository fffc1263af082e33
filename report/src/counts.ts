// Counts: histograms, bars of named groups, and the group of each frame in time.
import { addReading, type Box, drawAxes } from "./axes";
import { SET } from "./colours";
import type { Bars, Histogram, Steps } from "./data";
import { checkbox, html, shortNumber, slider, svg } from "./dom";
import { Panel, type Place } from "./panel";
import { makeScale, range, type Scale } from "./scale";

const WIDTH = 560, HEIGHT = 320;
export const BOX: Box = { left: 66, right: WIDTH - 12, top: 12, bottom: HEIGHT - 44 };

export function canvas(title: string): SVGSVGElement {
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "drawing", tabindex: 0, role: "img",
                      "aria-label": `${title}. Arrow keys read its values.` });
}

/** The last of rising numbers that is not above the value; the first where all are. */
function lastBelow(rising: number[], value: number): number {
  let low = 0;
  for (let high = rising.length; high - low > 1;) {
    const middle = (low + high) >> 1;
    if (rising[middle] <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** The bins as one path. */
function binPath(x: Scale, y: Scale, from: number[], to: number[], count: number[]): string {
  let path = "";
  count.forEach((value, k) => {
    if (!(value > 0)) return;
    const left = x.place(from[k]), right = x.place(to[k]);
    path += `M${left.toFixed(2)} ${BOX.bottom}V${y.place(value).toFixed(2)}H${right.toFixed(2)}V${BOX.bottom}z`;
  });
  return path;
}

export function histogramPanel(section: Histogram, place: Place): HTMLElement {
  const panel = new Panel(place, section.title, section.note);
  const last = section.count.reduce<number>((found, value, k) => ((value ?? 0) > 0 ? k : found), 0);
  const first = Math.max(0, section.count.findIndex((value) => (value ?? 0) > 0));
  const from = section.from.slice(first, last + 1).map((value) => value ?? NaN);
  // The last bin may have no end: it is drawn as wide as the one before it.
  const isOpen = section.to.slice(first, last + 1).map((value) => value === null);
  const before = section.to.length > 1 ? section.to.length - 2 : 0;
  const wide = (section.to[before] ?? 1) - (section.from[before] ?? 0) || 1;
  const to = section.to.slice(first, last + 1).map((value, k) => value ?? from[k] + wide);
  const count = section.count.slice(first, last + 1).map((value) => value ?? 0);
  let log = false;
  let drawing = canvas(section.title);
  const redraw = (): void => {
    drawing = canvas(section.title);
    const most = Math.max(1, range(count)[1]);
    const x = makeScale(from[0] ?? 0, to[to.length - 1] ?? 1, BOX.left, BOX.right);
    const y = makeScale(log ? 0.8 : 0, most * (log ? 1.5 : 1.05), BOX.bottom, BOX.top, log);
    drawing.append(drawAxes(BOX, x, y, { x: section.x.label, y: section.y.label }, 52),
                   svg("path", { d: binPath(x, y, from, to, count), fill: SET[0], stroke: "none" }));
    addReading(drawing, count.length, (at) => lastBelow(from, x.value(at)), (k) => {
      panel.read(`${shortNumber(from[k])} ${isOpen[k] ? "or more" : `to ${shortNumber(to[k])}`}: ` +
        `${count[k].toLocaleString("en")} ${section.y.label}`);
    });
    panel.body.replaceChildren(drawing);
  };
  panel.controls.append(checkbox("logarithmic", log, (checked) => {
    log = checked;
    redraw();
  }));
  redraw();
  panel.addSaving(() => drawing);
  return panel.element;
}

export function barsPanel(section: Bars, place: Place): HTMLElement {
  const panel = new Panel(place, section.title, section.note);
  const values = section.values.map((value) => value ?? 0);
  const drawing = canvas(section.title);
  const x = makeScale(-0.5, values.length - 0.5, BOX.left, BOX.right);
  const y = makeScale(0, Math.max(1, range(values)[1]) * 1.05, BOX.bottom, BOX.top);
  drawing.append(drawAxes(BOX, null, y, { x: section.x.label, y: section.y.label }, 52));
  const wide = Math.max(0.5, (x.place(1) - x.place(0)) * 0.8), every = Math.ceil(values.length / 14);
  values.forEach((value, k) => {
    const colour = section.x.label === "cluster" ? clusterColour(Number(section.labels[k])) : SET[0];
    drawing.append(svg("rect", { x: x.place(k) - wide / 2, y: y.place(value), width: wide,
                                 height: BOX.bottom - y.place(value), fill: colour }));
    if (k % every === 0)
      drawing.append(svg("text", { class: "mark", x: x.place(k), y: BOX.bottom + 15, "text-anchor": "middle" },
                         section.labels[k]));
  });
  addReading(drawing, values.length, (at) => Math.round(x.value(at)), (k) => {
    panel.read(`${section.x.label} ${section.labels[k]}: ${values[k].toLocaleString("en")} ${section.y.label}`);
  });
  panel.body.append(drawing);
  panel.addSaving(() => drawing);
  return panel.element;
}

/** The colour of a cluster in every panel: the largest have one of their own, noise and the rest are grey. */
export function clusterColour(cluster: number): string {
  return cluster >= 0 && cluster < SET.length ? SET[cluster] : "#8a8a8a";
}

/** Clusters from this number on share a row until the reader asks for more. */
const ROWS = 12;

export function stepsPanel(section: Steps, place: Place): HTMLElement {
  const panel = new Panel(place, section.title, section.note);
  const starts: number[] = [];
  let frames = 0;
  for (const length of section.lengths) {
    starts.push(frames);
    frames += length;
  }
  if (frames === 0) {
    panel.body.append(html("p", {}, "There are no frames."));
    return panel.element;
  }
  const [least, most] = range(section.values);
  let drawing = canvas(section.title);
  const redraw = (rows: number): void => {
    drawing = drawSteps(section, starts, frames, least, Math.min(most, rows));
    addReading(drawing, starts.length, (at) => lastBelow(starts, ((at - BOX.left) / (BOX.right - BOX.left)) * frames), (r) => {
      const end = starts[r] + section.lengths[r] - 1;
      panel.read(`${section.x.label} ${starts[r]} to ${end}: ${section.y.label} ${section.values[r]}`);
    });
    panel.body.replaceChildren(drawing);
  };
  if (most > ROWS)
    panel.controls.append(slider("Rows, the last of all smaller clusters", 1, most, ROWS, redraw));
  redraw(ROWS);
  panel.addSaving(() => drawing);
  return panel.element;
}

/** Clusters up to `last`, those beyond it in its row. */
function drawSteps(section: Steps, starts: number[], frames: number, least: number, last: number): SVGSVGElement {
  const drawing = canvas(section.title);
  const x = makeScale(0, frames, BOX.left, BOX.right), y = makeScale(least - 0.6, last + 0.6, BOX.top, BOX.bottom);
  // Clusters are whole numbers.
  const marks = (count: number) => y.marks(count).filter(({ value }) => Number.isInteger(value));
  drawing.append(drawAxes(BOX, x, { ...y, marks }, { x: section.x.label, y: section.y.label }, 52));
  const paths = new Map<string, string>(), high = Math.max(1.5, Math.min(10, 0.7 * (y.place(1) - y.place(0))));
  section.values.forEach((value, r) => {
    const left = x.place(starts[r]), wide = Math.max(0.4, x.place(starts[r] + section.lengths[r]) - left);
    const top = y.place(Math.min(value, last)) - high / 2, colour = clusterColour(value);
    paths.set(colour, (paths.get(colour) ?? "") + `M${left.toFixed(2)} ${top.toFixed(2)}` +
                      `h${wide.toFixed(2)}v${high.toFixed(2)}h${(-wide).toFixed(2)}z`);
  });
  for (const [colour, path] of paths) drawing.append(svg("path", { d: path, fill: colour, stroke: "none" }));
  return drawing;
}
