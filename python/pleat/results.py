# Results: the classes of what the engines' functions return.
"""Couplings, MutualInformation, Rmsd, Clusters, Saxs and their parts."""
import math

import numpy as np

from . import _pleat
from .column_results import ColumnResult, Couplings, residues_of
from .errors import UsageError
from .result import PARTS, Attribute, Result, counted, item_count, records_table


class MutualInformation(ColumnResult):
    """What pleat.mutual_information returns, with L columns after filtering.

    Arrays that were not requested are None. [pair]: all pairs i < j in row order (see pleat.square).
    numpy.asarray(result) is `mi`; to_dataframe() is a table of pairs, to_dataframe('triples') of triples.
    """

    columns = Attribute("int64 [L], the number of each column in the source alignment, from 0")
    letters = Attribute("str [L], of the first sequence of the alignment in these columns")
    mi = Attribute("float64 [pair], bits")
    joint_entropy = Attribute("float64 [pair], bits")
    normalised = Attribute("float64 [pair], mi / joint_entropy")
    apc = Attribute("float64 [pair], mi minus the average product")
    asc = Attribute("float64 [pair], mi minus the average sum")
    mean = Attribute("float64 [pair], of the exact null model")
    variance = Attribute("float64 [pair], of the exact null model")
    z = Attribute("float64 [pair], standard deviations above the mean of the exact null model")
    exact_p = Attribute("float64 [pair], probability of mi or more in the exact null model")
    tail_p = Attribute("float64 [pair]; see the README of the engine")
    fdr = Attribute("float64 [pair], false discovery rate; see the README of the engine")
    family_p = Attribute("float64 [pair]; see the README of the engine")
    sampled = Attribute("records [pair] (mean, variance, skewness, z, percentile, p, p_strict) of the shuffles")
    less = Attribute("uint32 [pair], number of shuffles with a smaller mi")
    equal = Attribute("uint32 [pair], number of shuffles with an equal mi")
    pair_rows = Attribute("int64 [pair], rows counted if gaps are omitted")
    entropy = Attribute("float64 [L], bits")
    low_entropy = Attribute("int64, columns of the source")
    column_count = Attribute("L")
    sequences = Attribute("number of sequences that were counted")
    shuffles = Attribute("number of shuffles")
    weights = Attribute("float64 [sequence]")
    effective_sequences = Attribute("the sum of the weights")
    triples = Attribute("with order=3, dictionary of arrays with `columns` int64 [n, 3], columns of the source")
    kept_triples = Attribute("the same of the triples that were kept")
    triples_ranked_by = Attribute("the array by which triples are ranked")
    cliques = Attribute("int64 [L], number of triples of the clique set that contain each column")
    cliques_by_z = Attribute("the same of the clique set by Z")
    device = Attribute("the device that computed")
    _array_of, _tables = "mi", ("pairs", "triples")

    def _headline(self):
        text = f"{self.column_count} columns, {len(self.mi)} pairs"
        return text if self.triples is None else f"{text}, {len(self.triples['columns'])} triples"

    def _pairs_table(self):
        rows, others = np.triu_indices(len(self.columns), 1)
        i, j = self.columns[rows], self.columns[others]
        table = {"i": i, "j": j, "residue_i": residues_of(self, i), "residue_j": residues_of(self, j)}
        for name in ("mi", "joint_entropy", "normalised", "apc", "asc", "mean", "variance", "z", "tail_p",
                     "exact_p", "fdr", "family_p", "less", "equal", "pair_rows"):
            if getattr(self, name) is not None:
                table[name] = getattr(self, name)
        if self.sampled is not None:
            table.update({f"sampled_{name}": values for name, values in records_table(self.sampled).items()})
        return table

    def _triples_table(self):
        if self.triples is None:
            raise UsageError("expected a result of order=3, found one of pairs alone")
        table = {}
        for name, column in zip("ijk", self.triples["columns"].T):
            table[name] = column
        table.update({f"residue_{name}": residues_of(self, table[name]) for name in "ijk"})
        return {**table, **{name: values for name, values in self.triples.items() if name != "columns"}}


class Rmsd(Result):
    """What pleat.rmsd returns, in angstrom or as the metric counts.

    numpy.asarray(result) is `matrix`, or `values` with a reference. to_dataframe() has a row per pair, or
    per frame with a reference; to_dataframe('neighbours') and ('best') have those of each frame.
    """

    _tables = ("values", "neighbours", "best")

    @property
    def _array_of(self):
        return "matrix" if self.values is None else "values"

    def _headline(self):
        unit = " angstrom" if self.metric in ("rmsd", "drmsd") else ""
        what = f"{self.frames} frames" if self.values is not None else f"{self.pairs} pairs of {self.frames} frames"
        return f"{self.metric} of {what}, {self.atoms} atoms, mean {self.mean:.3g}{unit}"

    def _values_table(self):
        if self.values is not None:
            return {"frame": np.arange(self.frames), **self._shown_in("values")}
        if self.matrix is None:
            raise UsageError("expected a result with a matrix or values, found none")
        if self.matrix.ndim == 1:
            rows, others = np.triu_indices(item_count(self.matrix.size), 1)
        else:
            rows, others = (part.ravel() for part in np.indices(self.matrix.shape))
        return {"i": rows, "j": others, "value": self.matrix.ravel()}

    def _neighbours_table(self):
        if self.neighbour_starts is None:
            raise UsageError("expected a result with cutoff, found one without neighbours")
        rows = np.repeat(np.arange(len(self.neighbour_starts) - 1), np.diff(self.neighbour_starts))
        return {"i": rows, **self._shown_in("neighbours")}

    def _best_table(self):
        if self.best_indices is None:
            raise UsageError("expected a result with nearest, found one without")
        rows, ranks = (part.ravel() for part in np.indices(self.best_indices.shape))
        return {"i": rows, "rank": ranks, **self._shown_in("best")}


class Clusters(Result):
    """What pleat.cluster returns.

    numpy.asarray(result) is `assignment`; to_dataframe() is a table of clusters, to_dataframe('items')
    gives the cluster of each item, and to_dataframe('sweep') the values that were tried.
    """

    assignment = Attribute("int32 [item]; 0 is the largest cluster, -1 noise")
    nearest = Attribute("int32 [item, 2], with `assign` the nearest and the second nearest medoid (one column if there is "
                        "only one), below the cutoff or not; None without")
    distances = Attribute("float32 [item, 2], distances to these")
    series = Attribute("int64 [series], items of each stretch that the files hold without a gap; None: all items are one")
    is_trajectory = Attribute("whether the items of a series follow each other in time, as read from DCD, XTC, TRR and AMBER "
                              "NetCDF files; pleat.report then draws transitions and dwell times")
    chains = Attribute("with `each_chain` the names of the chains: item c * frames + f is chain c of frame f; else None")
    clusters = Attribute("records (size, medoid, mean, radius, silhouette); of a medoid without items medoid is -1, and "
                         "mean and radius are NaN")
    centres = Attribute("int64 [cluster], None for methods without them")
    tree = Attribute("float64 [item - 1, 4], as SciPy's linkage; None if the method has none")
    sweep = Attribute("records of the values that were tried; None if there are none")
    peaks = Attribute("records of density peaks; None for other methods")
    rounds = Attribute("records of iterated density (round from 1 in which an item was dropped, 0: left; mean distance "
                       "to the others left then); None for other methods")
    silhouette = Attribute("of all items, or None")
    cutoff = Attribute("the cutoff of the clustering, or None")
    min = Attribute("the smallest distance")
    mean = Attribute("the mean distance")
    max = Attribute("the largest distance")
    histogram = Attribute("int64 [bin], of the distances, in bins of `bin_width`")
    bin_width = Attribute("width of the bins of the histogram")
    method = Attribute("the method: 'gromos', 'average', ...")
    sweep_of = Attribute("'k' or 'cutoff', what `sweep` varies; None without a sweep")
    device = Attribute("the device that computed")
    _array_of, _tables = "assignment", ("clusters", "items", "sweep", "transitions", "dwell_times", "chains", "combinations")

    def _headline(self):
        noise = int(np.count_nonzero(self.assignment < 0))
        text = f"{counted(len(self.assignment), 'item')} in {counted(len(self.clusters), 'cluster')}"
        return text + (f", {noise} in none" if noise else "")

    def _clusters_table(self):
        return {"cluster": np.arange(len(self.clusters)), **records_table(self.clusters)}

    def _items_table(self):
        return {"item": np.arange(len(self.assignment)), "cluster": self.assignment}

    def _sweep_table(self):
        if self.sweep is None:
            raise UsageError("expected a result of several values, found one without")
        return records_table(self.sweep)

    def _of_chains(self):
        """Clusters [frame, chain], and the sorted clusters of each frame as text."""
        if self.chains is None:
            raise UsageError("expected clusters of chains (each_chain=True), found those of other items")
        clusters = self.assignment.reshape(len(self.chains), -1).T
        return clusters, [" ".join(map(str, one)) for one in np.sort(clusters, axis=1)]

    def _chains_table(self):
        clusters, combinations = self._of_chains()
        return {"frame": np.arange(len(clusters)),
                **{f"chain_{name}": clusters[:, n] for n, name in enumerate(self.chains)}, "combination": combinations}

    def _combinations_table(self):
        texts, first, frames = np.unique(self._of_chains()[1], return_index=True, return_counts=True)
        order = np.lexsort((first, -frames))
        return {"combination": texts[order], "frames": frames[order], "share": frames[order] / frames.sum(),
                "first_frame": first[order]}

    def _order(self):
        return self.assignment, np.empty(0, dtype=np.int64) if self.series is None else self.series

    def transitions(self, lag=1):
        """How often an item of one cluster is followed by one of another (or the same) cluster `lag` items later
        in the same series: records (from, to, count, from_count, probability), of steps that there are.

        Noise (-1) counts as a cluster. It means something only if items are in order of time, as frames of a
        trajectory are.
        """
        if not isinstance(lag, (int, np.integer)):
            raise TypeError(f"lag: expected a whole number, found {lag!r}")
        return _pleat.transitions(*self._order(), lag)

    def dwells(self):
        """Visits by cluster and length: records (cluster, dwell, visits, cut). A visit is a stretch of items of one
        series in one cluster, as long as can be; `cut` counts those that the begin or end of a series cuts."""
        return _pleat.dwells(*self._order())

    def dwell_times(self, timestep=1.0):
        """How long visits last: records (cluster, items, visits, mean, median, longest, cut, longest_cut).

        timestep : time from one item to the next, the unit of mean, median, longest and longest_cut; 1: items

        mean, median and longest are those of `visits` whole visits, longest_cut of the `cut` ones; NaN without any.
        """
        if not (isinstance(timestep, (int, float, np.number)) and 0 < timestep < math.inf):
            raise UsageError(f"timestep: expected a number above 0, found {timestep!r}")
        found = _pleat.dwell_times(*self._order())
        lengths = ("mean", "median", "longest", "longest_cut")
        times = found.astype([(name, np.float64 if name in lengths else found.dtype[name]) for name in found.dtype.names])
        for name in lengths:
            times[name] = np.where(found["cut" if name == "longest_cut" else "visits"] > 0, times[name] * timestep, np.nan)
        return times

    def _transitions_table(self):
        return records_table(self.transitions())

    def _dwell_times_table(self):
        return records_table(self.dwell_times())


class Fit(Result):
    """A fit to a curve. numpy.asarray(fit) is `model`."""

    scale = Attribute("factor of the profile")
    background = Attribute("constant that was added")
    c1 = Attribute("scale factor of the radii in the excluded volume")
    c2 = Attribute("hydration-layer contrast")
    c1_at_bound = Attribute("whether the fit of c1 ended at a bound")
    c2_at_bound = Attribute("whether the fit of c2 ended at a bound")
    chi2 = Attribute("mean over the points of ((I - model) / sigma)^2")
    chi2_reduced = Attribute("the sum divided by points - parameters; None if there are no more points")
    points = Attribute("number of points")
    parameters = Attribute("number of fitted parameters")
    model = Attribute("float64 [point], scaled and with background, at the curve's q")
    _array_of, _tables = "model", ("model",)

    def _headline(self):
        return f"chi^2 {self.chi2:.3g} of {self.points} points, c1 {self.c1:.3g}, c2 {self.c2:.3g}"

    def _model_table(self):
        return {"model": self.model}


class Weights(Result):
    """Weights of frames whose mean profile was fitted to a curve. numpy.asarray(found) is `weights`;
    to_dataframe() has a row per frame."""

    frames = Attribute("int64 [n], from 0, ascending")
    weights = Attribute("float64 [n], not negative, sum 1")
    fit = Attribute("Fit of their mean")
    validation = Attribute("chi^2 per point on points that the fit did not see")
    validation_error = Attribute("its standard error")
    effective = Attribute("exp(entropy of the weights), how many frames count")
    exhaustive = Attribute("for minimal ensembles, whether all sets of up to as many frames were fitted")
    _array_of, _tables = "weights", ("weights",)

    def _headline(self):
        return f"{counted(len(self.frames), 'frame')}, {self.effective:.3g} effective, chi^2 {self.fit.chi2:.3g}"

    def _weights_table(self):
        return {"frame": self.frames, "weight": self.weights}


class Saxs(Result):
    """What pleat.saxs returns.

    numpy.asarray(result) is `intensity`; to_dataframe() has the profile by q, to_dataframe('frames') rg,
    i0 and dmax of each frame, and to_dataframe('fit') the curve with its fit.
    """

    q = Attribute("float64 [q], 1/angstrom; with data more points than asked for if the structure needs them")
    intensity = Attribute("float64 [frame, q], electrons^2 or with neutrons fm^2, at c1 and c2")
    mean = Attribute("float64 [q], of the frames")
    c1 = Attribute("scale factor of the radii in the excluded volume")
    c2 = Attribute("hydration-layer contrast")
    rg = Attribute("float64 [frame], angstrom; NaN where its square is negative")
    i0 = Attribute("float64 [frame], electrons^2")
    dmax = Attribute("float64 [frame], angstrom")
    pr = Attribute("float64 [bin], P(r) of the mean, bins of `bin_width` angstrom; None with bin_width=0")
    bin_width = Attribute("width of the bins of P(r), angstrom")
    model = Attribute("the model of scatterers that was used")
    scatterers = Attribute("number of scatterers")
    frames = Attribute("number of frames")
    files = Attribute("list of str [frame]")
    notes = Attribute("list of str, what was assumed or left out")
    warnings = Attribute("list of str, what is probably wrong (also Python warnings)")
    device = Attribute("the device that computed")
    match_points = Attribute("list of dict of the molecule and its chains, with neutrons: name; d2o, the fraction "
                             "of D2O at which it scatters as the solvent; d2o_with_layer, the same with its "
                             "hydration layer; volume displaced, angstrom^3; length in H2O and gain in D2O, fm")
    curve = Attribute("pleat.Profile, the points that were fitted; None without data")
    fit = Attribute("pleat.saxs.Fit of the mean; None without data")
    guinier = Attribute("dict of rg, rg_error, i0, i0_error and the points first to last; None if the curve "
                        "has no such range")
    series = Attribute("list of pleat.saxs.Fit, of each further curve")
    joint = Attribute("dict of chi2, chi2_reduced, points, parameters of all curves together, or None")
    minimal = Attribute("list of pleat.saxs.Weights, the best ensembles by number of frames; numbers that do not "
                        "improve the fit are left out")
    minimal_chosen = Attribute("index into `minimal`, or None")
    reweighted = Attribute("list of pleat.saxs.Weights of all frames, by maximum entropy at each of `thetas`")
    thetas = Attribute("float64, the strengths of the entropy term")
    reweighted_chosen = Attribute("index into `reweighted`, or None")
    _array_of, _tables = "intensity", ("profile", "frames", "fit")

    def _headline(self):
        rg = float(np.mean(self.rg))
        text = f"{counted(self.frames, 'frame')}, {len(self.q)} q, {self.model}"
        text += "" if math.isnan(rg) else f", Rg {rg:.3g} angstrom"
        return text if self.fit is None else f"{text}, chi^2 {self.fit.chi2:.3g}"

    def _profile_table(self):
        return {"q": self.q, "intensity": self.mean}

    def _frames_table(self):
        return {"frame": np.arange(self.frames), "file": self.files, "rg": self.rg, "i0": self.i0,
                "dmax": self.dmax}

    def _fit_table(self):
        if self.fit is None:
            raise UsageError("expected a result with data, found one without a fit")
        return {"q": self.curve.q, "intensity": self.curve.intensity, "sigma": self.curve.sigma,
                "model": self.fit.model}


class Scatterers(Result):
    """What pleat.saxs.scatterers returns. numpy.asarray(found) is `xyz`."""

    model = Attribute("Model, one channel, or with a layer two of weight 1, so that I(q) = "
                      "partial.sum(axis=-2)")
    xyz = Attribute("float32 [frame, scatterer, 3], angstrom")
    scales = Attribute("float32 [frame, 1, scatterer], water at each site; None without a layer")
    atoms = Attribute("int64 [scatterer], the first atom of each (for a site: of the scatterer that touches it); "
                      "their residues in the topology help to divide the scatterers into rigid bodies")
    type_names = Attribute("list of str [type]; beads with other electrons than a complete residue are types of "
                           "their own with the same name")
    sites = Attribute("number of sites of the hydration layer, the last scatterers")
    name = Attribute("the model that was used")
    notes = Attribute("list of str, what was left out or assumed")
    _array_of, _tables = "xyz", ("scatterers",)

    def _headline(self):
        return f"{len(self.atoms)} scatterers, {self.sites} of them sites of the layer, {self.name}"

    def _scatterers_table(self):
        return {"atom": self.atoms, "type": [self.type_names[n] for n in self.model.types]}


PARTS.update({_pleat.SaxsFit: Fit, _pleat.SaxsWeights: Weights})
for _part in (Couplings, MutualInformation, Rmsd, Clusters, Saxs):
    _part.__module__ = "pleat"
for _part in (Fit, Weights, Scatterers):
    _part.__module__ = "pleat.saxs"
