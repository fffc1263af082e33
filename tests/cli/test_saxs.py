# pleat saxs: profiles, fits and ensembles of a committed structure, and fifty broken inputs.
import gzip
import json
import math
import signal
import subprocess
import time
import unittest

from program import DATA, PROGRAM, ProgramTest, clean_environment, manifest, parse_npy, pleat, read_table, results
from structures import npy, numbers

STRUCTURE = DATA / "1a8o.pdb.gz"
GOOD = "".join(f"{0.01 * k:.3f} {100 * math.exp(-k * k / 80):.6f} {0.5 + 0.01 * k:.3f}\n" for k in range(1, 31))
ATOM = "ATOM      1  {name:<4}{residue:>3} A{number:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00 20.00          {element:>2}\n"


def atom(name=" N", residue="ALA", number=1, x=0.0, y=0.0, z=0.0, element="N"):
    return ATOM.format(name=name, residue=residue, number=number, x=x, y=y, z=z, element=element)


def line(number, text):
    """The good curve with another line of this number."""
    rows = GOOD.splitlines()
    rows[number - 1] = text
    return "\n".join(rows) + "\n"


# Curves that are refused: bytes, and what the one line says behind the file's name.
CURVES = {
    "empty": (b"", ": expected a scattering curve, found an empty file"),
    "blank": (b"\n\n \n", ": expected 3 or more lines of numbers in succession"),
    "words": (b"no numbers here\n", ": expected 3 or more lines of numbers"),
    "html": (b"<html><body>404</body></html>\n", ": expected 3 or more lines of numbers"),
    "one_column": (b"1\n2\n3\n4\n", ": expected 3 or more lines of numbers"),
    "two_points": (b"0.1 1 1\n0.2 1 1\n", ": expected 3 or more lines of numbers"),
    "seven_points": ("".join(GOOD.splitlines(True)[:7]).encode(), ": expected a curve of 8 or more points"),
    "no_errors": ("".join(" ".join(row.split()[:2]) + "\n" for row in GOOD.splitlines()).encode(),
                  ":1: expected q, intensity and error, found no error in '0.010 98.757780'; --assume-error"),
    "negative_error": (line(4, "0.04 1 -0.5").encode(), ":4: expected an error above 0, found -0.5"),
    "zero_errors": ("".join(" ".join(row.split()[:2]) + " 0\n" for row in GOOD.splitlines()).encode(),
                    ":1: expected errors above 0, found none at 30 of 30 points; --assume-error"),
    "nan_everywhere": (GOOD.replace(" ", " nan ").encode(), ":1: expected finite numbers, found none at 30 of 30"),
    "model_as_error": ("".join("%s %s\n" % (row.rsplit(" ", 1)[0], row.split()[1]) for row in GOOD.splitlines()).encode(),
                       "expected errors in column 3, found values like those of a model"),
    "no_curve.xml": (b"<?xml version='1.0'?>\n<svg/>\n", "found XML of another kind"),
    "no_curve.cif": (b"data_x\n_cell.length_a 1\n", "expected a curve, found CIF without"),
    "no_curve.h5": (b"\x89HDF\r\n\x1a\n" + bytes(64), "HDF5"),
    "huge": (line(5, "0.05 1e99 1").encode(), ":5: expected intensity and error of at most 1e+30"),
    "tiny_error": (line(5, "0.05 1 1e-99").encode(), ":5: expected intensity and error of at most 1e+30"),
    "stars": (line(6, "0.06 ****** 1").encode(), ":6: expected q, intensity and error, found '0.06 ****** 1'"),
    "short_row": (line(7, "0.07 1").encode(), ":7: expected q, intensity and error, found '0.07 1'"),
    "lone_q": (line(7, "0.07").encode(), ":7: expected q, intensity and error, found '0.07'"),
    "q_begins_again": ((GOOD + GOOD).encode(), ":31: expected one curve, found q that begins again at 0.01"),
    "q_negative": (line(1, "-0.01 1 1").encode(), ":1: expected q of 0 or more, found -0.01"),
    "two_tables": ((GOOD + "again\n" + GOOD).encode(), ":32: expected one curve, found 2: 'lines 1-30', 'lines 32-61'"),
    "tiny_q": (b"".join(b"%g 1 1\n" % (1e-5 * k) for k in range(1, 20)), ": expected a curve that ends between"),
    "angles": (b"".join(b"%d 1 1\n" % (10 * k) for k in range(1, 20)), ": expected a curve that ends between"),
    "binary": (bytes(range(1, 256)), "expected"),
    "zero_bytes": (b"0.1 1 1\n\0\0\0\n", "expected"),
    "cut_gzip": (gzip.compress(GOOD.encode())[:-20], "expected"),
    "bzip2": (b"BZh91AY&SY0000000000000000", "expected"),
    "utf16": (GOOD.encode("utf-16"), "expected"),
    "structure": (atom().encode() * 5, ": expected 3 or more lines of numbers"),
    "beyond_q_max": (b"".join(b"%g 1 1\n" % (0.6 + 0.01 * k) for k in range(1, 30)),
                     ": expected a curve of 8 or more points up to --q-max 0.5"),
}

# Structures that are refused.
STRUCTURES = {
    "nothing.pdb": (b"", "expected"),
    "no_atoms.pdb": (b"HEADER    X\nEND\n", "expected"),
    "only_water.pdb": (atom(" O", "HOH", element="O").encode(), "found none but water and hydrogen"),
    "only_hydrogen.pdb": (atom(" H", "ALA", element="H").encode(), "found none but water and hydrogen"),
    "unknown_element.pdb": ((atom() + atom(" Q1", "UNK", 2, 5, element="")).encode(),
                            "expected atoms of known elements, found Q1 of UNK 2 in chain 'A'; --select"),
    "element_x.pdb": ((atom() + atom(" U", "UNX", 2, 5, element="X")).encode(),
                      "expected atoms of known elements, found U of UNX 2 in chain 'A'; --select 'not (UNX)'"),
    "nan.pdb": (atom().replace("   0.000   0.000   0.000", "     nan   0.000   0.000").encode(), "expected"),
    "cut.pdb": (atom()[:40].encode(), "expected"),
    "numbers.txt": (GOOD.encode(), "expected"),
    "broken.cif": (b"data_x\nloop_\n_atom_site.id\n", "expected"),
}

TABLES = {
    "empty": ("", "expected a table of form factors"),
    "words": ("no numbers\nat all\n", "expected a table of form factors"),
    "narrow": ("0 1 2\n1 2 3\n", "expected q and 20 form factors in a row, found 3 numbers"),
    "ragged": ("0" + " 1" * 20 + "\n0.5 1\n", "expected 21 numbers as in the rows before, found 2"),
    "falling": ("0" + " 1" * 20 + "\n0" + " 1" * 20 + "\n", "expected q of 0 or more that rises"),
    "late": ("0.1" + " 1" * 20 + "\n0.9" + " 1" * 20 + "\n", "expected q from 0 on, found 0.1"),
    "short": ("0" + " 1" * 20 + "\n0.3" + " 1" * 20 + "\n", "expected q up to 0.3"),
    "nan": ("0" + " 1" * 20 + "\n0.5" + " nan" * 20 + "\n", "expected finite form factors"),
}


class Saxs(ProgramTest):
    def scatter(self, *arguments, run="run", **options):
        done = pleat("saxs", *arguments, "-o", self.folder / run, "-q", **options)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        return self.folder / run

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def curve_of(self, run, noise=0.01):
        """A measured curve made of a profile."""
        rows = read_table(run / "profile.tsv")[2:]
        return self.write("curve.dat", "".join(
            f"{row['q']} {float(row['intensity']) * (1 + noise * (-1) ** n)} {float(row['intensity']) * noise}\n"
            for n, row in enumerate(rows)))

    def test_profile_has_its_moments(self):
        run = self.scatter(STRUCTURE, "--q-points", "51", "--q-max", "0.1")
        rows = read_table(run / "profile.tsv")
        self.assertEqual(len(rows), 51)
        facts = manifest(run)["results"]
        self.assertAlmostEqual(float(rows[0]["intensity"]) / facts["i0"], 1, places=5)
        # Guinier's law near q = 0.
        slope = -3 * math.log(float(rows[3]["intensity"]) / float(rows[0]["intensity"])) / float(rows[3]["q"]) ** 2
        self.assertAlmostEqual(math.sqrt(slope) / facts["rg"], 1, delta=0.02)
        pairs = read_table(run / "pr.tsv")
        self.assertAlmostEqual(sum(float(row["p"]) for row in pairs) / facts["i0"], 1, places=5)
        self.assertLessEqual(facts["dmax"], float(pairs[-1]["to"]))

    def test_fit_finds_the_contrast(self):
        run = self.scatter(STRUCTURE, "--c1", "1.02", "--c2", "1.5")
        curve = self.curve_of(run)
        fitted = json.loads((self.scatter(STRUCTURE, "--data", curve, run="fit") / "fit.json").read_text())["fit"]
        self.assertAlmostEqual(fitted["c1"], 1.02, delta=0.01)
        self.assertAlmostEqual(fitted["c2"], 1.5, delta=0.3)
        self.assertAlmostEqual(fitted["chi2"], 1, delta=0.1)
        self.assertEqual(len(read_table(self.folder / "fit" / "fit.tsv")), 99)
        names = {path.name for path in (self.folder / "fit").iterdir()}
        self.assertLessEqual({"guinier.tsv", "kratky.tsv", "pr.tsv", "profile.tsv", "cite.bib"}, names)

    def test_models_agree(self):
        intensity = {}
        for model in ("all-atom", "two-bead", "one-bead"):
            rows = read_table(self.scatter(STRUCTURE, "--model", model, "--q-max", "0.5", run=model) / "profile.tsv")
            intensity[model] = [(float(row["q"]), float(row["intensity"])) for row in rows]
        # Of the error model's sigma. The electrons are those of the atoms, selenium among them.
        for model, tolerance in (("two-bead", 0.25), ("one-bead", 0.6)):
            self.assertAlmostEqual(intensity[model][0][1] / intensity["all-atom"][0][1], 1, delta=2e-5)
            for (q, a), (_, b) in zip(intensity[model], intensity["all-atom"]):
                self.assertAlmostEqual(a / b, 1, delta=tolerance * 0.3 * (q + 0.15))

    def test_alpha_carbons_are_reported_as_approximate(self):
        done = pleat("saxs", STRUCTURE, "--select", "ca and not (MSE)", "-o", self.folder / "run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"only CA atoms: a whole residue scatters from each", done.stderr)
        self.assertEqual(manifest(self.folder / "run")["results"]["model"], "one-bead")

    def test_ensemble_has_profiles_and_weights(self):
        text = gzip.open(STRUCTURE, "rt").read()
        atoms = [row for row in text.splitlines() if row.startswith(("ATOM", "HETATM"))]
        models = ""
        for model, factor in enumerate((1, 1.2, 1.4)):
            models += f"MODEL     {model + 1:4d}\n"
            for row in atoms:
                places = [factor * float(row[30 + 8 * axis:38 + 8 * axis]) for axis in range(3)]
                models += row[:30] + "".join(f"{place:8.3f}" for place in places) + row[54:] + "\n"
            models += "ENDMDL\n"
        path = self.write("models.pdb", models)
        run = self.scatter(path, "--q-points", "64")
        shape, values = parse_npy((run / "profiles.npy").read_bytes())
        self.assertEqual(shape, (3, 64))
        means = [sum(values[k::64]) / 3 for k in range(64)]
        for row, mean in zip(read_table(run / "profile.tsv"), means):
            self.assertAlmostEqual(float(row["intensity"]) / mean, 1, places=7)
        self.assertEqual(len(read_table(run / "frames.tsv")), 3)
        curve = self.write("curve.dat", "".join(
            f"{q[0]} {0.5 * a + 0.5 * b} {0.01 * a + 1}\n" for q, a, b in zip(
                [(row["q"],) for row in read_table(run / "profile.tsv")], values[:64], values[128:])))
        fit = self.scatter(path, "--data", curve, "--c1", "1", "--c2", "0", run="fit")
        ensemble = json.loads((fit / "fit.json").read_text())["ensemble"]
        self.assertEqual(ensemble["minimal_chosen"], 2)
        chosen = [row for row in read_table(fit / "minimal_ensemble.tsv") if row["chosen"] == "1"]
        self.assertEqual([row["frame"] for row in chosen], ["0", "2"])
        self.assertAlmostEqual(float(chosen[0]["weight"]), 0.5, delta=0.01)
        weights = [float(row["weight"]) for row in read_table(fit / "weights.tsv")]
        self.assertAlmostEqual(sum(weights), 1, places=5)
        # Each frame of an ensemble is fitted as it is alone.
        free = self.scatter(path, "--data", curve, "--max-members", "0", "--no-reweight", run="free")
        for number, row in enumerate(read_table(free / "frames.tsv")):
            alone = self.scatter(path, "--data", curve, "--frames", f"{number}:{number + 1}", run=f"alone{number}")
            fitted = json.loads((alone / "fit.json").read_text())["fit"]
            self.assertAlmostEqual(float(row["chi2"]) / fitted["chi2"], 1, delta=0.01)
            self.assertAlmostEqual(float(row["c1"]), fitted["c1"], delta=0.005)

    def observed(self):
        """A file of 40 models that differ by the distance of two CA atoms, 10 to 17.8 angstrom, with a third."""
        models = []
        for frame in range(40):
            rows = [atom(" CA", number=1, element="C"), atom(" CA", number=2, x=10 + 0.2 * frame, element="C"),
                    atom(" CA", number=3, y=5.0, element="C")]
            models.append(f"MODEL {frame + 1}\n" + "".join(rows) + "ENDMDL\n")
        return self.write("pair.pdb", "".join(models))

    def test_observables_weigh_frames(self):
        path = self.observed()
        table = self.write("o.tsv", "name\tvalue\terror\tkind\tcomputed\nd\t12\t0.1\tupper\tA:1:CA-A:2:CA\n"
                           "side\t1\t0.1\t\t\n")
        values = self.write("v.tsv", "side\n" + "".join(f"{frame % 2 * 4}\n" for frame in range(40)))
        run = self.scatter(path, "--observables", table, "--observable-values", values, "--models-are", "states")
        weights = [float(row["weight"]) for row in read_table(run / "weights.tsv")]
        distance, side = read_table(run / "observables.tsv")
        self.assertAlmostEqual(sum(weights), 1, places=5)
        for row, wanted in ((distance, [10 + 0.2 * n for n in range(40)]), (side, [n % 2 * 4 for n in range(40)])):
            mean = sum(weight * value for weight, value in zip(weights, wanted))
            self.assertAlmostEqual(float(row["mean"]), mean, delta=1e-4)
            self.assertAlmostEqual(float(row["mean_before"]), sum(wanted) / 40, delta=1e-4)
        self.assertLess(float(distance["mean"]), 12.3)
        self.assertAlmostEqual(float(side["mean"]), 1, delta=0.3)
        found = manifest(run)["results"]
        self.assertEqual(found["observables"], 2)
        self.assertLess(found["observables_chi2"], 1.0001)
        self.assertGreater(found["observables_chi2_before"], 10)
        # Together with a curve, whose points count too.
        curve = self.curve_of(run)
        both = self.scatter(path, "--observables", table, "--observable-values", values, "--models-are", "states",
                            "--data", curve, run="both")
        self.assertTrue((both / "reweighted_fit.tsv").exists())
        self.assertEqual(len(read_table(both / "observables.tsv")), 2)
        self.assertLess(manifest(both)["results"]["observables_chi2"], found["observables_chi2_before"])

    def test_bad_observables_are_refused(self):
        path, head = self.observed(), "name\tvalue\terror\tkind\tcomputed\n"
        rows = {"d\t12\t0\t\tA:1:CA-A:2:CA\n": "observable 'd': expected an error above 0, found 0",
                "d\t12\t\t\tA:1:CA-A:2:CA\n": "expected a number as error, found ''",
                "d\t12\t1\tabove\tA:1:CA-A:2:CA\n": "expected kind gaussian, upper, lower, found 'above'",
                "d\t12\t1\t\tA:1:CA-A:9:CA\n": "expected atoms of the structure, each once, found 'A:9:CA'",
                "d\t12\t1\tlower\tA:1:CA-A:2:CA\nd\t10\t1\tupper\tA:1:CA-A:2:CA\n":
                    "expected a lower bound of at most the upper bound 10, found 12"}
        for row, expected in rows.items():
            with self.subTest(row=row):
                self.refused(3, expected, path, "--models-are", "states", "--observables", self.write("o.tsv", head + row))
        good = self.write("o.tsv", head + "d\t12\t1\t\tA:1:CA-A:2:CA\n")
        given = self.write("g.tsv", head + "s\t1\t1\t\t\n")
        few = self.write("v.tsv", "s\n1\n")
        self.refused(3, "expected several frames", path, "--models-are", "states", "--frames", "3", "--observables", good)
        self.refused(3, "expected a row of values of each of 40 frames, found 1", path, "--models-are", "states",
                     "--observables", given, "--observable-values", few)
        self.refused(2, "--observable-values", path, "--models-are", "states", "--observables", given)
        self.refused(2, "--observable-values needs --observables", path, "--observable-values", few)
        self.refused(2, "leave out --mixture", path, path, "--mixture", "--observables", good)
        nan = self.write("n.tsv", "s\n" + "nan\n" * 40)
        self.refused(3, "found nan in frame 0", path, "--models-are", "states", "--observables", given,
                     "--observable-values", nan)

    def test_threads_make_no_difference(self):
        curve = self.curve_of(self.scatter(STRUCTURE, "--c2", "1"))
        one = results(self.scatter(STRUCTURE, "--data", curve, "--threads", "1", run="one"))
        two = results(self.scatter(STRUCTURE, "--data", curve, "--threads", "2", run="two"))
        self.assertEqual(one, two)

    def test_each_broken_input_is_refused(self):
        self.assertGreaterEqual(len(CURVES) + len(STRUCTURES) + len(TABLES), 50)
        for name, (content, expected) in CURVES.items():
            with self.subTest(curve=name):
                path = self.write(name + ".dat", content)
                self.refused(3, expected, STRUCTURE, "--data", path)
        for name, (content, expected) in STRUCTURES.items():
            with self.subTest(structure=name):
                self.refused(3, expected, self.write(name, content))
        for name, (content, expected) in TABLES.items():
            with self.subTest(table=name):
                path = self.write(name + ".tsv", content)
                self.refused(3, expected, STRUCTURE, "--select", "not (MSE)", "--model", "one-bead",
                             "--form-factors", path)

    def refused(self, code, expected, *arguments):
        done = pleat("saxs", *arguments, "-o", self.folder / "deep" / "run", "-q")
        self.assert_refused(done, code, expected)
        self.assertFalse((self.folder / "deep").exists())

    def test_bad_options_are_refused(self):
        self.refused(2, "expected --c1-min of at most --c1-max (1), found 1.2", STRUCTURE, "--c1-min", "1.2", "--c1-max",
                     "1")
        self.refused(2, "expected --bin-width of 0 or at least 0.01", STRUCTURE, "--bin-width", "0.001")
        self.refused(2, "model", STRUCTURE, "--model", "three-bead")
        self.refused(2, "expected --model one-bead or two-bead", STRUCTURE, "--form-factors", "x")
        self.refused(3, "expected q up to 0.75", STRUCTURE, "--model", "two-bead", "--q-max", "0.9",
                     "--select", "not (MSE)")
        self.refused(3, "expected all atoms for the all-atom model", STRUCTURE, "--select", "ca", "--model",
                     "all-atom")
        self.refused(3, "no-such-file", STRUCTURE, "--data", "no-such-file")

    def test_published_curves_are_read(self):
        run = self.scatter(STRUCTURE, "--c2", "1")
        good = self.curve_of(run).read_text()
        chi2 = json.loads((self.scatter(STRUCTURE, "--data", self.folder / "curve.dat", run="good")
                           / "fit.json").read_text())["fit"]["chi2"]
        lines = good.splitlines()
        for name, text in (("repeats", "\n".join(lines[:9] + [lines[8]] + lines[9:])),
                           ("mixed", "\n".join(lines[9:40] + lines[:9] + lines[40:])),
                           ("zero", good + "0.51 0 0\n"), ("title", f"{len(lines)} 3\n" + good),
                           ("commas", good.replace(".", ","))):
            with self.subTest(name):
                done = pleat("saxs", STRUCTURE, "--data", self.write(name + ".dat", text), "-o", self.folder / name)
                self.assertEqual(done.returncode, 0, done.stderr)
                found = json.loads((self.folder / name / "fit.json").read_text())["fit"]["chi2"]
                self.assertAlmostEqual(found / chi2, 1, delta=0.05)

    def test_smears_the_model_by_the_spread_of_q(self):
        run = self.scatter(STRUCTURE, "--c2", "1", "--q-points", "501")
        profile = [(float(row["q"]), float(row["intensity"])) for row in read_table(run / "profile.tsv")]

        def smeared(q, dq):
            pairs = [(math.exp(-((x - q) / dq) ** 2 / 2), y) for x, y in profile if abs(x - q) <= 3 * dq]
            return sum(w * y for w, y in pairs) / sum(w for w, _ in pairs)

        points = [(q, smeared(q, 0.012), 0.012) for q, _ in profile[40:440:5]]
        curve = self.write("wide.dat", "".join(f"{q} {i} {0.001 * i} {dq}\n" for q, i, dq in points))
        chi2 = {}
        for options in ((), ("--smear",)):
            run = self.scatter(STRUCTURE, "--data", curve, "--c1", "1", *options, run=f"fit{len(options)}")
            fitted = json.loads((run / "fit.json").read_text())["fit"]
            chi2[len(options)] = fitted["chi2"]
        self.assertLess(chi2[1], 0.1)
        self.assertGreater(chi2[0], 20)
        self.assertAlmostEqual(fitted["c2"], 1, delta=0.02)
        self.refused(3, "expected q, intensity, error and dq (--smear), found no dq in", STRUCTURE, "--smear", "--data",
                     self.write("curve.dat", GOOD))

    def test_warns_of_a_wrong_unit(self):
        run = self.scatter(STRUCTURE, "--c2", "1")
        rows = [row.split() for row in self.curve_of(run).read_text().splitlines()]
        wrong = self.write("wrong.dat", "".join(f"{10 * float(q)} {i} {e}\n" for q, i, e in rows))
        done = pleat("saxs", STRUCTURE, "--data", wrong, "--q-unit", "1/angstrom", "--q-max", "5", "-o",
                     self.folder / "wrong")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"WARNING: Guinier's Rg of the curve is", done.stderr)
        self.assertIn(b"--q-unit 1/nm sets it", done.stdout)
        done = pleat("saxs", STRUCTURE, "--data", wrong, "-o", self.folder / "right")
        self.assertNotIn(b"WARNING", done.stderr + done.stdout)

    def test_an_estimate_reads_the_curve_as_its_run_does(self):
        # The curve alone says 1/nm, and then no point is left; the structure says 1/angstrom.
        rows = read_table(self.scatter(DATA / "1hel.pdb.gz", "--q-max", "1.7", "--q-points", "171") / "profile.tsv")
        curve = self.write("wide.dat", "".join(
            f"{row['q']} {row['intensity']} {(0.01 + 0.001 * (n * n % 7)) * float(row['intensity'])}\n"
            for n, row in enumerate(rows) if float(row["q"]) > 0.025))
        for more in ("--estimate",), ("-o", self.folder / "wide"):
            done = pleat("saxs", DATA / "1hel.pdb.gz", "--data", curve, "--q-min", "0.2", *more)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(read_table(self.folder / "wide" / "fit.tsv")[0]["q"], "0.2")

    def test_errors_name_the_option_that_was_meant(self):
        curve = self.write("curve.dat", GOOD)
        self.refused(3, "expected a structure, found a curve; --data", STRUCTURE, curve)
        other = self.write("other.pdb", atom() + atom(" CA", x=1.5, element="C"))
        self.refused(3, "expected files of the same atoms, found others (--mixture takes them): ", STRUCTURE, other)
        more = self.write("more.pdb", atom() + atom(" CA", x=1.5, element="C") + atom(" C", x=3, element="C"))
        done = pleat("saxs", other, more, "-o", self.folder / "run")
        self.assertRegex(done.stderr.decode(), "left out 1 atoms that are not in .*other.pdb .*--mixture, which takes each file")

    def test_errors_name_the_file_and_the_frame_within_it(self):
        topology = self.write("atoms.pdb", atom() + atom(" CA", x=1.5, element="C"))
        near = self.write("near.npy", npy((3, 2, 3), [0.0, 0.0, 0.0, 1.5, 0.0, 0.0] * 3))
        far = self.write("far.npy", npy((2, 2, 3), [0.0, 0.0, 0.0, 1.5, 0.0, 0.0] + [2e8] * 6))
        self.refused(3, "far.npy: frame 1: expected coordinates within 1e8 angstrom, found 200000000", near, far,
                     "--topology", topology)

    def test_a_negative_square_of_rg_is_not_available(self):
        # A heavy atom between two that displace more water than they scatter.
        path = self.write("odd.pdb", "".join((atom(" C", "AAA", 1, -50, element="C"), atom(" C", "BBB", 2, 50, element="C"),
                                              atom("FE", "CCC", 3, 0, element="FE"))))
        run = self.scatter(path, "--c1", "1.1")
        self.assertEqual(manifest(run)["results"]["rg"], "NA")

    def test_refuses_options_that_a_device_or_model_does_not_have(self):
        self.refused(2, "expected --precision float64 or auto", STRUCTURE, "--device", "reference", "--precision",
                     "float32")
        self.refused(2, "expected --method debye or auto", STRUCTURE, "--device", "reference", "--method", "multipole")
        coarse = (STRUCTURE, "--select", "not (MSE)", "--model", "two-bead")
        for option in (("--c1", "1.02"), ("--c1-min", "0.95"), ("--c1-max", "1.05"), ("--hydrogens", "explicit")):
            self.refused(2, "for the all-atom model, found the two-bead model", *coarse, *option)
        self.refused(2, "the one-bead model", STRUCTURE, "--select", "ca and not (MSE)", "--c1", "1.02")
        facts = manifest(self.scatter(*coarse, "--c2", "1"))["results"]
        self.assertNotIn("c1", facts)
        self.assertEqual(facts["c2"], 1)

    def test_refuses_pair_distances_of_a_distant_scatterer(self):
        path = self.write("far.pdb", "".join(atom(number=n, x=x) for n, x in enumerate((0, 5, -9e6))))
        text = path.read_text().replace("-9000000.000", "9999999.")
        path.write_text(text)
        self.refused(3, "far.pdb: frame 0: expected a structure of at most a million bins of --bin-width 1 angstrom",
                     path)
        self.scatter(path, "--bin-width", "0")
        self.scatter(path, "--bin-width", "100", run="wide")


class Resume(ProgramTest):
    """A run of three tiles of frames that is stopped after the first resumes with the same results."""
    ATOMS, FRAMES = 400, 520

    def setUp(self):
        super().setUp()
        self.topology = self.folder / "atoms.pdb"
        self.topology.write_text("".join(atom(number=n) for n in range(1, self.ATOMS + 1)))
        self.frames = self.folder / "frames.npy"
        self.frames.write_bytes(npy((self.FRAMES, self.ATOMS, 3), numbers(3 * self.ATOMS * self.FRAMES)))

    def arguments(self, run):
        return ["saxs", self.frames, "--topology", self.topology, "-o", run, "--q-points", "2000", "--q-max", "1",
                "--precision", "float64", "--method", "debye", "--bin-width", "0", "-t", "1", "--device", "cpu"]

    def stop_after_a_tile(self, run, how):
        process = subprocess.Popen([PROGRAM, *self.arguments(run)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=clean_environment(PLEAT_CHECKPOINT_SECONDS="0"))
        deadline = time.monotonic() + 120
        while not self.finished_tiles(run):
            self.assertIsNone(process.poll(), "the run ended before it could be stopped")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        process.send_signal(how)
        err = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 130 if how == signal.SIGINT else -how, err)
        return err

    @staticmethod
    def finished_tiles(run):
        """How many of three tiles the checkpoint marks as finished."""
        path = run / "checkpoint.tiles"
        content = path.read_bytes() if path.exists() else b""
        return content.partition(b"\ntiles 3\n")[2][:3].count(1)

    def test_resumes_after_an_interrupt_and_after_a_kill(self):
        whole = self.folder / "whole"
        self.assertEqual(pleat(*self.arguments(whole), "-q").returncode, 0)
        for how in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(how):
                for attempt in range(5):  # on a busy machine the signal may come after the last tile
                    run = self.folder / f"{how.name}{attempt}"
                    err = self.stop_after_a_tile(run, how)
                    if self.finished_tiles(run) in (1, 2):
                        break
                if how == signal.SIGINT:
                    self.assertIn(b"checkpoint.tiles: run the same command again to resume", err)
                self.assertIn(self.finished_tiles(run), (1, 2))
                done = pleat(*self.arguments(run))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(b"resuming the unfinished run in ", done.stderr)
                self.assertEqual(results(run), results(whole))
                self.assertTrue(manifest(run)["resumed"])
                self.assertFalse((run / "checkpoint.tiles").exists())

    def test_refuses_the_checkpoint_of_other_options(self):
        run = self.folder / "run"
        self.stop_after_a_tile(run, signal.SIGKILL)
        arguments = self.arguments(run)
        arguments[arguments.index("--q-max") + 1] = "1.1"
        done = pleat(*arguments, "-q")
        self.assert_refused(done, 3, "checkpoint.tiles", "expected tiles of the same input and options", "remove this file")


if __name__ == "__main__":
    unittest.main()
