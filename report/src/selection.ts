// Selection: what the panels of one run show together.

export type Pair = [number, number];

/** What may change: the pairs shown, the columns picked, or the column pointed at. */
type Change = "top" | "picked";

/** Columns are indices into the run's columns. */
export class Selection {
  /** The best pairs that the contact map shows, best first, and which of them are right. */
  top: { pair: Pair; right: boolean | null }[] = [];
  /** Two or three columns, or none. */
  picked: number[] = [];
  private readonly listeners: ((change: Change) => void)[] = [];

  /** `places`: of the columns in the source, from 1; what tables call columns by. `labels`: what people read. */
  constructor(readonly places: number[] = [], private readonly labels: string[] = []) {}

  label(column: number): string {
    return this.labels[column];
  }

  listen(listener: (change: Change) => void): void {
    this.listeners.push(listener);
  }
  setTop(top: Selection["top"]): void {
    this.top = top;
    this.tell("top");
  }
  pick(columns: number[]): void {
    this.picked = columns;
    this.tell("picked");
  }
  /** Picks columns by their places; none where one is not among the columns. */
  pickPlaces(places: number[]): void {
    const columns = places.map((place) => this.places.indexOf(place));
    this.pick(columns.includes(-1) ? [] : columns);
  }
  pickedPlaces(): number[] {
    return this.picked.map((column) => this.places[column]);
  }
  private tell(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }
}
