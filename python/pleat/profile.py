# Profiles: scattering curves from files and arrays.
"""Making scattering curves from what people have."""
import os

import numpy as np

from . import _pleat
from .errors import InputError, UsageError

Profile = _pleat.Profile
Profile.__module__ = "pleat"
Profile.__doc__ = """A scattering curve, made by `read_profile` or `profile`.

q : float64 [point], 4 pi sin(theta) / lambda in 1/angstrom, rising
intensity, sigma : float64 [point], and its standard errors, in the curve's own unit; sigma above 0
notes : list of str, what was decided: unit of q, errors that were assumed

The arrays show memory of the curve.
"""
Profile.__repr__ = lambda self: (
    f"<pleat.Profile: {len(self)} points, q from {self.q[0]:g} to {self.q[-1]:g} 1/angstrom>")


def read_profile(path, *, q_unit="auto", assume_error=None):
    """Reads a curve: columns q, intensity, error among titles and footers of any kind; plain or packed.

    q_unit : 'auto' (1/nm where the curve ends beyond q = 1), '1/angstrom', '1/nm'
    assume_error : error of points that come without one, as a part of their intensity; None: such
        curves are refused

    InputError names file, line, what was expected and what was found.
    """
    return _pleat.read_profile(os.fspath(path), q_unit, assume_error)


def profile(source, *, q_unit="auto", assume_error=None):
    """A curve from whatever holds one.

    source : a Profile; a path; q, intensity and sigma, each [point], as a tuple or list of three (of
        two where errors are assumed); an array [point, 3 or 2], columns as in files
    q_unit : of arrays 1/angstrom unless it is '1/nm'; of files as read_profile
    assume_error : as read_profile

    InputError names the point, from 1, as `curve:POINT`.
    """
    if isinstance(source, Profile):
        if q_unit != "auto" or assume_error is not None:
            raise UsageError("expected q_unit and assume_error with a path or arrays, found a Profile")
        return source
    if isinstance(source, (str, os.PathLike)):
        return read_profile(source, q_unit=q_unit, assume_error=assume_error)
    if isinstance(source, np.ndarray) and source.ndim == 2 and source.shape[1] in (2, 3):
        columns = list(source.T)
    elif isinstance(source, (tuple, list)) and len(source) in (2, 3):
        columns = list(source)
    else:
        raise InputError("expected a curve (a path, a Profile, q, intensity and sigma, an array "
                         f"[point, 3]), found {type(source).__name__}"
                         + (f" of shape {source.shape}" if isinstance(source, np.ndarray) else ""))
    columns = [np.ascontiguousarray(column, dtype=np.float64) for column in columns] + [None]
    return _pleat.profile_from_arrays(columns[0], columns[1], columns[2], q_unit, assume_error)
