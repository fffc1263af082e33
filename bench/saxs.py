#!/usr/bin/env python3
# Times saxs on the CPU against its bars, and writes a record of it.
import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import measure
import record

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What bench_saxs calls the bodies of the published test case: 1888 of 21 types, 51 q.
LOOP, PROFILE, TWO_THREADS, MOVE = (
    "plain_loop/1888x51", "pairs/1888x51", "pairs_2_threads/1888x51", "rigid_move/1888x51")
# A whole run: 12,204 atoms, 501 q, and the fit; FoXS takes 1.22 s of one core, AUSAXS 0.33.
STRUCTURE = "data/saxs/glucose_isomerase/1XIB_4mer.pdb.gz"
CURVE = "data/saxs/glucose_isomerase/glucose_isomerase.dat.gz"
LEAST_RATIO, LEAST_THREADS, MOST_MOVE, MOST_SECONDS = 180.0, 1.85, 0.5, 1.22


def time_sums(program):
    """{name: milliseconds} of bench_saxs."""
    names = "|".join((LOOP, PROFILE, TWO_THREADS, MOVE))
    done = subprocess.run([program, "--benchmark_format=json", f"--benchmark_filter=^({names})/"],
                          capture_output=True, text=True, check=True)
    return {entry["name"].removesuffix("/real_time"): entry["real_time"]
            for entry in json.loads(done.stdout)["benchmarks"]}


def time_run(program, shared):
    """A sample of the whole program on one thread; None without the shared data."""
    if not (shared / STRUCTURE).is_file():
        return None
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "saxs", shared / STRUCTURE, "--data", shared / CURVE, "--q-points", "501",
                   "--threads", "1", "--device", "cpu", "-q", "-o", "run"]
        return measure.measure([str(word) for word in command], folder)


def findings(samples, runs):
    """Medians, and what the bars ask of them."""
    loop, profile, two, move = (statistics.median(sample[name] for sample in samples)
                                for name in (LOOP, PROFILE, TWO_THREADS, MOVE))
    found = {"profile": {"loop_ms": loop, "pleat_ms": profile, "ratio": loop / profile,
                         "met": loop / profile >= LEAST_RATIO},
             "two_threads": {"ratio": profile / two, "met": profile / two >= LEAST_THREADS},
             "move": {"pleat_ms": move, "part": move / profile, "met": move / profile <= MOST_MOVE}}
    if runs:
        middle = measure.medians(runs)
        seconds = middle["user_s"] + middle["system_s"]
        found["run"] = {"cpu_s": seconds, **middle, "met": seconds <= MOST_SECONDS}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", default=str(ROOT / "build/release/src/pleat/saxs/bench_saxs"))
    parser.add_argument("--pleat", default=str(ROOT / "build/release/apps/pleat/pleat"))
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--name", default="saxs")
    options = parser.parse_args()
    program = pathlib.Path(options.pleat).resolve()
    shared = options.shared.resolve()
    samples, runs = [], []
    for _ in range(options.repeats):
        samples.append(time_sums(options.bench))
        runs.append(time_run(program, shared))
    runs = [run for run in runs if run is not None]
    found = findings(samples, runs)
    date = datetime.date.today().isoformat()
    kept = {"format": "pleat-saxs-1", "date": date, "commit": record.describe_commit(ROOT),
            "machine": record.describe_machine(), "findings": found, "samples": samples, "runs": runs}
    path = ROOT / "bench/records" / f"{date}-{options.name}.json"
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    for name, entry in found.items():
        print(f"{name:12s} {json.dumps(entry)}")
    if not runs:
        print(f"{shared}: expected the shared data for a whole run, found none")
    return 0 if runs and all(entry["met"] for entry in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
