#!/usr/bin/env python3
# Runs pleat select on ensembles of two folds and prints how well each score finds either native one.
import argparse
import csv
import datetime
import gzip
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import record

FORMAT = "pleat-select-1"
ROOT = pathlib.Path(__file__).resolve().parents[1]
TOP = 20
SCORES = (("contacts", 1), ("left", 1), ("density", 1), ("chi2", -1), ("joined", 1))

# `natives`: file and greatest RMSD of CA (angstrom) of what counts as near. `curve`: the native whose
# synthetic curve is the evidence; `contacts`: the case whose couplings are taken again; `parts`: domains
# whose RMSD from a native is shown beside that of the whole, first and last residue; `options`: further ones.
KAIB = {"5JYT": ("ensembles/KaiB_AFcluster/5jytA.pdb.gz", 3.0),
        "2QKE": ("ensembles/KaiB_AFcluster/2qkeE.pdb.gz", 3.0)}
CASES = [
    {"name": "KaiB, CA", "ensemble": "ensembles/KaiB_AFcluster/KaiB_all_CA.pdb.gz",
     "alignment": "alignments/2qkeE_KaiB.aln.gz", "natives": KAIB},
    {"name": "KaiB, CA, curve of 5JYT", "ensemble": "ensembles/KaiB_AFcluster/KaiB_all_CA.pdb.gz",
     "contacts": "KaiB, CA", "curve": "5JYT", "natives": KAIB},
    {"name": "KaiB, CA, curve of 2QKE", "ensemble": "ensembles/KaiB_AFcluster/KaiB_all_CA.pdb.gz",
     "contacts": "KaiB, CA", "curve": "2QKE", "natives": KAIB},
    {"name": "KaiB, CA, curve of 2QKE, weight 3", "ensemble": "ensembles/KaiB_AFcluster/KaiB_all_CA.pdb.gz",
     "contacts": "KaiB, CA", "curve": "2QKE", "natives": KAIB, "options": ["--weight-saxs", "3"]},
    {"name": "KaiB, all atoms", "ensemble": "ensembles/KaiB_AFcluster/KaiB_every4_allatom.pdb.gz",
     "contacts": "KaiB, CA", "natives": KAIB},
    {"name": "KaiB, all atoms, curve of 5JYT",
     "ensemble": "ensembles/KaiB_AFcluster/KaiB_every4_allatom.pdb.gz",
     "contacts": "KaiB, CA", "curve": "5JYT", "natives": KAIB},
    {"name": "KaiB, all atoms, curve of 2QKE",
     "ensemble": "ensembles/KaiB_AFcluster/KaiB_every4_allatom.pdb.gz",
     "contacts": "KaiB, CA", "curve": "2QKE", "natives": KAIB},
    {"name": "RfaH, CA", "ensemble": "ensembles/RfaH_AFcluster/RfaH_all_CA.pdb.gz",
     "alignment": "alignments/2ougC_RfaH.aln.gz",
     "natives": {"5OND": ("structures/2ougC_RfaH.pdb.gz", 5.0)},
     "parts": {"N-terminal domain": ("5OND", 1, 99), "C-terminal domain": ("5OND", 115, 162)}},
]


def run(program, *arguments):
    done = subprocess.run([str(program), *[str(one) for one in arguments]], check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)


def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def numbers(rows, column):
    """The column in the order of frames; None where it has no numbers."""
    values = {int(row["frame"]): row[column] for row in rows}
    ordered = [values[frame] for frame in range(len(rows))]
    return None if "NA" in ordered else [float(value) for value in ordered]


def alpha_carbons(source, target, first, last, chain="A"):
    """Writes the first model's CA atoms under the ensemble's chain name; the residues' numbers."""
    residues = []
    with gzip.open(source, "rt") as lines, open(target, "w", encoding="ascii") as out:
        for line in lines:
            if line.startswith("ENDMDL"):
                break
            if line.startswith("ATOM") and line[12:16].strip() == "CA" and line[16] in " A" \
                    and first <= int(line[22:26]) <= last:
                residues.append(int(line[22:26]))
                out.write(line[:21] + chain + line[22:])
        out.write("END\n")
    return residues


def ranges(residues):
    """":1-99,101-135" of ascending numbers."""
    parts = []
    for number in residues:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ":" + ",".join(f"{first}-{last}" for first, last in parts)


def distances(program, ensemble, native, folder, first=-9999, last=9999):
    """RMSD of CA of every frame from the native structure, over the residues that it has within a range."""
    folder.mkdir(parents=True, exist_ok=True)
    reference = folder / "native.pdb"
    residues = alpha_carbons(native, reference, first, last)
    run(program, "rmsd", ensemble, "--select", f"ca and {ranges(residues)}", "--reference", reference,
        "-o", folder / "rmsd", "--force", "-q")
    return numbers(read_table(folder / "rmsd" / "reference.tsv"), "rmsd")


def synthetic_curve(program, native, folder):
    """A curve of the native structure's own profile with errors of 2 % and noise of that size."""
    run(program, "saxs", native, "-o", folder / "profile", "--force", "-q", "--q-max", 0.35, "--q-points", 176,
        "--c2", 1)
    noise = random.Random(1)
    path = folder / "synthetic.dat"
    rows = read_table(folder / "profile" / "profile.tsv")
    with open(path, "w", encoding="ascii") as out:
        out.write("# synthetic: computed from a structure, no measurement\n")
        for row in rows[5:]:  # from q = 0.01 on
            intensity = float(row["intensity"])
            sigma = 0.02 * intensity + 1e-4 * float(rows[0]["intensity"])
            out.write(f"{row['q']} {intensity + noise.gauss(0, sigma):.8g} {sigma:.8g}\n")
    return path


def area(values, sign, near):
    """The chance that a near frame is scored above another one, ties for a half; NaN without either."""
    order = sorted(range(len(values)), key=lambda frame: sign * values[frame])
    rank, at = [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for place in range(at, end):
            rank[order[place]] = (at + end + 1) / 2
        at = end
    count = sum(near)
    if count in (0, len(values)):
        return math.nan
    above = sum(one for one, is_near in zip(rank, near) if is_near) - count * (count + 1) / 2
    return above / (count * (len(values) - count))


def share_on_top(values, sign, near):
    order = sorted(range(len(values)), key=lambda frame: (-sign * values[frame], frame))
    return sum(near[frame] for frame in order[:TOP]) / min(TOP, len(order))


def judge(folder, rmsd, limits, parts):
    """How well each score finds frames near either native, and where the selected clusters are."""
    rows = read_table(folder / "scores.tsv")
    near = {name: [value < limits[name] for value in values] for name, values in rmsd.items()}
    near["either"] = [any(one) for one in zip(*near.values())]
    scores = {}
    for name, sign in SCORES:
        values = numbers(rows, name)
        if values is None:
            continue
        scores[name] = {native: {"auc": area(values, sign, frames), "top": share_on_top(values, sign, frames)}
                        for native, frames in near.items()}
    clusters = []
    members = numbers(rows, "cluster")
    for row in read_table(folder / "clusters.tsv"):
        if row["selected"] == "NA":
            continue
        frames = [n for n, cluster in enumerate(members) if int(cluster) == int(row["cluster"])]
        clusters.append({"selected": int(row["selected"]), "size": int(row["size"]),
                         "added": None if row["added"] == "NA" else float(row["added"]),
                         "medoid_rmsd": {name: values[int(row["medoid"])] for name, values in rmsd.items()},
                         "median_rmsd": {name: statistics.median(values[n] for n in frames)
                                         for name, values in rmsd.items()},
                         "best_rmsd": {name: values[int(row["best"])] for name, values in rmsd.items()},
                         "part_rmsd": {name: statistics.median(values[n] for n in frames)
                                       for name, values in parts.items()}})
    return {"near": {name: sum(frames) for name, frames in near.items()}, "scores": scores,
            "clusters": clusters}


def evaluate(case, options, folder):
    data, own = options.data, folder / case["name"].replace(", ", "-").replace(" ", "_")
    own.mkdir(parents=True, exist_ok=True)
    evidence = (["--alignment", data / case["alignment"]] if "alignment" in case else
                ["--contacts", folder / case["contacts"].replace(", ", "-").replace(" ", "_") / "run" / "couplings"])
    if "curve" in case:
        evidence += ["--data", synthetic_curve(options.pleat, data / case["natives"][case["curve"]][0], own)]
    # Stages of an earlier call are used again.
    run(options.pleat, "select", "--ensemble", data / case["ensemble"], *evidence, "-o", own / "run", "--force",
        "-q", *case.get("options", []), *options.options)
    rmsd = {name: distances(options.pleat, data / case["ensemble"], data / native, own / name)
            for name, (native, _) in case["natives"].items()}
    parts = {name: distances(options.pleat, data / case["ensemble"], data / case["natives"][native][0],
                             own / name.replace(" ", "_"), first, last)
             for name, (native, first, last) in case.get("parts", {}).items()}
    limits = {name: limit for name, (_, limit) in case["natives"].items()}
    result = judge(own / "run", rmsd, limits, parts)
    with open(own / "run" / "manifest.json", encoding="utf-8") as file:
        manifest = json.load(file)
    return {"name": case["name"], "frames": manifest["results"]["frames"], "limits_angstrom": limits,
            "parameters": {name: pathlib.Path(value).name if name in ("alignment", "contacts", "data") else value
                           for name, value in manifest["parameters"].items()},
            "results": manifest["results"], **result}


def show(result):
    natives = [name for name in result["near"] if name != "either" or len(result["near"]) > 2]
    print(f"\n### {result['name']}: {result['frames']} frames, near: "
          + ", ".join(f"{result['near'][name]} {name}" for name in natives) + "\n")
    print("| score | " + " | ".join(f"AUC {name} | top {TOP} {name}" for name in natives) + " |")
    print("|---|" + "---|" * 2 * len(natives))
    for name, values in result["scores"].items():
        print(f"| {name} | " + " | ".join(f"{values[one]['auc']:.2f} | {values[one]['top']:.2f}" for one in natives)
              + " |")
    folds = [name for name in natives if name != "either"]
    parts = list(result["clusters"][0]["part_rmsd"]) if result["clusters"] else []
    print("\n| selected | frames | " + " | ".join([f"median RMSD {name} | best frame {name}" for name in folds] + parts)
          + " |")
    print("|---|---|" + "---|" * (2 * len(folds) + len(parts)))
    for cluster in result["clusters"]:
        cells = [f"{cluster['median_rmsd'][name]:.1f} | {cluster['best_rmsd'][name]:.1f}" for name in folds]
        cells += [f"{cluster['part_rmsd'][name]:.1f}" for name in parts]
        print(f"| {cluster['selected']} | {cluster['size']} | " + " | ".join(cells) + " |", flush=True)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        description="How well pleat select finds models near either native fold of KaiB and RfaH.")
    parser.add_argument("--pleat", default="pleat", help="the program")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the runs, whose stages a later call reuses")
    parser.add_argument("--record", type=pathlib.Path, help="write the numbers here too")
    parser.add_argument("--case", action="append", help="name of a case (default: all)")
    parser.add_argument("options", nargs="*", help="options for pleat select, behind --")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        sys.exit(f"{options.data}: expected the folder of data, found none")
    return options


def main(arguments=None):
    options = parse_arguments(arguments)
    with tempfile.TemporaryDirectory(prefix="pleat-bench-") as temporary:
        folder = options.keep or pathlib.Path(temporary)
        results = []
        for case in CASES:
            if options.case and case["name"] not in options.case:
                continue
            results.append(evaluate(case, options, folder))
            show(results[-1])
    if options.record:
        content = {"format": FORMAT, "date": datetime.date.today().isoformat(),
                   "commit": record.describe_commit(ROOT), "machine": record.describe_machine(), "top": TOP,
                   "cases": results}
        options.record.write_text(json.dumps(content, indent=1).replace("NaN", "null") + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
