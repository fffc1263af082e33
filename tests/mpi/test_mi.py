# `pleat mi` on several ranks: the files of one rank, bit for bit, also after a kill.
import gzip
import json
import subprocess
import time
import unittest
from pathlib import Path

from launcher import (PROGRAM, RanksTest, environment, finish, kill_all, kill_rank_alone, mpirun,
                      start)

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = ("-q", "-t", "1", "--order", "3", "-n", "192", "--top", "500")


def results(run):
    """The bytes of every file of a run that must not depend on who made it."""
    return {path.name: path.read_bytes() for path in run.iterdir()
            if path.name not in ("manifest.json", "log.txt")}


class MiTest(RanksTest):
    def setUp(self):
        super().setUp()
        with gzip.open(ROOT / "data/cheY.aln.gz", "rt", encoding="ascii") as file:
            rows = [row[4:34] for row in file.read().split()[:200]]
        self.family = self.folder / "family.aln"
        self.family.write_text("\n".join(rows) + "\n", encoding="ascii")
        self.whole = self.folder / "whole"
        subprocess.run([PROGRAM, "mi", self.family, "-o", self.whole, *OPTIONS], check=True,
                       env=environment(), timeout=60)

    def test_ranks_write_what_one_does(self):
        for ranks in (2, 4):
            run = self.folder / f"ranks{ranks}"
            self.assertEqual(mpirun(ranks, PROGRAM, "mi", self.family, "-o", run, *OPTIONS)[:3],
                             (0, "", ""))
            self.assertEqual(results(run), results(self.whole))

    def test_ranks_with_several_lanes_write_what_one_does(self):
        # Of five devices rank 0 gets three and rank 1 two.
        for devices in ("cpu,cpu,cpu,cpu", "cpu,cpu,cpu,cpu,cpu"):
            run = self.folder / devices
            self.assertEqual(mpirun(2, PROGRAM, "mi", self.family, "-o", run, *OPTIONS, "-d", devices)[:3],
                             (0, "", ""))
            self.assertEqual(results(run), results(self.whole))

    def test_a_failure_of_one_rank_ends_its_lanes_and_all_others(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        command = (PROGRAM, "mi", "family.aln", "-o", self.folder / "run", *OPTIONS, "-d", "cpu,cpu,cpu,cpu")
        code, out, err, seconds = mpirun(1, *command, ":", "-n", "1", "--wdir", elsewhere, *command,
                                         options=("--wdir", self.folder))
        self.assertEqual((code, out, err.count("\n")), (3, "", 1), err)
        self.assertLess(seconds, 20)

    def test_ranks_write_weighted_and_gap_free_pairs_of_one(self):
        for options in (("--sequence-weights", "--null", "sampled", "-n", "20"),
                        ("--gaps", "omit", "--null", "exact")):
            options = ("-q", "-t", "1", "-f", *options)
            whole, run = self.folder / "one", self.folder / "three"
            subprocess.run([PROGRAM, "mi", self.family, "-o", whole, *options], check=True,
                           env=environment(), timeout=60)
            self.assertEqual(mpirun(3, PROGRAM, "mi", self.family, "-o", run, *options)[:3],
                             (0, "", ""))
            self.assertEqual(results(run), results(whole))

    def test_standard_input_reaches_every_rank(self):
        run = self.folder / "piped"
        with open(self.family, "rb") as rows:
            done = finish(start(2, PROGRAM, "mi", "-", "-o", run, *OPTIONS, stdin=rows))
        self.assertEqual(done[:3], (0, "", ""))
        self.assertEqual(results(run), results(self.whole))

    def test_an_error_is_reported_once(self):
        code, out, err, _ = mpirun(3, PROGRAM, "mi", self.folder / "none.aln", "-o",
                                   self.folder / "deep" / "run", *OPTIONS)
        self.assertEqual((code, out, err.count("\n")), (3, "", 1), err)
        self.assertFalse((self.folder / "deep").exists())

    def test_an_input_missing_on_one_rank_ends_all(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        command = (PROGRAM, "mi", "family.aln", "-o", self.folder / "run", *OPTIONS)
        for ranks_here in (1, 2):
            # Rank 1, then rank 2, runs in a folder without the alignment.
            code, out, err, seconds = mpirun(ranks_here, *command, ":", "-n", "1", "--wdir", elsewhere,
                                             *command, options=("--wdir", self.folder))
            self.assertEqual((code, out, err.count("\n")), (3, "", 1), err)
            self.assertRegex(err, f"^pleat: rank {ranks_here} on .*: family.aln: expected a file")
            self.assertLess(seconds, 20)
        self.assertEqual(mpirun(3, *command, options=("--wdir", self.folder))[:3], (0, "", ""))
        self.assertEqual(results(self.folder / "run"), results(self.whole))

    def test_a_killed_rank_ends_all(self):
        run = self.folder / "run"
        slow = ("-q", "-t", "1", "--order", "3", "-n", "3000", "--top", "500")
        command = ("env", "PLEAT_CHECKPOINT_SECONDS=0", PROGRAM, "mi", self.family, "-o", run, *slow)
        process = start(2, *command)
        deadline = time.monotonic() + 60
        while len(list(run.glob("checkpoint-triples.rank*.npz"))) < 2:
            self.assertIsNone(process.poll(), "the run ended before it could be killed")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.002)
        kill_rank_alone(process, 1)
        code, out, err, _ = finish(process)
        self.assertNotEqual(code, 0)
        self.assertEqual((out, err), ("", "pleat: rank 1 ended without reporting an error (killed, "
                                          "perhaps because memory ran out); run the same command "
                                          "again to resume\n"))
        self.assertEqual(mpirun(2, *command)[:3], (0, "", ""))
        self.assertTrue(json.loads((run / "manifest.json").read_text())["resumed"])

    def test_killed_ranks_resume_with_another_number(self):
        slow = ("-q", "-t", "1", "--order", "3", "-n", "3000", "--top", "500")
        whole = self.folder / "slow"
        subprocess.run([PROGRAM, "mi", self.family, "-o", whole, *slow], check=True,
                       env=environment(), timeout=120)
        run = self.folder / "killed"
        process = start(3, "env", "PLEAT_CHECKPOINT_SECONDS=0", PROGRAM, "mi", self.family, "-o", run,
                        *slow)
        deadline = time.monotonic() + 60
        while len(list(run.glob("checkpoint-triples.rank*.npz"))) < 2:
            self.assertIsNone(process.poll(), "the run ended before it could be killed")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.002)
        kill_all(process)
        self.assertEqual(mpirun(2, PROGRAM, "mi", self.family, "-o", run, *slow)[:3], (0, "", ""))
        self.assertTrue(json.loads((run / "manifest.json").read_text())["resumed"])
        self.assertEqual(results(run), results(whole))
        self.assertEqual(list(run.glob("checkpoint*")), [])


if __name__ == "__main__":
    unittest.main()
