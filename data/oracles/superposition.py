# Minimum RMSD of two sets of points over proper rotations, and ensembles on which it is hard to find.
import itertools

import numpy as np


def rotation(random):
    """A rotation, uniformly at random."""
    q = np.linalg.qr(random.normal(size=(3, 3)))[0]
    return q * np.sign(np.linalg.det(q))


def rmsd(a, b):
    """Kabsch (Acta Cryst. A 34:827, 1978) by singular values, in float64. The rotated points themselves are
    subtracted, so that tiny values keep their digits."""
    a, b = (np.asarray(x, dtype=np.float64) for x in (a, b))
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    u, _, vt = np.linalg.svd(a.T @ b)
    turn = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))]) @ vt
    return np.sqrt(((a @ turn - b)**2).sum() / len(a))


def all_pairs(frames):
    """[frame, frame]"""
    matrix = np.zeros((len(frames), len(frames)))
    for i, j in itertools.combinations(range(len(frames)), 2):
        matrix[i, j] = matrix[j, i] = rmsd(frames[i], frames[j])
    return matrix


def polygon(corners):
    angle = 2 * np.pi * np.arange(corners) / corners
    return 3 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)


def degenerate():
    """Name to float32 [frame, atom, 3]. The tests allow 1e-4 angstrom where the name says far or large."""
    random = np.random.default_rng(2)
    one = random.normal(0, 8, (20, 3))
    cube = np.array(list(itertools.product((-2.0, 2.0), repeat=3)))
    tetrahedron, octahedron = cube[[0, 3, 5, 6]], np.concatenate([2.5 * np.eye(3), -2.5 * np.eye(3)])
    line = np.outer(random.normal(0, 6, 20), [1.0, 0, 0])
    flat = random.normal(0, 6, (20, 3)) * [1, 1, 0]

    def moved(frames, far=5.0):
        """Every frame turned and shifted at random."""
        return [frame @ rotation(random) + random.normal(0, far, 3) for frame in frames]

    def noisy(frame, size, count=6):
        return [frame + random.normal(0, size, frame.shape) for _ in range(count)]

    def renumbered(frame, count=6):
        """The same points, in other orders."""
        return [frame[random.permutation(len(frame))] for _ in range(count)]

    groups = {
        "identical": [one] * 3,
        "turned_copies": moved([one] * 6),
        "mirror_images": moved([one, one * [1, 1, -1], one * [-1, -1, -1], one]),
        "generic": moved(noisy(one, 2.0, 12)),
        "collinear": moved([line, line[::-1], *renumbered(line, 4)]),
        "collinear_on_an_axis": [line, -line, 2 * line],
        "planar": moved([flat, flat * [1, -1, 1], *noisy(flat, 0.5, 3)]),
        "planar_on_an_axis": [flat, flat * [-1, 1, 1], *renumbered(flat, 2)],
        "ring": moved([polygon(6), polygon(6)[::-1], *renumbered(polygon(6), 4)]),
        "tetrahedron": moved(renumbered(tetrahedron)),
        "octahedron": moved(renumbered(octahedron)),
        "cube": moved(renumbered(cube)),
        "all_at_one_point": [np.zeros((20, 3)), np.full((20, 3), 7.0), one],
        "no_covariance": [np.kron([[1.0, 0, 0]], [[1.0], [-1], [1], [-1]]),
                          np.kron([[0, 1.0, 0]], [[1.0], [1], [-1], [-1]])],
        "one_atom": list(random.normal(0, 5, (3, 1, 3))),
        "two_atoms": list(random.normal(0, 5, (5, 2, 3))),
        "three_atoms": list(random.normal(0, 5, (5, 3, 3))),
        "four_atoms": list(random.normal(0, 5, (5, 4, 3))),
        "far_1e4": moved(noisy(one, 0.5), 1e4),
        "far_1e5": moved(noisy(one, 0.5), 1e5),
        "scaled_1e3": [1e3 * frame for frame in moved(noisy(one, 1.0, 4))],
        "scaled_1e-6": [1e-6 * frame for frame in moved(noisy(one, 1.0, 4))],
        **{f"displaced_by_{size:g}": moved(noisy(one, size)) for size in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)},
    }
    return {name: np.array(frames, dtype=np.float32) for name, frames in groups.items()}
