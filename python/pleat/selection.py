# Selection: the conformations of an ensemble ranked by contacts, clusters, scattering and scores.
"""pleat.select and what it returns."""
import os

import numpy as np

from . import _pleat
from .alignment import alignment as as_alignment
from .ensemble import ensemble as as_ensemble
from .errors import InputError, UsageError
from .options import engine
from .other_packages import columns_of
from .profile import curve_of
from .results import Couplings, Selection


def _residues_in_contact(fitted):
    """(sequence, [(i, j, probability)]) of the residues that the first sequence has in the columns."""
    found = fitted.contacts()
    is_residue = np.array([letter != "-" for letter in fitted.letters])
    numbers = np.where(is_residue, np.cumsum(is_residue) - 1, -1)
    i, j = (numbers[np.searchsorted(fitted.columns, found[name])] for name in "ij")
    kept = (i >= 0) & (j >= 0)
    return fitted.letters.replace("-", ""), list(zip(i[kept], j[kept], np.nan_to_num(found["probability"][kept])))


def _contacts(source):
    """(name, text in CASP's RR format) of contacts; the text is empty for a path, both for None."""
    if source is None:
        return "", ""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source), ""
    if isinstance(source, Couplings):
        source = _residues_in_contact(source)
    if not isinstance(source, (tuple, list)) or len(source) != 2 or not isinstance(source[0], str):
        raise InputError("expected contacts as a path, pleat.Couplings or (sequence, [(i, j, probability)]), found "
                         f"{type(source).__name__}")
    sequence, pairs = source
    columns = columns_of(pairs, ("i", "j", "probability"))
    pairs = pairs if columns is None else zip(*columns)
    rows = "".join(f"{int(i) + 1} {int(j) + 1} {float(p)!r}\n" for i, j, p in pairs)
    return "contacts", f"{sequence}\n{rows}END\n"


def _score(frames, score):
    """float64 [frame] of a score or of its name; empty without one."""
    if score is None:
        return np.empty(0)
    if isinstance(score, str):
        if score not in frames.scores:
            raise InputError(f"score: expected one of the ensemble's scores ({', '.join(frames.scores) or 'none'}), "
                             f"found '{score}'")
        return frames.scores[score]
    values = np.ascontiguousarray(score, dtype=np.float64)
    if values.shape != (len(frames),):
        raise InputError(f"score: expected a number for each of {len(frames)} frames, found shape {values.shape}")
    return values


@engine(_pleat.select_fields(), Selection)
def select(ensemble, *, select="ca", alignment=None, contacts=None, data=None, q_unit="auto",
           assume_error=None, smear=False, columns="", curve="", q_min=0.0, score=None, least=False, structure=None, options, how):
    """Ranks the conformations of an ensemble by contacts, clusters, scattering and scores together.

    ensemble : what pleat.ensemble takes; its atoms must have names
    select : atoms to superpose, as text, indices or a mask
    alignment : what pleat.alignment takes: the protein's family. Couplings are fitted to it, and
        their contacts are expected
    contacts : expected contacts instead: the path of a file in CASP's RR format or of the folder of
        a `pleat couplings` run, pleat.Couplings, or (sequence, pairs) with pairs [(i, j, probability)]
        counted from 0 or a DataFrame of pandas with these columns
    data : what pleat.profile takes: a measured curve, to which each frame is fitted
    q_unit, assume_error, smear, columns, curve, q_min : as pleat.read_profile takes them
    score : a score of each frame: the name of one of the ensemble's `scores`, or an array [frame], NaN where it is
        not known, which is worse than any number
    least : lower scores are better, as for energies
    structure : PDB or mmCIF file that names the residues of contacts; None: the file that named the
        atoms of the ensemble

    At least one of alignment, contacts, data and score must be given.

    The library's README of select has the formulas.
    """
    if alignment is None and contacts is None and data is None and score is None:
        raise UsageError("give alignment, contacts, data or score besides the ensemble")
    frames = as_ensemble(ensemble)
    if frames.topology is None:
        raise InputError("expected atoms with names, found coordinates alone; "
                         "pleat.Ensemble(xyz, topology) names them")
    values = _score(frames, score)
    measured = curve_of(data, frames, q_unit=q_unit, assume_error=assume_error, smear=smear, columns=columns,
                        curve=curve, q_min=q_min)
    atoms = frames.indices(select)
    frames = _pleat.Structures(frames.xyz, frames.topology, frames.files, frames.origins, [])
    family = None if alignment is None else as_alignment(alignment)
    return Selection(_pleat.select(frames, np.sort(atoms), family, *_contacts(contacts), measured, values, least,
                                   "" if structure is None else os.fspath(structure), options, how))
