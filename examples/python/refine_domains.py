# Refinement: finds the arrangement of two halves of trypsin from a scattering curve, by Metropolis moves.
# %% marks cells for editors and Jupyter; run it from any folder.

# %% The scatterers: one bead for the backbone and one for the side chain of each residue. (With c2=1.0,
# sites of the hydration layer follow, and a move costs six times as much.)
from pathlib import Path

import numpy as np

import pleat

data = Path(__file__).resolve().parents[2] / "data"
native = pleat.read_ensemble(data / "1ql9_A.pdb.gz", select="A")
found = pleat.saxs.scatterers(native, model="two-bead", q_max=0.3, q_points=51)
start, q = found.xyz[0], found.model.q
print(f"{native.shape[1]} atoms, {start.shape[0]} scatterers of {len(found.type_names)} types")

# %% Two rigid bodies: the barrels, one in each half of the chain.
order = {residue: n for n, residue in enumerate(dict.fromkeys(native.topology.residue_numbers))}
residue = np.array([order[number] for number in native.topology.residue_numbers])
half = len(order) // 2
bodies = (residue[found.atoms] >= half).astype(int)
second = np.flatnonzero(bodies)
hinge_atoms = native.xyz[0][residue == half - 1]
hinge = hinge_atoms.mean(axis=0)


# %% A move turns the second half about the hinge; overlap and separation of the halves are penalised.
random = np.random.default_rng(7)


def turned(xyz, axis, angle, shift):
    x, y, z = axis / np.linalg.norm(axis)
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn = np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew
    return ((xyz - hinge) @ turn.T + hinge + shift).astype(np.float32)


# Markers of overlap: the alpha carbons of the first half, which stays, and of the second, which moves.
carbons = native.indices("ca")
fixed = native.xyz[0][carbons[residue[carbons] < half]]
joint = np.flatnonzero(residue[carbons[residue[carbons] >= half]] == half)[0]


def strain(markers):
    apart = np.linalg.norm(markers[:, None] - fixed[None], axis=-1)
    linker = apart[joint, -1]
    apart[joint, -1] = 4.0
    return (np.clip(4.0 - apart, 0, None) ** 2).sum() + 2 * (linker - 3.8) ** 2


# %% The true arrangement, which the search does not know: open by 70 degrees; its curve, with errors.
closed = native.xyz[0][carbons[residue[carbons] >= half]]
axes = random.normal(size=(60, 3))
sizes = [np.linalg.norm(turned(closed, axis, 1.22, 0).mean(axis=0) - fixed.mean(axis=0)) for axis in axes]
truth = start.copy()
truth[second] = turned(start[second], axes[np.argmax(sizes)], 1.22, 0)
exact = pleat.saxs.profiles(found.model, truth, scales=found.scales).sum(axis=1)[0]
sigma = (0.02 + 0.1 * q) * exact
curve = pleat.profile((q, exact + sigma * random.normal(size=q.size), sigma))


# %% Metropolis: each proposal recomputes only the pairs between the halves.
def chi_square(partial):
    return pleat.saxs.fit_scale(partial.sum(axis=0), curve)[1]


session = pleat.saxs.ProfileSession(found.model, start, scales=found.scales, bodies=bodies, threads=1, refresh=200)
markers = closed.copy()
chi = first = best = chi_square(session.profile())
tension, accepted, moves = strain(markers), 0, 3000
for step in range(moves):
    move = random.normal(size=3), 0.06 * random.normal(), 0.1 * random.normal(size=3)
    positions, tried = turned(session.positions()[second], *move), turned(markers, *move)
    proposed, strained = chi_square(session.propose(positions, second)), strain(tried)
    # Cooling from a hundredfold temperature lets the halves leave the start.
    temperature = 100 ** max(0.0, 1 - 2 * step / moves)
    if random.random() < np.exp(min(0.0, (chi - proposed) / 2 + tension - strained) / temperature):
        session.accept()
        chi, tension, markers, accepted = proposed, strained, tried, accepted + 1
    else:
        session.reject()
    best = min(best, chi)

# %% The result.
print(f"{moves} moves, {accepted} accepted, {session.recomputed_pairs} pair of bodies per move")
print(f"chi^2 per point: start {first / q.size:.2f}, end {chi / q.size:.2f}, best {best / q.size:.2f}")


def rg(xyz):
    return np.sqrt(((xyz - xyz.mean(axis=0)) ** 2).sum(axis=1).mean())


print(f"radius of gyration: start {rg(start):.2f}, end {rg(session.positions()):.2f}, "
      f"truth {rg(truth):.2f} angstrom")
session.refresh()
print(f"largest drift of the profile: {session.drift:.1e}")
assert best / q.size < 1.5 and session.drift < 1e-5
