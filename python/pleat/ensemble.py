# Ensembles: from files, arrays and the objects of other packages.
import operator
import os
import warnings

import numpy as np

from . import _pleat, other_packages
from .errors import InputError, UsageError
from .note import Note
from .options import in_python_words, slice_text
from .result import as_array, describe_properties, repr_html, to_dataframe

Topology = _pleat.Topology
Topology.__module__ = "pleat"
Topology.__doc__ = """What the atoms of an ensemble are, in the order of its coordinates.

names, elements, residue_names, chains : list of str, one an atom
residue_numbers : list of int, as the author of the structure counts
named : False for atoms of an array, which have no names
masses : float64 [atom], dalton; 0 where the element is not known
gmx_masses : float64 [atom], dalton: what GROMACS takes by names of atoms with a PDB or GRO file
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


describe_properties(Topology)
Topology.__repr__, Topology._repr_html_, Topology.to_dataframe = _topology_repr, repr_html, _topology_table

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
    notes.append(Note("all frames are moved to the origin, as float32 cannot hold coordinates so far from "
                      f"it: by {-shift[0]:g} {-shift[1]:g} {-shift[2]:g} angstrom", "moved"))
    return moved


class Ensemble:
    """Frames of the same atoms.

    xyz : float32 [frame, atom, 3], angstrom. A contiguous float32 array is taken as it is, without a
        copy; anything else is converted.
    topology : Topology, or None: atoms without names
    files : the files that frames came from
    origins : [(index into files, frame of that file from 0)], one a frame; empty for arrays
    notes : what the reader found worth telling
    names : of each file: of the predicted model, or of the file without endings; empty for arrays
    numbers : int64 [frame], among all frames that the files have, from 0; of arrays 0, 1, ...
    scores : {name: float64 [frame]}, NaN where a score is not known
    is_trajectory : whether the frames of each file follow each other in time: those of DCD, XTC, TRR and AMBER NetCDF
    box : the periodic cell of all frames, or of each: lengths in angstrom and angles in degrees [6] or
        [frame, 6] (a, b, c, alpha, beta, gamma), or vectors [3, 3] or [frame, 3, 3]. With it and a
        topology molecules that lie on both sides of the cell are made whole, in a copy
    pbc : "auto"; "whole", which refuses frames where that is impossible; "none" leaves all as it is

    numpy.asarray(ensemble) is `xyz`.
    """

    def __init__(self, xyz, topology=None, *, files=(), origins=(), notes=(), names=(), numbers=None,
                 scores=None, is_trajectory=False, box=None, pbc="auto"):
        notes = list(notes)
        self.xyz = np.ascontiguousarray(_near_origin(xyz, notes), dtype=np.float32)
        if self.xyz.ndim != 3 or self.xyz.shape[2] != 3:
            raise InputError(f"expected coordinates [frame, atom, 3], found shape {self.xyz.shape}")
        if topology is not None and len(topology) != self.xyz.shape[1]:
            raise InputError(f"expected coordinates of {len(topology)} atoms, as the topology has, "
                             f"found {self.xyz.shape[1]}")
        if pbc == "whole" and (box is None or topology is None):
            raise UsageError('pbc="whole" needs a box and a topology')
        if box is not None and topology is not None:
            self.xyz, told = _pleat.make_whole(self.xyz, topology, _cells(box), pbc)
            _warn(told)
            notes += told
        self.topology, self.is_trajectory = topology, bool(is_trajectory)
        self.files, self.origins, self.notes, self.names = list(files), list(origins), list(notes), list(names)
        self.numbers = self._of_frames(np.arange(len(self)) if numbers is None else numbers, np.int64, "numbers")
        self.scores = {name: self._of_frames(values, np.float64, name) for name, values in (scores or {}).items()}

    def _of_frames(self, values, dtype, name):
        array = np.asarray(values, dtype=dtype)
        if array.shape != (len(self),):
            raise InputError(f"{name}: expected a number for each of {len(self)} frames, found shape {array.shape}")
        return array

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
        return Ensemble(**{**vars(self), "xyz": self.xyz[frames], "origins": origins, "numbers": self.numbers[chosen],
                           "scores": {name: values[chosen] for name, values in self.scores.items()}})

    def select(self, atoms):
        """The ensemble of some atoms: text as `pleat rmsd --select` takes it, indices or a mask."""
        indices = self.indices(atoms)
        topology = None if self.topology is None else self.topology.subset(indices)
        return Ensemble(**{**vars(self), "xyz": self.xyz[:, indices], "topology": topology})

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
        if note.is_warning:
            warnings.warn(note, stacklevel=3)


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
                  pbc="auto", scores=(), score="", best=0, least=False, worst_left_out="", relaxed=False,
                  match="names"):
    """Reads frames of PDB, mmCIF, GRO, SDF (plain or compressed), DCD, XTC, TRR, AMBER NetCDF or .npy files.

    sources : a path or a list of paths; folders and lists (@FILE, a path a line) too. Folders of models by
        AlphaFold, ColabFold, Boltz and Chai-1 give each model once, the best first
    topology : PDB, mmCIF, GRO, PSF or PRMTOP file that names the atoms of trajectories
    assembly : name of a biological assembly to build, as PDB (REMARK 350) and mmCIF files describe it: "1";
        further copies of chain A are chains A-2, A-3, ... By default atoms are as listed in the file
    select : atoms to read: protein, ca, heavy, name CA CB, resid 10 to 50, chain A, within 5 of resname
        HEM, A:10-50; joined by and, or, not and parentheses (docs/selections.md)
    frames : which frames of all files together, counted from 0: a slice, or its text first:last:step
    truncated : keep the whole frames of a file that is cut short, and warn; otherwise it is refused
    pbc : molecules that lie on both sides of the periodic cell of a frame: "auto" makes them whole, "whole"
        does too and refuses frames where it cannot, "none" leaves them
    scores : a file or a list of files with a column `frame` (from 0) or `name` (of files) and columns of
        numbers; or "folder", what the programs wrote beside their models
    score : the column by which frames are ranked; not needed if there is one, or the one by which the
        program ranks its models
    best : keep this number of frames with the best scores, and read no others; 0: all
    least : the lowest score is the best
    worst_left_out : percentage of the frames to leave out, those with the worst scores: "10%"
    relaxed : read the relaxed copies of predicted models where there are both
    match : how atoms of several files are matched: "names" (chain, residue number and name), or "sequence", for
        other numbers, chains and missing residues: chains are paired and residues aligned, the atoms that all files
        have are read, and a note counts them

    Warns of files that were cut short and of molecules that may still be split; `notes` says what was made whole.
    Memory while reading: twice the coordinates. InputError names the file and what is wrong with it.
    """
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    if isinstance(scores, (str, os.PathLike)):
        scores = [scores]
    if not isinstance(worst_left_out, str):
        raise UsageError(f'worst_left_out: expected a percentage such as "10%", found {worst_left_out!r}')
    xyz, read, files, origins, notes, names, numbers, found, is_trajectory = _pleat.read_ensemble(
        [os.fspath(source) for source in sources], os.fspath(topology), str(assembly), select,
        slice_text(frames), truncated, pbc,
        (",".join(os.fspath(one) for one in scores), score, operator.index(best), least, worst_left_out), relaxed,
        match)
    _warn(notes)
    return Ensemble(xyz, read, files=files, origins=origins, notes=notes, names=names, numbers=numbers,
                    scores=found, is_trajectory=is_trajectory)


def _topology(atoms):
    """From (name, element, residue name, residue number, insertion code, chain, mass) of each atom."""
    if not atoms:
        raise InputError("expected atoms, found none")
    names, elements, residues, numbers, insertions, chains, masses = zip(*atoms)
    return _pleat.topology_from_lists(list(names), list(elements), list(residues), [int(n) for n in numbers],
                                      "".join(code.strip() or " " for code in insertions), list(chains),
                                      [float(mass) for mass in masses])


def in_common(frames, others):
    """Both ensembles with the atoms that their sequences have in common, called as in `frames`."""
    if frames.topology is None or others.topology is None:
        raise InputError("expected atoms with names for match='sequence', found coordinates only")
    ours, theirs, chains, identity = _pleat.match_by_sequence(frames.topology, others.topology)
    note = Note(f"chains {chains} by sequence, identity {identity:.2f}: {len(ours)} atoms are used", "matching")
    frames, others = frames.select(ours), others.select(theirs)
    others.topology = frames.topology
    for one in (frames, others):
        one.notes.append(note)
    return frames, others


def with_topology(frames, what="atoms with names"):
    """`frames`; InputError unless their atoms are known."""
    if frames.topology is None:
        raise InputError(f"expected {what}, found coordinates alone; pleat.Ensemble(xyz, topology) names them")
    return frames


def has_names(frames):
    return frames.topology is not None and frames.topology.named


def matched(frames, others, what, any_residues):
    """`others` with the atoms of `frames`, matched by chain, residue and name where both have names."""
    if not (has_names(frames) and has_names(others)):
        return others
    atoms, residues, same = _pleat.match_atoms(frames.topology, others.topology)
    if 2 * same < residues and not any_residues:
        raise InputError(f"{what}: expected residues of the names in the ensemble, found these names in "
                         f"{same} of {residues} residues that have their numbers; any_residues=True "
                         "compares anyway")
    if same < residues:
        others.notes.append(Note(f"{what}: {same} of {residues} residues that have their numbers have the names in the "
                                 "ensemble", "names_differ", "match='sequence'", residues - same > 3))
        _warn(others.notes[-1:])
    if np.array_equal(atoms, np.arange(others.shape[1])):
        return others
    if _pleat.are_molecules(frames.topology, others.topology):  # by bonds; hydrogens are not known
        xyz = np.where((atoms < 0)[:, None], np.float32(np.nan), others.xyz[:, atoms])
        return Ensemble(np.ascontiguousarray(xyz))
    ours, theirs = frames.topology, others.topology
    if (atoms < 0).any() and (ours.names, ours.residue_numbers) == (theirs.names, theirs.residue_numbers):
        return others  # chains of other names, as packages give them
    if (atoms < 0).any():
        raise InputError(f"{what}: expected the {len(atoms)} atoms of the ensemble, found "
                         f"{np.count_nonzero(atoms < 0)} of them missing")
    return others.select(atoms)


def all_in_common(frames, *others):
    """`frames` and what they are compared with, with the atoms that their sequences have in common."""
    found = list(others)
    for n, other in enumerate(others):
        is_file = isinstance(other, (str, os.PathLike))
        if other is None or (is_file and str(other) == "mean") or isinstance(other, (int, np.integer)):
            continue
        frames, found[n] = in_common(frames, ensemble(other))
    return frames, *found


def ensemble(source, *, select=None, pbc="auto", match="names"):
    """An ensemble from whatever holds one.

    source : an Ensemble; a path or a list of paths; an array [frame, atom, 3] in angstrom, taken
        without a copy where it is contiguous float32; mdtraj's Trajectory; MDAnalysis's Universe or
        AtomGroup; a Structure of Bio.PDB; gemmi's Structure or Model; ProDy's AtomGroup, Selection or
        Ensemble. Or an iterator or list of chunks of frames, each one of these (arrays [frame, atom, 3]), such
        as mdtraj.iterload: they are joined in one array, in the memory of all frames and two chunks, and made
        whole in a copy if they have periodic cells
    select : atoms to take, as text, indices or a mask
    pbc : as read_ensemble takes it; for files and for objects with periodic cells. For arrays, see Ensemble
    match : of several files, as read_ensemble takes it
    """
    if isinstance(source, Ensemble):
        found = source
    elif is_paths(source):
        found = read_ensemble(source, pbc=pbc, match=match)
    elif _are_chunks(source):
        found = _joined(source, pbc)
    else:
        held = other_packages.frames_of(source)
        xyz, atoms, box = held or (source, None, None)
        found = Ensemble(xyz, None if atoms is None else _topology(atoms), box=box, pbc=pbc if held else "auto")
    return found if select is None else found.select(select)


def _are_chunks(source):
    if isinstance(source, (list, tuple)) and source:
        return getattr(getattr(source[0], "xyz", source[0]), "ndim", 0) == 3
    return hasattr(source, "__next__")


def _joined(chunks, pbc):
    """One ensemble from consecutive chunks of frames of the same atoms; molecules are made whole at the end, as places
    are those of the first frame of all."""
    first = xyz = topology = None
    count, notes, cells, how = 0, [], [], "auto"
    for number, chunk in enumerate(chunks):
        try:
            box = None
            if first is not None and topology is not None and getattr(chunk, "topology", None) is topology:
                coordinates, box = other_packages.in_angstrom(chunk)
                part = Ensemble(coordinates, first.topology)
            elif held := other_packages.frames_of(chunk):
                coordinates, atoms, box = held
                part, how = Ensemble(coordinates, None if atoms is None else _topology(atoms)), pbc
            else:
                part = ensemble(chunk, pbc=pbc)
            if first is None:
                first, xyz = part, np.empty((0, *part.xyz.shape[1:]), dtype=np.float32)
                topology = chunk.topology if hasattr(chunk, "unitcell_vectors") else None
            _check_chunk(first, part)
            if (box is not None) != bool(cells) and number > 0:
                raise InputError("expected periodic cells in all chunks or in none")
        except InputError as error:
            raise InputError(f"chunk {number}: {error}") from None
        notes += [note for note in part.notes if note not in notes]
        if box is not None:
            box = _cells(box)
            cells.append(np.broadcast_to(box, (len(part), box.shape[1])))
        if count + len(part) > len(xyz):  # grows where it lies, so that memory is not needed twice
            xyz.resize((count + len(part) + count // 8, *xyz.shape[1:]), refcheck=False)
        xyz[count:count + len(part)] = part.xyz
        count += len(part)
    if first is None:
        raise InputError("expected chunks of frames, found none")
    xyz.resize((count, *xyz.shape[1:]), refcheck=False)
    box = np.concatenate(cells) if cells else None
    if box is not None and box.shape[1] == 9:
        box = box.reshape(-1, 3, 3)
    return Ensemble(xyz, first.topology, notes=notes, box=box, pbc=how)


def _check_chunk(first, part):
    """InputError for a chunk without frames, with other atoms than the first, or moved by a vector of its own."""
    if len(part) == 0:
        raise InputError("expected frames, found none")
    if part.shape[1] != first.shape[1]:
        raise InputError(f"expected {first.shape[1]} atoms as in chunk 0, found {part.shape[1]}")
    known = [[one.names, one.residue_numbers, one.chains] for one in (first.topology, part.topology) if one is not None]
    if part.topology is not first.topology and known[0] != known[-1]:
        raise InputError("expected the atoms of chunk 0, found others of other names")
    if any(note.kind == "moved" for note in part.notes):
        raise InputError("expected coordinates near the origin, found some of float64 that were moved there: subtract "
                         "one vector from all chunks, or give float32")


def is_paths(source):
    """Whether it is a path or a list of paths."""
    return isinstance(source, (str, os.PathLike)) or (
        isinstance(source, (list, tuple)) and len(source) > 0
        and all(isinstance(one, (str, os.PathLike)) for one in source))
