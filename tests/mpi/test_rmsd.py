# `pleat rmsd` on several ranks: the files of one rank, bit for bit, also after a kill.
import json
import random
import shutil
import struct
import subprocess
import time
import unittest

from launcher import PROGRAM, RanksTest, environment, kill_all, mpirun, start

MATRIX = ("-q", "-t", "1", "--device", "cpu", "--cutoff", "2.5", "--nearest", "3")
LISTS = (*MATRIX, "--matrix", "none")
FEW = ("-q", "-t", "1", "--device", "cpu", "--cutoff", "2.1")  # neighbours


def results(run):
    """The bytes of every file of a run that must not depend on who made it."""
    return {path.name: path.read_bytes() for path in run.iterdir()
            if path.name not in ("manifest.json", "log.txt")}


def write_ensemble(path, frames, atoms):
    """Frames scattered around one walk, as .npy [frame, atom, 3] of float32."""
    draw = random.Random(5)
    walk, at = [], [0.0, 0.0, 0.0]
    for _ in range(atoms):
        at = [value + draw.gauss(0, 2) for value in at]
        walk.extend(at)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({frames}, {atoms}, 3), }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    pool = [draw.gauss(0, 1) for _ in range(10007)]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for _ in range(frames):
            first = draw.randrange(len(pool))
            file.write(struct.pack(f"<{3 * atoms}f", *(
                value + pool[(first + n) % len(pool)] for n, value in enumerate(walk))))


def write_dimers(path, models):
    """Models of two equal chains of twelve residues, CA and CB, scattered around one walk, as PDB."""
    draw = random.Random(6)
    walk = [[draw.gauss(0, 6) for _ in range(3)] for _ in range(24)]
    with open(path, "w", encoding="ascii") as file:
        for model in range(models):
            file.write(f"MODEL     {model + 1:4d}\n")
            for place, chain in enumerate("AB"):
                for n, atom in enumerate(walk):
                    x, y, z = (value + draw.gauss(0, 0.7) for value in atom)
                    file.write(f"ATOM  {n + 1:5d}  {'CA' if n % 2 == 0 else 'CB'}  ALA {chain}{n // 2 + 1:4d}    "
                               f"{x + 40 * place:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00           C  \n")
            file.write("ENDMDL\n")
        file.write("END\n")


def marked_tiles(path):
    """How many tiles a file of tiles marks as done."""
    if not path.exists():
        return 0
    with open(path, "rb") as file:
        head = file.read(4096)
    lines = head.split(b"\n", 4)
    if len(lines) < 5:
        return 0
    return lines[4][:int(lines[3].split()[1])].count(1)


class RmsdTest(RanksTest):
    def setUp(self):
        super().setUp()
        self.ensemble = self.folder / "ensemble.npy"
        write_ensemble(self.ensemble, 2600, 8)  # four bands of rows

    def run_alone(self, name, *options):
        run = self.folder / name
        subprocess.run([PROGRAM, "rmsd", self.ensemble, "-o", run, *options], check=True,
                       env=environment(), timeout=120)
        return results(run)

    def test_ranks_write_what_one_does(self):
        for name, options in (("matrix", MATRIX), ("full", (*MATRIX, "--matrix", "full")),
                              ("lists", LISTS), ("drmsd", (*LISTS, "--metric", "drmsd"))):
            alone = self.run_alone(name, *options)
            self.assertIn("neighbours.npz", alone)
            for ranks in (1, 2, 4):
                run = self.folder / f"{name}{ranks}"
                self.assertEqual(mpirun(ranks, PROGRAM, "rmsd", self.ensemble, "-o", run,
                                        *options)[:3], (0, "", ""))
                self.assertEqual(results(run), alone, f"{name}, {ranks} ranks")

    def test_an_error_is_told_once(self):
        for source, code in ((self.folder / "none.npy", 3), (__file__, 3)):
            found, out, err, _ = mpirun(3, PROGRAM, "rmsd", source, "-o", self.folder / "run", *LISTS)
            self.assertEqual((found, out, err.count("\n")), (code, "", 1), err)

    def test_every_measure_is_shared(self):
        write_ensemble(self.ensemble, 700, 24)
        others = self.folder / "others.npy"
        write_ensemble(others, 90, 24)
        quiet = ("-q", "-t", "1", "--device", "cpu")
        for metric in ("drmsd", "tm", "gdt_ts", "lddt", "rmsd"):
            lists = ("--cutoff", "2.5" if metric.endswith("rmsd") else "0.3", "--nearest", "2")
            frames = ("--frames", "::9") if metric in ("tm", "gdt_ts") else ()
            cases = {"pairs": lists, "against": ("--against", others, *lists),
                     "lists": ("--against", others, *lists, "--matrix", "none"),
                     "reference": ("--reference", others), "mean": ("--reference", "mean"),
                     "fluctuations": ("--reference", "3", "--rmsf", "--superposed", "npy")}
            for name, options in cases.items():
                with self.subTest(metric=metric, case=name):
                    options = (*quiet, *frames, "--metric", metric, *options)
                    alone = self.run_alone(f"{metric}-{name}", *options)
                    run = self.folder / f"{metric}-{name}-3"
                    self.assertEqual(mpirun(3, PROGRAM, "rmsd", self.ensemble, "-o", run, *options)[:3],
                                     (0, "", ""))
                    self.assertEqual(results(run), alone)

    def test_other_measured_atoms_are_shared(self):
        """--measure after --select: atoms that are not superposed."""
        self.ensemble, others = self.folder / "models.pdb", self.folder / "others.pdb"
        write_dimers(self.ensemble, 90)
        write_dimers(others, 17)
        fitted, measured = ("-q", "-t", "1", "--device", "cpu", "--select", "chain A and name CA"), ("--measure", "chain B")
        lists = ("--cutoff", "3", "--nearest", "2")
        for name, options in (("pairs", lists), ("lists", (*lists, "--matrix", "none")), ("against", ("--against", others)),
                              ("reference", ("--reference", "7")), ("mean", ("--reference", "mean"))):
            alone = self.run_alone(name, *fitted, *measured, *options)
            self.assertNotEqual(alone, self.run_alone(f"plain-{name}", *fitted, *options))
            for ranks in (2, 3):
                run = self.folder / f"{name}{ranks}"
                self.assertEqual(mpirun(ranks, PROGRAM, "rmsd", self.ensemble, "-o", run, *fitted, *measured,
                                        *options)[:3], (0, "", ""))
                self.assertEqual(results(run), alone, f"{name}, {ranks} ranks")

    def kill_and_go_on(self, options, has_kept):
        alone = self.run_alone("whole", *options)
        run = self.folder / "killed"
        process = start(3, "env", "PLEAT_CHECKPOINT_SECONDS=0", PROGRAM, "rmsd", self.ensemble, "-o",
                        run, *options)
        deadline = time.monotonic() + 100
        while not has_kept(run):
            self.assertIsNone(process.poll(), "the run ended before it could be killed")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.002)
        kill_all(process)
        self.assertEqual(mpirun(2, PROGRAM, "rmsd", self.ensemble, "-o", run, *options)[:3],
                         (0, "", ""))
        self.assertTrue(json.loads((run / "manifest.json").read_text())["resumed"])
        self.assertEqual(results(run), alone)
        self.assertEqual(list(run.glob("checkpoint*")), [])

    def test_a_killed_matrix_goes_on_with_another_number(self):
        write_ensemble(self.ensemble, 9000, 300)  # longer than a second: tiles are marked that often
        self.kill_and_go_on(FEW + ("--nearest", "3"), lambda run: marked_tiles(run / "checkpoint.tiles") > 0)

    def test_killed_lists_go_on_with_another_number(self):
        write_ensemble(self.ensemble, 6000, 100)
        self.kill_and_go_on((*FEW, "--nearest", "3", "--matrix", "none"), lambda run: len(list(run.glob("checkpoint.rank*.tiles"))) > 1)

    def test_killed_references_and_rectangles_go_on_with_another_number(self):
        write_ensemble(self.ensemble, 12000, 40)
        slow = ("-q", "-t", "1", "--metric", "tm")
        has_kept = lambda run: len(list(run.glob("checkpoint.rank*.tiles"))) > 1
        self.kill_and_go_on((*slow, "--reference", "5"), has_kept)
        shutil.rmtree(self.folder / "whole")
        shutil.rmtree(self.folder / "killed")
        others = self.folder / "others.npy"
        write_ensemble(others, 3, 40)
        self.kill_and_go_on((*slow, "--against", others, "--frames", "::3", "--matrix", "none", "--nearest", "1"), has_kept)


if __name__ == "__main__":
    unittest.main()
