# Ensembles: from files, arrays and the objects of mdtraj, MDAnalysis and Biopython.
"""Coordinates of many frames of the same atoms."""
import os
import warnings

import numpy as np

from . import _pleat
from .errors import InputError
from .options import in_python_words, slice_text
from .result import as_array, repr_html, to_dataframe

Topology = _pleat.Topology
Topology.__module__ = "pleat"
Topology.__doc__ = """What the atoms of an ensemble are, in the order of its coordinates.

names, elements, residue_names, chains : list of str, one an atom
residue_numbers : list of int, as the author of the structure counts
named : False for atoms of an array, which have no names
masses : float64 [atom], dalton; 0 where the element is not known
select(text) : int64 [n], indices of atoms; the language of `pleat rmsd --select`
to_dataframe() : a row per atom, as a pandas.DataFrame, which needs pandas
"""


def _topology_repr(self):
    residues = len(dict.fromkeys(zip(self.chains, self.residue_numbers, self.residue_names)))
    names = f", {residues} residues, {len(set(self.chains))} chains" if self.named else " without names"
    return f"<pleat.Topology: {len(self)} atoms{names}>"


def _topology_table(self):
    """The atoms as a pandas.DataFrame, which needs pandas."""
    return to_dataframe({"name": self.names, "element": self.elements, "residue_name": self.residue_names,
                         "residue_number": self.residue_numbers, "chain": self.chains, "mass": self.masses})


Topology.__repr__, Topology._repr_html_, Topology.to_dataframe = _topology_repr, repr_html, _topology_table

ANGSTROM_PER_NM = np.float32(10)


FARTHEST_CENTRE = 128  # angstrom, as the library's reader of .npy


def _near_origin(xyz, notes):
    """Coordinates of float64 whose first frame lies far from the origin, moved there by whole angstroms.

    float32 holds seven digits, so that coordinates of 1e5 angstrom would be rounded to 0.008. All
    frames are moved alike, and `notes` says by how much.
    """
    xyz = np.asarray(xyz)
    if xyz.dtype != np.float64 or xyz.ndim != 3 or 0 in xyz.shape or xyz.shape[2] != 3:
        return xyz
    centre = xyz[0].mean(axis=0)
    far = (np.abs(centre) > FARTHEST_CENTRE) & (np.abs(centre) < 1e15)
    if not far.any():
        return xyz
    shift = np.where(far, np.round(centre), 0.0)
    moved = np.empty(xyz.shape, dtype=np.float32)
    for frame, near in zip(xyz, moved):
        near[:] = frame - shift
    notes.append("all frames are moved to the origin, as float32 cannot hold coordinates so far from "
                 f"it: by {-shift[0]:g} {-shift[1]:g} {-shift[2]:g} angstrom")
    return moved


class Ensemble:
    """Frames of the same atoms.

    xyz : float32 [frame, atom, 3], angstrom. A contiguous float32 array is taken as it is, without a
        copy; anything else is converted.
    topology : Topology, or None: atoms without names
    files : the files that frames came from
    origins : [(index into files, frame of that file from 0)], one a frame; empty for arrays
    notes : what the reader found worth telling
    box : the periodic cell of all frames, or of each: lengths in angstrom and angles in degrees [6] or
        [frame, 6] (a, b, c, alpha, beta, gamma), or vectors [3, 3] or [frame, 3, 3]. With it and a
        topology molecules that lie on both sides of the cell are made whole, in a copy
    pbc : "auto"; "whole", which refuses frames where that is impossible; "none" leaves all as it is

    numpy.asarray(ensemble) is `xyz`.
    """

    def __init__(self, xyz, topology=None, *, files=(), origins=(), notes=(), box=None, pbc="auto"):
        notes = list(notes)
        self.xyz = np.ascontiguousarray(_near_origin(xyz, notes), dtype=np.float32)
        if self.xyz.ndim != 3 or self.xyz.shape[2] != 3:
            raise InputError(f"expected coordinates [frame, atom, 3], found shape {self.xyz.shape}")
        if topology is not None and len(topology) != self.xyz.shape[1]:
            raise InputError(f"expected coordinates of {len(topology)} atoms, as the topology has, "
                             f"found {self.xyz.shape[1]}")
        if box is not None and topology is not None:
            self.xyz, told = _pleat.make_whole(self.xyz, topology, _cells(box), pbc)
            _warn(told)
            notes += told
        self.topology = topology
        self.files, self.origins, self.notes = list(files), list(origins), list(notes)

    def __len__(self):
        return self.xyz.shape[0]

    @property
    def shape(self):
        """(frames, atoms)"""
        return self.xyz.shape[:2]

    def __repr__(self):
        return f"<pleat.Ensemble: {self.shape[0]} frames, {self.shape[1]} atoms>"

    _repr_html_ = repr_html

    def __array__(self, dtype=None, copy=None):
        return as_array(self.xyz, dtype, copy)

    def __getitem__(self, frames):
        """Frames by a slice (without a copy where it has no stride), index or array of them."""
        if np.ndim(frames) == 0 and not isinstance(frames, slice):
            index = int(frames)
            if not -len(self) <= index < len(self):
                raise IndexError(f"expected a frame from 0 to {len(self) - 1}, found {index}")
            frames = slice(index % len(self), index % len(self) + 1)
        chosen = np.arange(len(self))[frames]
        origins = [self.origins[n] for n in chosen] if self.origins else ()
        return Ensemble(self.xyz[frames], self.topology, files=self.files, origins=origins,
                        notes=self.notes)

    def select(self, atoms):
        """The ensemble of some atoms: text as `pleat rmsd --select` takes it, indices or a mask."""
        indices = self.indices(atoms)
        topology = None if self.topology is None else self.topology.subset(indices)
        return Ensemble(self.xyz[:, indices], topology, files=self.files, origins=self.origins,
                        notes=self.notes)

    def indices(self, atoms):
        """Indices of atoms, int64 [n], from text, indices or a mask: a truth value for each atom.

        InputError for none, for others than there are, and for what is neither.
        """
        if not isinstance(atoms, str):
            return _indices(np.asarray(atoms), self.shape[1])
        topology = self.topology
        if topology is None:
            topology = _pleat.unnamed_topology(self.shape[1])
        return topology.select(atoms)


def _cells(box):
    """float64 [frame or 1, 6] or [frame or 1, 9] from what Ensemble takes as `box`."""
    cells = np.asarray(box, dtype=np.float64)
    if cells.shape == (6,):
        cells = cells[np.newaxis]
    elif cells.ndim >= 2 and cells.shape[-2:] == (3, 3):
        cells = cells.reshape(-1, 9)
    if cells.ndim != 2 or cells.shape[1] not in (6, 9):
        raise InputError(f"expected a box [6], [frame, 6], [3, 3] or [frame, 3, 3], found shape {np.shape(box)}")
    return np.ascontiguousarray(cells)


def _warn(notes):
    for note in notes:
        if note.startswith("warning: "):
            warnings.warn(note.removeprefix("warning: "), stacklevel=3)


def _indices(atoms, count):
    """From indices of `count` atoms, or a mask of them."""
    if atoms.size == 0:
        raise InputError("expected at least 1 atom, found none")
    if atoms.dtype == bool:
        if atoms.shape != (count,):
            raise InputError(f"expected a truth value for each of {count} atoms, found shape {atoms.shape}")
        return _indices(np.flatnonzero(atoms), count)
    if atoms.dtype.kind not in "iu" or atoms.ndim > 1:
        raise InputError("expected atoms as text, whole numbers [n] or a mask, found "
                         f"{atoms.dtype} of shape {atoms.shape}")
    for atom in (atoms.min(), atoms.max()):
        if not 0 <= atom < count:
            raise InputError(f"expected atoms from 0 to {count - 1}, found {atom}")
    return np.ascontiguousarray(atoms, dtype=np.int64).ravel()


@in_python_words
def read_ensemble(sources, *, topology="", assembly="", select="all", frames="::", truncated=False,
                  pbc="auto"):
    """Reads frames of PDB, mmCIF (plain or compressed), DCD, XTC, TRR, AMBER NetCDF or .npy files.

    sources : a path or a list of paths; folders and lists (@FILE, a path a line) too
    topology : PDB or mmCIF file that names the atoms of trajectories
    assembly : name of a biological assembly to build, as PDB (REMARK 350) and mmCIF files describe it: "1";
        further copies of chain A are chains A-2, A-3, ... By default atoms are as listed in the file
    select : atoms to read: all, ca, backbone, heavy, protein, name CA CB, A:10-50, last 10, gemmi's
        syntax; joined by and, or, not and parentheses
    frames : which frames of all files together, counted from 0: a slice, or its text first:last:step
    truncated : keep the whole frames of a file that is cut short, and warn; otherwise it is refused
    pbc : molecules that lie on both sides of the periodic cell of a frame: "auto" makes them whole, "whole"
        does too and refuses frames where it cannot, "none" leaves them

    Warns of files that were cut short and of molecules that may still be split; `notes` says what was made whole.
    Memory while reading: twice the coordinates. InputError names the file and what is wrong with it.
    """
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    xyz, read, files, origins, notes = _pleat.read_ensemble(
        [os.fspath(source) for source in sources], os.fspath(topology), str(assembly), select,
        slice_text(frames), truncated, pbc)
    _warn(notes)
    return Ensemble(xyz, read, files=files, origins=origins, notes=notes)


def _topology(atoms):
    """From (name, element, residue name, residue number, chain, mass) of each atom."""
    if not atoms:
        raise InputError("expected atoms, found none")
    names, elements, residues, numbers, chains, masses = zip(*atoms)
    return _pleat.topology_from_lists(list(names), list(elements), list(residues),
                                      [int(n) for n in numbers], list(chains),
                                      [float(mass) for mass in masses])


def _from_mdtraj(trajectory, pbc):
    """mdtraj counts in nanometres, so its coordinates are copied."""
    atoms = []
    for atom in trajectory.topology.atoms:
        element = getattr(atom, "element", None)
        chain = getattr(atom.residue.chain, "chain_id", None) or atom.residue.segment_id
        atoms.append((atom.name, element.symbol if element else "X", atom.residue.name,
                      atom.residue.resSeq, chain or chr(65 + atom.residue.chain.index % 26),
                      element.mass if element else 0.0))
    box = None if trajectory.unitcell_vectors is None else trajectory.unitcell_vectors * ANGSTROM_PER_NM
    return Ensemble(trajectory.xyz * ANGSTROM_PER_NM, _topology(atoms), box=box, pbc=pbc)


def _of_mdanalysis(atom, name, otherwise):
    """What an atom's topology may lack."""
    try:
        return getattr(atom, name)
    except Exception:  # its NoDataError, which is no name here
        return otherwise


def _from_mdanalysis(source, pbc):
    """A Universe or an AtomGroup, all frames of its trajectory, which then stands where it stood."""
    group = source.atoms
    trajectory = group.universe.trajectory
    atoms = [(_of_mdanalysis(atom, "name", "X"), _of_mdanalysis(atom, "element", "") or "X",
              _of_mdanalysis(atom, "resname", "UNK"), _of_mdanalysis(atom, "resid", 0),
              _of_mdanalysis(atom, "chainID", "") or _of_mdanalysis(atom, "segid", ""),
              _of_mdanalysis(atom, "mass", 0.0)) for atom in group]
    xyz = np.empty((len(trajectory), len(atoms), 3), dtype=np.float32)
    stood = trajectory.frame
    box = np.zeros((len(trajectory), 6))
    for n, step in enumerate(trajectory):
        xyz[n] = group.positions
        if getattr(step, "dimensions", None) is not None:
            box[n] = step.dimensions
    trajectory[stood]
    return Ensemble(xyz, _topology(atoms), box=box, pbc=pbc)


def _from_biopython(structure):
    """A Structure of Bio.PDB: its models are the frames."""
    models = [list(model.get_atoms()) for model in structure]
    for number, model in enumerate(models):
        if [a.get_full_id()[2:] for a in model] != [a.get_full_id()[2:] for a in models[0]]:
            raise InputError(f"frame {number}: expected the atoms of frame 0, found others")
    atoms = []
    for atom in models[0] if models else ():
        residue = atom.get_parent()
        element = (atom.element or "X").capitalize()
        mass = getattr(atom, "mass", 0.0) or 0.0
        atoms.append((atom.get_name(), element, residue.get_resname().strip(), residue.id[1],
                      residue.get_parent().id.strip(), mass if mass == mass else 0.0))
    topology = _topology(atoms)
    return Ensemble([[atom.coord for atom in model] for model in models], topology)


def ensemble(source, *, select=None, pbc="auto"):
    """An ensemble from whatever holds one.

    source : an Ensemble; a path or a list of paths; an array [frame, atom, 3] in angstrom, taken
        without a copy where it is contiguous float32; mdtraj's Trajectory; MDAnalysis's Universe or
        AtomGroup; a Structure of Bio.PDB
    select : atoms to take, as text, indices or a mask
    pbc : as read_ensemble takes it; for files and for objects with periodic cells. For arrays, see Ensemble
    """
    found = _ensemble(source, pbc)
    return found if select is None else found.select(select)


def _is_paths(source):
    return isinstance(source, (str, os.PathLike)) or (
        isinstance(source, (list, tuple)) and len(source) > 0
        and all(isinstance(one, (str, os.PathLike)) for one in source))


def _ensemble(source, pbc):
    if isinstance(source, Ensemble):
        return source
    if _is_paths(source):
        return read_ensemble(source, pbc=pbc)
    if hasattr(source, "xyz") and hasattr(source, "topology") and hasattr(source, "unitcell_vectors"):
        return _from_mdtraj(source, pbc)
    if hasattr(source, "atoms") and hasattr(source, "universe"):
        return _from_mdanalysis(source, pbc)
    if hasattr(source, "get_models") and hasattr(source, "get_atoms"):
        return _from_biopython(source)
    return Ensemble(source)
