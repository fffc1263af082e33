// Molecule: the structure behind a run's columns, coloured by their numbers, with pairs as lines.
import type { Atom, GLViewer } from "3dmol/build/3Dmol.es6-min.js";
import { type Colour, rampColour, rampColours } from "./colours";
import type { Models, Molecule } from "./data";
import { checkbox, chooser, html, shortNumber, slider } from "./dom";
import { Panel, type Place } from "./panel";
import { range } from "./scale";
import type { Selection } from "./selection";
import { ALL_ATOMS, stage } from "./viewer";

const RIGHT = "#0072b2", WRONG = "#d55e00", OPEN = "#8a8a8a", PICKED = "#cc3ab0";
const ALONG = "position in the chain", TOP_PAIRS = "best pairs of the residue";

class MoleculePanel {
  readonly panel: Panel;
  private viewer: GLViewer | null = null;
  private readonly selection: Selection;
  /** The column of each residue, -1 where it has none. */
  private readonly columnOf: number[];
  private readonly trace = new Map<number, Atom>();
  private readonly colours: Colour[] = rampColours("viridis");
  private readonly scale = html("p", { class: "scale" });
  private shown: string;
  private lines = true;

  constructor(private readonly data: Molecule, place: Place) {
    this.panel = new Panel(place, data.title, data.note);
    this.selection = place.selection;
    this.columnOf = data.residues.map(() => -1);
    data.columns.forEach((residue, column) => {
      if (residue >= 0) this.columnOf[residue] = column;
    });
    this.shown = data.values[0]?.name ?? ALONG;
    const hasPairs = data.pairs ?? true;
    const names = [...data.values.map(({ name }) => name), ...(hasPairs ? [TOP_PAIRS] : []), ALONG];
    this.panel.controls.append(chooser("Colour by", names, this.shown, (name) => {
      this.shown = name;
      this.paint();
    }));
    if (hasPairs) this.panel.controls.append(checkbox("best pairs as lines", this.lines, (checked) => {
      this.lines = checked;
      this.drawPairs();
    }));
    stage(this.panel, data.title, (viewer) => this.begin(viewer));
    this.panel.body.append(this.scale);
    this.selection.listen((change) => {
      if (change === "top" && this.shown === TOP_PAIRS) this.paint();
      this.drawPairs();
      if (change === "picked") this.tellPicked();
    });
  }

  private begin(viewer: GLViewer): void {
    this.viewer = viewer;
    const model = viewer.addModel(this.data.pdb, "pdb");
    for (const name of ["CA", "C1'", "P"])
      for (const atom of model.selectedAtoms({ atom: name }))
        if (!this.trace.has(atom.resi - 1)) this.trace.set(atom.resi - 1, atom);
    const name = (atom: Atom) => {
      const column = this.columnOf[atom.resi - 1] ?? -1;
      return `${this.data.residues[atom.resi - 1] ?? atom.resn}` +
        (column >= 0 ? `, column ${this.selection.places[column]}` : ", no column");
    };
    viewer.setHoverable({}, true, (atom) => {
      this.panel.read(name(atom) + this.valueText(atom.resi - 1));
    }, () => undefined);
    this.paint();
    this.drawPairs();
    viewer.zoomTo(ALL_ATOMS);
    viewer.render();
  }

  /** The number of each residue that the colours show. */
  private values(): number[] {
    const counts = this.data.residues.map(() => 0);
    if (this.shown === ALONG) return counts.map((_, residue) => residue + 1);
    if (this.shown === TOP_PAIRS) {
      for (const { pair } of this.selection.top)
        for (const column of pair)
          if (this.data.columns[column] >= 0) ++counts[this.data.columns[column]];
      return counts;
    }
    const found = this.data.values.find(({ name }) => name === this.shown);
    return this.columnOf.map((column) => (column >= 0 ? found?.values[column] ?? NaN : NaN));
  }

  private valueText(residue: number): string {
    return this.shown === ALONG ? "" : `: ${this.shown} ${shortNumber(this.values()[residue] ?? NaN)}`;
  }

  private paint(): void {
    const values = this.values(), [least, most] = range(values);
    const colour = (atom: Atom) => rampColour(this.colours, values[atom.resi - 1] ?? NaN, least, most);
    this.viewer?.setStyle({}, { cartoon: { colorfunc: colour } });
    this.viewer?.render();
    const bar = html("span", { class: "ramp", style: `background:linear-gradient(90deg,${
      [0, 64, 128, 191, 255].map((n) => `rgb(${this.colours[n].join(",")})`).join(",")})` });
    this.scale.replaceChildren(`${this.shown}: ${shortNumber(least)} `, bar, ` ${shortNumber(most)}; grey: no number`);
  }

  private line(pair: [number, number], colour: string, radius: number): void {
    const [start, end] = pair.map((column) => this.trace.get(this.data.columns[column] ?? -1));
    if (start && end) this.viewer?.addCylinder({ start, end, radius, color: colour, fromCap: 1, toCap: 1 });
  }

  private drawPairs(): void {
    if (this.viewer === null) return;
    this.viewer.removeAllShapes();
    if (this.lines)
      for (const { pair, right } of this.selection.top)
        this.line(pair, right === null ? OPEN : right ? RIGHT : WRONG, 0.09);
    const picked = this.selection.picked;
    picked.forEach((i, n) => {
      for (const j of picked.slice(n + 1)) this.line([i, j], PICKED, 0.35);
      const center = this.trace.get(this.data.columns[i] ?? -1);
      if (center) this.viewer?.addSphere({ center, radius: 1.1, color: PICKED });
    });
    this.viewer.render();
  }

  private tellPicked(): void {
    const names = this.selection.picked.map((column) => {
      const residue = this.data.columns[column] ?? -1;
      return residue >= 0 ? this.data.residues[residue] : `column ${this.selection.places[column]}, which has no residue`;
    });
    this.panel.status.textContent = names.length > 0 ? `Picked: ${names.join(" and ")}.` : "";
  }
}

export function moleculePanel(data: Molecule, place: Place): HTMLElement {
  return new MoleculePanel(data, place).panel.element;
}

interface Point {
  x: number;
  y: number;
  z: number;
}

/** CA atoms farther apart than this, in angstrom, are not neighbours in a chain. */
const FARTHEST = 4.5;

/** The CA atoms of each unbroken piece of a chain. 3Dmol's own trace breaks at 4 angstrom, which simulations exceed. */
function traces(text: string): Point[][] {
  const found: Point[][] = [];
  let chain = "", last: Point | null = null;
  for (const line of text.split("\n")) {
    if (line.slice(12, 16).trim() !== "CA") continue;
    const [x, y, z] = [30, 38, 46].map((at) => Number(line.slice(at, at + 8)));
    const isNext = last !== null && chain === line[21] && Math.hypot(x - last.x, y - last.y, z - last.z) < FARTHEST;
    chain = line[21];
    last = { x, y, z };
    if (isNext) found[found.length - 1].push(last);
    else found.push([last]);
  }
  return found;
}

/** Adds a model: as a tube if it has CA atoms only, as a cartoon if it has a backbone, else as spheres. */
function addModel(viewer: GLViewer, text: string, colour: string, smooth: number): void {
  const names = new Set(text.split("\n").map((line) => line.slice(12, 16).trim()));
  const model = viewer.addModel(text, "pdb");
  if (!names.has("CA") || names.has("O")) {
    model.setStyle({}, modelStyle(names, colour));
    return;
  }
  model.setStyle({}, {});
  for (const points of traces(text)) {
    if (points.length > 2) viewer.addCurve({ points, radius: 0.5, smooth, color: colour });
    else for (const center of points) viewer.addSphere({ center, radius: 0.5, color: colour });
  }
}

/** What a model's atoms allow: a cartoon of a chain, else spheres. */
function modelStyle(names: Set<string>, colour: string): object {
  if (names.has("CA")) return { cartoon: { color: colour, style: "rectangle", thickness: 0.5 } };
  if (names.has("P")) return { cartoon: { color: colour } };
  return { sphere: { color: colour, radius: 0.6 } };
}

/** Structures of equal standing, one or all at a time. */
export function modelsPanel(data: Models, place: Place, colourOf: (model: number) => string): HTMLElement {
  const panel = new Panel(place, data.title, data.note);
  const first = data.first ?? 0;
  let viewer: GLViewer | null = null, current = 0, all = false;
  const draw = (): void => {
    if (viewer === null) return;
    viewer.removeAllModels();
    viewer.removeAllShapes();
    for (const [n, text] of data.models.entries())
      if (all || n === current) addModel(viewer, text, colourOf(n), all ? 2 : 5);
    viewer.render();
    panel.status.textContent = all ? `All ${data.models.length}.` : `Model of ${data.item} ${current + first}.`;
  };
  if (data.models.length > 1)
    panel.controls.append(
      slider(data.item[0].toUpperCase() + data.item.slice(1), first, data.models.length - 1 + first, first, (model) => {
        current = model - first;
        draw();
      }),
      checkbox("all at once", all, (checked) => {
        all = checked;
        draw();
      }));
  stage(panel, data.title, (started) => {
    viewer = started;
    draw();
    viewer.zoomTo(ALL_ATOMS);
    viewer.render();
  });
  return panel.element;
}
