# Trajectories of simulations with molecules broken across their cell: a warning; whole ones: none.
import gzip
import os
import unittest
from pathlib import Path

from program import ROOT, ProgramTest, manifest, pleat
from structures import ATOM

HARD = Path(os.environ.get("PLEAT_SHARED", ROOT.parent / "shared")) / "data" / "ensembles_hard"


def pdb_of_gro(text):
    """GROMACS's .gro as a PDB file without a cell."""
    lines = text.splitlines()
    atoms = []
    for line in lines[2:2 + int(lines[1])]:
        name, residue = line[10:15].strip(), line[5:10].strip()[:3]
        atoms.append((name, residue, int(line[:5])))
    return pdb_of(atoms)


def pdb_of_parm7(text):
    """AMBER's .parm7 as a PDB file."""
    parts = {part.split(None, 1)[0]: part for part in text.split("%FLAG ")[1:]}

    def fields(flag, width):
        joined = "\n".join(parts[flag].splitlines()[2:])
        return [line[at:at + width].strip() for line in joined.splitlines()
                for at in range(0, len(line.rstrip()), width)]
    names, residues = fields("ATOM_NAME", 4), fields("RESIDUE_LABEL", 4)
    first = [int(text) for text in fields("RESIDUE_POINTER", 8)] + [len(names) + 1]
    return pdb_of([(names[n - 1], residues[k][:3], k + 1) for k in range(len(residues))
                   for n in range(first[k], first[k + 1])])


def pdb_of(atoms):
    # A residue number takes four columns: those of the water count again from 0.
    return "".join(ATOM.format(n % 100000, f"{name:<4}" if len(name) > 3 else f" {name:<3}", residue, "A",
                               number % 10000, 0, 0, 0, "") for n, (name, residue, number) in
                   enumerate(atoms, 1)) + "END\n"


@unittest.skipUnless(HARD.is_dir(), f"{HARD} is absent")
class BrokenMolecules(ProgramTest):
    def warnings(self, trajectory, topology, command="rmsd", select="ca"):
        path = self.folder / "topology.pdb"
        path.write_text(topology, encoding="ascii")
        run = self.folder / f"{command}-{len(list(self.folder.iterdir()))}"
        more = ("--cutoff", "2") if command == "cluster" else ()
        done = pleat(command, HARD / trajectory, "--topology", path, "--select", select, *more, "-o", run)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = [line for line in manifest(run)["messages"] if line.startswith("warning: ")]
        for line in told:
            self.assertIn(line, done.stderr.decode())
            self.assertIn(line, (run / "log.txt").read_text(encoding="utf-8"))
        return told

    def test_a_protein_split_in_each_frame(self):
        topology = pdb_of_gro(gzip.decompress((HARD / "mdanalysis/adk_oplsaa.gro.gz").read_bytes()).decode())
        for command in ("rmsd", "cluster"):
            told = self.warnings("mdanalysis/adk_oplsaa.xtc", topology, command)
            self.assertEqual(len(told), 1, told)
            self.assertIn("in 10 frames", told[0])
            self.assertIn("angstrom apart in a periodic cell", told[0])

    def test_whole_proteins(self):
        for name in ("ortho", "truncoct"):
            topology = pdb_of_parm7(gzip.decompress((HARD / f"cpptraj/tz2.{name}.parm7.gz").read_bytes()).decode())
            for select in ("ca", "A:1-13"):
                self.assertEqual(self.warnings(f"cpptraj/tz2.{name}.nc", topology, select=select), [])


if __name__ == "__main__":
    unittest.main()
