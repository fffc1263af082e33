# Run folders: results written into a folder as the program does, and read from the folders of both.
import csv
import io
import json
import math
import os
import re
from pathlib import Path

import numpy as np

from . import _pleat
from .ensemble import Ensemble, Topology, read_ensemble
from .errors import InputError, OutputError
from .note import Note
from .result import Result, texts_of_run
from .results import (Analysis, Clusters, Couplings, Fit, Mutants, MutualInformation, Refinement, Rmsd, Saxs, Scatterers, Selection,
                      Weights)

COMMANDS = {"couplings": Couplings, "mi": MutualInformation, "rmsd": Rmsd, "cluster": Clusters, "saxs": Saxs,
            "select": Selection, "refine": Refinement, "mutants": Mutants}
CLASSES = {kind.__name__: kind for kind in (*COMMANDS.values(), Analysis, Fit, Weights, Scatterers)}
STATE = "python.npz"  # what the program's files do not hold


def _files_of(kind, known):
    """{file: {key: attribute}} of the arrays in the program's files, '' being the key in .npy; `known`: see
    Result._places."""
    files = {}
    for file, key, column in kind._places(known):
        if column["name"] and file.endswith((".npy", ".npz")):
            files.setdefault(file, {})[key if file.endswith(".npz") else ""] = column["name"]
    return files


def _save(self, folder):
    """Writes the result into a new or empty folder, which pleat.load and pleat.report read: arrays and
    tables under the names of the program's files, with manifest.json; what these do not hold in python.npz."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise OutputError(f"{folder}: expected a new or empty folder, found files in it")
        values, command = self._known(), {**{kind: name for name, kind in COMMANDS.items()}, Analysis: "saxs"}[type(self)]
        files, in_files = [], set()
        for file, named in _files_of(type(self), values).items():
            held = {key: values[name] for key, name in named.items() if values.get(name) is not None}
            if len(held) < len(named) and file != "pairs.npz":
                continue
            in_files.update(named[key] for key in held)
            files.append(file)
            if "" in held:
                np.save(folder / file, held[""])
            else:
                np.savez(folder / file, **held)
        values = {name: value for name, value in values.items() if name not in in_files}
        stages = _save_frames(self, folder, values, files) if isinstance(self, Refinement) else []
        arrays = {}
        state = json.dumps(_encoded(values, arrays))
        np.savez(folder / STATE, state=np.frombuffer(state.encode(), dtype=np.uint8), **arrays)
        texts = dict(self._texts())
        results = json.loads(texts.pop("manifest.json"))["results"]
        for file, text in texts.items():
            (folder / file).write_bytes(text)
        manifest = {"program": "pleat", "version": _pleat.version, "command": command, "saved_from": "Python",
                    "status": "finished", "device": getattr(self, "device", None),
                    "parameters": {name: getattr(self, name) for name in ("metric", "method") if name in values},
                    "results": results, "outputs": [{"file": file, "bytes": (folder / file).stat().st_size}
                                                    for file in (*files, STATE, *texts)],
                    "stages": stages}
        (folder / "manifest.json").write_text(json.dumps(
            {name: value for name, value in manifest.items() if value is not None}, indent=2) + "\n", encoding="utf-8")
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from error


for _kind in (*COMMANDS.values(), Analysis):
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


# Values that JSON has not: {name: (class, what it is made of, how it is made of it)}.
KINDS = {
    "result": (Result, lambda one: [type(one).__name__, one._known()], lambda name, values: CLASSES[name](**values)),
    "profile": (_pleat.Profile, _pleat.Profile.__getstate__, lambda *state: _from_state(_pleat.Profile, state)),
    "note": (Note, Note.__getnewargs__, Note),
    "topology": (Topology, Topology.__getstate__, lambda *state: _from_state(Topology, state)),
    "ensemble": (Ensemble, lambda one: [vars(one)], lambda values: Ensemble(**values)),
    "tuple": (tuple, list, lambda *parts: parts)}


def _encoded(value, arrays):
    """A value for JSON; arrays go into `arrays`, by number."""
    if isinstance(value, (np.ndarray, np.generic)):
        arrays[f"array{len(arrays)}"] = value
        return {"array": f"array{len(arrays) - 1}"}
    for name, (kind, parts, _) in KINDS.items():
        if isinstance(value, kind):
            return {name: [_encoded(one, arrays) for one in parts(value)]}
    if isinstance(value, dict):
        return {"dict": {name: _encoded(one, arrays) for name, one in value.items()}}
    return [_encoded(one, arrays) for one in value] if isinstance(value, list) else value


def _from_state(kind, state):
    found = kind.__new__(kind)
    found.__setstate__(state)
    return found


def _decoded(value, arrays):
    if isinstance(value, list):
        return [_decoded(one, arrays) for one in value]
    if not isinstance(value, dict):
        return value
    (name, parts), = value.items()
    if name == "array":
        return arrays[parts]
    if name == "dict":
        return {key: _decoded(one, arrays) for key, one in parts.items()}
    return KINDS[name][2](*_decoded(parts, arrays))


class _Table(dict):
    """{column: texts} of a table; asked for one that is not there, as of another version, it says so."""

    def __init__(self, path, rows):
        super().__init__({name: [row[n] for row in rows[1:]] for n, name in enumerate(rows[0])})
        self.path = path

    def __missing__(self, name):
        raise InputError(f"{self.path}: expected a column '{name}', found none; is the run of another version of pleat?")


def _table(path):
    return _Table(path, [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()])


def _numbers(texts, kind=float):
    return np.array([np.nan if text == "NA" else float(text) for text in texts]).astype(kind)


def _json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def columns(kind, folder, manifest, values):
    """{attribute: value} of the columns of a result that a run's manifest and tables hold; None for those that the
    run was not asked for. `values`: those that are known already."""
    parts, tables, found = {**manifest, "manifest": manifest}, {}, {}
    for file, key, column in kind._places(manifest["parameters"]):
        name = column["name"]
        if not name or name in values:
            continue
        if file.endswith(".tsv") and (folder / file).is_file() and file not in tables:
            tables[file] = _table(folder / file)
        is_optional = column["type"].endswith("| None")
        if file in parts and key in parts[file]:
            found[name] = parts[file][key]
        elif file in tables and column["fields"]:
            found[name] = _fields_of(tables[file], column)
        elif file in tables and column["dtype"] is not None and (key in tables[file] or not is_optional):
            found[name] = _numbers(tables[file][key], column["dtype"])
        elif is_optional:
            found[name] = None
    return found


def _fields_of(table, column):
    """The records of a column in a table."""
    found = np.empty(len(next(iter(table.values()))), dtype=column["dtype"])
    for field, name, first, missing in column["fields"]:
        texts, kind = table[next(iter(table)) if name[0] == "{" else name], found.dtype[field]
        if missing is not None:
            texts = [str(missing) if text == "NA" else text for text in texts]
        found[field] = texts if kind.kind == "S" else _numbers(texts, kind) - first
    return found


def _couplings(folder, manifest, values):
    results = manifest["results"]
    is_nucleic = results["alphabet"] != "protein"
    norm = results.get("norm_letters", "residues")
    values["_is_calibrated"] = manifest["parameters"]["apc"] and norm == ("all" if is_nucleic else "residues")
    values["_is_nucleic"] = is_nucleic
    values["_has_given_base_pairs"] = bool(manifest["parameters"].get("secondary"))
    values.update(_trees(folder))
    contacts = _table(folder / "contacts.tsv")
    _base_pairs_and_parts(folder, contacts, values)
    letters = {int(column) - 1: letter for end in "ij" for column, letter in
               zip(contacts[end], contacts[f"letter_{end}"])}
    if all(column in letters for column in values["columns"].tolist()):
        values["letters"] = "".join(letters[column] for column in values["columns"].tolist())


def _trees(folder):
    """The tree of null alignments in Newick format, with its own lengths and with substitutions, if there is one."""
    paths = {"tree": folder / "tree.nwk", "substitution_tree": folder / "substitutions.nwk"}
    return {name: path.read_text(encoding="utf-8") if path.is_file() else None for name, path in paths.items()}


def _base_pairs_and_parts(folder, contacts, values):
    """What a run of a nucleic acid or of several parts has besides; a file of base pairs lists those that are
    --min-separation apart."""
    values["base_pairs"] = values["parts"] = None
    if "class" in contacts:
        pairs = sorted((int(i) - 1, int(j) - 1) for i, j, kind in
                       zip(contacts["i"], contacts["j"], contacts["class"]) if kind == "helix")
        values["base_pairs"] = np.array(pairs, np.int64).reshape(-1, 2)
    if not (folder / "contacts_inter.tsv").is_file():
        return
    inter = _table(folder / "contacts_inter.tsv")
    part_of = {int(column) - 1: name for end in "ij" for column, name in zip(inter[end], inter[f"part_{end}"])}
    values["parts"] = [part_of[column] for column in values["columns"].tolist()]


def _mutual_information(folder, manifest, values):
    results, columns = manifest["results"], _table(folder / "columns.tsv")
    low = np.array([int(column) - 1 for column, mark in zip(columns["column"], columns["low_entropy"])
                    if mark == "yes"], dtype=np.int64)
    values.update(shuffles=results.get("shuffles", 0), letters="".join(columns["letter"]), triples=None,
                  low_entropy=low if low.size else None)
    if "effective_sequences" not in results:
        values.update(weights=None, effective_sequences=0.0)
    else:
        values["effective_sequences"] = results["effective_sequences"]
    values.update(_trees(folder), substitutions=np.array(columns["substitutions"], dtype=np.int64)
                  if "substitutions" in columns else None)
    parameters = manifest["parameters"]
    if parameters.get("all-triples") is False and parameters.get("min-z") == "none":
        values["kept_triples"] = None
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
        column = MutualInformation._of("sampled")
        values["sampled"] = np.empty(len(found["p"]), column["dtype"])
        for field, name, *_ in column["fields"]:
            values["sampled"][field] = found[name]


def _rmsd(folder, manifest, values):
    parameters = manifest["parameters"]
    values.update(selection=parameters["measure"] or parameters["select"], _coordinates=None, _weights=None,
                  unproven=manifest["results"].get("unproven", 0))


def _clusters(folder, manifest, values):
    centres = _table(folder / "clusters.tsv")["centre"]
    values.update(centres=None if "NA" in centres else _numbers(centres, np.int64), sweep_of=None, chains=None,
                  is_trajectory=manifest["results"].get("trajectory") == "yes")
    if (folder / "chains.tsv").is_file():
        values["chains"] = [name.removeprefix("chain_") for name in list(_table(folder / "chains.tsv"))[1:-1]]
    values.update(nearest=None, distances=None)
    if (folder / "distances.tsv").is_file():
        table = _table(folder / "distances.tsv")
        ranks = 1 if "NA" in table["second"] else 2
        values["nearest"] = np.stack([_numbers(table[name], np.int32) for name in ("nearest", "second")[:ranks]], axis=1)
        values["distances"] = np.stack([_numbers(table[name], np.float32)
                                        for name in ("distance", "second_distance")[:ranks]], axis=1)
    if (folder / "series.tsv").is_file():
        values["series"] = _numbers(_table(folder / "series.tsv")["frames"], np.int64)
    if (folder / "sweep.tsv").is_file():
        values["sweep_of"] = next(iter(_table(folder / "sweep.tsv")))
    values.setdefault("method", "assign")


def _fit(found, model=None):
    """A fit of fit.json; most of them come without their model."""
    values = {one["name"]: found[one["name"]] for one in Fit._columns if one["file"]}
    values["c1"] = 1.0 if found["c1"] is None else found["c1"]
    if model is not None:
        values["model"] = _numbers(_table(model)["model"])
    return Fit(**values)


def _weighted(found, model=None, **more):
    return Weights(fit=_fit(found, model), validation=_or_nan(found["validation_chi2"]),
                   validation_error=_or_nan(found["validation_error"]), effective=found["effective_members"], **more)


def _minimal(folder, found, values):
    if "minimal" not in found:
        values.update(minimal=[], minimal_chosen=None)
        return
    table = _table(folder / "minimal_ensemble.tsv")
    members, frames, weights = (_numbers(table[name]) for name in ("members", "frame", "weight"))
    sizes = [one["members"] for one in found["minimal"]]
    values["minimal_chosen"] = sizes.index(found["minimal_chosen"])
    values["minimal"] = [
        _weighted(one, folder / "minimal_fit.tsv" if size == found["minimal_chosen"] else None,
                  frames=frames[members == size].astype(np.int64), weights=weights[members == size],
                  exhaustive=one["all_sets_fitted"]) for size, one in zip(sizes, found["minimal"])]


def _reweighted(folder, found, values):
    scan = found.get("maximum_entropy", [])
    thetas = [one["theta"] for one in scan]
    values.update(thetas=np.array(thetas, dtype=np.float64), reweighted=[], reweighted_chosen=None)
    if not scan:
        return
    table, chosen = _table(folder / "weights.tsv"), thetas.index(found["theta_chosen"])
    frames, weights = _numbers(table["frame"], np.int64), _numbers(table["weight"])
    values["reweighted_chosen"] = chosen
    of_chosen = {"weights": weights, "model": folder / "reweighted_fit.tsv"}
    values["reweighted"] = [_weighted(one, frames=frames, exhaustive=False, **(of_chosen if n == chosen else {}))
                            for n, one in enumerate(scan)]


def _guinier(folder, found):
    if found["guinier"] is None:
        return None
    used = np.flatnonzero(_numbers(_table(folder / "guinier.tsv")["used"]))
    # Points without a logarithm have no row, so rows are no points.
    q = _numbers(_table(folder / "fit.tsv")["q"])
    if len(q) != len(_table(folder / "guinier.tsv")["used"]):
        used = np.flatnonzero((q >= found["guinier"]["q_min"] * (1 - 1e-7)) &
                              (q <= found["guinier"]["q_max"] * (1 + 1e-7)))
    return {**{name: found["guinier"][name] for name in ("rg", "rg_error", "i0", "i0_error")},
            "first": int(used[0]), "last": int(used[-1])}


def _match_points(path):
    """Those of the molecule and its chains, which the table gives in percent of D2O; NA: there is none."""
    if not path.is_file():
        return []
    table = _table(path)
    names = {"d2o": "match_d2o_percent", "d2o_with_layer": "with_layer_percent"}
    return [{"name": table["name"][n],
             **{name: None if table[column][n] == "NA" else float(table[column][n]) / 100
                for name, column in names.items()},
             **{name: float(table[name][n]) for name in ("volume", "length", "gain")}}
            for n in range(len(table["name"]))]


def _saxs(folder, manifest, values):
    results, parameters = manifest["results"], manifest["parameters"]
    values.update(q=_numbers(_table(folder / "profile.tsv")["q"]), c1=results.get("c1", 1.0))
    if results["frames"] > 1:
        shapes = _table(folder / "frames.tsv")
        values.update(q=np.load(folder / "q.npy"), intensity=np.load(folder / "profiles.npy"), files=shapes["file"],
                      **{name: _numbers(shapes[name]) for name in ("rg", "i0", "dmax")})
    else:
        values.update(intensity=values["mean"][np.newaxis], files=[manifest["inputs"][0]["path"]],
                      **{name: np.array([results[name]], dtype=object if results[name] == "NA" else np.float64)
                         for name in ("rg", "i0", "dmax")})
        values["rg"] = _numbers(map(str, values["rg"]))
    values["match_points"] = _match_points(folder / "match_points.tsv")
    if not (folder / "fit.tsv").is_file():
        values.update(curve=None, fit=None, guinier=None, series=[], joint=None, minimal=[], minimal_chosen=None,
                      reweighted=[], thetas=np.empty(0), reweighted_chosen=None)
        return
    found, curve = _json(folder / "fit.json"), _table(folder / "fit.tsv")
    if not parameters.get("smear"):  # dq is not in the files
        values["curve"] = _pleat.profile_from_arrays(
            *(_numbers(curve[name]) for name in ("q", "intensity", "sigma")), None, "1/angstrom", None)
    values.update(fit=_fit(found["fit"], folder / "fit.tsv"), guinier=_guinier(folder, found), series=[], joint=None)
    if "series" in found:
        values["series"] = [_fit(one, folder / f"series_{n}_fit.tsv")
                            for n, one in enumerate(found["series"]["curves"], 1)]
        values["joint"] = {name: found["series"][name] for name in ("chi2", "chi2_reduced", "points", "parameters")}
    _minimal(folder, found.get("ensemble") or {}, values)
    _reweighted(folder, found.get("ensemble") or {}, values)


def _analysis(folder, manifest, values):
    values["curves"] = dict(_table(folder / "analysis.tsv"))
    values["findings"] = [text for text in values["curves"]["findings"][-1].split("; ") if text not in ("", "NA")]
    values.update({name: math.nan for name, value in values.items() if value in ("NA", "nan")})


def _selection(folder, manifest, values):
    order = np.argsort(_numbers(_table(folder / "scores.tsv")["frame"], np.int64), kind="stable")
    medoids = np.zeros(len(values["clusters"]), dtype=np.int64)
    medoids[values["clusters"]["cluster"]] = _numbers(_table(folder / "clusters.tsv")["medoid"], np.int64)
    residues = []
    if "contacts" in values:
        explained = _table(folder / "explained.tsv")
        residues = list(zip(explained["residue_i"], explained["residue_j"]))
    values.setdefault("contacts", np.empty(0, Selection._of("contacts")["dtype"]))
    values.update(scores=values["scores"][order], medoids=medoids, residues=residues,
                  identity=manifest["results"].get("identity", 0.0))


def _frames(folder):
    topology = next((path for path in (folder / "topology.pdb", folder / "topology.cif") if path.is_file()), None)
    if topology is None:
        raise InputError(f"{folder}: expected topology.pdb or topology.cif, found none")
    return read_ensemble(folder / "frames.dcd", topology=topology)


WHOLE = ("chain", "step", "close_atoms")


def _refinement(folder, manifest, values):
    found = _json(folder / "convergence.json")
    evidence = found.get("evidence", {})
    table = _table(folder / "frames.tsv")
    domains = folder / "domains.txt"
    values.update(
        frames=_frames(folder),
        table={name: _numbers(texts, np.int64 if name in WHOLE else np.float64)
               for name, texts in table.items() if name != "frame"},
        convergence={one["name"]: {"r_hat": float("inf") if one["r_hat"] is None else one["r_hat"],
                                   "effective_size": one["effective_size"], "converged": one["converged"]} for one in found["quantities"]},
        converged=found["converged"], warning=found["remark"], domains=found["domains"], linkers=found["linkers"],
        built=found.get("built", []), symmetry=found.get("symmetry"),
        moves={one["kind"]: (one["proposed"], one["accepted"]) for one in found.get("moves") or []},
        angles=manifest["results"]["angles"], misfit=_misfit(found.get("misfit")),
        found_options=domains.read_text(encoding="utf-8").strip() if domains.is_file() else "",
        log_evidence=evidence.get("log_evidence"), log_evidence_error=evidence.get("error"),
        ancestors=evidence.get("ancestors"), powers=np.array(evidence["powers"]) if evidence else None)


def _or_nan(value):
    return float("nan") if value is None else value


def _misfit(found):
    return None if found is None else {"squares": _or_nan(found["squares"]), "runs": _or_nan(found["runs"]),
                                       "passed": found["passed"], "remark": found["remark"]}


def _listed(path):
    """(text, records, problems) of the table of mutants that came back; its own columns may be any."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        text = file.read()
    separator = re.search(r"(.)(?:pleat_)*prediction_problem[\r\n]", text)[1]
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))[1:]
    width = len(LISTED.names) + 1
    cells = [row[-width:] if row else ["0"] * (width - 1) + [""] for row in rows]
    found = np.empty(len(rows), LISTED)
    for n, name in enumerate(found.dtype.names):
        found[name] = _numbers([row[n] for row in cells])
    return text, found, [row[-1] for row in cells]


LISTED = Mutants._of("listed")["dtype"]
LETTERS = {"protein": "ARNDCQEGHILKMFPSTWYV", "rna": "ACGU", "dna": "ACGT"}


def _mutants(folder, manifest, values):
    results = manifest["results"]
    values.update(energy=tuple(results[name] for name in ("energy", "energy_couplings", "energy_fields")),
                  letters=LETTERS[results["alphabet"]], sequence_names=[], sequence_problems=[], listed_text="",
                  listed=np.empty(0, LISTED), problems=[], correlations={})
    if "sequences" in values:
        table = _table(folder / "sequences.tsv")
        values.update(sequence_names=table["name"],
                      sequence_problems=["" if text == "NA" else text for text in table["problem"]])
    values.setdefault("sequences", np.empty(0, Mutants._of("sequences")["dtype"]))
    if (folder / "listed.csv").is_file():
        values["listed_text"], values["listed"], values["problems"] = _listed(folder / "listed.csv")
        table = _table(folder / "correlations.tsv")
        numbers = (_numbers(table[f"spearman_{kind}"]).tolist() for kind in ("epistatic", "independent", "conservation", "weighted"))
        values["correlations"] = dict(zip(table["column"], zip(map(int, table["count"]), *numbers)))
    values.setdefault("double_positions", np.empty(0, np.int64))
    values.setdefault("double_singles", np.empty((0, 0)))
    values.setdefault("epistasis", np.empty((0, 0, 0), np.float32))


# {command: function(folder, manifest, values)}, which adds attributes to `values` {name: value}.
READERS = {"couplings": _couplings, "mi": _mutual_information, "rmsd": _rmsd, "cluster": _clusters, "saxs": _saxs,
           "select": _selection, "refine": _refinement,
           "mutants": _mutants}


def load(folder):
    """Reads the result in a folder: one that `save` of a result wrote, or a finished run of the program
    (`pleat couplings`, `mi`, `rmsd`, `cluster`, `saxs`, `select`, `refine`, `mutants`).

    Returns pleat.Couplings, MutualInformation, Rmsd, Clusters, Saxs, Analysis, Selection, Refinement or Mutants. The program
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
        kind, texts = COMMANDS[command], texts_of_run(folder)
        if (folder / "analysis.tsv").is_file():
            kind = Analysis
        values = _arrays(folder, _files_of(kind, manifest.get("parameters", {})))
        if manifest.get("saved_from") == "Python":
            _read_state(folder, kind, values)
        else:
            values.update(columns(kind, folder, manifest, values))
            (READERS[command] if kind is not Analysis else _analysis)(folder, manifest, values)
        if kind is Refinement:
            values["saxs"] = load(folder / "saxs") if "saxs" in manifest.get("stages", ()) else None
    except FileNotFoundError as error:
        raise InputError(f"{folder}: expected the folder of a finished run, found no "
                         f"{Path(error.filename).name}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{folder}: cannot read the run: {error}") from error
    return kind(texts=texts, **values)


def _read_state(folder, kind, values):
    with np.load(folder / STATE, allow_pickle=False) as arrays:
        values.update(_decoded(json.loads(arrays["state"].tobytes()), arrays))
    if kind is Refinement:
        values["frames"] = Ensemble(**{**vars(values["frames"]), "xyz": _frames(folder).xyz, "numbers": None})


def _arrays(folder, files):
    """{attribute: array} of the files that are there."""
    values = {}
    for file, names in files.items():
        if (folder / file).is_file():
            found = np.load(folder / file, allow_pickle=False)
            values.update({name: found[key] if key else found for key, name in names.items() if not key or key in found})
    return values
