# A run that is killed, or stopped by Ctrl-C, goes on and ends where an undisturbed one does.
import signal
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest, clean_environment, manifest, pleat, read_npz, results, \
    small_rows

OPTIONS = ("--tolerance", "1e-8", "-t", "1")


class Resume(ProgramTest):
    def setUp(self):
        super().setUp()
        self.family = self.write_alignment(small_rows(400, 4, 70))
        self.whole = self.fit(self.family, *OPTIONS, run="whole")

    def start(self, run):
        """A run that saves its state at every chance, once its first state is saved."""
        process = subprocess.Popen(
            [PROGRAM, "couplings", self.family, "-o", run, *OPTIONS], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=clean_environment(PLEAT_CHECKPOINT_SECONDS="0"))
        deadline = time.monotonic() + 60
        while not (run / "checkpoint.npz").exists():
            self.assertIsNone(process.poll(), "the run ended before it could be disturbed")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.002)
        return process

    def assert_goes_on(self, run):
        self.assertTrue((run / "checkpoint.npz").exists())
        steps = read_npz(run / "checkpoint.npz")["loop_steps"][1][0]
        done = pleat("couplings", self.family, "-o", run, *OPTIONS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"resuming the unfinished run in {run}\n", done.stderr.decode())
        self.assertIn(f" resuming the unfinished run in {run}\n", (run / "log.txt").read_text())
        told, whole = manifest(run), manifest(self.whole)
        self.assertTrue(told["resumed"])
        self.assertGreater(steps, 0)
        self.assertLess(steps, whole["results"]["iterations"])
        for name in ("objective", "relative_gap", "iterations"):
            self.assertEqual(told["results"][name], whole["results"][name], name)
        self.assertEqual(results(run), results(self.whole))
        self.assertFalse((run / "checkpoint.npz").exists())

    def test_killed(self):
        run = self.folder / "killed"
        process = self.start(run)
        process.kill()
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assert_goes_on(run)

    def test_interrupted(self):
        run = self.folder / "interrupted"
        process = self.start(run)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (130, b""))
        self.assertIn(b"run the same command again to resume", err)
        self.assertEqual(manifest(run)["status"], "unfinished")
        self.assert_goes_on(run)

    def test_another_problem_does_not_go_on(self):
        run = self.folder / "other"
        process = self.start(run)
        process.kill()
        process.communicate()
        done = pleat("couplings", self.family, "-o", run, "-q", *OPTIONS, "-w", "0.7")
        self.assert_refused(done, 3, "checkpoint.npz", "expected the state of the same input",
                            "remove this checkpoint")
        self.assert_goes_on(run)

    def test_a_failure_after_the_fit_keeps_its_numbers(self):
        run = self.folder / "blocked"
        (run / "scores.npz").mkdir(parents=True)
        done = pleat("couplings", self.family, "-o", run, "-q", "-f", *OPTIONS,
                     environment={"PLEAT_CHECKPOINT_SECONDS": "0"})
        self.assert_refused(done, 5, "scores.npz")
        (run / "scores.npz").rmdir()
        self.assertEqual(manifest(run / ".pleat-forced")["status"], "unfinished")
        done = pleat("couplings", self.family, "-o", run, "-q", *OPTIONS)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("objective", "relative_gap", "iterations"):
            self.assertEqual(manifest(run)["results"][name],
                             manifest(self.whole)["results"][name], name)
        self.assertEqual(results(run), results(self.whole))


if __name__ == "__main__":
    unittest.main()
