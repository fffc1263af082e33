# Results: the classes of what the engines' functions return.
import csv
import io
import math

import numpy as np

from . import _pleat
from .errors import UsageError
from .result import PARTS, Result, counted, item_count, records_table, to_dataframe


def residues_of(result, columns):
    """The letters of the alignment's first sequence at columns of the source."""
    letters = dict(zip(result.columns.tolist(), result.letters))
    return [letters[column] for column in np.asarray(columns).tolist()]


class ColumnResult(Result):
    """What results of alignments share."""

    def _set_letters(self, alignment):
        """Sets `letters` from the alignment that was given, of whose columns some may be left out."""
        codes = alignment.letters[0, np.searchsorted(alignment.columns, self.columns)]
        self._values["letters"] = "".join(alignment.alphabet_letters[code] for code in codes)


class Couplings(ColumnResult):
    """What pleat.couplings returns, L columns being those that were kept.

    numpy.asarray(result) is `scores`; to_dataframe() is the table of contacts.
    """

    _array_of, _tables = "scores", ("contacts", "inter_contacts")

    def contacts(self, min_separation=6):
        """Records (i, j, raw, corrected, z, probability) of pairs at least `min_separation` columns of the
        source alignment apart, best first, those of different parts at any separation. i and j are columns
        of the source, from 0; probability of a contact (CB, of nucleic acids any heavy atoms, within 8
        angstrom), NaN where unknown."""
        return self._listed(min_separation)[0]

    def _listed(self, min_separation):
        """The contacts, and the names of their classes (of nucleic acids) or None."""
        base_pairs = getattr(self, "base_pairs", None)
        if base_pairs is not None:
            base_pairs = np.searchsorted(self.columns, np.asarray(base_pairs, np.int64).reshape(-1, 2))
        names = getattr(self, "parts", None)
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names or ()))}
        parts = None if names is None else np.array([numbers[name] for name in names], np.int64)
        family = (self.effective_sequences, self._is_calibrated, getattr(self, "_is_nucleic", False),
                  getattr(self, "_has_given_base_pairs", False))
        contacts, classes = _pleat.rank_pairs(self.raw_scores, self.scores, self.columns, family, base_pairs, parts,
                                              min_separation)
        return contacts, None if classes is None else np.array(_pleat.pair_classes)[classes]

    def _headline(self):
        return f"{len(self.columns)} columns, {self.effective_sequences:.1f} effective sequences"

    def to_dataframe(self, table=None, *, min_separation=6):
        """The contacts as a pandas.DataFrame, which needs pandas: i, j, residue_i, residue_j (letters of
        the first sequence), raw, corrected, z, probability, as `contacts` has them, and of nucleic acids
        class. table 'inter_contacts': the pairs between parts."""
        if table == "inter_contacts":
            found, classes = self.inter_contacts, None
            if found is None:
                raise UsageError("expected a result with parts, found one without")
        elif table in (None, "contacts"):
            found, classes = self._listed(min_separation)
        else:
            return super().to_dataframe(table)
        scores = {name: found[name] for name in found.dtype.names if name not in ("i", "j")}
        if classes is not None:
            scores["class"] = classes
        return to_dataframe({"i": found["i"], "j": found["j"], "residue_i": residues_of(self, found["i"]),
                             "residue_j": residues_of(self, found["j"]), **scores})


TREE_NUMBERS = ("tree_score", "tree_mean", "tree_p", "tree_e", "extrapolated")


class MutualInformation(ColumnResult):
    """What pleat.mutual_information returns, with L columns after filtering.

    Arrays that were not requested are None. [pair]: all pairs i < j in row order (see pleat.square).
    numpy.asarray(result) is `mi`; to_dataframe() is a table of pairs, to_dataframe('triples') of triples.
    """

    _array_of, _tables = "mi", ("pairs", "triples")

    def _headline(self):
        text = f"{self.column_count} columns, {len(self.mi)} pairs"
        return text if self.triples is None else f"{text}, {len(self.triples['columns'])} triples"

    def _pairs_table(self):
        rows, others = np.triu_indices(len(self.columns), 1)
        i, j = self.columns[rows], self.columns[others]
        table = {"i": i, "j": j, "residue_i": residues_of(self, i), "residue_j": residues_of(self, j)}
        for name in ("mi", "joint_entropy", "normalised", "apc", "asc", "mean", "variance", "z", "tail_p",
                     "exact_p", "fdr", "family_p", "less", "equal", "pair_rows", *TREE_NUMBERS):
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
    _order = None  # of its frames, for clusters of them

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


class Fit(Result, module="pleat.saxs"):
    """A fit to a curve. numpy.asarray(fit) is `model`."""

    _array_of, _tables = "model", ("model",)

    def _headline(self):
        return f"chi^2 {self.chi2:.3g} of {self.points} points, c1 {self.c1:.3g}, c2 {self.c2:.3g}"

    def _model_table(self):
        return {"model": self.model}


class Weights(Result, module="pleat.saxs"):
    """Weights of frames whose mean profile was fitted to a curve. numpy.asarray(found) is `weights`;
    to_dataframe() has a row per frame."""

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


class Analysis(Result):
    """What pleat.analyse returns: of several curves the numbers of their average or extrapolation.

    numpy.asarray(result) is `p`; to_dataframe() has P(r), to_dataframe('fit') the curve with its smooth curve, and
    to_dataframe('curves') a row per curve.
    """

    _array_of, _tables = "p", ("pairs", "fit", "curves")

    def _headline(self):
        return f"{self.points} points, Rg {self.rg:.4g} +- {self.rg_error:.2g} angstrom, Dmax {self.dmax:.4g} angstrom"

    def _pairs_table(self):
        return {"r": self.r, "p": self.p, "p_error": self.p_error}

    def _fit_table(self):
        return {"q": self.q, "intensity": self.intensity, "sigma": self.sigma, "model": self.model}

    def _curves_table(self):
        return self.curves


class Reweighting(Result):
    """What pleat.reweight returns.

    numpy.asarray(result) is `weights`; to_dataframe() has a row per observable, to_dataframe('frames') per
    frame and to_dataframe('scan') per theta.
    """

    _array_of, _tables = "weights", ("observables", "frames", "scan")

    def _headline(self):
        return (f"{counted(len(self.names), 'observable')}, chi^2 {self.chi2_before:.3g} before, {self.chi2:.3g} after, "
                f"{self.effective:.3g} of {counted(len(self.weights), 'frame')} effective")

    def _observables_table(self):
        return {"name": self.names, "measured": self.measured, "error": self.errors, "kind": self.kinds,
                "average": self.averages, "mean_before": self.means_before, "mean": self.means,
                "multiplier": self.multipliers}

    def _frames_table(self):
        return {"frame": np.arange(len(self.weights)), "weight": self.weights}

    def _scan_table(self):
        return {"theta": self.thetas, "chi2": self.scan_chi2, "effective": self.scan_effective,
                "validation": self.validation, "validation_error": self.validation_error}


class Scatterers(Result, module="pleat.saxs"):
    """What pleat.saxs.scatterers returns. numpy.asarray(found) is `xyz`."""

    _array_of, _tables = "xyz", ("scatterers",)

    def _headline(self):
        return f"{len(self.atoms)} scatterers, {self.sites} of them sites of the layer, {self.name}"

    def _scatterers_table(self):
        return {"atom": self.atoms, "type": [self.type_names[n] for n in self.model.types]}


class Refinement(Result):
    """What pleat.refine returns. to_dataframe() is `table`."""

    _tables = ("frames",)

    def _headline(self):
        return (f"{len(self.frames)} frames, {len(self.domains)} domains, {self.angles} angles, "
                f"{'converged' if self.converged else 'not converged'}")

    def _frames_table(self):
        return {"frame": np.arange(len(self.frames)), **self.table}


class Selection(Result):
    """What pleat.select returns.

    numpy.asarray(result) is `scores`; to_dataframe() is a table of frames, to_dataframe('clusters') of
    clusters and to_dataframe('contacts') of contacts.
    """

    _array_of, _tables = "scores", ("frames", "clusters", "contacts")

    def _headline(self):
        return (f"{counted(len(self.scores), 'frame')}, {counted(len(self.clusters), 'cluster')}, "
                f"{np.count_nonzero(self.clusters['selected'])} selected, {len(self.contacts)} contacts")

    def _frames_table(self):
        return {"frame": np.arange(len(self.scores)), **records_table(self.scores)}

    def _contacts_table(self):
        names = list(zip(*self.residues)) or [(), ()]
        return {**records_table(self.contacts), "residue_i": list(names[0]), "residue_j": list(names[1])}


class Mutants(Result):
    """What pleat.mutants returns. An effect is E(mutant) - E(target): the more negative, the more harmful.

    numpy.asarray(result) is `singles`; to_dataframe() is a table of single mutants with EVcouplings' column
    names, to_dataframe('positions'), ('logo'), ('listed') and ('sequences') are the others.
    """

    _array_of, _tables = "singles", ("singles", "positions", "logo", "listed", "sequences")

    def _headline(self):
        return f"{self.target}, {len(self.positions)} residues, {len(self.singles)} single mutants"

    def _singles_table(self):
        table = records_table(self.singles)
        wt, subs = table.pop("wt"), table.pop("subs")
        first = {"mutant": [f"{a}{n}{b}" for a, n, b in zip(wt, table["pos"], subs)], "pos": table.pop("pos"),
                 "wt": wt, "subs": subs, "frequency": table.pop("frequency"),
                 "column_conservation": table.pop("conservation"),
                 "prediction_epistatic": table.pop("epistatic"),
                 "prediction_independent": table.pop("independent")}
        last = {"prediction_conservation": table.pop("conserved"), "prediction_weighted": table.pop("weighted")}
        return {**first, **table, **last}

    def _listed_table(self):
        if len(self.listed) == 0:
            raise UsageError("expected a result with mutants, found one without")
        header = self.listed_text.partition("\n")[0]
        rows = csv.DictReader(io.StringIO(self.listed_text), delimiter="\t" if "\t" in header else ",")
        names = [row.get("mutant") for row in rows]
        named = {} if None in names or len(names) != len(self.listed) else {"mutant": names}
        return {**named, **records_table(self.listed), "problem": self.problems}

    def _sequences_table(self):
        if len(self.sequences) == 0:
            raise UsageError("expected a result with sequences, found one without")
        return {"name": self.sequence_names, **records_table(self.sequences), "problem": self.sequence_problems}


PARTS.update({_pleat.Fit: Fit, _pleat.Weights: Weights})
