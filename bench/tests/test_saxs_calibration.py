# Tests of bench_saxs_calibration: tables that pleat saxs reads, structures left out and unseen, and refusals.
import csv
import gzip
import os
import pathlib
import subprocess
import tempfile
import unittest

CALIBRATION, PROGRAM = os.environ["PLEAT_SAXS_CALIBRATION"], os.environ.get("PLEAT_PROGRAM")
DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "data"


def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def pieces_of(protein, folder, residues=40):
    """Files with so many residues of a PDB file each."""
    atoms = [line for line in protein.read_text().splitlines(True) if line.startswith("ATOM")]
    names = list(dict.fromkeys(line[21:27] for line in atoms))
    paths = []
    for first in range(0, len(names) - residues + 1, residues):
        piece = set(names[first:first + residues])
        paths.append(folder / f"{protein.stem}-{residues}-{first}.pdb")
        paths[-1].write_text("".join(line for line in atoms if line[21:27] in piece) + "END\n")
    return paths


class Calibration(unittest.TestCase):
    def setUp(self):
        keeper = tempfile.TemporaryDirectory()
        self.addCleanup(keeper.cleanup)
        self.folder = pathlib.Path(keeper.name)
        self.run_folder = self.folder / "run"
        self.pieces = []  # eight pieces of two proteins
        for name in ("1hel", "1ql9_A"):
            path = self.folder / f"{name}.pdb"
            path.write_bytes(gzip.open(DATA / f"{name}.pdb.gz").read())
            self.pieces += pieces_of(path, self.folder)

    def calibrate(self, *words):
        return subprocess.run([CALIBRATION, self.run_folder, *words], capture_output=True, text=True, check=False)

    def test_reports_fitted_left_out_and_unseen_structures(self):
        similar = pieces_of(self.folder / "1hel.pdb", self.folder, residues=60)[0]
        done = self.calibrate(*self.pieces, "--unseen", DATA / "1a8o.pdb.gz", "--unseen", similar)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{similar} skipped: in a cluster with a fitted structure", done.stderr)
        rows = read_table(self.run_folder / "residuals.tsv")
        self.assertEqual([(row["model"], row["structures"], row["count"]) for row in rows],
                         [(model, group, count) for model in ("one-bead", "two-bead")
                          for group, count in (("fitted", "8"), ("left out", "8"), ("unseen", "1"))])
        for row in rows:
            self.assertLessEqual(float(row["max_of_99%"]), float(row["max"]))
            self.assertEqual(float(row["max"]) > 1, int(row["beyond_1"]) > 0)
        for fitted, left_out in (rows[0:2], rows[3:5]):
            self.assertLess(float(fitted["q<=0.75"]), float(left_out["q<=0.75"]))
        self.assertEqual(len(read_table(self.run_folder / "deviations.tsv")), 2 * 17)
        factors = self.run_folder / "form_factors_two_bead.tsv"
        table = read_table(factors)
        self.assertEqual((len(table), len(table[0])), (51, 22))
        if PROGRAM:
            subprocess.run([PROGRAM, "saxs", DATA / "1a8o.pdb.gz", "--select", "not (MSE)", "--model", "two-bead",
                            "--form-factors", factors, "-o", self.folder / "used", "-q"], check=True)

    def test_needs_clusters_to_leave_out(self):
        done = self.calibrate(*self.pieces[:4])
        self.assertEqual(done.returncode, 1)
        self.assertIn("expected structures of 5 or more clusters of sequences", done.stderr)
        done = self.calibrate(*self.pieces, "--unseen", self.folder / "absent.pdb")
        self.assertEqual(done.returncode, 1)
        self.assertIn("absent.pdb", done.stderr)


if __name__ == "__main__":
    unittest.main()
