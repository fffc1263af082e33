// Curve: lines, points with error bars and bars over a common axis, with residuals below.
import { addReading, type AxisTexts, type Box, drawAxes, legendAbove } from "./axes";
import { SET } from "./colours";
import type { Curve, Series } from "./data";
import { checkbox, chooser, html, shortNumber, svg } from "./dom";
import { markItems, residueId } from "./labels";
import { Panel, type Place } from "./panel";
import { makeScale, range, type Scale, widened } from "./scale";

const WIDTH = 560, HEIGHT = 340, RESIDUALS = 110;

interface Drawn {
  drawing: SVGSVGElement;
  x: Scale;
  /** Where the box begins. */
  top: number;
}

function numbers(values: (number | null)[]): number[] {
  return values.map((value) => value ?? NaN);
}

/** The parts of a line between values that the axis cannot show; a lone value is a dot. */
function linePath(x: Scale, y: Scale, positions: number[], values: number[]): string {
  let path = "", open = false;
  values.forEach((value, k) => {
    const shown = Number.isFinite(value) && Number.isFinite(positions[k]) && !(y.log && value <= 0);
    if (shown) path += `${open ? "L" : "M"}${x.place(positions[k]).toFixed(2)} ${y.place(value).toFixed(2)}${open ? "" : "h0"}`;
    open = shown;
  });
  return path;
}

function drawPoints(x: Scale, y: Scale, positions: number[], values: number[], error: number[], colour: string,
                    bottom: number): SVGElement[] {
  let dots = "", bars = "";
  values.forEach((value, k) => {
    if (!Number.isFinite(value) || (y.log && value <= 0)) return;
    const at = x.place(positions[k]);
    dots += `M${(at - 1.6).toFixed(2)} ${y.place(value).toFixed(2)}a1.6 1.6 0 1 0 3.2 0a1.6 1.6 0 1 0 -3.2 0`;
    if (!(error[k] > 0)) return;
    const low = value - error[k];
    const foot = y.log && low <= 0 ? bottom : Math.min(bottom, y.place(low));
    bars += `M${at.toFixed(2)} ${y.place(value + error[k]).toFixed(2)}V${foot.toFixed(2)}`;
  });
  return [svg("path", { d: bars, fill: "none", stroke: colour, "stroke-width": 1, "stroke-opacity": 0.45 }),
          svg("path", { d: dots, fill: colour, stroke: "none" })];
}

function drawBars(x: Scale, y: Scale, positions: number[], values: number[], colour: string, bottom: number): SVGElement {
  // Positions may have holes, so that two neighbours may be far apart.
  const nearest = positions.slice(1).reduce((least, position, k) => Math.min(least, position - positions[k]), Infinity);
  const wide = Math.max(0.6, (x.place(Number.isFinite(nearest) ? nearest : 1) - x.place(0)) * 0.8);
  const foot = Math.min(bottom, y.place(0));
  let path = "";
  values.forEach((value, k) => {
    if (Number.isFinite(value))
      path += `M${(x.place(positions[k]) - wide / 2).toFixed(2)} ${foot.toFixed(2)}V${y.place(value).toFixed(2)}` +
              `h${wide.toFixed(2)}V${foot.toFixed(2)}z`;
  });
  return svg("path", { d: path, fill: colour, stroke: "none" });
}

function drawSeries(series: Series, style: string, x: Scale, y: Scale, positions: number[], colour: string,
                    bottom: number): SVGElement[] {
  const values = numbers(series.values);
  if (style === "points") return drawPoints(x, y, positions, values, numbers(series.error ?? []), colour, bottom);
  if (style === "bars") return [drawBars(x, y, positions, values, colour, bottom)];
  const band = numbers(series.error ?? []).flatMap((error, k) => Number.isFinite(values[k] + error) ? [{ k, error }] : []);
  const edge = (sign: number) => ({ k, error }: { k: number; error: number }) =>
    `${x.place(positions[k]).toFixed(2)} ${y.place(values[k] + sign * error).toFixed(2)}`;
  return [svg("path", { d: band.length > 0 ? `M${[...band.map(edge(1)), ...band.reverse().map(edge(-1))].join("L")}z` : "",
                        fill: colour, "fill-opacity": 0.2, stroke: "none" }),
          svg("path", { d: linePath(x, y, positions, values), fill: "none", stroke: colour, "stroke-width": 2,
                        "stroke-linejoin": "round", "stroke-linecap": "round" })];
}

/** What the axis must show: the numbers, and 0 where bars stand on it. */
function valueRange(shown: Series[], style: string, log: boolean): [number, number] {
  const all = shown.flatMap((series) => numbers(series.values));
  if (style === "bars") all.push(0);
  return widened(range(all, log ? 0 : -Infinity), log);
}

function drawResiduals(section: Curve, x: Scale, positions: number[], box: Box, texts: AxisTexts): SVGGElement {
  const values = numbers(section.residuals?.values ?? []);
  const far = Math.max(3, ...range(values).map(Math.abs)) * 1.05;
  const y = makeScale(-far, far, box.bottom, box.top);
  const group = svg("g", {}, drawAxes(box, x, y, texts));
  group.append(svg("line", { class: "zero", x1: box.left, x2: box.right, y1: y.place(0), y2: y.place(0) }),
               ...drawPoints(x, y, positions, values, [], SET[0], box.bottom));
  return group;
}

function draw(section: Curve, shown: Series[], log: boolean): Drawn {
  const height = HEIGHT + (section.residuals ? RESIDUALS : 0);
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "drawing", tabindex: 0, role: "img",
                               "aria-label": `${section.title}. Arrow keys read its values.` });
  const keys = shown.length > 1 ? shown.map(({ name }, n) => ({ name, colour: SET[n % SET.length] })) : [];
  const legend = legendAbove(keys, 66, WIDTH - 12);
  const box: Box = { left: 66, right: WIDTH - 12, top: 12 + legend.height, bottom: HEIGHT - 44 };
  const style = section.style ?? "line", positions = numbers(section.positions);
  const logX = section.x.scale === "log";
  const plain = makeScale(...widened(range(positions, logX ? 0 : -Infinity), logX, style === "bars" ? 0.01 : 0.02),
                          box.left, box.right, logX);
  const x = section.residues ? markItems(plain, positions, section.residues.map(residueId)) : plain;
  const y = makeScale(...valueRange(shown, style, log), box.bottom, box.top, log);
  const label = shown.length === 1 && section.y.label === "" ? shown[0].name : section.y.label;
  drawing.append(drawAxes(box, x, y, { x: section.residuals ? "" : section.x.label, y: label }));
  shown.forEach((series, n) => drawing.append(
    ...drawSeries(series, series.style ?? style, x, y, positions, SET[n % SET.length], box.bottom)));
  drawing.append(legend.element);
  if (section.residuals) {
    const below = { ...box, top: HEIGHT - 14, bottom: height - 40 };
    drawing.append(drawResiduals(section, x, positions, below, { x: section.x.label, y: section.residuals.label }));
  }
  return { drawing, x, top: box.top };
}

/** Reads the values at a position aloud, by pointer and by arrow keys. */
function readCurve(drawn: Drawn, section: Curve, shown: Series[], panel: Panel): void {
  const positions = numbers(section.positions);
  const line = svg("line", { class: "pointer screen-only", y1: drawn.top, y2: HEIGHT - 44, visibility: "hidden" });
  drawn.drawing.append(line);
  const find = (at: number): number => {
    const wanted = drawn.x.value(at);
    let nearest = 0;
    positions.forEach((position, k) => {
      if (Math.abs(position - wanted) < Math.abs(positions[nearest] - wanted)) nearest = k;
    });
    return nearest;
  };
  addReading(drawn.drawing, positions.length, find, (k) => {
    const at = drawn.x.place(positions[k]);
    for (const end of ["x1", "x2"]) line.setAttribute(end, String(at));
    line.setAttribute("visibility", "visible");
    const values = shown.map((series) => `${series.name} ${shortNumber(series.values[k] ?? NaN)}` +
      (series.error?.[k] ? ` ± ${shortNumber(series.error[k] ?? NaN)}` : ""));
    const residue = section.residues?.[k] ?? "";
    const name = residue !== "" ? residue : `${section.position ?? section.x.label} ${shortNumber(positions[k])}`;
    panel.read(`${name}: ${values.join(", ")}`);
  });
}

export function curvePanel(section: Curve, place: Place): HTMLElement {
  const panel = new Panel(place, section.title, section.note);
  let log = section.y.scale === "log", chosen = section.series[0]?.name ?? "";
  let drawn: Drawn;
  const redraw = (): void => {
    const shown = section.choose ? section.series.filter((series) => series.name === chosen) : section.series;
    drawn = draw(section, shown, log);
    readCurve(drawn, section, shown, panel);
    panel.body.replaceChildren(drawn.drawing);
  };
  if (section.series.length === 0 || section.positions.length === 0) {
    panel.body.append(html("p", {}, "There are no values to draw."));
    return panel.element;
  }
  if (section.choose && section.series.length > 1)
    panel.controls.append(chooser("Show", section.series.map((series) => series.name), chosen, (name) => {
      chosen = name;
      redraw();
    }));
  if (section.y.scale === "log")
    panel.controls.append(checkbox("logarithmic", log, (checked) => {
      log = checked;
      redraw();
    }));
  redraw();
  panel.addSaving(() => drawn.drawing);
  return panel.element;
}
