# Types of the module pleat, written by python/stubs/make_stubs.py from head.pyi and the options.
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import plot as plot
from .saxs import Fit as _Fit
from .saxs import Model as _Model
from .saxs import Scatterers as _Scatterers
from .saxs import ProfileSession as _ProfileSession
from .saxs import Weights as _Weights
from .saxs import chi_square_weights as _chi_square_weights
from .saxs import combine as _combine
from .saxs import fit_scale as _fit_scale
from .saxs import profiles as _profiles
from .saxs import resample as _resample
from .saxs import scatterers as _scatterers

__version__: str
__all__: list[str]

# Paths, arrays, the objects of other packages: see the functions `alignment`, `ensemble`, `profile`.
AlignmentLike = Any
EnsembleLike = Any
ProfileLike = Any
Pbc = Literal["auto", "whole", "none"]
Records = NDArray[np.void]

class Error(Exception): ...
class UsageError(Error, ValueError): ...
class InputError(Error, ValueError): ...
class DeviceError(Error, RuntimeError): ...
class OutputError(Error, OSError): ...

class Note(str):
    kind: str
    option: str
    is_warning: bool
    def __new__(cls, text: str, kind: str = "assumption", option: str = "", is_warning: bool = False) -> Note: ...

class _Result:
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def to_dataframe(self, table: str | None = None) -> Any: ...

class Alignment:
    @property
    def letters(self) -> NDArray[np.uint8]: ...
    @property
    def columns(self) -> NDArray[np.int64]: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def sequences(self) -> list[str]: ...
    @property
    def alphabet(self) -> str: ...
    @property
    def alphabet_letters(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def notes(self) -> list[Note]: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    def __len__(self) -> int: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def filter(self, max_gaps: float = 1.0, min_coverage: float = 0.0) -> Alignment: ...

class Topology:
    @property
    def names(self) -> list[str]: ...
    @property
    def elements(self) -> list[str]: ...
    @property
    def residue_names(self) -> list[str]: ...
    @property
    def residue_numbers(self) -> list[int]: ...
    @property
    def chains(self) -> list[str]: ...
    @property
    def named(self) -> bool: ...
    @property
    def masses(self) -> NDArray[np.float64]: ...
    @property
    def gmx_masses(self) -> NDArray[np.float64]: ...
    def __len__(self) -> int: ...
    def select(self, text: str) -> NDArray[np.int64]: ...
    def subset(self, atoms: Sequence[int]) -> Topology: ...
    def to_dataframe(self) -> Any: ...

class Ensemble:
    xyz: NDArray[np.float32]
    topology: Topology | None
    files: list[str]
    origins: list[tuple[int, int]]
    notes: list[Note]
    names: list[str]
    numbers: NDArray[np.int64]
    scores: dict[str, NDArray[np.float64]]
    is_trajectory: bool
    def __init__(
        self,
        xyz: ArrayLike,
        topology: Topology | None = None,
        *,
        files: Sequence[str] = (),
        origins: Sequence[tuple[int, int]] = (),
        notes: Sequence[str] = (),
        names: Sequence[str] = (),
        numbers: ArrayLike | None = None,
        scores: dict[str, ArrayLike] | None = None,
        is_trajectory: bool = False,
        box: ArrayLike | None = None,
        pbc: Pbc = "auto",
    ) -> None: ...
    def __len__(self) -> int: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __getitem__(self, frames: int | slice | ArrayLike) -> Ensemble: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    def select(self, atoms: str | ArrayLike) -> Ensemble: ...
    def indices(self, atoms: str | ArrayLike) -> NDArray[np.int64]: ...

class Couplings(_Result):
    def save(self, folder: str | PathLike[str]) -> None: ...
    def contacts(self, min_separation: int = 6) -> Records: ...
    def to_dataframe(self, table: str | None = None, *, min_separation: int = 6) -> Any: ...

class MutualInformation(_Result):
    def save(self, folder: str | PathLike[str]) -> None: ...

class Rmsd(_Result):
    def save(self, folder: str | PathLike[str]) -> None: ...

class Clusters(_Result):
    def save(self, folder: str | PathLike[str]) -> None: ...
    def transitions(self, lag: int = 1) -> Records: ...
    def dwells(self) -> Records: ...
    def dwell_times(self, timestep: float = 1.0) -> Records: ...

class Selection(_Result):
    def save(self, folder: str | PathLike[str]) -> None: ...

class Mutants(_Result):
    def save(self, folder: str | PathLike[str]) -> None: ...

class Analysis(_Result):
    def save(self, folder: str | PathLike[str]) -> None: ...

class Reweighting(_Result):

class Refinement(_Result):
    def save(self, folder: str | PathLike[str]) -> None: ...

class Profile:
    @property
    def q(self) -> NDArray[np.float64]: ...
    @property
    def intensity(self) -> NDArray[np.float64]: ...
    @property
    def sigma(self) -> NDArray[np.float64]: ...
    @property
    def dq(self) -> NDArray[np.float64] | None: ...
    @property
    def notes(self) -> list[Note]: ...
    def __len__(self) -> int: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def to_dataframe(self) -> Any: ...

class Saxs(_Result):
    def save(self, folder: str | PathLike[str]) -> None: ...

def alignment(
    source: AlignmentLike, *, names: Sequence[str] | None = None, alphabet: str = ""
) -> Alignment: ...
def read_alignment(path: str | PathLike[str], *, format: str = "", alphabet: str = "", insertions: str = "auto",
                   record: int | None = None) -> Alignment: ...
def ensemble(source: EnsembleLike, *, select: str | ArrayLike | None = None, pbc: Pbc = "auto", match: str = "names") -> Ensemble: ...
def read_ensemble(
    sources: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    topology: str | PathLike[str] = "",
    assembly: str = "",
    select: str = "all",
    frames: str | slice = "::",
    truncated: bool = False,
    pbc: Pbc = "auto",
    scores: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    score: str = "",
    best: int = 0,
    least: bool = False,
    worst_left_out: str = "",
    relaxed: bool = False,
    match: str = "names",
) -> Ensemble: ...
def profile(
    source: ProfileLike,
    *,
    q_unit: Literal["auto", "1/angstrom", "1/nm"] = "auto",
    assume_error: float | None = None,
    smear: bool = False,
    columns: str = "",
    curve: str | int = "",
    q_min: float = 0.0,
    structure_gyration: float | None = None,
) -> Profile: ...
def read_profile(
    path: str | PathLike[str],
    *,
    q_unit: Literal["auto", "1/angstrom", "1/nm"] = "auto",
    assume_error: float | None = None,
    smear: bool = False,
    columns: str = "",
    curve: str | int = "",
    q_min: float = 0.0,
    structure_gyration: float | None = None,
) -> Profile: ...
class Accessibility(NamedTuple):
    area: NDArray[np.float64]
    relative: NDArray[np.float64]
    chains: list[str]
    numbers: NDArray[np.int64]
    insertions: list[str]
    names: list[str]

def accessibility(structure: EnsembleLike, *, select: str | ArrayLike | None = None) -> Accessibility: ...
class JobTable(list[dict[str, Any]]):
    @property
    def failed(self) -> list[dict[str, Any]]: ...
    def to_dataframe(self) -> Any: ...

def run_jobs(
    command: Literal["couplings", "mi", "rmsd", "cluster", "saxs", "select", "refine", "mutants"],
    inputs: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    *,
    output: str | PathLike[str],
    list_file: str | PathLike[str] | None = None,
    sweep: Mapping[str, Any] | str | PathLike[str] | None = None,
    share: bool = False,
    jobs: int | None = None,
    force: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: bool | Callable[[str, int, int, str], object] | None = None,
    **options: Any,
) -> JobTable: ...
def load(
    folder: str | PathLike[str],
) -> Couplings | MutualInformation | Rmsd | Clusters | Saxs | Selection | Refinement | Mutants: ...
class Page:
    @property
    def html(self) -> str: ...
    @property
    def runs(self) -> int: ...
    @property
    def panels(self) -> int: ...
    @property
    def notes(self) -> list[Note]: ...
    def save(self, path: str | PathLike[str], *, force: bool = False) -> None: ...

def report(
    runs: str | PathLike[str] | _Result | Sequence[str | PathLike[str] | _Result] | Mapping[str, _Result],
    output: str | PathLike[str] | None = None,
    *,
    structure: str | PathLike[str] = "",
    title: str = "",
    rows: int = 1000,
    cells: int = 1000,
    force: bool = False,
) -> Page: ...
def square(values: ArrayLike, diagonal: float = 0.0) -> NDArray[Any]: ...
