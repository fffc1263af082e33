# The program itself under mpirun: help once, and a refusal by commands that work alone.
import subprocess
import unittest

from launcher import PROGRAM, RanksTest, environment, mpirun


class ProgramTest(RanksTest):
    def test_help_and_version_are_shown_once(self):
        alone = subprocess.run([PROGRAM, "--help"], check=True, capture_output=True, text=True,
                               env=environment(), timeout=60)
        self.assertEqual(mpirun(3, PROGRAM, "--help")[:3], (0, alone.stdout, ""))
        code, out, err, _ = mpirun(3, PROGRAM, "--version")
        self.assertEqual((code, out.count("\n"), err), (0, 1, ""))

    def test_commands_that_work_alone_refuse_ranks(self):
        for what, command in (("info", ["info"]),
                              ("couplings of one alignment", ["couplings", "family.a3m", "-o", self.folder / "run"]),
                              ("select of one ensemble", ["select", "-e", "models.pdb", "-o", self.folder / "run"])):
            code, out, err, _ = mpirun(2, PROGRAM, *command)
            self.assertEqual((code, out), (2, ""))
            self.assertEqual(err, f"pleat: 'pleat {what}' works on one rank: expected no "
                                  "mpirun, or mpirun -n 1, found 2 ranks\n")
        self.assertFalse((self.folder / "run").exists())
        self.assertEqual(mpirun(1, PROGRAM, "info")[0], 0)

    def test_ranks_switched_off_are_programs_of_their_own(self):
        code, out, err, _ = mpirun(2, PROGRAM, "--version", options=["-x", "PLEAT_RANKS=off"])
        self.assertEqual((code, out.count("\n"), err), (0, 2, ""))

    def test_ranks_of_another_library_are_refused(self):
        done = subprocess.run([PROGRAM, "info"], capture_output=True, text=True, timeout=60,
                              env=environment(PMI_RANK="0", PMI_SIZE="2"), check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("expected 2 ranks, as the launcher says, found 1", done.stderr)


if __name__ == "__main__":
    unittest.main()
