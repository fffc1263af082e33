#!/usr/bin/env python3
# Times the pairs of rmsd on the CPU beside mdtraj's C path, in turns, and writes a record of it.
import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys

import record

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Frames and atoms: what bench_rmsd times.
SIZES = ((2000, 70), (2000, 140), (1500, 1000))
LEAST_RATIO, LEAST_THREADS = 5.0, 1.8

# The peer in a process of its own: seconds of CPU a pair, one frame against all, precentred, one thread.
MDTRAJ = """
import json, sys, time
import mdtraj, numpy
found = {}
for frames, atoms in json.loads(sys.argv[1]):
    topology = mdtraj.Topology()
    chain = topology.add_chain()
    for _ in range(atoms):
        topology.add_atom("CA", mdtraj.element.carbon, topology.add_residue("ALA", chain))
    random = numpy.random.default_rng(1)
    mean = 2 * random.standard_normal((atoms, 3)).cumsum(0)
    xyz = (mean + 2 * random.standard_normal((frames, atoms, 3))).astype(numpy.float32) / 10
    trajectory = mdtraj.Trajectory(xyz, topology)
    trajectory.center_coordinates()
    mdtraj.rmsd(trajectory, trajectory, 0, precentered=True, parallel=False)
    start = time.process_time()
    for reference in range(20):
        mdtraj.rmsd(trajectory, trajectory, reference, precentered=True, parallel=False)
    found[f"{frames}x{atoms}"] = (time.process_time() - start) / 20 / frames
print(json.dumps(found))
"""


def time_peer(python):
    """{size: seconds a pair}, or {absent: why}."""
    done = subprocess.run([python, "-c", MDTRAJ, json.dumps(SIZES)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        return {"absent": (done.stderr.strip().splitlines() or ["nothing said"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def time_pairs(program):
    """{kind/size: {seconds a pair, multiply-adds a second}} of bench_rmsd."""
    done = subprocess.run([program, "--benchmark_format=json",
                           "--benchmark_filter=^(mixed|mixed_2_threads|float64)/"],
                          capture_output=True, text=True, check=True)
    return {"/".join(entry["name"].split("/")[:2]): {key: entry[key] for key in (
        "seconds a pair", "multiply-adds a second")} for entry in json.loads(done.stdout)["benchmarks"]}


def findings(samples, peers):
    """Medians of every size, and the ratios that the bars ask for."""
    found = {}
    for frames, atoms in SIZES:
        size = f"{frames}x{atoms}"
        one, two = (statistics.median(sample[f"{kind}/{size}"]["seconds a pair"] for sample in samples)
                    for kind in ("mixed", "mixed_2_threads"))
        entry = {"pleat_s": one, "two_threads": one / two, "multiply_adds_a_second": 9 * atoms / one,
                 "met": one / two >= LEAST_THREADS}
        timed = [peer[size] for peer in peers if size in peer]
        if timed:
            ratio = statistics.median(timed) / one
            entry.update(mdtraj_s=statistics.median(timed), ratio=ratio,
                         met=entry["met"] and ratio >= LEAST_RATIO)
        found[size] = entry
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", default=str(ROOT / "build/release/src/pleat/rmsd/bench_rmsd"))
    parser.add_argument("--python", default="/usr/bin/python3", help="one that may import mdtraj")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--name", default="rmsd")
    options = parser.parse_args()
    samples, peers = [], []
    for _ in range(options.repeats):
        samples.append(time_pairs(options.bench))
        peers.append(time_peer(options.python))
    date = datetime.date.today().isoformat()
    found = findings(samples, peers)
    kept = {"format": "pleat-rmsd-1", "date": date, "commit": record.describe_commit(ROOT),
            "machine": record.describe_machine(), "findings": found, "samples": samples, "mdtraj": peers}
    path = ROOT / "bench/records" / f"{date}-{options.name}.json"
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    for name, entry in found.items():
        print(f"{name:12s} {json.dumps(entry)}")
    return 0 if all(entry["met"] for entry in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
