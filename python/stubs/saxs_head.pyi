# Types of the module pleat.saxs, written by python/stubs/make_stubs.py from saxs_head.pyi and the options.
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import EnsembleLike, Note, ProfileLike, Saxs, _Result

__all__: list[str]

class Fit(_Result):

class Weights(_Result):

class Model:
    def __init__(
        self,
        q: ArrayLike,
        factors: ArrayLike,
        types: ArrayLike | None = None,
        *,
        count: int | None = None,
        scaled: Sequence[bool] | None = None,
    ) -> None: ...
    @property
    def q(self) -> NDArray[np.float64]: ...
    @property
    def factors(self) -> NDArray[np.float64]: ...
    @property
    def types(self) -> NDArray[np.int32]: ...
    @property
    def scaled(self) -> list[bool]: ...

class Scatterers(_Result):

class ProfileSession:
    model: Model
    device: str
    def __init__(
        self,
        model: Model,
        xyz: ArrayLike,
        *,
        scales: ArrayLike | None = None,
        bodies: ArrayLike | None = None,
        precision: Literal["float32", "float64"] = "float32",
        refresh: int = 1000,
        device: str = "auto",
        threads: int | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def drift(self) -> float: ...
    @property
    def recomputed_pairs(self) -> int: ...
    def profile(self, chain: int = 0) -> NDArray[np.float64]: ...
    def positions(self, chain: int = 0) -> NDArray[np.float32]: ...
    def propose(
        self, xyz: ArrayLike, scatterers: ArrayLike | None = None, chain: int = 0
    ) -> NDArray[np.float64]: ...
    def propose_all(
        self, moves: Sequence[tuple[int, ArrayLike | None, ArrayLike]]
    ) -> NDArray[np.float64]: ...
    def accept(self, chain: int = 0) -> None: ...
    def reject(self, chain: int = 0) -> None: ...
    def refresh(self, chain: int = 0) -> float: ...
    def gradient(self, weight: ArrayLike, chain: int = 0) -> NDArray[np.float64]: ...

Session = ProfileSession

def combine(partial: ArrayLike, weights: ArrayLike | None = None) -> NDArray[np.float64]: ...
def resample(partial: ArrayLike, q: ArrayLike, to: ArrayLike) -> NDArray[np.float64]: ...
def fit_scale(profile: ArrayLike, curve: ProfileLike) -> tuple[float, float]: ...
def chi_square_weights(
    partial: ArrayLike, curve: ProfileLike, scale: float, weights: ArrayLike | None = None
) -> NDArray[np.float64]: ...
