# Examples: each script of examples/python runs on the committed data and says what it found.
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("script", sorted((ROOT / "examples" / "python").glob("*.py")),
                         ids=lambda path: path.name)
def test_examples_run(script):
    done = subprocess.run([sys.executable, "-B", script], capture_output=True, text=True, check=False,
                          timeout=300, cwd=ROOT, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") >= 5
