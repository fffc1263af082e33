# Selection: the conformations of an ensemble ranked by contacts, clusters and scattering.
"""pleat.select and what it returns."""
import os

import numpy as np

from . import _pleat
from .alignment import alignment as as_alignment
from .ensemble import ensemble as as_ensemble
from .errors import InputError, UsageError
from .options import engine
from .profile import profile as as_profile

Selection = _pleat.Selection
Selection.__module__ = "pleat"
Selection.__doc__ = "What pleat.select returns; its docstring says what each attribute is."


def _contacts(source):
    """(name, text in CASP's RR format) of contacts; the text is empty for a path, both for None."""
    if source is None:
        return "", ""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source), ""
    if not isinstance(source, (tuple, list)) or len(source) != 2 or not isinstance(source[0], str):
        raise InputError("expected contacts as a path or (sequence, [(i, j, probability)]), found "
                         f"{type(source).__name__}")
    sequence, pairs = source
    rows = "".join(f"{int(i) + 1} {int(j) + 1} {float(p)!r}\n" for i, j, p in pairs)
    return "contacts", f"{sequence}\n{rows}END\n"


@engine(_pleat.select_fields())
def select(ensemble, *, select="ca", alignment=None, contacts=None, data=None, q_unit="auto",
           assume_error=None, smear=False, structure=None, options, how):
    """Ranks the conformations of an ensemble by contacts, clusters and scattering together.

    ensemble : what pleat.ensemble takes; its atoms must have names
    select : atoms to superpose, as text, indices or a mask
    alignment : what pleat.alignment takes: the protein's family. Couplings are fitted to it, and
        their contacts are expected
    contacts : expected contacts instead: the path of a file in CASP's RR format or of the folder of
        a `pleat couplings` run, or (sequence, [(i, j, probability)]) with i, j counted from 0
    data : what pleat.profile takes: a measured curve, to which each frame is fitted
    q_unit, assume_error, smear : as pleat.profile takes them
    structure : PDB or mmCIF file that names the residues of contacts; None: the file that named the
        atoms of the ensemble

    At least one of alignment, contacts and data must be given.

    Returns pleat.Selection:
    scores : records [frame] (position, cluster, joint, contacts, unexplained, density, chi2, rmsd,
        contact_rank, cluster_rank, curve_rank). Position 1 has the highest joint score, the weighted
        mean of the ranks, which go from 0 (worst) to 1 (best); rmsd is from the medoid of the first
        selected cluster, in angstrom; NaN: not known
    clusters : records (cluster, size, selected, best_frame, joint, when_selected, contacts,
        unexplained, density, chi2, min_chi2, added), medians over the cluster's frames. The selected
        clusters come first, in their order: selected = 1, 2, ...; it is 0 for the others
    medoids : int64 [cluster], frames
    contacts : records (i, j, strength, explained_by): residues of the sequence, from 0, and which
        selected cluster explains the contact, 0 for none
    residues : [(name, name)] of the structure, one pair per contact
    formed : uint8 [frame, contact], 1 if the frame forms the contact
    chain, identity : the chain that the sequence was aligned to, and the share of identical letters
    cutoff : RMSD below which frames are neighbours, angstrom

    The library's README of select has the formulas.
    """
    if alignment is None and contacts is None and data is None:
        raise UsageError("give alignment, contacts or data besides the ensemble")
    frames = as_ensemble(ensemble)
    if frames.topology is None:
        raise InputError("expected atoms with names, found coordinates alone; "
                         "pleat.Ensemble(xyz, topology) names them")
    curve = None if data is None else as_profile(data, q_unit=q_unit, assume_error=assume_error, smear=smear)
    atoms = frames.indices(select)
    frames = _pleat.Structures(frames.xyz, frames.topology, frames.files, frames.origins, [])
    return _pleat.select(frames, np.sort(atoms), None if alignment is None else as_alignment(alignment),
                         *_contacts(contacts), curve, "" if structure is None else os.fspath(structure),
                         options, how)
