#!/usr/bin/env python3
# Writes src/pleat/saxs/model/form_factor_tables.cpp from the tables that `bench_saxs_calibration` derives.
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "pleat" / "saxs" / "model" / "form_factor_tables.cpp"
# Packages of Debian 12 with structures of proteins; bench/saxs.md names their versions.
PACKAGES = ("freesasa", "pymol-data", "python-biopython-doc", "r-cran-bio3d", "theseus-examples")
HEAD = """// Form factors of coarse resolution, as scripts/calibrate_form_factors.py derived them from structures.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {

namespace {

constexpr std::size_t kPoints = 51;
constexpr double kStep = 0.015;

// clang-format off
"""
TAIL = """// clang-format on

template <std::size_t N>
FormFactorTable table_of(Resolution resolution, const std::array<double, N>& factors) {
    FormFactorTable table;
    table.types = bead_types(resolution);
    for (std::size_t k = 0; k < kPoints; ++k) table.q.push_back(kStep * static_cast<double>(k));
    table.factors = Array<double, 2>(static_cast<Index>(kPoints), static_cast<Index>(table.types.size()));
    std::copy(factors.begin(), factors.end(), table.factors.begin());
    return table;
}

}  // namespace

const FormFactorTable& derived_form_factors(Resolution resolution) {
    static const FormFactorTable kOne = table_of(Resolution::one_bead, kOneBead);
    static const FormFactorTable kTwo = table_of(Resolution::two_bead, kTwoBead);
    if (resolution == Resolution::one_bead) return kOne;
    if (resolution == Resolution::two_bead) return kTwo;
    throw std::logic_error("only the bead models have a table");
}

}  // namespace pleat::saxs
"""


def array(name, path):
    """The table as a C++ array, rows of q one after another, ten numbers a line."""
    header, *rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    numbers = [f"{float(value):.5g}" for row in rows for value in row[1:]]
    lines = [f"// {' '.join(header[1:])}", f"constexpr std::array<double, kPoints * {len(header) - 1}> {name} = {{"]
    lines += ["    " + ", ".join(numbers[n:n + 12]) + "," for n in range(0, len(numbers), 12)]
    return "\n".join(lines + ["};", ""])


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
        text = HEAD + array("kOneBead", run / "form_factors_one_bead.tsv") + "\n"
        text += array("kTwoBead", run / "form_factors_two_bead.tsv") + TAIL
    TARGET.write_text(text, encoding="utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
