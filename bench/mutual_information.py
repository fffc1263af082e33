#!/usr/bin/env python3
# Times `pleat mi` against its bars and beside ProDy's matrix of MI, and writes a record of it.
import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import record
from measure import measure, medians

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALMODULIN_SIZE = ROOT.parent / "shared/oracle/mutual_information/calm753x264.fasta.gz"
SHUFFLES = 10000

# What is run, with the CPU seconds that it may take at 753 x 264; those of two threads are wall time.
RUNS = {
    "pairs, 10000 shuffles": (["-t", "1", "-n", str(SHUFFLES)], 15.0),
    "pairs, 10000 shuffles, two threads": (["-t", "2", "-n", str(SHUFFLES)], None),
    "pairs, exact Z": (["-t", "1", "--null", "exact"], 2.0),
    "triples, exact mean": (["-t", "1", "--order", "3", "--null", "exact", "--no-triple-variance"], 3.0),
    "triples, exact Z": (["-t", "1", "--order", "3", "--null", "exact"], None),
}

# The peer in a process of its own: seconds of each call, without its import and reading.
PRODY = """
import json, sys, time
import prody
prody.confProDy(verbosity="none")
rows = prody.parseMSA(sys.argv[1]).getArray()
prody.buildMutinfoMatrix(rows)
seconds = []
for _ in range(int(sys.argv[2])):
    start = time.process_time()
    prody.buildMutinfoMatrix(rows)
    seconds.append(time.process_time() - start)
print(json.dumps({"version": prody.__version__, "seconds": seconds}))
"""


def time_peer(python, path, repeats):
    """{version, seconds of each matrix}, or {absent: why}."""
    done = subprocess.run([python, "-c", PRODY, str(path), str(repeats)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        return {"absent": (done.stderr.strip().splitlines() or ["nothing said"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def time_run(program, path, options):
    """One sample of a run, with the CPU seconds of its stages."""
    with tempfile.TemporaryDirectory(prefix="pleat-bench-") as directory:
        sample = measure([program, "mi", str(path), "-o", "run", "-q", "--device", "cpu", *options],
                         directory, threads=2)
        manifest = json.loads((pathlib.Path(directory) / "run/manifest.json").read_text("utf-8"))
    stages = {timing["stage"]: timing["cpu_seconds"] for timing in manifest["timings"]}
    return sample, stages, manifest["results"]


def cpu_seconds(sample):
    return sample["user_s"] + sample["system_s"]


def collect(program, path, python, repeats):
    """Samples of every run and of the peer, one after the other in each repeat."""
    samples = {name: [] for name in RUNS}
    peers, stages = [], {}
    for repeat in range(repeats):
        for name, (options, _) in RUNS.items():
            sample, stages[name], size = time_run(program, path, options)
            samples[name].append(sample)
            print(f"repeat {repeat + 1}/{repeats}  {name:38s} {cpu_seconds(sample):8.2f} s of CPU, "
                  f"{sample['wall_s']:8.2f} s", file=sys.stderr)
        peers.append(time_peer(python, path, 10))
    return samples, peers, stages, size


def findings(samples, peers):
    """Medians, and the ratios that the bars ask for."""
    found = {}
    for name, (_, most) in RUNS.items():
        seconds = statistics.median(cpu_seconds(sample) for sample in samples[name])
        found[name] = {"cpu_s": seconds, "most_cpu_s": most, "met": most is None or seconds <= most}
    one = statistics.median(s["wall_s"] for s in samples["pairs, 10000 shuffles"])
    two = statistics.median(s["wall_s"] for s in samples["pairs, 10000 shuffles, two threads"])
    found["two threads over one"] = {"ratio": one / two, "least": 1.9, "met": one / two >= 1.9}
    timed = [seconds for peer in peers for seconds in peer.get("seconds", [])]
    if timed:
        matrix = found["pairs, 10000 shuffles"]["cpu_s"] / SHUFFLES
        ratio = statistics.median(timed) / matrix
        found["ProDy over pleat, a matrix"] = {
            "prody_s": statistics.median(timed), "pleat_s": matrix, "ratio": ratio, "least": 50,
            "met": ratio >= 50}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("alignment", nargs="?", default=CALMODULIN_SIZE, type=pathlib.Path)
    parser.add_argument("--pleat", default=str(ROOT / "build/release/apps/pleat/pleat"))
    parser.add_argument("--python", default="/usr/bin/python3", help="one that may import prody")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--name", default="mutual-information")
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    if not options.alignment.exists():
        sys.exit(f"{options.alignment.name}: expected an alignment, found none")
    program = str(pathlib.Path(options.pleat).resolve())
    samples, peers, stages, size = collect(program, options.alignment.resolve(), options.python,
                                           options.repeats)
    date = datetime.date.today().isoformat()
    found = findings(samples, peers)
    kept = {"format": "pleat-mi-1", "date": date, "commit": record.describe_commit(ROOT),
            "machine": record.describe_machine(), "repeats": options.repeats,
            "case": {"name": options.alignment.name, "sequences": size["sequences"],
                     "columns": size["columns"]},
            "findings": found, "medians": {name: medians(runs) for name, runs in samples.items()},
            "stages_cpu_s": stages, "samples": samples, "prody": peers}
    path = options.output or ROOT / "bench/records" / f"{date}-{options.name}.json"
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    for name, entry in found.items():
        print(f"{name:38s} {json.dumps(entry)}")
    return 0 if all(entry["met"] for entry in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
