// Data: what pleat report writes into the page, and numbers unpacked from it.

/** A matrix as src/pleat/report/packed.h describes it: symmetric by its size, or with rows and columns. */
export interface Packed {
  size?: number;
  diagonal?: boolean;
  rows?: number;
  columns?: number;
  least: number;
  most: number;
  data: string;
}

/** Titles, notes and labels are texts of files or of pleat; they are shown as text only. */
interface Titled {
  title: string;
  note?: string;
}

export interface Axis {
  label: string;
  scale?: "linear" | "log";
}

export interface ContactMap extends Titled {
  kind: "contact_map";
  places: number[];
  letters: string[];
  residues: string[];
  /** Whether a column has a residue in the structure. */
  placed: boolean[];
  /** Of each column 'H' (helix), 'E' (strand), '-', or ' ' without a residue; null where it is not known. */
  structure: string | null;
  /** Of each column, in bits. */
  entropy: (number | null)[] | null;
  /** "A 55" of each column: its part of the alignment and its position there; null without parts. */
  parts: string[] | null;
  /** All pairs in contact whose places differ by at least `separation`. */
  contacts: { cutoff: number; separation: number; i: number[]; j: number[]; distance: number[] } | null;
  layers: { name: string; matrix: Packed }[];
  /** Pairs whose E, by null alignments that evolve along a tree, is below `e`. */
  significant?: { e: number; i: number[]; j: number[] };
}

export interface HeatMap extends Titled {
  kind: "heat_map";
  unit: string;
  axis: string;
  block: number;
  items: number;
  /** Where one set stands against another: along the columns. */
  other_axis?: string;
  other_items?: number;
  matrix: Packed;
}

export interface Series {
  name: string;
  style?: "line" | "points" | "bars";
  values: (number | null)[];
  /** Bars of points, a band around lines. */
  error?: (number | null)[];
}

export interface Curve extends Titled {
  kind: "curve";
  x: Axis;
  y: Axis;
  positions: (number | null)[];
  /** Of each position, where they are residues: "ALA 52A", or empty. The axis then marks their numbers. */
  residues?: string[];
  /** What a position without a residue is called; the label of the axis by default. */
  position?: string;
  series: Series[];
  style?: "line" | "points" | "bars";
  /** One series at a time, picked from a list. */
  choose?: boolean;
  residuals?: { label: string; values: (number | null)[] };
}

/** Items by any two of their numbers, coloured by their group. */
export interface Scatter extends Titled {
  kind: "scatter";
  /** What each item is, and its number. */
  item: string;
  numbers: number[];
  columns: { name: string; label: string; values: (number | null)[] }[];
  /** Names of columns. */
  x: string;
  y: string;
  /** Groups by number: those named here have colours of their own, in this order. */
  group: { label: string; values: number[]; shown: { value: number; name: string }[] };
  /** What each item is, if its number and group do not tell. */
  labels?: string[];
  /** Draws the line on which both are equal. */
  equal?: boolean;
  /** What is known of two columns, told below their dots. */
  correlations?: { x: string; y: string; text: string }[];
}

/** Letters that stand together, such as aromatic amino acids. */
export interface LetterGroup {
  name: string;
  letters: string;
}

/** Numbers of all single mutants: [letter in the order of the groups, residue]. */
export interface Substitutions extends Titled {
  kind: "substitutions";
  /** Of the residues, and the columns where they are. */
  numbers: string[];
  places: number[];
  wild_type: string;
  groups: LetterGroup[];
  /** `effect`: 0 is the wild type. */
  layers: { name: string; effect: boolean; matrix: Packed }[];
}

/** Letters of the columns of a family, in bits. */
export interface Logo extends Titled {
  kind: "logo";
  /** Of a column with one letter. */
  most: number;
  groups: LetterGroup[];
  /** `number` and `letter` of the target's residue, empty and "-" where it has none. */
  columns: { column: string; number: string; letter: string; stack: [string, number][] }[];
}

export interface Histogram extends Titled {
  kind: "histogram";
  x: Axis;
  y: Axis;
  from: (number | null)[];
  to: (number | null)[];
  count: (number | null)[];
}

export interface Bars extends Titled {
  kind: "bars";
  x: Axis;
  y: Axis;
  labels: string[];
  values: (number | null)[];
}

/** Runs of frames with one value: values[r] for lengths[r] frames. */
export interface Steps extends Titled {
  kind: "steps";
  x: Axis;
  y: Axis;
  values: number[];
  lengths: number[];
}

/** Steps of a trajectory from cluster to cluster, of which there are any; -1 is noise. */
export interface Transitions extends Titled {
  kind: "transitions";
  from: number[];
  to: number[];
  count: number[];
  probability: (number | null)[];
}

/** Visits of a trajectory to a cluster that are `dwell` frames long: whole ones, and those that a file cuts. */
export interface Dwells extends Titled {
  kind: "dwells";
  cluster: number[];
  dwell: number[];
  visits: number[];
  cut: number[];
  /** Picoseconds from frame to frame. */
  interval: number | null;
}

export interface Tree extends Titled {
  kind: "tree";
  x: Axis;
  newick: string;
  /** Where the run cut it, or into how many clusters. */
  cut?: number;
  clusters?: number;
  /** The run's cluster of each leaf, by the number that is the leaf's name. */
  assignment?: number[] | null;
}

/** A tree of sequences; lengths are substitutions. */
export interface Phylogeny extends Titled {
  kind: "phylogeny";
  newick: string;
}

export interface TableData extends Titled {
  kind: "table";
  file?: string;
  columns: string[];
  rows: string[][];
  total: number;
}

export interface Molecule extends Titled {
  kind: "molecule";
  pdb: string;
  /** "ALA 52A" of residue 1, 2, ... of the PDB text. */
  residues: string[];
  columns: number[];
  values: { name: string; values: (number | null)[] }[];
  /** false: the run has no pairs of columns. */
  pairs?: boolean;
}

export interface Models extends Titled {
  kind: "models";
  /** What each is one of: "cluster", "frame". */
  item: string;
  /** Number of the first model, 0 where it is not given. */
  first?: number;
  models: string[];
}

export type Section =
  | ContactMap | HeatMap | Curve | Scatter | Histogram | Bars | Steps | Transitions | Dwells | Tree | Phylogeny | TableData
  | Molecule | Models | Substitutions | Logo;

/** What a run found: a sentence, and up to three numbers as the program's summary prints them. */
export interface Headline {
  sentence: string;
  tiles: { value: string; label: string }[];
}

export interface Run {
  /** Of its folder. */
  name: string;
  /** What its data are called, and what it computed with them. */
  subject?: string;
  title?: string;
  headline?: Headline;
  manifest: Record<string, unknown>;
  notes: string[];
  files: string[];
  sections: Section[];
}

export interface PageData {
  pleat: string;
  title: string;
  runs: Run[];
}

const STEPS = 65534, MISSING = 65535;

/** 16-bit numbers, the low byte first, of their base64. */
function unpack(data: string): Uint16Array {
  const text = atob(data), bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; ++at) bytes[at] = text.charCodeAt(at);
  const isLittle = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
  if (!isLittle) for (let at = 0; at + 1 < bytes.length; at += 2) [bytes[at], bytes[at + 1]] = [bytes[at + 1], bytes[at]];
  return new Uint16Array(bytes.buffer);
}

/** A matrix of 16-bit steps. */
export class Matrix {
  /** Along the longer side. */
  readonly size: number;
  readonly least: number;
  readonly most: number;
  private readonly steps: Uint16Array;
  private readonly diagonal: boolean;
  /** Of a matrix that is not symmetric. */
  private readonly sides: { rows: number; columns: number } | null = null;

  constructor(packed: Packed) {
    if (packed.rows !== undefined && packed.columns !== undefined)
      this.sides = { rows: packed.rows, columns: packed.columns };
    this.size = packed.size ?? Math.max(packed.rows ?? 0, packed.columns ?? 0);
    this.least = packed.least;
    this.most = packed.most;
    this.diagonal = packed.diagonal ?? false;
    this.steps = unpack(packed.data);
  }

  private valueOf(step: number): number {
    return step === MISSING ? NaN : this.least + (step / STEPS) * (this.most - this.least);
  }

  /** Where the numbers of row i begin, less i: number (i, j) with j above i is at start(i) + j. */
  private start(i: number): number {
    const n = this.size;
    return this.diagonal ? i * n - (i * (i - 1)) / 2 - i : i * (n - 1) - (i * (i - 1)) / 2 - i - 1;
  }

  /** The number of row i and column j, which of a symmetric matrix is that of any order; NaN where there is none. */
  at(i: number, j: number): number {
    if (this.sides !== null) {
      const { rows, columns } = this.sides;
      return i < rows && j < columns ? this.valueOf(this.steps[i * columns + j]) : NaN;
    }
    if (i === j && !this.diagonal) return NaN;
    return this.valueOf(this.steps[i < j ? this.start(i) + j : this.start(j) + i]);
  }

  /** Of a symmetric matrix the pairs i < j of at least `least`, row by row. */
  pairsFrom(least: number): { i: number; j: number; value: number }[] {
    const found: { i: number; j: number; value: number }[] = [];
    for (let i = 0; i < this.size; ++i) {
      const start = this.start(i);
      for (let j = i + 1; j < this.size; ++j) {
        const value = this.valueOf(this.steps[start + j]);
        if (value >= least) found.push({ i, j, value });
      }
    }
    return found;
  }

  /**
   * Fills the pixels [row, column] of a picture by a colour for each of 256 parts of the range from `least`
   * to `most`; cells without a number stay as they are, and so does what lies below the diagonal where
   * `half` is set.
   */
  paint(pixels: Uint32Array, colours: Uint32Array, least: number, most: number, half: boolean): void {
    const size = this.size, table = new Uint32Array(MISSING + 1);
    for (let step = 0; step <= STEPS; ++step) {
      const share = most > least ? (this.valueOf(step) - least) / (most - least) : 0.5;
      table[step] = colours[Math.max(0, Math.min(255, Math.round(255 * share)))];
    }
    if (this.sides !== null) {
      const { rows, columns } = this.sides;
      for (let i = 0; i < rows; ++i)
        for (let j = 0; j < columns; ++j) pixels[i * size + j] = table[this.steps[i * columns + j]];
      return;
    }
    for (let i = 0; i < size; ++i) {
      const start = this.start(i);
      for (let j = this.diagonal ? i : i + 1; j < size; ++j) {
        const colour = table[this.steps[start + j]];
        pixels[i * size + j] = colour;
        if (!half) pixels[j * size + i] = colour;
      }
    }
  }

  /** The number that this share of all numbers does not exceed. */
  quantile(share: number): number {
    const counts = new Uint32Array(MISSING + 1);
    for (const step of this.steps) ++counts[step];
    let left = share * (this.steps.length - counts[MISSING]);
    for (let step = 0; step < STEPS; ++step) {
      left -= counts[step];
      if (left <= 0) return this.valueOf(step);
    }
    return this.most;
  }
}

/** The data of the page; null in the template itself. */
export function readPageData(): PageData | null {
  const element = document.getElementById("pleat-data");
  const data = JSON.parse(element?.textContent ?? "null") as PageData | null;
  return data !== null && Array.isArray(data.runs) ? data : null;
}
