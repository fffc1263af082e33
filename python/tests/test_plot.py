# Plots: each figure shows the numbers of its result, and says when it cannot be drawn.
import numpy as np
import pleat
import pytest
from helpers import DATA, family
from test_results import once

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not there")
matplotlib.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore:only .* effective sequences")


@pytest.fixture
def ax():
    import matplotlib.pyplot
    figure, axes = matplotlib.pyplot.subplots()
    yield axes
    figure.canvas.draw()
    matplotlib.pyplot.close(figure)


def test_contact_maps_count_columns_of_the_source(ax):
    fitted = pleat.couplings(["---" + row for row in family(columns=20)], max_gaps=0.5, max_iterations=5)
    assert fitted.columns[0] >= 3
    assert pleat.plot.contact_map(fitted, best=5, ax=ax) is ax
    best = fitted.contacts()[:5]
    points = set(zip(*ax.lines[0].get_data()))
    assert points == {(i + 1, j + 1) for i, j in zip(best["i"], best["j"])}
    image = ax.images[0].get_array()
    i, j = best["i"][0], best["j"][0]
    assert image[j - fitted.columns[0], i - fitted.columns[0]] == fitted.scores[
        np.searchsorted(fitted.columns, i), np.searchsorted(fitted.columns, j)]


def test_contact_maps_show_borders_of_parts(ax):
    fitted = pleat.couplings(family(columns=20), parts="8,12", max_iterations=5)
    pleat.plot.contact_map(fitted, ax=ax)
    places = [line.get_xdata()[0] for line in ax.lines[1:] if line.get_xdata()[0] == line.get_xdata()[1]]
    assert places == [8.5] and len(ax.lines) == 3


def test_matrices(ax):
    pleat.plot.matrix(once("rmsd"), ax=ax)
    np.testing.assert_array_equal(ax.images[0].get_array(), pleat.square(once("rmsd").matrix))
    with pytest.raises(pleat.InputError, match="with a matrix"):
        pleat.plot.matrix(once("rmsd to a reference"), ax=ax)


def test_dendrograms(ax):
    pytest.importorskip("scipy", reason="SciPy is not there")
    pleat.plot.dendrogram(once("clusters"), ax=ax)
    assert ax.collections and ax.get_ylabel() == "distance (angstrom)"
    with pytest.raises(pleat.UsageError, match="with a tree"):
        pleat.plot.dendrogram(once("density peaks"), ax=ax)


def test_fits(ax):
    pleat.plot.fit(once("saxs"), ax=ax)
    np.testing.assert_array_equal(ax.lines[-1].get_ydata(), once("saxs").fit.model)
    with pytest.raises(pleat.UsageError, match="with data"):
        pleat.plot.fit(once("neutrons"), ax=ax)


def test_profiles_clusters_distributions_and_scores(ax):
    pleat.plot.profile(once("neutrons"), ax=ax)
    np.testing.assert_array_equal(ax.lines[-1].get_ydata(), once("neutrons").mean)
    ax.clear()
    pleat.plot.clusters(once("clusters"), ax=ax)
    np.testing.assert_array_equal(ax.lines[-1].get_ydata(), once("clusters").assignment)
    pleat.plot.distribution(once("refinement"), quantity="distance_1_2", bins=5, ax=ax)
    assert sum(patch.get_height() for patch in ax.patches) == len(once("refinement").frames)
    with pytest.raises(pleat.UsageError, match="quantity: expected one of chain, "):
        pleat.plot.distribution(once("refinement"), quantity="mass", ax=ax)
    ax.clear()
    pleat.plot.scores(once("selection"), ax=ax)
    assert sum(len(line.get_xdata()) for line in ax.lines) == 20 and ax.get_ylabel() == "share of the contacts that are formed"
    with pytest.raises(pleat.UsageError, match="found 'mass'"):
        pleat.plot.scores(once("selection"), x="mass", ax=ax)


def test_logos(ax):
    pleat.plot.logo(["AC-", "AD-", "AC-", "AD-"], ax=ax)
    tops = {}
    for patch in ax.patches:
        box = patch.get_path().get_extents()
        column = round((box.x0 + box.x1) / 2)
        tops[column] = max(tops.get(column, 0), box.y1)
    assert tops == {0: pytest.approx(np.log2(20)), 1: pytest.approx(np.log2(20) - 1)}
    pleat.plot.logo(DATA / "cheY.aln.gz", first=10, last=14)


def test_refusals():
    with pytest.raises(pleat.InputError, match="expected pleat.Couplings, found list"):
        pleat.plot.contact_map([])


def test_states_of_a_trajectory(ax):
    found = np.array([int(state) for state in "0001100200011100002201"])
    result = pleat.cluster(np.abs(found[:, np.newaxis] - found).astype(float), cutoff=0.5)
    pleat.plot.transitions(result, counts=True, ax=ax)
    np.testing.assert_array_equal(ax.images[-1].get_array(), [[8, 3, 2], [2, 3, 0], [2, 0, 1]])
    pleat.plot.transitions(result, ax=ax)
    np.testing.assert_allclose(ax.images[-1].get_array().sum(axis=1), 1)
    ax.clear()
    pleat.plot.dwell_times(result, timestep=5, ax=ax)
    assert sum(bar.get_height() for bar in ax.patches) == result.dwells()["visits"][:5].sum() + 1
    with pytest.raises(pleat.UsageError, match="cluster: expected one with items, found 9"):
        pleat.plot.dwell_times(result, cluster=9, ax=ax)
