# --assembly: biological assemblies of PDB and mmCIF files in saxs and rmsd, and notes about others.
import unittest

from program import DATA, ProgramTest, manifest, pleat, read_table

PDB, MMCIF = DATA / "1a8o.pdb.gz", DATA / "1a8o.cif.gz"
NOTE = b"which also describes biological assembly 1 (DIMERIC)"


class Assembly(ProgramTest):
    def scatter(self, structure, *options):
        done = pleat("saxs", structure, "-o", self.folder / "run", "-f", *options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        profile = read_table(self.folder / "run" / "profile.tsv")
        return done, [float(value) for value in list(profile[0].values())[:2]]

    def test_a_dimer_scatters_four_times_as_much_at_zero(self):
        _, (q, alone) = self.scatter(PDB)
        self.assertEqual(q, 0)
        for structure in (PDB, MMCIF):
            _, (q, both) = self.scatter(structure, "--assembly", "1")
            self.assertEqual(q, 0)
            self.assertAlmostEqual(both / alone, 4, delta=1e-4)
            self.assertEqual(manifest(self.folder / "run")["parameters"]["assembly"], "1")

    def test_another_assembly_is_told_on_the_screen_and_in_the_log(self):
        done, _ = self.scatter(PDB)
        self.assertIn(NOTE, done.stderr)
        self.assertIn(NOTE, (self.folder / "run" / "log.txt").read_bytes())
        done, _ = self.scatter(PDB, "--assembly", "1")
        self.assertNotIn(NOTE, done.stderr)

    def test_an_assembly_that_is_not_there_is_refused_with_those_that_are(self):
        for command in ("saxs", "rmsd"):
            done = pleat(command, PDB, "--assembly", "2", "-o", self.folder / command)
            self.assert_refused(done, 3, "1a8o.pdb.gz: expected biological assembly '2', found only 1")

    def test_frames_of_rmsd_are_the_assembly(self):
        run = self.folder / "run"
        done = pleat("rmsd", PDB, MMCIF, "--assembly", "1", "--select", "ca", "-o", run, "-q")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(manifest(run)["results"]["atoms"], 2 * 70)
        done = pleat("rmsd", PDB, MMCIF, "--assembly", "1", "--select", "A-2:151-160 and ca", "-o", run, "-q", "-f")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(manifest(run)["results"]["atoms"], 10)


if __name__ == "__main__":
    unittest.main()
