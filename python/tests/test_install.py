# Installation: pip makes a wheel from this build without a network, and it works where it is put.
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_pip_installs_and_the_copy_works(tmp_path):
    pytest.importorskip("pip", reason="pip is not there")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target",
         tmp_path / "site", "--config-settings", f"build={os.environ['PLEAT_BUILD']}", ROOT],
        capture_output=True, text=True, check=False, env=environment, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    environment["PYTHONPATH"] = str(tmp_path / "site")
    code = ("import importlib.metadata, numpy as np, pleat\n"
            "assert importlib.metadata.version('pleat') == pleat.__version__\n"
            "print(pleat.__file__, pleat.rmsd(np.ones((2, 3, 3))).matrix)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                          env=environment, cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path)) and done.stdout.endswith("[0.]\n")
    libraries = list((tmp_path / "site" / "pleat").glob("libpleat.so*"))
    assert len(libraries) == 1 and not libraries[0].is_symlink()
