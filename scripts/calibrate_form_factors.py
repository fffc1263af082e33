#!/usr/bin/env python3
# Writes the form factors of beads in src/pleat/saxs/model from the tables that `bench_saxs_calibration` derives.
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "pleat" / "saxs" / "model"
# Packages of Debian 12 with structures of proteins; bench/saxs.md names their versions.
PACKAGES = ("freesasa", "pymol-data", "python-biopython-doc", "r-cran-bio3d", "theseus-examples")


def write_table(path, target):
    """Writes the factors of each q in a row, without names and q: the published layout."""
    rows = [line.split("\t")[1:] for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    target.write_text("".join("\t".join(f"{float(value):.5g}" for value in row) + "\n" for row in rows), encoding="utf-8")
    print(f"wrote {target.relative_to(ROOT)}")


def debian_structures(folder):
    """Downloads and unpacks the packages with apt-get and dpkg-deb, and returns a list of their structures' files."""
    subprocess.run(["apt-get", "download", "-q", *PACKAGES], cwd=folder, check=True)
    for package in sorted(folder.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", package.name, "unpacked"], cwd=folder, check=True)
    files = [path for path in sorted((folder / "unpacked").rglob("*"))
             if path.is_file() and re.search(r"\.(pdb|ent|cif)(\.gz)?$", path.name)]
    (folder / "list.txt").write_text("".join(f"{path}\n" for path in files), encoding="utf-8")
    return f"@{folder / 'list.txt'}"


def main():
    parser = argparse.ArgumentParser(description="Derive the form factors of the bead models again.")
    parser.add_argument("program", help="the program bench_saxs_calibration (PLEAT_BENCH=ON)")
    parser.add_argument("structures", nargs="*", help="PDB or mmCIF files, folders, or @LIST; by default those of the "
                                                      f"Debian packages {', '.join(PACKAGES)}")
    parser.add_argument("--unseen", action="append", default=[], help="structures for the test, left out if similar to others")
    parser.add_argument("-o", "--output", help="folder that keeps its tables")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = Path(arguments.output or folder / "run")
        structures = arguments.structures or [debian_structures(folder)]
        unseen = [word for source in arguments.unseen for word in ("--unseen", source)]
        done = subprocess.run([arguments.program, str(run), *structures, *unseen], check=False)
        if done.returncode != 0:
            sys.exit(done.returncode)
        for model in ("one_bead", "two_bead"):
            write_table(run / f"form_factors_{model}.tsv", TARGET / f"{model}_factors.tsv")


if __name__ == "__main__":
    main()
