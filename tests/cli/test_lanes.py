# Several devices in one process give the files of one device, bit for bit; CPUs stand in for GPUs.
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from program import DATA, PROGRAM, ProgramTest, clean_environment, manifest, pleat, results, small_rows

FRAMES = (DATA / "hivp.dcd.gz", "--topology", DATA / "hivp.pdb.gz")
LANES = ("cpu,cpu", "cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu")


class Lanes(ProgramTest):
    def setUp(self):
        super().setUp()
        self.family = self.write_alignment(small_rows(120))

    def done(self, *arguments):
        run = pleat(*arguments)
        self.assertEqual(run.returncode, 0, run.stderr.decode())

    def assert_lanes_change_nothing(self, *arguments):
        expected = None
        for device in ("cpu", *LANES):
            run = Path(tempfile.mkdtemp(dir=self.folder)) / "run"
            self.done(*arguments, "-o", run, "-d", device, "-q")
            self.assertEqual(manifest(run)["device"], device)
            found = results(run)
            expected = expected or found
            self.assertEqual(sorted(found), sorted(expected))
            for name, content in expected.items():
                self.assertEqual(found[name], content, f"{name} on {device}")

    def test_mutual_information(self):
        self.assert_lanes_change_nothing("mi", self.family, "--shuffles", "300", "--null", "both")

    def test_triples(self):
        self.assert_lanes_change_nothing("mi", self.family, "--shuffles", "16", "--order", "3",
                                         "--top", "50")

    def test_weighted_pairs(self):
        self.assert_lanes_change_nothing("mi", self.family, "--sequence-weights", "--null", "sampled",
                                         "--shuffles", "40")

    def test_distances_of_all_pairs(self):
        self.assert_lanes_change_nothing("rmsd", *FRAMES, "--cutoff", "1.5", "--nearest", "2")

    def test_distances_without_a_matrix(self):
        self.assert_lanes_change_nothing("rmsd", *FRAMES, "--cutoff", "1.5", "--matrix", "none")

    def test_other_frames_and_one_structure(self):
        for others in (("--against", DATA / "hivp.pdb.gz", "--nearest", "1"), ("--reference", "0")):
            with self.subTest(others[0]):
                self.assert_lanes_change_nothing("rmsd", *FRAMES, *others)

    def test_clusters(self):
        for method in ("gromos", "kmedoids", "average"):
            with self.subTest(method):
                setting = ("--cutoff", "1.2") if method == "gromos" else ("-k", "3")
                self.assert_lanes_change_nothing("cluster", *FRAMES, "--method", method, *setting)

    def test_profiles(self):
        self.assert_lanes_change_nothing("saxs", *FRAMES, "--frames", "::4", "--model", "one-bead",
                                         "--data", DATA / "1hel_made.dat.gz")

    def test_a_killed_run_resumes_with_another_number(self):
        expected = self.folder / "whole"
        arguments = ("mi", self.family, "--shuffles", "20000", "-q")
        self.done(*arguments, "-o", expected, "-d", "cpu")
        run = self.folder / "killed"
        started = subprocess.Popen([PROGRAM, *arguments, "-o", run, "-d", "cpu,cpu,cpu"],
                                   env=clean_environment(PLEAT_CHECKPOINT_SECONDS="0"))
        limit = time.monotonic() + 30
        while not list(run.glob("checkpoint*")) and started.poll() is None:
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.01)
        started.send_signal(signal.SIGKILL)
        started.wait()
        self.done(*arguments, "-o", run, "-d", "cpu,cpu")
        self.assertEqual(results(run), results(expected))

    def test_ctrl_c_ends_all(self):
        run = self.folder / "stopped"
        started = subprocess.Popen([PROGRAM, "mi", self.family, "--shuffles", "4000000", "-q", "-o",
                                    run, "-d", "cpu,cpu,cpu"], env=clean_environment(),
                                   stderr=subprocess.PIPE, text=True)
        limit = time.monotonic() + 30
        while not run.is_dir() and time.monotonic() < limit:
            time.sleep(0.01)
        time.sleep(0.3)
        started.send_signal(signal.SIGINT)
        said = started.communicate(timeout=60)[1]
        self.assertEqual(started.returncode, 130, said)
        self.assertIn("run the same command again to resume", said)

    def test_what_uses_one_device_refuses_several(self):
        select = ("select", "--ensemble", DATA / "hivp.pdb.gz", "--contacts", self.family)
        for arguments in (("couplings", self.family), select):
            self.assert_refused(pleat(*arguments, "-d", "cpu,cpu", "-q", "-o", self.folder / "run"), 2,
                                "uses one device, found 2")

    def test_jobs_of_a_list_get_one_device_each(self):
        other = self.write_alignment(small_rows(90), "other.aln")
        runs = self.folder / "runs"
        self.done("mi", self.family, other, "--shuffles", "50", "-o", runs, "-d", "cpu,cpu", "-q")
        for name in ("family", "other"):
            self.assertEqual(manifest(runs / name)["device"], "cpu")

    def test_lists_that_make_no_sense(self):
        for device in ("cpu,", "cpu,cuda:0", "cuda:0,0", "cpu,gpu", ","):
            self.assert_refused(pleat("mi", self.family, "-d", device, "-o", self.folder / "run"), 2,
                                "--device")


if __name__ == "__main__":
    unittest.main()
