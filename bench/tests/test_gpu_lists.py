# Tests of the GPU run's lists of jobs with programs that only pretend: failures, shares, projections.
import pathlib
import sys
import time
import unittest
from unittest import mock

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]

import test_gpu  # noqa: E402
from gpu import bars, lists  # noqa: E402


class Lists(test_gpu.Packed):
    def test_lists_of_other_bits_or_with_failures_miss_their_bars(self):
        self.program("pleat", test_gpu.PLEAT.replace('b"scores"', "os.urandom(9)").replace(
            'for name in listed:', 'for name in listed[1:]:'))
        status, found, _ = self.run_parts("lists", "cpu_list")
        self.assertEqual(status, 1)
        told = found["parts"]["lists"]
        self.assertIn("9 of 10 jobs finished", told["ensembles"]["clustering"]["1"]["failed"])
        families = len(list((self.folder / "data/families").iterdir()))
        unmet = {bar["name"]: bar["measured"] for bar in found["bars"] if not bar["met"]}
        self.assertEqual(unmet, {
            **{f"lists: {name}: seconds of an ensemble on one GPU": None
               for name in ("superposition", "clustering", "superposition with the matrix")},
            "lists: results of two GPUs that differ from those of one":
                families + len(told["real_families"]["start"]) - 1 + bars.MADE_FAMILIES,
            "cpu list: results of the longest family that differ alone": 1})

    def test_lists_say_what_they_project_and_take_a_share_in_short_time(self):
        with mock.patch.object(lists, "NEEDED_SECONDS", 1e5):
            _, found, _ = self.run_parts("lists", limit=1000)
        told = found["parts"]["lists"]["made_families"]
        self.assertLessEqual(told["families"], bars.MADE_FAMILIES // 100)
        self.assertGreater(told["families"], 0)
        one = told["1"]
        self.assertAlmostEqual(one["projected_seconds_of_pfam"], one["seconds"] * lists.PFAM / told["families"])
        measured = {bar["name"]: bar["measured"] for bar in found["bars"]}
        self.assertAlmostEqual(measured["lists: seconds of 1000 made families on one GPU"],
                               one["seconds"] * 1000 / told["families"])
        self.assertGreater(one["cpu_seconds_per_family"], 0)

    def test_the_gpus_share_of_busy_time_is_sampled(self):
        self.program("../path/nvidia-smi", "#!/bin/sh\nprintf '0, 80, 5\\n1, 10, 9\\n0, 90, 7\\n1, 20, 8\\n[N/A]\\n'\n")
        found = {}
        with lists.watched_gpus(found):
            time.sleep(1)
        self.assertEqual(found["gpu_busy_percent"], {"0": 85, "1": 15})
        self.assertEqual(found["gpu_memory_mib"], {"0": 7, "1": 9})


if __name__ == "__main__":
    unittest.main()
