# pleat cluster beside `gmx cluster`, gromos and jarvis-patrick: every frame of real ensembles.
import gzip
import os
import shutil
import struct
import subprocess
import unittest
from pathlib import Path

from program import ROOT, ProgramTest, parse_npy, pleat

GMX = shutil.which("gmx")
SHARED = Path(os.environ.get("PLEAT_SHARED", ROOT.parent / "shared"))
ENSEMBLES = SHARED / "data" / "ensembles"


def alpha_carbons(frames, path):
    """Frames, lists of (x, y, z) in angstrom, as models of a PDB file."""
    with open(path, "w", encoding="ascii") as file:
        for model, frame in enumerate(frames, 1):
            file.write(f"MODEL     {model:4d}\n")
            for number, (x, y, z) in enumerate(frame, 1):
                file.write(f"ATOM  {number:5d}  CA  ALA A{number:4d}    "
                           f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00           C  \n")
            file.write("ENDMDL\n")


def in_order(clusters):
    """The clusters numbered in the order in which they appear."""
    numbers = {}
    return [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]


def dcd_frames(path, chosen):
    """The chosen atoms of each frame of a little-endian CHARMM DCD file without unit cells."""
    data = path.read_bytes()
    at, records = 0, []
    while at < len(data):
        length = struct.unpack_from("<i", data, at)[0]
        records.append(data[at + 4:at + 4 + length])
        at += length + 8
    for first in range(3, len(records) - 2, 3):
        axes = [struct.unpack(f"<{len(r) // 4}f", r) for r in records[first:first + 3]]
        yield [tuple(axis[atom] for axis in axes) for atom in chosen]


@unittest.skipIf(GMX is None, "no gmx on PATH (Debian package gromacs)")
@unittest.skipUnless(ENSEMBLES.is_dir(), "no real ensembles in PLEAT_SHARED or beside the repository")
class Gromacs(ProgramTest):
    def gmx(self, trajectory, topology, group, *options, method="gromos", skip=1):
        """The cluster of each frame, counted from 0."""
        done = subprocess.run(
            [GMX, "-nobackup", "-quiet", "cluster", "-f", trajectory, "-s", topology, "-method", method,
             *map(str, options), "-skip", str(skip), "-clid", "clid.xvg", "-xvg", "none",
             "-nopbc"], input=f"{group}\n{group}\n".encode(), cwd=self.folder, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=580)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        rows = (self.folder / "clid.xvg").read_text().split("\n")
        return [int(row.split()[1]) - 1 for row in rows if row.strip()]

    def ours(self, *arguments, method="gmx"):
        done = pleat("cluster", *arguments, "--method", method, "-q", "--structures", "none", "--force",
                     "-o", self.folder / "run")
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(parse_npy((self.folder / "run" / "assignment.npy").read_bytes())[1])

    def compare_models(self, frames, cutoff):
        path = self.folder / "models.pdb"
        alpha_carbons(frames, path)
        expected = self.gmx(path, path, 0, "-cutoff", cutoff / 10)
        found = self.ours(path, "--cutoff", cutoff)
        self.assertGreater(max(expected), 2)
        self.assertEqual(found, expected)

    def test_molecular_dynamics(self):
        shape, values = parse_npy((ENSEMBLES / "md70_CA70_M5000_xyz.npy").read_bytes())
        atoms = [values[n:n + 3] for n in range(0, len(values), 3)]
        frames = [atoms[n:n + shape[1]] for n in range(0, len(atoms), shape[1])]
        self.compare_models(frames[::10], 2.5)

    def test_transition_of_adenylate_kinase(self):
        folder = ENSEMBLES / "adk_dims"
        with gzip.open(folder / "adk_closed.pdb.gz", "rt", encoding="ascii") as file:
            names = [line[12:16].strip() for line in file if line.startswith("ATOM")]
        chosen = [atom for atom, name in enumerate(names) if name == "CA"]
        self.compare_models(list(dcd_frames(folder / "adk_dims.dcd", chosen)), 1.0)

    def test_peptide_trajectory(self):
        folder = ENSEMBLES / "asp7"
        expected = self.gmx(folder / "asp7.xtc", folder / "asp7.pdb", "C-alpha", "-cutoff", 0.15, skip=4)
        found = self.ours(folder / "asp7.xtc", "--topology", folder / "asp7.pdb", "--select", "ca",
                          "--frames", "::4", "--cutoff", 1.5)
        self.assertGreater(max(expected), 2)
        self.assertEqual(found, expected)

    def test_masses_of_the_backbone(self):
        folder = ENSEMBLES / "adk_dims"
        with gzip.open(folder / "adk_closed.pdb.gz", "rt", encoding="ascii") as file:
            lines = [line for line in file if line.startswith("ATOM")]
        self.compare_masses(lines, ("N", "CA", "C"))
        self.compare_masses(lines, ("N", "CA", "C", "O", "CB"))

    def compare_masses(self, lines, names):
        folder = ENSEMBLES / "adk_dims"
        chosen = [n for n, line in enumerate(lines) if line[12:16].strip() in names]
        path = self.folder / "backbone.pdb"
        with open(path, "w", encoding="ascii") as file:
            for frame in dcd_frames(folder / "adk_dims.dcd", chosen):
                file.write("MODEL        1\n")
                for number, (atom, (x, y, z)) in enumerate(zip(chosen, frame), 1):
                    line = lines[atom]
                    file.write(f"ATOM  {number:5d} {line[12:21]}A{line[22:30]}{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00"
                               f"          {line[12:16].strip()[0]:>2s}  \n")
                file.write("ENDMDL\n")
        differ = 0
        for cutoff in (1.0, 1.5, 2.0):
            expected = self.gmx(path, path, 0, "-cutoff", cutoff / 10)
            self.assertEqual(self.ours(path, "--cutoff", cutoff), expected)
            differ += self.ours(path, "--cutoff", cutoff, "--atom-weights", "none") != expected
        self.assertGreater(differ, 0)

    def test_jarvis_patrick(self):
        shape, values = parse_npy((ENSEMBLES / "md70_CA70_M5000_xyz.npy").read_bytes())
        atoms = [values[n:n + 3] for n in range(0, len(values), 3)]
        frames = [atoms[n:n + shape[1]] for n in range(0, len(atoms), shape[1])][::25]
        path = self.folder / "models.pdb"
        alpha_carbons(frames, path)
        for nearest, common, cutoff in ((10, 3, None), (6, 2, None), (20, 8, 2.0), (0, 8, 2.5)):
            with self.subTest(nearest=nearest, common=common, cutoff=cutoff):
                limit = () if cutoff is None else ("-cutoff", cutoff / 10)
                expected = self.gmx(path, path, 0, "-M", nearest, "-P", common, *limit, method="jarvis-patrick")
                found = self.ours(path, "--nearest", nearest, "--common", common,
                                  *(() if cutoff is None else ("--cutoff", cutoff)), method="jarvis-patrick")
                self.assertGreater(len(set(expected)), 1)
                self.assertEqual(in_order(found), in_order(expected))


if __name__ == "__main__":
    unittest.main()
