# pleat saxs --neutrons: match points, contrast series, and what is refused.
import json
import math
import unittest

from program import DATA, ProgramTest, manifest, pleat, read_table

STRUCTURE = DATA / "1a8o.pdb.gz"
GOOD = "".join(f"{0.01 * k:.3f} {100 * math.exp(-k * k / 80):.6f} {0.5 + 0.01 * k:.3f}\n" for k in range(1, 31))


class SaxsNeutrons(ProgramTest):
    def scatter(self, *arguments, run="run"):
        done = pleat("saxs", *arguments, "-o", self.folder / run, "-q")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        return self.folder / run

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content)
        return path

    def curve_of(self, run, name):
        """A measured curve made of a profile, with errors of 1 %."""
        rows = read_table(run / "profile.tsv")[2:]
        return self.write(name, "".join(
            f"{row['q']} {float(row['intensity']) * (1 + 0.01 * (-1) ** n)} {float(row['intensity']) * 0.01}\n"
            for n, row in enumerate(rows)))

    def refused(self, code, expected, *arguments):
        done = pleat("saxs", *arguments, "-o", self.folder / "run", "-q")
        self.assert_refused(done, code, expected)

    def test_neutrons_have_match_points(self):
        done = pleat("saxs", STRUCTURE, "-o", self.folder / "run", "--neutrons", "--d2o", "0.42")
        self.assertEqual(done.returncode, 0, done.stderr)
        row, = read_table(self.folder / "run" / "match_points.tsv")
        length, gain, volume = (float(row[name]) for name in ("length", "gain", "volume"))
        light, heavy = ((2 * h + 5.8037) / 29.9 for h in (-3.7409, 6.6681))
        match = (length - light * volume) / ((heavy - light) * volume - gain)
        self.assertAlmostEqual(float(row["match_d2o_percent"]), 100 * match, delta=0.01)
        self.assertIn(f"Match point of the molecule: {100 * match:.2f} % D2O".encode(), done.stdout)
        self.assertIn(b"fm^2", done.stdout)
        facts = manifest(self.folder / "run")["results"]
        self.assertEqual(facts["d2o"], 0.42)
        self.assertAlmostEqual(facts["match_point"], match, delta=1e-4)
        amplitude = length + 0.42 * gain - (light + 0.42 * (heavy - light)) * volume
        self.assertAlmostEqual(facts["i0"] / amplitude**2, 1, delta=0.01)

    def test_a_contrast_series_is_fitted_together(self):
        for name, options in (("xrays", ()), ("light", ("--neutrons",)), ("heavy", ("--neutrons", "--d2o", "1"))):
            run = self.scatter(STRUCTURE, "--c1", "1.02", "--c2", "1.5", *options, run=name)
            self.curve_of(run, f"{name}.dat")
        run = self.scatter(STRUCTURE, "--data", self.folder / "xrays.dat", "--series",
                           f"{self.folder / 'light.dat'}:0,{self.folder / 'heavy.dat'}:1", run="fit")
        found = json.loads((run / "fit.json").read_text())
        self.assertAlmostEqual(found["fit"]["c1"], 1.02, delta=0.01)
        self.assertAlmostEqual(found["fit"]["c2"], 1.5, delta=0.2)
        light, heavy = found["series"]["curves"]
        self.assertEqual((light["d2o"], heavy["d2o"], light["c2"]), (0, 1, found["fit"]["c2"]))
        self.assertEqual(found["series"]["points"], 3 * found["fit"]["points"])
        self.assertAlmostEqual(found["series"]["chi2"], 1, delta=0.1)
        self.assertEqual(len(read_table(run / "series_2_fit.tsv")), heavy["points"])
        self.assertEqual(len(found["match_points"]), 1)

    def test_neutrons_refuse_what_they_cannot_use(self):
        curve = self.write("curve.dat", GOOD)
        self.refused(2, "give --d2o with --neutrons", STRUCTURE, "--d2o", "0.5")
        self.refused(2, "expected the all-atom model of neutrons, found two-bead", STRUCTURE, "--neutrons",
                     "--model", "two-bead")
        self.refused(2, "give --deuterate with --neutrons", STRUCTURE, "--deuterate", "A")
        self.refused(2, "expected --deuterate CHAIN[:FRACTION]", STRUCTURE, "--neutrons", "--deuterate", "A:2")
        self.refused(3, "found only CA atoms", STRUCTURE, "--neutrons", "--select", "ca")
        self.refused(3, "expected a chain of the structure for --deuterate (A), found 'B'", STRUCTURE,
                     "--neutrons", "--deuterate", "B")
        self.refused(2, "give --series CURVE:D2O", STRUCTURE, "--data", curve, "--series", f"{curve}:1.2")
        self.refused(2, "give --data, the first curve, with --series", STRUCTURE, "--series", f"{curve}:0.5")
        self.refused(3, "expected a curve of 8 or more points", STRUCTURE, "--data", curve, "--series",
                     f"{self.write('few.dat', ''.join(GOOD.splitlines(True)[:7]))}:0.5")
        self.refused(3, "no-such-file", STRUCTURE, "--data", curve, "--series", "no-such-file:0.5")


if __name__ == "__main__":
    unittest.main()
