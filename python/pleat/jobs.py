# Jobs: many inputs and settings in one call, each a run in a folder of its own.
import os

from . import _pleat
from .errors import UsageError
from .options import python_words, range_text, slice_text
from .progress import heard
from .result import to_dataframe


class JobTable(list):
    """The jobs of pleat.run_jobs, in their order: a dictionary for each, with the columns of jobs.tsv,
    `folder` (the path of its run) and numbers as int or float; None: not known."""

    @property
    def failed(self):
        """The jobs that failed; `error` of each says why."""
        return [job for job in self if job["status"] == "failed"]

    def to_dataframe(self):
        """The table as a pandas.DataFrame, which needs pandas."""
        return to_dataframe(list(self))


def _number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _text(value, name):
    """A value as the program reads it."""
    value = slice_text(range_text(value))
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, (int, float)) or hasattr(value, "dtype") and not hasattr(value, "__len__"):
        return str(value)
    raise TypeError(f"{name}: expected text, a number or a path, found {value!r}")


def _sweeps(sweep):
    if sweep is None:
        return []
    if isinstance(sweep, (str, os.PathLike)):
        text = os.fspath(sweep)
        return [("sweep", text if text.startswith("@") or "=" in text else "@" + text)]
    found = []
    for name, values in sweep.items():
        if isinstance(values, (str, int, float)):
            values = [values]
        texts = [_text(value, f"sweep of {name}") for value in values]
        found.append(("sweep", f"{name.replace('_', '-')}={','.join(texts)}"))
    return found


def _is_flag(value):
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def run_jobs(command, inputs=(), *, output, list_file=None, sweep=None, share=False, jobs=None,
             force=False, device=None, threads=None, progress=None, **options):
    """Runs a command for every input with every setting, as the program does: each job is a run in a
    folder of its own below `output`, and jobs.tsv there lists them.

    command : 'couplings', 'mi', 'rmsd', 'cluster', 'saxs', 'select', 'refine' or 'mutants'
    inputs : paths, each a job; a path alone is one job
    output : folder for the runs
    list_file : file with an input per line, or a table with options of each, as the program's --list
    sweep : {option: values}; values are a list, or text as for --sweep ('0.05:0.2:0.05'); or the path
        of a table of settings
    share : other processes, also of the program, work on the same jobs
    jobs : number of jobs in progress at the same time; None: one per thread, at most 8 with a GPU
    force : finished runs are replaced; else they are skipped, and stopped ones resumed
    device, threads : as of the other functions, for all jobs together
    progress : True: a bar; or a function, called with ('jobs', ended, all, note); an exception that it
        raises stops the work
    options : options of the command, such as lambda_pair=0.1 or topology='protein.pdb'; None: its
        default

    A job that fails does not stop the others, and raises nothing: its `status` is 'failed', and
    `error` says why. Ctrl-C stops all jobs; the same call resumes them. Messages go to the logger
    'pleat'.

    Returns pleat.JobTable, a list of dictionaries with name, the options that differ, status ('done',
    'failed', or with `share` 'waiting' and 'unfinished' for jobs of other processes), the main results
    (None if there are none), device, seconds, error and folder. to_dataframe() makes a
    pandas.DataFrame of it.

    Raises UsageError, InputError or OutputError before any work for options, files or a folder that
    cannot be used.
    """
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    given = [("list", list_file), ("share", share), ("jobs", jobs), ("force", force),
             ("device", device), ("threads", threads), *options.items()]
    words = _sweeps(sweep)
    for name, value in given:
        if value is None or (name in ("share", "force") and not value):
            continue
        option = name.replace("_", "-")
        if name == "models" and _is_flag(value):
            value = "npz" if value else "none"
        if name in ("quiet", "verbose", "estimate", "each", "ensemble"):
            raise UsageError(f"expected an option of a run, found {name}")
        words.append((option, bool(value) if _is_flag(value) else _text(value, name)))
    with python_words(None), heard(progress) as told:
        made = _pleat.run_jobs(command, [os.fspath(path) for path in inputs], os.fspath(output), words, told)
    numeric = {"seconds", *made["options"], *made["numbers"]}
    table = JobTable()
    for cells, folder in zip(made["rows"], made["folders"]):
        row = {name: (_number(cell) if name in numeric else cell) if cell else None
               for name, cell in zip(made["columns"], cells)}
        del row["result"]  # the folder within `output`
        table.append({**row, "folder": folder})
    return table
