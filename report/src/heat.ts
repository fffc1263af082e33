// Heat: a matrix as a picture with axes, that zooms, is read by pointer and keys, and takes marks.
import { type Box, drawAxes, pointIn } from "./axes";
import { type Colour, rampColour } from "./colours";
import { button, html, readable, shortNumber, svg } from "./dom";
import { onPrint } from "./print";
import type { Scale } from "./scale";
import { type TrackData, trackRoom, Tracks } from "./tracks";

const SIDE = 544, LEFT = 54, TOP = 12, INNER = 400;

/** What a heat map shows. Cells are [row, column], row 0 on top. */
export interface HeatOptions {
  size: number;
  title: string;
  axis: string;
  /** The name of the columns where it is another. */
  columnAxis?: string;
  tracks?: TrackData;
  /** Fills the pixels of the cells, row by row; those left 0 stay clear. */
  paint(pixels: Uint32Array): void;
  /** The scale of either axis from `start` to `end` of the drawing; its marks stand where their cells are. */
  scale(first: number, last: number, start: number, end: number): Scale;
  point(row: number, column: number): void;
  pick?(row: number, column: number): void;
}

interface View {
  x: number;
  y: number;
  size: number;
}

export class Heat {
  readonly drawing: SVGSVGElement;
  readonly buttons = html("div", { class: "zoom" });
  private view: View;
  private cursor: [number, number] = [0, 0];
  private readonly inner: SVGSVGElement;
  private readonly picture = svg("image", { x: 0, y: 0, class: "pixels", preserveAspectRatio: "none" });
  private readonly marks = svg("g");
  private readonly pointer = svg("path", { class: "pointer screen-only", visibility: "hidden" });
  private readonly frame = svg("rect", { class: "zoom-box screen-only", visibility: "hidden" });
  private readonly scaleBar = svg("g");
  private axes = svg("g");
  private dragged: DOMPoint | null = null;
  private seen = false;
  /** Where the cells are, and the frame about them and the tracks. */
  private readonly box: Box;
  private readonly frameBox: Box;
  private readonly tracks: Tracks | null;

  constructor(private readonly options: HeatOptions) {
    const { strip, bars } = trackRoom(options.tracks), left = LEFT + strip, top = TOP + strip;
    this.box = { left, right: left + INNER, top, bottom: top + INNER };
    this.frameBox = { left: LEFT, right: this.box.right + bars, top: TOP, bottom: this.box.bottom };
    this.tracks = options.tracks ? new Tracks(options.tracks, this.box) : null;
    this.view = { x: 0, y: 0, size: options.size };
    this.picture.setAttribute("width", String(options.size));
    this.picture.setAttribute("height", String(options.size));
    this.inner = svg("svg", { x: left, y: top, width: INNER, height: INNER, preserveAspectRatio: "none" },
                     this.picture, this.marks, this.pointer);
    this.drawing = svg("svg", {
      viewBox: `0 0 ${SIDE + strip + bars} ${this.box.bottom + 46}`, class: "drawing heat", tabindex: 0, role: "application",
      "aria-label": `${options.title}. Arrow keys move, Enter picks, plus and minus zoom, 0 shows all.`,
    }, this.axes, this.inner, this.frame, this.scaleBar, ...(this.tracks ? [this.tracks.element] : []));
    this.buttons.append(button("+", () => this.zoom(0.5), "Zoom in"), button("−", () => this.zoom(2), "Zoom out"),
                        button("All", () => this.reset(), "Show all"));
    this.listen();
    this.show();
    this.watch();
  }

  /** Paints every cell anew, or waits with it until the map comes into sight. */
  paint(): void {
    if (this.seen) this.paintNow();
  }

  private watch(): void {
    const watch = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) begin();
    }, { rootMargin: "300px" });
    const begin = (): void => {
      if (this.seen) return;
      watch.disconnect();
      this.seen = true;
      this.paintNow();
    };
    watch.observe(this.drawing);
    this.drawing.addEventListener("pleat-shown", begin);
    onPrint((isPrinting) => {
      if (isPrinting) begin();
    });
  }

  private paintNow(): void {
    const size = this.options.size;
    const canvas = html("canvas", { width: size, height: size });
    const context = canvas.getContext("2d");
    if (context === null) return;
    const image = context.createImageData(size, size);
    this.options.paint(new Uint32Array(image.data.buffer));
    context.putImageData(image, 0, 0);
    this.picture.setAttribute("href", canvas.toDataURL());
    this.drawing.dataset.state = "painted";
  }

  /** Marks in units of cells, over the picture. */
  setMarks(...marks: SVGElement[]): void {
    this.marks.replaceChildren(...marks);
  }

  /** A bar that tells what colours mean. */
  setScale(colours: Colour[], least: number, most: number, label: string, isClipped = false): void {
    const [above, below] = isClipped ? ["≥ ", "≤ "] : ["", ""];
    const { top, bottom } = this.box, left = this.frameBox.right + 14, high = INNER / 64;
    const steps = Array.from({ length: 64 }, (_, n) => svg("rect", {
      x: left, y: bottom - (n + 1) * high, width: 12, height: high + 0.5, fill: rampColour(colours, n, 0, 63),
    }));
    const middle = (top + bottom) / 2;
    this.scaleBar.replaceChildren(
      ...steps,
      svg("text", { class: "mark", x: left + 16, y: top + 10 }, above + shortNumber(most, 3)),
      svg("text", { class: "mark", x: left + 16, y: bottom }, below + shortNumber(least, 3)),
      svg("text", { class: "label", x: left + 42, y: middle, "text-anchor": "middle",
                    transform: `rotate(-90 ${left + 42} ${middle})` }, readable(label)));
  }

  /** Moves the view so that a cell is in it, and points at it. */
  showCell(row: number, column: number): void {
    const { x, y, size } = this.view;
    if (column < x || column >= x + size || row < y || row >= y + size)
      this.setView({ x: column - size / 2, y: row - size / 2, size });
    this.pointAt(row, column);
  }

  private show(): void {
    const { x, y, size } = this.view;
    this.inner.setAttribute("viewBox", `${x} ${y} ${size} ${size}`);
    const { left, right, top, bottom } = this.box;
    this.tracks?.show(x, y, size);
    const axes = drawAxes(this.frameBox, this.options.scale(x, x + size, left, right),
                          this.options.scale(y, y + size, top, bottom),
                          { x: this.options.columnAxis ?? this.options.axis, y: this.options.axis }, 44);
    this.axes.replaceWith(axes);
    this.axes = axes;
  }

  private setView({ x, y, size }: View): void {
    const all = this.options.size;
    const side = Math.min(all, Math.max(Math.min(4, all), size));
    const inside = (start: number) => Math.max(0, Math.min(all - side, start));
    this.view = { x: inside(x), y: inside(y), size: side };
    this.show();
  }

  private reset(): void {
    this.setView({ x: 0, y: 0, size: this.options.size });
  }

  /** About the cell pointed at where it is in view, else about the middle. */
  private zoom(factor: number): void {
    const { x, y, size } = this.view, [row, column] = this.cursor;
    const isSeen = this.pointer.getAttribute("visibility") === "visible" &&
      column >= x && column < x + size && row >= y && row < y + size;
    const [atX, atY] = isSeen ? [column + 0.5, row + 0.5] : [x + size / 2, y + size / 2];
    this.setView({ x: atX - (atX - x) * factor, y: atY - (atY - y) * factor, size: size * factor });
  }

  private pointAt(row: number, column: number): void {
    this.cursor = [row, column];
    const all = this.options.size;
    this.pointer.setAttribute("d", `M0 ${row + 0.5}H${all}M${column + 0.5} 0V${all}`);
    this.pointer.setAttribute("visibility", "visible");
    this.options.point(row, column);
  }

  private cellOf(event: PointerEvent): [number, number] | null {
    const point = pointIn(this.drawing, event), { x, y, size } = this.view, { left, right, top, bottom } = this.box;
    const column = Math.floor(x + ((point.x - left) / INNER) * size);
    const row = Math.floor(y + ((point.y - top) / INNER) * size);
    const all = this.options.size;
    return row >= 0 && column >= 0 && row < all && column < all && point.x >= left && point.y >= top &&
      point.x < right && point.y < bottom ? [row, column] : null;
  }

  private listen(): void {
    const draw = this.drawing;
    draw.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse" && event.button === 0 && this.cellOf(event) !== null)
        this.dragged = pointIn(draw, event);
    });
    draw.addEventListener("pointermove", (event) => {
      const cell = this.cellOf(event);
      if (cell !== null) this.pointAt(...cell);
      if (this.dragged !== null) this.showFrame(this.dragged, pointIn(draw, event));
    });
    draw.addEventListener("pointerup", (event) => this.release(event));
    draw.addEventListener("pointerleave", () => this.dropFrame());
    draw.addEventListener("dblclick", () => this.reset());
    draw.addEventListener("keydown", (event) => this.press(event));
  }

  private release(event: PointerEvent): void {
    const start = this.dragged, end = pointIn(this.drawing, event);
    this.dropFrame();
    const side = start === null ? 0 : Math.max(Math.abs(end.x - start.x), Math.abs(end.y - start.y));
    if (start !== null && side > 8) {
      const scale = this.view.size / INNER;
      const corner = (from: number, to: number) => Math.min(from, from + Math.sign(to - from) * side);
      this.setView({ x: this.view.x + (corner(start.x, end.x) - this.box.left) * scale,
                     y: this.view.y + (corner(start.y, end.y) - this.box.top) * scale, size: side * scale });
      return;
    }
    const cell = this.cellOf(event);
    if (cell === null) return;
    this.pointAt(...cell);
    this.options.pick?.(...cell);
  }

  private showFrame(start: DOMPoint, end: DOMPoint): void {
    const side = Math.max(Math.abs(end.x - start.x), Math.abs(end.y - start.y));
    for (const [name, value] of Object.entries({
      x: Math.min(start.x, start.x + Math.sign(end.x - start.x) * side),
      y: Math.min(start.y, start.y + Math.sign(end.y - start.y) * side), width: side, height: side,
    })) this.frame.setAttribute(name, String(value));
    this.frame.setAttribute("visibility", side > 8 ? "visible" : "hidden");
  }

  private dropFrame(): void {
    this.dragged = null;
    this.frame.setAttribute("visibility", "hidden");
  }

  private press(event: KeyboardEvent): void {
    const step = event.shiftKey ? Math.max(1, Math.round(this.view.size / 10)) : 1;
    const moves: Record<string, [number, number]> = {
      ArrowUp: [-step, 0], ArrowDown: [step, 0], ArrowLeft: [0, -step], ArrowRight: [0, step],
    };
    const inside = (cell: number) => Math.max(0, Math.min(this.options.size - 1, cell));
    if (event.key in moves) {
      const [down, right] = moves[event.key];
      this.showCell(inside(this.cursor[0] + down), inside(this.cursor[1] + right));
    } else if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "0") this.reset();
    else if (event.key === "Enter") this.options.pick?.(...this.cursor);
    else return;
    event.preventDefault();
  }
}
