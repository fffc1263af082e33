# pleat rmsd and pleat cluster of ensembles that do not fit in memory: read from disk, resumed, refused.
import random
import resource
import signal
import struct
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest, clean_environment, manifest, pleat, results
from structures import npy

FRAMES = "checkpoint.frames.f32"


class LargerThanMemory(ProgramTest):
    # Beside the process itself these need 37 MB to be kept in memory, and 35 MB to be read in blocks.
    LIMIT = ("--memory", "0.065", "--device", "cpu", "--threads", "1")

    def ensemble(self, frames=1500, atoms=40):
        source = random.Random(3)
        shapes = [[source.gauss(0, 8) for _ in range(3 * atoms)] for _ in range(3)]
        moves = [source.gauss(0, 0.8) for _ in range(10007)]
        values = [x + moves[(n * 7919 + k * 13) % 10007] for n in range(frames)
                  for k, x in enumerate(shapes[n % 7 % 3])]
        path = self.folder / "ensemble.npy"
        path.write_bytes(npy((frames, atoms, 3), values))
        return path

    def run_quietly(self, *arguments, run):
        done = pleat(*arguments, "-o", self.folder / run)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return self.folder / run, done.stderr.decode()

    def test_results_are_those_in_memory(self):
        path = self.ensemble()
        for number, call in enumerate((
                ("rmsd", path, "--matrix", "none", "--cutoff", "2", "--nearest", "3"),
                ("rmsd", path, "--precision", "float64"),
                ("cluster", path, "--cutoff", "2"),
                ("cluster", path, "-m", "average", "--k", "4"))):
            with self.subTest(call[0]):
                whole, told = self.run_quietly(*call, "--device", "cpu", run=f"whole{number}")
                self.assertNotIn("from disk", told)
                streamed, told = self.run_quietly(*call, *self.LIMIT, run=f"streamed{number}")
                self.assertEqual(told.count("1500 frames of 40 atoms need"), 1, told)
                self.assertIn(f"they are read in blocks from {streamed / FRAMES} (703.1 KiB)", told)
                self.assertEqual(results(streamed), results(whole))
                for fact, value in manifest(whole)["results"].items():
                    self.assertEqual(manifest(streamed)["results"][fact], value, fact)

    def test_centres_and_fluctuations_need_the_coordinates_alone(self):
        source = random.Random(5)
        shape = [source.gauss(0, 8) for _ in range(120)]
        values = [x + source.gauss(0, 0.8) for _ in range(500) for x in shape]
        path = self.folder / "long.npy"
        path.write_bytes(npy((60000, 40, 3), []) + 120 * struct.pack("<60000f", *values))
        limit = ("--memory", "0.115", *self.LIMIT[2:])
        for number, call in enumerate((
                ("cluster", path, "-m", "kcenters", "--k", "5", "--medoid-sweeps", "1", "--timestep", "10"),
                ("rmsd", path, "--rmsf"), ("rmsd", path, "--reference", "-1", "--superposed", "npy"))):
            with self.subTest(call):
                whole, told = self.run_quietly(*call, "--device", "cpu", run=f"whole{number}")
                self.assertNotIn("from disk", told)
                streamed, told = self.run_quietly(*call, *limit, run=f"streamed{number}")
                self.assertIn(f"they are read in blocks from {streamed / FRAMES} (27.5 MiB)", told)
                self.assertEqual(results(streamed), results(whole))
                for fact, value in manifest(whole)["results"].items():
                    self.assertEqual(manifest(streamed)["results"][fact], value, fact)

    def stop(self, call, run, sign):
        with subprocess.Popen([PROGRAM, *map(str, call), "-o", str(run), "-q"],
                              env=clean_environment(PLEAT_CHECKPOINT_SECONDS="0"),
                              stderr=subprocess.PIPE) as process:
            until = time.monotonic() + 120
            while not [path for path in run.glob("checkpoint.*") if not path.name.startswith(FRAMES)] and \
                    time.monotonic() < until:
                time.sleep(0.002)
            self.assertIsNone(process.poll(), "the run ended before it could be stopped")
            process.send_signal(sign)
            process.communicate()
        return process.returncode

    def test_a_stopped_run_resumes(self):
        path = self.ensemble()
        limit = (*self.LIMIT[:3], "reference", *self.LIMIT[4:])
        call = ("cluster", path, "--cutoff", "2")
        whole, _ = self.run_quietly(*call, "--device", "reference", "--threads", "2", run="whole")
        for sign, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
            with self.subTest(sign):
                run = self.folder / f"stopped{code}"
                self.assertEqual(self.stop((*call, *limit), run, sign), code)
                self.assertEqual((run / FRAMES).exists(), sign == signal.SIGKILL)
                done = pleat(*call, *limit, "-o", run)
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                self.assertIn("resuming the unfinished run", done.stderr.decode())
                self.assertEqual(results(run), results(whole))

    def test_a_disk_that_is_full_is_refused(self):
        path = self.ensemble()
        done = pleat("rmsd", path, "--matrix", "none", *self.LIMIT, "-o", self.folder / "run",
                     preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                                         resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))))
        self.assertEqual(done.returncode, 5, done.stderr.decode())
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertIn(FRAMES, done.stderr.decode())
        self.assertFalse((self.folder / "run").exists())

    def test_what_needs_all_frames_or_pairs_in_memory_is_refused(self):
        path = self.ensemble(7000, 10)
        self.assert_refused(
            pleat("cluster", path, "-m", "ward", "--k", "3", "--memory", "0.095", "-q",
                  "-o", self.folder / "tree"), 4,
            "the distances of all pairs of 7000 items: ", "gromos, dbscan")
        self.assert_refused(
            pleat("rmsd", path, "--memory", "0.001", "-o", self.folder / "x"), 2, "--memory")


if __name__ == "__main__":
    unittest.main()
