# Parts of an alignment and nucleic acids: tables of the program, its manifest, and what it refuses.
import gzip
import math
import unittest

from program import DATA, ProgramTest, manifest, pleat, read_npz, read_table, small_rows


class Parts(ProgramTest):
    def setUp(self):
        super().setUp()
        self.family = self.folder / "family.aln"
        self.family.write_text("\n".join(small_rows(120, columns=30)) + "\n", encoding="ascii")

    def test_one_part_gives_the_same_files(self):
        plain = self.fit(self.family)
        one = self.fit(self.family, "--parts", "30", run="one")
        for name in ("contacts.tsv", "contacts.rr", "scores.npz", "scores.mat", "weights.npy"):
            self.assertEqual((plain / name).read_bytes(), (one / name).read_bytes(), name)
        self.assertFalse((one / "contacts_inter.tsv").exists())

    def test_two_parts(self):
        run = self.fit(self.family, "--parts", "first:1-12,B:13-30", "--shuffle-parts", "2")
        inter = read_table(run / "contacts_inter.tsv")
        self.assertEqual(len(inter), 12 * 18)
        self.assertEqual(manifest(run)["results"]["parts"], 2)
        shape, raw = read_npz(run / "scores.npz")["raw"]
        raw = [raw[k * shape[1]:(k + 1) * shape[1]] for k in range(shape[0])]
        rows, columns = range(12), range(12, 30)
        mean = sum(raw[k][m] for k in rows for m in columns) / (12 * 18)
        before = math.inf
        for row in inter:
            i, j = int(row["i"]) - 1, int(row["j"]) - 1
            self.assertEqual((row["part_i"], row["position_i"]), ("first", str(i + 1)))
            self.assertEqual((row["part_j"], row["position_j"]), ("B", str(j - 11)))
            block = raw[i][j] - sum(raw[i][k] for k in columns) / 18 * sum(raw[k][j] for k in rows) / 12 / mean
            self.assertAlmostEqual(float(row["block_corrected"]), block, places=8)
            self.assertLessEqual(block, before + 1e-8)
            before = block
            self.assertEqual(row["probability"], "NA")
            self.assertTrue(0 < float(row["fdr"]) <= 1)
        rates = [float(row["fdr"]) for row in inter]
        self.assertEqual(rates, sorted(rates))
        listed = read_table(run / "contacts.tsv")
        between = [row for row in listed if row["part_i"] != row["part_j"]]
        self.assertEqual(len(between), 12 * 18)
        self.assertEqual({row["probability"] for row in between}, {"NA"})
        self.assertNotIn("NA", {row["probability"] for row in listed if row["part_i"] == row["part_j"]})
        done = pleat("report", run, "-o", self.folder / "page.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Pairs between parts", (self.folder / "page.html").read_text(encoding="utf-8"))

    def test_a_structure_with_a_chain_for_each_part(self):
        family, options = DATA / "trypsin.a2m.gz", ("--max-gaps", "0.02", "--tolerance", "0.1")
        with gzip.open(family, "rt", encoding="ascii") as file:
            name, *rows = file.read().split(">")[1].split("\n")
        width = sum(letter.isupper() or letter == "-" for letter in "".join(rows))
        whole = self.fit(family, *options, "--row", name, "--structure", f"{DATA / '1ql9_A.pdb.gz'}:A", run="whole")
        known = {(row["i"], row["j"]): row for row in read_table(whole / "contacts.tsv")}
        numbers = {int(row[end]): row["number_" + end] for row in known.values() for end in "ij" if row["number_" + end] != "NA"}
        border = sorted(numbers)[len(numbers) // 2]  # the first column of the second part
        split = self.folder / "split.pdb"
        with gzip.open(DATA / "1ql9_A.pdb.gz", "rt", encoding="ascii") as file:
            lines = [line for line in file if line.startswith("ATOM")]
        first = next(n for n, line in enumerate(lines) if line[22:27].strip() == numbers[border])
        split.write_text("".join(line[:21] + ("A" if n < first else "B") + line[22:] for n, line in enumerate(lines)) + "END\n",
                         encoding="ascii")
        run = self.fit(family, *options, "--row", name, "--parts", f"{border - 1},{width - border + 1}", "--structure",
                       f"{split}:A,B", run="parts")
        inter = read_table(run / "contacts_inter.tsv")
        compared = 0
        for row in inter:
            one = known.get((row["i"], row["j"]))
            if one is None:
                continue  # nearer in the source than contacts.tsv of one part lists
            for column in ("residue_i", "number_i", "residue_j", "number_j", "distance"):
                self.assertEqual(row[column], one[column], (row["i"], row["j"], column))
            compared += row["distance"] != "NA"
        self.assertGreater(compared, 1000)
        ranges = {row["range"]: row for row in read_table(run / "evaluation.tsv") if row["depth"] == "L/2"}
        best = [float(row["distance"]) < 8 for row in inter if row["distance"] != "NA"][:int(ranges["inter"]["pairs"])]
        self.assertEqual(int(ranges["inter"]["correct"]), sum(best))
        done = pleat("couplings", family, *options, "--parts", f"{border - 1},{width - border + 1}", "--structure",
                     f"{split}:A,C", "-o", self.folder / "refused")
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_refusals(self):
        for arguments, code, text in (
                (("--parts", "12,17"), 3, "expected --parts of 30 columns in all, found 12 + 17 = 29"),
                (("--parts", "12;18"), 2, "--parts: expected lengths"),
                (("--shuffle-parts", "2"), 2, "--shuffle-parts needs two parts or more"),
                (("--parts", "12,18", "--structure", f"{DATA / '1ql9_A.pdb.gz'}:A"), 2, "a chain for each of 2 parts"),
                (("--secondary", str(self.family)), 2, "--secondary is for nucleic acids"),
                (("--secondary", "absent.db"), 3, "absent.db")):
            done = pleat("couplings", self.family, "-o", self.folder / "refused", *arguments)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr.decode())
            self.assertFalse((self.folder / "refused").exists())


class NucleicAcids(ProgramTest):
    def setUp(self):
        super().setUp()
        self.family = self.folder / "rna.fasta"
        partner = {"A": "U", "C": "G", "G": "C", "U": "A"}
        rows = []
        for n in range(60):
            stem = "".join("ACGU"[(n * n * (k + 3) + n * k + n // 4) % 4] for k in range(6))
            loop = "".join("ACGU"[(n * (k + 1) + k * k) % 4] for k in range(8))
            rows.append(f">{n}\n{stem}{loop}{''.join(partner[c] for c in reversed(stem))}\n")
        self.family.write_text("".join(rows), encoding="ascii")

    def test_defaults_and_classes(self):
        marks = self.folder / "structure.db"
        marks.write_text(">hairpin\n((((((........))))))\n", encoding="ascii")
        run = self.fit(self.family, "--secondary", marks)
        told = manifest(run)
        self.assertEqual((told["results"]["norm_letters"], told["results"]["weights_identity"]), ("all", 0.9))
        self.assertEqual(told["results"]["base_pairs"], 6)
        self.assertEqual(len(told["inputs"]), 2)
        table = read_table(run / "contacts.tsv")
        helix = {(int(row["i"]), int(row["j"])) for row in table if row["class"] == "helix"}
        self.assertEqual(helix, {(k, 21 - k) for k in range(1, 7)})
        self.assertEqual({row["class"] for row in table}, {"helix", "beside", "tertiary"})
        self.assertTrue(all(float(row["probability"]) <= 0.8 for row in table if row["class"] == "tertiary"))
        found = self.fit(self.family, run="found")
        self.assertNotIn("tertiary", {row["class"] for row in read_table(found / "contacts.tsv")})
        own = self.fit(self.family, "--norm", "residues", "--identity", "0.8", run="own")
        self.assertEqual(manifest(own)["results"]["norm_letters"], "residues")
        self.assertEqual({row["probability"] for row in read_table(own / "contacts.tsv")}, {"NA"})

    def test_another_number_of_marks_is_refused(self):
        marks = self.folder / "structure.db"
        marks.write_text("((...))\n", encoding="ascii")
        done = pleat("couplings", self.family, "-o", self.folder / "refused", "--secondary", marks)
        self.assertEqual(done.returncode, 3)
        self.assertIn("expected 20 marks (columns) or 20 (residues of row '0'), found 7", done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
