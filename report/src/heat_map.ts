// Heat map: distances between all frames.
import { RAMP_NAMES, rampColours, rampPixels } from "./colours";
import { type HeatMap, Matrix } from "./data";
import { chooser, html, shortNumber } from "./dom";
import { Heat } from "./heat";
import { Panel, type Place } from "./panel";
import { makeScale } from "./scale";

export function heatMapPanel(section: HeatMap, place: Place): HTMLElement {
  const panel = new Panel(place, section.title, section.note);
  const matrix = new Matrix(section.matrix), { block } = section;
  let shown = "viridis";
  const measure = section.title.split(" ")[0];
  const others = section.other_items ?? section.items, otherAxis = section.other_axis ?? section.axis;
  const frames = (cell: number, items: number): string =>
    block === 1 ? String(cell) : `${cell * block} to ${Math.min(items, (cell + 1) * block) - 1}`;
  const heat = new Heat({
    size: matrix.size, title: section.title, axis: section.axis, columnAxis: otherAxis,
    paint: (pixels) => matrix.paint(pixels, rampPixels(shown), matrix.least, matrix.most, false),
    // Frame f has its middle at (f + 0.5) / block.
    scale: (first, last, start, end) => makeScale(first * block - 0.5, last * block - 0.5, start, end),
    point: (row, column) => {
      if (row * block >= section.items || column * block >= others) return;
      panel.read(`${section.axis} ${frames(row, section.items)}, ${otherAxis} ${frames(column, others)}: ` +
        `${measure} ${shortNumber(matrix.at(row, column))} ${section.unit}`);
    },
  });
  const repaint = (ramp: string): void => {
    shown = ramp;
    heat.paint();
    heat.setScale(rampColours(ramp), matrix.least, matrix.most, measure + (section.unit !== "" ? ` (${section.unit})` : ""));
  };
  panel.controls.append(chooser("Colours", RAMP_NAMES, shown, repaint), heat.buttons);
  repaint(shown);
  document.addEventListener("pleat-theme", () => repaint(shown));
  panel.body.append(heat.drawing);
  panel.status.textContent = `${section.items.toLocaleString("en")} ${section.axis}s` +
    (section.other_axis !== undefined ? `, ${others.toLocaleString("en")} ${otherAxis}s.` : ".");
  panel.addSaving(() => heat.drawing);
  return panel.element;
}

/** A panel of a kind that this page does not know, from a newer pleat. */
export function unknownPanel(kind: string, place: Place): HTMLElement {
  const panel = new Panel(place, "Not shown");
  panel.body.append(html("p", {}, `This page cannot draw a section of the kind ${kind}.`));
  return panel.element;
}
