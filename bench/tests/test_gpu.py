# Tests of the GPU run's scripts with programs that only pretend: parts, limits, bars, the record.
import contextlib
import gzip
import io
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from gpu import (bars, correctness, lanes, lists, mutants, mutual_information, optimum, pack, record, run,  # noqa: E402
                 session, speed)
from pretended_programs import MAKE_FAMILIES, PLEAT  # noqa: E402

GPU_TEST = pathlib.Path(__file__).resolve().parents[2] / "scripts/gpu_test"
TESTED = "echo '[       OK ] CudaKernel.Works (3 ms)'\necho '[  PASSED  ] 1 test.'\n"
# What every part of bench_saxs_gpu tells, in one.
_GRADIENT = {"error": 1e-11, "gradient": {"median_seconds": 2e-5}, "profile": {"median_seconds": 1e-5}}
SAXS = json.dumps({"error": 1e-11, "drift": 0.0, "fraction": 0.5, "moves_a_second": 1e6,
                   **{name: _GRADIENT for name in ("bodies", "bodies_float64", "atoms", "atoms_float64")},
                   **{name: {"median_seconds": 1e-5} for name in
                      ("full", "move", "session_move", "device", "with_transfers")}})
CEILINGS = json.dumps({"gpu": "made up", "fp16_random_operations_per_s": 6e14,
                       "fp16_one_hot_operations_per_s": 7e14, "memory_copy_bytes_per_s": 4e12})
EVALUATIONS = json.dumps({"benchmarks": [
    {"name": f"{kind}/x", "real_time": 0.001, "sequences": 5e3, "columns": 150.0, "letters": 21.0}
    for kind in ("evaluation", "moved_evaluation")]})

# Every part of bench_rmsd_gpu tells what the scripts read of any of them.
_FORMAT = {"median": 1e-3, "worst_error": 1e-6, "seconds": 10.0, "sizes_descend": True}
RMSD = json.dumps({**{name: _FORMAT for name in ("split", "half")}, "differ": False,
                   "histograms_differ": False, "near_pairs_differ": False, "gpu_bytes": 10**10})


class Packed(unittest.TestCase):
    """A packed folder whose programs pretend, so that every bar is met."""

    def setUp(self):
        keeper = tempfile.TemporaryDirectory()
        self.addCleanup(keeper.cleanup)
        self.folder = pathlib.Path(keeper.name) / "packed"
        for name in ("bin", "lib", "path", "data/families", "data/oracle", "data/generated",
                     "data/mutual_information"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "pack.json").write_text('{"commit": "abc"}')
        for name in ("calm753x264.fasta.gz", "ribo140x71.fasta"):
            (self.folder / "data/mutual_information" / name).write_bytes(b"")
        for size in (*bars.SIZES, bars.LARGE, bars.DIVERSE):
            (self.folder / "data/generated" / f"{bars.size_name(size)}.aln").write_text("AC\nAD\n")
        for name in ("1atzA", *optimum.LONG):
            (self.folder / "data/families" / f"{name}.aln.gz").write_bytes(b"")
        matrix = "".join("\t".join(str(0.0 if i == j else 1.0 / (1 + i + j)) for j in range(12))
                         + "\n" for i in range(12))
        for name in optimum.LEAST:
            (self.folder / "data/oracle" / f"{name}.aln.gz").write_bytes(b"")
            with gzip.open(self.folder / "data/oracle" / f"{name}.mat.gz", "wt") as file:
                file.write(matrix + "# 0 1\n")
        # Seconds that programs pretend to take.
        self.pretended = self.folder / "pretended"
        self.pretended.write_text("")
        self.program("pleat", PLEAT)
        with gzip.open(self.folder / "data/1hel.pdb.gz", "wt") as file:
            file.write("ATOM\n")
        (self.folder / "data/mutants").mkdir(parents=True)
        (self.folder / mutants.ALIGNMENT).write_bytes(b"")
        for name in correctness.TESTS:
            self.program(name, "#!/bin/sh\n" + TESTED)
        self.program("bench_ceilings", f"#!/bin/sh\necho '{CEILINGS}'\n")
        self.program("bench_couplings", f"#!/bin/sh\necho '{EVALUATIONS}'\n")
        self.program("bench_ccmpred_iterations",
                     "#!/bin/sh\necho '{\"objective\": 1e9, \"iterations\": 50}'\n")
        self.program("bench_rmsd_gpu", f"#!/bin/sh\necho '{RMSD}'\n")
        self.program("bench_measure_launches", "#!/bin/sh\necho '{}'\n")
        self.program("bench_measures", "#!/bin/sh\necho '{\"seconds\": [0.9, 0.5]}'\n")
        self.program("bench_saxs_gpu", f"#!/bin/sh\necho '{SAXS}'\n")
        self.program("bench_refine", "#!/bin/sh\necho '{\"moves_a_second\": 1e6}'\n")
        self.program("bench_make_families", MAKE_FAMILIES)
        self.program("bench_make_ensemble", "#!/bin/sh\n: > $3\n")
        self.program("../path/compute-sanitizer",
                     "#!/bin/sh\nshift 4\n\"$@\"\necho '========= ERROR SUMMARY: 0 errors'\n")
        self.program("../path/nvidia-smi", "#!/bin/sh\necho 'GPU, 1, 2, 3, 4'\necho 'GPU, 1, 2, 3, 4'\n")
        # A made-up stopwatch: what a busy machine takes for these scripts must not decide a bar.
        stopwatch = itertools.count(0.0, 0.1)
        patches = (mock.patch.object(session, "REPEATS", 2), mock.patch.object(lists, "ENSEMBLES", 10),
                   mock.patch("time.perf_counter", lambda: next(stopwatch) + sum(
                       map(float, self.pretended.read_text().split()))),
                   mock.patch.dict(os.environ, PATH=f"{self.folder / 'path'}:{os.environ['PATH']}"))
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)

    def program(self, name, text):
        path = self.folder / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("PRETENDED", repr(str(self.folder / "pretended"))))
        path.chmod(0o755)

    def run_parts(self, *parts, limit=1000, cases=()):
        """(exit status, record, what was printed) of a run."""
        path = self.folder / "record.json"
        with contextlib.redirect_stdout(io.StringIO()) as told, \
                contextlib.redirect_stderr(told):
            status = run.run(self.folder, path, list(parts or run.PARTS), "cuda", limit, cases)
        self.text = path.read_text()
        return status, json.loads(self.text), told.getvalue()


class Runs(Packed):
    def test_a_good_run_meets_every_bar_and_names_no_folder(self):
        status, found, told = self.run_parts()
        self.assertEqual([bar for bar in found["bars"] if not bar["met"]], [], told)
        self.assertEqual(status, 0)
        self.assertEqual(len(found["bars"]), len(bars.BARS))
        self.assertEqual(found["commit"], "abc")
        self.assertEqual(found["parts"]["times"]["5000x150"]["messages"], ["read 5000x150.aln"])
        self.assertNotIn(str(self.folder.parent), self.text)
        self.assertNotIn(tempfile.gettempdir() + "/", self.text)
        self.assertIn("all bars met", told)

    def test_a_failing_part_leaves_the_others_and_its_bars_open(self):
        self.program("bench_couplings", "#!/bin/sh\necho 'no memory' >&2\nexit 4\n")
        self.program("test_weights", "#!/bin/sh\necho '[  FAILED  ] CudaKernel.Adds (1 ms)'\nexit 1\n")
        (self.folder / "data/oracle/DHFR.mat.gz").unlink()
        status, found, told = self.run_parts()
        self.assertEqual(status, 1)
        open_or_missed = {bar["name"]: bar["measured"] for bar in found["bars"] if not bar["met"]}
        self.assertEqual(open_or_missed, {
            "CUDA tests that failed or were skipped": 1,
            "memcheck: programs not clean": 1, "racecheck: programs not clean": 1,
            **{f"{bars.size_name(size)}: evaluation amid a fit, fraction of its limit": None
               for size in bars.SIZES},
            "optimum: relative difference of f to float64": None,
            "optimum: difference of scores over the largest": None,
            "optimum: top-L pairs that differ": None})
        self.assertIn("status 4: no memory", found["parts"]["evaluations"]["5000x150"]["failed"])
        self.assertEqual(found["parts"]["tests"]["test_weights"]["names_failed"], ["CudaKernel.Adds"])
        self.assertIn("NOT MEASURED", told)

    def test_an_exception_ends_its_part_only(self):
        with mock.patch.dict(run.PARTS, tests=lambda at: {}["nothing"]):
            _, found, _ = self.run_parts("tests", "ceilings")
        self.assertEqual(found["parts"]["tests"]["failed"], "KeyError: 'nothing'")
        self.assertEqual(found["parts"]["ceilings"]["gpu"], "made up")

    def test_what_is_worse_misses_its_bar(self):
        self.program("bench_ccmpred_iterations",
                     "#!/bin/sh\necho '{\"objective\": 1, \"iterations\": 50}'\n")
        self.program("bench_couplings", "#!/bin/sh\necho '%s'\n" %
                     EVALUATIONS.replace("0.001", "1000.0"))
        worse = PLEAT.replace('b"scores"', "os.urandom(9)").replace(
            "LEAST.get(stem, 100.0)", "LEAST.get(stem, 100.0) * (1.1 if 'cuda' in words else 1)"
        ).replace("status = 3\n        continue", "sys.exit(3)").replace("1.0 / (1 + i + j)", "i + j")
        self.program("pleat", worse)
        _, found, _ = self.run_parts("times", "evaluations", "optimum", "families")
        met = {bar["name"] for bar in found["bars"] if bar["met"]}
        self.assertEqual({name for name in met if "seconds" not in name},
                         {"GPU and CPU: difference of scores over the largest",
                          "GPU and CPU: top-L pairs that differ",
                          "families: not finished by that call",
                          "families: computed again by a second call"})

    def test_mutual_information_tells_sums_of_stages_and_other_bits(self):
        worse = PLEAT.replace('b"numbers"', "os.urandom(9)")
        self.program("pleat", worse)
        status, found, _ = self.run_parts("mutual_information", "lanes")
        self.assertEqual(status, 1)
        measured = {bar["name"]: bar["measured"] for bar in found["bars"]}
        self.assertEqual(measured["pairs of 753x264: seconds of the kernel"], 0.025)
        self.assertEqual(measured["triples of 140x71 RNA: seconds of the kernel"], 0.015)
        told = found["parts"]["mutual_information"]
        self.assertAlmostEqual(told["pairs of 753x264"]["stage_median"], 0.04)
        self.assertEqual(told["triples of 140x71 RNA"]["stage_median"], 0.02)
        repeats = sum(case.repeats - 1 for case in bars.MI_TIMES)
        self.assertEqual(measured["mutual information: runs of other bits than the first"], repeats)
        self.assertEqual(told["runs_compared"], {"compared": repeats, "different": repeats})
        # Large tiles and all groups of shuffles go through triples of this size alone.
        self.assertGreater(next(case.repeats for case in bars.MI_TIMES
                                if case.name == "triples of 753x264"), 1)
        self.assertEqual(measured["mutual information: results that differ from the CPU's"],
                         len(mutual_information.COMPARED))
        for name in bars.LANES:
            self.assertEqual(measured[f"lanes: {name}: results that differ from one GPU's"], 1)
            self.assertEqual(measured[f"lanes: {name}: times as fast as one GPU, by the share of each"], 1)
        self.assertEqual([key for key in found["parts"]["lanes"]["clusters of 2000000x100"] if key.isdigit()], ["1", "2"])

    def test_cases_of_lanes_run_alone_with_their_bars(self):
        cases, unknown = lanes.named(["triples", "clusters of 2"])
        self.assertEqual((cases, unknown), (["triples of 753x264", "triples of 998x160", "clusters of 2000000x100"], []))
        status, found, told = self.run_parts("lanes", cases=cases)
        self.assertEqual(status, 0, told)
        self.assertEqual(set(found["parts"]["lanes"]), {*cases, "part_seconds"})
        self.assertEqual({bar["name"].split(": ")[1] for bar in found["bars"]}, set(cases))

    def test_words_that_begin_no_case_are_told(self):
        self.assertEqual(lanes.named(["pairs", "triple of"]), (["pairs of 400000x100"], ["triple of"]))
        self.assertEqual(lanes.named([""])[1], [""])
        for words, complaint in ((["--cases", "pears"], "expected the first words of triples of 753x264, .*'pears'"),
                                 (["--only", "lists", "--cases", "pairs"], "add it to --only")):
            done = subprocess.run([sys.executable, "-B", GPU_TEST, "run", self.folder, *words],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, complaint)

    def test_mutual_information_that_fails_leaves_its_bars_open(self):
        worse = PLEAT.replace('if words[0] == "mi":', 'if words[0] in ("mi", "cluster"):\n    sys.exit(4)')
        self.program("pleat", worse)
        (self.folder / "data/mutual_information/ribo140x71.fasta").unlink()
        _, found, _ = self.run_parts("mutual_information", "lanes")
        told = found["parts"]["mutual_information"]
        self.assertIn("status 4", told["pairs of 753x264"]["failed"])
        self.assertIn("absent", told["triples of 140x71 RNA"])
        self.assertEqual(told["beside_the_cpu"], {"compared": 1, "different": 1})
        self.assertIn("status 4", found["parts"]["lanes"]["triples of 753x264"]["1"]["failed"])
        self.assertEqual(told["runs_compared"], {"compared": 0, "different": 0})
        unmet = [bar for bar in found["bars"]
                 if "seconds" in bar["name"] or "other bits" in bar["name"]]
        self.assertTrue(unmet and all(bar["met"] is None for bar in unmet))

    def test_superposition_that_fails_leaves_its_bars_open(self):
        self.program("bench_rmsd_gpu", "#!/bin/sh\ntest $1 = check && echo '%s' || exit 4\n" % RMSD)
        status, found, _ = self.run_parts("rmsd", "million")
        self.assertEqual(status, 1)
        self.assertIn("status 4", found["parts"]["rmsd"]["tally"]["failed"])
        met = {bar["name"]: bar["met"] for bar in found["bars"]}
        for name in ("20000x100 other than the definition's", "50000x100 by the program other than the CPU's"):
            self.assertEqual(met.pop(f"rmsd: clusterings of {name}"), True)
        self.assertTrue(met and all(value is None for value in met.values()))

    def test_one_gpu_is_not_asked_for_two(self):
        self.program("../path/nvidia-smi", "#!/bin/sh\necho 'GPU, 1, 2, 3, 4'\n")
        status, found, _ = self.run_parts("ceilings", "lanes", "lists")
        self.assertEqual((status, list(found["parts"])), (0, ["ceilings", "lists"]))
        self.assertEqual([bar["name"] for bar in found["bars"]],
                         [bar.name for bar in bars.BARS if bar.part == "lists" and bar.gpus == 1])
        self.assertNotIn("2", found["parts"]["lists"]["real_families"])

    def test_other_gpus_have_no_ceilings_and_no_fractions(self):
        self.program("bench_ceilings", "#!/bin/sh\necho '{\"absent\": \"8.0\"}'\n")
        _, found, _ = self.run_parts("evaluations")
        self.assertEqual(found["parts"]["evaluations"]["5000x150"]["evaluation"],
                         {"milliseconds": 0.001})
        self.assertTrue(all(bar["met"] is None for bar in found["bars"]))

    def test_without_data_and_tool_the_parts_say_so(self):
        for path in [*(self.folder / "data/families").iterdir(),
                     *(self.folder / "data/oracle").iterdir()]:
            path.unlink()
        with mock.patch("shutil.which", return_value=None):
            status, found, _ = self.run_parts("sanitizers", "optimum", "families")
        self.assertEqual(status, 1)
        self.assertIn("absent", found["parts"]["sanitizers"])
        self.assertIn("absent", found["parts"]["families"])
        self.assertIn("absent", found["parts"]["optimum"]["5sakA"])
        self.assertTrue(all(bar["met"] is None for bar in found["bars"]))

    def test_the_limit_ends_a_program_with_its_children(self):
        self.program("test_core", "#!/bin/sh\nsleep 60 & echo $! > %s\nwait\n" %
                     (self.folder / "child"))
        start = time.monotonic()
        status, found, _ = self.run_parts("tests", "ceilings", limit=1.5)
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual(status, 1)
        self.assertIsNone(found["parts"]["tests"]["test_core"]["status"])
        self.assertIn("no time was left", found["parts"]["ceilings"]["failed"])
        child = int((self.folder / "child").read_text())
        with self.assertRaises(ProcessLookupError):
            for _ in range(100):  # until init has taken it away
                os.kill(child, 0)
                time.sleep(0.05)

    def test_alignments_that_were_not_packed_are_made(self):
        (self.folder / "bench").mkdir()
        maker = pathlib.Path(__file__).resolve().parent.parent / "make_alignment.py"
        (self.folder / "bench/make_alignment.py").write_text(maker.read_text())
        with mock.patch.object(session, "SIZES", ((3, 7),)):
            at = session.Session(self.folder, None, "cpu", time.monotonic() + 60)
            at.generate(large=False)
            at.finish_generating()
        rows = at.generated((3, 7)).read_text().split()
        self.assertEqual([len(row) for row in rows], [7, 7, 7])


class Figures(unittest.TestCase):
    def test_limits_count_both_products_and_take_the_better_rate(self):
        found = {"fp16_random_operations_per_s": 6e14, "fp16_one_hot_operations_per_s": 8e14,
                 "memory_copy_bytes_per_s": 4e12}
        told = speed.limits(5000, 500, 21, 1, found)
        self.assertEqual(told["operations"], 2e12)
        self.assertAlmostEqual(told["seconds_by_operations"], 2.5e-3)
        self.assertEqual(told["bytes"], 8 * 441 * 124750)
        self.assertEqual(speed.limits(5000, 500, 21, 2, found)["operations"], 4e12)

    def test_scores_are_compared_by_value_and_by_their_best_pairs(self):
        expected = [[0.0] * 9 for _ in range(9)]
        for i, j, score in ((0, 6, 5.0), (1, 8, 4.0), (2, 8, 3.0), (0, 1, 10.0)):
            expected[i][j] = expected[j][i] = score
        found = [row[:] for row in expected]
        self.assertEqual(optimum.compare(found, expected), {
            "scores_difference": 0, "top_pairs_that_differ": 0, "ranks_that_differ": 0})
        found[1][8] = found[8][1] = 5.5
        self.assertEqual(optimum.compare(found, expected), {
            "scores_difference": 0.15, "top_pairs_that_differ": 0, "ranks_that_differ": 2})
        self.assertEqual(optimum.top_pairs(expected)[:3], [(0, 6), (1, 8), (2, 8)])

    def test_top_pairs_that_left_are_counted(self):
        expected = [[0.0] * 20 for _ in range(20)]
        for j in range(6, 20):
            expected[0][j] = expected[j][0] = j
        for j in range(8, 20):
            expected[1][j] = expected[j][1] = 100 + j
        found = [row[:] for row in expected]
        found[2][9] = found[9][2] = 1000.0
        self.assertEqual(optimum.compare(found, expected)["top_pairs_that_differ"], 1)

    def test_text_is_freed_of_folders_and_host(self):
        with mock.patch("socket.gethostname", return_value="node17"):
            told = record.cleaned({"a": ["/made/up/x.aln:2: expected", "on node17 now", 3,
                                         "https://doi.org/10.1/x", "Devices/Kernel.Works/cuda"]})
        self.assertEqual(told, {"a": ["x.aln:2: expected", "on host now", 3,
                                      "https://doi.org/10.1/x", "Devices/Kernel.Works/cuda"]})

    def test_tests_are_counted_by_their_names(self):
        told = correctness.counted(
            "[ RUN      ] A.B\n[       OK ] A.B (1 ms)\n[  SKIPPED ] D/E.F/cuda (0 ms)\n"
            "[  FAILED  ] G.H (2 ms)\n[  PASSED  ] 1 test.\n[  FAILED  ] 1 test, listed below:\n"
            "[  FAILED  ] G.H\n")
        self.assertEqual((told["passed"], told["skipped"], told["names_failed"]), (1, 1, ["G.H"]))

    def test_unknown_bars_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            at = record.Record(pathlib.Path(folder) / "r.json", {}, ["tests"])
            with self.assertRaisesRegex(ValueError, "expected the name of a bar"):
                at.bar("speed of light", 1)

    def test_programs_travel_in_an_archive(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            shared = os.urandom(2 << 20)
            programs = {inside: shared + inside.encode() for inside in ("bin", "ranks/bin")}
            for inside, program in programs.items():
                (folder / inside).mkdir(parents=True)
                (folder / inside / "pleat").write_bytes(program)
                (folder / inside / "pleat").chmod(0o755)
            pack.compress_programs(folder)
            self.assertEqual([path.name for path in folder.iterdir()], [pack.ARCHIVE])
            self.assertLess((folder / pack.ARCHIVE).stat().st_size, 1.1 * len(shared))
            pack.unpack_programs(folder)
            for inside, program in programs.items():
                self.assertEqual((folder / inside / "pleat").read_bytes(), program)
                self.assertTrue(os.access(folder / inside / "pleat", os.X_OK))
            (folder / "bin/pleat").write_text("changed")
            pack.unpack_programs(folder)
            self.assertEqual((folder / "bin/pleat").read_text(), "changed")

    def test_a_folder_that_is_no_pack_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            mine = pathlib.Path(folder) / "mine"
            mine.mkdir()
            self.assertEqual(pack.pack(pathlib.Path(folder), mine, pathlib.Path(folder), mine), 2)
            self.assertTrue(mine.exists())


if __name__ == "__main__":
    unittest.main()
