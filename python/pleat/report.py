# Report: one page of any runs, from their folders and from results in memory.
import os
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from . import _pleat
from .errors import InputError, UsageError
from .options import in_python_words
from .result import Result
from .run_folders import COMMANDS


@dataclass(frozen=True, repr=False, eq=False)
class Page:
    """A page of runs, as pleat.report makes it. Notebooks show it in a frame.

    html : its text, which needs no other files and no network
    runs : the number of runs on the page
    panels : the number of panels
    notes : what is missing on the page, and why: list of str (also Python warnings)
    """

    html: str
    runs: int
    panels: int
    notes: list

    def __repr__(self):
        return f"<pleat.Page: {self.panels} panels of {self.runs} runs, {len(self.html) / 2**20:.1f} MiB>"

    def _repr_html_(self):
        return (f'<iframe srcdoc="{escape(self.html)}" title="pleat" '
                'style="width: 100%; height: 40em; border: 0"></iframe>')

    def save(self, path, *, force=False):
        """Writes the page. A page made by pleat is replaced, another file only with `force`."""
        _pleat.write_page(os.fspath(path), self.html, bool(force))


def _named(runs):
    """[(name or None, folder or result)] of what was given."""
    if isinstance(runs, Mapping):
        return list(runs.items())
    if isinstance(runs, (str, os.PathLike, Result)):
        runs = [runs]
    return [(None, run) for run in runs]


def _folder(name, run, within, taken):
    """The folder of a run: its own, or a new one below `within` for a result."""
    if isinstance(run, (str, os.PathLike)):
        if name is not None:
            raise UsageError(f"expected a result for the name {name!r}, found a folder, which has a name")
        return os.fspath(run)
    command = {kind: one for one, kind in COMMANDS.items()}.get(type(run))
    if command is None:
        raise InputError(f"expected folders of runs or results, found {type(run).__name__}")
    name = str(name or command)
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise UsageError(f"expected a name without '/', found {name!r}")
    number = taken[name] = taken.get(name, 0) + 1
    folder = Path(within, str(len(taken)) + "-" + str(number), name if number == 1 else f"{name} {number}")
    run.save(folder)
    return os.fspath(folder)


@in_python_words
def report(runs, output=None, *, structure="", title="", rows=1000, cells=1000, force=False):
    """Draws runs into one page of HTML, as `pleat report` does.

    runs : folders of runs and results (pleat.Couplings, Rmsd, ...), in the order in which the page shows
        them; {name: result}; or a single one
    output : file for the page; None: none. A page made by pleat is replaced
    structure : PDB or mmCIF file for runs on alignments, with its chain: 'FILE:CHAIN'; '': the one that each
        run used
    title : of the page; '': the names of the runs
    rows : maximum number of rows that the page shows of a table
    cells : maximum number of cells along a side of a matrix of frames; with more frames a cell is the mean
        of a block
    force : replace any existing file

    Returns pleat.Page, which has the text (html), `save` and a view for notebooks.
    """
    given = _named(runs)
    if not given:
        raise UsageError("expected at least 1 run, found none")
    options = {"structure": os.fspath(structure), "title": title, "rows": rows, "cells": cells}
    with tempfile.TemporaryDirectory(prefix="pleat-report-") as within:
        taken = {}
        folders = [_folder(name, run, within, taken) for name, run in given]
        page = Page(*_pleat.draw_page(folders, options))
    for note in page.notes:
        warnings.warn(note, stacklevel=3)
    if output is not None:
        page.save(output, force=force)
    return page


Page.__module__ = "pleat"
