# Help and version texts: on stdout with status 0, and equal to the captured ones of docs/cli.
import re
import subprocess
import unittest

from program import ROOT, ProgramTest, pleat

DOCUMENTED = sorted(path.stem.removeprefix("pleat-") for path in (ROOT / "docs" / "cli").glob("pleat-*.txt"))
COMMANDS = (*DOCUMENTED, "version", "help")


class Help(ProgramTest):
    def assert_shown(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def test_captured_texts_are_current(self):
        captured = {"pleat.txt": pleat("--help")}
        captured.update({f"pleat-{name}.txt": pleat(name, "--help-all") for name in DOCUMENTED})
        for name, done in captured.items():
            with self.subTest(name):
                text = (ROOT / "docs" / "cli" / name).read_text(encoding="utf-8")
                self.assertEqual(self.assert_shown(done), text,
                                 "run scripts/capture_help with the built program")

    def test_every_help_has_examples_and_exit_codes(self):
        for name in DOCUMENTED:
            text = self.assert_shown(pleat(name, "-h"))
            self.assertIn(f"  pleat {name}", text)
            self.assertIn("Exit codes:\n  0 done", text)
            self.assertEqual(text, self.assert_shown(pleat("help", name)))
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
        text = self.assert_shown(pleat("help"))
        listed = re.findall(r"(?m)^  ([a-z-]+) ", text.partition("\nCommands:\n")[2].partition("\n\n")[0])
        self.assertEqual(sorted(listed), sorted(COMMANDS), "run scripts/capture_help with the built program")

    def test_help_shows_the_usual_options_and_names_the_help_of_all(self):
        option = re.compile(r"(?m)^ {2,6}(?:-\w, )?(--[a-z][a-z0-9-]*)")
        for name in DOCUMENTED:
            with self.subTest(name):
                text, full = (self.assert_shown(pleat(name, flag)) for flag in ("--help", "--help-all"))
                shown, every = option.findall(text), option.findall(full)
                self.assertLessEqual(set(shown), set(every))
                self.assertLessEqual(len(shown), 15)
                if len(every) <= 15:
                    self.assertEqual((text, shown), (full, every))
                    continue
                self.assertEqual(len(shown), 15)
                self.assertEqual(text.splitlines()[-1], f"'pleat {name} --help-all' shows all options")
                self.assertEqual(text.partition("Examples:")[0].count(":\n\n"), 0)
        self.assertEqual(pleat("--help-all").stdout, pleat("--help").stdout)

    def test_version(self):
        text = self.assert_shown(pleat("--version"))
        self.assertRegex(text, r"^pleat \d+\.\d+\.\d+( \(commit [0-9a-f]{7,40}(-dirty)?\))?\n$")
        if (ROOT / ".git").exists():
            self.assertIn("(commit ", text)
        self.assertEqual(text, self.assert_shown(pleat("version")))

    def test_info(self):
        text = self.assert_shown(pleat("info", environment={"PLEAT_SIMD": "baseline"}))
        lines = dict(line.split(None, 1) for line in text.replace("in use", "in_use").replace(
            "instruction sets", "sets").splitlines())
        self.assertIn("cpu", lines["devices"])
        self.assertRegex(lines["GPUs"], r"^(none: .|cuda:0: .)")
        self.assertEqual("cuda" in lines["devices"], " free" in lines["GPUs"])
        self.assertEqual(lines["in_use"], lines["sets"].split(", ")[-1])
        self.assertGreaterEqual(int(lines["threads"]), 1)
        one = pleat("info", environment={"OMP_NUM_THREADS": "1"}).stdout.decode()
        self.assertIn("threads          1\n", one)

    def test_typos_name_the_nearest_and_where_help_is(self):
        for arguments, text in (
                ("couplngs x -o y", "unknown command 'couplngs'; did you mean 'couplings'? 'pleat help' "
                                    "lists the commands"),
                ("sasx x -o y", "did you mean 'saxs'?"),
                ("zzzzz", "unknown command 'zzzzz'; 'pleat help' lists the commands"),
                ("couplings x --outptu r", "unknown option '--outptu'; did you mean '--output'? "
                                           "'pleat help couplings' shows the options"),
                ("rmsd x -o y --refernce=z", "unknown option '--refernce'; did you mean '--reference'?"),
                ("mi x -o y --zzzzzz", "unknown option '--zzzzzz'; 'pleat help mi' shows the options"),
                ("info x y", "unexpected argument 'x'; 'pleat help info' shows the options"),
                ("mi x", "--output is required; 'pleat help mi' shows the options"),
                ("--seed 3 mi x -o r", "unexpected '--seed' before 'mi'; options follow the command"),
                ("--outptu", "unknown option '--outptu'; options follow a command, which 'pleat help' "
                             "lists")):
            with self.subTest(arguments):
                self.assert_refused(pleat(*arguments.split(), cwd=self.folder), 2, f"pleat: {text}"
                                    if text.startswith("un") else text)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_usage_errors(self):
        for arguments, text in (((), "expected a command"), (("coupling",), "coupling"),
                                (("--frobnicate",), "frobnicate"),
                                (("help", "nothing"), "unknown command 'nothing'; 'pleat help' lists the commands"),
                                (("help", "saks"), "did you mean 'saxs'?"),
                                (("manual", "rsmd"), "did you mean 'rmsd'?")):
            with self.subTest(arguments):
                self.assert_refused(pleat(*arguments), 2, text)

    def test_a_reader_that_leaves_is_no_failure(self):
        with subprocess.Popen(["true"], stdin=subprocess.PIPE) as reader:
            reader.wait()
            done = pleat("help", "couplings", stdout=reader.stdin)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            reader.stdin.close()

    def test_a_full_disk_is_told(self):
        with open("/dev/full", "wb") as full:
            done = pleat("--version", stdout=full)
        self.assertEqual(done.returncode, 5)
        self.assertEqual(done.stderr.decode(),
                         "pleat: standard output: cannot be written: No space left on device\n")


if __name__ == "__main__":
    unittest.main()
