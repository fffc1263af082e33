// States: how often a trajectory goes from one cluster to another, and how long it stays.
import { addReading, drawAxes, legendAbove } from "./axes";
import { RAMP_NAMES, rampColours, rampPixels } from "./colours";
import { BOX, canvas, clusterColour } from "./counts";
import type { Dwells, Transitions } from "./data";
import { chooser, html, shortNumber, svg } from "./dom";
import { Heat } from "./heat";
import { Panel, type Place } from "./panel";
import { makeScale, range, type Scale } from "./scale";

/** Each once, in their order, noise last. */
function clustersOf(numbers: number[]): number[] {
  const found = [...new Set(numbers)].sort((a, b) => a - b);
  return found[0] === -1 ? [...found.slice(1), -1] : found;
}

function clusterName(cluster: number): string {
  return cluster === -1 ? "noise" : `cluster ${cluster}`;
}

/** A scale of cells that marks them by the names of their clusters. */
function markClusters(scale: Scale, clusters: number[]): Scale {
  const marks = (count: number): { value: number; text: string }[] => {
    const first = Math.max(0, Math.ceil(scale.least - 0.5)), last = Math.min(clusters.length - 1, Math.floor(scale.most - 0.5));
    const every = Math.max(1, Math.ceil((last - first + 1) / (2 * count))), found = [];
    for (let n = first; n <= last; n += every) found.push({ value: n + 0.5, text: String(clusters[n]) });
    return found;
  };
  return { ...scale, marks };
}

export function transitionsPanel(section: Transitions, place: Place): HTMLElement {
  const panel = new Panel(place, section.title, section.note);
  const clusters = clustersOf([...section.from, ...section.to]), size = clusters.length;
  if (size === 0) {
    panel.body.append(html("p", {}, "No two frames of a file are so far apart."));
    return panel.element;
  }
  const position = new Map(clusters.map((cluster, n) => [cluster, n]));
  const cells = section.from.map((from, n) => (position.get(from) ?? 0) * size + (position.get(section.to[n]) ?? 0));
  const table = (values: (number | null)[]): number[] => {
    const filled = new Array<number>(size * size).fill(0);
    cells.forEach((cell, n) => filled[cell] = values[n] ?? 0);
    return filled;
  };
  const counts = table(section.count), probabilities = table(section.probability);
  const outward = clusters.map((_, row) => counts.slice(row * size, (row + 1) * size).reduce((sum, count) => sum + count, 0));
  let ramp = "viridis", shown = "probabilities";
  const values = (): number[] => (shown === "counts" ? counts : probabilities);
  const heat = new Heat({
    size, title: section.title, axis: "from cluster", columnAxis: "to cluster",
    paint: (pixels) => {
      const colours = rampPixels(ramp), most = range(values())[1] || 1;
      values().forEach((value, cell) => pixels[cell] = colours[Math.round(255 * value / most)]);
    },
    scale: (first, last, start, end) => markClusters(makeScale(first, last, start, end), clusters),
    point: (row, column) => {
      const cell = row * size + column;
      panel.read(`${clusterName(clusters[row])} to ${clusterName(clusters[column])}: probability ` +
        `${shortNumber(probabilities[cell], 3)}, ${counts[cell].toLocaleString("en")} of ${outward[row].toLocaleString("en")} steps`);
    },
  });
  const repaint = (): void => {
    heat.paint();
    heat.setScale(rampColours(ramp), 0, range(values())[1], shown === "counts" ? "steps" : "probability");
  };
  panel.controls.append(
    chooser("Show", ["probabilities", "counts"], shown, (choice) => {
      shown = choice;
      repaint();
    }),
    chooser("Colours", RAMP_NAMES, ramp, (choice) => {
      ramp = choice;
      repaint();
    }), heat.buttons);
  repaint();
  document.addEventListener("pleat-theme", repaint);
  panel.body.append(heat.drawing);
  panel.addSaving(() => heat.drawing);
  return panel.element;
}

/** Bars of equal width over the dwell times of one cluster. */
const MAX_BARS = 50;
const CUT_COLOUR = "#b0b0b0";

interface Bar {
  /** The shortest and the longest dwell in it, in frames. */
  from: number;
  to: number;
  visits: number;
  cut: number;
}

function barsOf(section: Dwells, cluster: number): Bar[] {
  const rows = section.cluster.flatMap((one, row) => (one === cluster ? [row] : []));
  const longest = range(rows.map((row) => section.dwell[row]))[1], wide = Math.ceil(longest / MAX_BARS);
  const bars: Bar[] = Array.from({ length: Math.ceil(longest / wide) }, (_, n) =>
    ({ from: n * wide + 1, to: (n + 1) * wide, visits: 0, cut: 0 }));
  for (const row of rows) {
    const bar = bars[Math.ceil(section.dwell[row] / wide) - 1];
    bar.visits += section.visits[row];
    bar.cut += section.cut[row];
  }
  return bars;
}

export function dwellsPanel(section: Dwells, place: Place): HTMLElement {
  const panel = new Panel(place, section.title, section.note);
  const clusters = clustersOf(section.cluster), { interval } = section;
  if (clusters.length === 0) return panel.element;
  let cluster = clusters[0], inTime = interval !== null, drawing = canvas(section.title);
  const redraw = (): void => {
    drawing = drawDwells(panel, section, cluster, inTime && interval !== null ? interval : null);
    panel.body.replaceChildren(drawing);
  };
  panel.controls.append(chooser("Cluster", clusters.map(String), String(cluster), (choice) => {
    cluster = Number(choice);
    redraw();
  }));
  if (interval !== null)
    panel.controls.append(chooser("Unit", ["ps", "frames"], "ps", (choice) => {
      inTime = choice === "ps";
      redraw();
    }));
  redraw();
  panel.addSaving(() => drawing);
  return panel.element;
}

/** `interval`: picoseconds from frame to frame; null: the axis counts frames. */
function drawDwells(panel: Panel, section: Dwells, cluster: number, interval: number | null): SVGSVGElement {
  const drawing = canvas(section.title), bars = barsOf(section, cluster), unit = interval === null ? "frames" : "ps";
  const factor = interval ?? 1, wide = bars[0].to - bars[0].from + 1, colour = clusterColour(cluster);
  const hasCut = bars.some(({ cut }) => cut > 0);
  const legend = legendAbove([{ name: "visits", colour }, ...(hasCut ? [{ name: "cut by the begin or end of a file", colour: CUT_COLOUR }] : [])],
                             BOX.left, BOX.right);
  const box = { ...BOX, top: BOX.top + legend.height };
  // A bar stands around its frames: a visit of n frames in the middle of n - 0.5 to n + 0.5.
  const x = makeScale(0.5 * factor, (bars[bars.length - 1].to + 0.5) * factor, box.left, box.right);
  const y = makeScale(0, Math.max(1, range(bars.map(({ visits, cut }) => visits + cut))[1]) * 1.05, box.bottom, box.top);
  drawing.append(drawAxes(box, x, y, { x: `dwell time (${unit})`, y: "visits" }, 52));
  bars.forEach(({ from, to, visits, cut }) => {
    const left = x.place((from - 0.5) * factor), width = Math.max(0.5, x.place((to + 0.5) * factor) - left - 1);
    const bar = (low: number, high: number, fill: string): SVGElement =>
      svg("rect", { x: left, y: y.place(high), width, height: y.place(low) - y.place(high), fill });
    if (visits > 0) drawing.append(bar(0, visits, colour));
    if (cut > 0) drawing.append(bar(visits, visits + cut, CUT_COLOUR));
  });
  drawing.append(legend.element);
  addReading(drawing, bars.length, (at) => Math.floor((x.value(at) / factor - 0.5) / wide), (n) => {
    const { from, to, visits, cut } = bars[n];
    const length = (frames: number): string => shortNumber(frames * factor);
    panel.read(`${clusterName(cluster)}, ${wide === 1 ? length(from) : `${length(from)} to ${length(to)}`} ${unit}: ` +
      `${visits.toLocaleString("en")} visits` + (cut > 0 ? ` and ${cut.toLocaleString("en")} cut` : ""));
  });
  return drawing;
}
