#!/usr/bin/env python3
# Times two builds of pleat, one run of each engine in turns, and writes a record of each for compare.py.
"""bench/versions.py OLD NEW --commits OLD NEW [--repeats N] [--records DIR] [--factor F]

Exit status 1 if the new program needs more than F times the old one's median of user seconds in any case
(default 1.03).
"""
import argparse
import datetime
import pathlib
import random
import struct
import sys
import tempfile
from array import array

import compare
import record
from measure import measure

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "data"
CASES = {
    "couplings": ["couplings", f"{DATA}/cheY.aln.gz"],
    "couplings-structure": ["couplings", f"{DATA}/trypsin.a2m.gz", "--structure", f"{DATA}/1ql9_A.pdb.gz"],
    "mi-exact": ["mi", f"{DATA}/cheY.aln.gz", "--null", "exact"],
    "mi-sampled": ["mi", f"{DATA}/cheY.aln.gz", "--null", "sampled", "-n", "400"],
    "mi-triples": ["mi", f"{DATA}/trna.sto.gz", "--max-gaps", "0.3", "--order", "3", "--null", "sampled",
                   "-n", "200"],
    "rmsd": ["rmsd", "made.npy", "-c", "4"],
    "rmsd-tm": ["rmsd", "made.npy", "--metric", "tm", "--frames", "::67"],
    "cluster-gromos": ["cluster", "made.npy", "-m", "gromos", "-c", "4"],
    "cluster-average": ["cluster", "made.npy", "-m", "average", "-k", "2:8", "--frames", "::2"],
    "saxs": ["saxs", *[f"{DATA}/1hel.pdb.gz"] * 40, "--data", f"{DATA}/1hel_made.dat.gz",
             "--method", "debye"],
    "saxs-frames": ["saxs", *[f"{DATA}/hivp.dcd.gz"] * 6, "--topology", f"{DATA}/hivp.pdb.gz",
                    "--model", "one-bead", "--q-points", "1000"],
}


def write_ensemble(path, frames, atoms, seed):
    """A made ensemble in NPY, [frame, atom, axis]: eight random chains, each with noise of 1 angstrom."""
    noise = random.Random(seed)
    centres = [[noise.gauss(0, 10) for _ in range(3 * atoms)] for _ in range(8)]
    header = str({"descr": "<f4", "fortran_order": False, "shape": (frames, atoms, 3)})
    header += " " * ((-(len(header) + 11)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for frame in range(frames):
            file.write(array("f", [x + noise.gauss(0, 1) for x in centres[frame % 8]]).tobytes())


def time_cases(programs, repeats, folder):
    """The samples of each case and program; the first to run changes from repeat to repeat."""
    write_ensemble(f"{folder}/made.npy", 8000, 60, 1)
    samples = {name: {version: [] for version in programs} for name in CASES}
    for repeat in range(repeats):
        for name, arguments in CASES.items():
            for version in sorted(programs, reverse=repeat % 2 == 1):
                command = [programs[version], *arguments, "-t", "1", "-o", f"{version}-{name}-{repeat}"]
                samples[name][version].append(measure(command, folder))
            print(f"{repeat + 1}/{repeats}  {name:20s}", *(f"{version} {runs[-1]['user_s']:.3f} s"
                  for version, runs in samples[name].items()), file=sys.stderr)
    return samples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path, help="a program pleat")
    parser.add_argument("new", type=pathlib.Path, help="a later one")
    parser.add_argument("--commits", nargs=2, required=True, help="of OLD and NEW, for the records")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--records", type=pathlib.Path, default=ROOT / "bench/records")
    parser.add_argument("--factor", default="1.03")
    options = parser.parse_args()
    programs = {"old": options.old.resolve(), "new": options.new.resolve()}
    with tempfile.TemporaryDirectory(prefix="pleat-bench-") as folder:
        samples = time_cases(programs, options.repeats, folder)
    date, paths = datetime.date.today().isoformat(), []
    for version, commit in zip(programs, options.commits):
        cases = [record.summarise({"name": name, "sequences": 0, "columns": 0}, {"pleat": runs[version]}, {})
                 for name, runs in samples.items()]
        paths.append(str(options.records / f"{date}-versions-{version}.json"))
        record.write(paths[-1], {
            "format": record.FORMAT, "date": date, "commit": commit,
            "machine": record.describe_machine(), "threads": 1, "repeats": options.repeats, "absent": [],
            "versions": {"pleat": version}, "commands": {name: [word.removeprefix(f"{ROOT}/") for word in words]
                         for name, words in CASES.items()}, "cases": cases})
    return compare.main([*paths, "--factor", options.factor])


if __name__ == "__main__":
    sys.exit(main())
