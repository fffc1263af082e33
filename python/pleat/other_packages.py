# Other packages: coordinates, atoms and sequences of the objects of mdtraj, MDAnalysis, Biopython, gemmi and ProDy.
"""Objects are known by their methods, so no package is imported."""
import os
import warnings
from fnmatch import filter as named

import numpy as np

from .errors import InputError

ANGSTROM_PER_NM = np.float32(10)


def warn_of_another_pleat():
    """Warns if a package called `pleat` was installed into the same folder before."""
    folder = os.path.dirname(os.path.dirname(__file__))
    for other in named(os.listdir(folder), "pleat-*.dist-info"):
        warnings.warn(f"{other.removesuffix('.dist-info')} is installed here, too: another package, an origami program, or an old pleat; "
                      "both put files into pleat/. Run `pip uninstall pleat pleat-protein`, then install pleat-protein again",
                      stacklevel=3)


def frames_of(source):
    """(coordinates [frame, atom, 3] in angstrom, [(name, element, residue name, residue number, insertion code,
    chain, mass)] of the atoms or None, periodic cells as Ensemble takes them or None) of an object of another
    package; None for what is none."""
    for methods, convert in (
            (("xyz", "topology", "unitcell_vectors"), _from_mdtraj), (("atoms", "universe"), _from_mdanalysis),
            (("get_models", "get_atoms"), _from_biopython), (("spacegroup_hm", "setup_entities"), _from_gemmi),
            (("get_all_residue_names", "find_cra"), lambda model: _from_gemmi([model])),
            (("getCoordsets", "getCoords"), _from_prody)):
        if all(hasattr(source, name) for name in methods):
            return convert(source)
    return None


def rows_of(source):
    """(sequences, names) of an alignment of another package; None for what is none."""
    if hasattr(source, "getArray") and hasattr(source, "getLabels"):  # ProDy
        return ["".join(row) for row in source.getArray().astype("U1")], list(source.getLabels())
    if hasattr(source, "index") and hasattr(source, "to_list"):  # a Series of pandas
        return source.to_list(), [str(name) for name in source.index]
    if hasattr(source, "sequences") and hasattr(source, "coordinates"):  # Bio.Align.Alignment
        return ([str(source[n]) for n in range(len(source.sequences))],
                [getattr(one, "id", f"sequence {n}") for n, one in enumerate(source.sequences, 1)])
    try:
        first = next(iter(source))
    except (TypeError, StopIteration):
        return None
    if hasattr(first, "seq") and hasattr(first, "id"):  # MultipleSeqAlignment or a list of SeqRecord
        return [str(record.seq) for record in source], [record.id for record in source]
    return None


def columns_of(table, names):
    """Columns of a DataFrame of pandas, float64; None for what is none. InputError if it lacks one."""
    if not (hasattr(table, "columns") and hasattr(table, "to_numpy")):
        return None
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise InputError(f"expected the columns {', '.join(names)}, found none named {', '.join(missing)}")
    return [table[name].to_numpy(dtype=np.float64) for name in names]


def _same_atoms(models):
    """`models` [frame][atom of any kind]: the names of atoms must be those of frame 0."""
    for number, model in enumerate(models):
        if model != models[0]:
            raise InputError(f"frame {number}: expected the atoms of frame 0, found others")


def _from_mdtraj(trajectory):
    """mdtraj counts in nanometres, so its coordinates are copied."""
    atoms = []
    for atom in trajectory.topology.atoms:
        element = getattr(atom, "element", None)
        chain = getattr(atom.residue.chain, "chain_id", None) or atom.residue.segment_id
        atoms.append((atom.name, element.symbol if element else "X", atom.residue.name, atom.residue.resSeq, "",
                      chain or chr(65 + atom.residue.chain.index % 26), element.mass if element else 0.0))
    xyz, box = in_angstrom(trajectory)
    return xyz, atoms, box


def in_angstrom(trajectory):
    """Coordinates and periodic cells (or None) of mdtraj's Trajectory."""
    cells = trajectory.unitcell_vectors
    return trajectory.xyz * ANGSTROM_PER_NM, None if cells is None else cells * ANGSTROM_PER_NM


def _of_mdanalysis(atom, name, otherwise):
    """What an atom's topology may lack."""
    try:
        return getattr(atom, name)
    except Exception:  # its NoDataError, which is no name here
        return otherwise


def _from_mdanalysis(source):
    """A Universe or an AtomGroup, all frames of its trajectory, which then stands where it stood."""
    group = source.atoms
    trajectory = group.universe.trajectory
    atoms = [(_of_mdanalysis(atom, "name", "X"), _of_mdanalysis(atom, "element", "") or "X",
              _of_mdanalysis(atom, "resname", "UNK"), _of_mdanalysis(atom, "resid", 0),
              _of_mdanalysis(atom, "icode", ""),
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
    return xyz, atoms, box


def _from_biopython(structure):
    """A Structure of Bio.PDB: its models are the frames."""
    models = [list(model.get_atoms()) for model in structure]
    _same_atoms([[atom.get_full_id()[2:] for atom in model] for model in models])
    atoms = []
    for atom in models[0] if models else ():
        residue = atom.get_parent()
        mass = getattr(atom, "mass", 0.0) or 0.0
        atoms.append((atom.get_name(), atom.element or "X", residue.get_resname().strip(), residue.id[1], residue.id[2],
                      residue.get_parent().id.strip(), mass if mass == mass else 0.0))
    return [[atom.coord for atom in model] for model in models], atoms, None


def _one_location(chain):
    """(residue, atom) of a chain of gemmi's. Of alternative locations that of the highest occupancy is taken, the
    first of several, as pleat's readers do."""
    names, kept = {}, {}
    listed = [(residue, atom) for residue in chain for atom in residue]
    for residue, atom in listed:
        seqid = str(residue.seqid)
        if atom.has_altloc() and (seqid not in names or atom.occ > names[seqid][1]):
            names[seqid] = (residue.name, atom.occ)
    for number, (residue, atom) in enumerate(listed):
        seqid = str(residue.seqid)
        key = (seqid, atom.name) if atom.has_altloc() else number
        if atom.has_altloc() and names[seqid][0] != residue.name:
            continue
        if key not in kept or atom.occ > kept[key][1].occ:
            kept[key] = (residue, atom)
    return kept.values()


def _from_gemmi(models):
    """A Structure, whose models are the frames, or a list of one Model."""
    frames, found = [], []
    for model in models:
        kept = [(chain, *pair) for chain in model for pair in _one_location(chain)]
        frames.append([atom.pos.tolist() for _, _, atom in kept])
        found.append([(atom.name, atom.element.name, residue.name, residue.seqid.num, residue.seqid.icode, chain.name,
                       atom.element.weight) for chain, residue, atom in kept])
    _same_atoms(found)
    return frames, found[0] if found else [], None


def _from_prody(source):
    """An AtomGroup, a Selection or an Ensemble; of the atoms that an ensemble may lack, None."""
    xyz = np.asarray(source.getCoordsets())
    atoms = source.getAtoms() if hasattr(source, "getAtoms") else source
    if atoms is None:
        return xyz, None, None
    count = atoms.numAtoms()

    def told(name, otherwise):
        values = getattr(atoms, name)()
        return [otherwise] * count if values is None else values.tolist()

    names = list(zip(told("getNames", "X"), told("getElements", "X"), told("getResnames", "UNK"),
                     told("getResnums", 0), told("getIcodes", ""), told("getChids", ""), told("getMasses", 0.0)))
    return xyz, names, None
