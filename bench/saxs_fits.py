#!/usr/bin/env python3
# Fits pleat saxs to every given measured curve, with and without a background, beside FoXS and AUSAXS.
import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Name, structures, curve (below the folder of shared data), chi^2 a point that FoXS gives (measured,
# q up to 0.5 1/angstrom, its defaults; None: not measured), further options.
CASES = [
    ("6lyz, lyzexp", ["data/saxs/lyz_imp/6lyz.pdb.gz"], "data/saxs/lyz_imp/lyzexp.dat.gz", 0.202, []),
    ("6lyz, lys_saxs", ["data/saxs/lyz_imp/6lyz.pdb.gz"], "oracle/saxs/foxs/6lyz_lys_saxs.fit", 1.309, []),
    ("1XIB tetramer, glucose isomerase", ["data/saxs/glucose_isomerase/1XIB_4mer.pdb.gz"],
     "data/saxs/glucose_isomerase/glucose_isomerase.dat.gz", 1.085, []),
    ("2epe", ["data/saxs/lyz_2epe/2epe.pdb.gz"], "data/saxs/lyz_2epe/2epe.dat.gz", 1.114, []),
    ("SASDJG5", ["data/saxs/SASDJG5/SASDJG5.pdb.gz"], "data/saxs/SASDJG5/SASDJG5.dat.gz", 2.30, []),
    ("LAR1-2", ["data/saxs/LAR1-2/LAR1-2.pdb.gz"], "data/saxs/LAR1-2/LAR1-2.dat.gz", 8.17, []),
    ("3KFO, nup133", ["data/saxs/nup133/3KFO.pdb.gz"], "data/saxs/nup133/23922_merge.dat.gz", None, []),
    ("3KFO completed, nup133", ["data/saxs/nup133/3KFO-fill.B99990005.pdb.gz"],
     "data/saxs/nup133/23922_merge.dat.gz", None, []),
    ("BSA monomer", ["data/saxs/BSA_monomer_dimer/3v03_monomer.pdb.gz"],
     "data/saxs/BSA_monomer_dimer/SASDA32.dat.gz", None, []),
    ("BSA monomer and dimer", ["data/saxs/BSA_monomer_dimer/3v03_monomer.pdb.gz",
                               "data/saxs/BSA_monomer_dimer/3v03_dimer.pdb.gz"],
     "data/saxs/BSA_monomer_dimer/SASDA32.dat.gz", None, ["--mixture"]),
    # FoXS's stored fit of four states says Chi 1.2309, whose square this is.
    ("8 conformers", [f"data/saxs/foxs_ensemble8/{n}.pdb.gz" for n in range(1, 9)],
     "data/saxs/foxs_ensemble8/iq.dat.gz", 1.515, ["--mixture", "--max-members", "4"]),
]
FACTOR = 1.05

# Reduced chi^2 with a constant background that AUSAXS gives (measured on 2026-11-22, its defaults: degrees of
# freedom are points - 4). With its displaced volume fitted too, LAR1-2 gives 2.93.
AUSAXS = {"6lyz, lyzexp": 0.258, "2epe": 1.212, "SASDJG5": 6.974, "1XIB tetramer, glucose isomerase": 1.099,
          "3KFO completed, nup133": 3.523, "LAR1-2": 3.201}


def cpu_seconds():
    """Of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fit(program, shared, case, folder, options):
    """chi^2 a point, contrast, members and seconds of CPU time of one case."""
    _, structures, curve, _, more = case
    run = Path(folder) / "run"
    started = cpu_seconds()
    done = subprocess.run([program, "saxs", *[shared / one for one in structures], "--data", shared / curve,
                           "-o", run, "--force", "-q", "--bin-width", "0", *more, *options], check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    result = json.loads((run / "fit.json").read_text(encoding="utf-8"))
    best = result["fit"]
    if "ensemble" in result:
        best = result["ensemble"]["minimal"][-1]
    return best, cpu_seconds() - started


def print_with_background(arguments):
    """Reduced chi^2 of single proteins, where AUSAXS adds a constant background too."""
    print("| case | reduced chi^2 | AUSAXS | ratio | c1 | c2 | CPU s |\n|---|---|---|---|---|---|---|")
    ahead = 0
    for case in CASES:
        peer = AUSAXS.get(case[0])
        if peer is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            best, seconds = fit(arguments.pleat, arguments.shared, case, folder, ["--background", *arguments.options])
        ahead += best["chi2_reduced"] <= peer
        print(f"| {case[0]} | {best['chi2_reduced']:.3f} | {peer} | {best['chi2_reduced'] / peer:.2f} "
              f"| {best['c1']:.3f} | {best['c2']:.2f} | {seconds:.1f} |")
    print(f"\n{ahead} of {len(AUSAXS)} are at most AUSAXS")


def main():
    parser = argparse.ArgumentParser(description="Print chi^2 of pleat saxs on measured curves beside FoXS or AUSAXS.")
    parser.add_argument("--pleat", default="pleat", help="the program")
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder of shared data")
    parser.add_argument("--background", action="store_true",
                        help="reduced chi^2 with a constant background, beside AUSAXS")
    parser.add_argument("options", nargs="*", help="options for pleat saxs, behind --")
    arguments = parser.parse_args()
    if not arguments.shared.is_dir():
        sys.exit(f"{arguments.shared}: expected the folder of shared data, found none")
    if arguments.background:
        return print_with_background(arguments)
    print("| case | chi^2 a point | FoXS | ratio | c1 | c2 | points | CPU s |\n|---|---|---|---|---|---|---|---|")
    good, compared = 0, 0
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            best, seconds = fit(arguments.pleat, arguments.shared, case, folder, arguments.options)
        peer = case[3]
        if peer is not None:
            compared += 1
            good += best["chi2"] <= FACTOR * peer
        c1 = "-" if best["c1"] is None else f"{best['c1']:.3f}"
        print(f"| {case[0]} | {best['chi2']:.3f} | {'-' if peer is None else peer} "
              f"| {'-' if peer is None else format(best['chi2'] / peer, '.2f')} "
              f"| {c1} | {best['c2']:.2f} | {best['points']} | {seconds:.1f} |")
    print(f"\n{good} of {compared} at most {FACTOR} times FoXS")


if __name__ == "__main__":
    main()
