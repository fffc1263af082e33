#!/usr/bin/env python3
# Compares rules for the size of minimal ensembles on curves made of known numbers of states (docs/decisions/0037).
import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
POOLS = {"ligase": ("refine/ligase_multifoxs/ligase.pdb.gz", "A:1-19,A:225-242,A:446-448,A:594-603", 190),
         "rpa": ("refine/rpa_multifoxs/1fguA.pdb.gz", "A:289-301", 110)}  # structure, linkers, typical Dmax in angstrom
SETTINGS = [("ligase", "refine/ligase_multifoxs/ligase_iq.dat", 11), ("rpa", "saxs/nup133/23922_merge.dat.gz", 12),
            ("ligase", "saxs/LAR1-2/LAR1-2.dat.gz", 13), ("rpa", "saxs/SASDJG5/SASDJG5.dat.gz", 14)]
FRAMES, FOLDS, BLOCKS, SEED = 1400, 5, 20, 1


def make_lines(pleat, program, data, setting, mixtures, work):
    """The lines of bench_ensemble_sizes for a pool and a curve; kept in `work`, so that a second call reads them."""
    pool, curve, seed = setting
    structure, linkers, dmax = POOLS[pool]
    path = work / f"{pool}_{Path(curve).name}_{mixtures}.jsonl"
    if not path.is_file():
        run = work / pool
        if not (run / "frames.dcd").is_file():
            subprocess.run([pleat, "refine", data / structure, "--linkers", linkers, "--mode", "pool", "--frames",
                            str(FRAMES), "-o", run, "--force", "-q"], check=True)
        found = subprocess.run([program, run / "frames.dcd", run / "topology.pdb", data / curve, str(mixtures),
                                str(seed)], check=True, stdout=subprocess.PIPE, encoding="utf-8")
        path.write_text(found.stdout, encoding="utf-8")
    return read_lines(path, dmax)


def read_lines(path, dmax):
    mixtures = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for one in mixtures:
        one["channels"] = one["q_max"] * dmax / np.pi  # independent numbers of a curve (Shannon)
        # A size that repeats the one before is no ensemble of that size.
        keep = [n for n, size in enumerate(one["frames"]) if n == 0 or size > one["frames"][n - 1]]
        for name in ("frames", "chi2", "deviation", "wide", "points"):
            one[name] = np.array([one[name][n] for n in keep], dtype=np.float64)
    return mixtures


def folds_of(one, division):
    """chi^2 per point on points left out, [size, fold]."""
    k = np.arange(one[division].shape[1])
    fold = (k * BLOCKS // len(k) if division == "wide" else k) % FOLDS
    return np.array([[squares[fold == n].mean() for n in range(FOLDS)] for squares in one[division]])


def error_of_mean(numbers):
    return numbers.std(ddof=1) / np.sqrt(len(numbers))


def within_error_of_best(one, factor=1.0):
    found = folds_of(one, "wide")
    best = found.mean(1).argmin()
    return np.argmax(found.mean(1) <= found[best].mean() + factor * error_of_mean(found[best]))


def within_error_of_difference(one, division="wide", factor=1.0):
    found = folds_of(one, division)
    best = found.mean(1).argmin()
    above = found - found[best]
    return np.argmax(above.mean(1) <= [factor * error_of_mean(row) if row.any() else 0 for row in above])


def step_by_step(one):
    found, size = folds_of(one, "wide"), 0
    while size + 1 < len(found):
        gain = found[size] - found[size + 1]
        if gain.mean() <= error_of_mean(gain):
            break
        size += 1
    return size


def criterion(one, points, per_parameter):
    """Information criterion with two parameters per frame: its place in the pool, and its weight."""
    return (points * one["chi2"] + 2 * one["frames"] * per_parameter).argmin()


def chi_free(one):
    """Median chi^2 of draws of one point per Shannon channel, by fits that did not see them (after Rambo and Tainer)."""
    points, channels = one["points"].shape[1], round(one["channels"])
    random, channel = np.random.default_rng(0), np.arange(points) * channels // points
    draws = np.array([random.choice(np.flatnonzero(channel == n), 500) for n in range(channels)])
    return np.median(one["points"][:, draws].mean(1), axis=1).argmin()


def points_of(one):
    return one["points"].shape[1]


RULES = {
    "smallest within a standard error of the best (pleat)": within_error_of_best,
    "the same, half a standard error": lambda one: within_error_of_best(one, 0.5),
    "smallest validation": lambda one: within_error_of_best(one, 0.0),
    "smallest within the error of the difference from the best": within_error_of_difference,
    "the same, two errors": lambda one: within_error_of_difference(one, factor=2.0),
    "one more frame while better by the error of the difference": step_by_step,
    "smallest validation, folds point by point": lambda one: folds_of(one, "points").mean(1).argmin(),
    "error of the difference, folds point by point": lambda one: within_error_of_difference(one, "points"),
    "chi_free": chi_free,
    "AIC, Shannon channels": lambda one: criterion(one, one["channels"], 2),
    "BIC, Shannon channels": lambda one: criterion(one, one["channels"], np.log(one["channels"])),
    "BIC, all points": lambda one: criterion(one, points_of(one), np.log(points_of(one))),
    "BIC, all points, errors of unknown size": lambda one: (
        points_of(one) * np.log(one["chi2"]) + 2 * one["frames"] * np.log(points_of(one))).argmin(),
    "largest size": lambda one: len(one["frames"]) - 1,
    "best for the truth": lambda one: one["deviation"].argmin(),
}


def scores(rule, mixtures):
    """[mixture]: frames beyond the states, and ln of the deviation from the truth over that of the best size."""
    sizes = [rule(one) for one in mixtures]
    beyond = np.array([one["frames"][n] - one["states"] for one, n in zip(mixtures, sizes)])
    return beyond, np.array([np.log(one["deviation"][n] / one["deviation"].min()) for one, n in zip(mixtures, sizes)])


def print_table(title, mixtures):
    if not mixtures:
        return
    print(f"\n{title}: {len(mixtures)} mixtures\n")
    print("| rule | exact | too many | too few | error / best | against pleat's (90 %) | too many, against pleat's (90 %) |")
    print("|---|---|---|---|---|---|---|")
    base_beyond, base_error = scores(within_error_of_best, mixtures)
    draws = np.random.default_rng(SEED).integers(0, len(mixtures), (4000, len(mixtures)))
    for name, rule in RULES.items():
        beyond, error = scores(rule, mixtures)
        ratio = np.exp(np.quantile((error - base_error)[draws].mean(1), [0.05, 0.95]))
        many = np.quantile(((beyond > 0) * 1.0 - (base_beyond > 0))[draws].mean(1), [0.05, 0.95])
        print(f"| {name} | {np.mean(beyond == 0):.2f} | {np.mean(beyond > 0):.2f} | {np.mean(beyond < 0):.2f} "
              f"| {np.exp(error.mean()):.2f} | {ratio[0]:.2f} to {ratio[1]:.2f} | {many[0]:+.2f} to {many[1]:+.2f} |")


def main():
    parser = argparse.ArgumentParser(description="Compare rules for the size of minimal ensembles on made mixtures.")
    parser.add_argument("--pleat", default="pleat", help="the program")
    parser.add_argument("--program", default="bench_ensemble_sizes", help="the program that makes and fits mixtures")
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder of shared data")
    parser.add_argument("--mixtures", type=int, default=40, help="for each of the four settings")
    parser.add_argument("--work", type=Path, required=True, help="folder for pools and fits, which are kept")
    parser.add_argument("--lines", type=Path, nargs="*", default=[], metavar="FILE",
                        help="only compare rules on these lines of bench_ensemble_sizes, as many as there are settings")
    arguments = parser.parse_args()
    data = arguments.shared / "data"
    if arguments.lines:
        found = [read_lines(path, POOLS[setting[0]][2]) for path, setting in zip(arguments.lines, SETTINGS)]
    else:
        if not data.is_dir():
            sys.exit(f"{data}: expected the folder of shared data, found none")
        arguments.work.mkdir(parents=True, exist_ok=True)
        found = [make_lines(arguments.pleat, arguments.program, data, setting, arguments.mixtures, arguments.work)
                 for setting in SETTINGS]
    mixtures = [one for lines in found for one in lines]
    print_table("All", mixtures)
    print_table("States in the pool", [one for one in mixtures if one["in_pool"]])
    print_table("States in the pool, noise alone",
                [one for one in mixtures if one["in_pool"] and not one["model_errors"]])
    print_table("States not in the pool", [one for one in mixtures if not one["in_pool"]])


if __name__ == "__main__":
    main()
