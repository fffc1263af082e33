#!/usr/bin/env python3
# Makes bio/selections.tsv, the atoms that MDAnalysis selects by texts in its own words, and the two made files.
#
# data/oracles/make_selections.py           writes them (made with MDAnalysis 2.4.2)
# data/oracles/make_selections.py --check   compares with what is there; status 1 if anything differs
import argparse
import math
import random
import sys
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
DATA = HERE.parent
WATER = "resname HOH TIP3"
IONS = "resname ZN NA CL CA SOD CLA CAL"
MAIN_CHAIN = "name N CA C O OXT OT1 OT2 H HN HA HA2 HA3 H1 H2 H3 HT1 HT2 HT3"

FILES = ("1a8o.pdb.gz", "1hel.pdb.gz", "1ql9_A.pdb.gz", "hivp.pdb.gz", "oracles/bio/made_complex.pdb",
         "oracles/bio/made_segments.pdb")


def same_chain(universe, text):
    """Chains have their letters, or the names of segments where these are blank."""
    def chains(atoms):
        return np.array([chain.strip() or segment for chain, segment in zip(atoms.chainIDs, atoms.segids)])
    return universe.atoms[np.isin(chains(universe.atoms), chains(universe.select_atoms(text)))]


# What pleat is asked, and the same for MDAnalysis; None: the same text.
SELECTIONS = (
    ("all", None),
    ("ca", "name CA and element C"),
    ("protein", None),
    ("nucleic", None),
    ("water", WATER),
    ("ion", IONS),
    ("ligand", f"not (protein or nucleic or {WATER} or {IONS})"),
    ("hydrogen", "element H"),
    ("heavy", "not element H"),
    ("backbone and protein", "backbone"),
    ("sidechain", f"protein and not {MAIN_CHAIN}"),
    ("name CA", None),
    ("name CA CB and not resname ALA", None),
    ("name C*", None),
    ("name ?G", None),
    ("name *5'", None),
    ("resname ALA GLY", None),
    ("resname D* HS?", None),
    ("resid 10", None),
    ("resid 10 to 50", None),
    ("resid 10:50", None),
    ("resid 10-50 60 70:80", None),
    ("resid 184A", None),
    ("resid 184 to 188A", None),
    ("resid 20 to 40 80 to 100 and name CA", None),
    ("resid >= 20 and resid < 30", "resid 20 to 29"),
    ("chain A", "chainID A"),
    ("chain A B && name CA", "chainID A B and name CA"),
    ("segid PROB", None),
    ("index 0 to 99", None),
    ("index < 50", "index 0 to 49"),
    ("index 5 10 15:20", None),
    ("element C n", "element C N"),
    ("bfactor <= 20", "tempfactor -1000 to 20"),
    ("bfactor 10 to 30", "tempfactor 10 to 30"),
    ("plddt > 49.995", "tempfactor 49.995 to 1000"),
    ("within 5 of resid 20", "(around 5 resid 20) or resid 20"),
    ("protein and within 4.5 of water", f"protein and around 4.5 ({WATER})"),
    ("same residue as within 4 of resid 20", "same residue as ((around 4 resid 20) or resid 20)"),
    ("same chain as (resid 20 and name CA)", lambda u: same_chain(u, "resid 20 and name CA")),
    ("same residue as name SD", None),
    ("!protein || water && name O", f"(not protein) or ({WATER} and name O)"),
    ("protein and not (resname GLY or hydrogen)", "protein and not (resname GLY or element H)"),
    ("heavy and sidechain and within 6 of (resname ASP)",
     f"protein and not element H and not {MAIN_CHAIN} and ((around 6 resname ASP) or resname ASP)"),
    ("A:10-50", "chainID A and resid 10 to 50"),
    ("//A/10-50/CA,CB", "chainID A and resid 10 to 50 and name CA CB"),
    ("(ALA,GLY)", "resname ALA GLY"),
    ("amber(:2-4,7@CA)", lambda u: u.residues[[1, 2, 3, 6]].atoms.select_atoms("name CA")),
    ("amber(@5-9|:ASP&!@C*)", lambda u: u.atoms[4:9] | u.select_atoms("resname ASP and not name C*")),
)

PROTEIN = {"GLY": "", "ALA": "CB", "ASP": "CB CG OD1 OD2", "SER": "CB OG", "MET": "CB CG SD CE",
           "HIS": "CB CG ND1 CD2 CE1 NE2", "LYS": "CB CG CD CE NZ"}
SUGAR = "P OP1 OP2 O5' C5' C4' O4' C3' O3' C2' C1'"
BASES = {"DA": "N9 C8 N7 C5 C6 N6 N1 C2 N3 C4", "DC": "N1 C2 O2 N3 C4 N4 C5 C6", "G": "O2' N9 C8 N7 C5 C6 O6 N1 C2 N2 N3 C4",
         "U": "O2' N1 C2 O2 N3 C4 O4 C5 C6"}


class Writer:
    """Atoms of residues on a random walk: made to be selected, without bonds or chemistry."""

    def __init__(self, seed, by_segment):
        self.random, self.by_segment = random.Random(seed), by_segment
        self.lines, self.centre = [], [0.0, 0.0, 0.0]

    def residue(self, chain, name, number, atoms, insertion=" ", record="ATOM"):
        length = math.sqrt(sum(x * x for x in self.centre))
        step = [self.random.gauss(0, 2.0) - (0.3 * x / length if length > 12 else 0) for x in self.centre]
        self.centre = [x + dx for x, dx in zip(self.centre, step)]
        b_factor = self.random.uniform(5, 98)
        for atom in atoms:
            element = {"ZN": "ZN", "NA": "NA", "CL": "CL", "SOD": "NA", "CLA": "CL", "FE": "FE",
                       "CAL": "CA"}.get(atom, atom[0]) if name != "CA" else "CA"
            xyz = [x + self.random.uniform(-1.8, 1.8) for x in self.centre]
            at = f"{atom:<4}" if len(atom) == 4 or len(element) == 2 else f" {atom:<3}"
            letter, segment = (" ", chain) if self.by_segment else (chain, "")
            self.lines.append(f"{record:<6}{len(self.lines) + 1:>5} {at} {name:<4}{letter}{number:>4}{insertion}   "
                              + "".join(f"{x:8.3f}" for x in xyz) + f"{1:6.2f}{b_factor:6.2f}      {segment:<4}"
                              f"{element:>2}")

    def amino_acid(self, chain, name, number, hydrogens, first=False, **more):
        side = PROTEIN[{"HSD": "HIS", "MSE": "MET"}.get(name, name)].split()
        names = ["N", "CA", "C", "O", *("SE" if name == "MSE" and atom == "SD" else atom for atom in side)]
        if hydrogens:
            names += ["HT1", "HT2", "HT3"] if first else ["HN"]
            names += (["HA"] if side else ["HA2", "HA3"]) + (["HB1", "HB2"] if side else [])
        self.residue(chain, name, number, names, **more)

    def text(self):
        return "\n".join([*self.lines, "END", ""])


def made_complex():
    """Two protein chains, DNA, RNA, a ligand, ions and water; insertion codes; without hydrogens."""
    writer = Writer(1, by_segment=False)
    for chain, count in (("A", 22), ("B", 18)):
        for n in range(count):
            writer.amino_acid(chain, writer.random.choice(list(PROTEIN)), 9 + n, hydrogens=False)
        writer.amino_acid(chain, "ALA", 8 + count, hydrogens=False, insertion="A")
    for n, name in enumerate(("DA", "DC", "DA", "DC")):
        writer.residue("C", name, 1 + n, (SUGAR + " " + BASES[name]).split())
    for n, name in enumerate(("G", "U", "U")):
        writer.residue("D", name, 18 + n, (SUGAR + " " + BASES[name]).split())
    writer.residue("A", "HEM", 201, ["FE", "NB", "NC", "CHA", "C1A", "CMA", "O1A"], record="HETATM")
    for n, name in enumerate(("ZN", "NA", "CL", "CA")):
        writer.residue("A", name, 202 + n, [name], record="HETATM")
    for n in range(30):
        writer.residue("W", "HOH", 301 + n, ["O"], record="HETATM")
    return writer.text()


def made_segments():
    """As CHARMM writes: segments instead of chains, hydrogens, TIP3 water, ions SOD and CLA."""
    writer = Writer(2, by_segment=True)
    for chain in ("PROA", "PROB"):
        for n in range(20):
            name = writer.random.choice(["GLY", "ALA", "ASP", "SER", "MET", "HSD", "LYS"])
            writer.amino_acid(chain, name, 15 + n, hydrogens=True, first=n == 0)
    for n, name in enumerate(("SOD", "CLA", "CLA", "CAL")):
        writer.residue("IONS", name, 1 + n, [name])
    for n in range(40):
        writer.residue("WAT", "TIP3", 1 + n, ["OH2", "H1", "H2"])
    return writer.text()


def digest(indices):
    """FNV-1a of 64 bits over the numbers, each as 8 bytes, the lowest first."""
    state = 0xcbf29ce484222325
    for index in indices:
        for byte in int(index).to_bytes(8, "little"):
            state = (state ^ byte) * 0x100000001b3 % 2**64
    return state


def answers():
    """Rows of the table: file, text, number of atoms, digest of their indices."""
    import MDAnalysis
    from MDAnalysis.topology.guessers import guess_types
    for name in FILES:
        universe = MDAnalysis.Universe(str(DATA / name), format="PDB")
        if not hasattr(universe.atoms, "elements") or not all(universe.atoms.elements):
            universe.add_TopologyAttr("elements", guess_types(universe.atoms.names))
        # pleat keeps one alternate location.
        kept = universe.select_atoms("not altloc B C")
        if len(kept) < len(universe.atoms):
            universe = MDAnalysis.Merge(kept)
        has_b_factors = bool(np.any(universe.atoms.tempfactors))
        for text, theirs in SELECTIONS:
            if callable(theirs):
                indices = np.unique(theirs(universe).indices)
            else:
                indices = universe.select_atoms(theirs or text, periodic=False).indices
            # pleat refuses factors that are all 0.
            if text.split()[0] in ("bfactor", "plddt") and not has_b_factors:
                indices = []
            yield name, text, len(indices), f"{digest(indices):016x}" if len(indices) else "-"


def main():
    parser = argparse.ArgumentParser(description="Answers of MDAnalysis to selections.")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    warnings.simplefilter("ignore")
    differs = 0

    def keep(path, text):
        nonlocal differs
        if check:
            differs += path.read_text(encoding="ascii") != text
        else:
            path.write_text(text, encoding="ascii")

    keep(HERE / "bio" / "made_complex.pdb", made_complex())
    keep(HERE / "bio" / "made_segments.pdb", made_segments())
    lines = ["\t".join(map(str, row)) for row in (("file", "selection", "atoms", "digest"), *answers())]
    keep(HERE / "bio" / "selections.tsv", "\n".join(lines) + "\n")
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
