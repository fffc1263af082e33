# pleat saxs --data: what the summary says about fits that should not be trusted.
import gzip
import unittest

from program import DATA, ProgramTest, pleat, read_table

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

    def test_atoms_that_only_one_file_has_are_told_with_the_way_to_keep_them(self):
        text = gzip.decompress((DATA / "1hel.pdb.gz").read_bytes()).decode()
        whole, part = self.folder / "whole.pdb", self.folder / "part.pdb"
        whole.write_text(text)
        part.write_text("".join(line for line in text.splitlines(True)
                                if not line.startswith("ATOM") or int(line[22:26]) < 100))
        done = pleat("saxs", part, whole, "-o", self.folder / "fit", "-f")
        self.assertRegex(done.stderr, rb"left out \d+ atoms that are not in .*; --mixture takes each file with its own atoms")


if __name__ == "__main__":
    unittest.main()
