# Tests of bench_make_families: sizes within their cuts, whole rows, related sequences, equal files for a seed.
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["PLEAT_MAKE_FAMILIES"]
FAMILIES = 60


def made(folder, *words, **environment):
    """(what the program tells, {name: rows}) of a call."""
    done = subprocess.run([PROGRAM, folder, *words], capture_output=True, text=True, check=True,
                          env={**os.environ, **environment})
    paths = [pathlib.Path(line) for line in (folder / "list.txt").read_text().splitlines()]
    return json.loads(done.stdout), {path.name: path.read_text().splitlines() for path in paths}


class MadeFamilies(unittest.TestCase):
    def setUp(self):
        keeper = tempfile.TemporaryDirectory()
        self.addCleanup(keeper.cleanup)
        self.folder = pathlib.Path(keeper.name)

    def test_families_have_whole_rows_and_sizes_of_the_distribution(self):
        told, families = made(self.folder / "a", str(FAMILIES))
        self.assertEqual(len(families), FAMILIES)
        for rows in families.values():
            self.assertEqual({len(row) for row in rows}, {len(rows[0])})
            self.assertLessEqual(set("".join(rows)), set("ACDEFGHIKLMNPQRSTVWY-"))
            self.assertNotIn("-", rows[0])
        columns = [len(rows[0]) for rows in families.values()]
        depths = [len(rows) for rows in families.values()]
        self.assertTrue(30 <= min(columns) and max(columns) <= 3000 and 5 <= min(depths))
        self.assertAlmostEqual(statistics.median(columns), 145, delta=3)
        self.assertAlmostEqual(statistics.median(depths), 167, delta=10)
        self.assertAlmostEqual(sum(n >= 3 * l for n, l in zip(depths, columns)) / FAMILIES, 1 / 3, delta=0.1)
        self.assertEqual(told["made"], {
            "families": FAMILIES, "sequences": sum(depths),
            "letters": sum(n * l for n, l in zip(depths, columns)),
            "products": sum(n * l * l for n, l in zip(depths, columns))})
        self.assertEqual(told["all"]["families"], 14831)
        self.assertAlmostEqual(told["all"]["sequences"], 22e6, delta=1e6)

    def test_sequences_are_related_and_gapped(self):
        _, families = made(self.folder / "a", str(FAMILIES))
        rows = max(families.values(), key=len)
        same = [a == b for row in rows[1:100] for a, b in zip(rows[0], row) if b != "-"]
        self.assertGreater(statistics.mean(same), 0.2)
        self.assertLess(statistics.mean(same), 0.95)
        gaps = statistics.mean(row.count("-") / len(row) for row in rows)
        self.assertTrue(0.02 < gaps < 0.25, gaps)

    def test_a_seed_gives_the_same_files_on_any_number_of_threads(self):
        one = made(self.folder / "a", "20", "7", OMP_NUM_THREADS="1")
        self.assertEqual(made(self.folder / "b", "20", "7"), one)
        self.assertNotEqual(made(self.folder / "c", "20", "8"), one)

    def test_refuses_what_is_no_number_of_families(self):
        done = subprocess.run([PROGRAM, self.folder / "a", "0"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("usage", done.stderr)


if __name__ == "__main__":
    unittest.main()
