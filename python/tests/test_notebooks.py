# Notebooks: each of examples/notebooks runs on the committed data in a minute, and is committed tidied, with its outputs.
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import run_notebooks  # noqa: E402  pylint: disable=wrong-import-position

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
named = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def kinds(notebook):
    """What each cell shows: the kinds of its outputs."""
    return [[sorted(output.get("data", [output.get("name")])) for output in cell["outputs"]]
            for cell in notebook["cells"] if cell["cell_type"] == "code"]


def numbers(notebook):
    """[cell][number] of the texts that cells show, but of those that depend on the machine."""
    return [[float(number) for output in cell["outputs"]
             for number in re.findall(r"-?\d+\.?\d*", "".join(output.get("text", output.get("data", {}).get("text/plain", ""))))]
            for cell in notebook["cells"] if cell["cell_type"] == "code" and "--estimate" not in "".join(cell["source"])]


@named
def test_runs_in_a_minute_and_shows_what_was_committed(path):
    for package in ("nbclient", "ipykernel", "pandas", "matplotlib"):
        pytest.importorskip(package, reason=f"{package} is not there: scripts/setup docs")
    notebook, seconds = run_notebooks.run(path)
    assert seconds < 60
    committed = json.loads(path.read_text(encoding="utf-8"))
    assert kinds(notebook) == kinds(committed)
    for found, expected in zip(numbers(notebook), numbers(committed)):
        assert found == pytest.approx(expected, rel=0.02, abs=0.02)


@named
def test_is_committed_tidied_and_with_outputs(path):
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    assert run_notebooks.tidied(notebook) == text, "run scripts/run_notebooks.py"
    assert sum(map(len, kinds(notebook))) >= 5
    assert "stderr" not in str(kinds(notebook))
    assert str(ROOT) not in text and "/home/" not in text


def test_are_small():
    assert len(NOTEBOOKS) == 4
    assert sum(path.stat().st_size for path in NOTEBOOKS) < 1e6
