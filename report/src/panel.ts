// Panel: a titled box with its drawing, its controls and its buttons for saving.
import { button, html, newId } from "./dom";
import { fileName, savePng, saveSvg } from "./save";
import type { Selection } from "./selection";

/** Where a panel stands. */
export interface Place {
  run: string;
  selection: Selection;
}

export class Panel {
  readonly element: HTMLElement;
  readonly controls = html("div", { class: "controls" });
  readonly body = html("div", { class: "body" });
  /** Told to screen readers when it changes. */
  readonly status = html("p", { class: "status", role: "status" });
  readonly file: string;
  private readonly tools = html("div", { class: "tools" });

  constructor(place: Place, title: string, note = "") {
    const id = newId();
    this.file = fileName(place.run, title);
    const head = html("div", { class: "head" }, html("h3", { id }, title), this.tools);
    this.element = html("article", { class: "panel", "aria-labelledby": id }, head, this.controls, this.body, this.status);
    if (note !== "") this.body.before(html("p", { class: "note" }, note));
  }

  addTool(text: string, press: () => void, title: string): void {
    this.tools.append(button(text, press, title));
  }

  /** Buttons that save the drawing as it is shown then. */
  addSaving(drawing: () => SVGSVGElement): void {
    this.addTool("SVG", () => saveSvg(drawing(), this.file), "Save this panel as SVG");
    this.addTool("PNG", () => void savePng(drawing(), this.file), "Save this panel as PNG");
  }
}
