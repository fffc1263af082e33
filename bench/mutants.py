#!/usr/bin/env python3
# Prints how well pleat mutants agrees with the scans of ../shared, with and without weights, and intervals over proteins.
"""Each scan is fitted with coverage 0.5. A gain is the rank correlation of a weighted prediction minus that without
weights; scans of one protein are averaged. Intervals: the mean of proteins that are drawn again, 95 %."""
import argparse
import csv
import datetime
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import record

ROOT = Path(__file__).resolve().parents[1]
PREDICTIONS = ("independent", "epistatic", "conservation", "weighted")
PABP = "mutants/PF00076_PABP_YEAST_126-200.a2m.gz"
PDZ = "mutants/PF00595_DLG4_RAT_313-391.fasta.gz"
DATA = "mutants_structure/"

# Scan, protein, alignment, table, column of the measure, sign (-1: higher is worse), structure, whether FILE.target.fasta
# beside the structure counts the residues.
SCANS = [
    ("PABP singles, Melamed 2013", "PABP", PABP, "mutants/PABP_YEAST_Fields2013-singles.csv", "log", 1,
     DATA + "PABP_YEAST.pdb.gz", False),
    ("PABP doubles, Melamed 2013", "PABP", PABP, DATA + "PABP_YEAST_doubles_MERGE.csv.gz", "y", 1,
     DATA + "PABP_YEAST.pdb.gz", False),
    ("PDZ3, McLaughlin 2012", "PDZ3", PDZ, "mutants/DLG4_RAT_Ranganathan2012.csv", "CRIPT", 1, DATA + "DLG4_RAT.pdb.gz",
     True),
    ("PDZ3, Faure 2022", "PDZ3", PDZ, DATA + "DLG4_HUMAN_Faure_2021.csv", "score", 1, DATA + "DLG4_RAT.pdb.gz", True),
    ("MBD11 (6acv), Tsuboyama 2023", "MBD11", DATA + "MBD11_6acv.fasta.gz", DATA + "MBD11_6acv.csv", "DDG", -1,
     DATA + "MBD11_6acv.pdb.gz", False),
    ("DHFR, Thompson 2020", "DHFR", DATA + "DYR_ECOLI_1-159.a2m.gz", DATA + "DYR_ECOLI_Thompson_plusLon_2019.csv", "score",
     1, DATA + "DYR_ECOLI.pdb.gz", False),
    ("GRB2-SH3 singles, Faure 2022", "GRB2", DATA + "PF00018_GRB2_HUMAN_162-207.fasta.gz",
     DATA + "GRB2_HUMAN_Faure_2021.csv", "score", 1, DATA + "GRB2_HUMAN.pdb.gz", True),
    ("KKA2, Melnikov 2014", "KKA2", DATA + "KKA2_KLEPN_1-264.a2m.gz", DATA + "KKA2_KLEPN_Melnikov_2014.csv", "score", 1,
     DATA + "KKA2_KLEPN.pdb.gz", False),
    ("p53, Giacomelli 2018", "p53", DATA + "P53_HUMAN_1-393.a2m.gz", DATA + "P53_HUMAN_Giacomelli_NULL_Nutlin_2018.csv",
     "score", 1, DATA + "P53_HUMAN.pdb.gz", False),
    ("p53, Kotler 2018", "p53", DATA + "P53_HUMAN_1-393.a2m.gz", DATA + "P53_HUMAN_Kotler_2018.csv", "score", 1,
     DATA + "P53_HUMAN.pdb.gz", False),
]


def scan(program, data, case, folder):
    """{"scan", "protein", "mutants", prediction: Spearman} of one case; fits of one alignment are kept in `folder`."""
    name, protein, alignment, table, measure, sign, structure, has_target = case
    run = folder / protein
    target = ["--target", data / structure.replace(".pdb.gz", ".target.fasta")] if has_target else []
    subprocess.run([program, "mutants", data / alignment, "-o", run, "--force", "-q", "--min-coverage", "0.5", "--mutants",
                    data / table, "--structure", data / structure, *target], check=True)
    with open(run / "correlations.tsv", encoding="utf-8") as lines:
        row = next(row for row in csv.DictReader(lines, delimiter="\t") if row["column"] == measure)
    found = {"scan": name, "protein": protein, "mutants": int(row["count"])}
    return found | {kind: round(sign * float(row[f"spearman_{kind}"]), 4) for kind in PREDICTIONS}


def gains(scans, kind):
    """Of each protein, the mean over its scans."""
    by_protein = {}
    for one in scans:
        by_protein.setdefault(one["protein"], []).append(one[kind] - one["epistatic"])
    return [statistics.fmean(values) for values in by_protein.values()]


def interval(values, draws=10000):
    """The mean, and the bounds of 95 % of the means of as many values that are drawn again."""
    source = random.Random(1)
    means = sorted(statistics.fmean(source.choices(values, k=len(values))) for _ in range(draws))
    return [round(value, 4) for value in (statistics.fmean(values), means[draws // 40], means[-draws // 40])]


def main():
    parser = argparse.ArgumentParser(description="Print the rank correlations of pleat mutants with measured scans.")
    parser.add_argument("--pleat", default="pleat", help="the program")
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder of shared data")
    parser.add_argument("--runs", type=Path, help="keep the runs, and fits that are there, in this folder")
    parser.add_argument("--output", type=Path, help="write a record to this file")
    arguments = parser.parse_args()
    data = arguments.shared / "data"
    if not (data / "mutants_structure").is_dir():
        sys.exit(f"{data}: expected the folders mutants and mutants_structure, found none")
    with tempfile.TemporaryDirectory() as folder:
        scans = [scan(arguments.pleat, data, case, arguments.runs or Path(folder)) for case in SCANS]
    print("| scan | mutants | " + " | ".join(PREDICTIONS) + " |\n|---|---|---|---|---|---|")
    for one in scans:
        print(f"| {one['scan']} | {one['mutants']} | " + " | ".join(f"{one[kind]:.3f}" for kind in PREDICTIONS) + " |")
    summary = {kind: interval(gains(scans, kind)) for kind in PREDICTIONS if kind != "epistatic"}
    print(f"\ngain over epistatic, mean of {len(gains(scans, 'weighted'))} proteins and 95 % of the bootstrap over them:")
    for kind, (mean, low, high) in summary.items():
        print(f"{kind} {mean:+.3f} [{low:+.3f} {high:+.3f}]")
    if arguments.output:
        told = {"format": "pleat-mutants-1", "date": datetime.date.today().isoformat(),
                "commit": record.describe_commit(ROOT), "machine": record.describe_machine(), "scans": scans,
                "gain over epistatic: mean, 95 % over proteins": summary}
        arguments.output.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
