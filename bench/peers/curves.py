#!/usr/bin/env python3
# Curves by themselves: pleat beside freesas (Debian's python3-freesas) on measured curves.
"""curves.py PROGRAM CURVE[=nm]...: Rg and Dmax of each curve by `pleat saxs` and by freesas' auto_gpa,
auto_guinier and (with --bift, minutes each) auto_bift, as a table. A curve is a text of q, intensity, error;
`=nm`: its q is in 1/nm."""
import argparse
import csv
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from freesas.autorg import auto_gpa, auto_guinier
from freesas.bift import auto_bift


def pleat(program, path, unit, folder):
    run = Path(folder, "run")
    subprocess.run([program, "saxs", "--data", path, "--q-unit", "1/nm" if unit == 0.1 else "1/angstrom", "-o", run,
                    "-q", "--force"], check=True, capture_output=True)
    with open(run / "analysis.tsv", encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file, delimiter="\t"))
    with open(run / "fit.tsv", encoding="utf-8", newline="") as file:
        points = [[float(one[name]) for name in ("q", "intensity", "sigma")]
                  for one in csv.DictReader(file, delimiter="\t")]
    return {name: float(value) if value != "NA" else np.nan
            for name, value in row.items() if name not in ("curve", "shape", "findings")}, np.array(points)


def by_freesas(method, points):
    try:
        found = method(points)
        return f"{found.Rg:.2f} +- {found.sigma_Rg:.2f}"
    except Exception as error:  # freesas raises what its range search meets
        return type(error).__name__


def by_bift(points):
    try:
        found = auto_bift(points).calc_stats()
        return f"{found.Rg_avg:.2f} +- {found.Rg_std:.2f}, Dmax {found.Dmax_avg:.1f} +- {found.Dmax_std:.1f}"
    except Exception as error:
        return type(error).__name__


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("curves", nargs="+")
    parser.add_argument("--bift", action="store_true")
    given = parser.parse_args()
    print("curve\tguinier_rg\tauto_gpa\tauto_guinier\trg\tdmax" + "\tauto_bift" * given.bift)
    for curve in given.curves:
        path, _, unit = curve.partition("=")
        with tempfile.TemporaryDirectory() as folder:
            own, points = pleat(given.program, path, 0.1 if unit == "nm" else 1, folder)
        cells = [Path(path).name, f"{own['guinier_rg']:.2f} +- {own['guinier_rg_error']:.2f}",
                 by_freesas(auto_gpa, points), by_freesas(auto_guinier, points),
                 f"{own['rg']:.2f} +- {own['rg_error']:.2f}",
                 f"{own['dmax']:.1f} ({own['dmax_low']:.1f} to {own['dmax_high']:.1f})"]
        print("\t".join(cells + [by_bift(points)] * given.bift), flush=True)


if __name__ == "__main__":
    main()
