# The sweep agrees on files that this test makes, and fails on a wrong count, a crash and a hang.
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ATOM = "ATOM  {0:5d}  CA  ALA A{0:4d}    {1:8.3f}{2:8.3f}{3:8.3f}  1.00  0.00           C\n"
MODEL = "".join(ATOM.format(n, n, n / 2, -n) for n in (1, 2, 3))
POINTS = "".join(f"{0.01 * n:.3f} {100 / n:.4f} {0.5 + 0.1 * (n % 3):.2f}\n" for n in range(1, 31))
FILES = {"a.fasta": ">a\nACDEF-\n>b\nACDEFG\n>c\nAC-EFW\n", "b.aln": "ACDEFGHIKL\nACDEFGHIK-\nMCDEFGHIKL\n",
         "c.aln": "CLUSTAL W\n\na  ACDEF\nb  AC-EF\n   ** **\n\na  GHIKL\nb  GHIKW\n",
         "d.pdb": f"MODEL        1\n{MODEL}ENDMDL\nMODEL        2\n{MODEL}ENDMDL\nEND\n",
         "e.dat": "# q (1/A)  I  error\n" + POINTS, "f.fasta": ">a\nACDEF\n>b\nACDEFG\n"}


def sweep(files, module="", seconds=60):
    """(exit code, {file: verdict}); `module` stands in pleat's place."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text)
        with tempfile.TemporaryDirectory() as fake:
            if module:
                Path(fake, "pleat.py").write_text("import os, time\nclass Error(Exception): pass\n" + module)
            path = fake + os.pathsep + os.environ.get("PYTHONPATH", "")
            done = subprocess.run([sys.executable, "-B", Path(__file__).with_name("sweep.py"), folder,
                                   f"--seconds={seconds}"], capture_output=True, text=True, check=False,
                                  env={**os.environ, "PYTHONPATH": path})
    lines = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    return done.returncode, {line[2]: line[0] for line in lines}


class Sweep(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("pleat"), "the Python module is not built")
    def test_made_files(self):
        agree = {name: "agrees" for name in FILES} | {"f.fasta": "refused"}
        self.assertEqual(sweep(FILES), (0, agree))
        wrong = {**FILES, "INDEX.tsv": "file\texpected\na.fasta\tsequences=3 columns=7\ne.dat\tpoints=30 sigma=none\n"}
        self.assertEqual(sweep(wrong), (1, agree | {"a.fasta": "differs", "e.dat": "differs"}))

    def test_a_crash_and_a_hang(self):
        one = {"a.fasta": FILES["a.fasta"]}
        read = "def read_alignment(path): {}\n"
        self.assertEqual(sweep(one, read.format("os.abort()")), (1, {"a.fasta": "crashed"}))
        self.assertEqual(sweep(one, read.format("raise KeyError(path)")), (1, {"a.fasta": "crashed"}))
        self.assertEqual(sweep(one, read.format("time.sleep(60)"), seconds=2), (1, {"a.fasta": "timed out"}))
        self.assertEqual(sweep(one, read.format("raise Error('no')")), (0, {"a.fasta": "refused"}))


if __name__ == "__main__":
    unittest.main()
