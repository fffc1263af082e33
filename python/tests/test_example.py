# Examples: each script of examples/python runs on the committed data and says what it found.
import ast
import os
import re
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


def run_cell(text, names):
    """Runs a cell as a notebook does; its last expression as HTML, None if it is none."""
    body = ast.parse(text).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)  # pylint: disable=exec-used
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # pylint: disable=eval-used
    return value._repr_html_() if hasattr(value, "_repr_html_") else None


def test_cells_of_the_notebook_show_results():
    path = ROOT / "examples" / "python" / "notebook.py"
    cells = re.split(r"^# %%.*\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    names = {"__file__": str(path)}
    shown = [text for text in (run_cell(cell, names) for cell in cells) if text is not None]
    assert [re.search(r"<b>pleat\.(\w+)", text).group(1) for text in shown[:-1]] == [
        "Alignment", "Couplings", "Ensemble", "Rmsd", "Clusters", "Saxs"]
    assert "118 columns" in shown[1] and "2 clusters" in shown[4] and shown[-1].startswith("<iframe srcdoc=")
