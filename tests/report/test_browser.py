# The page in a browser: makes runs and pages, and has browser.mjs look at them in Chromium.
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = os.environ.get("PLEAT_PROGRAM", "pleat")
SKIPPED = 77
# Name of a page, and the runs on it.
PAGES = {"columns": ["columns"], "gaps": ["gaps"], "frames": ["clusters"], "scattering": ["scattering"],
         "hostile": ["<img src=x onerror=alert(4)>"], "wide": ["wide"], "large": ["large"], "tiny": ["tiny"], "sets": ["sets"],
         "selection": ["selection"], "all": ["columns", "clusters", "sets", "scattering", "selection"]}


def missing():
    """What the test needs and the machine lacks, or nothing."""
    if shutil.which("node") is None:
        return "node"
    if not (ROOT / "report" / "node_modules" / "playwright-core").is_dir():
        return "'npm install --no-save' in report/"
    if browser() is None:
        return "Chromium"
    return None


def browser():
    return os.environ.get("PLEAT_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")


def make_pages(folder):
    runs = folder / "runs"
    subprocess.run([sys.executable, "-B", HERE / "make_runs.py", runs], check=True)
    subprocess.run([PROGRAM, "mi", ROOT / "data" / "trypsin.a2m.gz", "--structure", ROOT / "data" / "1ql9_A.pdb.gz",
                    "--null", "none", "-o", runs / "columns", "-q"], check=True)
    # As scripts/demo does: 174 columns, of which 75 are kept.
    subprocess.run([PROGRAM, "mi", ROOT / "data" / "trna.sto.gz", "--max-gaps", "0.5", "--null", "none",
                    "-o", runs / "gaps", "-q"], check=True)
    for page, names in PAGES.items():
        subprocess.run([PROGRAM, "report", *(runs / name for name in names), "-o", folder / f"{page}.html", "-q"],
                       check=True)


def main():
    lacking = missing()
    if lacking:
        print(f"skipped: needs {lacking}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        make_pages(Path(folder))
        shots = os.environ.get("PLEAT_SHOTS", "")  # a folder for pictures of every panel, if any
        done = subprocess.run(["node", HERE / "browser.mjs", folder, browser(), shots], check=False)
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
