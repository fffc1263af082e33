#!/usr/bin/env python3
# Runs pleat over a folder of any files and compares what it read with small independent readers.
"""Each file: agrees, differs, refused (with the message), not checked, crashed or timed out; a table at the end.

Exit code 1 where something crashed, hung, or differs without a note. A file INDEX.tsv in the folder with the
columns `file` and `expected` ("points=12 sigma=none", "refused=yes") overrules the small readers.
"""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import small_alignments
import small_curves
import small_structures

SMALL = {"structure": small_structures, "alignment": small_alignments, "curve": small_curves}
# Kinds of pleat's notes that tell of a difference in a field; others are silent.
ATOMS, POINTS = ("atoms", "dummies", "alternatives", "several", "residues"), ("points", "order", "columns", "several")
TOLD = {"sequences": ("helper_rows", "several"), "columns": ("insertions", "several"), "insertions": ("insertions",),
        "letters": ("insertions", "several", "alphabet", "helper_rows"), "frames": ("frames", "several", "truncated"),
        "atoms": ATOMS, "residues": ATOMS + ("numbering",), "chains": ATOMS + ("molecules", "matching"),
        "last_residue": ATOMS + ("numbering",), "first_xyz": ATOMS + ("moved",), "last_xyz": ATOMS + ("moved",),
        "points": POINTS, "first": POINTS, "last": POINTS, "intensity": POINTS, "sigma": POINTS + ("errors",)}


def _alignment(pleat, path, _):
    rows = pleat.read_alignment(path)
    letters = int((rows.letters < (20 if rows.alphabet == "protein" else 4)).sum())
    return {"sequences": rows.shape[0], "columns": rows.shape[1], "letters": letters}, getattr(rows, "notes", [])


def _structure(pleat, path, small):
    small = small or {}
    with tempfile.TemporaryDirectory() as folder:
        atoms = Path(folder, "atoms.gro")  # names for files that have none, and coordinates for topologies
        lines = [f"{n % 100000:5d}ALA     CA{n % 100000:5d}{n % 90:8.3f}{n // 90 % 90:8.3f}{n // 8100:8.3f}\n"
                 for n in range(1, small.get("atoms", 0) + 1)]
        atoms.write_text(f"made\n{len(lines)}\n{''.join(lines)}  90.0 90.0 90.0\n")
        try:
            frames = pleat.read_ensemble(path, pbc="none")
        except pleat.InputError as error:
            if "topology" not in str(error) or not lines:
                raise
            frames = pleat.read_ensemble(path, topology=atoms, pbc="none")
    top, found = frames.topology, {"frames": len(frames), "atoms": frames.shape[1]}
    if len(frames):
        found |= {"first_xyz": frames.xyz[0, 0].tolist(), "last_xyz": frames.xyz[0, -1].tolist()}
    if "residues" in small:
        names = list(zip(top.chains, top.residue_numbers, top.residue_names))
        found |= {"residues": sum(a != b for a, b in zip([None, *names], names)), "chains": len(set(top.chains)),
                  "last_residue": str(top.residue_numbers[-1])}
    return found, frames.notes


def _curve(pleat, path, _):
    try:
        curve, assumed = pleat.read_profile(path), False
    except pleat.InputError as error:
        if "assume_error" not in str(error):
            raise
        curve, assumed = pleat.read_profile(path, assume_error=0.03), True
    at = int(curve.q[0] <= 0)
    return {"points": len(curve), "first": float(curve.q[at]), "last": float(curve.q[-1]), "intensity":
            float(curve.intensity[at]), "sigma": None if assumed else float(curve.sigma[at])}, curve.notes


def read(kind, path, small):
    """Reads one file in this process and prints what pleat found as JSON."""
    import pleat
    warnings.simplefilter("ignore")
    try:
        found, notes = {"alignment": _alignment, "structure": _structure, "curve": _curve}[kind](pleat, path, small)
        answer = {"found": found, "notes": sorted({note.kind for note in notes})}
    except pleat.Error as error:
        answer = {"refused": " ".join(str(error).split())}
    print("\n" + json.dumps(answer))


def in_process(seconds, *question):
    """The answer of `read` in a process of its own, which may die or hang."""
    try:
        done = subprocess.run([sys.executable, "-B", __file__, "--read", json.dumps(question)], text=True, timeout=seconds,
                              capture_output=True, check=False)
    except subprocess.TimeoutExpired:
        return {"timed out": f"more than {seconds:g} s"}
    if done.returncode:
        return {"crashed": f"exit code {done.returncode} {done.stderr.strip()[-300:]}".replace("\n", " ")}
    return json.loads(done.stdout.splitlines()[-1])


def small_reading(path):
    """(kind, what the small reader found); the kind by the folder's name and None where none knows the file."""
    data = path.read_bytes()
    for kind, reader in SMALL.items():
        try:
            if found := reader.read(path, gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data):
                return kind, found
        except Exception:  # noqa: BLE001  (a small reader may stumble over what is broken)
            continue
    return next((kind for kind in SMALL if kind in str(path.parent)), ""), None


def _equal(name, ours, right):
    if name.endswith("_xyz"):
        return all(abs(a - b) < 2e-3 + 1e-6 * abs(b) for a, b in zip(ours, right))
    both = isinstance(right, (int, float)) and ours is not None
    return abs(ours - right) <= 1e-4 * abs(right) if both else ours == right


def _is_told(name, ours, right, notes):
    """Whether pleat's notes tell of this difference. None tells of a unit."""
    factor = ours / right if name == "last" and right else 1
    return 0.3 < factor < 3 and bool(notes & set(TOLD[name]))


def judge(small, known, answer):
    """(verdict, remark). `known`: what somebody looked up, which overrules `small`, the small reader."""
    for verdict in ("refused", "crashed", "timed out"):
        if verdict in answer:
            return verdict, answer[verdict]
    ours, notes, small = {**answer["found"], "insertions": False}, set(answer["notes"]), small or {}
    if not known and (not small or "refused" in small):
        return "not checked", f"{ours} {small}"
    if small.get("unit") == 0 and "unit" in notes:  # the file does not say it, and pleat says what it took
        small = {**small, "first": ours["first"], "last": ours["last"]}
    right = {name: value for name, value in small.items() if name in ours and value != ""} | known
    differ = [f"{name} {ours.get(name)}, expected {value}" for name, value in right.items() if not (
        name in ours and _equal(name, ours[name], value)) and (name in known or not _is_told(name, ours[name], value, notes))]
    return ("differs", "; ".join(differ)) if differ else ("agrees", f"{ours}")


def known_readings(folder):
    """{file: {field: value}} of INDEX.tsv."""
    if not (folder / "INDEX.tsv").is_file():
        return {}
    header, *rows = (line.split("\t") for line in (folder / "INDEX.tsv").read_text().splitlines())
    values = {"none": None, "yes": True}
    return {row[0]: {name: values[value] if value in values else value if name == "last_residue" else float(value)
                     for name, value in (pair.split("=") for pair in row[header.index("expected")].split())} for row in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=60, help="for one file")
    given = parser.parse_args()
    known, table = known_readings(given.folder), {}

    def verdict_on(path):
        kind, small = small_reading(path)
        found = [(one, *judge(small, known.get(str(path.relative_to(given.folder)), {}),
                              in_process(given.seconds, one, str(path), small))) for one in ([kind] if kind else SMALL)]
        return path, next((one for one in found if one[1] != "refused"), found[0])

    files = sorted(path for path in given.folder.rglob("*") if path.is_file() and path.suffix not in (".tsv", ".md"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, (kind, verdict, remark) in pool.map(verdict_on, files):
            print(f"{verdict}\t{kind}\t{path.relative_to(given.folder)}\t{remark}", flush=True)
            table.setdefault(kind, []).append(verdict)
    columns = ("agrees", "differs", "refused", "not checked", "crashed", "timed out")
    print("\n" + "kind".ljust(11), *(name.rjust(11) for name in columns))
    for kind, found in table.items():
        print(kind.ljust(11), *(str(found.count(name)).rjust(11) for name in columns))
    return int(any({"differs", "crashed", "timed out"} & set(found) for found in table.values()))


if __name__ == "__main__":
    sys.exit(read(*json.loads(sys.argv[2])) if sys.argv[1:2] == ["--read"] else main())
