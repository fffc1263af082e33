#!/usr/bin/env python3
# Makes the figures of the site: runs the commands of each page that shows figures, as its reader would.
"""Usage: figures.py PAGES_FOLDER, which stage.py has written. The program is PLEAT_PROGRAM, by default that of the
build of the Python module (PLEAT_PACKAGE, or the newest)."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import python_reference

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
from snippets import figures, snippets  # noqa: E402  pylint: disable=wrong-import-position


def run(command, folder, package, program):
    """Runs one command of a page; ends the build with its errors if it fails."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PLEAT_")}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          env={**kept, "PATH": f"{program.parent}:{kept.get('PATH', '')}", "MPLBACKEND": "Agg",
                               "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"})
    if done.returncode != 0:
        sys.exit(f"figures.py: cannot run {command[-1]}\n{done.stderr}")


def make(text, package, program, target):
    """Runs a page up to its last figure, and copies its figures."""
    with tempfile.TemporaryDirectory(prefix="pleat-figures-") as name:
        folder = Path(name)
        (folder / "data").symlink_to(ROOT / "data")
        found = [one for one in snippets(text) if not one.left_out]
        last = max(n for n, one in enumerate(found) if one.language == "python" and ".savefig(" in one.text)
        for one in found[:last]:
            if one.language != "python":
                run(["bash", "-eu", "-c", one.text], folder, package, program)
        run([sys.executable, "-c", "\n".join(one.text for one in found[:last + 1] if one.language == "python")], folder,
            package, program)
        for figure in figures(text):
            shutil.copy(folder / figure, target / figure)


def main(pages):
    package = python_reference.stub_folder(ROOT).resolve()
    program = Path(os.environ.get("PLEAT_PROGRAM") or package.parents[1] / "apps" / "pleat" / "pleat").resolve()
    if not program.is_file():
        sys.exit(f"figures.py: expected the program {program}, found none; set PLEAT_PROGRAM")
    target = pages / "figures"
    target.mkdir()
    made = set()
    for page in sorted(pages.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        names = figures(text)
        if made & set(names):
            sys.exit(f"figures.py: {page}: expected figures of names of their own, found those of another page")
        made |= set(names)
        if names:
            make(text, package, program, target)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"{sys.argv[0]}: expected the FOLDER of pages")
    main(Path(sys.argv[1]))
