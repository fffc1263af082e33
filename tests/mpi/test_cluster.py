# `pleat cluster` on several ranks: the files of one rank, bit for bit, also after a kill.
import json
import subprocess
import time
import unittest

from launcher import PROGRAM, RanksTest, environment, kill_all, mpirun, start
from test_rmsd import results, write_ensemble

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
