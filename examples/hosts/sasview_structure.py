# SasView: the scattering of a structure as a plugin model of sasmodels.
r"""
Definition
----------

The scattering of a protein's structure in solution, by pleat: atoms, the volume that they take from the water, and a
hydration layer (FoXS; Schneidman-Duhovny et al., Biophys. J. 105:962, 2013). The intensity is that of pleat.saxs divided
by its value at q = 0, so *scale* is I(0) of the curve.

Copy this file into the folder of SasView's plugin models, name the structure below, and start SasView with a Python
that has pleat. Scripts load it by ``sasmodels.sasview_model.load_custom_model("sasview_structure.py")``.
"""
import math
import os
from functools import lru_cache

import numpy as np
import pleat

STRUCTURE = os.environ.get("PLEAT_STRUCTURE", "protein.pdb")  # PDB or mmCIF; all models of a file are averaged

name = "sasview_structure"
title = "Structure of a protein in solution, by pleat"
description = """\
    c1: scale of the atoms' radii in the excluded volume
    c2: contrast of the hydration layer
    scale: I(0) of the curve"""
category = "shape-independent"
single = False
opencl = False

#             ["name", "units", default, [lower, upper], "type", "description"],
parameters = [["c1", "None", 1.0, [0.9, 1.1], "", "Scale of the atoms' radii in the excluded volume"],
              ["c2", "None", 1.0, [-2.0, 4.0], "", "Contrast of the hydration layer"]]


@lru_cache(maxsize=1)
def _structure(path):
    return pleat.read_ensemble(path)


@lru_cache(maxsize=100)
def _profile(path, c1, c2, parts):
    """(q in 1/angstrom up to 0.05 `parts`, intensity divided by that at 0); steps are 0.005 or 2 / diameter at most."""
    diameter = np.linalg.norm(np.ptp(_structure(path).xyz, axis=1), axis=1).max()  # of the box, which is larger
    points = parts * max(10, math.ceil(0.05 * diameter / 2)) + 1
    found = pleat.saxs(_structure(path), model="all-atom", c1=c1, c2=c2, q_max=0.05 * parts, q_points=points)
    return found.q, found.mean / found.mean[0]


def Iq(q, c1=1.0, c2=1.0):  # pylint: disable=invalid-name
    """q : [n] in 1/angstrom up to 4.99, in any order, also beyond the curve, where resolutions need it; returns [n]."""
    rising, places = np.unique(np.abs(q), return_inverse=True)
    if not rising[-1] <= 4.99:  # NaN, too, is last
        raise ValueError(f"expected q up to 4.99 1/angstrom, found {rising[-1]}")
    parts = math.ceil(rising[-1] / 0.05 + 1e-9)  # few different grids, so that profiles are found again
    grid, intensity = _profile(STRUCTURE, float(c1), float(c2), parts)
    return pleat.saxs.resample(intensity[None], grid, rising)[0][places]


Iq.vectorized = True
