# Run folders: results written into a folder as the program does, and read from the folders of both.
"""pleat.load and the method `save` of results."""
import json
import os
from pathlib import Path

import numpy as np

from . import _pleat
from .errors import InputError, OutputError
from .mutation_effects import Mutants
from .result import Result
from .results import (Clusters, Couplings, Fit, MutualInformation, Rmsd, Saxs, Scatterers, Selection, Weights)

COMMANDS = {"couplings": Couplings, "mi": MutualInformation, "rmsd": Rmsd, "cluster": Clusters, "saxs": Saxs,
            "select": Selection, "mutants": Mutants}
# Arrays that the program's files hold as they are: {file: attribute}, of .npz {file: {name: attribute}}.
FILES = {
    Couplings: {"scores.npz": {"raw": "raw_scores", "corrected": "scores", "columns": "columns"},
                "couplings.npz": {"fields": "fields", "pairs": "pairs", "columns": "columns"},
                "weights.npy": "weights"},
    MutualInformation: {"pairs.npz": {**{name: name for name in (
        "mi", "joint_entropy", "normalised", "apc", "asc", "mean", "variance", "z", "exact_p", "tail_p", "fdr",
        "family_p", "columns")}, "n_less": "less", "n_equal": "equal"}},
    Rmsd: {"rmsd.npy": "matrix", "best.npz": {"indices": "best_indices", "rmsd": "best_values"},
           "neighbours.npz": {"starts": "neighbour_starts", "indices": "neighbour_indices",
                              "rmsd": "neighbour_values"}},
    Clusters: {"assignment.npy": "assignment", "linkage.npy": "tree"},
}
CLASSES = {kind.__name__: kind for kind in (*COMMANDS.values(), Fit, Weights, Scatterers)}
STATE = "python.json"


def _save(self, folder):
    """Writes the result into a new or empty folder, which pleat.load reads: arrays under the names of the
    program's files, with manifest.json; what these do not hold in python.npz and python.json."""
    folder = Path(folder)
    command = {kind: name for name, kind in COMMANDS.items()}[type(self)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise OutputError(f"{folder}: expected a new or empty folder, found files in it")
        values, files = self._known(), {}
        for file, names in FILES.get(type(self), {}).items():
            named = {"": names} if isinstance(names, str) else names
            held = {key: values.get(name) for key, name in named.items()}
            if any(value is None for value in held.values()) and file != "pairs.npz":
                continue
            held = {key: value for key, value in held.items() if value is not None}
            files[file] = held[""] if isinstance(names, str) else held
        in_files = {names if isinstance(names, str) else names[key]
                    for file, held in files.items() for names in [FILES[type(self)][file]]
                    for key in ([""] if isinstance(names, str) else held)}
        arrays = {}
        state = _encoded({name: value for name, value in values.items() if name not in in_files}, arrays)
        files["python.npz"] = arrays
        for file, held in files.items():
            if isinstance(held, dict):
                np.savez(folder / file, **held)
            else:
                np.save(folder / file, held)
        (folder / STATE).write_text(json.dumps(state), encoding="utf-8")
        scalars = {name: value for name, value in values.items()
                   if isinstance(value, (str, int, float)) and not name.startswith("_") and value == value}
        (folder / "manifest.json").write_text(json.dumps({
            "program": "pleat", "version": _pleat.version, "command": command, "status": "finished",
            "results": scalars, "outputs": [{"file": file, "bytes": (folder / file).stat().st_size}
                                            for file in (*files, STATE)]}, indent=2) + "\n", encoding="utf-8")
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from error


for _kind in COMMANDS.values():
    _kind.save = _save


def _encoded(value, arrays):
    """A value for JSON; arrays go into `arrays`, by number."""
    if isinstance(value, (np.ndarray, np.generic)):
        arrays[f"array{len(arrays)}"] = value
        return {"array": f"array{len(arrays) - 1}"}
    if isinstance(value, Result):
        return {"result": type(value).__name__, "values": _encoded(value._known(), arrays)}
    if isinstance(value, _pleat.Profile):
        return {"profile": _encoded(list(value.__getstate__()), arrays)}
    if isinstance(value, dict):
        return {"dict": {name: _encoded(one, arrays) for name, one in value.items()}}
    if isinstance(value, tuple):
        return {"tuple": [_encoded(one, arrays) for one in value]}
    return [_encoded(one, arrays) for one in value] if isinstance(value, list) else value


def _decoded(value, arrays):
    if isinstance(value, list):
        return [_decoded(one, arrays) for one in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "result" in value:
        return CLASSES[value["result"]](**_decoded(value["values"], arrays))
    if "profile" in value:
        curve = _pleat.Profile.__new__(_pleat.Profile)
        curve.__setstate__(tuple(_decoded(value["profile"], arrays)))
        return curve
    if "tuple" in value:
        return tuple(_decoded(value["tuple"], arrays))
    return {name: _decoded(one, arrays) for name, one in value["dict"].items()}


def load(folder):
    """Reads the result in a folder: one that `save` of a result wrote, or a finished run of the program
    (`pleat couplings`, `mi`, `rmsd`, `cluster`).

    Returns pleat.Couplings, MutualInformation, Rmsd, Clusters, Saxs or Selection. The program writes not
    all that a result of Python holds; what its files lack raises AttributeError with its name.

    InputError for a folder without a finished run, for files that are broken, and for runs of the
    program's other commands.
    """
    folder = Path(os.fspath(folder))
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        command, status = manifest["command"], manifest["status"]
        if status != "finished":
            raise InputError(f"{folder}: expected a finished run, found one that is {status}")
        is_saved = (folder / STATE).is_file()
        if command not in COMMANDS or not is_saved and command not in _FROM_PROGRAM:
            raise InputError(f"{folder}: expected a run of {', '.join(_FROM_PROGRAM)}, or what save() wrote, found "
                             f"a run of {command}")
        kind = COMMANDS[command]
        values = _arrays(folder, kind)
        if is_saved:
            state = json.loads((folder / STATE).read_text(encoding="utf-8"))
            with np.load(folder / "python.npz") as arrays:
                values.update(_decoded(state, arrays))
        else:
            _FROM_PROGRAM[command](folder, manifest, values)
    except FileNotFoundError as error:
        raise InputError(f"{folder}: expected the folder of a finished run, found no "
                         f"{Path(error.filename).name}") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{folder}: cannot read the run: {error}") from error
    return kind(**values)


def _arrays(folder, kind):
    """{attribute: array} of the files that are there."""
    values = {}
    for file, names in FILES.get(kind, {}).items():
        if not (folder / file).is_file():
            continue
        found = np.load(folder / file, allow_pickle=False)
        if isinstance(names, str):
            values[names] = found
        else:
            values.update({name: found[key] for key, name in names.items() if key in found})
    return values


def _table(path):
    """{column: texts} of a table."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return {name: [row[n] for row in rows[1:]] for n, name in enumerate(rows[0])}


def _numbers(texts, kind=float):
    return np.array([np.nan if text == "NA" else float(text) for text in texts]).astype(kind)


def _couplings(folder, manifest, values):
    results = manifest["results"]
    for name in ("effective_sequences", "objective", "relative_gap", "iterations", "evaluations", "stop_reason"):
        values[name] = results[name]
    values["_is_calibrated"] = results["alphabet"] == "protein" and manifest["parameters"]["apc"]
    values["device"] = manifest["device"]
    if not manifest["parameters"]["models"]:
        values["fields"] = values["pairs"] = None
    contacts = _table(folder / "contacts.tsv")
    letters = {int(column) - 1: letter for end in "ij" for column, letter in
               zip(contacts[end], contacts[f"letter_{end}"])}
    if all(column in letters for column in values["columns"].tolist()):
        values["letters"] = "".join(letters[column] for column in values["columns"].tolist())


def _mutual_information(folder, manifest, values):
    for name in FILES[MutualInformation]["pairs.npz"].values():
        values.setdefault(name, None)
    results = manifest["results"]
    values.update(column_count=results["columns"], shuffles=results["shuffles"], device=manifest["device"],
                  letters="".join(_table(folder / "columns.tsv")["letter"]))
    values.update(triples=None, triples_ranked_by=results.get("triples_ranked_by"))
    if (folder / "triples.npz").is_file():
        with np.load(folder / "triples.npz") as found:
            triples = {"columns": values["columns"][np.transpose([found[name] for name in "ijk"])]}
            others = [name for name in found if name not in ("i", "j", "k", "columns", "excess", "fdr")]
            triples.update({name: found[name] for name in (*others, "excess", "fdr") if name in found})
        values["triples"] = triples
    with np.load(folder / "pairs.npz") as found:
        if "sampled_mean" not in found:
            values["sampled"] = None
            return
        names = {"mean": "sampled_mean", "variance": "sampled_variance", "skewness": "sampled_skewness",
                 "z": "sampled_z", "percentile": "percentile", "p": "p", "p_strict": "p_strict"}
        values["sampled"] = np.rec.fromarrays([found[name] for name in names.values()], names=list(names)).view(
            np.ndarray)


def _rmsd(folder, manifest, values):
    if manifest["parameters"]["reference"]:
        raise InputError(f"{folder}: expected a run that compares frames with each other, found one with a reference")
    results, parameters = manifest["results"], manifest["parameters"]
    for name in FILES[Rmsd]["best.npz"], FILES[Rmsd]["neighbours.npz"]:
        for attribute in name.values():
            values.setdefault(attribute, None)
    values.setdefault("matrix", None)
    values.update({name: results[name] for name in ("frames", "atoms", "pairs", "min", "mean", "max")})
    values.update(values=None, metric=parameters["metric"], selection=parameters["measure"] or parameters["select"],
                  device=manifest["device"],
                  histogram=_numbers(_table(folder / "histogram.tsv")["pairs"], np.int64),
                  _coordinates=None, _weights=None, _precision=parameters["precision"])


def _clusters(folder, manifest, values):
    results, found = manifest["results"], _table(folder / "clusters.tsv")
    values.setdefault("tree", None)
    names = [("size", np.int64), ("medoid", np.int64), ("mean", np.float64), ("radius", np.float64),
             ("silhouette", np.float64)]
    clusters = np.empty(len(found["size"]), dtype=names)
    for name, kind in names:
        clusters[name] = _numbers(found[name], kind)
    values.update(clusters=clusters, silhouette=results.get("silhouette"), device=manifest["device"],
                  histogram=_numbers(_table(folder / "histogram.tsv")["pairs"], np.int64),
                  **{name: results[name] for name in ("min", "mean", "max")})


_FROM_PROGRAM = {"couplings": _couplings, "mi": _mutual_information, "rmsd": _rmsd, "cluster": _clusters}
