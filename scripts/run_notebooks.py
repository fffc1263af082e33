#!/usr/bin/python3
# Runs the notebooks of examples/notebooks and keeps their outputs, in a form whose changes are easy to review.
"""Usage: scripts/run_notebooks.py [NOTEBOOK...]; PYTHONPATH names the folder of the built module (build/dev/python).
Debian's python3-nbclient, python3-ipykernel, python3-pandas and python3-matplotlib are needed."""
import json
import os
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "notebooks"


def tidied(notebook):
    """The text of a notebook (a dictionary) without counts, identifiers, dates and versions."""
    cells = []
    for cell in notebook["cells"]:
        kept = {"cell_type": cell["cell_type"], "metadata": {}, "source": "".join(cell["source"]).splitlines(True)}
        if cell["cell_type"] == "code":
            kept.update(execution_count=None, outputs=[
                {key: {} if key == "metadata" else None if key == "execution_count" else value
                 for key, value in output.items()} for output in cell["outputs"]])
        cells.append(kept)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
            "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(made, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def run(path):
    """(the notebook after its cells ran in its folder, CPU seconds); raises nbclient's error of a cell that fails."""
    import nbclient
    import nbformat
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # else each kernel warns of its debugger
    notebook = nbformat.read(path, as_version=4)
    before = os.times()
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3",
                            resources={"metadata": {"path": str(path.parent)}}).execute()
    return notebook, sum(os.times()[2:4]) - sum(before[2:4])


def main():
    for path in [Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("*.ipynb")):
        notebook, seconds = run(path)
        path.write_text(tidied(notebook), encoding="utf-8")
        print(f"{path.name}: {seconds:.1f} s of CPU time, {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
