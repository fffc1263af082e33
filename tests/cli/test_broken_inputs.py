# Every broken alignment is refused with its exact lines and status 3, and leaves nothing behind.
import json
import os
import subprocess
import unittest

from program import ProgramTest, pleat


class BrokenInputs(ProgramTest):
    def setUp(self):
        super().setUp()
        subprocess.run([os.environ["PLEAT_BROKEN"], self.folder], check=True)
        self.expected = json.loads((self.folder / "expected.json").read_text(encoding="utf-8"))

    def test_each_is_refused(self):
        self.assertGreaterEqual(len(self.expected), 40)
        before = sorted(path.name for path in self.folder.iterdir())
        for one in self.expected:
            options = [f"--{key}={one[key]}" for key in ("format", "alphabet") if one[key]]
            with self.subTest(one["name"]):
                done = pleat("couplings", one["name"], "-o", "deep/run", *options, cwd=self.folder)
                lines = [f"pleat: {line}" for line in one["refusal"].split("\n")]
                self.assertEqual(done.stderr.decode().splitlines(), lines)
                self.assertEqual((done.returncode, done.stdout), (3, b""))
                self.assertEqual(sorted(path.name for path in self.folder.iterdir()), before)

    def test_standard_input_is_named(self):
        done = pleat("couplings", "-", "-o", "run", cwd=self.folder, input=b"ACDEF\nACDE\n")
        self.assert_refused(done, 3, "stdin:2: expected 5 aligned columns")
        self.assertFalse((self.folder / "run").exists())


if __name__ == "__main__":
    unittest.main()
