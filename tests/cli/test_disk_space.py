# Disk space: every command refuses, before its work, results that the disk has no room for.
import os
import random
import re
import unittest

from program import DATA, ProgramTest, clean_environment, pleat, read_rows
from test_estimate import UNITS

SMALL_DISK = os.environ.get("PLEAT_SMALL_DISK", "")
REFUSAL = re.compile(r"([\d.]+) (\w+) of disk space needed, 1000 B available")


@unittest.skipUnless(os.path.exists(SMALL_DISK), "PLEAT_SMALL_DISK is not a built library")
@unittest.skipIf(os.environ.get("PLEAT_SANITIZED"), "sanitizers want to be loaded first")
class DiskSpace(ProgramTest):
    def needed(self, *arguments):
        """The bytes that a refusal names."""
        done = pleat(*arguments, environment={"LD_PRELOAD": SMALL_DISK})
        message = done.stderr.decode()
        self.assertEqual(done.returncode, 5, message)
        number, unit = REFUSAL.search(message).groups()
        return float(number) * UNITS[unit]

    def sizes(self, folder):
        return [path.stat().st_size for path in folder.rglob("*") if path.is_file()]

    def test_every_command_refuses_before_its_work(self):
        family = self.write_alignment([row[:60] for row in read_rows()[:300]])
        hivp = [DATA / "hivp.dcd.gz", "--topology", DATA / "hivp.pdb.gz", "--select", "ca"]
        model = self.folder / "model"
        self.assertEqual(pleat("couplings", family, "--models", "npz", "-o", model, "-q").returncode, 0)
        calls = {"rmsd": hivp, "rmsd full": [*hivp, "--matrix", "full"],
                 "rmsd against": [*hivp, "--against", DATA / "hivp.dcd.gz"],
                 "rmsd superposed": [*hivp, "--superposed", "pdb"],
                 "couplings": [family, "--models", "npz,plmc"], "mi": [family],
                 "mi shuffles": [family, "--shuffles", "20"],
                 "mi triples": [family, "--order", "3", "--all-triples"],
                 "mutants": [model], "mutants doubles": [model, "--doubles", "all"], "mutants fit": [family],
                 "cluster": [*hivp, "--cutoff", "2", "--write-members", "all"], "saxs": hivp[:3],
                 "refine": [DATA / "1a8o.pdb.gz", "--linkers", "A:174-179", "--frames", "200", "--moves", "1"]}
        for name, arguments in calls.items():
            with self.subTest(name):
                command = [name.split()[0], *arguments, "-d", "cpu", "-q"]
                run = self.folder / f"run {name}"
                needed = self.needed(*command, "-o", run)
                self.assertFalse(run.exists())
                self.assertEqual(self.needed(*command, "--estimate", "-o", run), needed)
                self.assertEqual(pleat(*command, "-o", run).returncode, 0)
                sizes = self.sizes(run)
                # The refusal names what the large files take, and not much more.
                self.assertLessEqual(max(sizes), 1.01 * needed)
                self.assertLessEqual(needed, 3 * sum(sizes))

    def test_select_is_refused_by_its_largest_stage(self):
        message = self.needed("select", "--ensemble", DATA / "hivp.dcd.gz", "--topology", DATA / "hivp.pdb.gz",
                              "--data", DATA / "1hel_made.dat.gz", "-o", self.folder / "run", "-q")
        self.assertGreater(message, 1000)


if __name__ == "__main__":
    unittest.main()
