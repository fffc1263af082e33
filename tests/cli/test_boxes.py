# Trajectories of simulations whose molecules are split over the periodic box: made whole, or told.
import gzip
import importlib.util
import math
import os
import random
import shutil
import struct
import subprocess
import time
import unittest
from pathlib import Path

from program import DATA, PROGRAM, ROOT, ProgramTest, clean_environment, manifest, parse_npy, pleat, read_table, remarks, \
    results

HARD = Path(os.environ.get("PLEAT_SHARED", ROOT.parent / "shared")) / "data" / "ensembles_hard"
SPLIT = "selection split over the box in {0} of {0} frames: made whole (otherwise: --pbc none)"


def frames_of_dcd(data):
    """The frames of a DCD file, atoms as x, y and z; its cells of six doubles are left out."""
    at, records = 0, []
    while at < len(data):
        length = struct.unpack_from("<i", data, at)[0]
        records.append(data[at + 4:at + 4 + length])
        at += length + 8
    axes = [struct.unpack(f"<{len(one) // 4}f", one) for one in records[3:] if len(one) != 48]
    return [list(zip(*axes[n:n + 3])) for n in range(0, len(axes), 3)]


def dcd(frames, cell):
    """A DCD file whose frames have this cell: a, cos gamma, b, cos beta, cos alpha, c."""
    def record(data):
        return struct.pack("<i", len(data)) + data + struct.pack("<i", len(data))
    numbers = [len(frames), 1, 1] + [0] * 7 + [1] + [0] * 8 + [24]
    text = record(b"CORD" + struct.pack("<20i", *numbers)) + record(struct.pack("<i", 1) + b" " * 80) + \
        record(struct.pack("<i", len(frames[0])))
    for frame in frames:
        text += record(struct.pack("<6d", *cell))
        for axis in range(3):
            text += record(struct.pack(f"<{len(frame)}f", *(atom[axis] for atom in frame)))
    return text


# Lengths and cosines as DCD has them, and the vectors.
CELLS = {
    "cubic": ((90, 0, 90, 0, 0, 90), ((90, 0, 0), (0, 90, 0), (0, 0, 90))),
    "dodecahedron": ((96, 0, 96, 0.5, 0.5, 96), ((96, 0, 0), (0, 96, 0), (48, 48, 48 * math.sqrt(2)))),
    "triclinic": ((80, 0.25, 100, 0.1, 0, 95), (
        (80, 0, 0), (25, 100 * math.sqrt(1 - 1 / 16), 0),
        (9.5, -95 * 0.025 / math.sqrt(1 - 1 / 16), 95 * math.sqrt(1 - 0.01 - 0.000625 / (1 - 1 / 16)))))}


class BoxTest(ProgramTest):
    def call(self, command, *arguments, status=0):
        """The folder of a run, and its messages."""
        self.number = getattr(self, "number", 0) + 1
        run = self.folder / f"run{self.number}"
        done = pleat(command, *arguments, "-q", "-o", run)
        self.assertEqual(done.returncode, status, done.stderr)
        if status:
            return done.stderr.decode()
        messages = remarks(run)
        for line in messages:
            if line.startswith("warning: "):
                self.assertIn(line, (run / "log.txt").read_text(encoding="utf-8"))
        return run, messages

    def matrix(self, *arguments):
        run, messages = self.call("rmsd", *arguments)
        return parse_npy((run / "rmsd.npy").read_bytes())[1], messages


class Boxes(BoxTest):
    def wrapped(self, cell):
        """HIV protease, two chains, each of whose atoms lies in an image of its own; and as it was."""
        frames = frames_of_dcd(gzip.decompress((DATA / "hivp.dcd.gz").read_bytes()))[:12]
        dice, (numbers, vectors), split = random.Random(4), CELLS[cell], []
        for frame in frames:
            split.append([])
            for atom in frame:
                count = [dice.randint(-1, 1) for _ in vectors]
                split[-1].append([x + sum(n * v[axis] for n, v in zip(count, vectors))
                                  for axis, x in enumerate(atom)])
        paths = self.folder / f"{cell}.dcd", self.folder / f"{cell}-whole.dcd"
        for path, coordinates in zip(paths, (split, frames)):
            path.write_bytes(dcd(coordinates, numbers))
        return paths

    def test_frames_split_at_random_have_the_matrix_of_whole_ones(self):
        topology = ("--topology", DATA / "hivp.pdb.gz")
        for cell in CELLS:
            with self.subTest(cell):
                split, whole = self.wrapped(cell)
                expected, messages = self.matrix(whole, *topology, "--pbc", "none")
                self.assertFalse([line for line in messages if "box" in line])
                found, messages = self.matrix(split, *topology)
                self.assertIn(SPLIT.format(12), messages)
                self.assertLess(max(abs(a - b) for a, b in zip(found, expected)), 1e-5)
                left, messages = self.matrix(split, *topology, "--pbc", "none")
                self.assertFalse([line for line in messages if "box" in line])
                self.assertGreater(min(left), 10)

    def test_every_command_makes_whole(self):
        split, whole = self.wrapped("triclinic")
        topology = ("--topology", DATA / "hivp.pdb.gz")
        for command in (("cluster", "--cutoff", "1.5"), ("rmsd", "--reference", "0", "--superposed", "npy"),
                        ("rmsd", "--matrix", "none"), ("saxs", "--model", "one-bead"),
                        ("rmsd", "--select", "A", "--measure", "B")):
            with self.subTest(command):
                run, messages = self.call(*command, split, *topology)
                expected, _ = self.call(*command, whole, *topology, "--pbc", "none")
                self.assertIn(SPLIT.format(12), messages)
                for name in ("rmsd.npy", "superposed.npy", "assignment.npy", "profiles.npy"):
                    if not (run / name).exists():
                        continue
                    found, wanted = (list(parse_npy((one / name).read_bytes())[1]) for one in (run, expected))
                    if name == "superposed.npy":  # onto the first frame, whose first atom may be in any image
                        found, wanted = ([x - one[n % 3] for n, x in enumerate(one)] for one in (found, wanted))
                    scale = max(1, *map(abs, wanted))
                    self.assertLess(max(abs(a - b) for a, b in zip(found, wanted)), 2e-4 * scale, name)

    def test_atoms_written_lie_beside_those_superposed(self):
        split, whole = self.wrapped("cubic")
        call = ("cluster", "--topology", DATA / "hivp.pdb.gz", "--cutoff", "1.5", "--select", "B", "--write", "all")
        run, _ = self.call(*call, split)
        expected, _ = self.call(*call, whole, "--pbc", "none")

        def distances(folder):
            atoms = [tuple(float(line[at:at + 8]) for at in (30, 38, 46))
                     for line in (folder / "medoids.pdb").read_text().splitlines() if line.startswith("ATOM")]
            return [math.dist(atoms[0], atom) for atom in atoms[:198]]
        for one, other in zip(distances(run), distances(expected)):
            self.assertAlmostEqual(one, other, delta=0.005)

    def test_lists_and_pbc_as_a_parameter(self):
        split, whole = self.wrapped("cubic")
        runs = {}
        for pbc in ("auto", "none"):
            folder = self.folder / f"jobs-{pbc}"
            done = pleat("rmsd", "--each", split, whole, "--topology", DATA / "hivp.pdb.gz", "--pbc", pbc,
                         "-o", folder, "-q")
            self.assertEqual(done.returncode, 0, done.stderr)
            runs[pbc] = [parse_npy((folder / name / "rmsd.npy").read_bytes())[1]
                         for name in ("cubic", "cubic-whole")]
            self.assertEqual(manifest(folder / "cubic")["parameters"]["pbc"], pbc)
        for a, b in zip(*runs["auto"]):
            self.assertAlmostEqual(a, b, delta=1e-5)
        self.assertGreater(min(runs["none"][0]), 10)
        # A cluster of a finished run measures the frames as that run did.
        run, _ = self.call("rmsd", split, "--topology", DATA / "hivp.pdb.gz")
        clusters, _ = self.call("cluster", run, "--cutoff", "1.5")
        expected, _ = self.call("cluster", whole, "--topology", DATA / "hivp.pdb.gz", "--cutoff", "1.5")
        self.assertEqual(results(clusters)["assignment.npy"], results(expected)["assignment.npy"])
        self.assertIn("leave --topology", self.call("cluster", run, "--cutoff", "1.5", "--pbc", "none", status=2))

    def long_trajectory(self, frames, atoms):
        """A piece of the protease, each of whose atoms lies in an image of its own, and its topology."""
        dice, first = random.Random(5), frames_of_dcd(gzip.decompress((DATA / "hivp.dcd.gz").read_bytes()))[0][:atoms]
        path, topology = self.folder / "long.dcd", self.folder / "piece.pdb"
        path.write_bytes(dcd([[[x + dice.gauss(0, 1) + 90 * dice.randint(-1, 1) for x in atom] for atom in first]
                              for _ in range(frames)], CELLS["cubic"][0]))
        lines = gzip.decompress((DATA / "hivp.pdb.gz").read_bytes()).decode().splitlines(True)
        topology.write_text("".join([line for line in lines if line.startswith("ATOM")][:atoms]), encoding="ascii")
        return path, "--topology", topology

    def test_frames_read_from_disk_are_those_in_memory(self):
        call = ("rmsd", *self.long_trajectory(1500, 40), "--matrix", "none", "--cutoff", "2", "--nearest", "3")
        whole, messages = self.call(*call, "--device", "cpu")
        self.assertIn(SPLIT.format(1500), messages)
        found, messages = self.call(*call, "--memory", "0.065", "--device", "cpu", "--threads", "1")
        self.assertIn(SPLIT.format(1500), messages)
        self.assertTrue([line for line in messages if "read in blocks from" in line], messages)
        self.assertEqual(results(found), results(whole))

    def test_another_pbc_does_not_resume(self):
        call = ("rmsd", *self.long_trajectory(1400, 6), "--device", "reference")
        killed = self.folder / "killed"
        with subprocess.Popen([PROGRAM, *map(str, call), "-o", str(killed), "-q"],
                              env=clean_environment(PLEAT_CHECKPOINT_SECONDS="0")) as process:
            until = time.monotonic() + 60
            while not (killed / "checkpoint.tiles").exists() and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(0.3)
            self.assertIsNone(process.poll(), "the run ended before it could be killed")
            process.kill()
        done = pleat(*call, "-o", killed, "-q", "--pbc", "none")
        self.assert_refused(done, 3, "checkpoint.tiles", "expected tiles of the same input and options")
        self.assertTrue((killed / "checkpoint.tiles").exists())

    def test_select_scores_whole_frames(self):
        letters = {"ALA": "A", "ARG": "R", "ASN": "N", "ASP": "D", "CYS": "C", "GLN": "Q", "GLU": "E", "GLY": "G",
                   "HIS": "H", "ILE": "I", "LEU": "L", "LYS": "K", "MET": "M", "PHE": "F", "PRO": "P", "THR": "T",
                   "TRP": "W", "TYR": "Y", "VAL": "V", "SER": "S"}
        lines = [line for line in gzip.decompress((DATA / "hivp.pdb.gz").read_bytes()).decode().splitlines()
                 if line.startswith("ATOM") and line[21] == "A"]
        atoms = [tuple(float(line[at:at + 8]) for at in (30, 38, 46)) for line in lines]
        pairs = [(i, j) for i in range(99) for j in range(i + 6, 99) if math.dist(atoms[i], atoms[j]) < 7]
        contacts = self.folder / "x.rr"
        contacts.write_text("PFRMAT RR\nMODEL 1\n" + "".join(letters[line[17:20]] for line in lines) + "\n" + "".join(
            f"{i + 1} {j + 1} 0 8 {0.9 - n / 1000:.3f}\n" for n, (i, j) in enumerate(pairs)) + "END\n")
        split, whole = self.wrapped("triclinic")
        call = ("--topology", DATA / "hivp.pdb.gz", "--contacts", contacts)
        found, _ = self.call("select", "--ensemble", split, *call)
        expected, _ = self.call("select", "--ensemble", whole, *call, "--pbc", "none")
        scores = [{row["frame"]: row for row in read_table(run / "scores.tsv")} for run in (found, expected)]
        self.assertEqual(len(scores[1]), 12)
        self.assertGreater(max(float(row["contacts"]) for row in scores[1].values()), 0.5)
        for frame, row in scores[1].items():
            self.assertAlmostEqual(float(scores[0][frame]["contacts"]), float(row["contacts"]), delta=1e-4)
            self.assertEqual(scores[0][frame]["cluster"], row["cluster"])

    def test_what_cannot_be_made_whole_is_refused(self):
        topology = ("--topology", DATA / "hivp.pdb.gz")
        plain = DATA / "hivp.dcd.gz"
        self.assertIn("frame 0: expected a periodic cell for --pbc whole, found none",
                      self.call("rmsd", plain, *topology, "--pbc", "whole", status=3))
        split, _ = self.wrapped("cubic")
        damaged = self.folder / "damaged.dcd"
        frames = frames_of_dcd(gzip.decompress(plain.read_bytes()))[:2]
        damaged.write_bytes(dcd(frames, (math.nan, 0, 90, 0, 0, 90)))
        self.assertIn("expected a periodic cell with a volume",
                      self.call("rmsd", damaged, *topology, status=3))
        self.assertIn("expected one of", self.call("rmsd", split, *topology, "--pbc", "maybe", status=2))

    def test_a_reference_needs_no_cell(self):
        topology = ("--topology", DATA / "hivp.pdb.gz", "--select", "ca")
        split, whole = self.wrapped("cubic")
        found, _ = self.call("rmsd", split, *topology, "--pbc", "whole", "--reference", DATA / "hivp.pdb.gz")
        expected, _ = self.call("rmsd", whole, *topology, "--pbc", "none", "--reference", DATA / "hivp.pdb.gz")
        for a, b in zip(read_table(found / "reference.tsv"), read_table(expected / "reference.tsv")):
            self.assertAlmostEqual(float(a["rmsd"]), float(b["rmsd"]), delta=1e-4)


@unittest.skipUnless(HARD.is_dir(), f"{HARD} is absent")
class RealBoxes(BoxTest):
    topology = ("--topology", HARD / "mdanalysis/adk_oplsaa.gro.gz")

    def test_a_protein_split_in_each_frame(self):
        split = HARD / "mdanalysis/adk_oplsaa.xtc"
        found, messages = self.matrix(split, *self.topology, "--select", "ca")
        self.assertIn(SPLIT.format(10), messages)
        self.assertAlmostEqual(sum(found) / len(found), 1.559, delta=0.002)
        left, _ = self.matrix(split, *self.topology, "--select", "ca", "--pbc", "none")
        self.assertAlmostEqual(sum(left) / len(left), 13.92, delta=0.01)
        heavy, messages = self.matrix(split, *self.topology, "--select", "protein and heavy")
        self.assertIn(SPLIT.format(10), messages)
        self.assertLess(max(heavy), 4)

    @unittest.skipUnless(shutil.which("gmx"), "gmx is not installed")
    def test_equals_gromacs(self):
        whole = self.folder / "whole.xtc"
        subprocess.run(["gmx", "trjconv", "-s", HARD / "mdanalysis/adk_oplsaa.tpr", "-f",
                        HARD / "mdanalysis/adk_oplsaa.xtc", "-pbc", "whole", "-o", whole],
                       input=b"0\n", check=True, capture_output=True)
        found, _ = self.matrix(HARD / "mdanalysis/adk_oplsaa.xtc", *self.topology, "--select", "ca")
        expected, _ = self.matrix(whole, *self.topology, "--select", "ca", "--pbc", "none")
        self.assertLess(max(abs(a - b) for a, b in zip(found, expected)), 1e-3)

    @unittest.skipUnless(importlib.util.find_spec("MDAnalysis"), "MDAnalysis is not installed")
    def test_equals_mdanalysis(self):
        import MDAnalysis  # pylint: disable=import-error
        split = HARD / "mdanalysis/adk_oplsaa.xtc"
        found, _ = self.matrix(split, *self.topology, "--select", "ca")
        universe = MDAnalysis.Universe(HARD / "mdanalysis/adk_oplsaa.tpr", split)
        protein = universe.select_atoms("protein")
        frames = []
        for _ in universe.trajectory:
            protein.unwrap()
            frames.append([tuple(map(float, atom)) for atom in universe.atoms.positions])
        whole = self.folder / "whole.dcd"
        whole.write_bytes(dcd(frames, (0, 0, 0, 0, 0, 0)))
        expected, _ = self.matrix(whole, *self.topology, "--select", "ca", "--pbc", "none")
        self.assertLess(max(abs(a - b) for a, b in zip(found, expected)), 1e-3)

    def test_whole_proteins(self):
        for name in ("ortho", "truncoct"):
            topology = ("--topology", HARD / f"cpptraj/tz2.{name}.parm7.gz")
            for select in ("ca", "A:1-13"):
                _, messages = self.matrix(HARD / f"cpptraj/tz2.{name}.nc", *topology, "--select", select)
                self.assertFalse([line for line in messages if "box" in line or "warning" in line], messages)


if __name__ == "__main__":
    unittest.main()
