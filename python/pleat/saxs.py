# SAXS: scattering profiles and fits by calling this module, and sessions of Monte Carlo chains.
"""Small angle scattering of X-rays and neutrons. The module is a function too:

    result = pleat.saxs("protein.pdb", data="curve.dat")     # profile, fit
    session = pleat.saxs.ProfileSession(model, xyz)          # Monte Carlo chains

Partial profiles I_ab are float64 [channel pair, q], pairs a <= b of the channels of amplitudes, with
I(q) = sum of w_a w_b I_ab(q) for channel weights w (see `combine`); with one channel I(q) is row 0.
q is 4 pi sin(theta) / lambda in 1/angstrom, lengths are angstrom, intensities electrons^2 (fm^2 of neutrons). Papers and
formulas: the library's README of saxs; Antonov, Andreetta, Hamelryck, BIOINFORMATICS 2012, 102-108.
"""
import os
import sys
import types as _types
import warnings

import numpy as np

from . import _pleat
from .ensemble import ensemble as as_ensemble, with_topology
from .errors import InputError, UsageError
from .options import engine, in_python_words
from .profile import curve_of, profile as as_profile
from .result import describe_properties
from .results import Fit, Saxs, Scatterers, Weights

_FIELDS = _pleat.saxs_fields()
_NO_VALUES = np.empty(0)


def _fields(*names):
    return [field for field in _FIELDS if field["name"] in names]


def _selected(source, select="all"):
    frames = as_ensemble(source)
    if not (isinstance(select, str) and select == "all"):
        frames = frames.select(select)
    return with_topology(frames, "atoms of known elements")


def _structures(frames):
    # The result shows how many atoms were selected.
    notes = [note for note in frames.notes if getattr(note, "kind", "") != "selection"]
    return _pleat.Structures(frames.xyz, frames.topology, frames.files, frames.origins, notes)


def _text(path):
    return "" if path is None else os.fspath(path)


def _further(pair, frames, options, **reading):
    """A further curve as (Profile, D2O fraction or None)."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or isinstance(pair[1], (str, bool)):
        raise InputError("expected series of pairs (curve, D2O fraction or None for X-rays), found "
                         f"{type(pair).__name__}")
    return (curve_of(pair[0], frames, options, **reading),
            None if pair[1] is None else float(pair[1]))


@engine(_FIELDS, Saxs)
def saxs(ensemble, *, select="all", data=None, q_unit="auto", assume_error=None, smear=False, columns="",
         curve="", q_min=0.0, series=None, mixture=False, form_factors=None, options, how):
    """Computes scattering profiles of structures and fits them to measured curves.

    ensemble : what pleat.ensemble takes: a path, paths, an Ensemble, objects of other packages; arrays
        with a topology as pleat.Ensemble(xyz, topology). Coordinates are copied once
    select : atoms to use, as text, indices or a mask
    data : what pleat.profile takes: a path, a Profile, (q, intensity, sigma), an array [point, 3]
    q_unit, assume_error, smear, columns, curve, q_min : as for pleat.read_profile
    series : further curves of the same sample, fitted together with `data` with one c1 and c2: pairs
        (what pleat.profile takes, D2O fraction of neutrons or None for X-rays); None: none
    mixture : whether `ensemble` is a list of components, each with its own atoms
    form_factors : path of form factors of a bead model instead of pleat's
    """
    if mixture and not isinstance(ensemble, (list, tuple)):
        raise UsageError("expected a list of components with mixture=True, found "
                         f"{type(ensemble).__name__}")
    components = list(ensemble) if mixture else [ensemble]
    components = [_selected(one, select) for one in components]
    reading = {"q_unit": q_unit, "assume_error": assume_error, "smear": smear, "columns": columns,
               "curve": curve, "q_min": q_min}
    first = components[0] if components else ()
    measured = curve_of(data, first, options, **reading)
    further = [_further(one, first, options, **reading) for one in series or ()]
    result = Saxs(_pleat.saxs([_structures(one) for one in components], measured, further,
                              _text(form_factors), options, how))
    for text in result.warnings:
        warnings.warn(text, stacklevel=3)
    return result


@engine(_fields("model", "q-max", "q-points", "water", "ions", "hydrogens", "neutrons", "d2o", "deuterate",
                "backbone-exchange", "c1", "c2", "models-are"), Scatterers)
def scatterers(ensemble, *, q=None, form_factors=None, options, how):
    """Divides structures into scatterers: a model and positions for ProfileSession and profiles.

    ensemble : what pleat.saxs takes; each frame may be a chain
    q : float64 [q], 1/angstrom, rising; None: `q_points` values evenly from 0 to `q_max`, which are
        cheapest to compute
    form_factors : as for pleat.saxs

    The contrast is built in: c1 and c2 are not fitted (None: 1 and 0). If c2 is not 0, sites of the
    hydration layer follow the scatterers; they move with the atoms only if you move them.
    """
    grid = _NO_VALUES if q is None else np.ascontiguousarray(q, dtype=np.float64).ravel()
    if q is not None and not grid.size:
        raise InputError("expected at least 1 value of q, found none")
    return Scatterers(_pleat.scatterers(_structures(_selected(ensemble)), grid, _text(form_factors), options, how))


Model = _pleat.SaxsModel
Model.__module__, Model.__name__, Model.__qualname__ = "pleat.saxs", "Model", "Model"
Model.__doc__ = """Scatterers without positions: A_i(q) = sum over channels c of w_c s_ci f_c[type_i](q).

Model(q, factors, types=None, *, count=None, scaled=None)

q : float64 [q], 1/angstrom, rising from 0 or more; evenly spaced values are cheapest
factors : float64 [channel, type, q], electrons; [type, q] if there is one channel
types : int32 [scatterer], from 0; None: `count` scatterers of type 0
scaled : bool [channel], whether scatterers have scales s_ci in it; None: in none

All are copied. UsageError for shapes that do not agree and values that are not finite.
"""
describe_properties(Model)
_INIT = Model.__init__


def _init(self, q, factors, types=None, *, count=None, scaled=None):
    factors = np.asarray(factors, dtype=np.float64)
    if factors.ndim == 2:
        factors = factors[np.newaxis]
    if (types is None) == (count is None):
        raise UsageError("expected one of types and count, found both or none")
    types = np.zeros(count, np.int32) if types is None else _integers(types, "types")
    marks = [False] * len(factors) if scaled is None else [bool(mark) for mark in scaled]
    _INIT(self, np.asarray(q, dtype=np.float64), factors, types.astype(np.int32), marks)


Model.__init__ = _init
Model.__repr__ = lambda self: (
    f"<pleat.saxs.Model: {len(self.types)} scatterers of {self.factors.shape[1]} types, "
    f"{len(self.factors)} channels, {len(self.q)} q>")


def _integers(values, what):
    """An array of whole numbers; floats are refused, not cut."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise InputError(f"expected whole numbers as {what}, found {array.dtype}")
    if array.size and not -2**31 <= int(array.min()) <= int(array.max()) < 2**31:
        raise InputError(f"expected {what} of at most 2147483647, found others")
    return array.astype(np.int64)


def _by_frame(values):
    """float32 [frame, ...] of coordinates or scales of frames or of one; empty of None."""
    array = np.asarray(_NO_VALUES if values is None else values, dtype=np.float32)
    return array[np.newaxis] if array.ndim == 2 else array


@engine(_fields("precision", "method"))
def profiles(model, xyz, *, scales=None, options, how):
    """Partial profiles of scatterers by Debye's formula: float64 [frame, channel pair, q].

    model : Model
    xyz : float32 [frame, scatterer, 3] or [scatterer, 3], angstrom
    scales : float32 [frame, channel with scales, scatterer]; None if the model has none
    """
    return _pleat.saxs_profiles(model, _by_frame(xyz), _by_frame(scales), options, how)


class ProfileSession:
    """Monte Carlo chains of the same scatterers: a move recomputes only the pairs that it changes.

    model : Model
    xyz : float32 [chain, scatterer, 3], or [scatterer, 3] for one chain, angstrom; copied
    scales : float32 [chain, channel with scales, scatterer], which moves do not change; None if the
        model has none
    bodies : int [scatterer], from 0: the rigid body of each, best those that move as one, such as
        domains; None: consecutive segments. The sums over pairs of bodies are kept. A body that moved
        without a change of its shape keeps its own sum, and bodies that moved alike keep the sums
        between them
    precision : 'float32' (profiles within 2e-6) or 'float64'
    refresh : accepted moves of a chain after which all its sums are computed again; 0: only by refresh()
    device, threads : where to compute; 'auto' is the CPU

    len(session) is the number of chains, `model` the model, `device` the device. Methods take the number
    of a chain, from 0, and raise UsageError if there is no such chain. Python threads may share a
    session; one at a time computes. Papers: the library's README of saxs.
    """

    @in_python_words
    def __init__(self, model, xyz, *, scales=None, bodies=None, precision="float32", refresh=1000,
                 device="auto", threads=None):
        body_of = np.empty(0, np.int32) if bodies is None else _integers(bodies, "bodies")
        self._session = _pleat.ProfileSession(model, _by_frame(xyz), _by_frame(scales), body_of.astype(np.int32), refresh,
                                              {"precision": precision}, {"device": device, "threads": threads})
        self.model, self.device = model, self._session.device

    def __len__(self):
        return self._session.chains

    @property
    def drift(self):
        """The largest relative change of any profile that a refresh found."""
        return self._session.drift

    @property
    def recomputed_pairs(self):
        """Pairs of bodies that the last proposal recomputed, for the choice of bodies."""
        return self._session.recomputed_pairs

    def profile(self, chain=0):
        """Partial profiles of the accepted positions: float64 [channel pair, q]."""
        return self._session.profile(chain)

    def positions(self, chain=0):
        """The accepted positions: float32 [scatterer, 3], angstrom."""
        return self._session.positions(chain)

    def propose(self, xyz, scatterers=None, chain=0):
        """Partial profiles as they would be after a move: float64 [channel pair, q].

        xyz : float32 [moved, 3], angstrom, the new positions
        scatterers : int [moved], each once; None: all

        The state does not change until `accept`. A proposal that was not accepted is dropped.
        """
        return self.propose_all([(chain, scatterers, xyz)])[0]

    def propose_all(self, moves):
        """The same for many chains in one batch: float64 [move, channel pair, q].

        moves : (chain, scatterers, xyz) of each, at most one per chain. If one is refused, none is
            proposed
        """
        whole = np.arange(self.model.types.size)
        return self._session.propose([
            (chain, whole if scatterers is None else _integers(scatterers, "scatterers"),
             np.asarray(xyz, dtype=np.float32)) for chain, scatterers, xyz in moves])

    def accept(self, chain=0):
        """Makes a chain's proposal its state; UsageError if there is none."""
        self._session.accept(chain)

    def reject(self, chain=0):
        """Drops a chain's proposal."""
        self._session.reject(chain)

    def refresh(self, chain=0):
        """Computes all sums of a chain again; returns the largest relative drift of its profile."""
        return self._session.refresh(chain)

    def gradient(self, weight, chain=0):
        """Gradient of sum weight(pair, q) I_pair(q) at the accepted positions: float64 [scatterer, 3].

        weight : float64 [channel pair, q], such as chi_square_weights gives

        DeviceError on a GPU, which has no gradients.
        """
        return self._session.gradient(chain, np.asarray(weight, dtype=np.float64))


def combine(partial, weights=None):
    """I(q) = sum over a <= b of w_a w_b I_ab(q): float64 [..., q] of partial profiles [..., pair, q].

    weights : float64 [channel]; None: all 1
    """
    partial = np.asarray(partial, dtype=np.float64)
    if partial.ndim < 2:
        raise InputError(f"expected partial profiles [..., channel pair, q], found shape {partial.shape}")
    if weights is None:
        return partial.sum(axis=-2)
    weights = np.asarray(weights, dtype=np.float64)
    rows = [_pleat.combine(one, weights) for one in partial.reshape(-1, *partial.shape[-2:])]
    return np.reshape(rows, partial.shape[:-2] + partial.shape[-1:])


def resample(partial, q, to):
    """Partial profiles [channel pair, q] interpolated at other rising q by cubic splines: [channel pair, to]."""
    return _pleat.resample(partial, q, to)


def fit_scale(profile, curve):
    """(scale, chi^2) that fit a profile float64 [point] best to a curve at the same q; chi^2 is a sum."""
    return _pleat.fit_scale(profile, as_profile(curve))


def chi_square_weights(partial, curve, scale, weights=None):
    """Weights with which ProfileSession.gradient gives the gradient of chi^2 = sum ((intensity - scale I) / sigma)^2.

    partial : float64 [channel pair, q] at the curve's q
    scale : from fit_scale; then this is the gradient of the smallest chi^2
    weights : float64 [channel]; None: all 1
    """
    partial = np.asarray(partial, dtype=np.float64)
    if weights is None:
        weights = np.ones(round(((1 + 8 * partial.shape[0]) ** 0.5 - 1) / 2))
    return _pleat.chi_square_weights(partial, weights, as_profile(curve), scale)


class _Callable(_types.ModuleType):
    """A module whose call is its function `saxs`."""

    __call__ = staticmethod(saxs)


_module = sys.modules[__name__]
_module.__class__ = _Callable
# What inspect and help show of the call.
_module.__signature__, _module.fields = saxs.__signature__, saxs.fields
_module.__doc__ = __doc__ + "\n" + saxs.__doc__
__all__ = ["Fit", "Model", "ProfileSession", "Scatterers", "Weights", "chi_square_weights", "combine",
           "fit_scale", "profiles", "resample", "saxs", "scatterers"]
