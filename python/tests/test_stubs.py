# Stubs: the committed file is what the options make, names what the module has, and reads as Python.
import ast
import subprocess
import sys
from pathlib import Path

import pleat
import pytest

PYTHON = Path(__file__).resolve().parents[1]
STUB = PYTHON / "pleat" / "__init__.pyi"


def test_the_stub_is_what_the_options_make():
    made = subprocess.run([sys.executable, "-B", PYTHON / "stubs" / "make_stubs.py", "-"], check=True,
                          capture_output=True, text=True).stdout
    assert made == STUB.read_text(encoding="utf-8"), "run python/stubs/make_stubs.py python/pleat/__init__.pyi"


def test_the_stub_names_what_the_module_has():
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    defined = {node.name: node for node in tree.body
               if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert set(defined) == set(pleat.__all__)
    own = {"Alignment", "Topology", "Couplings", "MutualInformation", "Rmsd", "Clusters", "Ensemble"}
    for name in own:
        stated = {part.name for part in defined[name].body if isinstance(part, ast.FunctionDef)}
        real = {part for part in vars(getattr(pleat, name)) if not part.startswith("_")}
        assert {part for part in stated if not part.startswith("_")} == real, name


def test_mypy_accepts_the_stub():
    pytest.importorskip("mypy", reason="mypy is not there")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null", STUB],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
