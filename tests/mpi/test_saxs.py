# `pleat saxs` on several ranks: the files of one rank, bit for bit, and one line for an error.
import random
import subprocess
import unittest

from launcher import PROGRAM, RanksTest, environment, mpirun

OPTIONS = ("-q", "-t", "1", "--device", "cpu", "--model", "one-bead")


def results(run):
    """The bytes of every file of a run that must not depend on who made it."""
    return {path.name: path.read_bytes() for path in run.iterdir()
            if path.name not in ("manifest.json", "log.txt")}


def write_models(path, frames, residues):
    """Frames of a chain of glycines that walks about, as models of a PDB file."""
    draw = random.Random(3)
    with open(path, "w", encoding="ascii") as file:
        for frame in range(frames):
            file.write(f"MODEL     {frame + 1:4}\n")
            at = [0.0, 0.0, 0.0]
            for residue in range(residues):
                at = [value + draw.gauss(0, 2) for value in at]
                for n, name in enumerate(("N", "CA", "C", "O")):
                    x, y, z = (value + draw.gauss(0, 1) for value in at)
                    file.write(f"ATOM  {4 * residue + n + 1:5}  {name:<3} GLY A{residue + 1:4}    "
                               f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00           {name[0]}\n")
            file.write("ENDMDL\n")
        file.write("END\n")


class SaxsTest(RanksTest):
    def setUp(self):
        super().setUp()
        self.models = self.folder / "models.pdb"
        write_models(self.models, 600, 25)  # three tiles

    def test_ranks_write_what_one_does(self):
        for name, options in (("pairs", ("--method", "debye")), ("multipole", ("--method", "multipole"))):
            alone = self.folder / name
            subprocess.run([PROGRAM, "saxs", self.models, "-o", alone, *OPTIONS, *options],
                           check=True, env=environment(), timeout=120)
            expected = results(alone)
            self.assertIn("profiles.npy", expected)
            for ranks in (1, 2, 3):
                run = self.folder / f"{name}{ranks}"
                self.assertEqual(mpirun(ranks, PROGRAM, "saxs", self.models, "-o", run, *OPTIONS,
                                        *options)[:3], (0, "", ""))
                self.assertEqual(results(run), expected, f"{name}, {ranks} ranks")

    def test_an_error_is_told_once(self):
        for source in (self.folder / "none.pdb", __file__):
            code, out, err, _ = mpirun(3, PROGRAM, "saxs", source, "-o", self.folder / "run", *OPTIONS)
            self.assertEqual((code, out, err.count("\n")), (3, "", 1), err)


if __name__ == "__main__":
    unittest.main()
