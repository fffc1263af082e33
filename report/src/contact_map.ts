// Contact map: scores of pairs of columns above the diagonal, true contacts below.
import { RAMP_NAMES, rampColours, rampPixels } from "./colours";
import { type ContactMap, Matrix } from "./data";
import { chooser, html, shortNumber, slider, svg } from "./dom";
import { Heat } from "./heat";
import { markItems, residueId } from "./labels";
import { Panel, type Place } from "./panel";
import { makeScale } from "./scale";
import type { Pair, Selection } from "./selection";

const RIGHT = "#0072b2", WRONG = "#d55e00";

/** The best `most` pairs whose places differ by at least `separation`, best first. */
export function rankPairs(matrix: Matrix, places: number[], separation: number, most: number): Pair[] {
  const far = (least: number) =>
    matrix.pairsFrom(least).filter(({ i, j }) => places[j] - places[i] >= separation);
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

class ContactMapPanel {
  readonly panel: Panel;
  private readonly heat: Heat;
  private readonly matrices: (Matrix | null)[];
  private readonly distances = new Map<number, number>();
  private readonly selection: Selection;
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
    this.matrices = map.layers.map(() => null);
    const { contacts } = map, size = map.places.length;
    const hasResidues = map.residues.some((residue) => residue !== "");
    const ids = hasResidues ? map.residues.map(residueId) : map.places.map(String);
    const middles = map.places.map((_, column) => column + 0.5);
    contacts?.i.forEach((i, n) => this.distances.set(i * size + contacts.j[n], contacts.distance[n]));
    this.top = Math.min(size, (size * (size - 1)) / 2);
    this.separation = Math.max(1, Math.min(6, size - 1));
    this.heat = new Heat({
      size, title: map.title, axis: hasResidues ? "residue number" : "column",
      paint: (pixels) =>
        this.matrix.paint(pixels, rampPixels(this.ramp), this.least, this.most, map.contacts !== null),
      scale: (first, last, start, end) => markItems(makeScale(first, last, start, end), middles, ids),
      point: (row, column) => this.tell(row, column),
      pick: (row, column) => this.selection.pick(row === column ? [] : [Math.min(row, column), Math.max(row, column)]),
    });
    this.addControls();
    this.panel.body.append(this.heat.drawing, this.legend);
    this.panel.addSaving(() => this.heat.drawing);
    this.selection.listen((change) => {
      if (change === "picked") this.showPicked();
    });
    document.addEventListener("pleat-theme", () => this.repaint());
    this.repaint();
    this.rank();
  }

  private get matrix(): Matrix {
    return (this.matrices[this.layer] ??= new Matrix(this.map.layers[this.layer].matrix));
  }

  private addControls(): void {
    const names = this.map.layers.map((layer) => layer.name), size = this.map.places.length;
    const most = Math.min(3 * size, (size * (size - 1)) / 2);
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
  }

  private repaint(): void {
    // A few scores are far above all others, and most are noise.
    [this.least, this.most] = [this.matrix.quantile(0.3), this.matrix.quantile(0.998)];
    this.heat.paint();
    this.heat.setScale(rampColours(this.ramp), this.least, this.most, this.map.layers[this.layer].name, true);
  }

  private rank(): void {
    const size = this.map.places.length;
    this.ranked = rankPairs(this.matrix, this.map.places, this.separation, 3 * size);
    this.mark();
  }

  /** Whether a pair is a contact: null where its distance is not known. */
  private isContact([i, j]: Pair): boolean | null {
    const { contacts, places, placed } = this.map;
    if (contacts === null || !placed[i] || !placed[j] || places[j] - places[i] < contacts.separation) return null;
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
    const text = `Best ${top.length} pairs at least ${this.separation} columns apart`;
    if (this.map.contacts === null) return `${text}.`;
    return `${text}: ${right.length} of ${known.length} with known distance are contacts` +
      (known.length > 0 ? ` (${((100 * right.length) / known.length).toFixed(0)} %).` : ".");
  }

  private drawMarks(): void {
    const { contacts } = this.map, size = this.map.places.length, side = Math.max(1, size / 130);
    const marks: SVGElement[] = [];
    const path = (cells: Pair[], fill: string, wide: number, look = "mark-cells") =>
      svg("path", { d: squares(cells, wide), fill, class: look });
    const cellsOf = (right: boolean | null): Pair[] =>
      this.selection.top.filter((one) => one.right === right).map(({ pair }) => pair);
    if (contacts !== null) {
      const below = contacts.i.map((i, n): Pair => [contacts.j[n], i]);
      marks.push(path(below, "#8a8a8a", side));
      marks.push(path(cellsOf(true).map(([i, j]): Pair => [j, i]), RIGHT, side));
    }
    marks.push(path(cellsOf(true), RIGHT, side, "mark-cells outlined"), path(cellsOf(false), WRONG, side, "mark-cells outlined"),
               path(cellsOf(null), "none", side, "mark-cells hollow"));
    marks.push(svg("path", { class: "diagonal", d: `M0 0L${size} ${size}` }));
    for (const [i, j] of this.pickedPairs())
      for (const [row, column] of [[i, j], [j, i]])
        marks.push(svg("circle", { class: "picked", cx: column + 0.5, cy: row + 0.5, r: Math.max(0.8, size / 45) }));
    this.heat.setMarks(...marks);
  }

  private pickedPairs(): Pair[] {
    const picked = this.selection.picked;
    return picked.flatMap((i, n) => picked.slice(n + 1).map((j): Pair => [i, j]));
  }

  private showPicked(): void {
    this.drawMarks();
    const [i, j] = this.selection.picked;
    if (j !== undefined) this.heat.showCell(i, j);
  }

  private fillLegend(): void {
    const count = (right: boolean | null) => this.selection.top.filter((one) => one.right === right).length;
    const key = (look: string, text: string) => html("li", {}, html("span", { class: `key ${look}` }), text);
    const keys: HTMLElement[] = [];
    if (this.map.contacts !== null)
      keys.push(key("right", `${count(true)} best pairs in contact`), key("wrong", `${count(false)} best pairs apart`),
                key("true", `${this.map.contacts.i.length} contacts of the structure ` +
                  `(below ${shortNumber(this.map.contacts.cutoff)} Å), lower half`));
    keys.push(key("open", `${count(null)} best pairs${this.map.contacts === null ? "" : " of unknown distance"}`));
    this.legend.replaceChildren(...keys);
  }

  private tell(row: number, column: number): void {
    const i = Math.min(row, column), j = Math.max(row, column);
    if (i === j) {
      this.panel.read(this.selection.label(i));
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
