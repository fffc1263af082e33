# Tests of the bench of mutual information with programs that only pretend: samples, bars, the record.
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import mutual_information as bench  # noqa: E402

PLEAT = '''#!/usr/bin/env python3
import json, pathlib, sys
run = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
run.mkdir()
(run / "manifest.json").write_text(json.dumps({"timings": [{"stage": "pairs", "cpu_seconds": 1.5}],
                                               "results": {"sequences": 753, "columns": 264}}))
'''


def sample(cpu, wall):
    return {"user_s": cpu, "system_s": 0.0, "wall_s": wall, "peak_mb": 30.0}


class MutualInformation(unittest.TestCase):
    def test_bars_follow_from_medians(self):
        samples = {name: [sample(1.0, 1.0)] for name in bench.RUNS}
        samples["pairs, 10000 shuffles"] = [sample(10.0, 10.0), sample(14.0, 10.0), sample(90.0, 10.0)]
        samples["pairs, 10000 shuffles, two threads"] = [sample(10.0, 5.0)]
        samples["pairs, exact Z"] = [sample(2.5, 2.5)]
        found = bench.findings(samples, [{"version": "2.3", "seconds": [0.07, 0.07]}])
        self.assertEqual(found["pairs, 10000 shuffles"], {"cpu_s": 14.0, "most_cpu_s": 15.0, "met": True})
        self.assertFalse(found["pairs, exact Z"]["met"])
        self.assertEqual(found["two threads over one"]["ratio"], 2.0)
        self.assertAlmostEqual(found["ProDy over pleat, a matrix"]["ratio"], 50.0)

    def test_a_record_is_written_whole_and_an_absent_peer_is_named(self):
        with tempfile.TemporaryDirectory() as keeper:
            folder = pathlib.Path(keeper)
            program = folder / "pleat"
            program.write_text(PLEAT)
            program.chmod(0o755)
            family = folder / "family.fasta"
            family.write_text(">a\nAC\n>b\nAD\n")
            arguments = ["bench", str(family), "--pleat", str(program), "--python", "/bin/false",
                         "--repeats", "2", "--output", str(folder / "record.json")]
            with mock.patch.object(sys, "argv", arguments), \
                    contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                bench.main()
            kept = json.loads((folder / "record.json").read_text())
        self.assertEqual(kept["case"], {"name": "family.fasta", "sequences": 753, "columns": 264})
        self.assertEqual(len(kept["samples"]["pairs, exact Z"]), 2)
        self.assertEqual(kept["prody"][0], {"absent": "nothing said"})
        self.assertNotIn("ProDy over pleat, a matrix", kept["findings"])
        self.assertNotIn(str(keeper), json.dumps(kept))


if __name__ == "__main__":
    unittest.main()
