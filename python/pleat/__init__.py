# pleat: protein science on CPUs and GPUs, for Python.
"""Couplings, mutual information, RMSD, clusters, scattering, selection and linkers of proteins.

    import pleat
    contacts = pleat.couplings("family.a3m").contacts()
    matrix = pleat.rmsd(xyz).matrix              # xyz: float32 [frame, atom, 3], angstrom
    fit = pleat.saxs("protein.pdb", data="curve.dat").fit

Lengths are angstrom, information is in bits; indices count from 0. Arrays go in and come out
without copies, as far as their type and order allow it. Ctrl-C stops a call; other threads of Python
run meanwhile.
"""
from . import errors  # noqa: F401  the module below takes its exceptions from there
from . import _pleat
from . import other_packages
from . import plot
from . import saxs  # a module that is called, too
from .alignment import Alignment, alignment, read_alignment
from .engines import analyse, cluster, couplings, mean_structure, mutual_information, reweight, rmsd
from .ensemble import Ensemble, Topology, ensemble, read_ensemble
from .errors import DeviceError, Error, InputError, OutputError, UsageError
from .jobs import JobTable, run_jobs
from .note import Note
from .profile import Profile, profile, read_profile
from .report import Page, report
from .result import square
from .results import Analysis, Clusters, Couplings, Mutants, MutualInformation, Refinement, Reweighting, Rmsd, Saxs, Selection
from .run_folders import load
from .surfaces import Accessibility, accessibility
from .workflows import mutants, refine, select

other_packages.warn_of_another_pleat()
__version__ = _pleat.version

__all__ = ["Accessibility", "Alignment", "Analysis", "Clusters", "Couplings", "DeviceError", "Ensemble", "Error", "InputError",
           "JobTable", "Mutants", "MutualInformation", "Note", "OutputError", "Page", "Profile", "Refinement", "Reweighting", "Rmsd", "Saxs", "Selection", "Topology",
           "UsageError",
           "accessibility", "alignment", "analyse", "cluster", "couplings", "ensemble", "load", "mean_structure", "mutants", "mutual_information",
           "plot", "profile", "read_alignment", "read_ensemble", "read_profile", "refine", "report", "reweight", "rmsd", "run_jobs",
           "saxs", "select", "square"]
