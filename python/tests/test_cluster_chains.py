# Clusters of the chains of complexes from Python: those of the program, tables, folders, refusals.
import numpy as np
import pleat
import pytest
from helpers import DATA, program


@pytest.fixture(scope="module")
def dimer():
    return pleat.read_ensemble(DATA / "hivp.dcd.gz", topology=DATA / "hivp.pdb.gz", frames="::3")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chains") / "run"
    program("cluster", DATA / "hivp.dcd.gz", "--topology", DATA / "hivp.pdb.gz", "--frames", "::3", "--each-chain",
            "--method", "average", "--k", "3", "-o", folder)
    return folder


def test_they_are_those_of_the_program(dimer, run, tmp_path):
    found, read = pleat.cluster(dimer, each_chain=True, method="average", k=3), pleat.load(run)
    for one in (found, read):
        assert one.chains == ["A", "B"] and len(one.assignment) == 2 * len(dimer)
        np.testing.assert_array_equal(one.series, [len(dimer)] * 2)
    np.testing.assert_array_equal(found.assignment, read.assignment)
    np.testing.assert_array_equal(found.transitions(), read.transitions())
    found.save(tmp_path / "saved")

    def columns(folder, file, *places):
        return [[line.split("\t")[n] for n in places] for line in (folder / file).read_text().splitlines()]

    for file, places in (("chains.tsv", (0, 1, 2, 3)), ("combinations.tsv", (0, 1, 3)), ("clusters.tsv", (0, 1, -2, -1))):
        assert columns(tmp_path / "saved", file, *places) == columns(run, file, *places)
    again = pleat.load(tmp_path / "saved")
    assert again.chains == found.chains
    np.testing.assert_array_equal(again.assignment, found.assignment)


def test_tables(dimer):
    pytest.importorskip("pandas")
    found = pleat.cluster(dimer, each_chain=True, cutoff=1.5)
    table = found.to_dataframe("chains")
    np.testing.assert_array_equal(table[["chain_A", "chain_B"]].to_numpy(), found.assignment.reshape(2, -1).T)
    counts = found.to_dataframe("combinations")
    assert counts["frames"].sum() == len(dimer) and counts["frames"].is_monotonic_decreasing
    for text, frames in zip(counts["combination"], counts["frames"]):
        assert (table["combination"] == text).sum() == frames
    with pytest.raises(pleat.UsageError, match="expected clusters of chains"):
        pleat.cluster(dimer, cutoff=1.5).to_dataframe("chains")


def test_each_chain_is_superposed_by_itself(dimer):
    found = pleat.cluster(dimer, each_chain=True, cutoff=1.5, select="name CA", atom_weights="mass")
    half = dimer.shape[1] // 2
    chains = np.concatenate([dimer.xyz[:, :half], dimer.xyz[:, half:]])
    np.testing.assert_array_equal(found.assignment, pleat.cluster(chains, cutoff=1.5).assignment)
    weights = np.linspace(1, 2, half)
    for given in (weights, np.concatenate([weights, np.ones(half)])):
        weighted = pleat.cluster(dimer, each_chain=True, cutoff=1.5, atom_weights=given)
        np.testing.assert_array_equal(weighted.assignment, pleat.cluster(chains, cutoff=1.5, atom_weights=weights).assignment)


@pytest.mark.parametrize("items, options, kind, text", [
    (None, {"symmetry": "chains"}, pleat.UsageError, "each_chain=True superposes single chains"),
    (None, {"select": "chain A"}, pleat.InputError, "found one chain, 'A'"),
    (np.ones((3, 4, 3)), {}, pleat.InputError, "expected atoms with names for each_chain=True"),
    (np.ones(3), {}, pleat.UsageError, "a matrix has no atoms"),
])
def test_refusals(dimer, items, options, kind, text):
    with pytest.raises(kind, match=text):
        pleat.cluster(dimer if items is None else items, each_chain=True, cutoff=1, **options)
