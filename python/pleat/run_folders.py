# Run folders: results written into a folder as the program does, and read from the folders of both.
"""pleat.load and the method `save` of results."""
import json
import os
from pathlib import Path

import numpy as np

from . import _pleat, run_tables
from .ensemble import Ensemble, Topology, read_ensemble
from .errors import InputError, OutputError
from .mutation_effects import Mutants
from .note import Note
from .program_runs import READERS, columns
from .result import Result
from .results import (Clusters, Couplings, Fit, MutualInformation, Refinement, Rmsd, Saxs, Scatterers, Selection,
                      Weights)

COMMANDS = {"couplings": Couplings, "mi": MutualInformation, "rmsd": Rmsd, "cluster": Clusters, "saxs": Saxs,
            "select": Selection, "refine": Refinement, "mutants": Mutants}
CLASSES = {kind.__name__: kind for kind in (*COMMANDS.values(), Fit, Weights, Scatterers)}
STATE = "python.npz"  # what the program's files do not hold


def _files_of(kind, known):
    """{file: attribute, or {key: attribute}} of the arrays in the program's files; `known`: see Result._places."""
    files = {}
    for file, key, column in kind._places(known):
        if column["name"] and file.endswith(".npy"):
            files[file] = column["name"]
        elif column["name"] and file.endswith(".npz"):
            files.setdefault(file, {})[key] = column["name"]
    return files


def _save(self, folder):
    """Writes the result into a new or empty folder, which pleat.load and pleat.report read: arrays and
    tables under the names of the program's files, with manifest.json; what these do not hold in python.npz."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise OutputError(f"{folder}: expected a new or empty folder, found files in it")
        values, command = self._known(), {kind: name for name, kind in COMMANDS.items()}[type(self)]
        files, in_files = [], set()
        for file, names in _files_of(type(self), values).items():
            named = {"": names} if isinstance(names, str) else names
            held = {key: values[name] for key, name in named.items() if values.get(name) is not None}
            if len(held) < len(named) and file != "pairs.npz":
                continue
            in_files.update(named[key] for key in held)
            files.append(file)
            if isinstance(names, str):
                np.save(folder / file, held[""])
            else:
                np.savez(folder / file, **held)
        values = {name: value for name, value in values.items() if name not in in_files}
        stages = _save_frames(self, folder, values, files) if isinstance(self, Refinement) else []
        arrays = {}
        state = json.dumps(_encoded(values, arrays))
        np.savez(folder / STATE, state=np.frombuffer(state.encode(), dtype=np.uint8), **arrays)
        _write_tables(self, folder, files)
        _write_manifest(self, folder, command, [*files, STATE], stages)
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from error


for _kind in COMMANDS.values():
    _kind.save = _save


def _save_frames(result, folder, values, files):
    """Writes what the program keeps of a refinement beside its table; `values` are left with the rest."""
    frames = values["frames"]
    files += _pleat.write_frames(os.fspath(folder), frames.topology, frames.xyz)
    values["frames"] = Ensemble(frames.xyz[:0], frames.topology, notes=frames.notes)
    if result.saxs is None:
        return []
    values["saxs"] = None
    result.saxs.save(folder / "saxs")
    return ["saxs"]


def _write_tables(result, folder, files):
    texts = {file: run_tables.table_text(columns)
             for file, columns in run_tables.TABLES[type(result)](result).items()}
    for file, text in {**texts, **run_tables.texts(result)}.items():
        with open(folder / file, "w", encoding="utf-8", errors="surrogateescape", newline="") as out:
            out.write(text)
        files.append(file)


def _write_manifest(result, folder, command, files, stages):
    facts = {name: value for name, value in run_tables.facts(result).items() if run_tables.number(value) is not None}
    manifest = {"program": "pleat", "version": _pleat.version, "command": command, "saved_from": "Python",
                "status": "finished", "device": run_tables.known(result, "device"),
                "parameters": run_tables.parameters(result), "results": facts,
                "outputs": [{"file": file, "bytes": (folder / file).stat().st_size} for file in files],
                "stages": stages}
    (folder / "manifest.json").write_text(json.dumps({
        name: value for name, value in manifest.items() if value is not None}, indent=2) + "\n", encoding="utf-8")


def _encoded(value, arrays):
    """A value for JSON; arrays go into `arrays`, by number."""
    if isinstance(value, (np.ndarray, np.generic)):
        arrays[f"array{len(arrays)}"] = value
        return {"array": f"array{len(arrays) - 1}"}
    if isinstance(value, Result):
        return {"result": type(value).__name__, "values": _encoded(value._known(), arrays)}
    if isinstance(value, _pleat.Profile):
        return {"profile": _encoded(list(value.__getstate__()), arrays)}
    if isinstance(value, Note):
        return {"note": value.__getnewargs__()}
    if isinstance(value, Topology):
        return {"topology": _encoded(list(value.__getstate__()), arrays)}
    if isinstance(value, Ensemble):
        return {"ensemble": _encoded(vars(value), arrays)}
    if isinstance(value, dict):
        return {"dict": {name: _encoded(one, arrays) for name, one in value.items()}}
    if isinstance(value, tuple):
        return {"tuple": [_encoded(one, arrays) for one in value]}
    return [_encoded(one, arrays) for one in value] if isinstance(value, list) else value


def _from_state(kind, state):
    found = kind.__new__(kind)
    found.__setstate__(tuple(state))
    return found


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
        return _from_state(_pleat.Profile, _decoded(value["profile"], arrays))
    if "note" in value:
        return Note(*value["note"])
    if "topology" in value:
        return _from_state(Topology, _decoded(value["topology"], arrays))
    if "ensemble" in value:
        return Ensemble(**_decoded(value["ensemble"], arrays))
    if "tuple" in value:
        return tuple(_decoded(value["tuple"], arrays))
    return {name: _decoded(one, arrays) for name, one in value["dict"].items()}


def load(folder):
    """Reads the result in a folder: one that `save` of a result wrote, or a finished run of the program
    (`pleat couplings`, `mi`, `rmsd`, `cluster`, `saxs`, `select`, `refine`, `mutants`).

    Returns pleat.Couplings, MutualInformation, Rmsd, Clusters, Saxs, Selection, Refinement or Mutants. The program
    writes not all that a result of Python holds, and rounds what it writes as tables; what its files lack
    raises AttributeError with its name.

    InputError for a folder without a finished run, for files that are broken, and for runs of the
    program's other commands.
    """
    folder = Path(os.fspath(folder))
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        command, status = manifest["command"], manifest["status"]
        if status != "finished":
            raise InputError(f"{folder}: expected a finished run, found one that is {status}")
        if command not in COMMANDS:
            raise InputError(f"{folder}: expected a run of {', '.join(COMMANDS)}, found a run of {command}")
        kind = COMMANDS[command]
        values = _arrays(folder, _files_of(kind, manifest.get("parameters", {})))
        if manifest.get("saved_from") == "Python":
            _read_state(folder, kind, values)
        else:
            values.update(columns(kind, folder, manifest, values))
            READERS[command](folder, manifest, values)
            if kind is Refinement:
                values["saxs"] = load(folder / "saxs") if "saxs" in manifest.get("stages", ()) else None
    except FileNotFoundError as error:
        raise InputError(f"{folder}: expected the folder of a finished run, found no "
                         f"{Path(error.filename).name}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{folder}: cannot read the run: {error}") from error
    return kind(**values)


def _read_state(folder, kind, values):
    with np.load(folder / STATE, allow_pickle=False) as arrays:
        values.update(_decoded(json.loads(arrays["state"].tobytes()), arrays))
    if kind is not Refinement:
        return
    named = values["frames"]
    topology = next(path for path in (folder / "topology.pdb", folder / "topology.cif") if path.is_file())
    values["frames"] = Ensemble(read_ensemble(folder / "frames.dcd", topology=topology).xyz, named.topology,
                                notes=named.notes)
    if (folder / "saxs").is_dir():
        values["saxs"] = load(folder / "saxs")


def _arrays(folder, files):
    """{attribute: array} of the files that are there."""
    values = {}
    for file, names in files.items():
        if not (folder / file).is_file():
            continue
        found = np.load(folder / file, allow_pickle=False)
        if isinstance(names, str):
            values[names] = found
        else:
            values.update({name: found[key] for key, name in names.items() if key in found})
    return values
