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
         "selection": ["selection"], "mutants": ["mutants"], "parts": ["parts"],
         "along_tree": ["along_tree"],
         "all": ["columns", "clusters", "sets", "scattering", "selection"]}
STRUCTURE = {"mutants": ROOT / "data" / "1ql9_A.pdb.gz"}  # of pages whose runs have none of their own


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
    subprocess.run([PROGRAM, "mi", ROOT / "data" / "trna.sto.gz", "--insertions", "keep", "--max-gaps", "0.5", "--null", "none",
                    "-o", runs / "gaps", "-q"], check=True)
    rna = ROOT / "data" / "RF00005.sto.gz"
    subprocess.run([PROGRAM, "mi", rna, "--max-gaps", "0.5", "--null", "tree", "--null-alignments", "100", "--secondary", rna,
                    "-o", runs / "along_tree", "-q"], check=True, stderr=subprocess.DEVNULL)
    make_mutants(runs / "mutants", folder / "scan.csv")
    for page, names in PAGES.items():
        structure = ["--structure", STRUCTURE[page]] if page in STRUCTURE else []
        subprocess.run([PROGRAM, "report", *(runs / name for name in names), *structure, "-o", folder / f"{page}.html", "-q"],
                       check=True)


def make_mutants(run, scan):
    """Effects in a family with a structure, and a made scan of them: its first column rises with the effect, the
    second falls."""
    command = [PROGRAM, "mutants", ROOT / "data" / "trypsin.a2m.gz", "--max-gaps", "0.2", "--tolerance", "0.05", "-o", run, "-q",
               "-d", "cpu"]
    subprocess.run(command, check=True)
    names, *rows = [line.split("\t") for line in (run / "singles.tsv").read_text(encoding="utf-8").splitlines()]
    effects = [(row[names.index("mutant")], float(row[names.index("prediction_epistatic")])) for row in rows[::9]]
    lines = [f"{mutant},{effect:.3f},{-effect:.3f}" for mutant, effect in effects]
    lines += [f"{effects[0][0]}:{effects[-1][0]},-9,NA", "wt,0,0", "A9999G,1,1"]
    scan.write_text("mutant,rising,falling\n" + "\n".join(lines) + "\n", encoding="utf-8")
    subprocess.run([*command, "--force", "--mutants", scan], check=True)


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
