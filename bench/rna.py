#!/usr/bin/env python3
# Prints the precision of pleat's contacts of RNA beside those of published methods, and how far its probabilities are off.
"""Definitions of coconet (KIT-MBS/coconet, ppv.py): a contact has atoms nearer than 10 angstrom and |i - j| > 4;
tertiary pairs are those more than 2 columns away from every listed nested base pair."""
import argparse
import csv
import datetime
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import record

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEASURES = ("top_L2", "top_L", "tertiary_top_L2", "tertiary_top_L")
CONTACT, PROBABILITY_CONTACT, LEAST_SEPARATION = 10.0, 8.0, 5
EDGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0001)


def families(data):
    """[(family, structure, chain)] of the alignments that are there."""
    lists = [(data / f"CCNListOf{name}.txt").read_text(encoding="ascii").split()
             for name in ("MSAFiles", "PDBFiles", "PDBChains")]
    return [one for one in zip(*lists) if alignment(data, one[0]).exists()]


def alignment(data, family):
    return data / "MSA" / f"{family}.faclean.gz"


def base_pairs(data, structure):
    """The nested base pairs of the structure, columns from 1."""
    text = (data / "secstruct" / f"secstruct_{structure}.txt").read_text(encoding="ascii")
    marks = "".join(re.findall(r"^\s*SECSTRUCT\s*:\s*(\S+)", text, re.M))
    opened, pairs = [], []
    for column, mark in enumerate(marks, 1):
        if mark == "(":
            opened.append(column)
        elif mark == ")":
            pairs.append((opened.pop(), column))
    return pairs


class Family:
    """The pairs of one run, best first: (i, j, contact, contact by the probability's cutoff, probability)."""

    def __init__(self, run, listed):
        manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
        self.columns = manifest["results"]["columns"]
        near = {(i + di, j + dj) for i, j in listed for di in range(-2, 3) for dj in range(-2, 3)}
        with open(run / "contacts.tsv", encoding="utf-8") as table:
            self.pairs = [(int(row["i"]), int(row["j"]), self.below(row, CONTACT),
                           self.below(row, PROBABILITY_CONTACT), float(row["probability"]))
                          for row in csv.DictReader(table, delimiter="\t")]
        self.tertiary = [pair for pair in self.pairs if pair[:2] not in near]

    @staticmethod
    def below(row, cutoff):
        return row["distance"] != "NA" and float(row["distance"]) < cutoff

    def precision(self):
        def share(pairs, count):
            return sum(pair[2] for pair in pairs[:count]) / count
        return {"top_L2": share(self.pairs, self.columns // 2), "top_L": share(self.pairs, self.columns),
                "tertiary_top_L2": share(self.tertiary, self.columns // 2),
                "tertiary_top_L": share(self.tertiary, self.columns)}

    def top_error(self):
        """|mean probability - share of contacts| of the best L/2 pairs."""
        best = self.pairs[:self.columns // 2]
        return abs(sum(pair[4] - pair[3] for pair in best)) / len(best)


def calibration_error(found):
    """Mean |mean probability - share of contacts| over bins above 0.1, weighted by pairs."""
    pairs = [pair for family in found for pair in family.pairs]
    total = count = 0
    for low, high in zip(EDGES[:-1], EDGES[1:]):
        inside = [pair for pair in pairs if low <= pair[4] < high]
        total += abs(sum(pair[4] - pair[3] for pair in inside))
        count += len(inside)
    return total / count


def published(path):
    """{program: {measure: [value per family]}} of the table of other programs, if it is there."""
    programs = {}
    if path.exists():
        with open(path, encoding="utf-8") as table:
            for row in csv.DictReader(table, delimiter="\t"):
                if row["program"].startswith("pleat") or row["family"].startswith(("mean", "median")):
                    continue
                values = programs.setdefault(row["program"], {measure: [] for measure in MEASURES})
                for measure in MEASURES:
                    values[measure].append(float(row[measure]))
    return programs


def fit(options, keep):
    found = []
    for family, structure, chain in families(options.data):
        run = keep / family
        if not (run / "contacts.tsv").exists():
            subprocess.run([options.pleat, "couplings", alignment(options.data, family), "-o", run, "-q",
                            "--alphabet", "rna", "--min-separation", str(LEAST_SEPARATION),
                            "--structure", f"{options.data / 'PDBFiles' / structure}.pdb.gz:{chain}",
                            "--threads", str(options.threads), *options.options.split()], check=True)
        found.append(Family(run, base_pairs(options.data, structure)))
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Precision of contacts of RNA families (median / mean).")
    shared = ROOT.parent / "shared"
    parser.add_argument("--data", type=pathlib.Path, default=shared / "data" / "rna_contacts")
    parser.add_argument("--published", type=pathlib.Path,
                        default=shared / "oracle" / "mutants" / "rna_precision.tsv",
                        help="table of other programs' precision by family")
    parser.add_argument("--pleat", default="pleat", help="pleat program (default: on PATH)")
    parser.add_argument("--options", default="", help="further options of pleat couplings, in one text")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the runs, which a later call reuses")
    parser.add_argument("--json", type=pathlib.Path, help="write the numbers here too")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        print(f"{options.data}: no such folder; nothing to measure", file=sys.stderr)
        return 2
    if not shutil.which(options.pleat):
        print(f"{options.pleat}: no such program", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="pleat-rna-") as folder:
        keep = options.keep or pathlib.Path(folder)
        keep.mkdir(parents=True, exist_ok=True)
        found = fit(options, keep)
    rows = [family.precision() for family in found]
    table = published(options.published)
    table["pleat"] = {measure: [row[measure] for row in rows] for measure in MEASURES}
    print(f"{len(found)} families, median / mean\n{'':10s} " + " ".join(f"{name:>16s}" for name in MEASURES))
    summary = {}
    for program, values in table.items():
        summary[program] = {measure: {"median": statistics.median(values[measure]),
                                      "mean": statistics.mean(values[measure])} for measure in MEASURES}
        print(f"{program:10s} " + " ".join(f"{one['median']:8.3f} / {one['mean']:.3f}"
                                           for one in summary[program].values()))
    errors = [family.top_error() for family in found]
    error = {"above_0.1": calibration_error(found), "top_L2_median": statistics.median(errors),
             "top_L2_max": max(errors)}
    print(f"probabilities (8 angstrom): calibration error above 0.1 {error['above_0.1']:.4f}; of the best L/2 "
          f"pairs of a family: median {error['top_L2_median']:.3f}, greatest {error['top_L2_max']:.3f}")
    mean = summary["pleat"]
    is_met = (mean["top_L"]["mean"] >= 0.49 and mean["top_L2"]["mean"] >= 0.64 and error["above_0.1"] <= 0.02
              and error["top_L2_median"] <= 0.12)
    if options.json:
        options.json.write_text(json.dumps({"format": "pleat-rna-1", "date": datetime.date.today().isoformat(),
                                            "commit": record.describe_commit(ROOT),
                                            "families": len(found), "precision": summary,
                                            "calibration_error": error, "bars_met": is_met}, indent=1) + "\n",
                                encoding="utf-8")
    print("bars (mean top L 0.49, top L/2 0.64; errors 0.02, 0.12): " + ("met" if is_met else "not met"))
    return 0 if is_met else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ValueError, OSError, subprocess.CalledProcessError) as problem:
        print(problem, file=sys.stderr)
        sys.exit(3)
