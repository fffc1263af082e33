# SAXS sessions from Python: moves, drift, gradients and many chains, compared with fresh profiles.
import threading

import numpy as np
import pleat
import pytest
from helpers import DATA

Session, Model = pleat.saxs.ProfileSession, pleat.saxs.Model
Q = np.linspace(0, 0.3, 31)


def balls(count):
    """Alike balls of one channel."""
    return Model(Q, 10 * np.exp(-(1.9 * Q[None]) ** 2 / 6), count=count)


def made(count=60, chains=1, seed=1):
    """A model, places and bodies: two halves."""
    xyz = np.random.default_rng(seed).normal(0, 10, (chains, count, 3)).astype(np.float32)
    return balls(count), xyz, np.arange(count) * 2 // count


def turned(xyz, random, angle=0.3):
    """A rigid turn about the mean, and a shift."""
    axis = random.normal(size=3)
    x, y, z = angle * axis / np.linalg.norm(axis)
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn = np.linalg.solve(np.eye(3) - skew / 2, np.eye(3) + skew / 2)  # Cayley's: exactly a turn
    centre = xyz.mean(axis=0)
    return ((xyz - centre) @ turn.T + centre + random.normal(size=3)).astype(np.float32)


def fresh(model, xyz, **options):
    return pleat.saxs.profiles(model, xyz, precision="float64", **options)[0]


def test_a_walk_stays_with_profiles_found_anew():
    model, xyz, bodies = made()
    session = Session(model, xyz[0], bodies=bodies, refresh=50)
    random, places, second = np.random.default_rng(2), xyz[0].copy(), np.arange(30, 60)
    assert len(session) == 1 and session.device == "cpu" and session.model is model
    accepted = 0
    for step in range(300):
        before = session.profile()
        chosen = second if step % 3 else random.choice(60, 7, replace=False)
        new = turned(places[chosen], random)
        proposed = session.propose(new, chosen)
        assert session.recomputed_pairs in ((1,) if step % 3 else (1, 2, 3))
        np.testing.assert_array_equal(session.profile(), before)
        trial = places.copy()
        trial[chosen] = new
        np.testing.assert_allclose(proposed, fresh(model, trial), rtol=1e-5)
        if random.random() < 0.5:
            session.accept()
            places, accepted = trial, accepted + 1
        else:
            session.reject()
            np.testing.assert_array_equal(session.profile(), before)
        np.testing.assert_array_equal(session.positions(), places)
    assert accepted > 100 and 0 < session.drift < 1e-5
    assert session.refresh() < 1e-5
    np.testing.assert_allclose(session.profile(), fresh(model, places), rtol=2e-6)


def test_many_chains_in_one_batch():
    model, xyz, bodies = made(chains=5)
    session = Session(model, xyz, bodies=bodies)
    random, places = np.random.default_rng(3), xyz.copy()
    for _ in range(40):
        moves = []
        for chain in random.permutation(5)[:random.integers(1, 6)]:
            chosen = np.flatnonzero(bodies == random.integers(2))
            moves.append((chain, chosen, turned(places[chain, chosen], random)))
        proposed = session.propose_all(moves)
        assert proposed.shape == (len(moves), 1, len(Q))
        for (chain, chosen, new), profile in zip(moves, proposed):
            trial = places[chain].copy()
            trial[chosen] = new
            np.testing.assert_allclose(profile, fresh(model, trial), rtol=1e-5)
            if random.random() < 0.5:
                session.accept(chain)
                places[chain] = trial
    for chain in range(5):
        np.testing.assert_array_equal(session.positions(chain), places[chain])
        np.testing.assert_allclose(session.profile(chain), fresh(model, places[chain]), rtol=1e-5)
    whole = session.propose(xyz[2], chain=2)
    np.testing.assert_allclose(whole, fresh(model, xyz[2]), rtol=1e-5)
    assert session.propose_all([]).shape == (0, 1, len(Q))


def test_gradients_are_slopes_of_chi_square():
    model, xyz, bodies = made(20)
    session = Session(model, xyz, bodies=bodies, precision="float64")
    truth = fresh(model, made(20, seed=9)[1])[0][1:]
    curve = pleat.profile((Q[1:], truth, 0.05 * truth))

    def chi_square(places):
        return pleat.saxs.fit_scale(fresh(model, places)[0][1:], curve)[1]

    scale, least = pleat.saxs.fit_scale(session.profile()[0][1:], curve)
    assert least == pytest.approx(chi_square(xyz), rel=1e-6)
    weight = np.zeros((1, len(Q)))
    weight[:, 1:] = pleat.saxs.chi_square_weights(session.profile()[:, 1:], curve, scale)
    slope = session.gradient(weight)
    assert slope.shape == (20, 3) and slope.dtype == np.float64
    for scatterer, axis in ((0, 0), (7, 1), (19, 2)):
        step = np.zeros_like(xyz)
        step[0, scatterer, axis] = 2**-6
        expected = (chi_square(xyz + step) - chi_square(xyz - step)) / 2**-5
        assert slope[scatterer, axis] == pytest.approx(expected, rel=2e-3, abs=2e-4 * np.abs(slope).max())
    np.testing.assert_allclose(slope.sum(axis=0), 0, atol=1e-8 * np.abs(slope).max())


def test_sessions_of_structures_with_a_layer():
    native = pleat.read_ensemble(DATA / "1a8o.pdb.gz")
    found = pleat.saxs.scatterers(native, model="two-bead", c2=1.0, q_max=0.3, q_points=31)
    numbers = np.array(native.topology.residue_numbers)[found.atoms]
    bodies = (numbers > 185).astype(int)
    session = Session(found.model, found.xyz, scales=found.scales, bodies=bodies)
    expected = pleat.saxs(native, model="two-bead", c2=1.0, q_max=0.3, q_points=31).mean
    np.testing.assert_allclose(session.profile().sum(axis=0), expected, rtol=2e-6)
    moving = np.flatnonzero(bodies)
    places = found.xyz[0].copy()
    places[moving] += np.float32([5, 0, 0])
    proposed = session.propose(places[moving], moving)
    np.testing.assert_allclose(
        proposed, fresh(found.model, places, scales=found.scales[0]), rtol=1e-5, atol=1e-6 * proposed.max())
    assert session.recomputed_pairs == 1
    gradient = session.gradient(np.ones((3, 31)))
    assert gradient.shape == places.shape and np.isfinite(gradient).all()


def test_threads_may_share_a_session():
    model, xyz, bodies = made(chains=4)
    session = Session(model, xyz, bodies=bodies)
    failed = []

    def walk(chain):
        try:
            random, places = np.random.default_rng(chain), xyz[chain].copy()
            for _ in range(100):
                places = turned(places, random)
                session.propose(places, chain=chain)
                session.accept(chain)
            np.testing.assert_array_equal(session.positions(chain), places)
        except Exception as error:  # told below, where the test can fail
            failed.append(error)

    threads = [threading.Thread(target=walk, args=(chain,)) for chain in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_refused_batch_proposes_nothing():
    model, xyz, bodies = made(chains=2)
    session = Session(model, xyz, bodies=bodies)
    before = session.profile(0), session.positions(0)
    for second in ((1, [99], [[0, 0, 0]]), (1, [0], [[np.nan, 0, 0]]), (0, [0], [[1, 1, 1]])):
        with pytest.raises((pleat.InputError, pleat.UsageError)):
            session.propose_all([(0, [3], [[0, 0, 0]]), second])
        for chain in (0, 1):
            with pytest.raises(pleat.UsageError, match="expected a proposal to accept, found none"):
                session.accept(chain)
    np.testing.assert_array_equal(session.profile(0), before[0])
    np.testing.assert_array_equal(session.positions(0), before[1])


@pytest.mark.parametrize("call, kind, text", [
    (lambda s: s.propose([[0, 0, 0]], [60]), pleat.UsageError, "scatterers from 0 to 59, found 60"),
    (lambda s: s.propose([[0, 0, 0]], [-1]), pleat.UsageError, "scatterers from 0 to 59, found -1"),
    (lambda s: s.propose([[0, 0, 0]], [0.5]), pleat.InputError, "whole numbers as scatterers, found float64"),
    (lambda s: s.propose([[0, 0, 0]], [0, 1]), pleat.UsageError, r"found shapes \(2,\) and \(1, 3\)"),
    (lambda s: s.propose([0, 0, 0], [0]), pleat.UsageError, r"found shapes \(1,\) and \(3,\)"),
    (lambda s: s.propose([[0, 0, 1e9]], [0]), pleat.InputError, "within 1e8 angstrom"),
    (lambda s: s.propose([[0, 0, 0]], [0], chain=1), pleat.UsageError, "chains from 0 to 0, found 1"),
    (lambda s: s.profile(-1), pleat.UsageError, "chains from 0 to 0, found -1"),
    (lambda s: s.positions(3), pleat.UsageError, "chains from 0 to 0, found 3"),
    (lambda s: s.reject(1), pleat.UsageError, "chains from 0 to 0, found 1"),
    (lambda s: s.refresh(1), pleat.UsageError, "chains from 0 to 0, found 1"),
    (lambda s: s.accept(), pleat.UsageError, "expected a proposal to accept"),
    (lambda s: s.gradient(np.ones((1, 3))), pleat.UsageError, r"expected weights \[1, 31\]"),
    (lambda s: s.gradient(np.full((1, 31), np.nan)), pleat.InputError, "expected finite weights"),
    (lambda s: s.gradient(np.ones(31)), pleat.UsageError, "expected partial profiles"),
])
def test_calls_that_are_refused(call, kind, text):
    model, xyz, bodies = made()
    session = Session(model, xyz, bodies=bodies)
    with pytest.raises(kind, match=text):
        call(session)


@pytest.mark.parametrize("change, kind, text", [
    ({"xyz": np.ones((59, 3))}, pleat.UsageError, r"expected coordinates \[chain, 3, 60\]"),
    ({"xyz": np.ones((0, 60, 3))}, pleat.UsageError, r"expected coordinates \[chain, 3, 60\]"),
    ({"xyz": np.full((60, 3), np.nan)}, pleat.InputError, "within 1e8 angstrom"),
    ({"bodies": [0, 1]}, pleat.UsageError, "a body for each of 60 scatterers, found 2"),
    ({"bodies": np.full(60, 5000)}, pleat.UsageError, "bodies from 0 to 4095, found 5000"),
    ({"bodies": np.full(60, 0.5)}, pleat.InputError, "whole numbers as bodies"),
    ({"precision": "float16"}, pleat.UsageError, "precision: expected one of"),
    ({"refresh": -1}, pleat.UsageError, "refresh: expected a whole number >= 0"),
    ({"device": "cuda:77"}, pleat.DeviceError, "cuda:77"),
    ({"threads": 0}, pleat.UsageError, "threads"),
])
def test_sessions_that_are_refused(change, kind, text):
    model, xyz, bodies = made()
    given = {"xyz": xyz, "bodies": bodies, **change}
    with pytest.raises(kind, match=text):
        Session(model, **given)


def test_scales_that_are_refused():
    model = Model(Q, np.ones((1, 1, 31)), count=4, scaled=[True])
    for scales in (None, np.ones((1, 4, 4)), np.full((1, 1, 4), np.nan)):
        with pytest.raises((pleat.InputError, pleat.UsageError), match="scales"):
            Session(model, np.ones((4, 3)), scales=scales)
