// Saving: drawings as SVG and PNG files, tables as text.
import { html } from "./dom";

/** What a drawing's looks come from once it leaves the page's style sheet. */
const KEPT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity",
              "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "image-rendering",
              "paint-order", "stroke-linejoin", "stroke-linecap", "display", "visibility"];

function copyLooks(from: Element, to: Element): void {
  const looks = getComputedStyle(from);
  for (const name of KEPT) (to as SVGElement).style.setProperty(name, looks.getPropertyValue(name));
  for (let child = 0; child < from.children.length; ++child) copyLooks(from.children[child], to.children[child]);
}

/** The drawing as a file of its own, on the page's ground. */
export function svgText(drawing: SVGSVGElement): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  copyLooks(drawing, copy);
  const box = drawing.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(box.width));
  copy.setAttribute("height", String(box.height));
  for (const drop of copy.querySelectorAll(".screen-only")) drop.remove();
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ x: box.x, y: box.y, width: box.width, height: box.height }))
    ground.setAttribute(name, String(value));
  ground.setAttribute("fill", getComputedStyle(document.documentElement).getPropertyValue("--panel").trim());
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

/** Offers a file for saving. */
export function download(name: string, content: Blob | string): void {
  const isText = typeof content === "string" && !content.startsWith("data:");
  const blob = isText ? new Blob([content], { type: "text/plain;charset=utf-8" }) : content;
  const address = blob instanceof Blob ? URL.createObjectURL(blob) : blob;
  const link = html("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  if (blob instanceof Blob) setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function saveSvg(drawing: SVGSVGElement, name: string): void {
  download(`${name}.svg`, new Blob([svgText(drawing)], { type: "image/svg+xml" }));
}

/** Twice the size on the page, for print. */
export async function savePng(drawing: SVGSVGElement, name: string): Promise<void> {
  const scale = 2, box = drawing.viewBox.baseVal;
  const picture = new Image();
  picture.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svgText(drawing));
  await picture.decode();
  const canvas = html("canvas", { width: Math.round(box.width * scale), height: Math.round(box.height * scale) });
  canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  download(`${name}.png`, canvas.toDataURL("image/png"));
}

/** Puts a text on the clipboard; where that is refused, by the older way. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = html("textarea", { class: "off-screen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** A name for a file: letters, digits and hyphens of a text. */
export function fileName(...words: string[]): string {
  return words.join("-").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "") || "panel";
}
