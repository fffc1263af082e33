# Weights of frames by observables: against an independent solution, and what is refused.
import numpy as np
import pytest

import pleat


def solved(values, measured, errors, theta):
    """The weights by Newton's method on the dual problem as BME's paper writes it."""
    x, target = values / errors, measured / errors
    multipliers = np.zeros(len(target))
    for _ in range(100):
        exponents = -x @ multipliers
        weights = np.exp(exponents - exponents.max())
        weights /= weights.sum()
        mean = weights @ x
        gradient = target - mean + theta * multipliers
        hessian = (x - mean).T @ ((x - mean) * weights[:, None]) + theta * np.eye(len(target))
        multipliers -= 0.7 * np.linalg.solve(hessian, gradient)
    return weights, multipliers


@pytest.fixture(name="made")
def _made():
    random = np.random.default_rng(4)
    coordinate = random.normal(size=(2000, 1))
    values = coordinate + random.normal(size=(2000, 12))
    measured = 0.5 + 0.1 * random.normal(size=12)
    return values, measured, np.full(12, 0.3)


def test_the_weights_are_those_of_an_independent_solution(made):
    values, measured, errors = made
    for theta in (100.0, 3.0):
        found = pleat.reweight(values, np.column_stack([measured, errors]), theta=theta)
        weights, multipliers = solved(values, measured, errors, theta)
        np.testing.assert_allclose(found.weights, weights, rtol=1e-7)
        np.testing.assert_allclose(found.multipliers, multipliers, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.means, weights @ values, rtol=1e-9)
        before = ((values.mean(axis=0) - measured) / errors) ** 2
        assert found.chi2_before == pytest.approx(before.mean())
        entropy = -np.sum(weights * np.log(weights * len(weights)))
        assert found.phi == pytest.approx(np.exp(entropy))
        assert found.theta == theta and len(found.thetas) == 1
        assert found.names == [str(n) for n in range(12)]


def test_bounds_and_distances():
    distances = np.array([[2.0], [4.0], [8.0]])
    mean = np.mean(distances ** -6.0) ** (-1 / 6)
    with pytest.warns(UserWarning, match="fewer than 20"):
        held = pleat.reweight(distances, [("d", 5, 0.1, "upper", "r^-6")], theta=1)
    assert held.means_before[0] == pytest.approx(mean) and held.chi2 == 0
    np.testing.assert_allclose(held.weights, 1 / 3)
    with pytest.warns(UserWarning):
        moved = pleat.reweight(distances, [("d", 5, 0.1, "lower", "r^-6")], theta=0.01)
    assert moved.means[0] == pytest.approx(5, abs=0.05)
    assert moved.kinds == ["lower"] and moved.averages == ["r^-6"]


def test_several_thetas_are_validated(made):
    values, measured, errors = made
    rows = [(f"o{n}", *pair) for n, pair in enumerate(zip(measured, errors))]
    scan = pleat.reweight(values, rows)
    assert len(scan.thetas) == 11 and scan.thetas[0] == 120 and scan.notes == []
    limit = (scan.validation + scan.validation_error)[np.argmin(scan.validation)]
    assert scan.chosen == np.flatnonzero(scan.validation <= limit)[0]
    np.testing.assert_array_equal(scan.weights, scan.scan_weights[scan.chosen])
    some = pleat.reweight(values[:, :3], rows[:3], theta=[1, 10, 0.1])
    assert some.thetas.tolist() == [10, 1, 0.1] and "too few" in some.notes[0]
    assert "12 observables" in repr(scan)
    assert len(np.asarray(scan)) == 2000
    if pytest.importorskip("pandas", reason="pandas is not there"):
        assert list(scan.to_dataframe()["name"]) == scan.names
        assert scan.to_dataframe("scan").shape == (11, 5)


@pytest.mark.parametrize("rows, kind, text", [
    ([("a", 1, 0)], pleat.InputError, "'a': expected an error above 0"),
    ([("a", 1, None)], pleat.InputError, "'a': expected numbers as value and error, found 1 and None"),
    ([("a", 1)], pleat.InputError, "found 2 parts"),
    ([], pleat.UsageError, "at least 1 observable"),
    ([("a", 1, 1, "above")], pleat.UsageError, "expected kind gaussian, upper, lower, found 'above'"),
    ([("a", 1, 1, "upper", "cubic")], pleat.UsageError, "expected average mean"),
    ([("a", 1, 1), ("b", 1, 1)], pleat.UsageError, "found shape"),
])
def test_bad_observables_are_refused(rows, kind, text):
    with pytest.raises(kind, match=text):
        pleat.reweight(np.ones((30, 1)), rows, theta=1)


def test_bad_values_are_refused():
    rows = [("a", 1, 1)]
    with pytest.raises(pleat.InputError, match="found nan in frame 1"):
        pleat.reweight([[1], [np.nan]], rows)
    with pytest.raises(pleat.UsageError, match="expected values"):
        pleat.reweight([1, 2], rows)
    with pytest.raises(pleat.UsageError, match="theta"):
        pleat.reweight(np.ones((30, 1)), rows, theta=0)
    with pytest.raises(pleat.UsageError, match="theta"):
        pleat.reweight(np.ones((30, 1)), rows, theta=[])
    with pytest.raises(pleat.UsageError, match="CPUs"):
        pleat.reweight(np.ones((30, 1)), rows, device="cuda")
    bounds = [("a", 5, 1, "lower"), ("a", 4, 1, "upper")]
    with pytest.raises(pleat.InputError, match="at most the upper bound 4"):
        pleat.reweight(np.ones((30, 2)), bounds)
