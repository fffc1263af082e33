#!/usr/bin/env python3
# Compares Rg, I(0) and Dmax of measured curves by pleat with those of freesas (Debian: python3-freesas).
"""curves.py [CURVE...]: the curves, or those of ../shared and data/. For each: pleat's Guinier and P(r), freesas'
auto_guinier, auto_gpa and auto_bift, seconds of both, and the difference of Rg in joint standard errors. freesas reads
what pleat understood of the file: points with usable errors, q in 1/angstrom."""
import argparse
import contextlib
import io
import json
import math
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def default_curves():
    """Measured curves; models and fits without errors are left out."""
    shared = ROOT.parent / "shared" / "data" / "saxs"
    found = sorted(shared.glob("*/*.dat.gz")) if shared.exists() else []
    found += sorted((ROOT / "data").glob("*made*.dat.gz"))
    return [path for path in found if "ensemble_size" not in path.name and "6lyz.pdb" not in path.name]


def by_pleat(program, path):
    """The results of the run's manifest, the points that it used, and its seconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "run")
        start = time.perf_counter()
        done = subprocess.run([program, "saxs", "--data", path, "-o", folder, "-q", "--threads", "1"],
                              capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
        if done.returncode != 0:
            return {"failed": done.stderr.strip()}, None, seconds
        results = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["results"]
        rows = (folder / "fit.tsv").read_text(encoding="utf-8").splitlines()[1:]
        return results, [[float(cell) for cell in row.split("\t")[:3]] for row in rows], seconds


def by_freesas(points):
    """{name: (value, error)} of Rg, and Dmax, of freesas; what fails is absent."""
    import numpy
    from freesas.autorg import auto_gpa, auto_guinier
    from freesas.bift import auto_bift
    data = numpy.array(points)
    found = {}
    start = time.perf_counter()
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        for name, method in (("guinier", auto_guinier), ("gpa", auto_gpa)):
            with contextlib.suppress(Exception):  # it has many kinds
                result = method(data)
                found[name] = (float(result.Rg), float(result.sigma_Rg))
        with contextlib.suppress(Exception):
            best = auto_bift(data)
            statistics = best.monte_carlo_sampling(20, 3, npt=100)
            found["bift"] = (float(statistics.Rg_avg), float(statistics.Rg_std))
            found["dmax"] = (float(statistics.Dmax_avg), float(statistics.Dmax_std))
    return found, time.perf_counter() - start


def number(results, name):
    value = results.get(name)
    return float(value) if isinstance(value, (int, float)) else math.nan


def text_of(value, error):
    return "-" if math.isnan(value) else f"{value:.2f} +- {error:.2f}"


def apart(a, b):
    """The difference in joint standard errors."""
    error = math.hypot(a[1], b[1])
    return f"{(a[0] - b[0]) / error:+.1f}" if error > 0 else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("curves", nargs="*", type=Path)
    parser.add_argument("--program", default=str(ROOT / "build" / "release" / "apps" / "pleat" / "pleat"))
    options = parser.parse_args()
    print("curve\tGuinier\tfreesas auto_guinier\tauto_gpa\tapart\tP(r)\tfreesas BIFT\tapart\tDmax (90 %)\tfreesas\t"
          "seconds\tfreesas")
    nan = (math.nan, math.nan)
    for path in options.curves or default_curves():
        results, points, seconds = by_pleat(options.program, path)
        if points is None:
            print(f"{path.name}\t{results['failed']}", flush=True)
            continue
        peer, peer_seconds = by_freesas(points)
        own = {name: (number(results, name), number(results, f"{name}_error")) for name in ("guinier_rg", "rg")}
        print("\t".join([path.name, text_of(*own["guinier_rg"]), text_of(*peer.get("guinier", nan)),
                         text_of(*peer.get("gpa", nan)), apart(own["guinier_rg"], peer.get("guinier", nan)),
                         text_of(*own["rg"]), text_of(*peer.get("bift", nan)), apart(own["rg"], peer.get("bift", nan)),
                         f"{number(results, 'dmax'):.1f} ({number(results, 'dmax_low'):.1f} to "
                         f"{number(results, 'dmax_high'):.1f})", text_of(*peer.get("dmax", nan)), f"{seconds:.2f}",
                         f"{peer_seconds:.2f}"]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
