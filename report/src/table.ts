// Table: rows that sort, are copied as TSV, and pick columns where they name some.
import type { TableData } from "./data";
import { button, html } from "./dom";
import { Panel, type Place } from "./panel";
import { onPrint, PAPER_WIDTH } from "./print";
import { copyText, download } from "./save";

const ROWS = 15, PRINTED_ROWS = 50;
/** Longer texts than this are wrapped. */
const LONG_TEXT = 40;

function asNumber(cell: string): number {
  return cell === "NA" || cell === "" ? NaN : Number(cell);
}

/** A text as long as this is no number that a person wrote. */
const LONG_NUMBER = 7;

/** Three digits; whole numbers and texts as they are. The files keep all digits. */
function shortCell(cell: string): string {
  const value = asNumber(cell);
  if (Number.isNaN(value) || /^-?\d+$/.test(cell) || !Number.isFinite(value)) return cell;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return String(Math.round(value));
  return size < 1e-3 ? value.toExponential(2) : value.toPrecision(3);
}

/** Units of columns whose names pleat's tables share; MI is in bits only in tables of pairs and triples. */
const UNITS: Record<string, string> = {
  distance: "Å", second_distance: "Å", rmsd: "Å", drmsd: "Å", rmsf: "Å", rg: "Å", dmax: "Å", cutoff: "Å", seconds: "s",
};
/** Distances of two domains: distance_1_2. */
const DOMAIN_DISTANCE = /^distance_\d+_\d+$/;

function withUnit(name: string, columns: string[]): string {
  const isInformation = columns.includes("joint_entropy") || columns.includes("synergy");
  const isInBits = isInformation && ["mi", "apc", "joint_entropy", "synergy", "mean"].includes(name);
  const unit = UNITS[name] ?? (DOMAIN_DISTANCE.test(name) ? "Å" : isInBits ? "bits" : "");
  return unit !== "" ? `${name} (${unit})` : name;
}

/** Numbers before texts, what is missing last. */
function compare(a: string, b: string): number {
  const x = asNumber(a), y = asNumber(b);
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

class TablePanel {
  readonly panel: Panel;
  private rows: string[][];
  private page = 0;
  private isPrinting = false;
  private sorted = -1;
  private falling = false;
  private readonly head: HTMLTableCellElement[];
  private readonly content = html("tbody");
  private readonly places: number[];
  private readonly isNumber: boolean[];
  /** Columns that have a value in some row; the others are named below the table. */
  private readonly kept: number[];

  constructor(private readonly table: TableData, private readonly place: Place) {
    this.panel = new Panel(place, table.title, table.note);
    this.rows = table.rows;
    this.isNumber = table.columns.map((_, n) => table.rows.some((row) => !Number.isNaN(asNumber(row[n]))) &&
      table.rows.every((row) => row[n] === "NA" || !Number.isNaN(asNumber(row[n]))));
    const hasValue = (n: number): boolean => table.rows.some((row) => row[n] !== "NA" && row[n] !== "");
    this.kept = table.columns.map((_, n) => n).filter((n) => table.rows.length === 0 || hasValue(n));
    this.places = place.selection.places.length > 0
      ? ["i", "j", "k"].map((name) => table.columns.indexOf(name)).filter((n) => n >= 0) : [];
    if (this.places.length < 2) this.places = [];
    this.head = table.columns.map((name, n) =>
      html("th", { scope: "col", "aria-sort": "none", class: this.isNumber[n] ? "number" : "" },
           button(withUnit(name, table.columns), () => this.sort(n), `Sort by ${name}`)));
    this.build();
  }

  private build(): void {
    const { table, panel } = this, links = this.places.length > 0;
    const headRow = html("tr", {}, ...(links ? [html("th", { scope: "col", class: "no-print" }, "show")] : []),
                         ...this.kept.map((n) => this.head[n]));
    panel.body.append(html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${table.title}, rows` },
                           html("table", {}, html("thead", {}, headRow), this.content)));
    panel.addTool("Copy", () => void this.copy(), "Copy all rows as TSV");
    panel.addTool("TSV", () => download(`${panel.file}.tsv`, this.text()), "Save all rows as TSV");
    const pages = Math.ceil(this.rows.length / ROWS);
    if (pages > 1)
      panel.controls.append(
        button("‹", () => this.turn(-1), "Earlier rows"), button("›", () => this.turn(1), "Later rows"),
        button("First", () => this.turn(-pages), "First rows"));
    this.show();
    onPrint((isPrinting) => this.print(isPrinting));
    this.place.selection.listen((change) => {
      if (change === "picked") this.showPicked();
    });
  }

  private cellText(cell: string, column: number): string {
    return this.isNumber[column] || cell.length >= LONG_NUMBER ? shortCell(cell) : cell;
  }

  /** The first rows, in letters small enough for all columns. */
  private print(isPrinting: boolean): void {
    this.isPrinting = isPrinting;
    this.show();
    const table = this.panel.body.querySelector("table");
    if (table === null) return;
    table.style.fontSize = "";
    const isWide = table.scrollWidth > PAPER_WIDTH / 2, width = isWide ? PAPER_WIDTH : PAPER_WIDTH / 2 - 25;
    this.panel.element.classList.toggle("wide", isPrinting && isWide);
    if (isPrinting) table.style.fontSize = `${Math.min(12, (11 * width) / Math.max(1, table.scrollWidth))}px`;
  }

  private turn(pages: number): void {
    const last = Math.max(0, Math.ceil(this.rows.length / ROWS) - 1);
    this.page = Math.max(0, Math.min(last, this.page + pages));
    this.show();
  }

  private sort(column: number): void {
    this.falling = this.sorted === column ? !this.falling : this.isNumber[column];
    this.sorted = column;
    const sign = this.falling ? -1 : 1;
    const isMissing = (cell: string) => this.isNumber[column] && Number.isNaN(asNumber(cell));
    this.rows = [...this.table.rows].sort((a, b) => {
      if (isMissing(a[column]) || isMissing(b[column])) return compare(a[column], b[column]);
      return sign * compare(a[column], b[column]);
    });
    this.head.forEach((cell, n) =>
      cell.setAttribute("aria-sort", n !== column ? "none" : this.falling ? "descending" : "ascending"));
    this.page = 0;
    this.show();
  }

  private placesOf(row: string[]): number[] {
    return this.places.map((n) => asNumber(row[n]));
  }

  private show(): void {
    const first = this.isPrinting ? 0 : this.page * ROWS, count = this.isPrinting ? PRINTED_ROWS : ROWS;
    const picked = String(this.place.selection.pickedPlaces());
    const rows = this.rows.slice(first, first + count);
    this.content.replaceChildren(...rows.map((row) => {
      const cells: HTMLElement[] = this.kept.map((n) =>
        html("td", { class: this.isNumber[n] ? "number" : row[n].length > LONG_TEXT ? "long" : "" }, this.cellText(row[n], n)));
      if (this.places.length > 0) {
        const places = this.placesOf(row);
        cells.unshift(html("td", { class: "no-print" }, button("●", () => this.place.selection.pickPlaces(places),
                                            `Show columns ${places.join(", ")}`)));
        return html("tr", { class: String(places) === picked ? "picked" : "" }, ...cells);
      }
      return html("tr", {}, ...cells);
    }));
    const { total } = this.table, end = Math.min(first + count, this.rows.length);
    const kept = this.rows.length < total ? `, the first of ${total.toLocaleString("en")} in ${this.table.file}` : "";
    this.panel.status.textContent = this.rows.length === 0 ? "No rows."
      : `Rows ${first + 1} to ${end} of ${this.rows.length.toLocaleString("en")}${kept}.${this.withoutValues()}`;
  }

  private withoutValues(): string {
    const names = this.table.columns.filter((_, n) => !this.kept.includes(n));
    return names.length > 0 ? ` Without values: ${names.join(", ")}.` : "";
  }

  private showPicked(): void {
    const picked = String(this.place.selection.pickedPlaces());
    const row = this.places.length > 0 ? this.rows.findIndex((one) => String(this.placesOf(one)) === picked) : -1;
    if (row >= 0) this.page = Math.floor(row / ROWS);
    this.show();
  }

  private text(): string {
    return [this.table.columns, ...this.rows].map((row) => row.join("\t") + "\n").join("");
  }

  private async copy(): Promise<void> {
    const done = await copyText(this.text());
    this.panel.status.textContent = done ? `${this.rows.length} rows copied.` : "The browser refused to copy.";
  }
}

export function tablePanel(table: TableData, place: Place): HTMLElement {
  return new TablePanel(table, place).panel.element;
}
