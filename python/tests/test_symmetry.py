# Symmetry in Python: the values of the program, ligands matched by bonds, flips, equal chains, refusals.
import itertools
import json
import pickle

import numpy as np
import pleat
import pytest
from helpers import DATA, program

POSES, CRYSTAL = DATA / "1a4k_dock.sdf.gz", DATA / "1a4k_ligand.sdf.gz"
HIVP = (DATA / "hivp.dcd.gz", DATA / "hivp.pdb.gz")


def complexes(folder, frames=6):
    """Three equal chains of CA atoms and another, whose equal chains are permuted at random."""
    rng = np.random.default_rng(5)
    shape = rng.normal(0, 9, (4, 6, 3))
    text = ""
    for model in range(1, frames + 1):
        chains = shape + rng.normal(0, 0.3, shape.shape)
        chains[:3] = chains[rng.permutation(3)]
        text += f"MODEL     {model:4d}\n"
        for serial, (chain, n) in enumerate(itertools.product(range(4), range(6)), 1):
            residue = "TRP" if (chain, n) == (3, 0) else ("ALA", "GLY", "SER", "LEU", "ASP", "VAL")[n]
            x, y, z = chains[chain, n]
            text += (f"ATOM  {serial:5d}  CA  {residue} {'ABCD'[chain]}{n + 1:4d}    {x:8.3f}{y:8.3f}{z:8.3f}"
                     "  1.00  0.00           C\n")
        text += "ENDMDL\n"
    path = folder / "complexes.pdb"
    path.write_text(text + "END\n", encoding="ascii")
    return path


CALLS = {
    "place": ({"symmetry": "ligand"}, ("--symmetry", "ligand")),
    "fitted": ({"symmetry": "ligand", "fit": "heavy"}, ("--symmetry", "ligand", "--fit", "heavy")),
    "plain": ({"select": "heavy", "fit": "none"}, ("--select", "heavy", "--fit", "none"))}


@pytest.mark.parametrize("name", CALLS)
def test_ligands_have_the_values_of_the_program(tmp_path, name):
    keywords, arguments = CALLS[name]
    program("rmsd", POSES, "-o", tmp_path / "pairs", *arguments)
    found = pleat.rmsd(POSES, **keywords)
    np.testing.assert_array_equal(found.matrix, np.load(tmp_path / "pairs" / "rmsd.npy"))
    assert found.symmetry == keywords.get("symmetry", "none")
    program("rmsd", POSES, "-o", tmp_path / "one", *arguments, "--reference", CRYSTAL)
    values = np.loadtxt(tmp_path / "one" / "reference.tsv", skiprows=1, usecols=1)
    found = pleat.rmsd(POSES, **keywords, reference=CRYSTAL)
    np.testing.assert_allclose(found.values, values, rtol=1e-5, atol=1e-5)
    assert found.unproven == 0
    program("cluster", POSES, "-o", tmp_path / "clusters", *arguments, "--cutoff", "2")
    clusters = pleat.cluster(POSES, **keywords, cutoff=2)
    np.testing.assert_array_equal(clusters.assignment, np.load(tmp_path / "clusters" / "assignment.npy"))


def test_ligands_are_those_of_a_second_computation():
    found = pleat.rmsd(POSES, symmetry="ligand", reference=CRYSTAL)
    assert found.values[0] == pytest.approx(2.025, abs=1e-3)  # RDKit's CalcRMS
    found = pleat.rmsd(POSES, symmetry="ligand", fit="heavy", reference=CRYSTAL)
    assert found.values[0] == pytest.approx(1.201, abs=1e-3)  # and GetBestRMS
    frames = pickle.loads(pickle.dumps(pleat.read_ensemble(POSES, select="heavy")))
    again = pleat.rmsd(frames, symmetry="ligand", fit="heavy", reference=CRYSTAL)
    np.testing.assert_allclose(again.values, found.values, atol=1e-5)
    part = pleat.rmsd(pleat.read_ensemble(POSES, select="name C1 C2 C3 C4"), symmetry="ligand")
    assert np.isfinite(part.matrix).all()  # bonds by distances


def test_chains_have_the_values_of_the_program(tmp_path):
    path = complexes(tmp_path)
    for relabel in (False, True):
        more = ("--relabel",) if relabel else ()
        program("rmsd", path, "-o", tmp_path / f"pairs{relabel}", "--symmetry", "chains", *more)
        found = pleat.rmsd(path, symmetry="chains", relabel=relabel)
        np.testing.assert_allclose(found.matrix, np.load(tmp_path / f"pairs{relabel}" / "rmsd.npy"), atol=1e-5)
        assert found.max < 2 < pleat.rmsd(path).max
        for reference in (0, "mean") if relabel else (0,):
            run = tmp_path / f"one{relabel}{reference}"
            program("rmsd", path, "-o", run, "--symmetry", "chains", *more, "--reference", str(reference))
            values = np.loadtxt(run / "reference.tsv", skiprows=1, usecols=1)
            found = pleat.rmsd(path, symmetry="chains", relabel=relabel, reference=reference)
            np.testing.assert_allclose(found.values, values, rtol=1e-5, atol=1e-5)
        against = pleat.rmsd(path, against=path, symmetry="chains", relabel=relabel)
        assert np.abs(np.diag(against.matrix)).max() < 1e-5
        assert len(pleat.cluster(path, symmetry="chains", relabel=relabel, cutoff=2).clusters) == 1
    assert len(pleat.cluster(path, cutoff=2).clusters) > 1
    loaded = pleat.load(tmp_path / "oneFalse0")
    assert (loaded.symmetry, loaded.unproven) == ("chains", 0)


def test_flips_beside_the_fit_and_within(tmp_path):
    from helpers import DATA as data
    path = data / "1a8o.pdb.gz"
    frames = pleat.read_ensemble(path, select="protein and heavy")
    names, numbers = np.array(frames.topology.names), np.array(frames.topology.residue_numbers)
    xyz = np.repeat(frames.xyz, 2, axis=0)
    flipped = [(a, b) for a, b in itertools.product(np.flatnonzero(names == "OE1"), np.flatnonzero(names == "OE2"))
               if numbers[a] == numbers[b]]
    assert len(flipped) > 3
    for a, b in flipped:
        xyz[1, [a, b]] = xyz[1, [b, a]]
    both = pleat.Ensemble(xyz, frames.topology)
    assert pleat.rmsd(both).matrix[0] > 0.05
    assert pleat.rmsd(both, symmetry="atoms").matrix[0] < 1e-5
    assert pleat.rmsd(both, fit="backbone", select="heavy", symmetry="atoms").matrix[0] < 1e-5


def test_what_cannot_be_is_refused(tmp_path):
    for text, keywords in (
            ("symmetry: expected one of none, chains, atoms, ligand, found 'rings'", {"symmetry": "rings"}),
            ("relabel=True needs symmetry='chains'", {"relabel": True, "symmetry": "ligand"}),
            ("a mean superposes frames", {"symmetry": "ligand", "reference": "mean"}),
            ("a mean needs one labelling", {"symmetry": "ligand", "fit": "heavy", "reference": "mean"}),
            ("give two of select, fit and measure",
             {"select": "heavy", "fit": "name C1", "measure": "name C2"}),
            ("give two of select, fit and measure", {"select": "heavy", "fit": "none", "measure": "name C2"}),
            ("^fit needs metric='rmsd'", {"fit": "heavy", "metric": "tm"}),
            ("^symmetry needs metric='rmsd'", {"symmetry": "ligand", "metric": "drmsd"})):
        with pytest.raises(pleat.UsageError, match=text):
            pleat.rmsd(POSES, **keywords)
    with pytest.raises(pleat.InputError, match="expected atoms with names"):
        pleat.rmsd(np.zeros((2, 5, 3), np.float32), symmetry="chains")
    matrix = pleat.rmsd(POSES, symmetry="ligand")
    for items in (matrix, matrix.matrix):
        with pytest.raises(pleat.UsageError, match="a matrix has no atoms"):
            pleat.cluster(items, symmetry="ligand", cutoff=2)
    assert len(pleat.cluster(matrix, cutoff=2).clusters) > 0
    manifest = json.loads((program("rmsd", POSES, "--symmetry", "ligand", "-o", tmp_path / "run") or tmp_path / "run" /
                           "manifest.json").read_text(encoding="utf-8"))
    assert manifest["results"]["automorphisms"] == 8
