# Every broken ensemble and every senseless option of pleat rmsd is refused in one clear line.
import unittest

from broken_ensembles import TEN, files, options
from program import ProgramTest, pleat
from structures import pdb


class BrokenEnsembles(ProgramTest):
    def refused(self, name, arguments, code, text):
        with self.subTest(name):
            before = sorted(path.name for path in self.folder.iterdir())
            done = pleat("rmsd", *arguments, "-o", self.folder / "deep" / "run", "-q")
            self.assert_refused(done, code, text)
            self.assertTrue(done.stderr.isascii())
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), before)

    def test_files(self):
        broken = files()
        self.assertGreaterEqual(len(broken), 50)
        for atoms in (3, 10):
            (self.folder / f"{atoms}.pdb").write_text(pdb(atoms), encoding="ascii")
        for name, (data, text) in broken.items():
            (self.folder / name).write_bytes(data)
            is_trajectory = name.split(".")[1] in ("dcd", "xtc", "trr", "nc")
            atoms = 10 if name in TEN else 3
            topology = ("--topology", self.folder / f"{atoms}.pdb") if is_trajectory else ()
            self.refused(name, (self.folder / name, *topology), 3, text)

    def test_options(self):
        for name, arguments, code, text in options(self.folder):
            self.refused(name, arguments, code, text)


if __name__ == "__main__":
    unittest.main()
