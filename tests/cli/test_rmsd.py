# pleat rmsd: matrices, lists and tables of a small ensemble, refusals, and going on after a kill.
import math
import random
import resource
import signal
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest, clean_environment, manifest, parse_npy, pleat, \
    read_npz, read_table, results
from structures import npy, turned


class Rmsd(ProgramTest):
    def ensemble(self, frames=30, atoms=20, name="ensemble.npy"):
        source = random.Random(1)
        shape = [[source.gauss(0, 8) for _ in range(3)] for _ in range(atoms)]
        values = []
        for _ in range(frames):
            frame = [[at + source.gauss(0, 1) for at in atom] for atom in shape]
            values += [number for atom in turned(frame, source.random()) for number in atom]
        return self.write(name, npy((frames, atoms, 3), values))

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def measure(self, *arguments, run="run", **options):
        done = pleat("rmsd", *arguments, "-o", self.folder / run, "-q", **options)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        return self.folder / run

    def test_frames_turned_and_moved_are_the_same(self):
        frame = [(0.0, 0, 0), (3, 0, 0), (0, 4, 0), (0, 0, 5), (1, 2, 3)]
        values = [n for angle in (0, 1, 2.5) for atom in turned(frame, angle) for n in atom]
        run = self.measure(self.write("e.npy", npy((3, 5, 3), values, "d")))
        shape, rmsd = parse_npy((run / "rmsd.npy").read_bytes())
        self.assertEqual(shape, (3,))
        self.assertLess(max(rmsd), 2e-6)

    def test_files_agree_with_each_other(self):
        path = self.ensemble()
        run = self.measure(path, "--cutoff", "2", "--nearest", "3")
        _, condensed = parse_npy((run / "rmsd.npy").read_bytes())
        full_run = self.measure(path, "--matrix", "full", run="full")
        shape, full = parse_npy((full_run / "rmsd.npy").read_bytes())
        self.assertEqual(shape, (30, 30))
        self.assertEqual([full[30 * i + j] for i in range(30) for j in range(i + 1, 30)],
                         list(condensed))
        self.assertEqual([full[30 * j + i] for i in range(30) for j in range(i + 1, 30)],
                         list(condensed))
        self.assertEqual([full[31 * i] for i in range(30)], [0.0] * 30)
        near = read_npz(run / "neighbours.npz")
        self.assertEqual(near["starts"][1][-1], 2 * sum(value < 2 for value in condensed))
        best = read_npz(run / "best.npz")
        self.assertEqual(best["indices"][0], (30, 3))
        for i in range(30):
            others = sorted((full[30 * i + j], j) for j in range(30) if j != i)[:3]
            self.assertEqual([j for _, j in others], list(best["indices"][1][3 * i:3 * i + 3]))
        table = read_table(run / "histogram.tsv")
        self.assertEqual(sum(int(row["pairs"]) for row in table), len(condensed))
        facts = manifest(run)["results"]
        self.assertEqual((facts["frames"], facts["atoms"], facts["pairs"]), (30, 20, 435))
        self.assertAlmostEqual(facts["mean"], sum(condensed) / 435, places=6)

    def test_lists_that_memory_cannot_hold_are_refused(self):
        path = self.ensemble(frames=6000, atoms=3)
        call = ("rmsd", path, "--matrix", "none", "--threads", "1", "--device", "cpu", "-q")

        def limited():
            resource.setrlimit(resource.RLIMIT_AS, (600_000_000, resource.RLIM_INFINITY))
        few = pleat(*call, "--cutoff", "1e-6", "-o", self.folder / "few", preexec_fn=limited)
        self.assertEqual(few.returncode, 0, few.stderr)
        # 18 million pairs of 28 bytes.
        self.assert_refused(pleat(*call, "--cutoff", "1e6", "-o", self.folder / "all", preexec_fn=limited),
                            4, "pairs below the cutoff", "take a smaller --cutoff")
        self.assertFalse((self.folder / "all" / "neighbours.npz").exists())

    def test_no_matrix_gives_the_same_lists(self):
        path = self.ensemble()
        more = ("--cutoff", "2", "--nearest", "3")
        with_matrix, without = self.measure(path, *more), \
            self.measure(path, *more, "--matrix", "none", run="none")
        expected, found = results(with_matrix), results(without)
        expected.pop("rmsd.npy")
        self.assertEqual(expected, found)

    def test_equal_weights_change_nothing(self):
        path = self.ensemble()
        weights = self.write("weights.npy", npy((20,), [2.0] * 20, "d"))
        plain = parse_npy((self.measure(path) / "rmsd.npy").read_bytes())[1]
        weighted = parse_npy((self.measure(path, "--atom-weights", weights, run="w") / "rmsd.npy")
                             .read_bytes())[1]
        self.assertLess(max(abs(a - b) for a, b in zip(plain, weighted)), 1e-5)

    def test_reference_agrees(self):
        path = self.ensemble()
        found = [parse_npy((self.measure(path, "--device", device, run=device) / "rmsd.npy")
                           .read_bytes())[1] for device in ("cpu", "reference")]
        self.assertLess(max(abs(a - b) for a, b in zip(*found)), 1e-5)

    def test_models_are_frames_and_selections_are_told(self):
        atom = "ATOM  {:5d} {:<4s} ALA A{:4d}    {:8.3f}{:8.3f}{:8.3f}  1.00  0.00           {}\n"
        text = ""
        for model in range(1, 6):
            text += f"MODEL     {model:4d}\n"
            for residue in range(1, 5):
                for serial, (name, element) in enumerate(((" N", "N"), (" CA", "C"))):
                    x, y, z = residue * 3.8, residue % 2 * model, model * 0.3 * serial
                    text += atom.format(2 * residue + serial, name, residue, x, y, z, element)
            text += "ENDMDL\n"
        models = self.write("models.pdb", (text + "END\n").encode())
        done = pleat("rmsd", models, "-o", self.folder / "ca", "--select", "ca", "--frames", "1:")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"4 of 8 atoms", done.stderr)
        self.assertIn(b"4 frames, 4 atoms (ca), 6 pairs", done.stdout)

    def test_refusals(self):
        good = self.ensemble(4, 5)
        out = ("-o", self.folder / "run")
        flat = self.write("flat.npy", npy((4, 6), [1.0] * 24))
        nan = self.write("nan.npy", npy((2, 2, 3), [1.0] * 11 + [math.nan]))
        weights = self.write("weights.npy", npy((3,), [1.0] * 3))
        negative = self.write("negative.npy", npy((5,), [1.0, 1.0, -1.0, 1.0, 1.0]))
        none = self.write("none.npy", npy((5,), [0.0] * 5))
        for arguments, code, *texts in (
                ((good, *out, "--atom-weights", negative), 3, "negative.npy: expected weights from 0 to 1e15, found -1"),
                ((good, *out, "--atom-weights", none), 3, "none.npy: expected a weight above 0, found none"),
                ((flat, *out), 3, "flat.npy: expected an array [frame, atom, 3], found shape (4, 6)"),
                ((nan, *out), 3, "nan.npy: frame 1: expected finite coordinates, found nan"),
                ((good, *out, "--atom-weights", weights), 3, "weights.npy: expected an array [5]"),
                ((self.folder / "absent.npy", *out), 3, "absent.npy"),
                ((good, *out, "--cutoff", "0"), 2, "cutoff"),
                ((good, *out, "--metric", "tm", "--cutoff", "2"), 2, "give a --cutoff below 1, not 2: TM-score is a score from 0 to 1"),
                ((good, *out, "--metric", "lddt", "--cutoff", "1"), 2, "give a --cutoff below 1, not 1: lDDT is a score from 0 to 1"),
                ((good, *out, "--select", ""), 2, "--select: expected a text, found an empty one"),
                ((good, *out, "--relaxed"), 2, "--relaxed chooses among the models in a folder"),
                ((good, *out, "--precision", "float16"), 2, "float16"),
                ((good, *out, "--device", "cuda:77"), 4, "cuda:77"),
                ((good, *out, "--select", "ca"), 3, "ensemble.npy"),
                ((good, *out, "--frames", "9:"), 3, "ensemble.npy"),
                ((good, *out, "--frames", "4:4"), 2, "4:4"),
                ((good,), 2, "--output")):
            with self.subTest(arguments):
                self.assert_refused(pleat("rmsd", *arguments), code, *texts)
        self.assertFalse((self.folder / "run").exists())

    def test_best_needs_scores(self):
        self.assert_refused(pleat("rmsd", self.ensemble(), "--best", "3", "-o", self.folder / "no"), 2, "--scores")

    def test_killed_run_resumes_with_the_same_bits(self):
        path = self.ensemble(1400, 4)
        # The reference is slow enough to be killed between its tiles.
        arguments = (path, "--device", "reference")
        expected = results(self.measure(*arguments))
        killed = self.folder / "killed"
        with subprocess.Popen([PROGRAM, "rmsd", *map(str, arguments), "-q", "-o", str(killed)],
                              env=clean_environment()) as process:
            until = time.monotonic() + 60
            while not (killed / "checkpoint.tiles").exists() and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(0.9)
            process.send_signal(signal.SIGKILL)
        self.measure(*arguments, run="killed")
        self.assertEqual(results(killed), expected)


if __name__ == "__main__":
    unittest.main()
