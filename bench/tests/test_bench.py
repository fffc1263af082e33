# Tests of the benchmark scripts: samples, records, comparison, true contacts, readers.
import contextlib
import copy
import gzip
import io
import json
import pathlib
import struct
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import alignment_files  # noqa: E402
import compare  # noqa: E402
import contacts  # noqa: E402
import make_alignment  # noqa: E402
import measure  # noqa: E402
import precision  # noqa: E402
import predictors  # noqa: E402
import programs  # noqa: E402
import record  # noqa: E402
import run  # noqa: E402


def sample(user, wall=1.0, peak=10.0):
    return {"user_s": user, "system_s": 0.5, "wall_s": wall, "peak_mb": peak}


def example_record(pleat=(1.0, 5.0, 2.0), peer=(20.0, 10.0, 90.0)):
    size = {"name": "family", "sequences": 3, "columns": 4}
    samples = {"pleat": [sample(x) for x in pleat], "ccmpred": [sample(x) for x in peer]}
    return {"format": record.FORMAT, "date": "2000-01-01", "commit": None,
            "machine": {"cpu": "x", "cores": 1, "instruction_set": "AVX2"}, "threads": 1,
            "repeats": len(pleat), "versions": {}, "absent": [],
            "cases": [record.summarise(size, samples, {})]}


class Scratch(unittest.TestCase):
    """Gives each test a folder of its own, `self.folder`."""

    def setUp(self):
        keeper = tempfile.TemporaryDirectory()
        self.addCleanup(keeper.cleanup)
        self.folder = pathlib.Path(keeper.name)

    def script(self, name, body):
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + body)
        path.chmod(0o755)
        return str(path)


class Measuring(Scratch):
    def test_counts_cpu_time_of_the_program_and_not_its_sleep(self):
        busy = ("import time\nend = time.process_time() + 0.3\n"
                "while time.process_time() < end: pass\n")
        worked = measure.measure([sys.executable, "-c", busy], self.folder)
        slept = measure.measure(["sleep", "0.4"], self.folder)
        self.assertGreater(worked["user_s"] + worked["system_s"], 0.28)
        self.assertLess(slept["user_s"] + slept["system_s"], 0.2)
        self.assertGreaterEqual(slept["wall_s"], 0.4)

    def test_peak_memory_is_in_mebibytes(self):
        large = measure.measure([sys.executable, "-c", "x = b'1' * (256 << 20)"], self.folder)
        self.assertGreater(large["peak_mb"], 256)
        self.assertLess(large["peak_mb"], 300)

    def test_failure_carries_the_status_and_the_last_complaint(self):
        path = self.script("fails", "echo first >&2; echo second >&2; exit 7\n")
        with self.assertRaisesRegex(measure.CommandFailed, "exit status 7: second"):
            measure.measure([path], self.folder)

    def test_time_limit_stops_the_program(self):
        with self.assertRaisesRegex(measure.CommandFailed, "stopped after 0.2 s"):
            measure.measure(["sleep", "20"], self.folder, time_limit=0.2)

    def test_medians_are_taken_of_each_measure_by_itself(self):
        found = measure.medians([sample(1, 9, 4), sample(3, 1, 5), sample(2, 5, 9)])
        self.assertEqual((found["user_s"], found["wall_s"], found["peak_mb"]), (2, 5, 5))
        self.assertEqual(measure.medians([sample(1), sample(4)])["user_s"], 2.5)

    def test_ratio_says_how_many_times_pleat_is_faster(self):
        self.assertEqual(measure.ratios(sample(20), sample(2))["user_s"], 10)
        self.assertIsNone(measure.ratios(sample(20), sample(0))["user_s"])


class Records(Scratch):
    def test_survives_writing_and_holds_ratios(self):
        entry = example_record()
        self.assertEqual(entry["cases"][0]["ratios"]["ccmpred"]["user_s"], 10)
        self.assertNotIn("pleat", entry["cases"][0]["ratios"])
        record.write(self.folder / "r.json", entry)
        self.assertEqual(record.read(self.folder / "r.json"), entry)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["r.json"])

    def test_refuses_what_is_not_a_record(self):
        for spoil in (lambda r: r.update(format="other"), lambda r: r.pop("machine"),
                      lambda r: r["cases"][0]["programs"]["pleat"]["median"].update(user_s=3),
                      lambda r: r["cases"][0]["programs"]["pleat"]["samples"][0].pop("wall_s")):
            entry = copy.deepcopy(example_record())
            spoil(entry)
            with self.assertRaises(ValueError):
                record.check(entry)
        (self.folder / "torn.json").write_text('{"format":\n')
        with self.assertRaisesRegex(ValueError, r"torn.json:\d+: expected a JSON record"):
            record.read(self.folder / "torn.json")

    def test_a_program_that_failed_has_no_median_and_no_ratio(self):
        case = record.summarise({"name": "f", "sequences": 1, "columns": 1},
                                {"pleat": [sample(1)], "plmc": []}, {"plmc": "exit status 1"})
        self.assertIsNone(case["programs"]["plmc"]["median"])
        self.assertEqual(case["programs"]["plmc"]["failure"], "exit status 1")
        self.assertEqual(case["ratios"], {})

    def test_machine_names_the_best_instruction_set(self):
        info = self.folder / "cpuinfo"
        info.write_text("model name\t: A CPU\nflags\t\t: sse4_2 avx2 fpu\n")
        machine = record.describe_machine(info)
        self.assertEqual((machine["cpu"], machine["instruction_set"]), ("A CPU", "AVX2"))
        self.assertEqual(set(machine), {"cpu", "cores", "instruction_set"})


class Comparing(Scratch):
    def status(self, old, new, *options):
        paths = [self.folder / "old.json", self.folder / "new.json"]
        for path, entry in zip(paths, (old, new)):
            path.write_text(json.dumps(entry))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return compare.main([*map(str, paths), *options])

    def test_slower_than_the_factor_fails(self):
        slower = example_record(pleat=(2.3, 2.3, 2.3))
        self.assertEqual(self.status(example_record(), slower), 1)
        self.assertEqual(self.status(example_record(), slower, "--factor", "1.2"), 0)
        self.assertEqual(self.status(slower, example_record()), 0)

    def test_a_slower_peer_does_not_fail(self):
        self.assertEqual(self.status(example_record(), example_record(peer=(99, 99, 99))), 0)

    def test_relative_to_a_peer_cancels_the_speed_of_the_machine(self):
        slow_machine = example_record(pleat=(4, 4, 4), peer=(40, 40, 40))
        self.assertEqual(self.status(example_record(), slow_machine), 1)
        self.assertEqual(
            self.status(example_record(), slow_machine, "--relative-to", "ccmpred"), 0)

    def test_records_without_a_common_case_are_an_error(self):
        other = example_record()
        other["cases"][0]["columns"] = 5
        self.assertEqual(self.status(example_record(), other), 2)


class Running(Scratch):
    def setUp(self):
        super().setUp()
        alignment_files.write_aln(self.folder / "toy.aln", ["ACD", "AC-"])

    def start(self, *options):
        with contextlib.redirect_stdout(io.StringIO()) as out, \
                contextlib.redirect_stderr(io.StringIO()) as complaints:
            status = run.main([str(self.folder / "toy.aln"), "--records", str(self.folder),
                               "--name", "toy", *options])
        return status, out.getvalue(), complaints.getvalue()

    def entry(self):
        return record.read(next(self.folder.glob("*-toy.json")))

    def test_writes_a_record_and_says_what_is_absent(self):
        # The stand-in checks its arguments, its input, and that no earlier run is in its way.
        path = self.script("pleat", '[ "$1" = --version ] && echo pleat 1.2 && exit\n'
                           '[ "$*" = "couplings input.aln -o run --threads 1" ] || exit 3\n'
                           'grep -q AC- input.aln && grep -q ">2" input.fasta && mkdir run\n')
        programs_before = programs.PROGRAMS[2].executable
        programs.PROGRAMS[2].executable = "no-such-program"
        self.addCleanup(setattr, programs.PROGRAMS[2], "executable", programs_before)
        status, out, complaints = self.start("--pleat", path, "--programs", "pleat,ccmpred",
                                             "--repeats", "3")
        self.assertEqual(status, 0, complaints)
        self.assertIn("ccmpred: absent", complaints)
        entry = self.entry()
        self.assertEqual(entry["absent"], ["ccmpred"])
        self.assertEqual(entry["versions"]["pleat"]["version"], "pleat 1.2")
        self.assertEqual((entry["cases"][0]["sequences"], entry["cases"][0]["columns"]), (2, 3))
        self.assertEqual(len(entry["cases"][0]["programs"]["pleat"]["samples"]), 3)
        self.assertNotIn(str(self.folder), json.dumps(entry))

    def test_a_failing_program_is_reported_once_and_fails_the_run(self):
        path = self.script("pleat", "[ $1 = --version ] && exit\necho broken >&2; exit 3\n")
        status, _, complaints = self.start("--pleat", path, "--programs", "pleat")
        self.assertEqual(status, 1)
        self.assertEqual(complaints.count("exit status 3: broken"), 1)


class Alignments(Scratch):
    def test_reads_plain_and_compressed_and_refuses_ragged_rows(self):
        with gzip.open(self.folder / "a.aln.gz", "wt") as file:
            file.write("ACD\r\nA-D\n\n")
        self.assertEqual(alignment_files.read_aln(self.folder / "a.aln.gz"), ["ACD", "A-D"])
        (self.folder / "b.aln").write_text("ACD\nAC\n")
        with self.assertRaisesRegex(ValueError, "b.aln:2: expected 3 columns, found 2"):
            alignment_files.read_aln(self.folder / "b.aln")

    def test_query_moves_to_the_front(self):
        self.assertEqual(alignment_files.query_first(["a", "b", "c"], 1), ["b", "a", "c"])

    def test_synthetic_alignment_is_reproducible_and_nested(self):
        rows = list(make_alignment.make_alignment(60, 40, 7))
        self.assertEqual(rows[:20], list(make_alignment.make_alignment(20, 40, 7)))
        self.assertNotEqual(rows, list(make_alignment.make_alignment(60, 40, 8)))
        self.assertEqual({len(row) for row in rows}, {40})
        self.assertLessEqual(set(b"".join(rows)), set(make_alignment.LETTERS + b"-"))
        self.assertNotIn(b"-", rows[0])
        for size in ((1, 1), (3, 2)):
            self.assertEqual(len(list(make_alignment.make_alignment(*size, 1))), size[0])

    def test_synthetic_coupled_columns_agree_far_more_often_than_chance(self):
        family = make_alignment.Family(60, 3)
        rows = [row for row in make_alignment.make_alignment(400, 60, 3) if b"-" not in row]
        agreed = [make_alignment.LETTERS[letters[make_alignment.LETTERS.index(row[i])]] == row[j]
                  for row in rows for i, (j, letters) in family.partner.items() if i < j]
        self.assertEqual(len(family.partner), 20)
        self.assertGreater(sum(agreed) / len(agreed), 0.4)


class Contacts(Scratch):
    def atom(self, name, residue, number, x):
        return f"ATOM      1  {name:<3s} {residue} A{number:>5s}   {x:8.3f}{0:8.3f}{0:8.3f}\n"

    def setUp(self):
        super().setUp()
        # Residue 12 is a glycine with a stray CB, 12A has an insertion code, 20 is not in the map.
        text = (self.atom("CA", "ALA", "10 ", 50.0) + self.atom("CB", "ALA", "10 ", 0.0)
                + self.atom("CB", "GLY", "12 ", 70.0) + self.atom("CA", "GLY", "12 ", 7.9)
                + self.atom("CB", "VAL", "12A", 15.9) + self.atom("CB", "VAL", "20 ", 0.0)
                + self.atom("CA", "SER", "21 ", 8.0))
        (self.folder / "s.pdb").write_text(text)
        with gzip.open(self.folder / "s.map.tsv.gz", "wt") as file:
            file.write("#col\tpdb_resnum\n0\t10\tA\tA\n7\t12\tG\tG\n8\t12A\tV\tV\n30\t21\tS\tS\n")
        self.truth = contacts.true_contacts(self.folder / "s.map.tsv.gz", self.folder / "s.pdb")

    def test_contacts_use_cb_or_ca_of_glycine_below_eight_angstrom(self):
        # 0-7: 7.9; 7-8: 8.0 (no contact); 8-30: 7.9; 7-30: 0.1; 0-30: 8.0 (none).
        self.assertEqual(self.truth.contacts, {(0, 7), (8, 30), (7, 30)})
        self.assertEqual(self.truth.position, {0: 0, 7: 1, 8: 2, 30: 4})

    def test_precision_counts_the_best_pairs_that_are_far_enough_and_mapped(self):
        scores = {(7, 8): 9.0, (1, 30): 8.0, (0, 7): 7.0, (0, 30): 6.0, (8, 30): 5.0, (0, 8): 4.0}
        ranked = contacts.ranked_pairs(scores, self.truth, 6)
        self.assertEqual(ranked, [(0, 7), (0, 30), (8, 30), (0, 8)])
        self.assertEqual(contacts.precision(ranked, self.truth, 1), 1.0)
        self.assertEqual(contacts.precision(ranked, self.truth, 2), 0.5)
        self.assertAlmostEqual(contacts.precision(ranked, self.truth, 3), 2 / 3)
        by_residues = contacts.ranked_pairs(scores, self.truth, 2, "residues")
        self.assertEqual(by_residues, [(0, 30), (8, 30), (0, 8)])
        with self.assertRaises(ValueError):
            contacts.precision([], self.truth, 3)

    def test_freecontact_output_counts_columns_from_one_and_takes_the_last_field(self):
        path = self.folder / "x.evfold"
        path.write_text("1 A 2 - 0.9 -0.25\n1 A 3 C 0.1 2.5\n")
        self.assertEqual(predictors.read_evfold(path), {(0, 1): -0.25, (0, 2): 2.5})
        path.write_text("1 A 2 C 0.9\n")
        with self.assertRaisesRegex(ValueError, "x.evfold:1: expected 6 fields, found 5"):
            predictors.read_evfold(path)

    def test_run_directory_maps_kept_columns_back(self):
        header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }\n"
        data = (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
                + struct.pack("<3q", 1, 4, 9))
        with zipfile.ZipFile(self.folder / "scores.npz", "w") as archive:
            archive.writestr("columns.npy", data)
        (self.folder / "scores.mat").write_text("0\t1e0\t2\n1\t0\t3\n2\t3\t0\n")
        self.assertEqual(predictors.read_run(self.folder), {(1, 4): 1.0, (1, 9): 2.0, (4, 9): 3.0})
        (self.folder / "scores.mat").write_text("0 1\n1 0\n")
        with self.assertRaisesRegex(ValueError, "expected 3 rows and columns, found 2"):
            predictors.read_run(self.folder)

    def test_scores_of_peers_are_read_and_kept(self):
        rows = ["ACDE", "ACDF"]
        for name, run, text in (
                ("ccmpred", predictors.ccmpred_scores, "0 1 2\\n1 0 3\\n2 3 0\\n"),
                ("plmc", predictors.plmc_scores, "1 A 2 C 0 1\\n1 A 3 D 0 2\\n2 C 3 D 0 3\\n"),
                ("gremlin_cpp", predictors.gremlin_scores,
                 "i j raw apc ii jj\\n0 1 9 1 A1 C2\\n0 2 9 2 A1 D3\\n1 2 9 3 C2 D3\\n")):
            # The output is the last word of CCMpred, and follows -c or -o otherwise.
            path = self.script(name, f"for word in $*; do case $word in */output) printf '{text}' > $word;; esac; done\n")
            kept = self.folder / f"family.{name}"
            for _ in range(2):
                self.assertEqual(run(path, rows, kept), {(0, 1): 1.0, (0, 2): 2.0, (1, 2): 3.0}, name)
                pathlib.Path(path).unlink(missing_ok=True)  # the second time it is not needed
        (self.folder / "broken").write_text("i j raw\n")
        with self.assertRaisesRegex(ValueError, "expected the names i j raw apc"):
            predictors.read_gremlin(self.folder / "broken")
        with self.assertRaisesRegex(ValueError, "expected 6 fields"):
            predictors.read_plmc(self.folder / "broken")

    def test_means_are_compared_with_the_record(self):
        path = self.folder / "peers.tsv"
        head = "family\tprogram\ttop_L10\ttop_L5\ttop_L2\ttop_L\n"
        table = [{"family": name, "depths": {"pleat": dict.fromkeys(precision.DEPTHS, 0.5)}} for name in "AB"]
        for peer, pleat, is_met in ((0.509, 0.5, True), (0.52, 0.5, False), (0.4, 0.52, False)):
            path.write_text(head + "".join(f"{name}\t{program}" + f"\t{value}" * 4 + "\n" for name in "AB"
                                           for program, value in (("pleat", pleat), ("plmc", peer))))
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(precision.compare_with_record(table, path), is_met)
                self.assertFalse(precision.compare_with_record(table[:1], path))

    def test_a_failing_pleat_is_an_error_with_its_complaint(self):
        path = self.script("pleat", "echo working >&2; echo no memory >&2; exit 4\n")
        with self.assertRaisesRegex(ValueError, "a.aln: pleat ended with status 4: no memory"):
            predictors.pleat_scores(path, "a.aln", self.folder / "run")

    def test_hard_and_unmapped_families_are_left_out(self):
        (self.folder / "structures").mkdir()
        lines = ["path\tengine\twhat\tsource\tlicence\tcounts"]
        for name in ("A", "B", "102mA_MYG"):
            lines.append(f"alignments/{name}.aln.gz\t\t\t\t\tN=2;query_row=5;map_by=row5")
            if name != "B":
                (self.folder / "structures" / f"{name}.map.tsv.gz").touch()
        (self.folder / "MANIFEST.tsv").write_text("\n".join(lines) + "\n")
        self.assertEqual(precision.eligible_families(self.folder), {"A": 5})


if __name__ == "__main__":
    unittest.main()
