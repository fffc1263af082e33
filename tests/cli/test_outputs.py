# The files of a run against one another and against plain recomputation from the alignment.
import math
import struct
import unittest

from program import ProgramTest, manifest, matrix, parse_npy, pleat, read_npz, read_table, small_rows

LETTERS = "ARNDCQEGHILKMFPSTWYV-"
GAP = 20


def weights_of(rows, threshold=0.8):
    """1 / number of rows, itself included, that share more than ceil(t L) columns (couplings.md)."""
    least = math.ceil(threshold * len(rows[0]) - 1e-9)
    return [1 / sum(one is other or sum(map(str.__eq__, one, other)) > least for other in rows)
            for one in rows]


def objective_of(codes, weights, fields, pairs):
    """f at the model as a plain double loop over sequences, columns and letters."""
    length = len(codes[0])
    index = {pair: k for k, pair in enumerate(
        (i, j) for i in range(length) for j in range(i + 1, length))}

    def block(i, j, a, b):
        return pairs[index[i, j]][a][b] if i < j else pairs[index[j, i]][b][a]
    total = 0.01 * sum(value * value for field in fields for value in field)
    total += 0.2 * (length - 1) * sum(v * v for pair in pairs for row in pair for v in row)
    for code, weight in zip(codes, weights):
        for i in range(length):
            h = [fields[i][a] + sum(block(i, j, a, code[j]) for j in range(length) if j != i)
                 for a in range(21)]
            most = max(h)
            total += weight * (most + math.log(sum(math.exp(x - most) for x in h)) - h[code[i]])
    return total


class Outputs(ProgramTest):
    def setUp(self):
        super().setUp()
        self.rows = small_rows(60, 10, 18)
        self.codes = [[LETTERS.index(letter) if letter in LETTERS else GAP for letter in row]
                      for row in self.rows]
        self.run_folder = self.fit(self.write_alignment(self.rows), "-t", "1",
                                   "--tolerance", "1e-6", "--models", "npz,plmc")
        scores = read_npz(self.run_folder / "scores.npz")
        self.raw, self.corrected = matrix(*scores["raw"]), matrix(*scores["corrected"])
        self.table = read_table(self.run_folder / "contacts.tsv")
        self.model = read_npz(self.run_folder / "couplings.npz")
        self.length = 18

    def blocks(self):
        _, values = self.model["pairs"]
        return [matrix((21, 21), values[k * 441:(k + 1) * 441]) for k in range(len(values) // 441)]

    def test_manifest_lists_the_files(self):
        told = manifest(self.run_folder)
        self.assertEqual(told["status"], "finished")
        sizes = {one["file"]: one["bytes"] for one in told["outputs"]}
        there = {path.name: path.stat().st_size for path in self.run_folder.iterdir()}
        self.assertEqual(set(there) - set(sizes), {"manifest.json", "log.txt", "cite.bib"})
        self.assertEqual({name: there[name] for name in sizes}, sizes)
        self.assertEqual(set(sizes), {"scores.npz", "scores.mat", "contacts.tsv", "contacts.rr",
                                      "weights.npy", "couplings.npz", "model.plmc"})
        self.assertLessEqual(told["results"]["relative_gap"], 1e-6)

    def test_weights_and_objective_are_what_the_formulas_say(self):
        _, weights = parse_npy((self.run_folder / "weights.npy").read_bytes())
        self.assertEqual(list(weights), weights_of(self.rows))
        told = manifest(self.run_folder)["results"]
        self.assertAlmostEqual(told["effective_sequences"], sum(weights), places=9)
        self.assertEqual(self.model["fields"][0], (self.length, 21))
        f = objective_of(self.codes, weights, matrix(*self.model["fields"]), self.blocks())
        self.assertLess(abs(f - told["objective"]) / f, 1e-6)

    def test_scores_follow_from_the_couplings(self):
        pair = iter(self.blocks())
        for i in range(self.length):
            self.assertEqual(self.raw[i][i], 0)
            for j in range(i + 1, self.length):
                block = next(pair)
                mean = sum(map(sum, block)) / 441
                norm = math.sqrt(sum((v - mean) ** 2 for row in block[:GAP] for v in row[:GAP]))
                self.assertAlmostEqual(self.raw[i][j], norm, delta=1e-5 * norm)
                self.assertEqual(self.raw[i][j], self.raw[j][i])

    def test_correction_is_the_average_product(self):
        means = [sum(row) / self.length for row in self.raw]
        mean = sum(means) / self.length
        apc = {(i, j): self.raw[i][j] - means[i] * means[j] / mean
               for i in range(self.length) for j in range(self.length) if i != j}
        least = min(apc.values())
        for (i, j), value in apc.items():
            self.assertAlmostEqual(self.corrected[i][j], value - least, places=12)

    def test_score_matrix_has_the_familiar_layout(self):
        lines = (self.run_folder / "scores.mat").read_text(encoding="ascii").split("\n")
        self.assertEqual(len(lines), self.length + 1)
        self.assertEqual(lines.pop(), "")
        for line, row in zip(lines, self.corrected):
            cells = line.split("\t")
            self.assertEqual(cells.pop(), "")
            self.assertEqual(cells, [f"{value:.20e}" for value in row])

    def test_contact_table_ranks_all_pairs_apart(self):
        pairs = [(int(row["i"]) - 1, int(row["j"]) - 1) for row in self.table]
        expected = [(i, j) for i in range(self.length) for j in range(i + 6, self.length)]
        self.assertEqual(sorted(pairs), expected)
        self.assertEqual([int(row["rank"]) for row in self.table],
                         list(range(1, len(pairs) + 1)))
        scores = [self.corrected[i][j] for i, j in pairs]
        self.assertEqual(scores, sorted(scores, reverse=True))
        mean = sum(scores) / len(scores)
        deviation = math.sqrt(sum((s - mean) ** 2 for s in scores) / (len(scores) - 1))
        for row, (i, j), score in zip(self.table, pairs, scores):
            self.assertAlmostEqual(float(row["corrected"]), score, delta=1e-8)
            self.assertAlmostEqual(float(row["raw"]), self.raw[i][j], delta=1e-8)
            self.assertAlmostEqual(float(row["z"]), (score - mean) / deviation, delta=1e-4)
            self.assertEqual((row["letter_i"], row["letter_j"]), (self.rows[0][i], self.rows[0][j]))
        chances = [float(row["probability"]) for row in self.table]
        self.assertEqual(chances, sorted(chances, reverse=True))
        self.assertTrue(all(0 <= chance <= 1 for chance in chances))

    def test_casp_file_keeps_the_rules(self):
        lines = (self.run_folder / "contacts.rr").read_text(encoding="ascii").splitlines()
        self.assertEqual(lines[0], "PFRMAT RR")
        self.assertTrue(lines[1].startswith("TARGET ") and len(lines[1].split()) == 2)
        self.assertEqual(lines[-1], "END")
        body = lines[lines.index("MODEL 1") + 1:-1]
        sequence = "".join(line for line in body if line.isalpha())
        self.assertTrue(all(len(line) <= 50 for line in body))
        self.assertEqual(sequence, self.rows[0].replace("-", ""))
        contacts = [line.split(" ") for line in body if not line.isalpha()]
        number = {}
        for column, letter in enumerate(self.rows[0]):
            if letter != "-":
                number[column + 1] = len(number) + 1
        expected = [[str(number[int(row["i"])]), str(number[int(row["j"])]), "0", "8",
                     row["probability"]] for row in self.table
                    if int(row["i"]) in number and int(row["j"]) in number]
        self.assertEqual(contacts, expected)

    def test_plmc_file_holds_the_same_model(self):
        data = (self.run_folder / "model.plmc").read_bytes()
        length, q, count, left_out, _ = struct.unpack_from("<5i", data)
        self.assertEqual((length, q, count, left_out), (self.length, 21, 60, 0))
        letters = data[40:40 + q].decode()
        self.assertEqual(letters, "-" + "".join(sorted(LETTERS[:GAP])))
        at = 40 + q + 4 * count
        self.assertEqual(data[at:at + length].decode(), self.rows[0])
        at += length + 4 * length + 4 * length * q
        fields = struct.unpack_from(f"<{length * q}f", data, at)
        at += 4 * length * q
        frequencies = struct.unpack_from(f"<{length * (length - 1) // 2 * q * q}f", data, at)
        at += 4 * len(frequencies)
        pairs = struct.unpack_from(f"<{len(frequencies)}f", data, at)
        self.assertEqual(at + 4 * len(pairs), len(data))
        order = [LETTERS.index(letter) for letter in letters]
        own = matrix(*self.model["fields"])
        self.assertEqual(fields, tuple(own[i][a] for i in range(length) for a in order))
        self.assertEqual(pairs, tuple(block[a][b] for block in self.blocks()
                                      for a in order for b in order))
        for start in range(0, len(frequencies), q * q):
            self.assertAlmostEqual(sum(frequencies[start:start + q * q]), 1, places=5)


class CaspNumbers(ProgramTest):
    def contacts(self, run):
        """The target's sequence and the pairs of numbers, in the file's order."""
        lines = (run / "contacts.rr").read_text(encoding="ascii").splitlines()
        body = lines[lines.index("MODEL 1") + 1:-1]
        return ("".join(line for line in body if line.isalpha()),
                [tuple(map(int, line.split(" ")[:2])) for line in body if not line.isalpha()])

    def fit_records(self, rows, name):
        path = self.folder / name
        path.write_text("".join(f">s{n}\n{row}\n" for n, row in enumerate(rows)), encoding="ascii")
        return self.fit(path, run=name + ".run")

    def test_numbers_count_the_residues_that_are_inserted_into_the_target(self):
        rows = small_rows(300, 0, 40)
        self.assertNotIn("-", rows[0])
        plain_sequence, plain = self.contacts(self.fit_records(rows, "plain.fasta"))
        inserted = ["gg" + rows[0][:10] + "acdef" + rows[0][10:] + "k", *rows[1:]]
        padded = [row[:10] + "....." + row[10:] for row in rows]
        padded[0] = rows[0][:10] + "acdef" + rows[0][10:]
        for name, family, before in (("a.a3m", inserted, 2), ("b.a2m", padded, 0)):
            sequence, pairs = self.contacts(self.fit_records(family, name))
            self.assertEqual(sequence, family[0].upper())
            moved = [tuple(k + before + (5 if k > 10 else 0) for k in pair) for pair in plain]
            self.assertEqual(pairs, moved)
        self.assertEqual(plain_sequence, rows[0])

    def test_a_residue_without_a_name_counts(self):
        rows = small_rows(300, 0, 40)
        rows[0] = rows[0][:7] + "X" + rows[0][8:]
        sequence, pairs = self.contacts(self.fit_records(rows, "unknown.fasta"))
        self.assertEqual(sequence, rows[0])
        self.assertEqual({k for pair in pairs for k in pair}, set(range(1, 41)))


class Columns(ProgramTest):
    def test_kept_columns_keep_their_places(self):
        rows = small_rows(60, 0, 40)
        run = self.fit(self.write_alignment(rows), "--max-gaps", "0.1",
                       "--min-separation", "9", "--row", "sequence 3")
        kept = [i for i in range(40) if sum(row[i] == "-" for row in rows) <= 0.1 * len(rows)]
        self.assertLess(len(kept), 40)
        self.assertFalse((run / "couplings.npz").exists())
        scores = read_npz(run / "scores.npz")
        self.assertEqual(list(scores["columns"][1]), kept)
        self.assertEqual(scores["raw"][0], (len(kept), len(kept)))
        table = read_table(run / "contacts.tsv")
        expected = [(i + 1, j + 1) for i in kept for j in kept if j - i >= 9]
        self.assertEqual(sorted((int(row["i"]), int(row["j"])) for row in table), expected)
        for row in table:
            self.assertEqual(row["letter_i"], rows[2][int(row["i"]) - 1])
        best = max((scores["corrected"][1][a * len(kept) + b], i + 1, j + 1)
                   for a, i in enumerate(kept) for b, j in enumerate(kept) if j - i >= 9)
        self.assertEqual((int(table[0]["i"]), int(table[0]["j"])), best[1:])

    def test_few_sequences_are_warned_of_or_have_no_probability(self):
        few = pleat("couplings", self.write_alignment(small_rows(60, 0, 30)), "-o",
                    self.folder / "few")
        self.assertIn(b"effective sequences: probabilities are too high", few.stderr)
        same = self.write_alignment(["ACDEFGHIKLMN"] * 20, "same.aln")
        for rows, effective in ((same, "1.0"), (self.write_alignment(
                ["ACDEFGHIKLMN", "WYVTSRQPNMLK"], "two.aln"), "2.0")):
            run = self.folder / rows.stem
            done = pleat("couplings", rows, "-o", run)
            self.assertIn(f"only {effective} effective sequences".encode(), done.stderr)
            self.assertEqual({row["probability"] for row in read_table(run / "contacts.tsv")}, {"NA"})
            self.assertFalse((run / "contacts.rr").exists())

    def test_columns_and_sequences_of_gaps_are_told(self):
        rows = [row + "-" for row in small_rows(40, 0, 20)] + ["-" * 21]
        done = pleat("couplings", self.write_alignment(rows), "-o", self.folder / "run")
        self.assertIn(b"1 column and 1 sequence hold only gaps", done.stderr)

    def test_no_pair_far_enough_apart_is_said_in_words(self):
        done = pleat("couplings", self.write_alignment(small_rows(40, 0, 12)), "-o",
                     self.folder / "run", "--min-separation", "12")
        self.assertIn(b"No contacts: no two columns are --min-separation apart", done.stdout)
        self.assertNotIn(b"The 0", done.stdout)

    def test_no_apc_and_no_weights(self):
        run = self.fit(self.write_alignment(small_rows(60, 0, 20)), "-A", "--no-sequence-weights")
        scores = read_npz(run / "scores.npz")
        self.assertEqual(scores["raw"], scores["corrected"])
        self.assertEqual(set(parse_npy((run / "weights.npy").read_bytes())[1]), {1.0})
        self.assertNotIn("Dunn2008", (run / "cite.bib").read_text(encoding="utf-8"))

    def test_nucleic_acids(self):
        rows = ["ACGUACGUACGU", "ACGUACGAACGU", "CCGUAC-UAGGU", "ACGAACGUUCGU", "GCGUACGUACGC"]
        run = self.fit(self.write_alignment(rows), "--models", "npz")
        self.assertEqual(manifest(run)["results"]["alphabet"], "rna")
        self.assertFalse((run / "contacts.rr").exists())
        for row in read_table(run / "contacts.tsv"):
            self.assertTrue(0 < float(row["probability"]) < 1, row)
            self.assertIn(row["class"], ("helix", "beside", "tertiary", "NA"))
        self.assertEqual(read_npz(run / "couplings.npz")["pairs"][0], (66, 5, 5))
        # Scores without the gap have no probabilities.
        run = self.fit(self.write_alignment(rows), "--norm", "residues", "--force")
        self.assertEqual({row["probability"] for row in read_table(run / "contacts.tsv")}, {"NA"})


if __name__ == "__main__":
    unittest.main()
