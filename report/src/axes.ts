// Axes: the frame of a chart, with marks, labels and a grid.
import { readable, svg } from "./dom";
import type { Scale } from "./scale";

/** The inner box of a drawing, in its units. */
export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface AxisTexts {
  x: string;
  y: string;
}

function markX(x: Scale, box: Box): SVGElement[] {
  return x.marks(6).flatMap(({ value, text }) => {
    const at = x.place(value);
    return [svg("line", { class: "grid", x1: at, x2: at, y1: box.top, y2: box.bottom }),
            svg("text", { class: "mark", x: at, y: box.bottom + 15, "text-anchor": "middle" }, text)];
  });
}

function markY(y: Scale, box: Box): SVGElement[] {
  return y.marks(5).flatMap(({ value, text }) => {
    const at = y.place(value);
    return [svg("line", { class: "grid", x1: box.left, x2: box.right, y1: at, y2: at }),
            svg("text", { class: "mark", x: box.left - 6, y: at + 4, "text-anchor": "end" }, text)];
  });
}

/** Frame, grid, marks and labels. `marked`: which axes get marks. */
export function drawAxes(
  box: Box, x: Scale | null, y: Scale | null, texts: AxisTexts, labelPlace = 46
): SVGGElement {
  const group = svg("g", { class: "axes" });
  if (x !== null) group.append(...markX(x, box));
  if (y !== null) group.append(...markY(y, box));
  const middle = (box.top + box.bottom) / 2, side = box.left - labelPlace;
  group.append(
    svg("rect", { class: "frame", x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top }),
    svg("text", { class: "label", x: (box.left + box.right) / 2, y: box.bottom + 33, "text-anchor": "middle" }, readable(texts.x)),
    svg("text", { class: "label", x: side, y: middle, "text-anchor": "middle", transform: `rotate(-90 ${side} ${middle})` },
        readable(texts.y)));
  return group;
}

/** Keys above a box, from its left, in as many lines as they need; `height`: what they take. */
export function legendAbove(
  keys: { name: string; colour: string }[], left: number, right: number
): { element: SVGGElement; height: number } {
  const LINE = 19, LETTER = 8, TOP = 12;  // room for the larger letters of print and phones
  const element = svg("g", { class: "legend" });
  let x = left, y = TOP + 2;
  for (const { name, colour } of keys) {
    const wide = 15 + LETTER * name.length + 14;
    if (x > left && x + wide - 14 > right) {
      x = left;
      y += LINE;
    }
    element.append(svg("rect", { x, y: y - 9, width: 10, height: 10, fill: colour }),
                   svg("text", { class: "mark", x: x + 15, y }, readable(name)));
    x += wide;
  }
  return { element, height: keys.length > 0 ? y - TOP + 8 : 0 };
}

/** The place of a pointer in the units of a drawing. */
export function pointIn(drawing: SVGSVGElement, event: PointerEvent | MouseEvent): DOMPoint {
  const point = new DOMPoint(event.clientX, event.clientY);
  const matrix = drawing.getScreenCTM();
  return matrix === null ? point : point.matrixTransform(matrix.inverse());
}

/**
 * Reads items of a chart aloud, by pointer and by arrow keys: `find` gives the number of the item at a
 * place of the drawing, -1 for none, `tell` says it.
 */
export function addReading(
  drawing: SVGSVGElement, count: number, find: (x: number, y: number) => number, tell: (item: number) => void
): void {
  let current = -1;
  const read = (item: number): void => {
    current = Math.max(0, Math.min(count - 1, item));
    tell(current);
  };
  drawing.addEventListener("pointermove", (event) => {
    const { x, y } = pointIn(drawing, event), item = find(x, y);
    if (item >= 0) read(item);
  });
  drawing.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    read(current + step);
  });
}
