# `pleat cluster` on several ranks: the files of one rank, bit for bit, also after a kill.
import json
import subprocess
import time
import unittest

from launcher import PROGRAM, RanksTest, environment, kill_all, mpirun, start
from test_rmsd import results, write_dimers, write_ensemble

OPTIONS = ("-q", "-t", "1", "--device", "cpu")


class ClusterTest(RanksTest):
    def setUp(self):
        super().setUp()
        self.ensemble = self.folder / "ensemble.npy"
        write_ensemble(self.ensemble, 900, 8)

    def run_alone(self, name, *options):
        run = self.folder / name
        subprocess.run([PROGRAM, "cluster", self.ensemble, "-o", run, *OPTIONS, *options], check=True,
                       env=environment(), timeout=120)
        return results(run)

    def test_ranks_write_what_one_does(self):
        for name, options in (("gromos", ("--cutoff", "2.2")), ("average", ("-m", "average", "--k", "2:4")),
                              ("kmedoids", ("-m", "kmedoids", "--k", "4", "--silhouettes")),
                              ("peaks", ("-m", "density-peaks", "--k", "3"))):
            alone = self.run_alone(name, *options)
            for ranks in (1, 2, 3):
                run = self.folder / f"{name}{ranks}"
                self.assertEqual(mpirun(ranks, PROGRAM, "cluster", self.ensemble, "-o", run, *OPTIONS,
                                        *options)[:3], (0, "", ""))
                self.assertEqual(results(run), alone, f"{name}, {ranks} ranks")

    def test_frames_are_given_to_medoids_as_by_one_rank(self):
        # Blocks have 4096 frames: three of them, so that the last round is not full.
        write_ensemble(self.ensemble, 10000, 6)
        medoids = self.folder / "medoids.npy"
        write_ensemble(medoids, 3, 6)
        options = ("--assign", medoids, "--timestep", "2")
        alone = self.run_alone("whole", *options)
        self.assertIn("dwell_times.tsv", alone)
        for ranks, more in ((1, ()), (2, ()), (3, ()), (4, ()), (2, ("--frames", "5:9000:2", "--cutoff", "1.9"))):
            expected = alone if not more else self.run_alone(f"alone{ranks}", *options, *more)
            run = self.folder / f"assigned{ranks}{len(more)}"
            self.assertEqual(mpirun(ranks, PROGRAM, "cluster", self.ensemble, "-o", run, *OPTIONS, *options, *more)[:3],
                             (0, "", ""))
            self.assertEqual(results(run), expected, f"{ranks} ranks {more}")
        write_ensemble(self.folder / "other.npy", 3, 5)
        code, out, err, _ = mpirun(3, PROGRAM, "cluster", self.ensemble, "-o", self.folder / "x", *OPTIONS, "--assign",
                                   self.folder / "other.npy")
        self.assertEqual((code, out, err.count("\n")), (3, "", 1), err)

    def test_chains_are_clustered_as_by_one_rank(self):
        models = self.folder / "dimers.pdb"
        write_dimers(models, 60)
        self.ensemble = models
        options = ("--each-chain", "--cutoff", "1.5")
        alone = self.run_alone("alone", *options)
        self.assertIn("combinations.tsv", alone)
        for ranks in (2, 3):
            run = self.folder / f"chains{ranks}"
            self.assertEqual(mpirun(ranks, PROGRAM, "cluster", models, "-o", run, *OPTIONS, *options)[:3], (0, "", ""))
            self.assertEqual(results(run), alone, f"{ranks} ranks")

    def test_a_killed_run_resumes_with_another_number(self):
        write_ensemble(self.ensemble, 6000, 100)
        options = ("--cutoff", "2.1")
        alone = self.run_alone("whole", *options)
        run = self.folder / "killed"
        process = start(3, "env", "PLEAT_CHECKPOINT_SECONDS=0", PROGRAM, "cluster", self.ensemble, "-o",
                        run, *OPTIONS, *options)
        deadline = time.monotonic() + 100
        while len(list(run.glob("checkpoint.pairs.rank*.npz"))) < 2:
            self.assertIsNone(process.poll(), "the run ended before it could be killed")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.002)
        kill_all(process)
        self.assertEqual(mpirun(2, PROGRAM, "cluster", self.ensemble, "-o", run, *OPTIONS, *options)[:3],
                         (0, "", ""))
        self.assertTrue(json.loads((run / "manifest.json").read_text())["resumed"])
        self.assertEqual(results(run), alone)
        self.assertEqual(list(run.glob("checkpoint*")), [])


if __name__ == "__main__":
    unittest.main()
