#!/usr/bin/env python3
# Fits the constants of contact_probability() and of RNA's to families with structures, cross-validated by family.
"""calibrate_probability.py --keep FOLDER: proteins; with --rna the 56 RNA families of coconet, with --tertiary its
pairs that are more than 2 columns away from every nested base pair."""
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
# RNA families that are kin.
KIN = {name: group[0] for group in (("RF00005_1", "RF01852", "RF02553"), ("RF00169", "RF01854"), ("RF00162", "RF01725"),
                                    ("RF00010", "RF00011_1"), ("RF00029", "RF02001_2")) for name in group}
CUTOFF = 8.0
SATURATION = 6.0


def saturated(z):
    """Z saturates: among the highest scores false contacts (between the chains of oligomers, say) stay as likely
    as among lower ones."""
    return z / np.sqrt(1 + (z / SATURATION) ** 2)


class Family:
    """Pairs of one run with --structure: Z, whether they are in contact, and what is known of all."""
    min_separation, column_range, top_divisor = 6, (50, 500), 1

    def __init__(self, run, fold):
        told = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["results"]
        self.name, self.fold = run.name, fold
        self.columns, self.effective = told["columns"], told["effective_sequences"]
        lines = (run / "contacts.tsv").read_text(encoding="utf-8").splitlines()
        place = {name: k for k, name in enumerate(lines[0].split("\t"))}
        rows = [line.split("\t") for line in lines[1:]]
        pairs = [(int(row[place["i"]]), int(row[place["j"]]), float(row[place["z"]]), row[place["distance"]])
                 for row in rows]
        self.take([pair for pair in pairs if pair[3] != "NA" and pair[1] - pair[0] >= self.min_separation],
                  {pair[:2]: pair[2] for pair in pairs})

    def take(self, known, z_of):
        """`known`: (i, j, Z, distance) of the pairs to learn from; `z_of`: of all."""
        del z_of
        self.z = np.array([pair[2] for pair in known])
        self.contact = np.array([float(pair[3]) < CUTOFF for pair in known], float)

    def features(self):
        """[pair, constant]: the terms of the exponent. The share of contacts falls with the number of columns."""
        log_columns = np.log(np.clip(self.columns, *self.column_range))
        return np.stack([np.ones_like(self.z), saturated(self.z), np.full_like(self.z, log_columns)], axis=1)


class RnaFamily(Family):
    """An RNA: the depth of the alignment and the stacked neighbour are terms, too."""
    min_separation, column_range, top_divisor, depth_range = 5, (41, 496), 2, (-4.5, 4.8)

    def take(self, known, z_of):
        super().take(known, z_of)
        self.stacked = np.array([max(z_of.get((i - 1, j + 1), -np.inf), z_of.get((i + 1, j - 1), -np.inf))
                                 for i, j, _, _ in known])

    def features(self):
        z = saturated(self.z)
        depth = np.clip(np.log(self.effective / self.columns), *self.depth_range)
        return np.column_stack([super().features(), np.full_like(z, depth), depth * z, saturated(self.stacked)])


class TertiaryFamily(RnaFamily):
    """The tertiary pairs of an RNA, without the stacked neighbour; `near`: pairs of its helices or beside them."""

    def __init__(self, run, fold, near):
        self.near = near
        super().__init__(run, fold)

    def take(self, known, z_of):
        super().take([pair for pair in known if pair[:2] not in self.near], z_of)

    def features(self):
        return super().features()[:, :-1]


def fit(families):
    """Logistic regression in which every family has the same weight, by Newton steps."""
    x = np.concatenate([family.features() for family in families])
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
    return 1 / (1 + np.exp(-family.features() @ constants))


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
    """|mean probability - share of contacts| of the strongest pairs: L of a protein, L/2 of an RNA."""
    top = np.argsort(-family.z, kind="stable")[:family.columns // family.top_divisor]
    return abs(probabilities[top].mean() - family.contact[top].mean())


def run_program(options, alignment, structure, run, *more):
    """Fits a family that has no run yet."""
    if not (run / "evaluation.json").exists():
        subprocess.run([options.pleat, "couplings", alignment, "-o", run, "-q", "--structure", structure,
                        *more], check=True)


def protein_families(options):
    for structure in sorted((options.data / "structures").glob("*.pdb.gz")):
        name = structure.name.removesuffix(".pdb.gz")
        alignment = options.data / "alignments" / f"{name}.aln.gz"
        if name in HARD or not alignment.exists():
            continue
        run_program(options, alignment, structure, options.keep / name, "--tolerance", "1e-3")
        yield Family(options.keep / name, SAME_FOLD.get(name, name))


def rna_families(options):
    """The families of bench/rna.py. Stacked neighbours of pairs 5 columns apart are 3 apart."""
    sys.path.insert(0, str(ROOT / "bench"))
    import rna
    data = options.data / "rna_contacts"
    for name, structure, chain in rna.families(data):
        run = options.keep / name
        run_program(options, rna.alignment(data, name), f"{data / 'PDBFiles' / structure}.pdb.gz:{chain}", run,
                    "--alphabet", "rna", "--min-separation", "3")
        fold = KIN.get(name, name)
        if options.tertiary:
            near = {(i + di, j + dj) for i, j in rna.base_pairs(data, structure)
                    for di in range(-2, 3) for dj in range(-2, 3)}
            yield TertiaryFamily(run, fold, near)
        else:
            yield RnaFamily(run, fold)


def main():
    parser = argparse.ArgumentParser(description="Fit and test contact_probability().")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--pleat", default="pleat", help="pleat program (default: on PATH)")
    parser.add_argument("--keep", type=Path, required=True,
                        help="folder for the runs, which a later call reuses")
    parser.add_argument("--rna", action="store_true", help="the constants of RNA, of DATA/rna_contacts")
    parser.add_argument("--tertiary", action="store_true", help="those of its tertiary pairs")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    is_rna = options.rna or options.tertiary
    families = list(rna_families(options) if is_rna else protein_families(options))
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
    likely = np.concatenate([found[family.name] for family in families]) >= 0.5
    share = np.concatenate([family.contact for family in families])[likely].mean()
    print(f"{int(likely.sum())} pairs at 0.5 and above, {share:.3f} of them contacts")
    print(f"top {'L/2' if is_rna else 'L'} of a family, |mean probability - share of contacts|: median "
          f"{np.median(errors):.3f}, greatest {errors[-1]:.3f}")
    print("constants: " + ", ".join(f"{value:.4f}" for value in fit(families)))


if __name__ == "__main__":
    main()
