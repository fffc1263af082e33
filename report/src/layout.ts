// Layout: panels in rows that they fill, whatever the width of the page.

/** Width that a drawing and a table need at least, and the gap of the style sheet, in pixels. */
const DRAWING = 420, TABLE = 300, GAP = 16;

interface Row {
  panels: HTMLElement[];
  room: number;
}

/** What a panel needs of the page's width: all of it, room for its table, or room for a drawing. */
function needOf(panel: HTMLElement, width: number): number {
  if (panel.classList.contains("wide")) return width;
  const table = panel.querySelector("table"), frame = table?.parentElement;
  if (!table || !frame) return Math.min(width, DRAWING);
  table.style.width = "min-content";  // long texts wrap
  const need = table.offsetWidth + panel.offsetWidth - frame.clientWidth;
  table.style.width = "";
  return Math.min(width, Math.max(TABLE, need));
}

/** Rows of the panels in their order; each takes what it has room for of those that follow. */
function rowsOf(panels: HTMLElement[], width: number): Row[] {
  const needs = new Map(panels.map((panel) => [panel, needOf(panel, width)])), rows: Row[] = [];
  for (const [panel, need] of needs) panel.style.setProperty("--need", `${need}px`);
  while (needs.size > 0) {
    const row: Row = { panels: [], room: width + GAP };
    for (const [panel, need] of needs) {
      if (need + GAP > row.room) continue;
      row.room -= need + GAP;
      row.panels.push(panel);
      needs.delete(panel);
    }
    rows.push(row);
  }
  return rows;
}

/** Puts panels in an order without moving the one that has the focus, which would lose it. */
function putInOrder(frame: HTMLElement, order: HTMLElement[]): void {
  if (order.every((panel, n) => panel === frame.children[n])) return;
  const at = Math.max(0, order.findIndex((panel) => panel.contains(document.activeElement)));
  order[at].before(...order.slice(0, at));
  order[at].after(...order.slice(at + 1));
}

/**
 * Arranges panels in the frame whenever its width changes: drawings before tables, and the manifest where a row
 * has room for it, else last. At first its fold is opened where there is room.
 */
export function keepArranged(frame: HTMLElement, panels: HTMLElement[], manifest: HTMLElement): void {
  let width = 0;
  const isTable = (panel: HTMLElement): boolean => panel.querySelector("table") !== null;
  for (const panel of panels.filter(isTable)) panel.style.flexGrow = "1";
  frame.append(...panels, manifest);
  new ResizeObserver(() => {
    if (frame.clientWidth === width) return;
    const isFirst = width === 0;
    width = frame.clientWidth;
    const rows = rowsOf([...panels.filter((panel) => !isTable(panel)), ...panels.filter(isTable)], width);
    const least: Row = { panels: [], room: DRAWING + GAP };
    const emptiest = rows.reduce((most, row) => (row.room >= most.room ? row : most), least);
    if (emptiest === least) rows.push(least);
    else if (isFirst) manifest.querySelector("details")?.setAttribute("open", "");
    emptiest.panels.push(manifest);
    putInOrder(frame, rows.flatMap((row) => row.panels));
  }).observe(frame);
}
