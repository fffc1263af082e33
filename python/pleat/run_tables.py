# Run tables: the tables and facts that the program writes into a run's folder, made from results.
"""What pleat.report and other programs read in the folders that `save` writes."""
import json
import math

import numpy as np

from . import _pleat
from .mutation_effects import Mutants
from .results import TREE_NUMBERS, Clusters, Couplings, Fit, MutualInformation, Refinement, Rmsd, Saxs, Selection

TOP = 1000  # rows of tables of pairs and triples, as the program's --top
MAX_LEAVES = 20000  # of trees


def table_text(columns):
    """A table as the program writes it: NaN is NA."""
    rows = zip(*([_cell(value) for value in np.asarray(values).tolist()] for values in columns.values()))
    return "\n".join(["\t".join(columns), *("\t".join(row) for row in rows)]) + "\n"


def _cell(value):
    if isinstance(value, float):
        return "NA" if math.isnan(value) else f"{value:.9g}"
    if isinstance(value, bool):
        return str(int(value))
    return "NA" if value is None else str(value).translate({9: " ", 10: " ", 13: " "})


def known(result, name):
    """An attribute; None also if it is not known."""
    try:
        return getattr(result, name)
    except AttributeError:
        return None


def in_table(result, file):
    """{column: values} that a table of the program has of the result's own columns."""
    table = {}
    for name, key, one in result._places(result._known()):
        values = known(result, one["name"]) if name == file and one["name"] else None
        if values is not None and one["fields"]:
            table.update({known(result, column[1:-1]) or "value" if column[0] == "{" else column:
                          _shown(values[field], *counted) for field, column, *counted in one["fields"] if column != "-"})
        elif values is not None:
            table[key] = values
    return table


def _shown(values, first, missing):
    """The values of a field as a table has them: letters as texts, numbers from `first`, None in place of `missing`."""
    if values.dtype.kind == "S":
        return values.astype("U1")
    if missing is not None:
        return [None if value == missing else value for value in values.tolist()]
    return values + first if first else values


def inserted(table, before, more):
    """The columns of a table with `more` before one of them."""
    names = list(table)
    at = names.index(before)
    return {**{name: table[name] for name in names[:at]}, **more, **{name: table[name] for name in names[at:]}}


def _letters(result, columns):
    """Letters of the first sequence at columns of the source, from 0."""
    letters = dict(zip(result.columns.tolist(), known(result, "letters") or "?" * len(result.columns)))
    return [letters[column] for column in columns.tolist()]


def _couplings(result):
    found = result.contacts()
    return {"contacts.tsv": {
        "rank": np.arange(1, len(found) + 1), "i": found["i"] + 1, "j": found["j"] + 1,
        "letter_i": _letters(result, found["i"]), "letter_j": _letters(result, found["j"]),
        **{name: found[name] for name in ("raw", "corrected", "z", "probability")}}}


def _sampled(result):
    """{column: values} of the shuffles."""
    if result.sampled is None:
        return {}
    names = {name: f"sampled_{name}" for name in ("mean", "variance", "skewness", "z")}
    return {names.get(name, name): result.sampled[name] for name in result.sampled.dtype.names}


def _best(values, count=TOP):
    """Positions of the largest values, NaN last."""
    return np.argsort(-np.where(np.isnan(values), -np.inf, values), kind="stable")[:count]


def _information(result):
    columns = {name: getattr(result, name) for name in ("mi", "joint_entropy", "normalised", "apc", "asc", "mean",
                                                        "variance", "z")}
    columns.update(_sampled(result))
    columns.update({name: getattr(result, name) for name in ("exact_p", "tail_p", "fdr", "family_p")})
    columns.update(n_less=result.less, n_equal=result.equal, **{name: known(result, name) for name in TREE_NUMBERS})
    columns = {name: values for name, values in columns.items() if values is not None}
    rows, others = np.triu_indices(len(result.columns), 1)
    best = _best(next(columns[name] for name in ("tree_score", "z", "sampled_z", "apc")
                      if name in columns))
    i, j = result.columns[rows[best]], result.columns[others[best]]
    tables = {"pairs.tsv": {"rank": np.arange(1, len(best) + 1), "i": i + 1, "j": j + 1,
                            "letter_i": _letters(result, i), "letter_j": _letters(result, j),
                            **{name: values[best] for name, values in columns.items()}}}
    low = known(result, "low_entropy")
    if known(result, "entropy") is not None and low is not None:
        tables["columns.tsv"] = {"column": result.columns + 1, "letter": _letters(result, result.columns),
                                 "mi": result.entropy, "low_entropy": np.where(
                                     np.isin(result.columns, low), "yes", "no")}
        if known(result, "substitutions") is not None:
            tables["columns.tsv"]["substitutions"] = result.substitutions
    if result.triples is not None:
        tables["triples.tsv"] = _triples(result, low)
    return tables


def _triples(result, low):
    """The best of the triples without columns of low entropy."""
    triples = result.triples["columns"]
    key = np.array(result.triples.get(result.triples_ranked_by, result.triples["mi"]), dtype=np.float64)
    if low is not None:
        key[np.isin(triples, low).any(axis=1)] = np.nan
    best = _best(key)
    best = best[~np.isnan(key[best])]
    table = {"rank": np.arange(1, len(best) + 1)}
    table.update({name: triples[best, n] + 1 for n, name in enumerate("ijk")})
    table.update({f"letter_{name}": _letters(result, triples[best, n]) for n, name in enumerate("ijk")})
    table.update({name: values[best] for name, values in result.triples.items() if name != "columns"})
    return table


def _histogram(result):
    width = known(result, "bin_width")
    if width is None or result.histogram is None:
        return {}
    edges = np.arange(len(result.histogram) + 1) * width
    return {"histogram.tsv": {"from": edges[:-1], "to": edges[1:], "pairs": result.histogram}}


def _rmsd(result):
    tables = _histogram(result)
    if result.values is not None:
        tables["reference.tsv"] = {"frame": np.arange(result.frames), **in_table(result, "reference.tsv")}
    return tables


def _clusters(result):
    groups, items = result.clusters, result.assignment
    centres = known(result, "centres")
    series = known(result, "series")
    lengths = np.array([len(items)]) if series is None else series
    steps = _pleat.transitions(items, lengths, 1)
    table = inserted(in_table(result, "clusters.tsv"), "size", {"cluster": np.arange(len(groups))})
    tables = {"clusters.tsv": {
        **inserted(table, "medoid", {"share": groups["size"] / max(len(items), 1)}),
        "centre": [None] * len(groups) if centres is None else centres},
        "transitions.tsv": {name: steps[name] for name in ("from", "to", "count")},
        "series.tsv": {"first": np.cumsum(lengths) - lengths, "frames": lengths}, **_histogram(result)}
    if known(result, "is_trajectory") and (lengths > 1).any():
        tables.update(_states(result))
    chains = known(result, "chains")
    if chains is not None:
        frames = len(items) // len(chains)
        tables["clusters.tsv"].update(medoid_frame=groups["medoid"] % frames,
                                      medoid_chain=[chains[n] for n in groups["medoid"] // frames])
        tables["chains.tsv"], tables["combinations.tsv"] = result._chains_table(), result._combinations_table()
    number, own = {"item": np.arange(len(items))}, {"cluster": items}
    for file, before, after in (("peaks.tsv", number, own), ("rounds.tsv", number, {}), ("sweep.tsv", {}, {})):
        table = in_table(result, file)
        if table:
            tables[file] = {**before, **table, **after}
    return tables


def _states(result):
    """Transitions and dwell times of a trajectory, in frames."""
    steps, dwells, times = result.transitions(), result.dwells(), result.dwell_times()
    lengths = {name: times[name] for name in ("mean", "median", "longest")}
    return {"transition_probabilities.tsv": {name: steps[name] for name in steps.dtype.names},
            "dwell_distribution.tsv": {name: dwells[name] for name in dwells.dtype.names},
            "dwell_times.tsv": {"cluster": times["cluster"], "frames": times["items"], "visits": times["visits"],
                                **lengths, "cut": times["cut"], "longest_cut": times["longest_cut"]}}


def newick(tree):
    """SciPy's linkage as text: the path between two leaves has the length at which they merge."""
    count = len(tree) + 1
    texts, heights = [str(n) for n in range(count)], [0.0] * count
    for first, second, height, _ in tree.tolist():
        ends = [int(first), int(second)]
        texts.append("(" + ",".join(f"{texts[n]}:{max(height - heights[n], 0) / 2:.6g}" for n in ends) + ")")
        heights.append(height)
        texts[ends[0]] = texts[ends[1]] = ""
    return texts[-1] + ";\n"


def fit_table(curve, fit):
    return {"q": curve.q, "intensity": curve.intensity, "sigma": curve.sigma, "model": fit.model,
            "residual": (curve.intensity - fit.model) / curve.sigma}


def _guinier(curve, model, guinier):
    used = np.zeros(len(curve), dtype=np.int64)
    if guinier is not None:
        used[guinier["first"]:guinier["last"] + 1] = 1
    rows = (curve.intensity > 0) & (model > 0)
    q, intensity = curve.q[rows], curve.intensity[rows]
    return {"q2": q * q, "ln_intensity": np.log(intensity), "sigma": curve.sigma[rows] / intensity,
            "ln_model": np.log(model[rows]), "used": used[rows]}


def _kratky(curve, model, guinier):
    name, length, height = ("q", 1, 1) if guinier is None else ("q_rg", guinier["rg"], guinier["i0"])
    x = curve.q * length
    return {name: x, "kratky": x * x / height * curve.intensity, "sigma": x * x / height * curve.sigma,
            "model": x * x / height * model}


def _scattering(result):
    tables = {"profile.tsv": {"q": result.q, "intensity": result.mean}}
    if result.pr is not None:
        edges = np.arange(len(result.pr) + 1) * result.bin_width
        tables["pr.tsv"] = {"from": edges[:-1], "to": edges[1:], "p": result.pr}
    if result.frames > 1:
        tables["frames.tsv"] = {"frame": np.arange(result.frames), "file": result.files, "rg": result.rg,
                                "i0": result.i0, "dmax": result.dmax}
    curve, fit = result.curve, result.fit
    if fit is None:
        return tables
    tables["fit.tsv"] = fit_table(curve, fit)
    tables["guinier.tsv"] = _guinier(curve, fit.model, result.guinier)
    tables["kratky.tsv"] = _kratky(curve, fit.model, result.guinier)
    if result.minimal:
        sizes = [len(one.frames) for one in result.minimal]
        chosen = result.minimal[result.minimal_chosen]
        tables["minimal_ensemble.tsv"] = {
            "members": np.repeat(sizes, sizes),
            "chosen": np.repeat(np.arange(len(sizes)) == result.minimal_chosen, sizes).astype(np.int64),
            "frame": np.concatenate([one.frames for one in result.minimal]),
            "weight": np.concatenate([one.weights for one in result.minimal])}
        best = min(result.minimal, key=lambda one: one.validation)
        limit = best.validation + best.validation_error
        tables["ensemble_sizes.tsv"] = {
            "members": np.array(sizes),
            "chosen": (np.arange(len(sizes)) == result.minimal_chosen).astype(np.int64),
            "near_best": np.array([one.validation <= limit for one in result.minimal], dtype=np.int64),
            "chi2": np.array([one.fit.chi2 for one in result.minimal]),
            "validation_chi2": np.array([one.validation for one in result.minimal]),
            "validation_error": np.array([one.validation_error for one in result.minimal])}
        if known(chosen.fit, "model") is not None:
            tables["minimal_fit.tsv"] = fit_table(curve, chosen.fit)
    if result.reweighted:
        chosen = result.reweighted[result.reweighted_chosen]
        tables["weights.tsv"] = {"frame": chosen.frames, "weight": chosen.weights}
        if known(chosen.fit, "model") is not None:
            tables["reweighted_fit.tsv"] = fit_table(curve, chosen.fit)
    return tables


FIT = [one["name"] for one in Fit._columns if one["file"]]


def _weighted(one):
    return {**_numbers_of(one.fit, FIT), "members": len(one.frames), "effective_members": number(one.effective),
            "validation_chi2": number(one.validation), "validation_error": number(one.validation_error)}


def _numbers_of(result, names):
    return {name: number(getattr(result, name)) for name in names}


def fit_json(result):
    """What fit.json holds."""
    found = {"model": result.model, "fit": _numbers_of(result.fit, FIT), "guinier": None}
    guinier = result.guinier
    if guinier is not None:
        found["guinier"] = {**{name: guinier[name] for name in ("rg", "rg_error", "i0", "i0_error")},
                            "q_min": float(result.curve.q[guinier["first"]]),
                            "q_max": float(result.curve.q[guinier["last"]])}
    if result.series:
        found["series"] = {"curves": [_numbers_of(one, FIT) for one in result.series], **result.joint}
    if result.minimal or result.reweighted:
        found["ensemble"] = {}
    if result.minimal:
        found["ensemble"].update(minimal=[_weighted(one) for one in result.minimal],
                                 minimal_chosen=len(result.minimal[result.minimal_chosen].frames))
    if result.reweighted:
        thetas = result.thetas.tolist()
        found["ensemble"].update(
            maximum_entropy=[{**_weighted(one), "theta": theta} for one, theta in zip(result.reweighted, thetas)],
            theta_chosen=thetas[result.reweighted_chosen])
    return found


def _selection(result):
    scores, clusters = result.scores, result.clusters
    order = np.argsort(scores["position"], kind="stable")
    table = {name: np.asarray(values)[order] for name, values in in_table(result, "scores.tsv").items()}
    tables = {"scores.tsv": inserted(table, "cluster", {"frame": order}),
              "clusters.tsv": inserted(in_table(result, "clusters.tsv"), "best", {
                  "share": clusters["size"] / len(scores), "medoid": result.medoids[clusters["cluster"]]})}
    if len(result.contacts) == 0:
        return tables
    names = list(zip(*result.residues))
    table = inserted(in_table(result, "explained.tsv"), "strength", {"residue_i": names[0], "residue_j": names[1]})
    formed = known(result, "formed")
    if formed is not None:
        table["all"] = formed.mean(axis=0)
        for one in clusters[clusters["selected"] > 0]:
            table[f"selected_{one['selected']}"] = formed[scores["cluster"] == one["cluster"]].mean(axis=0)
    return {**tables, "explained.tsv": table}


def _refinement(result):
    return {"frames.tsv": {"frame": np.arange(len(result.frames)), **result.table}}


def _mutants(result):
    singles, positions, logo = (in_table(result, f"{name}.tsv") for name in ("singles", "positions", "logo"))
    residue = dict(zip(positions["column"].tolist(), zip(positions["pos"].tolist(), positions["wt"].tolist())))
    own = [residue.get(column, (None, "-")) for column in logo["column"].tolist()]
    tables = {"singles.tsv": {"mutant": result._singles_table()["mutant"], **singles}, "positions.tsv": positions,
              "logo.tsv": inserted(logo, "letter", {"pos": [one[0] for one in own], "wt": [one[1] for one in own]})}
    if result.listed_text:
        found = result.correlations
        tables["correlations.tsv"] = {"column": list(found), **{
            name: [one[n] for one in found.values()]
            for n, name in enumerate(("count", "spearman_epistatic", "spearman_independent"))}}
    if len(result.sequences) > 0:
        tables["sequences.tsv"] = {"name": result.sequence_names, **in_table(result, "sequences.tsv"),
                                   "problem": [text or None for text in result.sequence_problems]}
    return tables


TABLES = {Couplings: _couplings, MutualInformation: _information, Rmsd: _rmsd, Clusters: _clusters, Saxs: _scattering,
          Selection: _selection, Refinement: _refinement, Mutants: _mutants}


def texts(result):
    """{file: text} of what the program writes beside tables and arrays."""
    found = {}
    if isinstance(result, Saxs) and result.fit is not None:
        found["fit.json"] = json.dumps(fit_json(result), indent=2) + "\n"
    elif isinstance(result, Refinement):
        found["convergence.json"] = json.dumps(convergence(result), indent=2) + "\n"
        if result.found_options:
            found["domains.txt"] = result.found_options + "\n"
    elif isinstance(result, Mutants) and result.listed_text:
        found["listed.csv"] = result.listed_text
    elif isinstance(result, Clusters) and result.tree is not None and len(result.tree) < MAX_LEAVES:
        found["tree.nwk"] = newick(result.tree)
    return found


def convergence(result):
    """What convergence.json holds."""
    return {"converged": result.converged, "remark": result.warning, "domains": result.domains,
            "linkers": result.linkers, **({"built": result.built} if result.built else {}),
            "quantities": [{"name": name, **{key: number(value) for key, value in one.items()}}
                           for name, one in result.convergence.items()],
            "moves": [{"kind": kind, "proposed": proposed, "accepted": accepted}
                      for kind, (proposed, accepted) in result.moves.items()],
            **{name: getattr(result, name).tolist() for name in ("powers", "swap_probabilities")
               if getattr(result, name) is not None},
            **({} if result.arrivals is None else {"arrivals": result.arrivals}),
            **({} if result.misfit is None else {"misfit": result.misfit})}


def number(value):
    """For JSON, which has no NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _root_mean_square(values):
    return math.sqrt(float(np.mean(np.square(values))))


def _own_facts(result):
    """{name: value} of the attributes that the program's manifest has among its results."""
    return {key: known(result, one["name"]) for file, key, one in result._places({})
            if file == "results" and one["name"]}


def facts(result):
    """What the program's manifest says of the results: numbers and texts."""
    if isinstance(result, Couplings):
        return {"sequences": len(result.weights), "columns": len(result.columns), **_own_facts(result)}
    if isinstance(result, MutualInformation):
        weights, low, cliques = (known(result, name) for name in ("weights", "low_entropy", "cliques"))
        found = {"sequences": result.sequences, "columns": result.column_count, "pairs": len(result.mi),
                 "low_entropy_columns": None if low is None else len(low), "shuffles": result.shuffles}
        if result.triples is not None:
            found.update(triples=len(result.triples["columns"]), triples_ranked_by=result.triples_ranked_by,
                         cliques=None if cliques is None else int(cliques.sum()) // 3)
        return found
    if isinstance(result, Rmsd):
        return _own_facts(result)
    if isinstance(result, Clusters):
        sizes = result.clusters["size"]
        return {"items": len(result.assignment), "clusters": len(sizes),
                "largest": int(sizes.max(initial=0)), "noise": int(np.count_nonzero(result.assignment < 0)),
                "silhouette": result.silhouette, "cutoff": known(result, "cutoff"),
                "frames": len(result.assignment) // len(result.chains) if known(result, "chains") else None,
                **{name: getattr(result, name) for name in ("min", "mean", "max")}}
    if isinstance(result, Saxs):
        fit = result.fit
        return {"model": result.model, "frames": result.frames, "scatterers": result.scatterers,
                "rg": _root_mean_square(result.rg), "i0": float(np.mean(result.i0)), "dmax": float(np.max(result.dmax)),
                "c1": result.c1, "c2": result.c2,
                **({} if fit is None else {"chi2": fit.chi2, "chi2_reduced": fit.chi2_reduced, "scale": fit.scale,
                                           "background": fit.background, "curve_points": fit.points})}
    if isinstance(result, Mutants):
        return {"target": result.target, "first_number": result.first_number, "residues": len(result.positions),
                "singles": len(result.singles), "listed": len(result.listed),
                "effective_sequences": result.effective_sequences}
    if isinstance(result, Selection):
        return {"contacts": len(result.contacts), "chain": result.chain, "identity": result.identity,
                "frames": len(result.scores), "clusters": len(result.clusters),
                "selected": int(np.count_nonzero(result.clusters["selected"])), "cutoff": result.cutoff,
                "best_frame": int(np.argmin(result.scores["position"]))}
    return {"frames": len(result.frames), "atoms": result.frames.shape[1],
            "angles": result.angles, "domains": len(result.domains), "converged": "yes" if result.converged else "no",
            "remark": result.warning}


def parameters(result):
    """The options of the program that its page reads."""
    names = {Rmsd: "metric", Clusters: "method"}
    name = names.get(type(result))
    return {} if name is None or known(result, name) is None else {name: known(result, name)}
