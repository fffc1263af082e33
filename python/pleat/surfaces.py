# Surfaces: the solvent-accessible surface of residues.
from typing import NamedTuple

import numpy as np

from . import _pleat
from .ensemble import ensemble, with_topology


class Accessibility(NamedTuple):
    """What pleat.accessibility returns; residues are in the order of the file.

    area : float64 [frame, residue], angstrom^2
    relative : float64 [frame, residue], the area divided by the largest of the amino acid; at the ends of a chain
        it may exceed 1. NaN: no amino acid, or heavy atoms are missing
    chains : list of str [residue]
    numbers : int64 [residue]
    insertions : list of str [residue], insertion codes; '' for none
    names : list of str [residue], 'ALA'
    """
    area: np.ndarray
    relative: np.ndarray
    chains: list
    numbers: np.ndarray
    insertions: list
    names: list


def accessibility(structure, *, select=None):
    """The surface of each residue that water can touch.

    structure : what pleat.ensemble takes; its atoms must have names
    select : atoms that count and cover each other, as text ('chain A'), indices or a mask; None: all.
        Hydrogens and water never count

    Returns Accessibility. Spheres of C 1.70, N 1.55, O 1.52 and others 1.80 angstrom, a probe of 1.4 angstrom and
    1024 points per atom (Shrake and Rupley, J. Mol. Biol. 79:351, 1973); largest areas by Tien et al. (PLoS ONE
    8:e80635, 2013).

    InputError for files that cannot be read, coordinates without names, and a selection without atoms.
    """
    frames = with_topology(ensemble(structure, select=select))
    return Accessibility(*_pleat.accessibility(frames.xyz, frames.topology))
