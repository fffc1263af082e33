#!/usr/bin/env python3
# Times whole programs (pleat and the peers found on PATH) on alignments and writes a record of it.
import argparse
import datetime
import pathlib
import sys
import tempfile

import alignment_files
import programs
import record
from measure import CommandFailed, measure

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED_FAMILIES = ("1atzA", "DHFR", "PF00014")
DEFAULT_PROGRAMS = ("pleat", "ccmpred", "plmc", "freecontact-evfold", "freecontact-psicov")


def default_cases():
    """The committed alignments, and the reference families where ../shared is present."""
    cases = sorted((ROOT / "data").glob("*.aln")) + sorted((ROOT / "data").glob("*.aln.gz"))
    reference = ROOT.parent / "shared" / "oracle" / "couplings"
    return cases + [path for path in (reference / f"{name}.aln.gz" for name in SHARED_FAMILIES)
                    if path.exists()]


def run_once(program, path, rows, threads, time_limit):
    """One sample of one program, in a fresh directory that holds only its inputs."""
    with tempfile.TemporaryDirectory(prefix="pleat-bench-") as directory:
        alignment_files.write_aln(f"{directory}/input.aln", rows)
        alignment_files.write_fasta(f"{directory}/input.fasta", rows)
        return measure(program.command(path, threads), directory, threads, time_limit)


def run_case(case_path, found, options):
    """All repeats of all programs on one alignment, interleaved: each repeat runs every program
    once, so that a change of the machine's speed meets them all; the first to run rotates."""
    rows = alignment_files.read_aln(case_path)
    name = pathlib.Path(case_path).name.removesuffix(".gz").removesuffix(".aln")
    samples = {program.name: [] for program, _ in found}
    failures = {}
    for repeat in range(options.repeats):
        turn = repeat % len(found)
        for program, path in found[turn:] + found[:turn]:
            if program.name in failures:
                continue
            try:
                sample = run_once(program, path, rows, options.threads, options.time_limit)
            except CommandFailed as failure:
                failures[program.name] = str(failure)
                print(f"{name}: {program.name} failed: {failure}", file=sys.stderr)
                continue
            samples[program.name].append(sample)
            print(f"{name}  repeat {repeat + 1}/{options.repeats}  {program.name:20s}"
                  f"  user {sample['user_s']:9.3f} s  wall {sample['wall_s']:9.3f} s"
                  f"  peak {sample['peak_mb']:8.1f} MiB", file=sys.stderr)
    size = {"name": name, "sequences": len(rows), "columns": len(rows[0])}
    return record.summarise(size, samples, failures)


def print_case(case):
    """The medians of one case as a table, with how many times each program's are pleat's."""
    print(f"\n{case['name']}: {case['sequences']} sequences x {case['columns']} columns")
    print(f"{'program':20s} {'user s':>10s} {'wall s':>10s} {'peak MiB':>10s} {'user/pleat':>11s}")
    for name, entry in case["programs"].items():
        if not entry["median"]:
            print(f"{name:20s} {entry['failure']}")
            continue
        median = entry["median"]
        ratio = case["ratios"].get(name, {}).get("user_s")
        print(f"{name:20s} {median['user_s']:10.3f} {median['wall_s']:10.3f}"
              f" {median['peak_mb']:10.1f} {f'{ratio:.2f}' if ratio else '-':>11s}")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        description="Time pleat and the peers found on PATH, interleaved, and write a record.")
    parser.add_argument("alignments", nargs="*", help="PSICOV .aln files, plain or .gz "
                        "(default: those in data/ and, where present, ../shared)")
    parser.add_argument("--name", default="couplings", help="second part of the record's name")
    parser.add_argument("--pleat", help="path of the pleat program (default: on PATH)")
    parser.add_argument("--programs", default=",".join(DEFAULT_PROGRAMS),
                        help="which to run, of " + ", ".join(p.name for p in programs.PROGRAMS))
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (default 5)")
    parser.add_argument("--threads", type=int, default=1, help="threads of each (default 1)")
    parser.add_argument("--time-limit", type=float, default=3600.0,
                        help="seconds after which a run is stopped and counts as failed")
    parser.add_argument("--records", default=ROOT / "bench" / "records", help="where to write")
    options = parser.parse_args(arguments)
    options.programs = options.programs.split(",")
    unknown = set(options.programs) - {program.name for program in programs.PROGRAMS}
    if unknown:
        parser.error(f"--programs: unknown {', '.join(sorted(unknown))}")
    if options.repeats < 1 or options.threads < 1:
        parser.error("--repeats and --threads: expected at least 1")
    return options


def main(arguments=None):
    options = parse_arguments(arguments)
    cases = options.alignments or default_cases()
    if not cases:
        print("no alignment given, and none in data/ or ../shared", file=sys.stderr)
        return 2
    found, absent = [], []
    for program in programs.PROGRAMS:
        if program.name in options.programs:
            path = programs.locate(program, options.pleat)
            if path:
                found.append((program, path))
            else:
                absent.append(program.name)
    for name in absent:
        print(f"{name}: absent, not on PATH", file=sys.stderr)
    if not found:
        return 2
    date = datetime.date.today().isoformat()
    results = [run_case(path, found, options) for path in cases]
    entry = {"format": record.FORMAT, "date": date, "commit": record.describe_commit(ROOT),
             "machine": record.describe_machine(), "threads": options.threads,
             "repeats": options.repeats, "absent": absent,
             "versions": {program.name: programs.version(program, path)
                          for program, path in found},
             "commands": {program.name: [program.executable] +
                          program.command(path, options.threads)[1:] for program, path in found},
             "cases": results}
    pathlib.Path(options.records).mkdir(parents=True, exist_ok=True)
    path = pathlib.Path(options.records) / f"{date}-{options.name}.json"
    record.write(path, entry)
    for case in results:
        print_case(case)
    print(f"\nrecord: {path}")
    failed = any("failure" in entry for case in results for entry in case["programs"].values())
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(3)
