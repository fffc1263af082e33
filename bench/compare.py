#!/usr/bin/env python3
# Compares two benchmark records and fails when pleat became slower than a given factor.
import argparse
import sys

import record
from measure import MEASURES


def compare(old, new, measure, relative_to=None):
    """Rows (case, program, old, new, new/old) for the cases of one size in both records.

    With `relative_to`, each median is first divided by that program's in the same case and record,
    which makes records of different machines comparable.
    """
    rows = []
    before = {(c["name"], c["sequences"], c["columns"]): c["programs"] for c in old["cases"]}
    for case in new["cases"]:
        earlier = before.get((case["name"], case["sequences"], case["columns"]), {})
        units = [_median(programs, relative_to, measure) if relative_to else 1.0
                 for programs in (earlier, case["programs"])]
        for name in case["programs"]:
            values = [_median(programs, name, measure)
                      for programs in (earlier, case["programs"])]
            if None in values + units or 0 in units or values[0] == 0:
                continue
            first, second = values[0] / units[0], values[1] / units[1]
            rows.append((case["name"], name, first, second, second / first))
    return rows


def _median(programs, name, measure):
    median = programs.get(name, {}).get("median")
    return median[measure] if median else None


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description="Compare two benchmark records; exit 1 if a program became slower.")
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--factor", type=float, default=1.1,
                        help="largest allowed new/old (default 1.1)")
    parser.add_argument("--measure", choices=MEASURES, default="user_s")
    parser.add_argument("--program", default="pleat", help="which program must not become slower")
    parser.add_argument("--relative-to", metavar="PEER",
                        help="divide by this program's time in the same record first")
    options = parser.parse_args(arguments)
    old, new = record.read(options.old), record.read(options.new)
    if old["threads"] != new["threads"]:
        print(f"threads differ: {old['threads']} and {new['threads']}", file=sys.stderr)
        return 2
    if old["machine"] != new["machine"] and not options.relative_to:
        print("the machines differ: consider --relative-to a program in both", file=sys.stderr)
    rows = compare(old, new, options.measure, options.relative_to)
    judged = [row for row in rows if row[1] == options.program]
    print(f"{'case':20s} {'program':20s} {'old':>10s} {'new':>10s} {'new/old':>8s}")
    for case, name, first, second, ratio in rows:
        slow = name == options.program and ratio > options.factor
        print(f"{case:20s} {name:20s} {first:10.3f} {second:10.3f} {ratio:8.3f}"
              f"{'  slower' if slow else ''}")
    if not judged:
        print(f"no case of {options.program} is in both records", file=sys.stderr)
        return 2
    return 1 if any(row[4] > options.factor for row in judged) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(3)
