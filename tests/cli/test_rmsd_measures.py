# pleat rmsd beyond all pairs: sets against sets, one structure, other atoms, scores, fluctuations.
import math
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest, clean_environment, manifest, parse_npy, pleat, \
    read_npz, read_table, results
from structures import ATOM, npy, turned

NAMES = ((" N  ", "N"), (" CA ", "C"), (" C  ", "C"), (" O  ", "O"))


class Measures(ProgramTest):
    def frames(self, count, residues=12, spread=1.0, seed=1):
        """Frames of a helix of four atoms a residue, each moved a little and turned."""
        source = random.Random(seed)
        shape = [(2.3 * math.cos(1.75 * r + 0.4 * a), 2.3 * math.sin(1.75 * r + 0.4 * a), 1.5 * r + 0.3 * a)
                 for r in range(residues) for a in range(4)]
        return [turned([[x + source.gauss(0, spread) for x in atom] for atom in shape], source.random())
                for _ in range(count)]

    def models(self, name, frames):
        text = ""
        for model, frame in enumerate(frames, 1):
            text += f"MODEL     {model:4d}\n"
            for n, (x, y, z) in enumerate(frame):
                atom, element = NAMES[n % 4]
                text += ATOM.format(n + 1, atom, "ALA", "A", n // 4 + 1, x, y, z, element)
            text += "ENDMDL\n"
        path = self.folder / name
        path.write_text(text + "END\n", encoding="ascii")
        return path

    def measure(self, *arguments, run="run", code=0):
        done = pleat("rmsd", *arguments, "-o", self.folder / run, "-q")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (code, b"", b""))
        return self.folder / run

    def values(self, path):
        return parse_npy(path.read_bytes())

    def test_one_set_against_another(self):
        frames = self.frames(11)
        first, second = self.models("a.pdb", frames[:7]), self.models("b.pdb", frames[7:])
        both = self.measure(first, second, "--select", "ca", "--matrix", "full", run="both")
        run = self.measure(first, "--against", second, "--select", "ca", "--cutoff", "1.6", "--nearest", "2")
        shape, found = self.values(run / "rmsd.npy")
        self.assertEqual(shape, (7, 4))
        full = self.values(both / "rmsd.npy")[1]
        for i in range(7):
            for j in range(4):
                self.assertAlmostEqual(found[4 * i + j], full[11 * i + 7 + j], places=4)
        near = read_npz(run / "neighbours.npz")
        self.assertEqual(len(near["starts"][1]), 8)
        self.assertEqual(len(near["rmsd"][1]), sum(value < 1.6 for value in found))
        best = read_npz(run / "best.npz")
        self.assertEqual(best["indices"][0], (7, 2))
        self.assertEqual(best["rmsd"][1][0], min(found[:4]))
        facts = manifest(run)["results"]
        self.assertEqual((facts["frames"], facts["others"], facts["pairs"]), (7, 4, 28))
        self.assertEqual(facts["neighbour_pairs"], sum(value < 1.6 for value in found))
        some = self.measure(first, "--against", second, "--against-frames", "1::2", "--select", "ca", run="some")
        shape, part = self.values(some / "rmsd.npy")
        self.assertEqual(shape, (7, 2))
        self.assertEqual(part[0], found[1])

    def test_one_structure(self):
        frames = self.frames(6)
        models, native = self.models("models.pdb", frames), self.models("native.pdb", frames[2:3])
        pairs = self.measure(models, "--select", "backbone", "--matrix", "full", run="pairs")
        expected = self.values(pairs / "rmsd.npy")[1][12:18]
        for run, reference in (("file", native), ("number", "2"), ("from_end", "-4")):
            done = self.measure(models, "--select", "backbone", "--reference", reference, run=run)
            table = read_table(done / "reference.tsv")
            self.assertEqual([row["frame"] for row in table], list("012345"))
            self.assertEqual([row["frame_of_file"] for row in table], list("012345"))
            self.assertEqual({row["file"] for row in table}, {str(models)})
            for row, value in zip(table, expected):
                self.assertAlmostEqual(float(row["rmsd"]), value, places=4)
            self.assertFalse((done / "rmsd.npy").exists())
            self.assertEqual(sum(int(row["pairs"]) for row in read_table(done / "histogram.tsv")), 6)
        # The reference is counted among the frames that were read.
        later = self.measure(models, "--select", "backbone", "--frames", "2:", "--reference", "0", run="later")
        self.assertEqual(read_table(later / "reference.tsv")[0]["rmsd"], "0")

    def test_another_protein_as_reference_is_refused(self):
        frames = self.frames(4)
        models, other = self.models("models.pdb", frames), self.models("other.pdb", frames[:1])
        text = other.read_text(encoding="ascii")
        for number in range(1, 8):  # seven of twelve residues
            text = text.replace(f"ALA A{number:4d}", f"SER A{number:4d}")
        other.write_text(text, encoding="ascii")
        for option in ("--reference", "--against"):
            with self.subTest(option):
                done = pleat("rmsd", models, option, other, "-o", self.folder / "refused")
                self.assert_refused(done, 3, "other.pdb: expected residues of the names in", "found these "
                                    "names in 5 of 12 residues that have their numbers; --any-residues")
                run = self.measure(models, option, other, "--any-residues", run=f"any{option}")
                self.assertIn(": 5 of 12 residues", (run / "log.txt").read_text(encoding="utf-8"))
        # Six of twelve are enough, and frames of one ensemble are compared with a note.
        other.write_text(text.replace("SER A   7", "ALA A   7"), encoding="ascii")
        self.measure(models, "--reference", other, run="enough")
        other.write_text(text, encoding="ascii")
        run = self.measure(models, other, run="ensemble")
        self.assertIn(": 5 of 12 residues", (run / "log.txt").read_text(encoding="utf-8"))

    def test_scores_compare_ca_atoms_by_default(self):
        models = self.models("models.pdb", self.frames(4))
        for metric in ("tm", "gdt_ts", "lddt"):
            with self.subTest(metric):
                default = self.measure(models, "--metric", metric, run=metric)
                named = self.measure(models, "--metric", metric, "--select", "ca", run=f"{metric}-ca")
                every = self.measure(models, "--metric", metric, "--select", "all", run=f"{metric}-all")
                values = [self.values(run / f"{metric}.npy") for run in (default, named, every)]
                self.assertEqual(values[0], values[1])
                self.assertNotEqual(values[0], values[2])
                self.assertEqual(manifest(default)["parameters"]["select"], "ca")
                self.assertIn("CA atoms are compared", (default / "log.txt").read_text(encoding="utf-8"))
                self.assertEqual(manifest(default)["results"]["atoms"], 12)
        self.assertEqual(manifest(self.measure(models, run="rmsd"))["results"]["atoms"], 48)
        array = self.folder / "array.npy"
        array.write_bytes(npy((2, 20, 3), [float(n % 17) for n in range(120)]))
        run = self.measure(array, "--metric", "tm", run="unnamed")
        self.assertEqual(manifest(run)["results"]["atoms"], 20)

    def test_fitting_some_atoms_and_measuring_others(self):
        frame = self.frames(1, spread=0.0)[0]
        moved = [list(atom) for atom in frame]
        for n in range(3, len(moved), 4):  # O: not fitted
            moved[n][2] += 2.0
        models = self.models("models.pdb", [frame, turned(moved, 1.0)])
        run = self.measure(models, "--select", "not [O]", "--measure", "[O]")
        index = self.folder / "with oxygen.ndx"
        index.write_text("[ No oxygen ]\n" + " ".join(str(n) for n in range(1, 49) if n % 4) + "\n[ O ]\n"
                         + " ".join(str(n) for n in range(4, 49, 4)))
        groups = self.measure(models, "--select", f"{index}:No oxygen", "--measure", f"{index}:O", run="groups")
        self.assertEqual((groups / "rmsd.npy").read_bytes(), (run / "rmsd.npy").read_bytes())
        self.assertIn(str(index), str(manifest(groups)["inputs"]))
        self.assertAlmostEqual(self.values(run / "rmsd.npy")[1][0], 2.0, places=3)
        run = self.measure(models, "--select", "not [O]", "--measure", "all", run="all")
        self.assertAlmostEqual(self.values(run / "rmsd.npy")[1][0], 1.0, places=3)
        both = self.measure(models, "--fit", "not [O]", "--measure", "all", run="both")
        self.assertEqual((both / "rmsd.npy").read_bytes(), (run / "rmsd.npy").read_bytes())
        out = ("-o", self.folder / "refused", "-q")
        for words, arguments in (
                # The atoms of --fit were measured instead.
                ("--fit needs --metric rmsd", ("--fit", "not [O]", "--metric", "tm")),
                ("--fit needs --metric rmsd", ("--fit", "none", "--metric", "lddt")),
                ("superpose frames: leave --fit none out", ("--fit", "none", "--rmsf", "--reference", "0")),
                ("give two of --select, --fit and --measure, not all three",
                 ("--fit", "none", "--measure", "ca", "--select", "backbone")),
                ("--any-residues needs --against or --reference", ("--any-residues",))):
            with self.subTest(words):
                self.assert_refused(pleat("rmsd", models, *arguments, *out), 2, words)

    def test_weights_of_masses(self):
        models = self.models("models.pdb", self.frames(5))
        masses = [mass for _ in range(12) for mass in (14.0067, 12.0107, 12.0107, 15.9994)]
        weights = self.folder / "masses.npy"
        weights.write_bytes(npy((48,), masses, "d"))
        by_name = self.measure(models, "--atom-weights", "mass", run="by_name")
        by_file = self.measure(models, "--atom-weights", weights, run="by_file")
        plain = self.measure(models, run="plain")
        found, expected, other = (self.values(run / "rmsd.npy")[1] for run in (by_name, by_file, plain))
        self.assertLess(max(abs(a - b) for a, b in zip(found, expected)), 1e-4)
        self.assertGreater(max(abs(a - b) for a, b in zip(found, other)), 1e-3)

    def test_fluctuations_and_superposed_frames(self):
        models = self.models("models.pdb", self.frames(20, spread=0.5))
        run = self.measure(models, "--select", "ca", "--measure", "all", "--rmsf", "--superposed", "pdb")
        atoms, residues = read_table(run / "rmsf.tsv"), read_table(run / "rmsf_residues.tsv")
        self.assertEqual((len(atoms), len(residues)), (48, 12))
        self.assertEqual([atoms[5][key] for key in ("chain", "residue", "residue_name", "atom")],
                         ["A", "2", "ALA", "CA"])
        for n, row in enumerate(residues):
            squares = [float(atom["rmsf"]) ** 2 for atom in atoms[4 * n:4 * n + 4]]
            self.assertAlmostEqual(float(row["rmsf"]), math.sqrt(sum(squares) / 4), places=4)
            self.assertEqual(row["atoms"], "4")
        # What was written is superposed: all atoms stray from their mean by the RMSF told.
        lines = [line for line in (run / "superposed.pdb").read_text(encoding="ascii").splitlines()
                 if line.startswith("ATOM")]
        self.assertEqual(len(lines), 20 * 48)
        points = [[float(line[at:at + 8]) for at in (30, 38, 46)] for line in lines]
        for n in range(48):
            own = points[n::48]
            mean = [sum(axis) / 20 for axis in zip(*own)]
            square = sum(sum((a - b) ** 2 for a, b in zip(point, mean)) for point in own) / 20
            self.assertAlmostEqual(math.sqrt(square), float(atoms[n]["rmsf"]), places=2)
        # And read again it is the same ensemble, whatever the format.
        again = self.measure(run / "superposed.pdb", "--select", "ca", run="again")
        before = self.measure(models, "--select", "ca", run="before")
        whole = self.measure(models, run="whole")
        others = []
        for kind in ("npy", "dcd", "cif"):
            moved = self.measure(models, "--reference", "0", "--superposed", kind, run=kind)
            topology = ("--topology", models) if kind == "dcd" else ()
            others.append(self.measure(moved / f"superposed.{kind}", *topology, run=f"again_{kind}"))
        for one, other in ((again, before), *((run, whole) for run in others)):
            for a, b in zip(self.values(one / "rmsd.npy")[1], self.values(other / "rmsd.npy")[1]):
                self.assertAlmostEqual(a, b, places=2)

    def test_other_metrics(self):
        models = self.models("models.pdb", self.frames(6, residues=20))
        for metric, least, most in (("drmsd", 0.3, 5), ("tm", 0.05, 0.999), ("gdt_ts", 0.2, 0.999),
                                    ("lddt", 0.3, 0.999)):
            run = self.measure(models, "--select", "ca", "--metric", metric, "--nearest", "1", run=metric)
            shape, found = self.values(run / f"{metric}.npy")
            self.assertEqual(shape, (15,))
            self.assertTrue(all(least < value < most for value in found), found)
            best = read_npz(run / "best.npz")[metric][1]
            self.assertAlmostEqual(min(best) if metric == "drmsd" else max(best),
                                   min(found) if metric == "drmsd" else max(found))
            slow = self.measure(models, "--select", "ca", "--metric", metric, "--device", "reference",
                                run=f"{metric}_reference")
            for a, b in zip(found, self.values(slow / f"{metric}.npy")[1]):
                self.assertAlmostEqual(a, b, places=4)

    def test_lddt_of_frames_and_residues_against_one_structure(self):
        frames = self.frames(5, residues=9, spread=1.5)
        models = self.models("models.pdb", frames)
        run = self.measure(models, "--metric", "lddt", "--select", "heavy", "--reference", "1")
        apart = [(k, l) for k in range(36) for l in range(k) if k // 4 != l // 4]
        residues = read_table(run / "lddt_residues.tsv")
        self.assertEqual([row["residue"] for row in residues], [str(n) for n in range(1, 10)])
        shape, found = self.values(run / "lddt_residues.npy")
        self.assertEqual(shape, (5, 9))
        rounded = [[[float(f"{x:.3f}") for x in atom] for atom in frame] for frame in frames]
        near = [(k, l) for k, l in apart if math.dist(rounded[1][k], rounded[1][l]) < 15]
        for i, row in enumerate(read_table(run / "reference.tsv")):
            kept = {(k, l): sum(abs(math.dist(rounded[1][k], rounded[1][l])
                                    - math.dist(rounded[i][k], rounded[i][l])) < limit
                                for limit in (0.5, 1, 2, 4)) / 4 for k, l in near}
            self.assertAlmostEqual(float(row["lddt"]), sum(kept.values()) / len(near), places=5)
            for residue in range(9):
                own = [value for pair, value in kept.items() if residue in (pair[0] // 4, pair[1] // 4)]
                self.assertEqual(residues[residue]["distances"], str(len(own)))
                self.assertAlmostEqual(found[9 * i + residue], sum(own) / len(own), places=5)
        matrix = self.measure(models, "--metric", "lddt", "--select", "heavy", "--matrix", "full", run="all")
        against = self.measure(models, "--metric", "lddt", "--select", "heavy", "--against", models, run="against")
        self.assertEqual(self.values(matrix / "lddt.npy"), self.values(against / "lddt.npy"))
        done = pleat("rmsd", models, "--metric", "lddt", "--select", "resid 3", "-q", "-o", self.folder / "one")
        self.assert_refused(done, 3, "expected atoms of at least 2 residues for lDDT, found those of 1")

    @unittest.skipUnless(shutil.which("TMscore"), "no TMscore on PATH (Debian: tm-align)")
    def test_scores_are_those_of_the_tm_score_program(self):
        frames = [frame[1::4] for spread in (0.5, 2.0, 4.0)
                  for frame in self.frames(3, residues=60, spread=spread, seed=7)]
        files = []
        text = ""
        for number, frame in enumerate(frames):
            atoms = "".join(ATOM.format(n, " CA ", "ALA", "A", n, *atom, "C")
                            for n, atom in enumerate(frame, 1))
            files.append(self.folder / f"{number}.pdb")
            files[-1].write_text(atoms + "TER\nEND\n", encoding="ascii")
            text += f"MODEL     {number + 1:4d}\n{atoms}ENDMDL\n"
        models = self.folder / "models.pdb"
        models.write_text(text, encoding="ascii")
        tm, gdt = (self.values(self.measure(models, "--metric", metric, "--matrix", "full", run=metric)
                               / f"{metric}.npy")[1] for metric in ("tm", "gdt_ts"))
        for i, first in enumerate(files):
            for j, second in enumerate(files[:i]):
                told = subprocess.run(["TMscore", first, second], check=True, capture_output=True,
                                      text=True).stdout
                at = i * len(files) + j
                self.assertAlmostEqual(tm[at], float(re.search(r"TM-score\s+= ([\d.]+)", told)[1]), delta=1e-4)
                self.assertAlmostEqual(gdt[at], float(re.search(r"GDT-TS-score= ([\d.]+)", told)[1]), delta=1e-4)

    def test_killed_comparison_goes_on_with_the_same_bits(self):
        frames = self.frames(2, residues=16, spread=0.5)
        source = random.Random(4)
        values = [x + source.gauss(0, 0.5) for _ in range(40) for frame in frames for atom in frame[1::4] for x in atom]
        path, longer = self.folder / "many.npy", self.folder / "longer.npy"
        path.write_bytes(npy((80, 16, 3), values))
        longer.write_bytes(npy((4000, 16, 3), values * 50))
        # Slow enough to be killed between two tiles.
        slow = ("--metric", "tm", "--device", "reference")
        for name, arguments in {"matrix": (path, "--against", path, *slow),
                                "lists": (path, "--against", path, *slow, "--matrix", "none", "--nearest", "2"),
                                "reference": (longer, "--reference", "0", *slow)}.items():
            with self.subTest(name):
                expected = results(self.measure(*arguments, run=name))
                killed = self.folder / f"killed-{name}"
                with subprocess.Popen([PROGRAM, "rmsd", *map(str, arguments), "-q", "-o", str(killed)],
                                      env={**clean_environment(), "PLEAT_CHECKPOINT_SECONDS": "0"}) as process:
                    until = time.monotonic() + 60
                    while not list(killed.glob("checkpoint*")) and time.monotonic() < until:
                        time.sleep(0.01)
                    time.sleep(1.0)
                    process.send_signal(signal.SIGKILL)
                    self.assertEqual(process.wait(), -signal.SIGKILL)
                self.measure(*arguments, run=killed.name)
                self.assertEqual(results(killed), expected)
                self.assertTrue(manifest(killed)["resumed"])
                self.assertEqual(list(killed.glob("checkpoint*")), [])


if __name__ == "__main__":
    unittest.main()
