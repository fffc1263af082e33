# Lists of jobs under mpirun: the bits of one rank, one table, failures, signals and kills.
import contextlib
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from launcher import PROGRAM, RanksTest, environment, finish, kill_all, kill_rank_alone, mpirun, rank_processes, start

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
from job_inputs import COMMANDS, results_below, write_inputs  # noqa: E402
from program import read_table, written  # noqa: E402

# Jobs of which each takes some tenths of a second.
SLOW = ("couplings", "f0.aln", "f1.aln", "bad.aln", "--sweep", "lambda-pair=0.01:0.08:0.01", "--tolerance", "1e-7",
        "-t", "1", "-j", "1")


def table_below(folder):
    """Rows of the table without what depends on time and place."""
    return [{key: value for key, value in row.items() if key not in ("seconds", "device", "host")}
            for row in read_table(folder / "jobs.tsv")]


class JobsTest(RanksTest):
    def setUp(self):
        super().setUp()
        write_inputs(self.folder)

    def alone(self, *call, code=3):
        """The files and the table of one process without mpirun."""
        run = self.folder / "alone"
        done = subprocess.run([PROGRAM, *map(str, call), "-o", run], cwd=self.folder, env=environment(),
                              capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        found = results_below(run), table_below(run)
        subprocess.run(["rm", "-r", run], check=True)
        return found

    def assert_as(self, expected, run=None):
        run = run or self.run_folder
        self.assertEqual(results_below(run), expected[0])
        self.assertEqual(table_below(run), expected[1])
        left = [path.name for path in run.rglob(".pleat-*")]
        self.assertEqual(left, [])

    def test_every_command_gives_the_bits_of_one_rank(self):
        for command, (inputs, sweep, options, _) in COMMANDS.items():
            with self.subTest(command):
                call = (command, *inputs, "--sweep", sweep, *options)
                expected = self.alone(*call)
                self.assertEqual([row["status"] for row in expected[1]],
                                 ["done"] * 2 + ["failed"] * 2 + ["done"] * 2)
                for ranks in (2, 3):
                    run = self.folder / f"{command}{ranks}"
                    code, out, err, _ = mpirun(ranks, PROGRAM, *call, "-o", run, cwd=self.folder)
                    self.assertEqual((code, out.count(" jobs in ")), (3, 1), err)
                    self.assertIn("4 done, 2 failed", out)
                    # Each job is told once, and so is each failure; then the line of the run.
                    self.assertEqual(err.count("] "), 4, err)
                    self.assertEqual(err.count("expected"), 2, err)
                    self.assertIn("of 6 jobs 4 done, 2 failed", err)
                    self.assert_as(expected, run)
                    code, out, err, _ = mpirun(ranks, PROGRAM, *call, "-o", run, cwd=self.folder)
                    self.assertEqual((code, "(4 skipped)" in out), (3, True), err)

    def test_a_list_from_standard_input(self):
        listed = self.folder / "list.txt"
        listed.write_text("f0.aln\nf1.aln\n", encoding="ascii")
        with open(listed, encoding="ascii") as file:
            done = mpirun(3, PROGRAM, "mi", "--list", "-", "-o", self.run_folder, "-q", cwd=self.folder, stdin=file)
        self.assertEqual(done[:3], (0, "", ""))
        self.assert_as(self.alone("mi", "f0.aln", "f1.aln", code=0))

    def test_force_replaces_each_run_once(self):
        call = ("rmsd", "--each", "one.pdb", "two.pdb", "-o", self.run_folder)
        self.assertEqual(mpirun(2, PROGRAM, *call, cwd=self.folder)[0], 0)
        # Two runs within a second may have equal texts; a replaced run is another file.
        before = {path: written(path) for path in self.run_folder.glob("*/manifest.json")}
        code, out, err, _ = mpirun(2, PROGRAM, *call, "--force", cwd=self.folder)
        self.assertEqual((code, "2 done\n" in out), (0, True), out + err)
        self.assertEqual(len(before), 2)
        for path, first in before.items():
            self.assertNotEqual(written(path), first)

    def test_all_ranks_work(self):
        process = start(3, PROGRAM, *SLOW, "-o", self.run_folder, cwd=self.folder)
        most = 0
        while process.poll() is None:
            running = 0
            for path in self.run_folder.glob("*/*/manifest.json"):
                # The folder of a job that fails may be removed meanwhile.
                with contextlib.suppress(FileNotFoundError):
                    running += '"status": "running"' in path.read_text(encoding="utf-8")
            most = max(most, running)
            time.sleep(0.01)
        self.assertEqual(finish(process)[0], 3)
        self.assertEqual(most, 3)

    def test_refusals_are_told_once(self):
        (self.folder / "own").mkdir()
        (self.folder / "own" / "manifest.json").write_text("{}", encoding="ascii")
        for call, code, text in (
                (("mi", "f0.aln", "none.aln", "-o", "run"), 3, "none.aln"),
                (("mi", "--list", "none.txt", "-o", "run"), 3, "none.txt"),
                (("mi", "f0.aln", "f1.aln", "-o", "own"), 2, "found the run of one"),
                (("mi", "f0.aln", "f1.aln", "--share", "-o", "run"), 2, "PLEAT_RANKS=off"),
                (("mi", "f0.aln", "f1.aln", "--estimate"), 2, "--estimate"),
                (("couplings", "f0.aln", "-o", "run"), 2, "works on one rank")):
            with self.subTest(call):
                found, out, err, _ = mpirun(3, PROGRAM, *call, cwd=self.folder)
                self.assertEqual((found, out, err.count("\n")), (code, "", 1), err)
                self.assertIn(text, err)
                self.assertFalse((self.folder / "run").exists())

    def start_slow(self):
        """Starts a list, and waits until some of its jobs have ended."""
        process = start(3, PROGRAM, *SLOW, "-o", self.run_folder, cwd=self.folder)
        limit = time.monotonic() + 60
        while not list(self.run_folder.glob("*/*/contacts.tsv")):
            self.assertLess(time.monotonic(), limit)
            self.assertIsNone(process.poll())
            time.sleep(0.005)
        return process

    def assert_resumes(self, ranks):
        self.assertNotIn("done", [row["status"] for row in table_below(self.run_folder)
                                  if not (self.run_folder / row["result"] / "contacts.tsv").exists()])
        code, _, err, _ = mpirun(ranks, PROGRAM, *SLOW, "-o", self.run_folder, cwd=self.folder)
        self.assertEqual(code, 3, err)
        self.assert_as(self.alone(*SLOW))

    def test_a_kill_of_all_ranks(self):
        kill_all(self.start_slow())
        self.assert_resumes(2)

    def test_a_rank_that_dies_ends_the_others(self):
        process = self.start_slow()
        kill_rank_alone(process, 1)
        code, _, err, _ = finish(process)
        self.assertNotEqual(code, 0)
        self.assertEqual(err.count("rank 1 ended without reporting an error"), 1, err)
        self.assert_resumes(3)

    def test_a_signal_to_one_rank_stops_all(self):
        process = self.start_slow()
        os.kill(rank_processes(process)[2], signal.SIGTERM)
        code, _, err, _ = finish(process)
        self.assertEqual((code, err.count("run the same command again to resume")), (130, 1), err)
        self.assert_resumes(1)


if __name__ == "__main__":
    unittest.main()
