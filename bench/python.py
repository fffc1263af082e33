#!/usr/bin/env python3
# Times pleat.rmsd of Python beside the program's stage that computes, in turns, and measures copies.
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import record

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Frames and atoms of a made ensemble.
SIZES = ((2000, 70), (2000, 140), (1500, 1000))
MOST_RATIO = 1.05

MAKE = """
import sys
import numpy
frames, atoms = int(sys.argv[1]), int(sys.argv[2])
random = numpy.random.default_rng(1)
mean = 2 * random.standard_normal((atoms, 3)).cumsum(0)
numpy.save(sys.argv[3], (mean + 2 * random.standard_normal((frames, atoms, 3))).astype(numpy.float32))
"""

# Seconds of CPU of one call, one thread, in a process of its own, as the program's are; the array is
# there before. Python's clock counts all that the process does, the matrix' pages included.
CALL = """
import sys, time
import numpy, pleat
xyz = numpy.load(sys.argv[1])
pleat.rmsd(xyz[:2], threads=1, device="cpu")
start = time.process_time()
pleat.rmsd(xyz, threads=1, device="cpu")
print(time.process_time() - start)
"""

# MiB by which the peak of memory rises: wrapping an array, comparing it with one structure as it is,
# and the same of an array that has to be converted.
COPIES = """
import resource, sys
import numpy, pleat
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
frames = int(sys.argv[1]) * 2**20 // (1000 * 12)
xyz = numpy.ones((frames, 1000, 3), sys.argv[3])
xyz += numpy.random.default_rng(1).random((1000, 1), xyz.dtype)
pleat.rmsd(xyz[:2, :5], reference=0)
before = peak()
if sys.argv[2] == "wrap":
    assert numpy.shares_memory(pleat.ensemble(xyz).xyz, xyz)
else:
    pleat.rmsd(xyz, reference=0, threads=1, device="cpu")
print(peak() - before, xyz.nbytes / 2**20)
"""


def in_python(python, code, *arguments):
    done = subprocess.run([python, "-c", code, *map(str, arguments)], capture_output=True, text=True,
                          check=True)
    return [float(word) for word in done.stdout.split()]


def time_program(program, path, folder):
    """Seconds of CPU of the stage that computes, as the manifest of the run tells."""
    run = os.path.join(folder, "run")
    subprocess.run([program, "rmsd", path, "-o", run, "--force", "--threads", "1", "--device", "cpu", "-q"],
                   check=True)
    with open(os.path.join(run, "manifest.json"), encoding="utf-8") as file:
        stages = json.load(file)["timings"]
    return sum(stage["cpu_seconds"] for stage in stages if stage["stage"] == "rmsd")


def time_calls(options, folder):
    found = {}
    for frames, atoms in SIZES:
        path = os.path.join(folder, f"{frames}x{atoms}.npy")
        in_python(options.python, MAKE, frames, atoms, path)
        program, python = [], []
        for _ in range(options.repeats):
            program.append(time_program(options.pleat, path, folder))
            python.append(in_python(options.python, CALL, path)[0])
        ratio = min(python) / min(program)
        found[f"{frames}x{atoms}"] = {"program_s": program, "python_s": python, "ratio": ratio,
                                      "met": ratio <= MOST_RATIO}
    return found


def measure_copies(options):
    """MiB; what the engine keeps of its own is in both calls, a converted array in one."""
    found = {}
    for name, what, kind in (("wrapped", "wrap", "float32"), ("compared", "call", "float32"),
                             ("converted", "call", "float64")):
        grown, size = in_python(options.python, COPIES, options.mebibytes, what, kind)
        found[name] = {"array_mib": size, "peak_grew_mib": grown}
    found["met"] = found["wrapped"]["peak_grew_mib"] < 0.01 * options.mebibytes
    return found


def main():
    parser = argparse.ArgumentParser(description="PYTHONPATH must lead --python to the module pleat.")
    parser.add_argument("--pleat", default=str(ROOT / "build/release/apps/pleat/pleat"))
    parser.add_argument("--python", default="/usr/bin/python3", help="one that may import pleat")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--mebibytes", type=int, default=1024, help="size of the array of the copies")
    parser.add_argument("--name", default="python")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        calls = time_calls(options, folder)
    copies = measure_copies(options)
    date = datetime.date.today().isoformat()
    kept = {"format": "pleat-python-1", "date": date, "commit": record.describe_commit(ROOT),
            "machine": record.describe_machine(), "rmsd": calls, "copies": copies}
    path = ROOT / "bench/records" / f"{date}-{options.name}.json"
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    for name, entry in {**calls, **copies}.items():
        print(f"{name:12s} {json.dumps(entry)}")
    return 0 if all(entry["met"] for entry in calls.values()) and copies["met"] else 1


if __name__ == "__main__":
    sys.exit(main())
