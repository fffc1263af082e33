// DOM: elements made without markup, so that a text of a file stays a text.

type Attributes = Record<string, string | number | boolean | ((event: never) => void)>;
type Child = Node | string;

function fill<T extends Element>(element: T, attributes: Attributes, children: Child[]): T {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value as unknown as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/** An HTML element; a function is a listener of the event of its name. */
export function html<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

let lastId = 0;
/** An id that no other element has. */
export function newId(): string {
  return `e${++lastId}`;
}

/** A labelled list of choices. */
export function chooser(
  label: string, choices: string[], chosen: string, change: (choice: string) => void
): HTMLLabelElement {
  const list = html("select", { change: () => change(list.value) });
  for (const choice of choices) list.append(html("option", { value: choice, selected: choice === chosen }, choice));
  return html("label", {}, label + " ", list);
}

/** A labelled slider of whole numbers (or of `step`), with its value behind it. */
export function slider(
  label: string, least: number, most: number, value: number, change: (value: number) => void, step = 1
): HTMLLabelElement {
  const shown = html("output"), show = () => {
    shown.textContent = shortNumber(Number(input.value));
  };
  const input = html("input", { type: "range", min: least, max: most, step, input: () => {
    show();
    change(Number(input.value));
  } });
  input.value = String(value);
  show();
  return html("label", { class: "slider" }, label + " ", input, shown);
}

export function checkbox(label: string, checked: boolean, change: (checked: boolean) => void): HTMLLabelElement {
  const input = html("input", { type: "checkbox", checked, change: () => change(input.checked) });
  return html("label", {}, input, " " + label);
}

export function button(text: string, press: () => void, title = ""): HTMLButtonElement {
  const made = html("button", { type: "button", click: press }, text);
  if (title !== "") {
    made.title = title;
    made.setAttribute("aria-label", title);
  }
  return made;
}

/** A text with the signs of units and powers: "q^2 (1/angstrom^2)" as "q² (1/Å²)". */
export function readable(text: string): string {
  return text.replaceAll("angstrom", "Å").replaceAll("^2", "²");
}

/** Four significant digits by default, as short as they go. */
export function shortNumber(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return "none";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(Math.min(2, digits - 1)).replace(/\.?0+e/, "e").replace("e+", "e");
  return String(Number(value.toPrecision(digits)));
}
