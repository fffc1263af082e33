# Tests of the bench of selection: areas, shares, residues' ranges, and the reading of a run's tables.
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import selection as bench  # noqa: E402


class Selection(unittest.TestCase):
    def test_area_counts_pairs_and_ties_for_a_half(self):
        near = [True, True, False, False]
        self.assertEqual(bench.area([4, 3, 2, 1], 1, near), 1)
        self.assertEqual(bench.area([4, 3, 2, 1], -1, near), 0)
        self.assertEqual(bench.area([2, 2, 2, 2], 1, near), 0.5)
        self.assertEqual(bench.area([4, 1, 3, 2], 1, near), 0.5)
        self.assertNotEqual(bench.area([1, 2], 1, [True, True]), bench.area([1, 2], 1, [True, True]))  # NaN

    def test_share_on_top_prefers_earlier_frames_of_equals(self):
        near = [n % 2 == 0 for n in range(40)]
        self.assertEqual(bench.share_on_top([1] * 40, 1, near), 0.5)
        self.assertEqual(bench.share_on_top([float(one) for one in near], 1, near), 1)
        self.assertEqual(bench.share_on_top([float(one) for one in near], -1, near), 0)

    def test_ranges_of_residues(self):
        self.assertEqual(bench.ranges([1, 2, 3, 7, 9, 10]), ":1-3,7-7,9-10")

    def test_judge_reads_scores_in_the_order_of_frames(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "scores.tsv").write_text(
                "place\tframe\tcluster\tcontacts\tleft\tdensity\tchi2\tjoined\n"
                "1\t1\t0\t0.9\t0.0\t0.5\tNA\t1\n2\t2\t1\t0.5\t0.2\t0.5\tNA\t0.6\n3\t0\t0\t0.1\t0.1\t0\tNA\t0\n")
            (path / "clusters.tsv").write_text(
                "selected\tcluster\tsize\tmedoid\tbest\tadded\n1\t0\t2\t0\t1\t0.7\nNA\t1\t1\t2\t2\tNA\n")
            found = bench.judge(path, {"A": [9.0, 1.0, 8.0], "B": [7.0, 8.0, 2.0]}, {"A": 3.0, "B": 3.0},
                                {"part": [4.0, 2.0, 0.0]})
        self.assertEqual(found["near"], {"A": 1, "B": 1, "either": 2})
        self.assertEqual(found["scores"]["contacts"]["A"]["auc"], 1)
        self.assertEqual(found["scores"]["left"]["B"]["auc"], 1)
        self.assertEqual(found["scores"]["joined"]["either"]["auc"], 1)
        self.assertNotIn("chi2", found["scores"])
        self.assertEqual(found["clusters"][0]["medoid_rmsd"], {"A": 9.0, "B": 7.0})
        self.assertEqual(found["clusters"][0]["median_rmsd"], {"A": 5.0, "B": 7.5})
        self.assertEqual(found["clusters"][0]["part_rmsd"], {"part": 3.0})
        self.assertEqual(found["clusters"][0]["best_rmsd"], {"A": 1.0, "B": 8.0})


if __name__ == "__main__":
    unittest.main()
