// Scale: from numbers to places on an axis, with round numbers to mark.
import { shortNumber } from "./dom";

export interface Scale {
  least: number;
  most: number;
  log: boolean;
  place(value: number): number;
  value(place: number): number;
  marks(count: number): { value: number; text: string }[];
}

/** The smallest of 1, 2 or 5 times a power of ten that is at least this. */
export function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
}

function roundMarks(least: number, most: number, count: number): number[] {
  const step = roundStep((most - least) / Math.max(1, count));
  const marks: number[] = [];
  for (let n = Math.ceil(least / step - 1e-9); n * step <= most + step * 1e-9; ++n) marks.push(n * step);
  return marks;
}

function powers(least: number, most: number, count: number): number[] {
  const first = Math.ceil(Math.log10(least) - 1e-9), last = Math.floor(Math.log10(most) + 1e-9);
  if (last - first < 1) return roundMarks(least, most, count).filter((mark) => mark > 0);
  const every = Math.max(1, Math.ceil((last - first + 1) / count));
  const marks: number[] = [];
  for (let power = first; power <= last; power += every) marks.push(10 ** power);
  return marks;
}

/** More characters than these would reach into the label of the axis. */
const LONG_MARK = 6;

function superscript(power: number): string {
  return String(power).replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]);
}

/** Numbers as they are; if one of them is long all in exponents, powers of ten as "10⁵". */
function markTexts(values: number[], log: boolean): { value: number; text: string }[] {
  const texts = values.map((value) => shortNumber(value));
  const isLong = texts.some((text) => text.length >= LONG_MARK || text.includes("e"));
  const isPowers = log && values.every((value) => Math.abs(Math.log10(value) % 1) < 1e-9);
  return values.map((value, n) => {
    if (!isLong) return { value, text: texts[n] };
    if (isPowers) return { value, text: `10${superscript(Math.round(Math.log10(value)))}` };
    return { value, text: value === 0 ? "0" : String(Number(value.toPrecision(4)).toExponential()).replace("e+", "e") };
  });
}

/** An axis from `start` to `end` of the drawing. A logarithm needs both ends above 0. */
export function makeScale(least: number, most: number, start: number, end: number, log = false): Scale {
  const real = log ? Math.log10 : (x: number) => x;
  const low = real(least), wide = real(most) - low || 1;
  return {
    least, most, log,
    place: (value) => start + ((real(value) - low) / wide) * (end - start),
    value: (place) => {
      const x = low + ((place - start) / (end - start)) * wide;
      return log ? 10 ** x : x;
    },
    marks: (count) => markTexts((log ? powers : roundMarks)(least, most, count).map((value) =>
      (Math.abs(value) < 1e-12 * Math.abs(most - least) ? 0 : value)), log),
  };
}

/** The least and the greatest of the finite numbers; 0 and 1 where there are none. */
export function range(values: Iterable<number>, above = -Infinity): [number, number] {
  let least = Infinity, most = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value) || value <= above) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return least <= most ? [least, most] : above === 0 ? [1, 10] : [0, 1];
}

/** A little room on either side. */
export function widened([least, most]: [number, number], log: boolean, share = 0.04): [number, number] {
  if (log) {
    const factor = Math.max((most / least) ** share, 1.05);
    return [least / factor, most * factor];
  }
  const room = (most - least) * share || Math.abs(most) * share || 1;
  return [least - room, most + room];
}
