#!/usr/bin/env python3
# Prints the precision of contacts of pleat and of the peers on PATH over families with a structure.
import argparse
import csv
import datetime
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import alignment_files
import contacts
import predictors
import record

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Shallow families and fold switchers: no fair ground for a threshold of precision.
HARD = ("102mA_MYG", "1a00A_HBA", "2jp1A_XCL1", "2qkeE_KaiB", "PF00179_1Z2UA")


PEERS = {"ccmpred": predictors.ccmpred_scores, "plmc": predictors.plmc_scores,
         "gremlin_cpp": predictors.gremlin_scores}
# Depths of the record, in alignment columns.
DEPTHS = {"top_L10": 10, "top_L5": 5, "top_L2": 2, "top_L": 1}
# pleat's mean precision may be below the best peer's by this, at L/5, L/2 and L.
TOLERANCE = 0.01


def eligible_families(data):
    """{name: query row from 0} of the alignments with a mapped structure, hard ones left out."""
    families = {}
    with open(data / "MANIFEST.tsv", encoding="utf-8") as manifest:
        for line in manifest:
            fields = line.rstrip("\n").split("\t")
            path = pathlib.PurePosixPath(fields[0])
            if path.parent.name != "alignments" or not path.name.endswith(".aln.gz"):
                continue
            name = path.name.removesuffix(".aln.gz")
            counts = dict(item.split("=", 1) for item in fields[5].split(";") if "=" in item)
            if name not in HARD and (data / "structures" / f"{name}.map.tsv.gz").exists():
                families[name] = int(counts["query_row"])
    return families


def evaluate_family(name, query_row, data, options, keep):
    """One row of the table: sizes, and each program's precision at the top L/5."""
    path = data / "alignments" / f"{name}.aln.gz"
    rows = alignment_files.read_aln(path)
    truth = contacts.true_contacts(data / "structures" / f"{name}.map.tsv.gz",
                                   data / "structures" / f"{name}.pdb.gz")
    top = max(1, truth.length // options.divisor)
    row = {"family": name, "sequences": len(rows), "columns": len(rows[0]),
           "mapped": truth.length, "top": top}
    scores = {}
    if options.freecontact:
        scores["freecontact"] = predictors.freecontact_scores(
            options.freecontact, rows, query_row, keep / f"{name}.evfold", options.threads)
    if options.pleat:
        scores["pleat"] = predictors.pleat_scores(
            options.pleat, path, keep / f"{name}.pleat", options.threads)
    for program, run in PEERS.items():
        if getattr(options, program):
            scores[program] = run(getattr(options, program), rows, keep / f"{name}.{program}", options.threads)
    for program, found in scores.items():
        ranked = contacts.ranked_pairs(found, truth, options.least_separation, options.separation)
        row[program] = contacts.precision(ranked, truth, top)
        row.setdefault("depths", {})[program] = {
            depth: contacts.precision(ranked, truth, max(1, row["columns"] // divisor))
            for depth, divisor in DEPTHS.items()}
    return row


def print_row(row, programs):
    cells = " ".join(f"{row[name]:12.3f}" for name in programs)
    print(f"{row['family']:20s} {row['sequences']:9d} {row['columns']:7d} {row['mapped']:6d}"
          f" {row['top']:4d} {cells}", flush=True)


def recorded(path):
    """{program: {family: {depth: precision}}} of a table of peers (precision_peers.tsv)."""
    programs = {}
    with open(path, encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            if not row["family"].startswith(("mean", "median")):
                programs.setdefault(row["program"], {})[row["family"]] = {
                    depth: float(row[depth]) for depth in DEPTHS}
    return programs


def compare_with_record(table, path):
    """Prints mean precision by depth of each program, measured here and recorded, over the families of the
    record; returns whether pleat's is that of its record, and not below a peer's on the same families."""
    programs = recorded(path)
    measured = {row["family"]: row["depths"] for row in table}
    families = sorted(set(programs["pleat"]) & set(measured))
    if len(families) < len(programs["pleat"]):
        print(f"only {len(families)} of the record's {len(programs['pleat'])} families were measured",
              file=sys.stderr)
        return False

    def mean(values, depth):
        return statistics.mean(one[depth] for one in values)
    is_met = True
    print(f"means over {len(families)} families of {path.name}: " + ", ".join(DEPTHS))
    for program in measured[families[0]]:
        found = [measured[family][program] for family in families]
        print(f"{program:14s} here     " + " ".join(f"{mean(found, depth):.3f}" for depth in DEPTHS))
    pleat = {depth: mean([measured[family]["pleat"] for family in families], depth) for depth in DEPTHS}
    for program, known in programs.items():
        shared = [family for family in families if family in known]
        print(f"{program:14s} recorded " + " ".join(
            f"{mean([known[family] for family in shared], depth):.3f}" for depth in DEPTHS)
            + f" ({len(shared)} families)")
        for depth in DEPTHS:
            peer = mean([known[family] for family in shared], depth)
            own = mean([measured[family]["pleat"] for family in shared], depth)
            is_near = abs(own - peer) <= TOLERANCE if program == "pleat" else own >= peer - TOLERANCE
            if not is_near and (program == "pleat" or depth != "top_L10"):
                print(f"pleat's mean at {depth} is {own:.3f}, {program}'s record {peer:.3f}", file=sys.stderr)
                is_met = False
    print("pleat: " + ", ".join(f"{depth} {value:.3f}" for depth, value in pleat.items()))
    return is_met


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        description="Precision of the top L/5 contacts with |i - j| >= 6 (L: mapped columns).")
    parser.add_argument("families", nargs="*", help="names (default: all eligible ones)")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--pleat", default="pleat", help="pleat program (default: on PATH)")
    parser.add_argument("--freecontact", default="freecontact",
                        help="FreeContact program (default: on PATH)")
    for name in PEERS:
        parser.add_argument(f"--{name.replace('_', '-')}", default=name, help=f"{name} program (default: on PATH)")
    parser.add_argument("--record", type=pathlib.Path, nargs="?", const=ROOT.parent / "shared" / "oracle" / "mutants"
                        / "precision_peers.tsv",
                        help="compare means with this table of peers, over its families (default: that of ../shared)")
    parser.add_argument("--divisor", type=int, default=5, help="judge the top L/DIVISOR (5)")
    parser.add_argument("--least-separation", type=int, default=6, help="least |i - j| (6)")
    parser.add_argument("--separation", choices=("columns", "residues"), default="columns",
                        help="what |i - j| counts: alignment columns or residues of the chain")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path,
                        help="folder for the programs' outputs, which a later call reuses")
    parser.add_argument("--json", type=pathlib.Path, help="write the table here too")
    options = parser.parse_args(arguments)
    if options.divisor < 1 or options.least_separation < 1 or options.threads < 1:
        parser.error("--divisor, --least-separation and --threads: expected at least 1")
    for name in ("pleat", "freecontact", *PEERS):
        path = shutil.which(getattr(options, name))
        setattr(options, name, str(pathlib.Path(path).absolute()) if path else None)
        if not path:
            print(f"{name}: absent, not on PATH", file=sys.stderr)
    return options


def evaluate(options, keep):
    """The table, printed as it grows, with medians; returns the exit status."""
    families = eligible_families(options.data)
    unknown = sorted(set(options.families) - set(families))
    if unknown:
        print(f"not an eligible family: {', '.join(unknown)}", file=sys.stderr)
        return 2
    if options.record:
        families = {name: families[name] for name in recorded(options.record)["pleat"] if name in families}
    programs = [name for name in ("freecontact", "pleat", *PEERS) if getattr(options, name)]
    if not programs:
        return 2
    print(f"top L/{options.divisor}, |i - j| >= {options.least_separation} {options.separation}")
    print(f"{'family':20s} {'sequences':>9s} {'columns':>7s} {'mapped':>6s} {'top':>4s} "
          + " ".join(f"{name:>12s}" for name in programs))
    table = []
    for name in sorted(options.families or families):
        table.append(evaluate_family(name, families[name], options.data, options, keep))
        print_row(table[-1], programs)
    medians = {name: statistics.median(row[name] for row in table) for name in programs}
    means = {name: statistics.mean(row[name] for row in table) for name in programs}
    for label, values in (("median", medians), ("mean", means)):
        print(f"{label:50s} " + " ".join(f"{values[name]:12.3f}" for name in programs))
    if options.json:
        options.json.write_text(json.dumps({"format": "pleat-precision-peers-1", "date": datetime.date.today().isoformat(),
                                            "commit": record.describe_commit(ROOT),
                                            "median": medians, "mean": means, "families": table},
                                           indent=1) + "\n", encoding="utf-8")
    if options.record and "pleat" in programs and not compare_with_record(table, options.record):
        return 1
    below = {"pleat", "freecontact"} <= set(programs) and medians["pleat"] < medians["freecontact"]
    if below:
        print("pleat's median is below FreeContact's", file=sys.stderr)
    return 1 if below else 0


def main(arguments=None):
    options = parse_arguments(arguments)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        return evaluate(options, options.keep)
    with tempfile.TemporaryDirectory(prefix="pleat-bench-") as directory:
        return evaluate(options, pathlib.Path(directory))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ValueError, OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        sys.exit(3)
