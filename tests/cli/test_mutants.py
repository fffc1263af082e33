# pleat mutants: files of a run from alignments, runs and models; tables that come back; refusals in a line.
import random
import shutil
import struct
import unittest

from program import DATA, ProgramTest, manifest, matrix, pleat, read_npz, read_table, results, written

LETTERS = "ACDEFGHIKLMNPQRSTVWY"
TARGET = "MKVLAWGQRTSDEIFHCYNP"


def family_rows(count=80, seed=5):
    source = random.Random(seed)
    return [TARGET] + ["".join(source.choice(LETTERS) if source.random() < 0.3 else one for one in TARGET)
                       for _ in range(count - 1)]


class Mutants(ProgramTest):
    def setUp(self):
        super().setUp()
        self.family = self.folder / "family.fasta"
        self.family.write_text("".join(f">{'target/11-30' if n == 0 else f'row{n}'}\n{row}\n"
                                       for n, row in enumerate(family_rows())))
        self.run_folder = self.folder / "run"

    def plmc_model(self):
        return self.fit(self.family, "--models", "plmc", "-d", "cpu", run="plmc_fit") / "model.plmc"

    def call(self, *arguments, code=0):
        done = pleat("mutants", *arguments, "-q", "-d", "cpu")
        self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr.decode())
        return done.stderr.decode()

    def table(self, text, name="scan.csv"):
        path = self.folder / name
        path.write_bytes(text.encode())
        return path

    def test_an_alignment_its_run_and_its_model_give_the_same(self):
        self.call(self.family, "-o", self.run_folder)
        singles = read_table(self.run_folder / "singles.tsv")
        self.assertEqual(len(singles), 20 * 19)
        self.assertEqual(list(singles[0])[:9], ["segment", "mutant", "pos", "wt", "subs", "frequency",
                                                "column_conservation", "prediction_epistatic",
                                                "prediction_independent"])
        self.assertEqual((singles[0]["mutant"], singles[-1]["mutant"]), ("M11A", "P30Y"))
        self.assertEqual(len(read_table(self.run_folder / "positions.tsv")), 20)
        self.assertEqual(len(read_table(self.run_folder / "logo.tsv")), 400)
        fit = self.run_folder / "couplings"
        self.call(fit, "-o", self.folder / "again")
        self.call(self.run_folder, "-o", self.folder / "third")
        own = results(self.folder / "again")
        self.assertEqual(own, results(self.folder / "third"))
        self.assertEqual(own["singles.tsv"], (self.run_folder / "singles.tsv").read_bytes())
        self.call(self.plmc_model().parent, "-o", self.folder / "plmc", "--first-number", 11)
        for one, other in zip(singles, read_table(self.folder / "plmc/singles.tsv")):
            self.assertEqual(one["mutant"], other["mutant"])
            for name in ("prediction_epistatic", "prediction_independent"):
                self.assertAlmostEqual(float(one[name]), float(other[name]), delta=2e-5)
        facts = manifest(self.run_folder)["results"]
        self.assertEqual((facts["target"], facts["first_number"], facts["singles"]), ("target/11-30", 11, 380))

    def test_effects_are_sums_over_the_model(self):
        table = self.table("mutant,score\nM11A,1\nM11A:P30Y,2\nwt,3\n")
        self.call(self.family, "-o", self.run_folder, "--mutants", table, "--doubles", "11,30")
        model = read_npz(self.run_folder / "couplings/couplings.npz")
        letters = bytes(model["letters"][1]).decode()
        fields = matrix(*model["fields"])
        pairs, q = model["pairs"][1], len(letters)

        def energy(sequence):
            codes = [letters.index(one) for one in sequence]
            pair = iter(range(0, len(pairs), q * q))
            return (sum(fields[n][code] for n, code in enumerate(codes)) +
                    sum(pairs[next(pair) + codes[i] * q + codes[j]] for i in range(20) for j in range(i + 1, 20)))

        expected = [energy("A" + TARGET[1:]), energy("A" + TARGET[1:-1] + "Y"), energy(TARGET)]
        lines = (self.run_folder / "listed.csv").read_text().splitlines()
        self.assertEqual(lines[0].split(",")[2:4], ["prediction_epistatic", "prediction_independent"])
        for line, value in zip(lines[1:], expected):
            self.assertAlmostEqual(float(line.split(",")[2]), value - expected[2], delta=1e-4)
        doubles = read_npz(self.run_folder / "epistasis.npz")
        self.assertEqual(doubles["positions"][1], (11, 30))
        order = bytes(doubles["letters"][1]).decode()
        single = {one["mutant"]: float(one["prediction_epistatic"])
                  for one in read_table(self.run_folder / "singles.tsv")}
        epistasis = doubles["epistasis"][1][order.index("A") * 20 + order.index("Y")]
        self.assertAlmostEqual(single["M11A"] + single["P30Y"] + epistasis, expected[1] - expected[2], delta=1e-4)

    def test_a_table_comes_back_and_other_tables_need_no_fit(self):
        text = "id;mutant;DMS_score\r\n1;M11A;0.5\r\n\r\n2;M11A,K12R;\"0,25\"\r\n3;Q18-;NA\r\n4;A99G;1"
        table = self.table(text)
        self.call(self.family, "-o", self.run_folder, "--list", table)  # told from a list of inputs
        back = (self.run_folder / "listed.csv").read_bytes().decode()
        cut = [line.rsplit(";", 7)[0] if line.count(";") >= 7 else line for line in back.split("\r\n")]
        self.assertEqual("\r\n".join(cut), text)
        self.assertIn("gap or unknown letter", back)
        self.assertTrue(back.endswith(";NA;NA;NA;NA;outside the columns"), back)
        self.assertEqual(manifest(self.run_folder)["results"]["without prediction: outside the columns"], 1)
        fitted = written(self.run_folder / "couplings/couplings.npz")[0]
        told = pleat("mutants", self.family, "-o", self.run_folder, "--mutants",
                     self.table("mutants\nM11A,K12R\nwt\n", "other.csv"), "--force", "-d", "cpu")
        self.assertEqual(told.returncode, 0, told.stderr.decode())
        self.assertIn("unchanged, using the existing results", told.stderr.decode())
        self.assertEqual(written(self.run_folder / "couplings/couplings.npz")[0], fitted)
        lines = (self.run_folder / "listed.csv").read_text().splitlines()
        self.assertEqual(lines[0].split("\t")[0], "mutants")
        self.assertEqual(lines[2].split("\t")[:2], ["wt", "0.00000"])

    def test_notes_of_the_alignment_are_those_of_the_run_even_if_its_fit_is_kept(self):
        with self.family.open("a") as file:
            file.write(f">odd\n{TARGET[:-1]}?\n")
        for more in ((), ("--force",)):
            told = pleat("mutants", self.family, "-o", self.run_folder, "-d", "cpu", *more).stderr.decode()
            self.assertEqual(told.count("'?'"), 1, told)
            self.assertEqual([note["kind"] for note in manifest(self.run_folder)["notes"]], ["alphabet"])

    def test_numbers_follow_a_target(self):
        target = self.table(">protein/1-26\nGGG" + TARGET[:10] + "G" + TARGET[10:] + "GG\n", "protein.fasta")
        self.call(self.family, "-o", self.run_folder, "--target", target)
        numbers = [int(row["pos"]) for row in read_table(self.run_folder / "positions.tsv")]
        self.assertEqual(numbers, [*range(4, 14), *range(15, 25)])

    def test_sequences_are_taken_or_aligned(self):
        aligned = self.table(f">a\n{TARGET}\n>b\nA{TARGET[1:]}\n", "aligned.fasta")
        loose = self.table(f">a\nGG{TARGET}GG\n>b\n{TARGET[:3]}\n", "loose.fasta")
        self.call(self.family, "-o", self.run_folder, "--sequences", aligned)
        rows = read_table(self.run_folder / "sequences.tsv")
        self.assertEqual((rows[0]["prediction_epistatic"], rows[0]["gaps"]), ("0.00000", "0"))
        singles = {one["mutant"]: one for one in read_table(self.run_folder / "singles.tsv")}
        self.assertAlmostEqual(float(rows[1]["prediction_epistatic"]),
                               float(singles["M11A"]["prediction_epistatic"]), delta=2e-5)
        fit = self.run_folder / "couplings"
        self.assert_refused(pleat("mutants", fit, "-o", self.folder / "no", "--sequences", loose), 3,
                            "expected rows of 20 columns like the family, found 24 in 'a'; --align")
        self.call(fit, "-o", self.folder / "aligned", "--sequences", loose, "--align")
        rows = read_table(self.folder / "aligned/sequences.tsv")
        self.assertEqual((rows[0]["prediction_epistatic"], rows[0]["inserted"]), ("0.00000", "4"))
        self.assertEqual((rows[1]["energy"], rows[1]["problem"]), ("NA", "low coverage"))

    def test_refuses_in_a_line(self):
        self.call(self.family, "-o", self.run_folder)
        fit = self.run_folder / "couplings"
        model = self.plmc_model().read_bytes()
        cut, other = self.folder / "cut.plmc", self.folder / "other.plmc"
        cut.write_bytes(model[:-100])
        head = 40
        other.write_bytes(model[:head] + b"B" + model[head + 1:])
        columns, letters = struct.unpack("<2i", model[:8])
        self.assertEqual((columns, letters), (20, 21))
        cases = [(3, "expected the wild-type letters of 'target/11-30', found other letters in 2 of 2", fit, "--mutants",
                  self.table("mutant\nK11A\nV12A\n", "shifted.csv")),
                 (3, "no shift of the numbers fits;", fit, "--mutants",
                  self.table("mutant\nW11A\nM12A\nW13A\nW14A\n", "other_protein.csv")),
                 (3, "numbers shifted by +1 would agree in 2 of 2 (--first-number 10)", fit, "--mutants",
                  self.folder / "shifted.csv"),
                 (3, "expected a column 'mutant' or 'mutated_sequence', found 'a,b'", fit, "--mutants",
                  self.table("a,b\n1,2\n", "none.csv")),
                 (3, "found 'x' twice", fit, "--mutants", self.table("mutant,x,x\nM11A,1,2\n", "twice.csv")),
                 (3, "found an empty line", fit, "--mutants", self.table("\n", "empty.csv")),
                 (3, "of float32", cut), (3, "expected the letters of proteins, RNA or DNA", other),
                 (3, "found nothing of that name", self.folder / "absent.a3m"),
                 (3, "found no couplings.npz", self.folder),
                 (2, "give --sequences with --align", fit, "--align"),
                 (2, "give --structure with --accessibility", fit, "--accessibility", "all"),
                 (2, "--structure -: give a file", fit, "--structure", "-"),
                 (3, "found nothing of that name", fit, "--structure", self.folder / "absent.pdb"),
                 (2, "--lambda-pair is for an alignment", fit, "--lambda-pair", "0.1"),
                 (2, "--row is for an alignment", fit, "--row", "row1"),
                 (2, "--no-apc is for an alignment", fit, "--no-apc"),
                 (2, "is a table of mutants: expected one input, as it belongs to one, found 2", fit, self.family, "--list",
                  self.table("mutant,y\nM11A,1\n", "table.csv")),
                 (2, "give --doubles as ranges", fit, "--doubles", "x"),
                 (2, "'-': give a file", "-")]
        for code, text, *arguments in cases:
            with self.subTest(text):
                self.assert_refused(pleat("mutants", *arguments, "-o", self.folder / "refused"), code, text)
                self.assertFalse((self.folder / "refused").exists())

    def test_wrong_numbers_are_refused_before_the_fit(self):
        loose = self.table(f">a\nGG{TARGET}GG\n", "loose.fasta")
        for arguments, code, text in (
                (("--mutants", self.table("mutant\nK11A\nV12A\n")), 3, "numbers shifted by +1 would agree"),
                (("--sequences", loose), 3, "expected rows of 20 columns"),
                (("--doubles", "90-99"), 2, "give --doubles residues in the columns")):
            done = pleat("mutants", self.family, "-o", self.run_folder, "-d", "cpu", *arguments)
            self.assert_refused(done, code, text)
            self.assertFalse(list(self.run_folder.glob("couplings/*.npz")), text)
        self.call(self.family, "-o", self.run_folder)

    def test_force_does_not_replace_the_input(self):
        self.call(self.family, "-o", self.run_folder)
        fit = self.run_folder / "couplings"
        before = (fit / "couplings.npz").read_bytes()
        for output in (fit, self.run_folder):
            done = pleat("mutants", fit, "-o", output, "--force")
            self.assert_refused(done, 2, "--force would replace this input, a file of the run in")
        self.assertEqual((fit / "couplings.npz").read_bytes(), before)
        self.call(fit, "-o", self.folder / "other")

    def test_a_structure_adds_columns_and_changes_none(self):
        source = DATA / "trypsin.a2m.gz"
        trypsin = [source, "--max-gaps", "0.2", "--tolerance", "0.05", "--row", "1QL9_A.pdb"]
        self.call(*trypsin, "-o", self.run_folder)
        plain = read_table(self.run_folder / "singles.tsv")
        scan = self.table("mutant,score\n" + "".join(
            f"{row['mutant']},{row['prediction_independent']}\n" for row in plain[::7]))
        told = pleat("mutants", *trypsin, "-o", self.run_folder, "--force", "--mutants", scan, "--structure",
                     f"{DATA / '1ql9_A.pdb.gz'}:A", "-d", "cpu")
        self.assertEqual(told.returncode, 0, told.stderr.decode())
        self.assertIn("weighted: by burial and conservation", told.stdout.decode())
        singles = read_table(self.run_folder / "singles.tsv")
        for one, other in zip(plain, singles, strict=True):
            self.assertEqual(one.pop("prediction_weighted"), "NA")
            weighted = float(other.pop("prediction_weighted"))
            self.assertEqual(one, other)
            if float(one["prediction_epistatic"]) != 0:
                self.assertLessEqual(abs(weighted / float(one["prediction_epistatic"])), 2.26)
        positions = read_table(self.run_folder / "positions.tsv")
        for row in positions:
            weight = 1.25 - min(float(row["accessibility"]), 1) + float(row["column_conservation"])
            self.assertAlmostEqual(float(row["burial_weight"]), weight, delta=2e-4)
        facts = manifest(self.run_folder)["results"]
        self.assertEqual((facts["structure_chain"], facts["residues with accessibility"]), ("A", len(positions)))
        self.assertIn("spearman weighted score", facts)
        done = pleat("report", self.run_folder, "-o", self.folder / "page.html")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn("Structure 1ql9_A.pdb.gz, chain A", (self.folder / "page.html").read_text())
        for structure, text in (("1hel.pdb.gz", "expected a structure of the sequence, found identity 0."),
                                ("1ql9_A.pdb.gz:Q", "expected chain 'Q'"),
                                ("hivp.pdb.gz", "expected a structure of the sequence, found identity 0.18 over 11 of 99 residues between "
                                 "chain 'A' and row '1QL9_A.pdb', needed 0.30 over 30")):
            done = pleat("mutants", self.run_folder / "couplings", "-o", self.folder / "no", "--structure", DATA / structure)
            self.assert_refused(done, 3, text)

    def test_a_run_without_models_is_refused(self):
        self.fit(self.family, "-d", "cpu")
        self.assertFalse((self.run_folder / "couplings.npz").exists())
        self.assert_refused(pleat("mutants", self.run_folder, "-o", self.folder / "no"), 3,
                            "give the alignment, or 'pleat couplings' --models npz")

    def test_a_list_ends_with_a_table_of_correlations(self):
        self.call(self.family, "-o", self.run_folder)
        fit = self.run_folder / "couplings"
        scan = self.table("mutant,y\nM11A,1\nK12R,3\nV13A,2\nP30Y,0\n")
        shutil.copytree(fit, self.folder / "other")
        jobs = self.table(f"alignment\tmutants\n{fit}\t{scan}\n{self.folder / 'other'}\t\n", "jobs.tsv")
        told = pleat("mutants", "--list", jobs, "-o", self.folder / "jobs")
        self.assertEqual(told.returncode, 0, told.stderr.decode())
        lines = told.stdout.decode().splitlines()
        self.assertEqual(lines[-2].split(), ["rank", "correlation", "measure", "epistatic", "independent", "conservation",
                                             "weighted"])
        self.assertEqual((lines[-1].split()[:2], lines[-1].split()[-1]), (["couplings", "y"], "NA"))
        rows = read_table(self.folder / "jobs/jobs.tsv")
        self.assertEqual([row["measure"] for row in rows], ["y", "NA"])
        self.assertAlmostEqual(float(rows[0]["spearman_epistatic"]), float(lines[-1].split()[2]), delta=6e-4)

    def test_a_sweep_names_its_values_in_the_table(self):
        scan = self.table("mutant,y\nM11A,1\nK12R,3\nV13A,2\nP30Y,0\n")
        told = pleat("mutants", self.family, "--mutants", scan, "--sweep", "lambda-pair=0.1,0.2", "-d", "cpu", "-o",
                     self.folder / "swept")
        self.assertEqual(told.returncode, 0, told.stderr.decode())
        names = [line.split()[0] for line in told.stdout.decode().splitlines()[-2:]]
        self.assertEqual(names, [row["result"] for row in read_table(self.folder / "swept/jobs.tsv")])
        self.assertEqual(len(set(names)), 2)

    def test_lists_take_models_and_alignments(self):
        self.call(self.family, "-o", self.run_folder)
        shutil.copy(self.plmc_model(), self.folder / "model.plmc")
        scan = self.table("mutant,y\nM11A,1\n")
        jobs = self.table(f"alignment\tmutants\n{self.family}\t{scan}\n{self.folder / 'model.plmc'}\t\n", "jobs.tsv")
        self.call("--list", jobs, "-o", self.folder / "jobs")
        self.assertEqual((self.folder / "jobs/family/singles.tsv").read_bytes(),
                         (self.run_folder / "singles.tsv").read_bytes())
        self.assertTrue((self.folder / "jobs/family/listed.csv").exists())
        self.assertEqual([row["status"] for row in read_table(self.folder / "jobs/jobs.tsv")], ["done"] * 2)


if __name__ == "__main__":
    unittest.main()
