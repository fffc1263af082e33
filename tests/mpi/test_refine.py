# `pleat refine` on several ranks: the files of one rank, bit for bit, also after a kill.
import subprocess
import time
import unittest
from pathlib import Path

from launcher import PROGRAM, RanksTest, environment, kill_all, mpirun, start

STRUCTURE = Path(__file__).resolve().parents[2] / "data" / "1a8o.pdb.gz"
OPTIONS = ("--linkers", "A:174-179", "--seed", "3", "-q", "-t", "1")
POOL = ("--frames", "40", "--chains", "5")
FIT = ("--mode", "fit", "--frames", "18", "--chains", "4", "--moves", "4", "--doublings", "1", "--q-max", "0.2",
       "--no-reweight")


def results(run):
    """The bytes of every file of a run that must not depend on who made it, nor on where it is."""
    return {str(path.relative_to(run)): path.read_bytes().replace(str(run).encode(), b"RUN") for path in run.rglob("*")
            if path.is_file() and path.name not in ("manifest.json", "log.txt")}


class RefineTest(RanksTest):
    def alone(self, name, *options):
        subprocess.run([PROGRAM, "refine", STRUCTURE, "-o", self.folder / name, *OPTIONS, *options], check=True,
                       env=environment(), timeout=120, stderr=subprocess.DEVNULL)
        return results(self.folder / name)

    def curve(self):
        """A made curve: the profile of the structure, with errors of 3 %."""
        subprocess.run([PROGRAM, "saxs", STRUCTURE, "-o", self.folder / "truth", "-q", "--q-max", "0.2", "--q-points",
                        "41"], check=True, env=environment(), timeout=120)
        lines = (self.folder / "truth" / "profile.tsv").read_text(encoding="utf-8").splitlines()[1:]
        rows = [tuple(map(float, line.split()[:2])) for line in lines]
        path = self.folder / "made.dat"
        path.write_text("".join(f"{q} {i} {0.03 * i}\n" for q, i in rows), encoding="utf-8")
        return path

    def test_ranks_write_what_one_does(self):
        curve = ("--data", self.curve())
        for name, options in (("pool", (*POOL, "--moves", "10")), ("fit", (*curve, *FIT))):
            expected = self.alone(name, *options)
            self.assertIn("frames.dcd", expected)
            for ranks in (2, 3):
                run = self.folder / f"{name}{ranks}"
                self.assertEqual(mpirun(ranks, PROGRAM, "refine", STRUCTURE, "-o", run, *OPTIONS, *options)[:3],
                                 (0, "", ""))
                found = results(run)
                self.assertEqual(found.keys(), expected.keys())
                self.assertEqual([file for file in found if found[file] != expected[file]], [], f"{name}, {ranks} ranks")

    def test_a_killed_run_resumes_with_another_number(self):
        expected = self.alone("alone", *POOL, "--moves", "400")
        run = self.folder / "killed"
        command = ("env", "PLEAT_CHECKPOINT_SECONDS=0", PROGRAM, "refine", STRUCTURE, "-o", run, *OPTIONS, *POOL,
                   "--moves", "400")
        process = start(3, *command)
        while not list(run.glob("checkpoint*")):
            self.assertIsNone(process.poll(), "the run ended before it could be killed")
            time.sleep(0.005)
        kill_all(process)
        self.assertFalse((run / "frames.dcd").exists())
        code, _, err, _ = mpirun(2, *command)
        self.assertEqual(code, 0, err)
        self.assertEqual(results(run), expected)

    def test_an_error_is_told_once(self):
        code, out, err, _ = mpirun(3, PROGRAM, "refine", STRUCTURE, "-o", self.folder / "run", "-q", "--linkers",
                                   "B:1-4")
        self.assertEqual((code, out, err.count("\n")), (3, "", 1), err)


if __name__ == "__main__":
    unittest.main()
