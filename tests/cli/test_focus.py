# --focus: the columns of one row, its numbers in tables, arrays, models and effects.
import unittest

from program import ProgramTest, manifest, pleat, read_npz, read_table, small_rows

# Residue 3 of the row is an insertion, residue 7 of its sequence follows a gap.
ROW = "MKvLAW-GQRT"


class Focus(ProgramTest):
    def setUp(self):
        super().setUp()
        self.family = self.folder / "family.a3m"
        rows = small_rows(60, 4, 10)
        rows[3] = ROW
        names = [f"row{n}" for n in range(60)]
        names[3] = "target/21-30"
        self.family.write_text("".join(f">{name}\n{row}\n" for name, row in zip(names, rows)))

    def test_couplings_keep_and_number_the_residues_of_a_row(self):
        run = self.fit(self.family, "--focus", "target", "--min-separation", 1, "-d", "cpu")
        numbers = (21, 22, 24, 25, 26, 27, 28, 29, 30)  # 23 is the insertion
        table = read_table(run / "contacts.tsv")
        self.assertEqual(sorted({int(row[end]) for row in table for end in "ij"}), list(numbers))
        letters = {int(row[end]): row[f"letter_{end}"] for row in table for end in "ij"}
        self.assertEqual("".join(letters[number] for number in numbers), "MKLAWGQRT")
        self.assertEqual(read_npz(run / "scores.npz")["columns"][1], tuple(number - 1 for number in numbers))
        self.assertEqual(manifest(run)["results"]["columns"], 9)
        self.assertEqual(manifest(run)["results"]["reference_row"], "target/21-30")
        # The same columns without the option: the same scores by columns of the file.
        plain = self.fit(self.family, "--row", "target", "--min-separation", 1, "-d", "cpu", run="plain")
        self.assertEqual(manifest(plain)["results"]["columns"], 10)
        self.assertEqual(read_table(plain / "contacts.tsv")[0].keys(), table[0].keys())

    def test_mi_numbers_them_as_well(self):
        run = self.folder / "mi"
        done = pleat("mi", self.family, "--focus", "target/21-30", "-o", run, "-q", "-d", "cpu")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        found = sorted({int(row[end]) for row in read_table(run / "pairs.tsv") for end in "ij"})
        self.assertEqual(found, [21, 22, 24, 25, 26, 27, 28, 29, 30])
        self.assertEqual(read_npz(run / "pairs.npz")["columns"][1], (20, 21, 23, 24, 25, 26, 27, 28, 29))

    def test_mutants_have_the_numbers_in_the_run_and_in_its_model(self):
        run = self.folder / "run"
        done = pleat("mutants", self.family, "--focus", "target", "-o", run, "-q", "-d", "cpu")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        numbers = [int(row["pos"]) for row in read_table(run / "positions.tsv")]
        self.assertEqual(numbers, [21, 22, 24, 25, 26, 27, 28, 29, 30])
        done = pleat("couplings", self.family, "--focus", "target", "--models", "plmc", "-o", self.folder / "fit", "-q",
                     "-d", "cpu")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        done = pleat("mutants", self.folder / "fit/model.plmc", "-o", self.folder / "plmc", "-q")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual([int(row["pos"]) for row in read_table(self.folder / "plmc/positions.tsv")], numbers)

    def test_the_screen_says_which_numbers_it_lists(self):
        calls = {"couplings": ("--min-separation", 1), "mi": ("--order", 3, "--min-entropy", 0)}
        for command, options in calls.items():
            for focus in ((), ("--focus", "target")):
                with self.subTest(f"{command} {focus}"):
                    done = pleat(command, self.family, *options, *focus, "-o", self.folder / f"{command}{len(focus)}",
                                 "-d", "cpu")
                    self.assertEqual(done.returncode, 0, done.stderr.decode())
                    text = " ".join(done.stdout.decode().split())
                    lists = 1 if command == "couplings" else 2
                    said = ["residues of target/21-30 by number", "number i number j"]
                    other = ["columns count from 1", "column i column j"]
                    for right, wrong in zip(*(said, other) if focus else (other, said)):
                        self.assertEqual((text.count(right), text.count(wrong)), (lists, 0), text)
        done = pleat("mutants", self.family, "--focus", "target", "-o", self.folder / "run", "-d", "cpu")
        self.assertIn(b"target/21-30: 9 residues, 21 to 30, in 9 columns", done.stdout)

    def test_doubts_numbers_of_a_row_that_lacks_residues(self):
        text = self.family.read_text().replace("target/21-30", "target/21-33")
        self.family.write_text(text + f">nothing\n{'-' * 10}\n")
        for command in ("couplings", "mi", "mutants"):
            with self.subTest(command):
                done = pleat(command, self.family, "--focus", "target", "-o", self.folder / command, "-d", "cpu")
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                self.assertIn(b"'target/21-33' has 10 residues, but its name counts 13: numbers after", done.stderr)
                self.assert_refused(pleat(command, self.family, "--focus", "nothing", "-o", self.folder / "no", "-d", "cpu"), 3,
                                    "expected residues in row 'nothing' of --focus, found gaps only")

    def test_refuses_a_row_that_is_absent_or_another(self):
        for command in ("couplings", "mi", "mutants"):
            for options, text in ((("--focus", "nobody"), "nobody"),
                                  (("--focus", "target", "--row", "row1"), "give either --row or --focus")):
                with self.subTest(command):
                    self.assert_refused(pleat(command, self.family, *options, "-o", self.folder / "no", "-d", "cpu"), 2,
                                        text)


if __name__ == "__main__":
    unittest.main()
