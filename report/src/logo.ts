// Logo: the letters of each column of a family, as high as their share of its information.
import { addReading } from "./axes";
import { SET } from "./colours";
import type { Logo } from "./data";
import { html, svg } from "./dom";
import { layOut, type LineLayout, markNumbers, onWidth } from "./lines";
import { Panel, type Place } from "./panel";

/** Height of the letters of a line, above them for numbers, below them for the target's letters. */
const HIGH = 92, HEAD = 18, FOOT = 24;
const FONT = "Arial, Helvetica, sans-serif", SIZE = 100;

interface Glyph {
  left: number;
  width: number;
  /** Below and above the base line. */
  below: number;
  high: number;
}

const glyphs = new Map<string, Glyph>();
/** The box of a letter's shape in letters of SIZE. */
function glyphOf(letter: string): Glyph {
  const known = glyphs.get(letter);
  if (known) return known;
  const context = html("canvas").getContext("2d");
  if (context !== null) context.font = `bold ${SIZE}px ${FONT}`;
  const box = context?.measureText(letter);
  const made = {
    left: -(box?.actualBoundingBoxLeft ?? 0), below: box?.actualBoundingBoxDescent ?? 0,
    width: (box?.actualBoundingBoxLeft ?? 0) + (box?.actualBoundingBoxRight ?? SIZE * 0.7),
    high: (box?.actualBoundingBoxAscent ?? SIZE * 0.72) + (box?.actualBoundingBoxDescent ?? 0),
  };
  glyphs.set(letter, made);
  return made;
}

/** The letter stretched to a box whose foot is at `bottom`. */
function stretched(letter: string, left: number, bottom: number, wide: number, high: number, colour: string): SVGElement {
  const glyph = glyphOf(letter), x = wide / glyph.width, y = high / glyph.high;
  const place = `matrix(${x.toFixed(4)} 0 0 ${y.toFixed(4)} ${(left - glyph.left * x).toFixed(2)} ${(bottom - glyph.below * y).toFixed(2)})`;
  return svg("text", { transform: place, fill: colour, "font-family": FONT, "font-size": SIZE, "font-weight": "bold" }, letter);
}

class LogoPanel {
  readonly panel: Panel;
  private readonly frame = html("div", { class: "scroll tall" });
  private readonly colours = new Map<string, string>();
  private drawing = svg("svg");
  private layout: LineLayout = layOut(0, 100, 0, 0);

  constructor(private readonly data: Logo, place: Place) {
    this.panel = new Panel(place, data.title, data.note);
    this.panel.element.classList.add("wide");
    const { groups } = data;
    const single = groups.length === 1;
    groups.forEach(({ letters }, n) => [...letters].forEach((letter, k) =>
      this.colours.set(letter, SET[(single ? k : n) % SET.length])));
    this.panel.body.append(this.frame);
    if (!single)
      this.panel.body.append(html("ul", { class: "legend" }, ...groups.map(({ name, letters }) => html("li", {},
        html("span", { class: "key", style: `background:${this.colours.get(letters[0]) ?? ""}` }), `${name}: ${letters}`))));
    onWidth(this.panel.body, (width) => this.draw(width));
    this.panel.addSaving(() => this.drawing);
  }

  private draw(width: number): void {
    const { data } = this, { columns } = data;
    this.layout = layOut(columns.length, width, HEAD, HEAD + HIGH + FOOT);
    const { lines, wide, height } = this.layout;
    this.drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "drawing lines", tabindex: 0, role: "img",
                                "aria-label": `${data.title}. Arrow keys read its columns.` });
    const hasNumbers = columns.some(({ number }) => number !== "");
    const numbers = columns.map(({ number, column }) => (hasNumbers ? number : column));
    for (const line of lines) {
      const bottom = line.top + HIGH, right = line.left + (line.to - line.from) * wide;
      this.drawing.append(
        ...markNumbers(numbers, line, wide),
        svg("line", { class: "frame", x1: line.left - 3, x2: line.left - 3, y1: line.top, y2: bottom }),
        svg("line", { class: "frame", x1: line.left - 3, x2: right, y1: bottom, y2: bottom }),
        svg("text", { class: "mark", x: line.left - 6, y: line.top + 9, "text-anchor": "end" }, data.most.toFixed(1)),
        svg("text", { class: "mark", x: line.left - 6, y: bottom, "text-anchor": "end" }, "0"));
      for (let n = line.from; n < line.to; ++n) {
        const left = line.left + (n - line.from) * wide;
        let foot = bottom;
        for (const [letter, bits] of [...columns[n].stack].sort((a, b) => a[1] - b[1])) {
          const high = (bits / data.most) * HIGH;
          this.drawing.append(stretched(letter, left + 0.04 * wide, foot, 0.92 * wide, high, this.colours.get(letter) ?? "#8a8a8a"));
          foot -= high;
        }
        this.drawing.append(svg("text", { class: "label", x: left + wide / 2, y: bottom + 13, "text-anchor": "middle" },
                                columns[n].letter));
      }
    }
    this.read();
    this.frame.replaceChildren(this.drawing);
    this.drawing.dataset.state = "painted";
  }

  private read(): void {
    const { columns } = this.data, { lines, wide } = this.layout;
    const tell = (n: number): void => {
      const { column, number, letter, stack } = columns[n];
      const name = number !== "" ? `${letter}${number}, column ${column}` : `column ${column}`;
      const sum = stack.reduce((total, [, bits]) => total + bits, 0);
      const best = [...stack].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([one]) => one).join(" ");
      this.panel.read(`${name}: ${sum.toFixed(2)} bits${best !== "" ? `, mostly ${best}` : ""}`);
    };
    addReading(this.drawing, columns.length, (x, y) => {
      const line = lines.find(({ top }) => y >= top - HEAD && y < top + HIGH + FOOT);
      const n = line === undefined ? -1 : line.from + Math.floor((x - line.left) / wide);
      return line !== undefined && n >= line.from && n < line.to ? n : -1;
    }, tell);
  }
}

export function logoPanel(data: Logo, place: Place): HTMLElement {
  return new LogoPanel(data, place).panel.element;
}
