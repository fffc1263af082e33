# The tables of docs/several_gpus.md: those of the records, and what they project to eight GPUs.
import subprocess
import sys
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_gpu_tables"


def loaded():
    spec = spec_from_loader("make_gpu_tables", SourceFileLoader("make_gpu_tables", str(SCRIPT)))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class GpuTables(unittest.TestCase):
    def test_the_page_has_the_tables_of_its_records(self):
        done = subprocess.run([sys.executable, "-B", SCRIPT, "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_stage_is_a_part_that_shrinks_and_one_that_does_not(self):
        fitted = loaded().fitted
        self.assertEqual(fitted((1, 10.0), (2, 6.0)), (2.0, 8.0))
        self.assertEqual(fitted((2, 6.0), (4, 4.0)), (2.0, 8.0))
        self.assertEqual(fitted((1, 10.0), (2, 4.0)), (0.0, 8.0))   # more than twice as fast
        self.assertEqual(fitted((1, 3.0), (2, 5.0)), (5.0, 0.0))    # slower

    def test_eight_gpus_are_projected_from_the_stages(self):
        runs = {str(gpus): {"seconds": 1 + 8 / gpus, "shared_seconds": 8 / gpus,
                            "stages": {"rmsd": 8 / gpus, "read": 0.75}} for gpus in (1, 2)}
        line = loaded().projection_table({"pairs": runs}).splitlines()[2]
        self.assertEqual(line, "| pairs | 1 and 2 | 2 | 8 | 4.5 | read 0.75, start and end 0.25 |")
        alone = loaded().projection_table({"pairs": {"2": runs["2"], "4": {"failed": "no"}}})
        self.assertEqual(alone.splitlines()[2], "| pairs | 2 | - | - | - | - |")


if __name__ == "__main__":
    unittest.main()
