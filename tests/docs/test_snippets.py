# Every command and snippet of README.md and the pages of docs runs as its reader would run it.
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from snippets import figures, inline_commands, matches, snippets

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("PLEAT_PROGRAM", "pleat")
MODULE = os.environ.get("PLEAT_MODULE", "")  # folder of the Python module; empty: not built
# A python3 that stands in front of Debian's on PATH has none of its packages.
PYTHON = os.environ.get("PLEAT_PYTHON") or shutil.which("/usr/bin/python3") or sys.executable
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")),
         *sorted((ROOT / "docs" / "tutorials").glob("*.md")), ROOT / "docs" / "cli" / "README.md"]
MAY_LACK = ("MDAnalysis", "mdtraj")  # packages without which a page that imports them is skipped
MOST_LEFT_OUT = 8
PARTED = "<<< the next block >>>"


def environment(folder):
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("PLEAT_", "OMPI_", "PMI", "SLURM_"))}
    return {**kept, "PATH": f"{folder / 'bin'}:{kept.get('PATH', '')}", "PYTHONPATH": MODULE,
            "LC_ALL": "C.UTF-8", "MPLBACKEND": "Agg"}


def has(package):
    return subprocess.run([PYTHON, "-c", f"import {package}"], capture_output=True, check=False).returncode == 0


def furnish(folder):
    """A folder as the pages suppose it: the sources' data, a built program, and it and Python on PATH."""
    (folder / "data").symlink_to(ROOT / "data")
    for place in (folder / "bin", folder / "build" / "release" / "apps" / "pleat"):
        place.mkdir(parents=True)
        (place / "pleat").symlink_to(Path(PROGRAM).resolve())
    python = folder / "bin" / "python3"
    python.write_text(f'#!/bin/sh\nexec "{PYTHON}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)


class Pages(unittest.TestCase):
    def run_block(self, snippet, folder, command):
        done = subprocess.run(command, cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0,
                         f"line {snippet.line}: {snippet.text}\n{done.stdout}{done.stderr}")
        return done.stdout

    def compare(self, snippet, printed):
        if snippet.expected is not None:
            self.assertTrue(matches(snippet.expected, printed),
                            f"line {snippet.line}: expected\n{snippet.expected}found\n{printed}")

    def run_page(self, page):
        text = page.read_text(encoding="utf-8")
        found = [one for one in snippets(text) if not one.left_out]
        for package in MAY_LACK:
            if f"import {package}\n" in text and not has(package):
                self.skipTest(f"{page.name}: {package} is not there (scripts/setup checks)")
        with tempfile.TemporaryDirectory(prefix="pleat-docs-") as name:
            folder = Path(name)
            furnish(folder)
            for one in found:
                if one.language != "python":
                    printed = self.run_block(one, folder, ["bash", "-eu", "-c", one.text])
                    self.compare(one, printed)
            code = [one for one in found if one.language == "python"]
            if code and not MODULE:
                self.skipTest(f"{page.name}: the Python module is not built")
            if figures(text) and not has("matplotlib"):
                self.skipTest(f"{page.name}: matplotlib is not there (scripts/setup docs)")
            if code:
                # One session, as in a notebook.
                script = f"\nprint({PARTED!r})\n".join(one.text for one in code)
                printed = self.run_block(code[0], folder, [PYTHON, "-c", script])
                for one, part in zip(code, printed.split(PARTED + "\n")):
                    self.compare(one, part)
            for name in figures(text):
                self.assertEqual((folder / name).read_bytes()[:4], b"\x89PNG", name)

    def test_pages(self):
        for page in PAGES:
            with self.subTest(page.relative_to(ROOT).as_posix()):
                self.run_page(page)

    def test_few_blocks_are_left_out(self):
        left_out = [(page.name, one.line, one.left_out) for page in PAGES
                    for one in snippets(page.read_text(encoding="utf-8"))
                    if one.left_out and one.left_out != "make test-packages does"]
        self.assertLessEqual(len(left_out), MOST_LEFT_OUT, left_out)

    def test_commands_within_lines_have_options_that_exist(self):
        checked = 0
        for page in [*PAGES, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "src" / "pleat").glob("*/README.md"))]:
            for command, flags in inline_commands(page.read_text(encoding="utf-8")):
                with self.subTest(page=page.relative_to(ROOT).as_posix(), command=command):
                    done = subprocess.run([PROGRAM, command, "--help-all"], capture_output=True, text=True,
                                          env=environment(ROOT), check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    words = set(done.stdout.replace(",", " ").split())
                    self.assertEqual([flag for flag in flags if flag not in words], [])
                    checked += 1
        self.assertGreater(checked, 20)


class Reading(unittest.TestCase):
    """The reading of pages itself."""

    def test_blocks(self):
        page = ("# A\n<!-- run: touch x -->\n```sh\nls\n```\n\n```text\nx\n```\n\nText.\n\n```text\nfree\n```\n"
                "<!-- not run: needs a GPU -->\n```cmake\nfind()\n```\n")
        found = snippets(page)
        self.assertEqual([(one.language, one.expected, one.left_out) for one in found],
                         [("hidden", None, None), ("sh", "x\n", None), ("cmake", None, "needs a GPU")])
        self.assertEqual(found[1].line, 3)
        for broken in ("```\nls\n```\n", "```cpp\nint x;\n```\n", "Text:\n\n    ls\n"):
            with self.assertRaises(ValueError):
                snippets(broken)

    def test_figures(self):
        self.assertEqual(figures("![A map](../figures/a-b.png) [b](figures/c.png) ![d](images/d.png)"), ["a-b.png"])

    def test_outputs(self):
        self.assertTrue(matches("a ... c\n", "a b c\n"))
        self.assertTrue(matches("a\n...\nd\n", "a\nb\nc\nd\n"))
        self.assertTrue(matches("a\n...\nd\n", "a\nd\n"))
        for expected, printed in (("a\n", "b\n"), ("a\n", "a\nb\n"), ("a ... c\n", "a b\nc\n"), ("a\nb\n", "a\n")):
            self.assertFalse(matches(expected, printed), (expected, printed))

    def test_inline(self):
        self.assertEqual(list(inline_commands("Say `pleat mi x --order 3 -o run` and `-o`.")),
                         [("mi", ["--order"])])


if __name__ == "__main__":
    unittest.main()
