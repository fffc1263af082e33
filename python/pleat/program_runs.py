# Program runs: results from the files of the program's finished runs.
"""READERS: {command: function(folder, manifest, values)}, which adds attributes to `values` {name: value}."""
import csv
import io
import json
import re

import numpy as np

from . import _pleat
from .ensemble import read_ensemble
from .errors import InputError
from .mutation_effects import Mutants
from .results import Fit, Selection, Weights


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


def _records(table, fields, /, **columns):
    """Columns of a table as records; `columns`: {field: column of another name}."""
    found = np.empty(len(next(iter(table.values()))), dtype=fields)
    for name, kind in fields:
        found[name] = _numbers(table[columns.get(name, name)], kind)
    return found


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
    contacts = _table(folder / "contacts.tsv")
    _base_pairs_and_parts(folder, contacts, values)
    letters = {int(column) - 1: letter for end in "ij" for column, letter in
               zip(contacts[end], contacts[f"letter_{end}"])}
    if all(column in letters for column in values["columns"].tolist()):
        values["letters"] = "".join(letters[column] for column in values["columns"].tolist())


def _base_pairs_and_parts(folder, contacts, values):
    """What a run of a nucleic acid or of several parts has besides; a file of base pairs lists those that are
    --min-separation apart."""
    values["base_pairs"] = values["parts"] = values["inter_contacts"] = None
    if "class" in contacts:
        pairs = sorted((int(i) - 1, int(j) - 1) for i, j, kind in
                       zip(contacts["i"], contacts["j"], contacts["class"]) if kind == "helix")
        values["base_pairs"] = np.array(pairs, np.int64).reshape(-1, 2)
    if not (folder / "contacts_inter.tsv").is_file():
        return
    inter = _table(folder / "contacts_inter.tsv")
    part_of = {int(column) - 1: name for end in "ij" for column, name in zip(inter[end], inter[f"part_{end}"])}
    values["parts"] = [part_of[column] for column in values["columns"].tolist()]
    scores = ("raw", "corrected", "block_corrected", "z", "evcomplex", "evcomplex_block", "gremlin", "fdr")
    found = np.empty(len(inter["i"]), [("i", np.int64), ("j", np.int64), *((name, np.float64) for name in scores)])
    for end in "ij":
        found[end] = _numbers(inter[end], np.int64) - 1
    for name in scores:
        found[name] = _numbers(inter[name])
    values["inter_contacts"] = found


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
    tree = folder / "tree.nwk"
    values.update(tree=tree.read_text(encoding="utf-8") if tree.is_file() else None,
                  substitutions=_numbers(columns["substitutions"], np.int64) if "substitutions" in columns else None)
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
        names = {"mean": "sampled_mean", "variance": "sampled_variance", "skewness": "sampled_skewness",
                 "z": "sampled_z", "percentile": "percentile", "p": "p", "p_strict": "p_strict"}
        values["sampled"] = np.rec.fromarrays([found[name] for name in names.values()], names=list(names)).view(
            np.ndarray)


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


def _weighted(found, frames, weights, model=None, **more):
    return Weights(frames=frames, weights=weights, fit=_fit(found, model), validation=_or_nan(found["validation_chi2"]),
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
        _weighted(one, frames[members == size].astype(np.int64), weights[members == size],
                  folder / "minimal_fit.tsv" if size == found["minimal_chosen"] else None,
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
    values["reweighted"] = [
        _weighted(one, frames, weights, folder / "reweighted_fit.tsv", exhaustive=False) if n == chosen else
        Weights(frames=frames, fit=_fit(one), validation=_or_nan(one["validation_chi2"]),
                validation_error=_or_nan(one["validation_error"]), effective=one["effective_members"], exhaustive=False)
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


WHOLE = ("chain", "step", "replica", "close_atoms")


def _refinement(folder, manifest, values):
    found = _json(folder / "convergence.json")
    topology = next((path for path in (folder / "topology.pdb", folder / "topology.cif") if path.is_file()), None)
    if topology is None:
        raise InputError(f"{folder}: expected topology.pdb or topology.cif, found none")
    table = _table(folder / "frames.tsv")
    domains = folder / "domains.txt"
    values.update(
        frames=read_ensemble(folder / "frames.dcd", topology=topology),
        table={name: _numbers(texts, np.int64 if name in WHOLE else np.float64)
               for name, texts in table.items() if name != "frame"},
        convergence={one["name"]: {"r_hat": float("inf") if one["r_hat"] is None else one["r_hat"],
                                   "effective_size": one["effective_size"], "converged": one["converged"]} for one in found["quantities"]},
        converged=found["converged"], warning=found["remark"], domains=found["domains"], linkers=found["linkers"],
        built=found.get("built", []),
        moves={one["kind"]: (one["proposed"], one["accepted"]) for one in found.get("moves") or []},
        angles=manifest["results"]["angles"], misfit=_misfit(found.get("misfit")), arrivals=found.get("arrivals"),
        found_options=domains.read_text(encoding="utf-8").strip() if domains.is_file() else "",
        **{name: np.array(found[name]) if name in found else None for name in ("powers", "swap_probabilities")})


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
    cells = [row[-5:] if row else ["0", "0", "0", "0", ""] for row in rows]
    found = np.empty(len(rows), LISTED)
    for n, name in enumerate(found.dtype.names):
        found[name] = _numbers([row[n] for row in cells])
    return text, found, [row[4] for row in cells]


LISTED = [(name, np.float64) for name in ("epistatic", "independent", "percentile", "z")]
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
        numbers = (_numbers(table[f"spearman_{kind}"]).tolist() for kind in ("epistatic", "independent"))
        values["correlations"] = dict(zip(table["column"], zip(map(int, table["count"]), *numbers)))
    values.setdefault("double_positions", np.empty(0, np.int64))
    values.setdefault("double_singles", np.empty((0, 0)))
    values.setdefault("epistasis", np.empty((0, 0, 0), np.float32))


READERS = {"couplings": _couplings, "mi": _mutual_information, "rmsd": _rmsd, "cluster": _clusters, "saxs": _saxs,
           "select": _selection, "refine": _refinement,
           "mutants": _mutants}
