// Substitutions: a map of all single mutants, letters by residues, in lines as wide as the panel.
import { pointIn } from "./axes";
import { BLUE_RED, type Colour, cssColour, RAMP_NAMES, rampColour, rampColours } from "./colours";
import { Matrix, type Substitutions } from "./data";
import { chooser, html, shortNumber, svg } from "./dom";
import { mutatedResidues } from "./labels";
import { layOut, type Line, type LineLayout, markNumbers, onWidth } from "./lines";
import { Panel, type Place } from "./panel";
import type { Selection } from "./selection";

/** Height of a cell, room between groups of letters, above a line for its numbers and letters, and below it. */
const CELL = 12, GAP = 3, HEAD = 30, FOOT = 14, LEGEND = 26;
/** Panels narrower than this have the words of the legend below its colours. */
const NARROW = 480, WORDS = 16;

class SubstitutionsPanel {
  readonly panel: Panel;
  private readonly matrices: Matrix[];
  private readonly selection: Selection;
  private readonly residues: string[];
  private readonly letters: string;
  /** The height at which each letter's cells begin, from the top of a line. */
  private readonly rowTop: number[] = [];
  private readonly lineHeight: number;
  private readonly frame = html("div", { class: "scroll tall" });
  private readonly pointer = svg("rect", { class: "pointer screen-only", visibility: "hidden" });
  private readonly marks = svg("g");
  private drawing = svg("svg");
  private layout: LineLayout = layOut(0, 100, 0, 0);
  private layer = 0;
  private ramp = BLUE_RED;
  private cursor: [number, number] = [0, 0];

  constructor(private readonly data: Substitutions, place: Place) {
    this.panel = new Panel(place, data.title, data.note);
    this.panel.element.classList.add("wide");
    this.selection = place.selection;
    this.residues = mutatedResidues(data);
    this.matrices = data.layers.map(({ matrix }) => new Matrix(matrix));
    this.letters = data.groups.map(({ letters }) => letters).join("");
    let top = 0;
    for (const { letters } of data.groups) {
      for (let n = 0; n < letters.length; ++n) this.rowTop.push(top + n * CELL);
      top += letters.length * CELL + GAP;
    }
    this.lineHeight = HEAD + top - GAP + FOOT;
    const names = data.layers.map(({ name }) => name), redraw = (): void => this.draw(this.layout.width);
    this.panel.controls.append(
      chooser("Number", names, names[0], (name) => {
        this.layer = names.indexOf(name);
        redraw();
      }),
      chooser("Colours", [BLUE_RED, ...RAMP_NAMES], this.ramp, (ramp) => {
        this.ramp = ramp;
        redraw();
      }));
    this.panel.body.append(this.frame);
    onWidth(this.panel.body, (width) => this.draw(width));
    document.addEventListener("pleat-theme", redraw);
    this.selection.listen((change) => {
      if (change === "picked") this.showPicked();
    });
    this.panel.addSaving(() => this.drawing);
  }

  /** The numbers at the ends of the colours: the wild type's 0 in the middle of two-sided ones. */
  private ends(): [number, number] {
    const matrix = this.matrices[this.layer], [low, high] = [matrix.quantile(0.005), matrix.quantile(0.995)];
    if (this.ramp !== BLUE_RED || !this.data.layers[this.layer].effect) return [low, high];
    const far = Math.max(Math.abs(low), Math.abs(high));
    return [-far, far];
  }

  private draw(width: number): void {
    const { data } = this, colours = rampColours(this.ramp), ends = this.ends();
    const legend = LEGEND + (width < NARROW ? WORDS : 0);
    this.layout = layOut(data.numbers.length, width, legend + HEAD, this.lineHeight);
    const { height } = this.layout;
    this.drawing = svg("svg", {
      viewBox: `0 0 ${width} ${height}`, class: "drawing lines", tabindex: 0, role: "application",
      "aria-label": `${data.title}. Arrow keys move, Enter picks a residue.`,
    }, ...this.drawLegend(colours, ends), ...this.layout.lines.flatMap((line) => this.drawLine(line, colours, ends)),
      this.marks, this.pointer);
    this.pointer.setAttribute("visibility", "hidden");
    this.listen(this.drawing);
    this.frame.replaceChildren(this.drawing);
    this.drawing.dataset.state = "painted";
    this.showPicked();
  }

  private drawLegend(colours: Colour[], [low, high]: [number, number]): SVGElement[] {
    const { name } = this.data.layers[this.layer], steps = 32, wide = 3, left = 22 + 8 * shortNumber(low, 3).length;
    const bars = Array.from({ length: steps }, (_, n) =>
      svg("rect", { x: left + n * wide, y: 5, width: wide + 0.3, height: 10, fill: rampColour(colours, n, 0, steps - 1) }));
    const right = left + steps * wide + 6, isNarrow = this.layout.width < NARROW;
    const after = isNarrow ? 22 : right + 8 * shortNumber(high, 3).length + 14, down = isNarrow ? WORDS : 0;
    const isTwoSided = this.ramp === BLUE_RED && this.data.layers[this.layer].effect;
    return [svg("text", { class: "mark", x: left - 6, y: 14, "text-anchor": "end" }, shortNumber(low, 3)), ...bars,
            svg("text", { class: "mark", x: right, y: 14 }, shortNumber(high, 3)),
            svg("circle", { class: "wild-type", cx: after, cy: 10 + down, r: 2.5 }),
            svg("text", { class: "mark", x: after + 7, y: 14 + down }, `wild type; colours: ${name}${isTwoSided ? ", blue is harmful" : ""}`)];
  }

  private drawLine(line: Line, colours: Colour[], ends: [number, number]): SVGElement[] {
    const { wide } = this.layout, { data } = this, count = line.to - line.from;
    const x = (n: number): number => line.left + (n - line.from + 0.5) * wide;
    const drawn: SVGElement[] = markNumbers(data.numbers, { ...line, top: line.top - 13 }, wide);
    let dots = "", row = 0;
    for (const { letters } of data.groups) {
      drawn.push(svg("image", {
        x: line.left, y: line.top + this.rowTop[row], width: count * wide, height: letters.length * CELL,
        class: "pixels", preserveAspectRatio: "none", href: this.picture(line, row, letters.length, colours, ends),
      }));
      row += letters.length;
    }
    for (let n = line.from; n < line.to; ++n) {
      const own = this.letters.indexOf(data.wild_type[n]), letter = data.wild_type[n];
      drawn.push(svg("text", { class: "label", x: x(n), y: line.top - 4, "text-anchor": "middle" }, letter));
      if (own >= 0) dots += `M${x(n) - 2.5} ${line.top + this.rowTop[own] + CELL / 2}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0`;
    }
    [...this.letters].forEach((letter, n) => drawn.push(svg("text", {
      class: "mark", x: line.left - 6, y: line.top + this.rowTop[n] + CELL - 2.5, "text-anchor": "end",
    }, letter)));
    return [...drawn, svg("path", { class: "wild-type", d: dots })];
  }

  /** The cells of some letters in a line as a picture; those of the wild type stay clear. */
  private picture(line: Line, row: number, rows: number, colours: Colour[], [low, high]: [number, number]): string {
    const matrix = this.matrices[this.layer], count = line.to - line.from;
    const canvas = html("canvas", { width: count, height: rows }), context = canvas.getContext("2d");
    if (context === null) return "";
    for (let r = 0; r < rows; ++r)
      for (let n = 0; n < count; ++n) {
        const value = matrix.at(row + r, line.from + n);
        if (Number.isNaN(value)) continue;
        const share = high > low ? (value - low) / (high - low) : 0.5;
        context.fillStyle = cssColour(colours[Math.max(0, Math.min(255, Math.round(255 * share)))]);
        context.fillRect(n, r, 1, 1);
      }
    return canvas.toDataURL();
  }

  private lineOf(residue: number): Line | undefined {
    return this.layout.lines.find(({ from, to }) => residue >= from && residue < to);
  }

  private cellOf(event: PointerEvent): [number, number] | null {
    const point = pointIn(this.drawing, event), { wide } = this.layout;
    for (const line of this.layout.lines) {
      const residue = line.from + Math.floor((point.x - line.left) / wide);
      const row = this.rowTop.findIndex((top) => point.y >= line.top + top && point.y < line.top + top + CELL);
      if (row >= 0 && residue >= line.from && residue < line.to) return [row, residue];
    }
    return null;
  }

  private pointAt(row: number, residue: number): void {
    const line = this.lineOf(residue), { wide } = this.layout;
    if (line === undefined) return;
    this.cursor = [row, residue];
    const box = { x: line.left + (residue - line.from) * wide, y: line.top + this.rowTop[row], width: wide, height: CELL };
    for (const [name, value] of Object.entries(box)) this.pointer.setAttribute(name, String(value));
    this.pointer.setAttribute("visibility", "visible");
    const { data } = this, own = data.wild_type[residue], letter = this.letters[row];
    if (letter === own) {
      this.panel.read(`${this.residues[residue]}: wild type, column ${data.places[residue]}`);
      return;
    }
    const numbers = data.layers.map(({ name }, n) => `${name} ${shortNumber(this.matrices[n].at(row, residue))}`);
    this.panel.read(`${this.residues[residue]}${letter}: ${numbers.join(", ")}`);
  }

  private listen(drawing: SVGElement): void {
    drawing.addEventListener("pointermove", (event) => {
      const cell = this.cellOf(event);
      if (cell !== null) this.pointAt(...cell);
    });
    drawing.addEventListener("click", (event) => {
      const cell = this.cellOf(event as PointerEvent);
      if (cell === null) return;
      this.pointAt(...cell);
      this.selection.pick([cell[1]]);
    });
    drawing.addEventListener("keydown", (event) => {
      const [row, residue] = this.cursor;
      const inside = (value: number, count: number): number => Math.max(0, Math.min(count - 1, value));
      const steps: Record<string, [number, number]> = {
        ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [0, -10], PageDown: [0, 10],
      };
      if (event.key in steps) {
        const [down, right] = steps[event.key];
        this.pointAt(inside(row + down, this.letters.length), inside(residue + right, this.data.numbers.length));
      } else if (event.key === "Enter") this.selection.pick([residue]);
      else return;
      event.preventDefault();
    });
  }

  private showPicked(): void {
    const { wide } = this.layout, high = (this.rowTop[this.rowTop.length - 1] ?? 0) + CELL;
    this.marks.replaceChildren(...this.selection.picked.flatMap((residue) => {
      const line = this.lineOf(residue);
      return line === undefined ? [] : [svg("rect", {
        class: "picked", x: line.left + (residue - line.from) * wide, y: line.top, width: wide, height: high,
      })];
    }));
  }
}

export function substitutionsPanel(data: Substitutions, place: Place): HTMLElement {
  return new SubstitutionsPanel(data, place).panel.element;
}
