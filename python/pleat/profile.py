# Profiles: scattering curves from files and arrays.
import os

import numpy as np

from . import _pleat
from .errors import InputError, UsageError
from .options import in_python_words
from .other_packages import columns_of
from .result import as_array, describe_properties, repr_html, to_dataframe

Profile = _pleat.Profile
Profile.__module__ = "pleat"
Profile.__doc__ = """A scattering curve, made by `read_profile` or `profile`.

q : float64 [point], 4 pi sin(theta) / lambda in 1/angstrom, rising
intensity, sigma : float64 [point], and its standard errors, in the curve's own unit; sigma above 0
dq : float64 [point], the standard deviation of q, by which fits smear the model; None without it
notes : list of pleat.Note, what was decided: format, unit of q, columns, points left out or merged

The arrays show memory of the curve. numpy.asarray(curve) has them as columns.
"""
Profile.__repr__ = lambda self: (
    f"<pleat.Profile: {len(self)} points, q from {self.q[0]:g} to {self.q[-1]:g} 1/angstrom>")
Profile._repr_html_ = repr_html


def _columns(self):
    """{name: values} of its arrays."""
    named = {"q": self.q, "intensity": self.intensity, "sigma": self.sigma}
    return named if self.dq is None else {**named, "dq": self.dq}


def _to_dataframe(self):
    """The points as a pandas.DataFrame, which needs pandas."""
    return to_dataframe(_columns(self))


describe_properties(Profile)
Profile.to_dataframe = _to_dataframe
Profile.__array__ = lambda self, dtype=None, copy=None: as_array(
    np.transpose(list(_columns(self).values())), dtype, copy)


@in_python_words
def read_profile(path, *, q_unit="auto", assume_error=None, smear=False, columns="", curve="", q_min=0.0,
                 structure_gyration=None):
    """Reads a curve: text with columns q, intensity, error among titles and footers of any kind, sasCIF,
    CanSAS 1D XML or NXcanSAS; plain or packed.

    q_unit : 'auto' (as the file says, else by the size of the molecule), '1/angstrom', '1/nm'
    assume_error : error of points that come without one, as a part of their intensity; None: such
        curves are refused
    smear : whether column 4 is the standard deviation of q, by which fits smear the model
    columns : columns of q, intensity, error (and dq) by names or numbers from 1, as 'q,I,sigma'
    curve : the curve to read from a file with several, by its name or by its number from 1
    q_min : points below are left out, 1/angstrom
    structure_gyration : Rg of the structure that the curve is of, angstrom, which may decide the unit

    InputError names file, line, what was expected and what was found.
    """
    return _pleat.read_profile(os.fspath(path), q_unit, assume_error, bool(smear), columns, str(curve), q_min,
                               structure_gyration)


@in_python_words
def profile(source, *, q_unit="auto", assume_error=None, smear=False, **reading):
    """A curve from whatever holds one.

    source : a Profile; a path; q, intensity and sigma, each [point], as a tuple or list of three (of
        two where errors are assumed); an array [point, 3 or 2], columns as in files; a DataFrame of
        pandas with the columns q, intensity and sigma. With `smear` a fourth column, dq, the standard
        deviation of q
    q_unit : of arrays 1/angstrom unless it is '1/nm'; of files as read_profile
    assume_error, smear : as read_profile
    reading : further keywords of read_profile, for a path

    InputError names the point, from 1, as `curve:POINT`.
    """
    if not isinstance(source, (str, os.PathLike)) and reading:
        raise UsageError(f"expected {' and '.join(sorted(reading))} with a path, found {type(source).__name__}")
    if isinstance(source, Profile):
        if q_unit != "auto" or assume_error is not None or smear:
            raise UsageError("expected q_unit, assume_error and smear with a path or arrays, found a Profile")
        return source
    if isinstance(source, (str, os.PathLike)):
        return read_profile(source, q_unit=q_unit, assume_error=assume_error, smear=smear, **reading)
    names = ("q", "intensity", *(() if assume_error is not None else ("sigma",)), *(("dq",) if smear else ()))
    source = columns_of(source, names) or source
    widths = (4,) if smear else (2, 3)
    if isinstance(source, np.ndarray) and source.ndim == 2 and source.shape[1] in widths:
        columns = list(source.T)
    elif isinstance(source, (tuple, list)) and len(source) in widths:
        columns = list(source)
    else:
        wanted = "q, intensity, sigma and dq" if smear else "q, intensity and sigma"
        raise InputError(f"expected a curve (a path, a Profile, {wanted}, an array "
                         f"[point, {widths[-1]}]), found {type(source).__name__}"
                         + (f" of shape {source.shape}" if isinstance(source, np.ndarray) else ""))
    columns = [np.ascontiguousarray(column, dtype=np.float64) for column in columns] + [None, None]
    return _pleat.profile_from_arrays(*columns[:4], q_unit, assume_error)


def curve_of(data, frames, options=None, **reading):
    """The curve that is compared with frames under these options of profiles; None without data."""
    given = {name: value for name, value in reading.items() if value not in ("auto", None, False, "", 0)}
    if data is None:
        if given:
            raise UsageError(f"expected {' and '.join(given)} with data, found none")
        return None
    if isinstance(data, (str, os.PathLike)) and frames.xyz.size:
        given["structure_gyration"] = _pleat.gyration_of_structure(frames.xyz[:1], frames.topology, options or {})
    return profile(data, **given)
