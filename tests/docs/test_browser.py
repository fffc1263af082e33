# The documentation's site in a browser: builds it, and has browser.mjs look at it in Chromium.
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SKIPPED = 77


def browser():
    return os.environ.get("PLEAT_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")


def missing():
    """What the test needs and the machine lacks, or nothing."""
    if shutil.which("node") is None:
        return "node"
    if not (ROOT / "report" / "node_modules" / "playwright-core").is_dir():
        return "'npm install --no-save' in report/"
    if browser() is None:
        return "Chromium"
    python = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else "python3"
    if subprocess.run([python, "-c", "import sphinx, furo, myst_parser, matplotlib"], capture_output=True,
                      check=False).returncode != 0:
        return "Sphinx, furo, myst-parser and matplotlib (scripts/setup docs)"
    return None


def main():
    lacking = missing()
    if lacking:
        print(f"skipped: needs {lacking}")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="pleat-site-") as folder:
        subprocess.run([ROOT / "scripts" / "build_docs", folder], check=True)
        shots = os.environ.get("PLEAT_SHOTS", "")  # a folder for pictures, if any
        done = subprocess.run(["node", HERE / "browser.mjs", Path(folder, "html"), browser(), shots], check=False)
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
