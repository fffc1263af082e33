// Lines: a long row of items, such as residues, cut into lines as wide as its panel.
import { svg } from "./dom";
import { onPrint, PAPER_WIDTH } from "./print";

/** Where the items of a line are: [from, to), and the place of its first item in the drawing. */
export interface Line {
  from: number;
  to: number;
  left: number;
  top: number;
}

export interface LineLayout {
  lines: Line[];
  /** Of an item. */
  wide: number;
  width: number;
  height: number;
}

/** Room for letters at the left of each line, and at the right for a number above the last item. */
const LEFT = 22, RIGHT = 12;
const LEAST = 11, MOST = 24;

/** Items in lines of equal length, `high` apart, below `top`. */
export function layOut(count: number, width: number, top: number, high: number): LineLayout {
  const fitting = Math.max(5, Math.floor((width - LEFT - RIGHT) / LEAST));
  const lines = Math.max(1, Math.ceil(count / fitting)), each = Math.ceil(count / lines);
  const wide = Math.min(MOST, (width - LEFT - RIGHT) / each);
  return {
    lines: Array.from({ length: lines }, (_, n) => ({
      from: n * each, to: Math.min(count, (n + 1) * each), left: LEFT, top: top + n * high,
    })),
    wide, width, height: top + lines * high,
  };
}

/** Calls `draw` with the width of the element whenever that changes, and with the paper's width for print. */
export function onWidth(element: HTMLElement, draw: (width: number) => void): void {
  let drawn = 0, printing = false;
  const follow = (): void => {
    const width = printing ? PAPER_WIDTH - 30 : element.clientWidth;
    if (width <= 0 || width === drawn) return;
    drawn = width;
    draw(width);
  };
  new ResizeObserver(follow).observe(element);
  onPrint((isPrinting) => {
    printing = isPrinting;
    follow();
  });
}

/** The numbers of every tenth item above a line, with ticks. */
export function markNumbers(numbers: string[], line: Line, wide: number): SVGElement[] {
  const marks: SVGElement[] = [];
  let last = -Infinity;
  for (let n = line.from; n < line.to; ++n) {
    const number = Number(numbers[n]), x = line.left + (n - line.from + 0.5) * wide;
    const isRound = numbers[n] !== "" && number % 10 === 0;
    if (!isRound || x - last < 30) continue;
    last = x;
    marks.push(svg("text", { class: "mark", x, y: line.top - 4, "text-anchor": "middle" }, numbers[n]));
  }
  return marks;
}
