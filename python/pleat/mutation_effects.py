# Mutation effects: the effects of mutations of a sequence, by a Potts model of its family.
"""pleat.mutants and what it returns."""
import os

import numpy as np

from . import _pleat
from .alignment import Alignment, alignment as as_alignment
from .errors import InputError, UsageError
from .options import engine
from .result import Result, records_table
from .results import Couplings

_FIT = {field["name"] for field in _pleat.mutants_fit_fields()}


def _letters(values):
    """'S1' as str, one letter each."""
    return values.astype("U1")


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
        wt, subs = _letters(table.pop("wt")), _letters(table.pop("subs"))
        first = {"mutant": [f"{a}{n}{b}" for a, n, b in zip(wt, table["pos"], subs)], "pos": table.pop("pos"),
                 "wt": wt, "subs": subs, "frequency": table.pop("frequency"),
                 "column_conservation": table.pop("conservation"),
                 "prediction_epistatic": table.pop("epistatic"),
                 "prediction_independent": table.pop("independent")}
        return {**first, **table}

    def _positions_table(self):
        table = records_table(self.positions)
        return {**table, "wt": _letters(table["wt"])}

    def _logo_table(self):
        table = records_table(self.logo)
        return {**table, "letter": _letters(table["letter"])}

    def _listed_table(self):
        if len(self.listed) == 0:
            raise UsageError("expected a result with mutants, found one without")
        return {**records_table(self.listed), "problem": self.problems}

    def _sequences_table(self):
        if len(self.sequences) == 0:
            raise UsageError("expected a result with sequences, found one without")
        return {"name": self.sequence_names, **records_table(self.sequences), "problem": self.sequence_problems}


def _is_path(value):
    return isinstance(value, (str, os.PathLike))


def _table(source):
    """(path, '') or (name, text) of mutants; ('', '') of None."""
    if source is None:
        return "", ""
    if _is_path(source):
        return os.fspath(source), ""
    if hasattr(source, "to_csv"):
        return "mutants", source.to_csv(index=False)
    names = [source] if isinstance(source, str) else list(source)
    if not names:
        raise InputError("expected at least 1 mutant, found an empty list")
    if not all(isinstance(name, str) for name in names):
        raise InputError("expected mutants as a path, a list of texts such as 'A24G:K30R', or a DataFrame, found "
                         f"{type(source).__name__}")
    return "mutants", "mutant\n" + "".join(f"{name or 'wt'}\n" for name in names)


def _sequences(source):
    """(path, '') or (name, FASTA) of sequences; ('', '') of None."""
    if source is None:
        return "", ""
    if _is_path(source):
        return os.fspath(source), ""
    if isinstance(source, Alignment):
        pairs = zip(source.names, source.sequences)
    elif isinstance(source, dict):
        pairs = source.items()
    else:
        pairs = ((f"sequence_{n}", row) for n, row in enumerate(source))
    text = "".join(f">{name}\n{row}\n" for name, row in pairs)
    if not text:
        raise InputError("expected sequences, found none")
    return "sequences", text


def _target(source):
    """(path, '') or (name, FASTA) of one sequence; ('', '') of None."""
    if source is None or _is_path(source):
        return ("" if source is None else os.fspath(source)), ""
    if not isinstance(source, tuple) or len(source) != 2:
        raise InputError(f"expected target as a path or (name, letters), found {type(source).__name__}")
    return "target", f">{source[0]}\n{source[1]}\n"


def _model_file(path):
    """The file of a model that a path names, or None for an alignment."""
    if os.path.isdir(path):
        for name in ("couplings.npz", os.path.join("couplings", "couplings.npz"), "model.plmc"):
            if os.path.isfile(os.path.join(path, name)):
                return os.path.join(path, name)
        raise InputError(f"{os.fspath(path)}: expected a finished run of 'pleat couplings', found no "
                         "couplings.npz; give the alignment, or the command --models npz")
    return path if _pleat.is_model_file(os.fspath(path)) else None


def _potts_model(source, row, focus, filters, questions, fit, how):
    """The model of a path, a result of pleat.couplings, or of a fit to an alignment, for which `questions` are
    checked first."""
    is_fitted = isinstance(source, Couplings)
    file = _model_file(source) if _is_path(source) else None
    if is_fitted or file is not None:
        if fit or row is not None or focus or filters != (1.0, 0.0):
            raise UsageError("leave row, focus, max_gaps, min_coverage and the options of the fit out: the model has been "
                             "fitted")
        if file is not None:
            return _pleat.read_potts_model(os.fspath(file))
        if source._native is None:
            raise InputError("expected a result of pleat.couplings with its model, found one that was read from a "
                             "file or a pickle; give the folder of the run")
        return _pleat.potts_model_of(source._native)
    if focus and row not in (None, focus):
        raise UsageError("give either row or focus: they differ")
    family = os.fspath(source) if _is_path(source) else as_alignment(source)
    return _pleat.fit_potts_model(family, focus or row or "", bool(focus), *filters, questions, fit, how)


@engine(_pleat.mutants_fields(), Mutants)
def mutants(family, *, mutants=None, sequences=None, target=None, row=None, focus="", max_gaps=1.0,
            min_coverage=0.0, options, how):
    """Predicts the effects of mutations of a sequence, by a Potts model of its family and by an independent one.

    family : its alignment, as pleat.alignment takes it, to which the model is fitted; or a model: the
        folder of a run of `pleat couplings`, its couplings.npz, a binary model of plmc, or what pleat.couplings
        returned
    mutants : mutants to predict beside all single ones: a table of ProteinGym or EVcouplings as a path or a
        DataFrame, or a list of texts such as 'A24G' and 'A24G:K30R'
    sequences : sequences whose energies are computed: a path, an Alignment, {name: letters} or a list of letters
    target : the target's sequence, which numbers its residues: the path of a FASTA file or (name, letters)
    row : name of the row of the alignment that is the target; None: the first
    focus : name of the row that is the target, of which only the columns with a residue are kept
    max_gaps, min_coverage : as pleat.couplings takes them

    Insertions of an A2M or A3M row count as residues if the alignment is given as a path. The library's README of
    mutants has formulas and papers.
    """
    fit = {name: value for name, value in options.items() if name in _FIT}
    rest = {name: value for name, value in options.items() if name not in _FIT}
    questions = _pleat.read_mutant_questions(*_table(mutants), *_sequences(sequences), *_target(target), rest)
    model = _potts_model(family, row, focus, (max_gaps, min_coverage), questions, fit, how)
    return Mutants(_pleat.mutants(model, questions, how))
