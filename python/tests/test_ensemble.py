# Ensembles from Python: files, arrays, and the objects of other packages where these are there.
import gzip
import pickle

import numpy as np
import pleat
import pytest
from helpers import DATA, in_process, made_ensemble

STRUCTURE = DATA / "1a8o.pdb.gz"


@pytest.fixture(name="plain")
def plain_file(tmp_path):
    """The structure without compression, as other packages want it."""
    path = tmp_path / "1a8o.pdb"
    path.write_bytes(gzip.decompress(STRUCTURE.read_bytes()))
    return path


def test_files():
    found = pleat.read_ensemble(STRUCTURE, select="ca")
    assert found.shape == (1, 70) and set(found.topology.names) == {"CA"}
    assert found.topology.residue_names[:2] == ["MSE", "ASP"]
    assert found.topology.residue_numbers[0] == 151 and found.origins == [(0, 0)]
    assert (found.topology.masses == pytest.approx(12.011, abs=0.01))
    everything = pleat.ensemble(STRUCTURE)
    np.testing.assert_array_equal(everything.select("ca").xyz, found.xyz)
    np.testing.assert_array_equal(everything.xyz[:, everything.indices("ca")], found.xyz)
    twice = pleat.read_ensemble([STRUCTURE, DATA / "1a8o.cif.gz"], select="ca")
    np.testing.assert_allclose(twice.xyz[0], twice.xyz[1], atol=1e-3)
    assert len(twice[1:]) == 1 and twice[-1].origins == [(1, 0)]


def test_biological_assembly():
    listed = pleat.read_ensemble(STRUCTURE)
    assert any("biological assembly 1 (DIMERIC)" in note for note in listed.notes)
    dimer = pleat.read_ensemble(STRUCTURE, assembly=1)
    assert dimer.shape == (1, 2 * listed.shape[1]) and not any("assembly" in note for note in dimer.notes)
    x, y, z = listed.xyz[0].T
    copy = np.stack([41.98 - y, 41.98 - x, 44.46 - z], axis=1)
    assert np.allclose(dimer.xyz[0, listed.shape[1]:], copy, atol=1e-4)
    assert dimer.topology.chains[-1] == "A-2"
    with pytest.raises(pleat.InputError, match="biological assembly '7', found only 1"):
        pleat.read_ensemble(STRUCTURE, assembly="7")


def test_arrays_are_taken_as_they_are():
    xyz = made_ensemble()
    found = pleat.ensemble(xyz)
    assert found.xyz is xyz or np.shares_memory(found.xyz, xyz)
    assert np.shares_memory(found[3:].xyz, xyz)
    assert found.topology is None and found.indices("all").tolist() == list(range(20))
    with pytest.raises(pleat.InputError):
        found.select("ca")


def test_atoms_are_indices_or_a_mask():
    xyz = made_ensemble(3, 20)
    found = pleat.ensemble(xyz)
    mask = np.arange(20) % 3 == 1
    np.testing.assert_array_equal(found.indices(mask), np.flatnonzero(mask))
    np.testing.assert_array_equal(found.indices(list(mask)), np.flatnonzero(mask))
    np.testing.assert_array_equal(found.select(mask).xyz, xyz[:, mask])
    np.testing.assert_array_equal(pleat.rmsd(xyz, fit=mask, measure=mask).matrix,
                                  pleat.rmsd(xyz, fit=range(1, 20, 3), measure=range(1, 20, 3)).matrix)
    for atoms in ([3, 1], range(4), np.array([2], np.uint8), np.array([0, 19], np.uint64), 5):
        assert found.indices(atoms).tolist() == np.atleast_1d(list(np.ravel(atoms))).tolist()
    named = pleat.read_ensemble(STRUCTURE)
    assert named.select(np.arange(named.shape[1]) < 2).topology.names == named.topology.names[:2]


@pytest.mark.parametrize("atoms, text", [
    ([True, False], r"a truth value for each of 20 atoms, found shape \(2,\)"),
    ([1.5, 2.0], "found float64"),
    (np.array([1.0, 2.0]), "found float64"),
    (["CA", "CB"], "whole numbers"),
    ([[0, 1], [2, 3]], r"shape \(2, 2\)"),
    ([0, -1], "atoms from 0 to 19, found -1"),
    ([0, 20], "atoms from 0 to 19, found 20"),
    ([10**9], "found 1000000000"),
    (np.array([2**63], np.uint64), "found 9223372036854775808"),
    ([], "at least 1 atom, found none"),
    (np.zeros(20, bool), "at least 1 atom, found none"),
])
def test_other_atoms_are_refused(atoms, text):
    xyz = made_ensemble(3, 20)
    found = pleat.ensemble(xyz)
    calls = [lambda: found.select(atoms), lambda: pleat.rmsd(xyz, fit=atoms),
             lambda: pleat.rmsd(xyz, measure=atoms), lambda: pleat.mean_structure(xyz, fit=atoms),
             lambda: pleat.ensemble(xyz, select=atoms)]
    for call in calls:
        with pytest.raises(pleat.InputError, match=text):
            call()


def test_parts_of_a_topology_are_checked():
    topology = pleat.read_ensemble(STRUCTURE, select="ca").topology
    assert topology.subset([69, 0]).names == ["CA", "CA"] and len(topology.subset([])) == 0
    for atoms, text in (([10**9], "from 0 to 69, found 1000000000"), ([-1], "found -1"),
                        ([70], "found 70"), ([True] * 70, "whole numbers, found bool")):
        with pytest.raises(pleat.InputError, match=text):
            topology.subset(atoms)


def test_mdtraj(plain):
    mdtraj = pytest.importorskip("mdtraj", reason="mdtraj is not there")
    found = pleat.ensemble(mdtraj.load(str(plain)), select="ca")
    expected = pleat.read_ensemble(plain, select="ca")
    np.testing.assert_allclose(found.xyz, expected.xyz, atol=2e-3)
    assert found.topology.residue_numbers == expected.topology.residue_numbers
    assert found.topology.elements == expected.topology.elements


def test_mdanalysis(plain):
    universe = pytest.importorskip("MDAnalysis", reason="MDAnalysis is not there").Universe(str(plain))
    found = pleat.ensemble(universe.select_atoms("name CA"))
    np.testing.assert_allclose(found.xyz, pleat.read_ensemble(plain, select="ca").xyz, atol=2e-3)


class Group:
    """What of MDAnalysis's AtomGroup is used."""

    class Atom:
        name, element, resname, resid, segid = "CA", "C", "ALA", 5, "A"

        @property
        def mass(self):
            raise ValueError("a topology without masses")

    def __init__(self, xyz):
        self.xyz, self.frame = xyz, 1
        self.atoms = self.universe = self
        self.trajectory = Frames(self)
        self.all = [self.Atom() for _ in xyz[0]]

    def __iter__(self):
        return iter(self.all)

    @property
    def positions(self):
        return self.xyz[self.frame]


class Frames:
    """A trajectory that moves its group on, as MDAnalysis's does."""

    def __init__(self, group):
        self.group = group

    def __len__(self):
        return len(self.group.xyz)

    def __iter__(self):
        for n in range(len(self)):
            self.group.frame = n
            yield n

    def __getitem__(self, frame):
        self.group.frame = frame

    @property
    def frame(self):
        return self.group.frame


def test_an_object_like_mdanalysis():
    xyz = made_ensemble(4, 3)
    group = Group(xyz)
    found = pleat.ensemble(group)
    np.testing.assert_array_equal(found.xyz, xyz)
    assert group.frame == 1 and found.topology.masses.tolist() == [pytest.approx(12.011, abs=0.01)] * 3
    assert found.topology.chains == ["A"] * 3


def test_biopython(plain):
    parser = pytest.importorskip("Bio.PDB", reason="Biopython is not there").PDBParser(QUIET=True)
    found = pleat.ensemble(parser.get_structure("1a8o", plain), select="ca")
    expected = pleat.read_ensemble(plain, select="ca")
    np.testing.assert_allclose(found.xyz, expected.xyz, atol=1e-4)
    assert found.topology.residue_names == expected.topology.residue_names


@pytest.mark.parametrize("call, text", [
    (lambda: pleat.ensemble(np.ones((3, 4))), r"found shape \(3, 4\)"),
    (lambda: pleat.Ensemble(np.ones((1, 4, 3)), pleat.read_ensemble(STRUCTURE).topology), "found 4"),
    (lambda: pleat.read_ensemble("absent.pdb"), "absent.pdb"),
])
def test_refusals(call, text):
    with pytest.raises(pleat.InputError, match=text):
        call()
    with pytest.raises(IndexError, match="from 0 to 29, found 30"):
        _ = pleat.ensemble(made_ensemble())[30]


def test_doubles_far_from_the_origin_keep_their_digits():
    xyz = np.random.default_rng(3).normal(scale=5, size=(6, 20, 3))
    near, far = pleat.rmsd(xyz), pleat.rmsd(xyz + [1e5, -2e5, 3e5])
    np.testing.assert_allclose(far.matrix, near.matrix, atol=2e-6)
    found = pleat.ensemble(xyz + 1e5)
    assert "moved to the origin" in found.notes[0]
    assert pleat.ensemble(xyz).notes == []
    to_first = pleat.rmsd(xyz, reference=xyz[0] + 1e5)
    np.testing.assert_allclose(to_first.values, pleat.rmsd(xyz, reference=0).values, atol=2e-6)


def test_a_file_that_is_cut_short_gives_its_whole_frames_with_a_warning(tmp_path):
    whole = gzip.decompress((DATA / "hivp.dcd.gz").read_bytes())
    path = tmp_path / "cut.dcd"
    path.write_bytes(whole[:-100])
    with pytest.raises(pleat.InputError, match="the option truncated keeps the"):
        pleat.read_ensemble(path, topology=DATA / "hivp.pdb.gz")
    with pytest.warns(UserWarning, match="whole frames before it"):
        found = pleat.read_ensemble(path, topology=DATA / "hivp.pdb.gz", truncated=True)
    every = pleat.read_ensemble(DATA / "hivp.dcd.gz", topology=DATA / "hivp.pdb.gz")
    np.testing.assert_array_equal(found.xyz, every.xyz[:-1])


def gro_frame(shift=0.0):
    """Two molecules of two and one residues, and a water, in a box of 5 nm."""
    rows = [(number, residue, name) for number, residue, names in
            ((1, "ALA", "N CA C"), (2, "GLY", "N CA C"), (1, "LYS", "N CA C"), (2, "SOL", "OW HW1 HW2"))
            for name in names.split()]
    return f"made\n{len(rows):5d}\n" + "".join(
        f"{number:5d}{residue:<5s}{name:>5s}{n:5d}{0.14 * n + (n > 5):8.3f}{shift:8.3f}{1:8.3f}\n"
        for n, (number, residue, name) in enumerate(rows)) + "5 5 5\n"


def psf():
    rows = [("A", 1, "ALA", "N"), ("A", 1, "ALA", "CA"), ("A", 2, "GLY", "CA"), ("W", 1, "TIP3", "OH2")]
    atoms = "".join(f"{n:8d} {segment:<4s} {number:<4d} {residue:<4s} {name:<4s} X1 0.0 12.0 0\n"
                    for n, (segment, number, residue, name) in enumerate(rows, 1))
    return f"PSF\n\n       1 !NTITLE\n made\n\n       4 !NATOM\n{atoms}\n       2 !NBOND: bonds\n 1 2 2 3\n"


def test_topologies_of_simulations(tmp_path):
    gro = tmp_path / "x.gro"
    gro.write_text(gro_frame() + gro_frame(0.1))
    frames = pleat.ensemble(gro)
    assert frames.shape == (2, 12)
    assert list(frames.indices("same molecule as index 0")) == [0, 1, 2, 3, 4, 5]
    assert frames.topology.chains == ["A"] * 6 + ["B"] * 3 + [""] * 3
    topology = tmp_path / "x.psf"
    topology.write_text(psf())
    array = tmp_path / "x.npy"
    np.save(array, np.arange(24, dtype=np.float32).reshape(2, 4, 3))
    found = pleat.read_ensemble(array, topology=topology)
    for atoms in (found, pickle.loads(pickle.dumps(found)), found.select([0, 1, 2])):
        assert list(atoms.indices("same molecule as index 0")) == [0, 1, 2]
    with pytest.raises(pleat.InputError, match="found TPR.*gmx trjconv"):
        topology.write_bytes(b"\0\0\0\x0c\0\0\0\x0bVERSION 4.0\0")
        pleat.read_ensemble(array, topology=topology)


def test_molecules_split_over_a_box_are_made_whole():
    whole = pleat.read_ensemble(DATA / "hivp.dcd.gz", topology=DATA / "hivp.pdb.gz", frames=slice(0, 5))
    box = np.diag([90.0, 95.0, 100.0])
    counts = np.random.default_rng(2).integers(-1, 2, whole.xyz.shape)
    split = (whole.xyz + counts * np.diag(box)).astype(np.float32)
    expected = pleat.rmsd(whole).matrix
    for cell in (box, np.broadcast_to(box, (5, 3, 3)), [90, 95, 100, 90, 90, 90]):
        found = pleat.Ensemble(split, whole.topology, box=cell)
        assert "selection split over the box in 5 of 5 frames: made whole" in found.notes[-1]
        np.testing.assert_allclose(pleat.rmsd(found).matrix, expected, atol=1e-5)
    left = pleat.Ensemble(split, whole.topology, box=box, pbc="none")
    np.testing.assert_array_equal(left.xyz, split)
    with pytest.raises(pleat.InputError, match="expected a box"):
        pleat.Ensemble(split, whole.topology, box=[90, 95])
    with pytest.raises(pleat.InputError, match="one for each of 5, found 2"):
        pleat.Ensemble(split, whole.topology, box=np.ones((2, 6)))
    with pytest.raises(pleat.UsageError, match="needs a box"):
        pleat.Ensemble(split, whole.topology, pbc="whole")
    with pytest.raises(pleat.UsageError, match="pbc"):
        pleat.read_ensemble(STRUCTURE, pbc="maybe")


def test_scores_keep_the_best_frames(tmp_path):
    xyz = made_ensemble()
    energies = [float((7 * n) % 5) for n in range(len(xyz))]
    table = tmp_path / "energies.tsv"
    table.write_text("frame\tenergy\n" + "".join(f"{n}\t{energy}\n" for n, energy in enumerate(energies)))
    np.save(tmp_path / "frames.npy", xyz)
    found = pleat.read_ensemble(tmp_path / "frames.npy", scores=table, best=3, least=True)
    best = sorted(sorted(range(len(xyz)), key=lambda n: (energies[n], n))[:3])
    assert found.numbers.tolist() == best and found.names == ["frames"]
    np.testing.assert_array_equal(found.xyz, np.asarray(xyz, np.float32)[best])
    assert found.scores["energy"].tolist() == [energies[n] for n in best]
    later = found[1:].select([0, 1])
    assert later.numbers.tolist() == best[1:] and later.scores["energy"].tolist() == [energies[n] for n in best[1:]]
    kept = pleat.read_ensemble(tmp_path / "frames.npy", scores=[table], worst_left_out="50%")
    assert len(kept) == len(xyz) - len(xyz) // 2
    with pytest.raises(pleat.UsageError, match="one of energy"):
        pleat.read_ensemble(tmp_path / "frames.npy", scores=table, score="mass")
    with pytest.raises(pleat.UsageError, match='worst_left_out: .* such as "10%", found 10'):
        pleat.read_ensemble(tmp_path / "frames.npy", scores=table, worst_left_out=10)
    with pytest.raises(TypeError, match="^'float' object cannot be interpreted as an integer$"):
        pleat.read_ensemble(tmp_path / "frames.npy", scores=table, best=2.5)
    with pytest.raises(pleat.UsageError, match="least and worst_left_out need scores"):
        pleat.read_ensemble(tmp_path / "frames.npy", least=True)
    with pytest.raises(pleat.InputError, match="each of 2 frames"):
        pleat.Ensemble(xyz[:2], scores={"energy": [1.0]})


def test_models_of_a_folder_have_names_and_scores(tmp_path):
    text = gzip.decompress(STRUCTURE.read_bytes()).decode()
    for rank in (2, 1):
        name = f"rank_00{rank}_alphafold2_ptm_model_1_seed_000"
        (tmp_path / f"job_unrelaxed_{name}.pdb").write_text(text)
        (tmp_path / f"job_scores_{name}.json").write_text('{"plddt": [90, %d], "ptm": 0.5}' % (90 - rank))
    found = pleat.read_ensemble(tmp_path, select="ca", scores="folder")
    assert [name[14:22] for name in found.names] == ["rank_001", "rank_002"]
    assert found.scores["plddt"].tolist() == [89.5, 89] and found.scores["ptm"].tolist() == [0.5, 0.5]
    with pytest.raises(pleat.InputError, match="leave relaxed out"):
        pleat.read_ensemble(tmp_path, relaxed=True)


class Trajectory:
    """What pleat reads of mdtraj's Trajectory: nanometres, a topology that chunks share."""

    class Atom:
        def __init__(self, number, chain):
            chain = type("Chain", (), {"chain_id": chain, "index": 0})
            self.residue = type("Residue", (), {"name": "ALA", "resSeq": number + 1, "chain": chain, "segment_id": ""})
            self.name, self.element = "CA", None

    def __init__(self, xyz, topology=None, cell=None):
        self.xyz, self.unitcell_vectors = xyz / np.float32(10), None
        if cell is not None:
            self.unitcell_vectors = np.broadcast_to(np.eye(3) * cell / 10, (len(xyz), 3, 3))
        atoms = [self.Atom(number, "AB"[number >= 5]) for number in range(xyz.shape[1])]
        self.topology = topology or type("Topology", (), {"atoms": atoms})


def test_chunks_are_joined():
    xyz = made_ensemble(30, 20)
    cuts = [0, 7, 8, 19, 30]
    chunks = [xyz[a:b] for a, b in zip(cuts, cuts[1:])]
    for source in (chunks, tuple(chunks), iter(chunks), (chunk for chunk in chunks), [xyz]):
        found = pleat.ensemble(source)
        np.testing.assert_array_equal(found.xyz, xyz)
        assert found.topology is None and not np.shares_memory(found.xyz, xyz)
    whole = pleat.cluster(xyz, cutoff=3.5)
    np.testing.assert_array_equal(pleat.cluster(iter(chunks), cutoff=3.5).assignment, whole.assignment)
    np.testing.assert_array_equal(pleat.rmsd(iter(chunks)).matrix, pleat.rmsd(xyz).matrix)
    np.testing.assert_array_equal(pleat.rmsd(chunks, against=iter(chunks)).matrix, pleat.rmsd(xyz, against=xyz).matrix)


def test_chunks_of_trajectories_are_in_nanometres():
    xyz = made_ensemble(12, 5)
    first = Trajectory(xyz[:4])
    later = [Trajectory(xyz[4:9], first.topology), Trajectory(xyz[9:])]  # the same topology, and an equal one
    found = pleat.ensemble(iter([first, *later]), select="resid 2 to 4")
    np.testing.assert_allclose(found.xyz, xyz[:, 1:4], atol=1e-5)
    assert found.topology.residue_numbers == [2, 3, 4]
    later[1].topology.atoms[2].name = "CB"
    with pytest.raises(pleat.InputError, match="chunk 2: expected the atoms of chunk 0"):
        pleat.ensemble([first, *later])


def test_chunks_are_placed_in_a_cell_as_the_first_frame_of_all():
    count, cell = 24, 30
    line = 3.8 * np.arange(5)[:, None] * [0, 0, 1] + 3
    xyz = np.empty((count, 10, 3), np.float32)
    xyz[:, :5] = line
    for n, frame in enumerate(xyz):  # chain B leaves the cell and returns on its other side
        frame[5:] = (line + [8 + n, 0, 0]) % cell
    chunks = [Trajectory(xyz[:8], cell=cell)]
    chunks += [Trajectory(xyz[a:a + 8], chunks[0].topology, cell) for a in (8, 16)]
    whole = pleat.ensemble(Trajectory(xyz, cell=cell))
    found = pleat.ensemble(iter(chunks))
    np.testing.assert_array_equal(found.xyz, whole.xyz)
    assert [str(note) for note in found.notes] == [str(note) for note in whole.notes] != []
    assert not np.array_equal(np.concatenate([pleat.ensemble(chunk).xyz for chunk in chunks]), whole.xyz)
    with pytest.raises(pleat.InputError, match="chunk 1: expected periodic cells in all chunks or in none"):
        pleat.ensemble([chunks[0], Trajectory(xyz[:8], chunks[0].topology)])


def test_iterload_of_mdtraj(plain):
    mdtraj = pytest.importorskip("mdtraj", reason="mdtraj is not there")
    whole = mdtraj.load(str(plain))
    found = pleat.ensemble(mdtraj.iterload(str(plain), chunk=1))
    np.testing.assert_array_equal(found.xyz, pleat.ensemble(whole).xyz)


@pytest.mark.parametrize("chunks, text", [
    ([], "expected chunks of frames, found none"),
    ([np.ones((2, 4, 3)), np.ones((0, 4, 3))], "chunk 1: expected frames, found none"),
    ([np.ones((2, 4, 3)), np.ones((2, 5, 3))], "chunk 1: expected 4 atoms as in chunk 0, found 5"),
    ([np.ones((2, 4, 3)), np.ones((4, 3))], r"chunk 1: expected coordinates .* found shape \(4, 3\)"),
    ([np.full((2, 4, 3), 1e6)], "chunk 0: expected coordinates near the origin"),
])
def test_chunks_that_do_not_fit_are_refused(chunks, text):
    with pytest.raises(pleat.InputError, match=text):
        pleat.ensemble(iter(chunks))


def test_chunks_need_their_memory_once():
    frames, atoms = 1000, 1000
    risen = in_process(
        "import numpy as np, pleat, resource\n"
        f"chunk = np.ones(({frames}, {atoms}, 3), np.float32)\n"
        "pleat.ensemble(iter([chunk]))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert len(pleat.ensemble(chunk for _ in range(24))) == 24000\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n")
    assert int(risen) * 1024 < 1.3 * 24 * 12 * frames * atoms
