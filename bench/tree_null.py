#!/usr/bin/env python3
# Prints the tables of the tree null: base pairs found, false hits and mean statistics on simulated alignments.
"""Four tables:

    bench/tree_null.py --pleat build/release/apps/pleat/pleat pairs       # acceptance 1 and 2
    bench/tree_null.py --pleat ... simulations --count 200                # acceptance 3 and 4
    bench/tree_null.py --pleat ... contacts                               # couplings of proteins
    bench/tree_null.py --pleat ... power                                  # base pairs found, by substitutions

Alignments, trees and the outputs of R-scape 2.6.11 are those of ../shared/data/tree_null (--data). If
R-scape is on PATH, `pairs` runs it too. Simulated alignments evolve along the alignment's own tree, column
by column, and get the gaps of the alignment: a pair among their hits is false. `contacts` fits families of
../shared/data with a structure and null alignments of each; --false N fits N simulated alignments of each instead.
`power` takes the alignments of RNA with a structure in ../shared/data as well (rna_contacts).
"""
import argparse
import collections
import concurrent.futures
import csv
import gzip
import json
import math
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import rna

LETTERS, RESIDUES = "ACGU", "ARNDCQEGHILKMFPSTWYV"
TRANSITION = {0: 2, 2: 0, 1: 3, 3: 1}
ROOT = pathlib.Path(__file__).resolve().parents[1]
MAX_GAPS = "0.75"
# Alignment, R-scape's output, its hits, how many of them `branch` must find.
FAMILIES = (("updated_Arisong", "updated_Arisong_1", 3), ("ar14", "ar14_1", 15), ("manA", "manA_1", 36),
            ("RF00005", "RF00005_tRNA", 34), ("RF00001-noss", "RF00001_5S_rRNA", 29))
SIMULATED = (("updated_Arisong", None), ("ar14", None), ("RF00005", 300))
POWER_EDGES = (0, 2, 5, 10, 20, 40, 80, 160, 320, 100000)
SIMULATORS = ("gamma", "homogeneous", "hky")


def read_stockholm(path):
    rows = {}
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith(("#", "//")):
            name, letters = line.split()
            rows[name] = rows.get(name, "") + letters.upper().replace("T", "U")
    return rows


def without_gappy_columns(rows):
    columns = [column for column in zip(*rows.values())
               if sum(not letter.isalpha() for letter in column) <= float(MAX_GAPS) * len(column)]
    return dict(zip(rows, map("".join, zip(*columns))))


def write_fasta(path, rows):
    path.write_text("".join(f">{name}\n{letters}\n" for name, letters in rows.items()))


def parse_newick(text):
    """The root of a tree: (name, length, children); names of the test data need no quotes."""
    stack, node = [[]], None
    at = 0
    while at < len(text):
        mark = text[at]
        if mark == "(":
            stack.append([])
        elif mark in ",);":
            if mark == ")":
                children = stack.pop()
                node = ["", 0.0, children]
                stack[-1].append(node)
        at += 1
        begin = at
        while at < len(text) and text[at] not in "(),;":
            if text[at] == "'":
                at = text.index("'", at + 1)
            at += 1
        label = text[begin:at].strip()
        if mark in "(," and label:
            node = ["", 0.0, []]
            stack[-1].append(node)
        if label:
            name, _, length = label.rpartition(":") if ":" in label else (label, "", "0")
            if not node[2]:
                node[0] = name.strip("'")
            node[1] = float(length)
    return stack[0][0]


class Model:
    """Rates of substitution of one column, with a mean of 1 per unit of length, times its own rate."""

    def __init__(self, frequencies, rate, kappa=1.0):
        self.frequencies = frequencies
        states = range(len(frequencies))
        raw = [[0 if a == b else frequencies[b] * (kappa if TRANSITION.get(a) == b else 1) for b in states]
               for a in states]
        mean = sum(frequencies[a] * sum(raw[a]) for a in states)
        self.exits = [rate * sum(row) / mean for row in raw]
        self.targets = raw

    def evolve(self, state, length, numbers):
        while self.exits[state] > 0:
            length -= numbers.expovariate(self.exits[state])
            if length < 0:
                break
            state = numbers.choices(range(len(self.targets)), self.targets[state])[0]
        return state


def frequencies_of(letters, alphabet):
    counts = [letters.count(letter) + 1 / len(alphabet) for letter in alphabet]
    return [count / sum(counts) for count in counts]


def models(rows, simulator, numbers, alphabet):
    """gamma: F81 with the column's composition and rates of shape 0.7; homogeneous: F81, the same for all
    columns; hky: transitions four times as frequent, rates of shape 0.3."""
    columns = ["".join(column) for column in zip(*rows.values())]
    overall = frequencies_of("".join(columns), alphabet)
    for column in columns:
        if simulator == "gamma":
            yield Model(frequencies_of(column, alphabet), numbers.gammavariate(0.7, 1 / 0.7))
        elif simulator == "homogeneous":
            yield Model(overall, 1.0)
        else:
            yield Model(overall, numbers.gammavariate(0.3, 1 / 0.3), kappa=4.0)


def simulate(rows, tree, simulator, seed, alphabet=LETTERS):
    """The alignment without any covariation: {name: letters}."""
    numbers = random.Random(f"{simulator} {seed}")
    leaves = {name: [] for name in rows}
    for model in models(rows, simulator, numbers, alphabet):
        stack = [(tree, numbers.choices(range(len(alphabet)), model.frequencies)[0])]
        while stack:
            (name, _, children), state = stack.pop()
            if not children:
                leaves[name].append(alphabet[state])
            for child in children:
                stack.append((child, model.evolve(state, child[1], numbers)))
    return {name: "".join(letter if seen.isalpha() else "-" for letter, seen in zip(leaves[name], rows[name]))
            for name in rows}


def scaled(node, height_of):
    """The tree with heights changed by a function, as distances saturate."""
    def height(one):
        return max((child[1] + height(child) for child in one[2]), default=0.0)
    return [node[0], 0.0, [[child[0], max(0.0, height_of(height(node)) - height_of(height(child))),
                            scaled(child, height_of)[2]] for child in node[2]]]


def jukes_cantor(height, states=4):
    most = (states - 1) / states
    return -most / 2 * math.log(1 - min(2 * height / most, 0.96))


def run_pleat(pleat, alignment, folder, *options):
    """The run's results and its pairs."""
    command = [pleat, "mi", str(alignment), "-o", str(folder), "--force", "--quiet", "--top", "100000000",
               "--insertions", "keep", "--max-gaps", MAX_GAPS, *map(str, options)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    results = json.loads((folder / "manifest.json").read_text())["results"]
    with (folder / "pairs.tsv").open() as table:
        return results, list(csv.DictReader(table, delimiter="\t"))


def tree_of(rows, data, name, pleat, folder):
    """The given tree of FastTree; else UPGMA of pleat with heights corrected for repeated changes."""
    path = data / "trees" / f"{name}.nwk"
    if path.exists():
        return parse_newick(path.read_text())
    write_fasta(folder / "family.fa", rows)
    run_pleat(pleat, folder / "family.fa", folder / "run", "--null", "tree", "--null-alignments", 100)
    return scaled(parse_newick((folder / "run" / "tree.nwk").read_text()), jukes_cantor)


def significant(pairs, key="tree_e"):
    return {(int(pair["i"]), int(pair["j"])) for pair in pairs if float(pair[key]) < 0.05}


def shuffle_hits(pairs):
    p = [float(pair["tail_p"]) for pair in pairs if pair["tail_p"] != "NA"]
    return sum(value * len(pairs) < 0.05 for value in p)


def rscape_pairs(path):
    rows = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {(int(row[1]), int(row[2])) for row in rows if float(row[4]) < 0.05}


def table_of_pairs(options):
    print("alignment        null    pairs + others    R-scape's hits found      mean null / alignment")
    for name, output, wanted in FAMILIES:
        alignment = options.data / f"{name}.sto"
        theirs = rscape_pairs(options.data / "rscape_2.6.11_one_set" / f"{output}.cov")
        has_structure = "SS_cons" in alignment.read_text()
        for null in ("branch", "markov"):
            with tempfile.TemporaryDirectory() as folder:
                secondary = ["--secondary", alignment] if has_structure else []
                results, pairs = run_pleat(options.pleat, alignment, pathlib.Path(folder) / "run", "--null",
                                           "tree", "--tree-null", null, "--null-alignments",
                                           options.null_alignments, *secondary)
            hits = significant(pairs)
            annotated = results.get("annotated_found", 0)
            need = f"(at least {wanted})" if null == "branch" else ""
            print(f"{name:16} {null:7} {annotated:5} + {len(hits) - annotated:<5} "
                  f"{len(hits & theirs):8} of {len(theirs)} {need:15} {results['tree_mean_ratio']:6.2f}", flush=True)
        if shutil.which("R-scape"):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run(["R-scape", "--outdir", folder, str(alignment)], check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for path in pathlib.Path(folder).glob("*.cov"):
                    if "sorted" not in path.name:
                        print(f"{name:16} R-scape {len(rscape_pairs(path)):5} pairs")


def one_simulation(options, rows, tree, simulator, seed):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_fasta(folder / "made.fa", simulate(rows, tree, simulator, seed))
        found = {}
        for null in ("markov", "branch"):
            results, _ = run_pleat(options.pleat, folder / "made.fa", folder / "run", "--null", "tree", "--tree-null",
                                   null, "--null-alignments", options.null_alignments, "--seed", seed + 1,
                                   "--threads", 1)
            found[null] = results["tree_significant"]
            found[null + " ratio"] = results["tree_mean_ratio"]
        if simulator == "gamma":
            found["shuffle"] = shuffle_hits(run_pleat(options.pleat, folder / "made.fa", folder / "run", "--threads", 1)[1])
        return found


def table_of_simulations(options):
    print("simulated on          by            mean hits: markov  branch  shuffle    mean null / simulated: "
          "markov  branch")
    for name, limit in SIMULATED:
        if not name.startswith(tuple(options.alignments.split(","))):
            continue
        if name not in options.families.split(","):
            continue
        rows = read_stockholm(options.data / f"{name}.sto")
        if limit:
            names = random.Random(1).sample(sorted(rows), limit)
            rows = {one: rows[one] for one in names}
        rows = without_gappy_columns(rows)
        with tempfile.TemporaryDirectory() as folder:
            tree = tree_of(rows, options.data, name, options.pleat, pathlib.Path(folder))
        for simulator in options.simulators.split(","):
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                runs = list(pool.map(lambda seed: one_simulation(options, rows, tree, simulator, seed),
                                     range(options.count)))
            def mean(key):
                return sum(run[key] for run in runs) / len(runs) if key in runs[0] else math.nan
            print(f"{name + (f' ({limit})' if limit else ''):21} {simulator:13} {mean('markov'):17.3f} "
                  f"{mean('branch'):7.3f} {mean('shuffle'):8.1f} {mean('markov ratio'):30.2f} "
                  f"{mean('branch ratio'):7.2f}", flush=True)


def contacts_of(path, e=0.05):
    """Pairs with a smaller E, contacts among them, contacts that the probability finds (p above 0.9), pairs of
    the same number of best scores that are contacts, of pairs with a distance."""
    with path.open(newline="") as file:
        pairs = [row for row in csv.DictReader(file, delimiter="\t") if row["distance"] != "NA"]
    close = [float(row["distance"]) < 8 for row in pairs]
    hits = [near for row, near in zip(pairs, close) if float(row["tree_e"]) < e]
    likely = [near for row, near in zip(pairs, close) if row["probability"] != "NA" and float(row["probability"]) > 0.9]
    return len(hits), sum(hits), len(likely), sum(likely)


def couplings_of(options, alignment, folder, *more):
    subprocess.run([options.pleat, "couplings", alignment, "-o", folder, "--force", "--quiet", "--max-gaps", "0.5",
                    "--device", options.device, "--null", "tree", "--null-alignments", str(options.null_alignments),
                    *map(str, more)], check=True)
    return json.loads((folder / "manifest.json").read_text())["results"]


def families_with_structures(options):
    for structure in sorted((options.data.parent / "structures").glob("*.pdb.gz")):
        alignment = options.data.parent / "alignments" / structure.name.replace(".pdb.gz", ".aln.gz")
        if alignment.is_file() and any(map(structure.name.startswith, options.families.split(","))):
            yield structure, alignment


def table_of_contacts(options):
    if options.false:
        return table_of_false_contacts(options)
    sums = {}
    print("family                 rows  columns  identity  null     contacts of pairs with E < 0.05   of p > 0.9")
    for structure, alignment in families_with_structures(options):
        for null in ("markov", "branch"):
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name) / "run"
                try:
                    known = couplings_of(options, alignment, folder, "--structure", structure, "--tree-null", null)
                except subprocess.CalledProcessError:
                    break  # too few or too many rows; the program has said so
                found = contacts_of(folder / "contacts.tsv")
            sums[null] = [a + b for a, b in zip(sums.get(null, (0,) * 5), (*found, 1))]
            print(f"{structure.name[:-7]:20} {known['sequences']:6} {known['columns']:8} {known['mean_identity']:9.2f}"
                  f"  {null:7} {found[1]:10} of {found[0]:<6} {found[3]:22} of {found[2]}", flush=True)
    for null, (pairs, close, likely, right, families) in sums.items():
        print(f"{families} families, {null}: {close} of {pairs}, by probability {right} of {likely}")


def read_rows(alignment):
    """The rows of one sequence a line, without columns of more than half gaps."""
    with gzip.open(alignment, "rt") as file:
        rows = {f"r{number}": line.strip() for number, line in enumerate(file)}
    columns = [column for column in zip(*rows.values()) if 2 * column.count("-") <= len(column)]
    return dict(zip(rows, map("".join, zip(*columns))))


def table_of_false_contacts(options):
    sums = {}
    print("simulated on           rows  columns  mean of E < 0.05: markov  branch   null / simulated: markov  branch")
    for _, alignment in families_with_structures(options):
        rows = read_rows(alignment)
        found = {}
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_fasta(folder / "family.fa", rows)
            run_pleat(options.pleat, folder / "family.fa", folder / "run", "--null", "tree", "--null-alignments", 100)
            tree = scaled(parse_newick((folder / "run" / "tree.nwk").read_text()), lambda h: jukes_cantor(h, 20))
            for seed in range(options.false):
                write_fasta(folder / "made.fa", simulate(rows, tree, "gamma", seed, RESIDUES))
                for null in ("markov", "branch"):
                    known = couplings_of(options, folder / "made.fa", folder / "fit", "--tree-null", null,
                                         "--seed", seed + 77)
                    found.setdefault(null, []).append(known["tree_significant"])
                    found.setdefault(null + " ratio", []).append(known["tree_mean_ratio"])
        means = {key: sum(values) / len(values) for key, values in found.items()}
        print(f"{alignment.name[:-7]:20} {len(rows):6} {known['columns']:8} {means['markov']:25.2f} "
              f"{means['branch']:7.2f} {means['markov ratio']:25.2f} {means['branch ratio']:7.2f}", flush=True)
        for null in ("markov", "branch"):
            sums.setdefault(null, []).extend(found[null])
    for null, hits in sums.items():
        print(f"{len(hits)} simulated alignments, {null}: {sum(hits) / len(hits):.3f} hits each")


def structured_families(data):
    """(name, alignment, file of its secondary structure or text of brackets)."""
    for name, _, _ in FAMILIES:
        path = data / f"{name}.sto"
        if "SS_cons" in path.read_text():
            yield name, path, path
    contacts = data.parent / "rna_contacts"
    for name, structure, _ in rna.families(contacts):
        if name.startswith("RF00005"):
            continue  # the family above
        text = (contacts / "secstruct" / f"secstruct_{structure}.txt").read_text()
        yield name, rna.alignment(contacts, name), re.search(r"^\s*SECSTRUCT\s*:\s*(\S+)", text, re.M)[1]


def annotated_pairs(options, alignment, secondary, null, folder):
    """[(substitutions of the column with fewer, whether E < 0.05)] of the annotated pairs."""
    if isinstance(secondary, str):
        (folder / "brackets").write_text(secondary + "\n")
        secondary = folder / "brackets"
    _, pairs = run_pleat(options.pleat, alignment, folder / "run", "--null", "tree", "--tree-null", null,
                         "--null-alignments", options.null_alignments, "--secondary", secondary)
    with (folder / "run" / "columns.tsv").open() as table:
        changes = {row["column"]: int(row["substitutions"]) for row in csv.DictReader(table, delimiter="\t")}
    return [(min(changes[pair["i"]], changes[pair["j"]]), float(pair["tree_e"]) < 0.05)
            for pair in pairs if pair["annotation"] == "pair"]


def power(changes, curve):
    """c s^h / (m^h + s^h) of s substitutions."""
    c, log_m, log_h = curve
    h = math.exp(log_h)
    return c / (1 + (math.exp(log_m) / changes) ** h) if changes else 0.0


def fitted(points):
    """c, ln m and ln h of greatest likelihood: steps along each that halve where none is better."""
    counts = collections.Counter(points)

    def likelihood(curve):
        if not 0 < curve[0] < 1:
            return -math.inf
        sure = 1e-4  # pairs without substitutions
        return sum(count * math.log(max(sure, power(changes, curve)) if found else 1 - power(changes, curve))
                   for (changes, found), count in counts.items())
    curve, step = [0.7, math.log(10), math.log(1.5)], 0.2
    best = likelihood(curve)
    while step > 1e-4:
        tried = [curve[:n] + [curve[n] + sign * step] + curve[n + 1:] for n in range(3) for sign in (-1, 1)]
        found, other = max((likelihood(one), one) for one in tried)
        if found > best:
            best, curve = found, other
        else:
            step /= 2
    return curve


def table_of_power(options):
    found = {"markov": [], "branch": []}
    for name, alignment, secondary in structured_families(options.data):
        for null, points in found.items():
            with tempfile.TemporaryDirectory() as folder:
                try:
                    own = annotated_pairs(options, alignment, secondary, null, pathlib.Path(folder))
                except subprocess.CalledProcessError:
                    print(f"{name}: refused", flush=True)
                    break
            if not own:
                break
            points.append(own)
            print(f"{name:16} {null:7} {sum(hit for _, hit in own):4} of {len(own):4} pairs, "
                  f"{statistics.median(changes for changes, _ in own):6} substitutions", flush=True)
    for null, families in found.items():
        points = [point for own in families for point in own]
        curve = fitted(points)
        print(f"{null}: {len(families)} families, {len(points)} pairs: c = {curve[0]:.3f}, "
              f"m = {math.exp(curve[1]):.2f}, h = {math.exp(curve[2]):.2f}")
        for low, high in zip(POWER_EDGES, POWER_EDGES[1:]):
            hits = [hit for changes, hit in points if low <= changes < high]
            expected = [power(changes, curve) for changes, _ in points if low <= changes < high]
            if hits:
                print(f"  {low:5} to {high - 1:<6} {len(hits):5} pairs: {sum(hits) / len(hits):.2f} found, "
                      f"{sum(expected) / len(expected):.2f} by the curve")
        # Each family by the curve of all others.
        errors = []
        for at, own in enumerate(families):
            others = fitted([point for n, other in enumerate(families) if n != at for point in other])
            expected = sum(power(changes, others) for changes, _ in own)
            errors.append((sum(hit for _, hit in own) - expected) / len(own))
        print(f"  left out: found less expected, of a family's pairs: mean {statistics.mean(errors):.3f}, "
              f"standard deviation {statistics.pstdev(errors):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pleat", default="pleat", help="the program (default: that on PATH)")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data" / "tree_null")
    parser.add_argument("--null-alignments", type=int, default=1000)
    tables = parser.add_subparsers(required=True)
    tables.add_parser("pairs").set_defaults(table=table_of_pairs)
    simulations = tables.add_parser("simulations")
    simulations.add_argument("--count", type=int, default=200, help="simulated alignments per family and simulator")
    simulations.add_argument("--families", default=",".join(name for name, _ in SIMULATED))
    simulations.add_argument("--simulators", default=",".join(SIMULATORS))
    simulations.add_argument("--alignments", default="", help="first letters of their names, by commas (default: all)")
    simulations.add_argument("--jobs", type=int, default=1, help="simulations at a time")
    simulations.set_defaults(table=table_of_simulations)
    tables.add_parser("power").set_defaults(table=table_of_power)
    contacts = tables.add_parser("contacts")
    contacts.add_argument("--families", default="", help="first letters of their names, by commas (default: all)")
    contacts.add_argument("--device", default="auto")
    contacts.add_argument("--false", type=int, default=0, metavar="N",
                          help="fit N simulated alignments of each: all hits are false")
    contacts.set_defaults(table=table_of_contacts)
    options = parser.parse_args()
    if not options.data.is_dir():
        sys.exit(f"expected the alignments in {options.data}, found no such folder")
    options.table(options)


if __name__ == "__main__":
    main()
