# pleat cluster of finished runs of pleat rmsd, and of its own stopped runs.
import random
import signal
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest, clean_environment, manifest, pleat, results
from structures import npy


class ClusterRuns(ProgramTest):
    def ensemble(self, frames, atoms=12):
        """An array of frames about three shapes."""
        source = random.Random(5)
        shapes = [[source.gauss(0, 8) for _ in range(3 * atoms)] for _ in range(3)]
        path = self.folder / "ensemble.npy"
        path.write_bytes(npy((frames, atoms, 3), [x + source.gauss(0, 0.8) for n in range(frames)
                                                  for x in shapes[(0, 1, 0, 2, 0, 1)[n % 6]]]))
        return path

    def run_quietly(self, command, *arguments, run):
        done = pleat(command, *arguments, "-o", self.folder / run, "-q")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        return self.folder / run

    def cluster(self, *arguments, run):
        return self.run_quietly("cluster", *arguments, run=run)

    def test_neighbours_that_a_run_listed_are_not_found_again(self):
        path = self.ensemble(90)
        run = self.run_quietly("rmsd", path, "--matrix", "none", "--cutoff", "3.2", run="listed")
        for method, cores in (("gromos", ()), ("gmx", ()), ("dbscan", ("--min-neighbours", "3"))):
            for cutoff in (3.2, 3.0, 1.1, 3.3):
                with self.subTest((method, cutoff)):
                    call = ("--method", method, "--cutoff", str(cutoff), *cores, "--silhouettes")
                    expected = self.cluster(path, *call, run=f"{method}{cutoff}")
                    found = self.cluster(run, *call, run=f"{method}{cutoff}-listed")
                    self.assertEqual(results(found), results(expected))
                    told, wanted = manifest(found), manifest(expected)
                    self.assertIn(str(run / "neighbours.npz"), [one["path"] for one in told["inputs"]])
                    for fact in ("pairs", "min", "mean", "max", "clusters", "silhouette"):
                        self.assertAlmostEqual(told["results"].get(fact, 0), wanted["results"].get(fact, 0),
                                               places=9)
        # Without silhouettes no distance of all pairs is computed.
        for cutoff, is_listed in ((3.2, True), (3.3, False)):
            found = self.cluster(run, "--cutoff", str(cutoff), run=f"stages{cutoff}")
            self.assertEqual("distances" not in [one["stage"] for one in manifest(found)["timings"]], is_listed)

    def stop_after_a_checkpoint(self, call, run, sign):
        """Starts a run, and stops it once its first state is saved."""
        with subprocess.Popen([PROGRAM, "cluster", *call, "-o", str(run)],
                              env=clean_environment(PLEAT_CHECKPOINT_SECONDS="0"),
                              stderr=subprocess.PIPE) as process:
            until = time.monotonic() + 60
            while not list(run.glob("checkpoint.*")) and time.monotonic() < until:
                time.sleep(0.002)
            self.assertIsNone(process.poll(), "the run ended before it could be stopped")
            process.send_signal(sign)
            process.communicate()
        return process.returncode

    def test_a_stopped_run_resumes(self):
        path = self.ensemble(900)
        for method in (("--cutoff", "3"), ("-m", "average", "--k", "4")):
            call = (str(path), *method, "--device", "reference", "-q")
            whole = self.cluster(*call[:-1], run=f"whole{method[1]}")
            for sign, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
                with self.subTest((method, sign)):
                    run = self.folder / f"stopped{method[1]}{code}"
                    self.assertEqual(self.stop_after_a_checkpoint(call, run, sign), code)
                    # A killed run could not say that it stopped.
                    self.assertEqual(manifest(run)["status"], "unfinished" if code == 130 else "running")
                    done = pleat("cluster", *call, "-o", run)
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    self.assertTrue(manifest(run)["resumed"])
                    self.assertEqual(results(run), results(whole))
                    self.assertEqual(list(run.glob("checkpoint*")), [])


if __name__ == "__main__":
    unittest.main()
