// Scatter: items by two of their numbers, coloured by the group that they belong to.
import { type Box, drawAxes, legendAbove, pointIn } from "./axes";
import { SET } from "./colours";
import type { Scatter } from "./data";
import { chooser, html, shortNumber, svg } from "./dom";
import { Panel, type Place } from "./panel";
import { makeScale, range, widened } from "./scale";

const WIDTH = 560, HEIGHT = 400, OTHERS = "#8d929b";
const LEFT = 66, RIGHT = WIDTH - 12;

/** An item that both axes show, with its place on them. */
interface Dot {
  item: number;
  x: number;
  y: number;
}

type Column = Scatter["columns"][number];

function dotPath(dots: Dot[], radius: number): string {
  return dots.map(({ x, y }) =>
    `M${(x - radius).toFixed(1)} ${y.toFixed(1)}a${radius} ${radius} 0 1 0 ${2 * radius} 0` +
    `a${radius} ${radius} 0 1 0 ${-2 * radius} 0`).join("");
}

function colourOf(section: Scatter, item: number): string {
  const place = section.group.shown.findIndex(({ value }) => value === section.group.values[item]);
  return place < 0 ? OTHERS : SET[place % SET.length];
}

/** Groups that are named, and then the others. */
function keysOf(section: Scatter): { name: string; colour: string }[] {
  if (section.group.shown.length === 0) return [];
  const hasOthers = section.group.values.some((value) => section.group.shown.every((one) => one.value !== value));
  return [...section.group.shown.map(({ name }, n) => ({ name, colour: SET[n % SET.length] })),
          ...(hasOthers ? [{ name: "others", colour: OTHERS }] : [])];
}

function place(section: Scatter, x: Column, y: Column, box: Box): { dots: Dot[]; axes: SVGGElement } {
  const shown: number[] = [];
  section.numbers.forEach((_, item) => {
    if (x.values[item] !== null && y.values[item] !== null) shown.push(item);
  });
  const alongX = makeScale(...widened(range(shown.map((item) => x.values[item] ?? NaN)), false), box.left, box.right);
  const alongY = makeScale(...widened(range(shown.map((item) => y.values[item] ?? NaN)), false), box.bottom, box.top);
  const axes = drawAxes(box, alongX, alongY, { x: x.label, y: y.label });
  const low = Math.max(alongX.least, alongY.least), high = Math.min(alongX.most, alongY.most);
  if (section.equal && low < high)
    axes.append(svg("line", { class: "zero", x1: alongX.place(low), y1: alongY.place(low), x2: alongX.place(high),
                              y2: alongY.place(high) }));
  const dots = shown.map((item) => ({ item, x: alongX.place(x.values[item] ?? 0), y: alongY.place(y.values[item] ?? 0) }));
  return { dots, axes };
}

/** The dots of each colour as one path, the named groups above the others. */
function drawDots(section: Scatter, dots: Dot[]): SVGElement[] {
  const parts = new Map<string, Dot[]>([[OTHERS, []], ...SET.map((colour): [string, Dot[]] => [colour, []])]);
  for (const dot of dots) parts.get(colourOf(section, dot.item))?.push(dot);
  return [...parts].map(([colour, part]) =>
    svg("path", { d: dotPath(part, dots.length > 60 ? 2.4 : 4), fill: colour, "fill-opacity": 0.75, stroke: "none" }));
}

/** Reads the nearest item by pointer, and items from left to right by arrow keys. */
function readDots(drawing: SVGSVGElement, dots: Dot[], tell: (dot: Dot) => void): void {
  const ring = svg("circle", { class: "pointer screen-only", r: 6, fill: "none", visibility: "hidden" });
  drawing.append(ring);
  const order = [...dots].sort((a, b) => a.x - b.x);
  let current = -1;
  const read = (at: number): void => {
    if (order.length === 0) return;
    current = Math.max(0, Math.min(order.length - 1, at));
    ring.setAttribute("cx", String(order[current].x));
    ring.setAttribute("cy", String(order[current].y));
    ring.setAttribute("visibility", "visible");
    tell(order[current]);
  };
  drawing.addEventListener("pointermove", (event) => {
    const point = pointIn(drawing, event), far = ({ x, y }: Dot): number => (x - point.x) ** 2 + (y - point.y) ** 2;
    let nearest = 0;
    order.forEach((dot, at) => {
      if (far(dot) < far(order[nearest])) nearest = at;
    });
    read(nearest);
  });
  drawing.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    read(current + step);
  });
}

export function scatterPanel(section: Scatter, at: Place): HTMLElement {
  const panel = new Panel(at, section.title, section.note);
  const named = (name: string): Column => section.columns.find((one) => one.name === name) ?? section.columns[0];
  if (section.columns.length === 0 || section.numbers.length === 0) {
    panel.body.append(html("p", {}, "There are no values to draw."));
    return panel.element;
  }
  let x = named(section.x), y = named(section.y);
  let drawing: SVGSVGElement;
  const redraw = (): void => {
    drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "drawing", tabindex: 0, role: "img",
                           "aria-label": `${section.title}. Arrow keys read its values.` });
    const legend = legendAbove(keysOf(section), LEFT, RIGHT);
    const { dots, axes } = place(section, x, y, { left: LEFT, right: RIGHT, top: 12 + legend.height, bottom: HEIGHT - 44 });
    drawing.append(axes, ...drawDots(section, dots), legend.element);
    readDots(drawing, dots, ({ item }) => {
      const name = section.labels?.[item] ??
        `${section.item} ${section.numbers[item]}, ${section.group.label} ${section.group.values[item]}`;
      panel.read(`${name}: ${x.label} ${shortNumber(x.values[item] ?? NaN)}, ` +
        `${y.label} ${shortNumber(y.values[item] ?? NaN)}`);
    });
    const told = section.correlations?.find((one) => [x.name, y.name].includes(one.x) && [x.name, y.name].includes(one.y));
    panel.body.replaceChildren(drawing, ...(told ? [html("p", { class: "note" }, told.text)] : []));
  };
  const names = section.columns.map(({ name }) => name);
  if (names.length > 2) panel.controls.append(
    chooser("Across", names, x.name, (name) => {
      x = named(name);
      redraw();
    }),
    chooser("Up", names, y.name, (name) => {
      y = named(name);
      redraw();
    }));
  redraw();
  panel.addSaving(() => drawing);
  return panel.element;
}
