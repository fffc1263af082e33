// Contact map: scores of pairs of columns above the diagonal, true contacts below.
import { RAMP_NAMES, rampColours, rampPixels } from "./colours";
import { type ContactMap, Matrix } from "./data";
import { checkbox, chooser, html, shortNumber, slider, svg } from "./dom";
import { Heat } from "./heat";
import { markItems, partNames, residueId } from "./labels";
import { Panel, type Place } from "./panel";
import { makeScale } from "./scale";
import type { Pair, Selection } from "./selection";

const RIGHT = "#0072b2", WRONG = "#d55e00", SIGNIFICANT = "#56b4e9";

/** The best `most` pairs for which `isRanked` is true, best first. */
function rankPairs(matrix: Matrix, isRanked: (i: number, j: number) => boolean, most: number): Pair[] {
  const far = (least: number) => matrix.pairsFrom(least).filter(({ i, j }) => isRanked(i, j));
  // With what most pairs are below left out, few are left to sort.
  let found = far(matrix.quantile(0.95));
  if (found.length < most) found = far(-Infinity);
  return found.sort((a, b) => b.value - a.value).slice(0, most).map(({ i, j }): Pair => [i, j]);
}

/** Squares on cells [row, column], `side` wide, about their middles. */
function squares(cells: Pair[], side: number): string {
  const half = side / 2;
  return cells.map(([row, column]) => `M${column + 0.5 - half} ${row + 0.5 - half}h${side}v${side}h${-side}z`).join("");
}

/** How many best pairs of so many columns can be shown. */
function mostPairs(size: number): number {
  return Math.min(3 * size, (size * (size - 1)) / 2);
}

class ContactMapPanel {
  readonly panel: Panel;
  private heat: Heat;
  /** The columns on the axes, and the position of each column there, -1 for those left out. */
  private shown: number[] = [];
  private at: number[] = [];
  private readonly matrices: (Matrix | null)[];
  private readonly distances = new Map<number, number>();
  private readonly selection: Selection;
  /** The part of each column. */
  private readonly parts: string[];
  private readonly legend = html("ul", { class: "legend" });
  private layer = 0;
  private ramp = "grey";
  private separation: number;
  private top: number;
  private ranked: Pair[] = [];
  private least = 0;
  private most = 1;

  constructor(private readonly map: ContactMap, place: Place) {
    this.panel = new Panel(place, map.title);
    this.selection = place.selection;
    this.parts = partNames(map);
    this.matrices = map.layers.map(() => null);
    const { contacts } = map, size = map.places.length, placed = map.placed.filter((one) => one).length;
    contacts?.i.forEach((i, n) => this.distances.set(i * size + contacts.j[n], contacts.distance[n]));
    // Columns without a residue are as good as empty beside the contacts of a structure.
    const isLimited = contacts !== null && placed > 1 && placed < size;
    this.chooseColumns(isLimited);
    this.top = Math.min(this.shown.length, (this.shown.length * (this.shown.length - 1)) / 2);
    this.separation = Math.max(1, Math.min(6, size - 1));
    // Those first that a null model calls significant.
    if (map.significant !== undefined && map.significant.i.length > 0) {
      this.top = Math.min(map.significant.i.length, mostPairs(size));
      this.separation = 1;
    }
    this.heat = this.makeHeat();
    this.addControls(isLimited);
    this.panel.body.append(this.heat.drawing, this.legend);
    this.panel.addSaving(() => this.heat.drawing);
    this.selection.listen((change) => {
      if (change === "picked") this.showPicked();
    });
    document.addEventListener("pleat-theme", () => this.repaint());
    this.repaint();
    this.rank();
  }

  /** All columns, or only those with a residue. */
  private chooseColumns(isLimited: boolean): void {
    const { places, placed } = this.map;
    this.shown = places.map((_, column) => column).filter((column) => !isLimited || placed[column]);
    this.at = places.map(() => -1);
    this.shown.forEach((column, n) => (this.at[column] = n));
  }

  private makeHeat(): Heat {
    const { map, shown } = this;
    const hasResidues = map.residues.some((residue) => residue !== "");
    const ids = shown.map((column) => (hasResidues ? residueId(map.residues[column]) : String(map.places[column])));
    const middles = shown.map((_, n) => n + 0.5), { structure, entropy } = map;
    return new Heat({
      size: shown.length, title: map.title, axis: hasResidues ? "residue number" : "column",
      tracks: {
        structure: structure === null ? null : shown.map((column) => structure[column]).join(""),
        numbers: entropy === null ? null : { label: "entropy (bits)", values: shown.map((column) => entropy[column]) },
      },
      paint: (pixels) => this.paint(pixels),
      scale: (first, last, start, end) => markItems(makeScale(first, last, start, end), middles, ids),
      point: (row, column) => this.tell(shown[row], shown[column]),
      pick: (row, column) => this.selection.pick(
        row === column ? [] : [shown[Math.min(row, column)], shown[Math.max(row, column)]]),
    });
  }

  private paint(pixels: Uint32Array): void {
    const size = this.map.places.length, { shown } = this, isHalf = this.map.contacts !== null;
    const all = shown.length === size ? pixels : new Uint32Array(size * size);
    this.matrix.paint(all, rampPixels(this.ramp), this.least, this.most, isHalf);
    if (all !== pixels)
      shown.forEach((row, r) => shown.forEach((column, c) => (pixels[r * shown.length + c] = all[row * size + column])));
  }

  /** Shows other columns in the place of these. */
  private replaceHeat(isLimited: boolean): void {
    this.chooseColumns(isLimited);
    const { drawing, buttons } = this.heat;
    this.heat = this.makeHeat();
    this.heat.drawing.id = drawing.id;
    drawing.replaceWith(this.heat.drawing);
    buttons.replaceWith(this.heat.buttons);
    this.repaint();
    this.rank();
  }

  private get matrix(): Matrix {
    return (this.matrices[this.layer] ??= new Matrix(this.map.layers[this.layer].matrix));
  }

  private addControls(isLimited: boolean): void {
    const names = this.map.layers.map((layer) => layer.name), size = this.map.places.length;
    const most = mostPairs(size);
    if (names.length > 1)
      this.panel.controls.append(chooser("Number", names, names[0], (name) => {
        this.layer = names.indexOf(name);
        this.repaint();
        this.rank();
      }));
    this.panel.controls.append(
      slider("Best pairs", 0, most, this.top, (top) => {
        this.top = top;
        this.mark();
      }),
      slider("Separation", 1, Math.max(1, Math.min(48, size - 1)), this.separation, (separation) => {
        this.separation = separation;
        this.rank();
      }),
      chooser("Colours", RAMP_NAMES, this.ramp, (ramp) => {
        this.ramp = ramp;
        this.repaint();
      }),
      this.heat.buttons);
    if (isLimited)
      this.panel.controls.append(checkbox("only columns with a residue", true, (checked) => this.replaceHeat(checked)));
  }

  private repaint(): void {
    // A few scores are far above all others, and most are noise.
    [this.least, this.most] = [this.matrix.quantile(0.3), this.matrix.quantile(0.998)];
    this.heat.paint();
    this.heat.setScale(rampColours(this.ramp), this.least, this.most, this.map.layers[this.layer].name, true);
  }

  private rank(): void {
    const size = this.map.places.length;
    const { at, parts, separation, map: { places } } = this;
    // Columns of two parts are apart however near they stand.
    this.ranked = rankPairs(this.matrix, (i, j) => at[i] >= 0 && at[j] >= 0 &&
      (places[j] - places[i] >= separation || parts[i] !== parts[j]), 3 * size);
    this.mark();
  }

  /** Whether a pair is a contact: null where its distance is not known. */
  private isContact([i, j]: Pair): boolean | null {
    const { contacts, places, placed } = this.map;
    if (contacts === null || !placed[i] || !placed[j]) return null;
    if (this.parts[i] === this.parts[j] && places[j] - places[i] < contacts.separation) return null;
    return this.distances.has(i * this.map.places.length + j);
  }

  private mark(): void {
    const top = this.ranked.slice(0, this.top).map((pair) => ({ pair, right: this.isContact(pair) }));
    this.selection.setTop(top);
    this.drawMarks();
    this.fillLegend();
    this.panel.status.textContent = this.summary();
  }

  private summary(): string {
    const top = this.selection.top;
    const known = top.filter(({ right }) => right !== null), right = known.filter((one) => one.right);
    const between = top.filter(({ pair: [i, j] }) => this.parts[i] !== this.parts[j]).length;
    const text = `Best ${top.length} pairs at least ${this.separation} columns apart` +
      (this.borders().length > 0 ? `, ${between} of them between parts` : "");
    if (this.map.contacts === null) return `${text}.`;
    return `${text}: ${right.length} of ${known.length} with known distance are contacts` +
      (known.length > 0 ? ` (${((100 * right.length) / known.length).toFixed(0)} %).` : ".");
  }

  private drawMarks(): void {
    const { contacts } = this.map, size = this.shown.length, side = Math.max(1, size / 130);
    const inView = (cells: Pair[]): Pair[] => cells.map(([row, column]): Pair => [this.at[row], this.at[column]])
      .filter(([row, column]) => row >= 0 && column >= 0);
    const marks: SVGElement[] = [];
    const path = (cells: Pair[], fill: string, wide: number, look = "mark-cells") =>
      svg("path", { d: squares(inView(cells), wide), fill, class: look });
    const cellsOf = (right: boolean | null): Pair[] =>
      this.selection.top.filter((one) => one.right === right).map(({ pair }) => pair);
    if (contacts !== null) {
      const below = contacts.i.map((i, n): Pair => [contacts.j[n], i]);
      marks.push(path(below, "#8a8a8a", side));
      marks.push(path(cellsOf(true).map(([i, j]): Pair => [j, i]), RIGHT, side));
    }
    marks.push(path(cellsOf(true), RIGHT, side, "mark-cells outlined"), path(cellsOf(false), WRONG, side, "mark-cells outlined"),
               path(cellsOf(null), "none", side, "mark-cells hollow"));
    // Small ones on top where colours tell contacts: these stay visible around them.
    const significant = (this.map.significant?.i ?? []).map((i, n): Pair => [i, this.map.significant?.j[n] ?? i]);
    if (significant.length > 0) marks.push(path(significant, SIGNIFICANT, contacts === null ? side : side / 2));
    marks.push(svg("path", { class: "diagonal", d: `M0 0L${size} ${size}` }));
    const borders = this.borders().map((at) => `M${at} 0V${size}M0 ${at}H${size}`).join("");
    if (borders !== "") marks.push(svg("path", { class: "border", d: borders }));
    for (const [i, j] of inView(this.pickedPairs()))
      for (const [row, column] of [[i, j], [j, i]])
        marks.push(svg("circle", { class: "picked", cx: column + 0.5, cy: row + 0.5, r: Math.max(0.8, size / 45) }));
    this.heat.setMarks(...marks);
  }

  /** Where a part ends and another begins, on the axes. */
  private borders(): number[] {
    return this.shown.flatMap((column, n) => (n > 0 && this.parts[column] !== this.parts[this.shown[n - 1]] ? [n] : []));
  }

  private pickedPairs(): Pair[] {
    const picked = this.selection.picked;
    return picked.flatMap((i, n) => picked.slice(n + 1).map((j): Pair => [i, j]));
  }

  private showPicked(): void {
    this.drawMarks();
    const [i, j] = this.selection.picked;
    if (j === undefined) return;
    if (this.at[i] >= 0 && this.at[j] >= 0) this.heat.showCell(this.at[i], this.at[j]);
    else this.tell(i, j);
  }

  private fillLegend(): void {
    const count = (right: boolean | null) => this.selection.top.filter((one) => one.right === right).length;
    const pairs = (number: number) => `${number} best pair${number === 1 ? "" : "s"}`;
    const key = (look: string, text: string) => html("li", {}, html("span", { class: `key ${look}` }), text);
    const keys: HTMLElement[] = [];
    if (this.map.contacts !== null)
      keys.push(key("right", `${pairs(count(true))} in contact`), key("wrong", `${pairs(count(false))} apart`),
                key("true", `${this.map.contacts.i.length} contacts of the structure ` +
                  `(below ${shortNumber(this.map.contacts.cutoff)} Å), lower half`));
    if (this.map.contacts === null) keys.push(key("open", pairs(count(null))));
    else if (count(null) > 0) keys.push(key("open", `${pairs(count(null))} of unknown distance`));
    const { significant } = this.map;
    if (significant !== undefined) {
      const number = significant.i.length;
      keys.push(key("significant", `${number} pair${number === 1 ? "" : "s"} with E below ${significant.e}`));
    }
    const names = [...new Set(this.shown.map((column) => this.parts[column]))];
    if (names.length > 1) keys.push(key("border-key", `borders of the parts ${names.join(", ")}`));
    if (this.map.structure !== null) keys.push(key("helix", "helix"), key("strand", "strand"));
    this.legend.replaceChildren(...keys);
  }

  private tell(row: number, column: number): void {
    const i = Math.min(row, column), j = Math.max(row, column);
    if (i === j) {
      const words: Record<string, string> = { H: ", helix", E: ", strand" }, entropy = this.map.entropy?.[i] ?? null;
      this.panel.read(this.selection.label(i) + (words[this.map.structure?.[i] ?? ""] ?? "") +
        (entropy === null ? "" : `: entropy ${shortNumber(entropy)} bits`));
      return;
    }
    const scores = this.map.layers.map((layer, n) => {
      const matrix = (this.matrices[n] ??= new Matrix(layer.matrix));
      return `${layer.name} ${shortNumber(matrix.at(i, j))}`;
    });
    const rank = this.ranked.findIndex((pair) => pair[0] === i && pair[1] === j);
    const distance = this.distances.get(i * this.map.places.length + j);
    const contact = this.isContact([i, j]);
    this.panel.read(`${this.selection.label(i)} and ${this.selection.label(j)}: ${scores.join(", ")}` +
      (rank >= 0 ? `, rank ${rank + 1}` : "") +
      (distance !== undefined ? `, ${distance} Å apart` : contact === false ? ", no contact" : ""));
  }
}

export function contactMapPanel(map: ContactMap, place: Place): HTMLElement {
  return new ContactMapPanel(map, place).panel.element;
}
