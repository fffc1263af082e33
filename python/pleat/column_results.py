# Column results: what results of alignments share, and the class of what pleat.couplings returns.
"""Couplings, and the base of it and of MutualInformation."""
import numpy as np

from . import _pleat
from .errors import UsageError
from .result import Attribute, Result, to_dataframe


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

    columns = Attribute("int64 [L], the number of each column in the source alignment, from 0")
    letters = Attribute("str [L], of the first sequence of the alignment in these columns")
    scores = Attribute("float64 [L, L], after APC")
    raw_scores = Attribute("float64 [L, L], before APC")
    fields = Attribute("float32 [L, q], e_i(a); None with models=False")
    pairs = Attribute("float32 [L (L - 1) / 2, q, q], e_ij(a, b), i < j in row order; None with "
                      "models=False")
    weights = Attribute("float64 [sequence]")
    effective_sequences = Attribute("the sum of the weights")
    objective = Attribute("the value of the function that was minimised")
    relative_gap = Attribute("how far the fit is from its minimum at most, as a fraction")
    iterations = Attribute("iterations of the fit")
    evaluations = Attribute("evaluations of the objective")
    stop_reason = Attribute("why the fit ended")
    warning = Attribute("why the probabilities are too high or missing if there are few sequences, else \"\"")
    device = Attribute("the device that computed")
    base_pairs = Attribute("int64 [pair, 2], nested base pairs of a nucleic acid, columns of the source: those of "
                           "`secondary`, else those that the scores show; None for proteins")
    parts = Attribute("the name of the part of each column; None for one part")
    inter_contacts = Attribute(
        "records (i, j, raw, corrected, block_corrected, z, evcomplex, evcomplex_block, gremlin, fdr) of the pairs "
        "between parts, the highest block_corrected first, as contacts_inter.tsv; i and j as in contacts(); None "
        "for one part")
    _is_calibrated = Attribute("whether scores of this kind have probabilities")
    _is_nucleic = Attribute("whether the letters are those of a nucleic acid")
    _has_given_base_pairs = Attribute("whether `secondary` was given")
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
