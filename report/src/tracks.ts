// Tracks: secondary structure along both axes of a map, and a number of each column beside it.
import type { Box } from "./axes";
import { shortNumber, svg } from "./dom";
import { range } from "./scale";

/** Of the columns on the axes, in their order. */
export interface TrackData {
  /** 'H' in helices, 'E' in strands, '-' for other residues, ' ' for no residue; none if not known. */
  structure: string | null;
  numbers: { label: string; values: (number | null)[] } | null;
}

const STRIP = 13, BARS = 46, INSET = 2;
export const HELIX = "#e69f00", STRAND = "#009e73", COIL = "#8a8a8a";

/** Room that the tracks take: left of and above the map, and right of it. */
export function trackRoom(tracks: TrackData | undefined): { strip: number; bars: number } {
  return { strip: tracks?.structure ? STRIP : 0, bars: tracks?.numbers ? BARS : 0 };
}

/** Pieces of equal letters: half-open intervals [from, to). */
function pieces(structure: string): { letter: string; from: number; to: number }[] {
  return [...structure.matchAll(/H+|E+|-+/g)].map((one) => ({ letter: one[0][0], from: one.index, to: one.index + one[0].length }));
}

/** Helices as blocks, strands as arrows, the rest as a line: points (along, across), across from 0 to 1. */
function shape(letter: string, from: number, to: number): [number, number][] {
  const box = (low: number, high: number): [number, number][] => [[from, low], [to, low], [to, high], [from, high]];
  if (letter === "H") return box(0.05, 0.95);
  if (letter !== "E") return box(0.43, 0.57);
  const neck = to - Math.min(2.5, 0.7 * (to - from));
  return [[from, 0.25], [neck, 0.25], [neck, 0], [to, 0.5], [neck, 1], [neck, 0.75], [from, 0.75]];
}

function strip(structure: string, isAcross: boolean): SVGSVGElement {
  const paths: Record<string, string> = { "-": "", H: "", E: "" };
  for (const { letter, from, to } of pieces(structure))
    paths[letter] += `M${shape(letter, from, to).map(([u, v]) => (isAcross ? `${u} ${v}` : `${v} ${u}`)).join("L")}z`;
  const colours: Record<string, string> = { "-": COIL, H: HELIX, E: STRAND };
  return svg("svg", { preserveAspectRatio: "none" },
             ...Object.entries(paths).map(([letter, d]) => svg("path", { d, fill: colours[letter] })));
}

export class Tracks {
  readonly element = svg("g", { class: "tracks" });
  private readonly across: SVGSVGElement | null = null;
  private readonly down: SVGSVGElement | null = null;
  private readonly bars: SVGSVGElement | null = null;
  private most = 1;

  /** `box`: where the map is. */
  constructor(data: TrackData, box: Box) {
    const side = box.right - box.left, thin = STRIP - 2 * INSET;
    const at = (drawing: SVGSVGElement, x: number, y: number, width: number, height: number): SVGSVGElement => {
      for (const [name, value] of Object.entries({ x, y, width, height })) drawing.setAttribute(name, String(value));
      this.element.append(drawing);
      return drawing;
    };
    if (data.structure !== null) {
      this.across = at(strip(data.structure, true), box.left, box.top - STRIP + INSET, side, thin);
      this.down = at(strip(data.structure, false), box.left - STRIP + INSET, box.top, thin, side);
    }
    if (data.numbers !== null) {
      const { label, values } = data.numbers, left = box.right + 4, wide = BARS - 8;
      this.most = Math.max(range(values.map((value) => value ?? NaN))[1], 1e-9);
      const d = values.map((value, n) => (value === null ? "" : `M0 ${n}H${value}V${n + 1}H0z`)).join("");
      this.bars = at(svg("svg", { preserveAspectRatio: "none" }, svg("path", { d, fill: "#56b4e9" })), left, box.top, wide, side);
      this.element.append(
        svg("text", { class: "mark", x: left + wide, y: box.bottom + 15, "text-anchor": "middle" }, shortNumber(this.most, 2)),
        svg("text", { class: "label", x: left + wide / 2, y: box.bottom + 33, "text-anchor": "middle" }, label));
    }
  }

  /** Shows `size` columns from x on across and from y on downwards. */
  show(x: number, y: number, size: number): void {
    this.across?.setAttribute("viewBox", `${x} 0 ${size} 1`);
    this.down?.setAttribute("viewBox", `0 ${y} 1 ${size}`);
    this.bars?.setAttribute("viewBox", `0 ${y} ${this.most} ${size}`);
  }
}
