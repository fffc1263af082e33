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
from .results import Fit, Weights
from .run_tables import LOGO, POSITIONS, SCORES, SELECTED, SEQUENCES, SINGLES


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


def _or_zero(texts):
    """Whole numbers; NA is 0."""
    return np.array([0 if text == "NA" else int(text) for text in texts], dtype=np.int64)


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
        if file in parts and key in parts[file]:
            found[name] = parts[file][key]
        elif file.endswith(".tsv") and (folder / file).is_file() and column["dtype"]:
            tables[file] = tables.get(file) or _table(folder / file)
            found[name] = _numbers(tables[file][key], column["dtype"])
        elif column["type"].endswith("| None"):
            found[name] = None
    return found


def _histogram(folder, manifest):
    return {"histogram": _numbers(_table(folder / "histogram.tsv")["pairs"], np.int64),
            "bin_width": manifest["parameters"]["bin-width"]}


def _couplings(folder, manifest, values):
    results = manifest["results"]
    for name in ("effective_sequences", "objective", "relative_gap", "iterations", "evaluations", "stop_reason"):
        values[name] = results[name]
    is_nucleic = results["alphabet"] != "protein"
    norm = results.get("norm_letters", "residues")
    values["_is_calibrated"] = manifest["parameters"]["apc"] and norm == ("all" if is_nucleic else "residues")
    values["_is_nucleic"] = is_nucleic
    values["_has_given_base_pairs"] = bool(manifest["parameters"].get("secondary"))
    values["device"] = manifest["device"]
    if not (folder / "couplings.npz").exists():
        values["fields"] = values["pairs"] = None
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
    for name in ("mi", "joint_entropy", "normalised", "apc", "asc", "mean", "variance", "z", "exact_p", "tail_p",
                 "fdr", "family_p", "less", "equal", "pair_rows"):
        values.setdefault(name, None)
    results, columns = manifest["results"], _table(folder / "columns.tsv")
    low = np.array([int(column) - 1 for column, mark in zip(columns["column"], columns["low_entropy"])
                    if mark == "yes"], dtype=np.int64)
    values.update(column_count=results["columns"], sequences=results["sequences"], shuffles=results.get("shuffles", 0),
                  device=manifest["device"], letters="".join(columns["letter"]), low_entropy=low if low.size else None)
    values.update(triples=None, triples_ranked_by=results.get("triples_ranked_by"))
    values.update({name: _numbers(columns[name], np.int64) if name in columns else None
                   for name in ("cliques", "cliques_by_z")})
    if "effective_sequences" not in results:
        values.update(weights=None, effective_sequences=0.0)
    else:
        values["effective_sequences"] = results["effective_sequences"]
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
    results, found = manifest["results"], _table(folder / "clusters.tsv")
    values.setdefault("tree", None)
    found["medoid"] = ["-1" if text == "NA" else text for text in found["medoid"]]
    clusters = _records(found, [("size", np.int64), ("medoid", np.int64), ("mean", np.float64),
                                ("radius", np.float64), ("silhouette", np.float64)])
    centres = found["centre"]
    values.update(centres=None if "NA" in centres else _numbers(centres, np.int64), sweep=None, sweep_of=None,
                  peaks=None, rounds=None, chains=None, cutoff=results.get("cutoff"),
                  is_trajectory=results.get("trajectory") == "yes")
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
        table = _table(folder / "sweep.tsv")
        values["sweep_of"] = next(iter(table))
        values["sweep"] = _records(table, [("value", np.float64), ("clusters", np.int64), ("largest", np.int64),
                                           ("noise", np.int64), ("silhouette", np.float64)], value=values["sweep_of"])
    if (folder / "peaks.tsv").is_file():
        table = _table(folder / "peaks.tsv")
        table["denser"] = ["-1" if text == "NA" else text for text in table["denser"]]
        values["peaks"] = _records(table, [("density", np.int64), ("denser", np.int64), ("separation", np.float64)])
    if (folder / "rounds.tsv").is_file():
        table = _table(folder / "rounds.tsv")
        table["round"] = ["0" if text == "NA" else text for text in table["round"]]
        values["rounds"] = _records(table, [("round", np.int64), ("mean", np.float64)])
    values.update(clusters=clusters, silhouette=results.get("silhouette"), device=manifest["device"],
                  method=manifest["parameters"].get("method", "assign"), **_histogram(folder, manifest),
                  **{name: results[name] for name in ("min", "mean", "max")})


FIT = ("scale", "background", "c1_at_bound", "c2_at_bound", "chi2", "chi2_reduced", "points", "parameters")


def _fit(found, model=None):
    """A fit of fit.json; most of them come without their model."""
    values = {name: found[name] for name in FIT}
    values.update(c1=1.0 if found["c1"] is None else found["c1"], c2=found["c2"])
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
    profile = _table(folder / "profile.tsv")
    values.update(q=_numbers(profile["q"]), mean=_numbers(profile["intensity"]), frames=results["frames"],
                  scatterers=results["scatterers"], model=results["model"], c1=results.get("c1", 1.0),
                  c2=results["c2"], bin_width=parameters["bin-width"], device=manifest["device"], pr=None)
    if (folder / "pr.tsv").is_file():
        values["pr"] = _numbers(_table(folder / "pr.tsv")["p"])
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


RECORDS = [("cluster", np.int64), ("size", np.int64), ("selected", np.int64), ("best_frame", np.int64),
           ("joint", np.float64), ("when_selected", np.float64), ("contacts", np.float64),
           ("unexplained", np.float64), ("density", np.float64), ("chi2", np.float64), ("min_chi2", np.float64),
           ("added", np.float64)]


def _selection(folder, manifest, values):
    results, table = manifest["results"], _table(folder / "scores.tsv")
    order = np.argsort(_numbers(table["frame"], np.int64), kind="stable")
    scores = np.empty(len(order), dtype=[("position", np.int64), ("cluster", np.int32)] + [
        (name, np.float64) for name in list(SCORES.values())[1:]])
    scores["position"] = _numbers(table["place"], np.int64)[order]
    for name, field in SCORES.items():
        scores[field] = _numbers(table[name])[order]
    table = _table(folder / "clusters.tsv")
    clusters = np.empty(len(table["cluster"]), dtype=RECORDS)
    for field, column in (("cluster", "cluster"), ("size", "size"), ("best_frame", "best")):
        clusters[field] = _numbers(table[column], np.int64)
    clusters["selected"] = _or_zero(table["selected"])
    for name, field in SELECTED.items():
        clusters[field] = _numbers(table[name])
    medoids = np.zeros(len(clusters), dtype=np.int64)
    medoids[clusters["cluster"]] = _numbers(table["medoid"], np.int64)
    explained = _table(folder / "explained.tsv") if (folder / "explained.tsv").is_file() else {
        name: [] for name in ("i", "j", "strength", "explained_by", "residue_i", "residue_j")}
    contacts = np.empty(len(explained["i"]), dtype=[("i", np.int64), ("j", np.int64), ("strength", np.float64),
                                                    ("explained_by", np.int64)])
    for end in "ij":
        contacts[end] = _numbers(explained[end], np.int64) - 1
    contacts["strength"], contacts["explained_by"] = _numbers(explained["strength"]), _or_zero(
        explained["explained_by"])
    values.update(scores=scores, clusters=clusters, medoids=medoids, contacts=contacts, cutoff=results["cutoff"],
                  residues=list(zip(explained["residue_i"], explained["residue_j"])), chain=results.get("chain"),
                  identity=results.get("identity", 0.0))


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


def _residue_records(path, names):
    """A table of mutants as records in the order of the library's: letters as S1, columns of the source from 0."""
    table = _table(path)
    kinds = {"pos": np.int64, "column": np.int64, "wt": "S1", "subs": "S1", "letter": "S1"}
    fields = [(field, kinds.get(name, np.float64)) for name, field in names.items()]
    order = ["pos", "column", "wt", "subs", "letter", "frequency", "information", "height", "conservation", "epistatic",
             "couplings", "fields", "independent"]
    fields.sort(key=lambda one: order.index(one[0]) if one[0] in order else len(order))
    found = np.empty(len(table["column"]), dtype=np.dtype(fields, align=True))
    for name, field in names.items():
        is_letter = kinds.get(name) == "S1"
        found[field] = table[name] if is_letter else _numbers(table[name], found.dtype[field])
    found["column"] -= 1
    return found


def _listed(path):
    """(text, records, problems) of the table of mutants that came back; its own columns may be any."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        text = file.read()
    separator = re.search(r"(.)(?:pleat_)*prediction_problem[\r\n]", text)[1]
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))[1:]
    cells = [row[-5:] if row else ["0", "0", "0", "0", ""] for row in rows]
    found = np.empty(len(rows), dtype=[(name, np.float64) for name in ("epistatic", "independent", "percentile", "z")])
    for n, name in enumerate(found.dtype.names):
        found[name] = _numbers([row[n] for row in cells])
    return text, found, [row[4] for row in cells]


def _sequence_energies(path):
    """{attribute: value} of the energies of sequences."""
    if not path.is_file():
        return {"sequences": np.empty(0, SEQUENCE), "sequence_names": [], "sequence_problems": []}
    table = _table(path)
    return {"sequences": _records(table, SEQUENCE, **{field: name for name, field in SEQUENCES.items()}),
            "sequence_names": table["name"],
            "sequence_problems": ["" if text == "NA" else text for text in table["problem"]]}


SEQUENCE = [(field, np.int64 if field in ("residues", "gaps", "inserted") else np.float64) for field in SEQUENCES.values()]
LETTERS = {"protein": "ARNDCQEGHILKMFPSTWYV", "rna": "ACGU", "dna": "ACGT"}


def _mutants(folder, manifest, values):
    results = manifest["results"]
    values.update({name: results[name] for name in ("target", "first_number", "effective_sequences")},
                  energy=tuple(results[name] for name in ("energy", "energy_couplings", "energy_fields")),
                  independent_energy=results["energy_independent"], letters=LETTERS[results["alphabet"]],
                  singles=_residue_records(folder / "singles.tsv", SINGLES),
                  positions=_residue_records(folder / "positions.tsv", POSITIONS),
                  logo=_residue_records(folder / "logo.tsv", LOGO), **_sequence_energies(folder / "sequences.tsv"))
    values.update(listed_text="", listed=np.empty(0, [(name, np.float64) for name in (
        "epistatic", "independent", "percentile", "z")]), problems=[], correlations={})
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
