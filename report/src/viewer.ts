// Viewer: a 3Dmol view that starts when it comes into sight, follows the theme and takes keys.
import { createViewer, type GLViewer } from "3dmol/build/3Dmol.es6-min.js";
import { button, html } from "./dom";
import { onPrint } from "./print";
import { download } from "./save";
import type { Panel } from "./panel";

/** Every atom. With no selection 3Dmol also counts shapes, and takes tubes for larger than they are. */
export const ALL_ATOMS = { invert: false };

let webGl: boolean | undefined;
/** Asked once: the answer takes a while where the processor draws. */
function hasWebGl(): boolean {
  const canvas = document.createElement("canvas");
  return (webGl ??= (canvas.getContext("webgl2") ?? canvas.getContext("webgl")) !== null);
}

/** Browsers give up the oldest views of many: those beyond this number start when asked. */
const MOST = 8;
let started = 0;

/** Waiting work, one piece at a time, while nobody waits for the page. */
const waiting: (() => void)[] = [];
function whenIdle(work: () => void): void {
  waiting.push(work);
  if (waiting.length > 1) return;
  const next = (): void => {
    waiting[0]();
    waiting.shift();
    if (waiting.length > 0) setTimeout(next, 20);
  };
  setTimeout(next, 50);
}

function panelColour(): string {
  return getComputedStyle(document.documentElement).getPropertyValue("--panel").trim();
}

/** The keys of the molecule: what they turn and scale. */
function pressed(viewer: GLViewer, event: KeyboardEvent): void {
  const turns: Record<string, [number, string]> = {
    ArrowLeft: [-10, "y"], ArrowRight: [10, "y"], ArrowUp: [-10, "x"], ArrowDown: [10, "x"],
  };
  if (event.key in turns) viewer.rotate(...turns[event.key]);
  else if (event.key === "+" || event.key === "=") viewer.zoom(1.2);
  else if (event.key === "-") viewer.zoom(1 / 1.2);
  else if (event.key === "0") viewer.zoomTo(ALL_ATOMS);
  else return;
  event.preventDefault();
  viewer.render();
}

/** In print a picture stands in the viewer's place; a molecule that was not seen yet is drawn for it. */
function printAsPicture(place: HTMLElement, current: () => GLViewer | null, begin: (viewer: GLViewer) => void): void {
  const picture = html("img", { class: "print-only", alt: "" });
  onPrint((isPrinting) => {
    if (!isPrinting) {
      picture.remove();
      return;
    }
    if (!place.isConnected || !hasWebGl()) return;
    const viewer = current();
    if (viewer !== null) {
      viewer.render();
      picture.src = viewer.pngURI();
    } else {
      // Browsers hold few views at a time, so this one is given back at once.
      const spare = html("div", { class: "molecule spare" });
      document.body.append(spare);
      const once = createViewer(spare, { backgroundColor: panelColour(), antialias: true });
      begin(once);
      picture.src = once.pngURI();
      spare.querySelector("canvas")?.getContext("webgl2")?.getExtension("WEBGL_lose_context")?.loseContext();
      spare.remove();
    }
    place.after(picture);
  });
}

/**
 * Makes a stage for a molecule in the panel, and calls `begin` with the viewer once it is in sight. Where
 * the browser has no WebGL a text stands in its place, and `begin` is never called.
 */
export function stage(panel: Panel, name: string, begin: (viewer: GLViewer) => void): void {
  const place = html("div", { class: "molecule", tabindex: 0, role: "application",
                              "aria-label": `${name}. Arrow keys turn, plus and minus zoom, 0 shows all.` });
  panel.body.append(place);
  panel.body.classList.add("high");
  let shown: GLViewer | null = null;
  // The wheel scrolls the page. With Ctrl held it reaches the viewer, which zooms.
  place.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  }, { capture: true });
  place.title = "Drag to turn; Ctrl and the wheel zoom";
  printAsPicture(place, () => shown, begin);
  const start = (isAsked = false): void => {
    if (started >= MOST && !isAsked) {
      const ask = button("Draw the molecule", () => {
        ask.remove();
        start(true);
      });
      place.append(ask);
      return;
    }
    ++started;
    if (!hasWebGl()) {
      place.replaceWith(html("p", { class: "note no-webgl" },
        "This browser offers no WebGL, so the molecule is not drawn. Everything else on the page works."));
      return;
    }
    const viewer = createViewer(place, { backgroundColor: panelColour(), antialias: true });
    begin(viewer);
    shown = viewer;
    place.dataset.state = "drawn";
    place.addEventListener("keydown", (event) => pressed(viewer, event));
    new ResizeObserver(() => viewer.resize()).observe(place);
    document.addEventListener("pleat-theme", () => {
      viewer.setBackgroundColor(panelColour(), 1);
      viewer.render();
    });
    panel.addTool("PNG", () => download(`${panel.file}.png`, viewer.pngURI()), "Save this panel as PNG");
  };
  // Its library takes a while to start: not before somebody can see the molecule.
  const watch = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watch.disconnect();
    whenIdle(() => start());
  }, { rootMargin: "100px" });
  watch.observe(place);
}
