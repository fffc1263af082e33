# Programs that pretend: what pleat and the maker of families would write, for tests of GPU runs.
from gpu import optimum

PLEAT = r'''#!/usr/bin/env python3
# Pretends to fit: writes a manifest and one matrix of scores.
import json, os, pathlib, sys
words = sys.argv[1:]
gpus = words[words.index("--device") + 1].count("cuda:") if "--device" in words else 0
listed = pathlib.Path(words[words.index("--list") + 1]).read_text().split() if "--list" in words else []
if listed and gpus:
    with open(PRETENDED, "a") as file:
        file.write("%%g\n" %% (0.02 * len(listed) / gpus))
if listed and words[0] in ("rmsd", "cluster"):
    for name in listed:
        folder = pathlib.Path(words[words.index("-o") + 1]) / pathlib.Path(name).name
        folder.mkdir(parents=True)
        (folder / "histogram.tsv").write_bytes(b"numbers")
        (folder / "manifest.json").write_text('{"status": "finished"}')
    sys.exit(0)
if words[0] == "mi":
    out = pathlib.Path(words[words.index("-o") + 1])
    device = words[words.index("--device") + 1]
    out.mkdir(parents=True)
    for name in ("pairs", "triples"):
        (out / f"{name}.npz").write_bytes(b"numbers")
    (out / "pairs.tsv").write_text("rank\ti\tj\ttree_e\n1\t1\t2\t0.01\n2\t1\t3\t40\n")
    (out / "manifest.json").write_text(json.dumps({
        "seconds": 1.0, "timings": [{"stage": "read", "seconds": 0.1}, {"stage": "pairs", "seconds": 0.03},
                    {"stage": "triples", "seconds": 0.02 / len(device.split(","))},
                    {"stage": "pairs", "seconds": 0.01}],
        "messages": [], "results": {"sequences": 2, "columns": 12, "pairs": 66,
                                    "gpu_seconds_pairs": 0.025, "gpu_seconds_triples": 0.015}}))
    sys.exit(0)
if words[0] == "refine":
    out = pathlib.Path(words[words.index("-o") + 1])
    out.mkdir(parents=True)
    (out / "frames.dcd").write_bytes(b"frames")
    (out / "frames.tsv").write_text("frame\tdistance_1_2\n0\t25\n1\t27\n")
    (out / "manifest.json").write_text(json.dumps({"timings": [
        {"stage": stage, "seconds": 1.0, "cpu_seconds": 9.0} for stage in ("sample", "profiles", "fit")]}))
    (out / "convergence.json").write_text(json.dumps({
        "converged": True, "quantities": [{"name": "rg", "r_hat": 1.005, "effective_size": 500}], "moves": [],
        "evidence": {"log_evidence": -18, "error": 0.05, "powers": [0, 1]}}))
    (out / "clusters").mkdir()
    (out / "clusters/clusters.tsv").write_text("cluster\n0\n1\n")
    (out / "saxs").mkdir()
    (out / "saxs/fit.json").write_text(json.dumps({"ensemble": {
        "minimal": [{"members": 1, "chi2": 1.5}], "minimal_chosen": 1, "maximum_entropy": [{"chi2": 1.2}]}}))
    sys.exit(0)
if words[0] == "mutants":
    out = pathlib.Path(words[words.index("-o") + 1])
    out.mkdir(parents=True)
    (out / "singles.tsv").write_text("mutant\n" * (1 + 75 * 19))
    (out / "manifest.json").write_text('{"timings": []}')
    sys.exit(0)
if words[0] in ("rmsd", "saxs"):
    out = pathlib.Path(words[words.index("-o") + 1])
    out.mkdir(parents=True)
    (out / "profile.tsv").write_text("q\tintensity\n0\t2\n")
    (out / "histogram.tsv").write_bytes(b"numbers")
    (out / "manifest.json").write_text(json.dumps({"timings": [
        {"stage": "rmsd", "seconds": 2.0 / max(gpus, 1)}, {"stage": "profiles", "seconds": 1.0 / max(gpus, 1)}]}))
    sys.exit(0)
if words[0] == "cluster":
    out = pathlib.Path(words[words.index("-o") + 1])
    out.mkdir(parents=True)
    (out / "assignment.npy").write_bytes(b"\x93NUMPY\1\0\2\0{}" + bytes((0, 0, 0, 0, 1, 0, 0, 0)))
    (out / "histogram.tsv").write_bytes(b"numbers")
    (out / "manifest.json").write_text(json.dumps(
        {"seconds": 1.0, "timings": [{"stage": "describe", "seconds": 2.0 / max(gpus, 1)}],
         "peak_memory_bytes": 1, "results": {"clusters": 3}}))
    sys.exit(0)
if words[0] != "couplings":
    sys.exit(0)
LEAST = %s
out = pathlib.Path(words[words.index("-o") + 1])
files = [w for w in words[1:] if w.endswith((".aln", ".aln.gz"))]
several = "--list" in words or len(files) > 1
files += listed
status = 0
for name in files:
    stem = os.path.basename(name).split(".")[0]
    folder = out / stem if several else out
    if "broken" in name:
        print(f"{name}:2: expected 4 columns, found 2", file=sys.stderr)
        status = 3
        continue
    if (folder / "manifest.json").exists():
        continue
    folder.mkdir(parents=True)
    (folder / "scores.mat").write_text("".join(
        "\t".join(str(0.0 if i == j else 1.0 / (1 + i + j)) for j in range(12)) + "\n"
        for i in range(12)))
    (folder / "scores.npz").write_bytes(b"scores")
    (folder / "manifest.json").write_text(json.dumps({
        "status": "finished", "peak_memory_bytes": 1, "messages": [f"read {os.path.abspath(name)}"],
        "seconds": 0.1, "timings": [{"stage": "fit", "seconds": 0.1}],
        "results": {"sequences": 2, "columns": 12, "effective_sequences": 2.0,
                    "objective": LEAST.get(stem, 100.0), "relative_gap": 1e-9, "iterations": 1,
                    "evaluations": 2, "stop_reason": "converged"}}))
sys.exit(status)
''' % optimum.LEAST
MAKE_FAMILIES = r'''#!/usr/bin/env python3
import pathlib, sys
folder = pathlib.Path(sys.argv[1])
folder.mkdir()
names = [f"{folder}/PF{k}.aln" for k in range(int(sys.argv[2]))]
(folder / "list.txt").write_text("\n".join(names))
print('{"made": {}, "all": {}}')
'''
