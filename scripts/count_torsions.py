#!/usr/bin/env python3
# Writes src/pleat/workflows/refine/prior/torsion_counts.tsv: counts of phi and psi of residues in coils.
import argparse
import gzip
import math
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "pleat" / "workflows" / "refine" / "prior" / "torsion_counts.tsv"
CLASSES = ("glycine", "proline", "before_proline", "beta_branched", "other")
AMINO_ACIDS = dict(zip("ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL MSE".split(),
                       "ARNDCQEGHILKMFPSTWYVM"))
CELLS = 72  # of 5 degrees
SHARED = 0.15  # a chain that shares more of its words of 4 residues with an earlier one is left out
HEAD = """# Torsion counts: (phi, psi) of residues in coils, as scripts/count_torsions.py counted them.
#
# {chains} protein chains of {files} files, no two of which share more than {shared} % of their words of
# 4 residues: {residues} residues with phi and psi, {coils} of them outside helices and strands. Sources:
# {sources}.
#
# Class, phi cell and, for each psi cell, psi:count; cell n is [5 n - 180, 5 n - 175) degrees.
"""


def read_chains(path):
    """The protein chains of the first model of a PDB file: lists of (name, {atom: position})."""
    opened = gzip.open if path.suffix == ".gz" else open
    chains, names = {}, {}
    with opened(path, "rt", encoding="latin-1") as lines:
        for line in lines:
            if line.startswith("ENDMDL"):
                break
            atom, alternate = line[12:16].strip(), line[16:17]
            if line[:6] not in ("ATOM  ", "HETATM") or atom not in ("N", "CA", "C") or alternate not in " A1":
                continue
            name = line[17:20].strip()
            if name not in AMINO_ACIDS:
                continue
            chain, residue = line[21:22], line[22:27]
            try:
                position = tuple(float(line[n:n + 8]) for n in (30, 38, 46))
            except ValueError:
                continue
            chains.setdefault(chain, {}).setdefault(residue, {}).setdefault(atom, position)
            names[chain, residue] = name
    return [[(names[chain, residue], atoms) for residue, atoms in residues.items()]
            for chain, residues in chains.items()]


def dihedral(a, b, c, d):
    def minus(p, q):
        return [p[n] - q[n] for n in range(3)]

    def cross(p, q):
        return [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]

    def dot(p, q):
        return sum(x * y for x, y in zip(p, q))

    axis = minus(c, b)
    left, right = cross(minus(b, a), axis), cross(axis, minus(d, c))
    return math.degrees(math.atan2(dot(cross(left, right), axis) / math.sqrt(dot(axis, axis)), dot(left, right)))


def torsions(chain):
    """[residue]: (phi, psi), or None at ends, breaks and behind cis peptide bonds."""
    found = [None] * len(chain)
    complete = [all(name in atoms for name in ("N", "CA", "C")) for _, atoms in chain]
    bonded = [complete[n] and complete[n + 1] and math.dist(chain[n][1]["C"], chain[n + 1][1]["N"]) < 2
              for n in range(len(chain) - 1)]
    for n in range(1, len(chain) - 1):
        if not (bonded[n - 1] and bonded[n]):
            continue
        before, here, behind = (chain[m][1] for m in (n - 1, n, n + 1))
        if abs(dihedral(before["CA"], before["C"], here["N"], here["CA"])) < 90:
            continue
        found[n] = (dihedral(before["C"], here["N"], here["CA"], here["C"]),
                    dihedral(here["N"], here["CA"], here["C"], behind["N"]))
    return found


def in_runs(is_one, shortest):
    """Which residues are in runs of at least `shortest`."""
    marked, start = [False] * len(is_one), 0
    for n in range(len(is_one) + 1):
        if n < len(is_one) and is_one[n]:
            continue
        if n - start >= shortest:
            marked[start:n] = [True] * (n - start)
        start = n + 1
    return marked


def is_helical(angles):
    return angles is not None and -120 < angles[0] < -30 and -80 < angles[1] < 0


def is_extended(angles):
    return angles is not None and -180 <= angles[0] < -80 and (angles[1] > 90 or angles[1] < -150)


def class_of(chain, n):
    name, after = chain[n][0], chain[n + 1][0]
    if name == "GLY":
        return 0
    if name == "PRO":
        return 1
    if after == "PRO":
        return 2
    return 3 if name in ("ILE", "VAL") else 4


def words(chain):
    letters = "".join(AMINO_ACIDS[name] for name, _ in chain)
    return {letters[n:n + 4] for n in range(len(letters) - 3)}


def cell(angle):
    return min(int((angle + 180) / 360 * CELLS), CELLS - 1)


def rows(name, counts):
    cells = {}
    for (phi, psi), count in sorted(counts.items()):
        cells.setdefault(phi, []).append(f"{psi}:{count}")
    return "".join(f"{name}\t{phi}\t{' '.join(counted)}\n" for phi, counted in cells.items())


def main():
    parser = argparse.ArgumentParser(description="Count the torsions of residues in coils again.")
    parser.add_argument("structures", nargs="+", type=Path, help="PDB files, or folders of them")
    parser.add_argument("--sources", required=True, help="where the files come from, in words")
    arguments = parser.parse_args()
    files = []
    for given in arguments.structures:
        found = [given] if given.is_file() else [path for path in given.rglob("*") if path.is_file()]
        files += [path for path in found if path.name.removesuffix(".gz").endswith((".pdb", ".ent"))]
    if not files:
        sys.exit("count_torsions.py: expected PDB files, found none")
    counts, kept, used = [Counter() for _ in CLASSES], [], set()
    residues = coils = 0
    # The longest first: a fragment of a protein is then left out, not the protein.
    chains = [(path, chain) for path in files for chain in read_chains(path) if len(chain) >= 30]
    for path, chain in sorted(chains, key=lambda one: (-len(one[1]), one[0].name)):
        mine = words(chain)
        if any(len(mine & other) > SHARED * len(mine) for other in kept):
            continue
        angles = torsions(chain)
        ordered = [one or two for one, two in zip(in_runs([is_helical(one) for one in angles], 4),
                                                  in_runs([is_extended(one) for one in angles], 3))]
        kept.append(mine)
        used.add(path)
        for n, pair in enumerate(angles):
            residues += pair is not None
            if pair is None or ordered[n]:
                continue
            coils += 1
            counts[class_of(chain, n)][cell(pair[0]), cell(pair[1])] += 1
    text = HEAD.format(chains=len(kept), files=len(used), residues=residues, coils=coils,
                       shared=round(100 * SHARED), sources=arguments.sources)
    text += "".join(rows(name, count) for name, count in zip(CLASSES, counts))
    TARGET.write_text(text, encoding="utf-8")
    print(f"{len(kept)} chains, {residues} residues, {coils} in coils: "
          + ", ".join(f"{name} {sum(count.values())}" for name, count in zip(CLASSES, counts)))
    print(f"wrote {TARGET.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
