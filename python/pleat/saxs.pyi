# Types of the module pleat.saxs, written by python/stubs/make_stubs.py from saxs_head.pyi and the options.
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import EnsembleLike, ProfileLike, Saxs

__all__: list[str]

class Fit:
    @property
    def scale(self) -> float: ...
    @property
    def background(self) -> float: ...
    @property
    def c1(self) -> float: ...
    @property
    def c2(self) -> float: ...
    @property
    def c1_at_bound(self) -> bool: ...
    @property
    def c2_at_bound(self) -> bool: ...
    @property
    def chi2(self) -> float: ...
    @property
    def chi2_reduced(self) -> float | None: ...
    @property
    def points(self) -> int: ...
    @property
    def parameters(self) -> int: ...
    @property
    def model(self) -> NDArray[np.float64]: ...

class Weights:
    @property
    def frames(self) -> NDArray[np.int64]: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...
    @property
    def fit(self) -> Fit: ...
    @property
    def validation(self) -> float: ...
    @property
    def validation_error(self) -> float: ...
    @property
    def effective(self) -> float: ...
    @property
    def exhaustive(self) -> bool: ...

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

class Scatterers:
    @property
    def model(self) -> Model: ...
    @property
    def xyz(self) -> NDArray[np.float32]: ...
    @property
    def scales(self) -> NDArray[np.float32] | None: ...
    @property
    def atoms(self) -> NDArray[np.int64]: ...
    @property
    def type_names(self) -> list[str]: ...
    @property
    def sites(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...

class Session:
    model: Model
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
    def device(self) -> str: ...
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

def combine(partial: ArrayLike, weights: ArrayLike | None = None) -> NDArray[np.float64]: ...
def resample(partial: ArrayLike, q: ArrayLike, to: ArrayLike) -> NDArray[np.float64]: ...
def fit_scale(profile: ArrayLike, curve: ProfileLike) -> tuple[float, float]: ...
def chi_square_weights(
    partial: ArrayLike, curve: ProfileLike, scale: float, weights: ArrayLike | None = None
) -> NDArray[np.float64]: ...
def saxs(
    ensemble: EnsembleLike,
    *,
    select: str | ArrayLike | None = 'all',
    data: ProfileLike | None = None,
    q_unit: Literal['auto', '1/angstrom', '1/nm'] = 'auto',
    assume_error: float | None = None,
    mixture: bool = False,
    models: Literal['auto', 'states', 'parts'] = 'auto',
    form_factors: str | PathLike[str] | None = None,
    device: str = 'auto',
    threads: int | None = None,
    seed: int = 1,
    progress: Callable[[str, int, int, str], object] | None = None,
    model: Literal['auto', 'all-atom', 'one-body', 'two-body'] = 'auto',
    q_max: float = 0.5,
    points: int = 101,
    water: bool = False,
    hydrogens: Literal['implicit', 'explicit'] = 'implicit',
    bin: float = 1.0,
    precision: Literal['auto', 'float32', 'float64'] = 'auto',
    method: Literal['auto', 'debye', 'multipole'] = 'auto',
    c1: float | None = None,
    c1_least: float = 0.95,
    c1_most: float = 1.05,
    c2: float | None = None,
    c2_least: float = -2.0,
    c2_most: float = 4.0,
    background: bool = False,
    members: int = 5,
    reweight: bool = True,
) -> Saxs: ...
def scatterers(
    ensemble: EnsembleLike,
    *,
    q: ArrayLike | None = None,
    models: Literal['auto', 'states', 'parts'] = 'auto',
    form_factors: str | PathLike[str] | None = None,
    device: str = 'auto',
    threads: int | None = None,
    seed: int = 1,
    progress: Callable[[str, int, int, str], object] | None = None,
    model: Literal['auto', 'all-atom', 'one-body', 'two-body'] = 'auto',
    q_max: float = 0.5,
    points: int = 101,
    water: bool = False,
    hydrogens: Literal['implicit', 'explicit'] = 'implicit',
    c1: float | None = None,
    c2: float | None = None,
) -> Scatterers: ...
def profiles(
    model: Model,
    xyz: ArrayLike,
    *,
    scales: ArrayLike | None = None,
    device: str = 'auto',
    threads: int | None = None,
    seed: int = 1,
    progress: Callable[[str, int, int, str], object] | None = None,
    precision: Literal['auto', 'float32', 'float64'] = 'auto',
    method: Literal['auto', 'debye', 'multipole'] = 'auto',
) -> NDArray[np.float64]: ...
