# With a structure: distances, residue names and precisions, recomputed from the files themselves.
import gzip
import json
import math
import unittest

from program import DATA, ProgramTest, manifest, pleat, read_table

STRUCTURE = DATA / "1ql9_A.pdb.gz"
RANGES = {"all": (6, 10**9), "short": (6, 11), "medium": (12, 23), "long": (24, 10**9)}
DEPTHS = {"L/10": 0.1, "L/5": 0.2, "L/2": 0.5, "L": 1, "2L": 2}


def trypsin_records(first, columns):
    """Some columns of the trypsins, as FASTA records of upper-case letters and gaps."""
    with gzip.open(DATA / "trypsin.a2m.gz", "rt", encoding="ascii") as file:
        records = file.read().split(">")[1:]
    lines = []
    for record in records:
        name, _, sequence = record.partition("\n")
        row = "".join(c for c in sequence if c.isupper() or c == "-")[first:first + columns]
        if row.strip("-"):
            lines.append(f">{name.split()[0]}\n{row}\n")
    return "".join(lines)


def beta_atoms():
    """{residue number with its insertion code: (name, place of CB, CA in glycine)}"""
    atoms = {}
    with gzip.open(STRUCTURE, "rt", encoding="ascii") as file:
        for line in file:
            if line.startswith("ATOM") and line[16] in " A":
                wanted = "CA" if line[17:20] == "GLY" else "CB"
                if line[12:16].strip() == wanted:
                    place = [float(line[k:k + 8]) for k in (30, 38, 46)]
                    atoms[line[22:27].strip()] = (line[17:20], place)
    return atoms


class Structure(ProgramTest):
    def setUp(self):
        super().setUp()
        family = self.folder / "trypsin.fasta"
        family.write_text(trypsin_records(200, 70), encoding="ascii")
        self.run_folder = self.fit(family, "--structure", STRUCTURE)
        self.table = read_table(self.run_folder / "contacts.tsv")
        self.family = family

    def test_distances_and_names_are_those_of_the_file(self):
        atoms = beta_atoms()
        known = 0
        for row in self.table:
            ends = (row["number_i"], row["number_j"])
            if "NA" in ends:
                self.assertEqual(row["distance"], "NA")
                continue
            (name_i, place_i), (name_j, place_j) = (atoms[number] for number in ends)
            self.assertEqual((row["residue_i"], row["residue_j"]), (name_i, name_j))
            self.assertAlmostEqual(float(row["distance"]), math.dist(place_i, place_j), delta=0.006)
            known += 1
        self.assertGreater(known, 400)

    def test_precisions_follow_from_the_table(self):
        pairs = [row for row in self.table if row["distance"] != "NA"]
        mapped = {row[f"number_{end}"] for row in self.table for end in "ij"} - {"NA"}
        told = json.loads((self.run_folder / "evaluation.json").read_text(encoding="utf-8"))
        self.assertEqual((told["length"], told["pairs"]), (len(mapped), len(pairs)))
        self.assertEqual(told["contacts"], sum(float(row["distance"]) < 8 for row in pairs))
        self.assertEqual((told["chain"], told["atoms"], told["cutoff_angstrom"]), ("A", "cb", 8.0))
        self.assertEqual(told["identity"], 1.0)
        self.assertEqual(len(told["precision"]), 20)
        text = read_table(self.run_folder / "evaluation.tsv")
        for entry, row in zip(told["precision"], text):
            least, most = RANGES[entry["range"]]
            inside = [pair for pair in pairs
                      if least <= int(pair["j"]) - int(pair["i"]) <= most]
            top = inside[:max(1, int(len(mapped) * DEPTHS[entry["depth"]]))]
            correct = sum(float(pair["distance"]) < 8 for pair in top)
            self.assertEqual((entry["pairs"], entry["correct"]), (len(top), correct), entry)
            self.assertEqual((row["range"], row["depth"]), (entry["range"], entry["depth"]))
            self.assertAlmostEqual(float(row["precision"]), correct / len(top), places=6)

    def test_warns_of_a_structure_of_another_family(self):
        family = self.folder / "other.fasta"  # three letters of five are S
        rows = self.family.read_text(encoding="ascii").splitlines()[:6]
        family.write_text("".join(line + "\n" if line[0] == ">" else "".join(
            "S" if n % 5 > 1 and one != "-" else one for n, one in enumerate(line)) + "\n" for line in rows), encoding="ascii")
        for command in (("couplings",), ("mi", "--null", "none")):
            for path, is_doubtful in ((family, True), (self.family, False)):
                done = pleat(command[0], path, *command[1:], "--structure", f"{STRUCTURE}:A", "--force",
                             "-o", self.folder / "doubted")
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                told = f"{STRUCTURE}:A: chain A has an identity of only 0."
                self.assertEqual(told in done.stderr.decode(), is_doubtful, done.stderr.decode())

    def test_notes_copies_of_the_chain_that_are_not_used(self):
        atoms = [line for line in gzip.open(STRUCTURE, "rt", encoding="ascii") if line.startswith("ATOM")]
        shorter = [line for line in atoms if int(line[22:26]) > 30]  # a copy that lacks residues
        path = self.folder / "copies.pdb"
        path.write_text("".join(line[:21] + name + line[22:] for name, lines in
                                (("A", atoms), ("B", shorter), ("C", atoms)) for line in lines) + "END\n")
        for command in ("couplings", "mi"):
            for choice, copies in (("", ["B, C"]), (":B", [])):
                with self.subTest(command + choice):
                    run = self.folder / f"{command}{choice[1:]}"
                    done = pleat(command, self.family, "--structure", f"{path}{choice}", "-q", "-o", run)
                    self.assertEqual(done.returncode, 0, done.stderr.decode())
                    told = manifest(run)
                    self.assertEqual(told["results"]["chain"], choice[1:] or "A")
                    notes = [note for note in told["notes"] if note.get("option") == "--structure FILE:CHAIN"]
                    self.assertEqual([note["kind"] for note in notes], ["several"] * len(copies))
                    self.assertEqual([note["text"].rpartition(": ")[2] for note in notes], copies)

    def test_other_atoms_and_rows(self):
        heavy = self.fit(self.family, "--structure", f"{STRUCTURE}:A", "--contact", "heavy",
                         "--contact-cutoff", "4.5", "--row", "1QL9_A.pdb", run="heavy")
        told = json.loads((heavy / "evaluation.json").read_text(encoding="utf-8"))
        self.assertEqual((told["atoms"], told["cutoff_angstrom"]), ("heavy", 4.5))
        self.assertEqual("1QL9_A.pdb", told["row"])
        nearer = {(row["i"], row["j"]): row["distance"] for row in read_table(heavy / "contacts.tsv")}
        for row in self.table:
            if row["distance"] != "NA":
                self.assertLessEqual(float(nearer[row["i"], row["j"]]), float(row["distance"]) + 0.01)
        self.assertEqual(len(manifest(heavy)["inputs"]), 2)
        self.assertEqual(manifest(heavy)["parameters"]["contact-cutoff"], 4.5)

    @staticmethod
    def listed(row, sides):
        """What a list on the screen must show of a row of its table: residues, then columns."""
        residues = [f"{row[f'residue_{side}']} {row[f'number_{side}']}" for side in sides]
        letters = ["gap" if row[f"letter_{side}"] in "-." else row[f"letter_{side}"] for side in sides]
        columns = [f"{row[side]} ({letter})" for side, letter in zip(sides, letters)]
        return " ".join([row["rank"], *("none" if "NA" in one else one for one in residues), *columns])

    def test_the_screen_names_residues_and_then_columns(self):
        for command, name, more in (("couplings", "contacts.tsv", []),
                                    ("mi", "pairs.tsv", ["--null", "none"]),
                                    ("mi", "triples.tsv", ["--null", "none", "--order", "3", "--rank-by", "synergy"])):
            sides = "ijk" if name == "triples.tsv" else "ij"
            # Rows of another member: gaps in its row, and residues that the structure lacks.
            for reference in ((), ("--structure", STRUCTURE)):
                run = self.folder / f"screen-{command}-{len(more)}-{len(reference)}"
                done = pleat(command, self.family, *reference, "-o", run, *more)
                self.assertEqual(done.returncode, 0, done.stderr)
                lines = [" ".join(line.split()) for line in done.stdout.decode().splitlines()]
                for row in read_table(run / name)[:10]:
                    if not reference:
                        row.update({f"residue_{side}": "" for side in sides} | {f"number_{side}": "" for side in sides})
                    wanted = " ".join(self.listed(row, sides).split())
                    self.assertEqual(sum(line.startswith(wanted + " ") for line in lines), 1, (wanted, lines))

    def test_a_gap_is_no_part_of_a_number(self):
        rows = ["A-CDEFGHIK", "ARCDEFGHIK", "GRCDEWGHIK", "GKCDEWGHLK"] * 10
        done = pleat("mi", self.write_alignment(rows), "-o", self.folder / "gaps", "--null", "none")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 (gap)", done.stdout.decode())
        self.assertNotIn(" -2 ", done.stdout.decode())


if __name__ == "__main__":
    unittest.main()
