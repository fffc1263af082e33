# `pleat mi`: its files, its statistics against a count made here, refusals, and going on after a kill.
import gzip
import itertools
import math
import os
import random
import re
import resource
import signal
import subprocess
import time
import unittest
from collections import Counter

from program import DATA, PROGRAM, ProgramTest, clean_environment, manifest, pleat, read_npz, read_table, \
    results, small_rows

QUICK = ("--shuffles", "200", "-t", "2")


def entropy(symbols):
    count = Counter(symbols)
    total = sum(count.values())
    return sum(n / total * math.log2(total / n) for n in count.values())


def xor_rows():
    """Columns 1 to 8 at random, column 9 the exclusive or of columns 3 and 6."""
    draw = random.Random(3)
    rows = []
    for _ in range(300):
        bits = [draw.randrange(2) for _ in range(8)]
        bits.append(bits[2] ^ bits[5])
        rows.append("".join("AC"[bit] for bit in bits))
    return rows


class Mi(ProgramTest):
    def measure(self, *arguments, run="run", **options):
        """Runs `pleat mi` quietly into self.folder / run; its folder comes back."""
        done = pleat("mi", *arguments, "-o", self.folder / run, "-q", **options)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        return self.folder / run


class Outputs(Mi):
    def test_pairs_agree_with_a_count_made_here(self):
        rows = small_rows(60, 4, 12)
        run = self.measure(self.write_alignment(rows), *QUICK)
        arrays = read_npz(run / "pairs.npz")
        columns = list(zip(*rows))
        pairs = list(itertools.combinations(range(12), 2))
        self.assertEqual(list(zip(arrays["i"][1], arrays["j"][1])), pairs)
        for at, (i, j) in enumerate(pairs):
            joint = entropy(zip(columns[i], columns[j]))
            expected = entropy(columns[i]) + entropy(columns[j]) - joint
            self.assertAlmostEqual(arrays["mi"][1][at], expected, 9)
            self.assertAlmostEqual(arrays["joint_entropy"][1][at], joint, 9)
        for column, bits in enumerate(arrays["diagonal_mi"][1]):
            self.assertAlmostEqual(bits, entropy(columns[column]), 9)
        self.assertTrue(all(map(math.isnan, arrays["diagonal_z"][1])))
        for less, equal, c, p in zip(*(arrays[name][1]
                                       for name in ("n_less", "n_equal", "percentile", "p"))):
            self.assertEqual(c, less / 200)
            self.assertAlmostEqual(p, (201 - less) / 201)
            self.assertLessEqual(less + equal, 200)

    def test_tables_rank_by_z_and_name_columns_from_1(self):
        run = self.measure(self.write_alignment(small_rows(100, 4, 20)), *QUICK, "--top", "15")
        table = read_table(run / "pairs.tsv")
        self.assertEqual([row["rank"] for row in table], [str(n) for n in range(1, 16)])
        z = [float(row["z"]) for row in table]
        self.assertEqual(z, sorted(z, reverse=True))
        self.assertTrue(all(1 <= int(row["i"]) < int(row["j"]) <= 20 for row in table))
        columns = read_table(run / "columns.tsv")
        self.assertEqual([row["column"] for row in columns], [str(n) for n in range(1, 21)])
        self.assertEqual({row["z"] for row in columns}, {"NA"})
        told = manifest(run)
        self.assertEqual(told["command"], "mi")
        self.assertEqual(told["results"]["pairs"], 190)
        self.assertTrue((run / "cite.bib").exists())

    def test_unknown_letters_are_a_symbol_of_their_own(self):
        rows = ["AX", "AX", "C-", "C-"] * 5
        arrays = read_npz(self.measure(self.write_alignment(rows), *QUICK) / "pairs.npz")
        self.assertAlmostEqual(arrays["mi"][1][0], 1.0)

    def test_only_interaction_terms_find_a_planted_exclusive_or(self):
        family = self.write_alignment(xor_rows())
        for by in ("synergy", "excess"):
            run = self.measure(family, *QUICK, "--order", "3", "--rank-by", by, run=by)
            best = read_table(run / "triples.tsv")[0]
            self.assertEqual([best[side] for side in "ijk"], ["3", "6", "9"])
            self.assertGreater(float(best["excess"]), 0.8)
        pairs = read_npz(run / "pairs.npz")
        of = dict(zip(zip(pairs["i"][1], pairs["j"][1]), pairs["mi"][1]))
        self.assertLess(max(of[pair] for pair in ((2, 5), (2, 8), (5, 8))), 0.03)

    def test_every_triple_can_be_kept(self):
        family = self.write_alignment(small_rows(50, 4, 9))
        run = self.measure(family, *QUICK, "--order", "3", "--all-triples", run="all")
        arrays = read_npz(run / "triples.npz")
        self.assertEqual(list(zip(*(arrays[side][1] for side in "ijk"))),
                         list(itertools.combinations(range(9), 3)))
        over = self.measure(family, *QUICK, "--order", "3", "--min-z", "1", run="over")
        kept = read_npz(over / "triples.npz")["z"][1]
        self.assertEqual(sorted(kept), sorted(z for z in arrays["z"][1] if z >= 1))
        best = [float(row["z"]) for row in read_table(over / "triples.tsv")]
        self.assertLessEqual(len(best), len(kept))  # columns of one symbol are kept, but not ranked
        self.assertGreaterEqual(best[-1], 1)
        self.assertEqual(best, sorted(best, reverse=True))
        members = sum(int(row["cliques"]) for row in read_table(run / "columns.tsv"))
        self.assertEqual(members, 3 * manifest(run)["results"]["cliques"])

    def test_results_depend_on_seeds_but_not_on_threads(self):
        family = self.write_alignment(small_rows(80, 4, 15))
        one = self.measure(family, "-n", "100", "-t", "1", "--order", "3", run="one")
        three = self.measure(family, "-n", "100", "-t", "3", "--order", "3", run="three")
        other = self.measure(family, "-n", "100", "--seed", "2", run="other")
        self.assertEqual(results(one), results(three))
        self.assertNotEqual(read_npz(one / "pairs.npz")["n_less"],
                            read_npz(other / "pairs.npz")["n_less"])
        self.assertEqual(read_npz(one / "pairs.npz")["z"], read_npz(other / "pairs.npz")["z"])

    def test_weights_and_gaps_omitted(self):
        family = self.write_alignment(small_rows(80, 4, 12))
        weighted = self.measure(family, "--sequence-weights", "--null", "none", run="weighted")
        self.assertLess(manifest(weighted)["results"]["effective_sequences"], 80)
        counted = self.measure(family, "--null", "none", run="counted")
        self.assertNotEqual(read_npz(weighted / "pairs.npz")["mi"],
                            read_npz(counted / "pairs.npz")["mi"])
        sampled = self.measure(family, "--pseudocount", "0.05", "--null", "sampled", *QUICK, run="pseudo")
        self.assertIn("n_less", read_npz(sampled / "pairs.npz"))
        omitted = self.measure(family, "--gaps", "omit", "--null", "exact", run="omitted")
        self.assertIn("z", read_npz(omitted / "pairs.npz"))

    def test_the_screen_counts_columns_in_the_right_number(self):
        for rows, text in ((["AC", "AD", "AC", "AD"], "\n1 column has an entropy below 0.3 bits\n"),
                           (["AA", "AA", "AA"], "\n2 columns have an entropy below 0.3 bits\n")):
            done = pleat("mi", self.write_alignment(rows), *QUICK, "-f", "-o", self.folder / "run")
            self.assertIn(text, done.stdout.decode())

    def test_columns_of_one_symbol_are_not_ranked_in_triples(self):
        rows = [row[:6] + "A" for row in small_rows(60, 4, 6)]
        run = self.measure(self.write_alignment(rows), *QUICK, "--order", "3")
        self.assertNotIn("7", {row["k"] for row in read_table(run / "triples.tsv")})
        self.assertEqual(manifest(run)["results"]["triples"], 35)

    def test_conserved_columns_are_not_ranked_in_triples(self):
        # Columns 1 and 2 are equal, so that each third column makes a triple of a high Z.
        rows = ["".join((row[0], row[0], "W" if n == 0 else "A", row[1:])) for n, row in
                enumerate(small_rows(60, 4, 6))]
        for by in ("z", "mi"):
            run = self.measure(self.write_alignment(rows), *QUICK, "--order", "3", "--rank-by", by, "-f")
            flagged = {row["column"] for row in read_table(run / "columns.tsv")
                       if row["low_entropy"] == "yes"}
            self.assertIn("3", flagged)
            table = read_table(run / "triples.tsv")
            self.assertGreater(len(table), 0)
            self.assertFalse(flagged & {row[side] for row in table for side in "ijk"})
        run = self.measure(self.write_alignment(rows), *QUICK, "--order", "3", "--min-entropy", "0", "-f")
        self.assertIn("3", {row["k"] for row in read_table(run / "triples.tsv")})

    def test_the_screen_names_each_number_of_triples_once(self):
        family = self.write_alignment(xor_rows())
        for by in ("synergy", "excess", "mi", "z"):
            done = pleat("mi", family, *QUICK, "--order", "3", "--rank-by", by, "-o", self.folder / by)
            text = done.stdout.decode()
            head = next(line for line in text[text.index("strongest triples"):].splitlines()
                        if line.split()[:1] == ["rank"]).replace("column ", "").split()
            self.assertEqual(len(head), len(set(head)), head)
            self.assertLessEqual({"synergy", "excess", "MI/bits"}, set(head))

    def test_the_screen_marks_approximate_p_and_bounds_what_underflows(self):
        draw = random.Random(5)
        rows = []
        for _ in range(3000):
            letter = draw.choice("ACDEFGHIKLMNPQRSTVWY")
            rows.append(letter * 2 + draw.choice("AC") + draw.choice("ACDEFGHIK"))
        # Two columns with one other letter, in the same row: so few tables that p is exact.
        rows = [row + "AC"[n == 0] * 2 for n, row in enumerate(rows)]
        done = pleat("mi", self.write_alignment(rows), "-o", self.folder / "run")
        text = done.stdout.decode()
        self.assertIn("~<1e-300", text)
        self.assertIn("~ p of a gamma distribution with the exact mean and variance, not an exact p", text)
        shown = [line.split()[-1] for line in text[text.index("strongest pairs"):].splitlines()
                 if line[:5].strip().isdigit()]
        exact = [row["exact_p"] for row in read_table(self.folder / "run" / "pairs.tsv")][:10]
        self.assertEqual([p.startswith("~") for p in shown], [p == "NA" for p in exact])
        self.assertIn(False, [p == "NA" for p in exact])
        tails = read_npz(self.folder / "run" / "pairs.npz")["tail_p"][1]
        self.assertEqual(min(tails), 1e-300)

    def test_the_screen_says_that_no_pair_reaches_the_minimum(self):
        done = pleat("mi", self.write_alignment(small_rows(40, 0, 8)), *QUICK, "--min-z", "1e6",
                     "-o", self.folder / "run")
        self.assertIn(b"No pair reaches --min-z", done.stdout)

    def test_a_pair_above_all_of_its_equal_shuffles_comes_first(self):
        rows = ["AC"] + ["GG"] * 2999
        rows = [row + "ACGT"[n % 4] for n, row in enumerate(rows)]
        run = self.measure(self.write_alignment(rows), "-n", "20", "--null", "sampled")
        best = read_table(run / "pairs.tsv")[0]
        self.assertEqual((best["i"], best["j"], best["n_equal"]), ("1", "2", "0"))


class NullModels(Mi):
    def arrays(self, family, *options):
        run = self.measure(family, *options, "-f")
        return read_npz(run / "pairs.npz"), manifest(run)["results"]

    def test_the_exact_one_is_the_default_and_shuffles_add_theirs(self):
        family = self.write_alignment(small_rows(60, 4, 9))
        exact, told = self.arrays(family)
        self.assertEqual(told["null_model"], "exact")
        self.assertNotIn("shuffles", told)
        self.assertFalse({"sampled_z", "percentile", "p", "n_less", "family_p"} & set(exact))
        self.assertLessEqual({"z", "mean", "variance", "tail_p", "exact_p", "fdr"}, set(exact))
        both, told = self.arrays(family, "--shuffles", "30")
        self.assertEqual((told["null_model"], told["shuffles"]), ("both", 30))
        self.assertEqual(both["z"], exact["z"])
        self.assertLessEqual({"sampled_z", "percentile", "p", "family_p"}, set(both))
        found = results(self.folder / "run")["pairs.npz"]
        self.assertEqual(results(self.measure(family, "--null", "both", "-n", "30", run="named"))["pairs.npz"], found)
        self.assertEqual(self.arrays(family, "--null", "sampled")[1]["shuffles"], 10000)
        weighted, told = self.arrays(family, "--sequence-weights", "-n", "30")
        self.assertEqual(told["null_model"], "sampled")
        self.assertNotIn("z", weighted)

    def test_the_screen_names_the_one_that_was_computed(self):
        family = self.write_alignment(small_rows(60, 4, 9))
        whole = "exact, over all permutations of the columns"
        for options, text in (((), whole), (("-n", "7"), whole + ", and 7 random shuffles"),
                              (("--null", "sampled", "-n", "7"), "7 random shuffles"), (("--null", "none"), "none"),
                              (("--null", "exact", "-n", "7"), whole + "; --null leaves --shuffles without use"),
                              (("--order", "3", "--no-triple-variance"), whole + " (of triples the mean alone)")):
            with self.subTest(options):
                done = pleat("mi", family, *options, "-f", "-o", self.folder / "run")
                self.assertIn(f"\nNull model: {text}\n", done.stdout.decode())
                self.assertEqual("family p" in done.stdout.decode(), options == ("-n", "7"))


class TreeNull(Mi):
    """RNA whose rows descend from each other; columns 3 and 7 always pair."""

    def write_descendants(self, rows=60):
        draw = random.Random(11)
        made = []
        for n in range(rows):
            parent = made[draw.randrange(n)] if n else [draw.choice("ACGU") for _ in range(12)]
            row = [draw.choice("ACGU") if draw.random() < 0.15 else letter for letter in parent]
            row[6] = dict(zip("ACGU", "UGCA"))[row[2]]
            made.append(row)
        marks = "".join("<" if at == 2 else ">" if at == 6 else "." for at in range(12))
        path = self.folder / "rna.sto"
        path.write_text("# STOCKHOLM 1.0\n" + "".join(f"r{n} {''.join(row)}\n" for n, row in enumerate(made)) +
                        f"#=GC SS_cons {marks}\n//\n")
        return path

    def test_files_and_screen(self):
        family = self.write_descendants()
        done = pleat("mi", family, "-o", self.folder / "run", "--null", "tree", "--null-alignments", "200",
                     "--secondary", family, "--write-null")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = done.stdout.decode()
        self.assertIn("\nNull model: 200 alignments that evolve along a tree by UPGMA (markov)\n", text)
        self.assertRegex(text, r"of these, 1 of 1 annotated pairs \(\d\.\d expected by their substitutions\), ")
        best = read_table(self.folder / "run" / "pairs.tsv")[0]
        self.assertEqual((best["i"], best["j"], best["annotation"], best["extrapolated"]), ("3", "7", "pair", "1"))
        self.assertLess(float(best["tree_e"]), 0.01)
        told = manifest(self.folder / "run")["results"]
        self.assertEqual((told["null_model"], told["null_alignments"], told["annotated_found"]), ("tree", 200, 1))
        columns = read_table(self.folder / "run" / "columns.tsv")
        changes = [int(column["substitutions"]) for column in columns]
        self.assertTrue(all(number > 0 for number in changes))
        self.assertEqual((int(best["substitutions_i"]), int(best["substitutions_j"])), (changes[2], changes[6]))
        self.assertAlmostEqual(float(best["power"]), told["annotated_expected"], places=6)
        # Branches of the tree with substitutions add up to those of the columns.
        lengths = re.findall(r":([0-9.]+)", (self.folder / "run" / "substitutions.nwk").read_text())
        self.assertEqual(sum(map(float, lengths)), sum(changes))
        self.assertEqual((self.folder / "run" / "null.fasta").read_text().count(">"), 60)
        # The written tree is the same tree.
        found = results(self.folder / "run")["pairs.npz"]
        again = self.measure(family, "--null", "tree", "--null-alignments", "200", "-t", "1", "--tree",
                             self.folder / "run" / "tree.nwk", run="again")
        self.assertEqual(results(again)["pairs.npz"], found)

    def test_permutations_of_related_sequences_are_said_to_be_wrong(self):
        done = pleat("mi", self.write_descendants(), "-o", self.folder / "run")
        self.assertIn(b"p does not account for the tree of the sequences (mean pairwise identity ", done.stdout)
        self.assertGreater(manifest(self.folder / "run")["results"]["related_identity"], 0.25)
        draw = random.Random(13)
        rows = ["".join(draw.choices("ACGU", k=30)) for _ in range(60)]
        done = pleat("mi", self.write_alignment(rows), "-o", self.folder / "run", "-f")
        self.assertNotIn(b"does not account", done.stdout)
        self.assertNotIn("related_identity", manifest(self.folder / "run")["results"])

    def test_a_wrong_tree_is_warned_of(self):
        family = DATA / "RF00005.sto.gz"
        lines = gzip.decompress(family.read_bytes()).decode().splitlines()
        names = [line.split()[0] for line in lines if line.strip() and line[0] not in "#/"]
        star = self.folder / "star.nwk"
        star.write_text(f"({','.join(dict.fromkeys(names))});")
        for more, is_wrong in (((), False), (("--tree", star), True)):
            done = pleat("mi", family, "-o", self.folder / "run", "-f", "--max-gaps", "0.2", "--null", "tree",
                         "--null-alignments", "100", *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(b"or the tree does not fit" in done.stderr, is_wrong)
            self.assertEqual(manifest(self.folder / "run")["results"]["tree_small_p"] > 0.04, is_wrong)

    def test_bad_trees_are_one_line(self):
        family = self.write_descendants(25)
        tree = self.folder / "t.nwk"
        leaves = [f"r{n}" for n in range(25)]
        for text, said in ((f"({','.join(leaves[:-1])});", "no leaf for 1 (r24)"),
                           (f"({','.join([*leaves, 'x'])});", "found 1 (x) that are no rows"),
                           (f"(({','.join(leaves)}));", "at least 2 branches below every node"),
                           (f"({','.join(leaves)}:-1);", "a length of at least 0"),
                           (f"({','.join([*leaves, 'r3'])});", "each leaf once, found 'r3' twice")):
            with self.subTest(said):
                tree.write_text(text)
                done = pleat("mi", family, "-o", self.folder / "deep" / "run", "--null", "tree", "--tree", tree)
                self.assertEqual(done.returncode, 3)
                self.assertIn(said, done.stderr.decode())
                self.assertEqual(done.stderr.count(b"\n"), 1)


class Refusals(Mi):
    def test_each_is_one_line(self):
        family = self.write_alignment(small_rows(20))
        run = ("-o", self.folder / "deep" / "run")
        for arguments, text in (
                ((family, *run, "--order", "4"), "--order: expected a whole number >= 2 and <= 3"),
                ((family, *run, "--sequence-weights", "--null", "none", "--device", "reference"),
                 "give --device cpu or auto: with --sequence-weights"),
                ((family, *run, "-n", "5000000"), "--shuffles: expected a whole number >= 1 and <= 4194303"),
                ((family, *run, "--sequence-weights"), "give --shuffles N or --null none: with --sequence-weights"),
                ((family, *run, "--pseudocount", "1", "--null", "both"), "give --null sampled or none: with"),
                ((family, *run, "--gaps", "omit", "-n", "9"), "give no --shuffles, or --null exact or none: with --gaps omit"),
                ((family, *run, "--order", "3", "--rank-by", "percentile"), "percentile and sampled_z need --shuffles N"),
                ((family, *run, "--null", "maybe"), "--null: expected one of"),
                ((family, *run, "--order", "3", "--null", "exact", "--rank-by", "percentile"),
                 "give --rank-by a number that --null computes"),
                ((family, *run, "--order", "3", "--rank-by", "size"), "--rank-by: expected one of auto, mi, z"),
                ((family, *run, "--all-triples"), "give --order 3"),
                ((family, *run, "--order", "3", "--all-triples", "--min-z", "2"), "give either --all-triples or --min-z, not both"),
                ((family, family, *run), "both 'family'"),
                (run, "ALIGNMENT")):
            with self.subTest(arguments):
                self.assert_refused(pleat("mi", *arguments), 2, text)
                self.assertFalse((self.folder / "deep").exists())

    def test_two_columns_make_no_triple(self):
        family = self.write_alignment(["AC", "CA", "AA"])
        done = pleat("mi", family, "-o", self.folder / "run", "--order", "3")
        self.assert_refused(done, 3, "expected at least 3 columns, found 2")


def limited(bytes_):
    """A function that limits the child's address space before it starts."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))


@unittest.skipIf(os.environ.get("PLEAT_SANITIZED"), "sanitizers take memory of their own")
class Memory(Mi):
    def random_family(self, rows, columns, letters="ACDEFGHIKLMNPQRSTVWY"):
        draw = random.Random(1)
        return self.write_alignment(["".join(draw.choices(letters, k=columns)) for _ in range(rows)])

    def with_little(self, family, *options):
        return pleat("mi", family, "-o", self.folder / "run", "--order", "3", "-q", "-t", "1", "-f",
                     *options, preexec_fn=limited(200 << 20))

    def test_triples_that_do_not_fit_are_refused_with_advice(self):
        family = self.random_family(12, 264)
        none = ("--null", "none")
        done = self.with_little(family, *none, "--all-triples")
        self.assert_refused(done, 4, "264 columns", "needed", "available", "the best triples (--top)")
        self.assertFalse((self.folder / "run").exists())
        done = self.with_little(family, *none, "--min-z=-9", "--rank-by", "mi")
        self.assert_refused(done, 2, "triples have mi >= -9: give a larger --min-z")
        done = self.with_little(family, *none, "--min-z=7", "--rank-by", "mi")
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_exact_moments_that_do_not_fit_are_refused_at_the_start(self):
        family = self.random_family(200_000, 3, "ACDE")
        done = self.with_little(family, "--null", "exact")
        self.assert_refused(done, 4, "3 columns", "needed", "available", "--no-triple-variance")
        self.assertFalse((self.folder / "run").exists())

    def test_triples_are_not_kept_in_memory(self):
        peak = {}
        for columns in (40, 400):
            family = self.random_family(6, columns)
            run = self.measure(family, "--order", "3", "--null", "none", "--top", "100", "-t", "1",
                               run=f"run{columns}")
            told = manifest(run)
            self.assertEqual(told["results"]["triples"], math.comb(columns, 3))
            peak[columns] = told["peak_memory_bytes"]
        # 10.6 million triples of 6 numbers are 508 MB, the statistics of 79,800 pairs 32 MB.
        self.assertLess(peak[400] - peak[40], 64 << 20)


class Resume(Mi):
    def test_stopped_runs_resume_to_the_same_bits(self):
        family = self.write_alignment(small_rows(300, 4, 36))
        for order, shuffles in (("2", "15000"), ("3", "300")):
            options = ("--order", order, "-n", shuffles, "-t", "1", "--no-triple-variance")
            whole = self.measure(family, *options, run=f"whole{order}")
            for how in (signal.SIGKILL, signal.SIGINT):
                with self.subTest(order=order, how=how):
                    run = self.folder / f"disturbed{order}{how}"
                    state = "checkpoint.*npz" if order == "2" else "checkpoint-triples.*npz"
                    self.disturb(family, run, options, state, how)
                    done = pleat("mi", family, "-o", run, "-q", *options)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertTrue(manifest(run)["resumed"])
                    self.assertEqual(results(run), results(whole))

    def test_a_killed_run_resumes_with_another_list(self):
        family = self.write_alignment(small_rows(300, 4, 36))
        options = ("-n", "15000", "-t", "1", "--no-triple-variance")
        whole, run = self.measure(family, *options, run="whole"), self.folder / "run"
        self.disturb(family, run, options, "checkpoint.*npz", signal.SIGKILL)
        done = pleat("mi", family, "-o", run, "-q", *options, "--top", "7")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(manifest(run)["resumed"])
        self.assertEqual(results(run)["pairs.npz"], results(whole)["pairs.npz"])
        self.assertEqual(len((run / "pairs.tsv").read_text().splitlines()), 8)

    def test_weighted_and_gap_free_pairs_resume_to_the_same_bits(self):
        family = self.write_alignment(small_rows(300, 4, 70))
        for name, options in (("weighted", ("--sequence-weights", "--null", "sampled", "-n", "400")),
                              ("gaps", ("--gaps", "omit", "--null", "exact"))):
            options += ("-t", "1")
            whole = self.measure(family, *options, run=f"whole-{name}")
            for how in (signal.SIGKILL, signal.SIGINT):
                with self.subTest(name=name, how=how):
                    run = self.folder / f"{name}{how}"
                    self.disturb(family, run, options, "checkpoint.*npz", how)
                    done = pleat("mi", family, "-o", run, "-q", *options)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertTrue(manifest(run)["resumed"])
                    self.assertEqual(results(run), results(whole))

    def disturb(self, family, run, options, state, how):
        """Ends a run by a signal once it has saved its first state of that name."""
        process = self.start(family, run, options, state)
        process.send_signal(how)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -how if how == signal.SIGKILL else 130)

    def start(self, family, run, options, state):
        """A run that saves its state at every chance, once its first state is saved."""
        process = subprocess.Popen(
            [PROGRAM, "mi", family, "-o", run, *options], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=clean_environment(PLEAT_CHECKPOINT_SECONDS="0"))
        deadline = time.monotonic() + 60
        while not list(run.glob(state)):
            self.assertIsNone(process.poll(), "the run ended before it could be disturbed")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.002)
        return process


if __name__ == "__main__":
    unittest.main()
