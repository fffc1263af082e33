# pleat saxs --data: what the summary says about fits that should not be trusted.
import gzip
import json
import random
import unittest

from program import DATA, ProgramTest, manifest, pleat, read_table

STRUCTURE = DATA / "1a8o.pdb.gz"


class SaxsFits(ProgramTest):
    def write(self, name, rows):
        path = self.folder / name
        path.write_text("".join(f"{q} {intensity} {sigma}\n" for q, intensity, sigma in rows))
        return path

    def fit(self, structure, curve, *options):
        done = pleat("saxs", structure, "--data", curve, *options, "-o", self.folder / "fit", "-f")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_bound_is_explained(self):
        self.assertEqual(pleat("saxs", STRUCTURE, "--c2", "3", "-o", self.folder / "run", "-q").returncode, 0)
        rows = [(row["q"], float(row["intensity"])) for row in read_table(self.folder / "run" / "profile.tsv")[2:]]
        curve = self.write("curve.dat", ((q, value * (1 + 0.01 * (-1) ** n), value * 0.01)
                                         for n, (q, value) in enumerate(rows)))
        for background in ((), ("--background",)):
            told = self.fit(STRUCTURE, curve, "--c2-max", "1", *background)
            self.assertIn(b"c2 (bound): the best c2 lies beyond the values searched.", told)
            # What was fitted is not proposed.
            self.assertEqual(b"Try --background" in told, not background)

    def test_a_systematic_misfit_is_told_whatever_the_errors(self):
        made = gzip.decompress((DATA / "1hel_made.dat.gz").read_bytes()).decode().splitlines()[1:]
        curve = self.write("wide.dat", ((q, value, 4 * float(sigma)) for q, value, sigma in map(str.split, made)))
        for structure, systematic in (("1hel.pdb.gz", False), ("1ql9_A.pdb.gz", True)):
            told = self.fit(DATA / structure, curve)
            self.assertEqual(b"Residuals keep one sign for too long" in told, systematic, told)

    def test_sizes_of_curve_and_model_are_side_by_side_and_bad_first_points_proposed(self):
        made = gzip.decompress((DATA / "1hel_made.dat.gz").read_bytes()).decode().splitlines()[1:]
        rows = [list(map(float, line.split())) for line in made]
        told = self.fit(DATA / "1hel.pdb.gz", self.write("good.dat", rows)).decode()
        self.assertRegex(told, r"P\(r\) of the curve: Rg 15\.[23].* of the model: Rg 15\.[34]., Dmax 49")
        results = manifest(self.folder / "fit")["results"]
        self.assertLess(abs(results["curve_rg"] - results["rg"]), 0.2)
        self.assertLess(results["curve_dmax_low"], results["dmax"] * 1.1)
        stopped = self.write("stopped.dat", ((q, i * (0.5 if k < 4 else 1), e) for k, (q, i, e) in enumerate(rows)))
        for arguments in (("saxs", DATA / "1hel.pdb.gz", "--data", stopped), ("saxs", "--data", stopped)):
            done = pleat(*arguments, "-o", self.folder / "fit", "-f")
            self.assertIn(b"points before the Guinier range lie below its line", done.stderr)
            self.assertIn(b"leaves 4 out", done.stderr)
            proposed = float(done.stderr.split(b"--q-min ")[1].split()[0])
            self.assertTrue(rows[3][0] < proposed < rows[4][0])
            again = pleat(*arguments, "-o", self.folder / "fit", "-f", "--q-min", str(proposed))
            self.assertNotIn(b"points before the Guinier range", again.stderr)

    def test_a_pair_distribution_that_does_not_fit_is_not_shown(self):
        made = gzip.decompress((DATA / "1hel_made.dat.gz").read_bytes()).decode().splitlines()[1:]
        rows = [list(map(float, line.split())) for line in made]
        exact = self.write("exact.dat", ((q, i, 1e-10 if k == 50 else e) for k, (q, i, e) in enumerate(rows)))
        leak = self.write("leak.dat", ((q, i * (15 if k == 0 else 1), e) for k, (q, i, e) in enumerate(rows)))
        masked = self.write("masked.dat", ((q, 0 if k < 12 else i, e) for k, (q, i, e) in enumerate(rows)))
        negative = self.write("negative.dat", ((q, -0.01 if k < 3 else i, e) for k, (q, i, e) in enumerate(rows)))
        for curve, told in ((exact, b"no P(r): no Dmax and smoothness explain the points"),
                            (leak, b"lie above its line"), (masked, b"leaves 12 out"), (negative, b"leaves 3 out")):
            done = pleat("saxs", DATA / "1hel.pdb.gz", "--data", curve, "-o", self.folder / "fit", "-f")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(told, done.stderr)
            self.assertNotIn(b"P(r) of the curve", done.stdout)
            self.assertRegex(done.stdout, rb"Guinier of the curve: Rg 15\.[2-6]")
            self.assertIsNone(json.loads((self.folder / "fit" / "fit.json").read_text())["pair_distances"])

    def test_sizes_of_minimal_ensembles_come_with_their_validation(self):
        lines = gzip.decompress(STRUCTURE.read_bytes()).decode().splitlines()
        atoms = [line for line in lines if line.startswith(("ATOM", "HETATM"))]
        models = self.folder / "models.pdb"
        with models.open("w") as file:
            for factor in (1, 1.1, 1.2, 1.3, 1.4):
                file.write("MODEL\n")
                for line in atoms:
                    turned = "".join(f"{factor * float(line[at:at + 8]):8.3f}" for at in (30, 38, 46))
                    file.write(line[:30] + turned + line[54:] + "\n")
                file.write("ENDMDL\n")
        self.assertEqual(pleat("saxs", STRUCTURE, "--c2", "1", "-o", self.folder / "run", "-q").returncode, 0)
        noise = random.Random(3)
        curve = self.write("curve.dat", (
            (row["q"], float(row["intensity"]) * (1 + 0.02 * noise.gauss(0, 1)), 0.02 * float(row["intensity"]))
            for row in read_table(self.folder / "run" / "profile.tsv")[2:]))
        told = self.fit(models, curve, "--max-members", "3", "--no-reweight").decode()
        ensemble = json.loads((self.folder / "fit" / "fit.json").read_text())["ensemble"]
        sizes, found = read_table(self.folder / "fit" / "ensemble_sizes.tsv"), ensemble["minimal"]
        self.assertGreater(len(sizes), 1)
        best = min(found, key=lambda one: one["validation_chi2"])
        near = [one["members"] for one in found
                if one["validation_chi2"] <= best["validation_chi2"] + best["validation_error"]]
        self.assertEqual(len(sizes), len(found))
        for row, one in zip(sizes, found):
            for name in ("chi2", "validation_chi2", "validation_error"):
                self.assertAlmostEqual(float(row[name]), one[name], delta=1e-4)
            self.assertEqual([row["members"], row["chosen"], row["near_best"]],
                             [str(one["members"]), str(int(one["members"] == min(near))),
                              str(int(one["members"] in near))])
            self.assertIn(f"{one['chi2']:7.3f}  {one['validation_chi2']:.3f} +- {one['validation_error']:.3f}", told)
        # One state, and any number of frames explains it.
        self.assertGreater(len(near), 1)
        self.assertIn(f"The curve does not tell ensembles of {', '.join(map(str, near))} frames apart", told)
        # Two states that are far apart.
        profiles = [self.scattering(models, frame) for frame in (0, 4)]
        curve = self.write("two.dat", (
            (first["q"], (float(first["intensity"]) + float(second["intensity"])) / 2, 0.02 * float(first["intensity"]))
            for first, second in zip(*profiles)))
        told = self.fit(models, curve, "--max-members", "2", "--no-reweight").decode()
        self.assertNotIn("apart", told)

    def scattering(self, models, frame):
        done = pleat("saxs", models, "--frames", f"{frame}:{frame + 1}", "--c2", "1", "-o", self.folder / "one", "-f")
        self.assertEqual(done.returncode, 0, done.stderr)
        return read_table(self.folder / "one" / "profile.tsv")[2:]

    def test_atoms_that_only_one_file_has_are_told_with_the_way_to_keep_them(self):
        text = gzip.decompress((DATA / "1hel.pdb.gz").read_bytes()).decode()
        whole, part = self.folder / "whole.pdb", self.folder / "part.pdb"
        whole.write_text(text)
        part.write_text("".join(line for line in text.splitlines(True)
                                if not line.startswith("ATOM") or int(line[22:26]) < 100))
        done = pleat("saxs", part, whole, "-o", self.folder / "fit", "-f")
        self.assertRegex(done.stderr, rb"left out \d+ atoms that are not in .* \(otherwise: --mixture, which takes each file with its own atoms\)")


if __name__ == "__main__":
    unittest.main()
