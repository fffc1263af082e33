// Panel: a titled box with its drawing, its controls and its buttons for saving.
import { button, html, newId, readable } from "./dom";
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
  /** The reading beside the pointer; screen readers have it from the status. */
  private readonly tip = html("div", { class: "tip screen-only", "aria-hidden": "true", hidden: true });
  private pointer: { x: number; y: number } | null = null;

  constructor(place: Place, title: string, note = "") {
    const id = newId();
    this.file = fileName(place.run, title);
    const head = html("div", { class: "head" }, html("h3", { id }, readable(title)), this.tools);
    this.element = html("article", { class: "panel", "aria-labelledby": id }, head, this.controls, this.body, this.status);
    if (note !== "") this.body.before(html("p", { class: "note" }, readable(note)));
    this.element.append(this.tip);
    this.followPointer();
  }

  /** Tells what is pointed at, or what keys have reached: in the status, and beside the pointer. */
  read(words: string): void {
    const text = readable(words);
    this.status.textContent = text;
    if (this.pointer === null) return;
    const { x, y } = this.pointer;
    this.tip.textContent = text;
    this.tip.hidden = false;
    const { width, height } = this.tip.getBoundingClientRect();
    const left = x + 16 + width < innerWidth ? x + 16 : Math.max(4, x - 16 - width);
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${y + 18 + height < innerHeight ? y + 18 : Math.max(4, y - 12 - height)}px`;
  }

  private followPointer(): void {
    const forget = (): void => {
      this.pointer = null;
      this.tip.hidden = true;
    };
    // Before a drawing reads the place: what is not read again is no longer pointed at.
    this.body.addEventListener("pointermove", (event) => {
      forget();
      if (event.pointerType === "mouse") this.pointer = { x: event.clientX, y: event.clientY };
    }, { capture: true });
    this.body.addEventListener("pointerleave", forget);
    this.body.addEventListener("keydown", forget, { capture: true });
    document.addEventListener("scroll", forget, { passive: true });
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
