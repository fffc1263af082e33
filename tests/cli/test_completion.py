# Completion: what bash, zsh and fish offer after a part of the command line, and manual pages.
import re
import shutil
import subprocess
import unittest

from program import ROOT, ProgramTest, pleat

CAPTURED = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "cli").glob("*.txt")}
COMMANDS = sorted(name.removeprefix("pleat-") for name in CAPTURED if name != "pleat")


def flags_of(command):
    """The long options of a captured help."""
    return set(re.findall(r"^ {2,6}(?:-\w, )?(--[a-z][a-z0-9-]*)", CAPTURED[f"pleat-{command}"], re.MULTILINE))


class Completion(ProgramTest):
    def script(self, shell):
        done = pleat("completion", shell)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        path = self.folder / f"completion.{shell}"
        path.write_bytes(done.stdout)
        return path

    def shell(self, *command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False,
                              timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return done.stdout.split("\n")[:-1]

    def test_refusals(self):
        self.assert_refused(pleat("completion", "csh"), 2, "SHELL: expected bash, zsh or fish, found 'csh'")
        self.assert_refused(pleat("completion"), 2, "SHELL")

    def bash(self, *words):
        quoted = " ".join(f"'{word}'" for word in ("pleat", *words))
        return self.shell("bash", "--norc", "-c", f"source {self.folder}/completion.bash; COMP_WORDS=({quoted}); "
                          f"COMP_CWORD={len(words)}; _pleat; printf '%s\\n' \"${{COMPREPLY[@]}}\"")

    @unittest.skipUnless(shutil.which("bash"), "bash is not there")
    def test_bash(self):
        self.script("bash")
        (self.folder / "family one.a3m").touch()
        (self.folder / "families").mkdir()
        self.assertEqual(set(self.bash("")), {*COMMANDS, "version", "help"})
        self.assertEqual(self.bash("coup"), ["couplings"])
        self.assertEqual(self.bash("--v"), ["--version"])
        for command in COMMANDS:
            self.assertEqual({word for word in self.bash(command, "--")}, flags_of(command), command)
        self.assertEqual(self.bash("couplings", "--device", "c"), ["cpu", "cuda", "cuda:all"])
        self.assertEqual(self.bash("couplings", "-d", "r"), ["reference"])
        self.assertEqual(self.bash("couplings", "--format", "=", "a"), ["a2m", "a3m"])
        self.assertEqual(self.bash("couplings", "--format", "="), self.bash("couplings", "--format", ""))
        self.assertEqual(sorted(self.bash("couplings", "fam")), ["families", "family one.a3m"])
        self.assertEqual(self.bash("couplings", "-o", "fam"), ["families"])
        self.assertEqual(self.bash("couplings", "--threads", "fam"), [""])
        self.assertEqual(self.bash("help", "sax"), ["saxs"])
        self.assertEqual(self.bash("completion", ""), ["bash", "zsh", "fish"])

    @unittest.skipUnless(shutil.which("fish"), "fish is not there")
    def test_fish(self):
        script = self.script("fish")
        (self.folder / "families").mkdir()

        def fish(line):
            home = {"HOME": str(self.folder), "PATH": "/usr/bin:/bin"}
            done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"],
                                  cwd=self.folder, env=home, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return [entry.split("\t")[0] for entry in done.stdout.splitlines()]
        self.assertEqual(set(fish("pleat ")), {*COMMANDS, "version", "help"})
        for command in COMMANDS:
            self.assertEqual({word.rstrip("=") for word in fish(f"pleat {command} --")}, flags_of(command))
        self.assertEqual(fish("pleat mi --null e"), ["exact"])
        self.assertEqual(fish("pleat mi --device c"), ["cpu", "cuda", "cuda:all"])
        self.assertEqual(fish("pleat mi -o fam"), ["families/"])
        self.assertEqual(fish("pleat mi --threads fam"), [])
        self.assertEqual(fish("pleat completion "), ["bash", "fish", "zsh"])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not there")
    def test_zsh(self):
        script = self.script("zsh")
        # What _arguments is given, an argument a line.
        seen = self.shell("zsh", "-f", "-c", f"compdef() {{ registered=$1:$2 }}; source {script}; "
                          "[[ $registered == _pleat:pleat ]] || exit 1; "
                          "_arguments() { print -rl -- \"$@\" }; "
                          "words=(pleat mi ''); CURRENT=3; _pleat; print; "
                          "_describe() { print -rl -- $commands }; words=(pleat ''); CURRENT=2; _pleat")
        options, commands = seen[:seen.index("")], seen[seen.index("") + 1:]
        self.assertEqual({line.partition(":")[0] for line in commands}, {*COMMANDS, "version", "help"})
        named = {name for line in options for name in re.findall(r"--[a-z][a-z0-9-]*", line.partition("[")[0])}
        self.assertEqual(named, flags_of("mi"))
        null = [line for line in options if line.startswith("--null=")]
        self.assertEqual(len(null), 1)
        self.assertTrue(null[0].endswith(":NAME:(sampled exact both none)"), null)
        self.assertIn("(-o --output)--output=[Folder for the results; made where it is missing]:FOLDER:_files -/",
                      options)
        self.assertIn(":ALIGNMENT:_files", options)


class Manual(ProgramTest):
    def test_pages_hold_what_help_says(self):
        pages = self.folder / "man"
        done = pleat("manual", "-o", pages)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        self.assertEqual({path.stem for path in pages.iterdir()}, set(CAPTURED))
        for command in COMMANDS:
            text = (pages / f"pleat-{command}.1").read_text(encoding="utf-8")
            self.assertEqual(text.encode(), pleat("manual", command).stdout)
            plain = text.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "").replace("\\fI", "")
            for flag in flags_of(command):
                self.assertRegex(plain, rf"(?m)^(-\w, )?{flag}( [A-Z].*)?$")
            for heading in ("NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"):
                self.assertIn(f".SH {heading}\n", text)
            self.assertIn(".TP\n130\nstopped by the user\n", text)
            # Every word of --help's text is in the page.
            words = set(re.findall(r"[A-Za-z]{4,}", CAPTURED[f"pleat-{command}"]))
            missing = words - set(re.findall(r"[A-Za-z]{4,}", plain)) - {
                "Usage", "Options", "Positionals", "Examples", "Example", "Exit", "codes", "environment"}
            self.assertEqual(missing, set(), command)
        self.assertIn(".TP\n\\fBsaxs\\fR\n", (pages / "pleat.1").read_text(encoding="utf-8"))

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not there")
    def test_troff_is_sound(self):
        pages = self.folder / "man"
        pleat("manual", "-o", pages)
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *sorted(pages.iterdir())],
                              capture_output=True, text=True, check=False)
        told = [line for line in done.stdout.splitlines() if "missing date" not in line]
        self.assertEqual(told, [])

    def test_refusals(self):
        self.assert_refused(pleat("manual", "nothing"), 2, "unknown command 'nothing'")
        self.assert_refused(pleat("manual", "mi", "-o", self.folder / "man"), 2, "--output", "found 'mi'")
        (self.folder / "file").touch()
        self.assert_refused(pleat("manual", "-o", self.folder / "file" / "man"), 5, "file/man")


if __name__ == "__main__":
    unittest.main()
