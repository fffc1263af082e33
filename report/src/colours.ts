// Colours: ramps and sets that readers with any colour vision can tell apart.

export type Colour = [number, number, number];

/** Anchors at equal distances. viridis and cividis: matplotlib's, perceptually even; grey leaves room for marks. */
const RAMPS: Record<string, string[]> = {
  cividis: ["00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "e1cc55", "fee838"],
  viridis: ["440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"],
  grey: ["ffffff", "c9ccd1", "8d929b", "4b5059", "000000"],
};

export const RAMP_NAMES = Object.keys(RAMPS);

/** From one side of a middle to the other: RdBu of ColorBrewer. */
const DIVERGING = ["053061", "2166ac", "4393c3", "92c5de", "d1e5f0", "f7f7f7", "fddbc7", "f4a582", "d6604d", "b2182b", "67001f"];
export const BLUE_RED = "blue to red";

function parse(hex: string): Colour {
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Colour;
}

/** On a dark ground the grey ramp begins at the ground's colour too. */
const DARK_GREY = ["1b2029", "3d444f", "737b87", "b4bac3", "ffffff"];

export function isDark(): boolean {
  const theme = document.documentElement.dataset.theme;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

/** 256 colours of a ramp. */
export function rampColours(name: string): Colour[] {
  const plain = name === BLUE_RED ? DIVERGING : RAMPS[name] ?? RAMPS.cividis;
  const anchors = (name === "grey" && isDark() ? DARK_GREY : plain).map(parse);
  return Array.from({ length: 256 }, (_, step) => {
    const place = (step / 255) * (anchors.length - 1);
    const left = Math.min(Math.floor(place), anchors.length - 2);
    return anchors[left].map((value, channel) =>
      Math.round(value + (place - left) * (anchors[left + 1][channel] - value))) as Colour;
  });
}

/** The ramp as pixels of a picture. */
export function rampPixels(name: string): Uint32Array {
  const bytes = new Uint8ClampedArray(rampColours(name).flatMap((colour) => [...colour, 255]));
  return new Uint32Array(bytes.buffer);
}

export function cssColour([red, green, blue]: Colour): string {
  return `rgb(${red},${green},${blue})`;
}

/** The colour of a number between two ends; grey for NaN. */
export function rampColour(colours: Colour[], value: number, least: number, most: number): string {
  if (!Number.isFinite(value)) return "#999999";
  const share = most > least ? (value - least) / (most - least) : 0.5;
  return cssColour(colours[Math.max(0, Math.min(255, Math.round(share * 255)))]);
}

/** The set of Okabe and Ito, but for black and yellow, which need a light or a dark ground. */
export const SET = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
