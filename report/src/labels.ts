// Labels: what people call columns and residues, and which of them an axis marks.
import type { ContactMap, Substitutions } from "./data";
import { roundStep, type Scale } from "./scale";

/** "column 133 (G)", counted from 1; a gap is named, since a sign before a number would read as a minus. */
function columnLabel(position: number, letter: string): string {
  const inside = letter === "-" || letter === "." ? "gap" : letter;
  return `column ${position}` + (inside !== "" ? ` (${inside})` : "");
}

/** Each column of a map: its residue first if the structure has one, else "column 133 (G)". */
export function columnLabels(map: ContactMap): string[] {
  const hasResidues = map.residues.some((residue) => residue !== "");
  return map.places.map((position, n) => {
    const part = map.parts === null ? "" : `${map.parts[n]}, `;
    const column = part + columnLabel(position, map.letters[n]), residue = map.residues[n];
    return residue !== "" ? `${residue}, ${column}` : hasResidues ? `${column}, no residue` : column;
  });
}

/** The part of each column, "A" of "A 55"; "" without parts. */
export function partNames(map: ContactMap): string[] {
  return map.places.map((_, n) => {
    const part = map.parts?.[n] ?? "";
    return part.slice(0, Math.max(0, part.lastIndexOf(" ")));
  });
}

/** "D57" of each residue. */
export function mutatedResidues(data: Substitutions): string[] {
  return data.numbers.map((number, n) => data.wild_type[n] + number);
}

/** The number of "5MU 54A": "54A". Empty for an empty text. */
export function residueId(residue: string): string {
  return residue.slice(residue.lastIndexOf(" ") + 1);
}

/**
 * A scale that marks items, which stand at rising `positions` and are called `ids` ("52A", or empty for none).
 * An id is written at its own item and nowhere else: numbers may jump between neighbours.
 */
export function markItems(scale: Scale, positions: number[], ids: string[]): Scale {
  const numbers = ids.map((id) => parseInt(id, 10));
  const marks = (count: number): { value: number; text: string }[] => {
    const inView = numbers.filter((number, n) =>
      Number.isFinite(number) && positions[n] >= scale.least && positions[n] <= scale.most).length;
    const step = Math.max(1, roundStep(inView / count)), apart = 0.6 * Math.max(1, inView / count);
    const found: { value: number; text: string }[] = [];
    let before = NaN, last = -Infinity, seen = 0;
    numbers.forEach((number, n) => {
      if (!Number.isFinite(number)) return;
      const isRound = Number.isNaN(before) ? number % step === 0 : Math.floor(number / step) !== Math.floor(before / step);
      before = number;
      if (positions[n] < scale.least || positions[n] > scale.most) return;
      ++seen;
      // After a jump of the numbers, marks would crowd.
      if (!isRound || seen - last < apart) return;
      last = seen;
      found.push({ value: positions[n], text: ids[n] });
    });
    return found;
  };
  return { ...scale, marks };
}
