#!/usr/bin/env python3
# Fits the constants of contact_probability() to families with structures, cross-validated by family.
import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
# Shallow families and fold switchers (README.md of the data): they tell nothing about probabilities.
HARD = {"102mA_MYG", "1a00A_HBA", "2jp1A_XCL1", "2ougC_RfaH", "2qkeE_KaiB", "PF00179_1Z2UA"}
# Families of one fold: they are left out together.
SAME_FOLD = {"DHFR_PEPM3_1rx2": "DHFR", "DYR_ECOLI_1rx2": "DHFR", "5ptpA": "trypsin",
             "S1A_3tgi": "trypsin", "PF00595_2H3LA": "PDZ", "PF00595deep_2h3l": "PDZ",
             "1guuA": "Myb", "PF00249_1GUUA": "Myb"}
CUTOFF, LEAST_SEPARATION = 8.0, 6
SATURATION, COLUMNS = 6.0, (50, 500)


class Family:
    """Pairs of one run with --structure: Z, whether they are in contact, and what is known of all."""

    def __init__(self, run):
        told = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["results"]
        self.name = run.name
        self.fold = SAME_FOLD.get(run.name, run.name)
        self.columns = told["columns"]
        lines = (run / "contacts.tsv").read_text(encoding="utf-8").splitlines()
        place = {name: k for k, name in enumerate(lines[0].split("\t"))}
        rows = [line.split("\t") for line in lines[1:]]
        known = [row for row in rows if row[place["distance"]] != "NA"
                 and int(row[place["j"]]) - int(row[place["i"]]) >= LEAST_SEPARATION]
        self.z = np.array([float(row[place["z"]]) for row in known])
        self.contact = np.array([float(row[place["distance"]]) < CUTOFF for row in known], float)


def features(family):
    """[pair, constant]: the terms of the exponent. Z saturates: among the highest scores false contacts
    (between the chains of oligomers, say) stay as likely as among lower ones. The share of contacts
    falls with the number of columns."""
    z = family.z / np.sqrt(1 + (family.z / SATURATION) ** 2)
    log_columns = np.log(np.clip(family.columns, *COLUMNS))
    return np.stack([np.ones_like(z), z, np.full_like(z, log_columns)], axis=1)


def fit(families):
    """Logistic regression in which every family has the same weight, by Newton steps."""
    x = np.concatenate([features(family) for family in families])
    y = np.concatenate([family.contact for family in families])
    weight = np.concatenate([np.full(len(f.z), 1 / len(f.z)) for f in families]) / len(families)
    constants = np.zeros(x.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-x @ constants))
        gradient = x.T @ (weight * (y - p))
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x
        step = np.linalg.solve(hessian + 1e-9 * np.eye(len(constants)), gradient)
        constants += step
        if np.abs(step).max() < 1e-10:
            break
    return constants


def predict(family, constants):
    return 1 / (1 + np.exp(-features(family) @ constants))


def left_out_predictions(families):
    """Each family's probabilities from constants fitted without its fold."""
    found = {}
    for fold in {family.fold for family in families}:
        constants = fit([family for family in families if family.fold != fold])
        found.update({f.name: predict(f, constants) for f in families if f.fold == fold})
    return found


def reliability(families, predictions, edges):
    """Rows (least, most, pairs, mean probability, share of contacts) over the pairs of all families."""
    p = np.concatenate([predictions[family.name] for family in families])
    y = np.concatenate([family.contact for family in families])
    rows = []
    for least, most in zip(edges[:-1], edges[1:]):
        inside = (p >= least) & (p < most)
        if inside.any():
            rows.append((least, most, int(inside.sum()), p[inside].mean(), y[inside].mean()))
    return rows


def calibration_error(rows):
    """The expected calibration error: mean |probability - share of contacts|, weighted by pairs."""
    return sum(row[2] * abs(row[3] - row[4]) for row in rows) / sum(row[2] for row in rows)


def top_error(family, probabilities):
    """|mean probability - share of contacts| of the strongest pairs, as many as there are columns."""
    top = np.argsort(-family.z, kind="stable")[:family.columns]
    return abs(probabilities[top].mean() - family.contact[top].mean())


def run_families(options):
    """Fits every family that has no run yet; the runs' folders come back."""
    runs = []
    for structure in sorted((options.data / "structures").glob("*.pdb.gz")):
        name = structure.name.removesuffix(".pdb.gz")
        alignment = options.data / "alignments" / f"{name}.aln.gz"
        if name in HARD or not alignment.exists():
            continue
        run = options.keep / name
        if not (run / "evaluation.json").exists():
            subprocess.run([options.pleat, "couplings", alignment, "-o", run, "-q", "--no-models",
                            "--tolerance", "1e-3", "--structure", structure], check=True)
        runs.append(run)
    return runs


def main():
    parser = argparse.ArgumentParser(description="Fit and test contact_probability().")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--pleat", default="pleat", help="pleat program (default: on PATH)")
    parser.add_argument("--keep", type=Path, required=True,
                        help="folder for the runs, which a later call reuses")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    families = [Family(run) for run in run_families(options)]
    if len(families) < 3:
        sys.exit(f"expected at least 3 families with structures, found {len(families)}")
    found = left_out_predictions(families)
    edges = [0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0001]
    table = reliability(families, found, edges)
    upper = [row for row in table if row[0] >= 0.1]
    brier = np.mean([np.mean((found[f.name] - f.contact) ** 2) for f in families])
    base = np.mean([f.contact.mean() * (1 - f.contact.mean()) for f in families])
    entropy = np.mean([-np.mean(np.log(np.where(f.contact > 0, found[f.name], 1 - found[f.name])))
                       for f in families])
    print(f"{len(families)} families, {sum(len(f.z) for f in families)} pairs, "
          f"{int(sum(f.contact.sum() for f in families))} contacts")
    print("left-out families: probability, pairs, mean probability, share of contacts")
    for least, most, count, mean, share in table:
        print(f"  {least:4.2f}-{min(most, 1):4.2f} {count:8d} {mean:6.3f} {share:6.3f}")
    print(f"calibration error {calibration_error(table):.4f}, of pairs above 0.1 "
          f"{calibration_error(upper):.4f}; Brier {brier:.5f} (base rate {base:.5f}); "
          f"log loss {entropy:.5f}")
    errors = sorted(top_error(family, found[family.name]) for family in families)
    print(f"top L of a family, |mean probability - share of contacts|: median "
          f"{np.median(errors):.3f}, greatest {errors[-1]:.3f}")
    print("constants: " + ", ".join(f"{value:.4f}" for value in fit(families)))


if __name__ == "__main__":
    main()
