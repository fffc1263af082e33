# What tests of the module share: data, made ensembles, and calls in a process of their own.
import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

DATA = Path(os.environ["PLEAT_DATA"])
SHARED = Path(os.environ["PLEAT_SHARED"])
PROGRAM = os.environ["PLEAT_PROGRAM"]


def family(sequences=200, first=4, columns=40):
    """A block of the CheY family as sequences."""
    with gzip.open(DATA / "cheY.aln.gz", "rt", encoding="ascii") as file:
        return [row[first:first + columns] for row in file.read().split()[:sequences]]


def made_ensemble(frames=30, atoms=20, seed=1):
    """Frames about one structure, turned and moved at random: float32 [frame, atom, 3]."""
    source = np.random.default_rng(seed)
    shape = source.normal(0, 8, (atoms, 3))
    xyz = shape + source.normal(0, 1, (frames, atoms, 3))
    turns = np.linalg.qr(source.normal(size=(frames, 3, 3)))[0]
    turns *= np.sign(np.linalg.det(turns))[:, None, None]
    return np.ascontiguousarray(xyz @ turns + source.normal(0, 5, (frames, 1, 3)), dtype=np.float32)


def kabsch(a, b):
    """RMSD in float64 by singular values (Kabsch, Acta Cryst. A 34:827, 1978)."""
    a, b = (x.astype(np.float64) - x.astype(np.float64).mean(axis=0) for x in (a, b))
    values = np.linalg.svd(a.T @ b)[1]
    values[-1] *= np.sign(np.linalg.det(a.T @ b))
    return np.sqrt(max(0.0, (a * a).sum() + (b * b).sum() - 2 * values.sum()) / len(a))


def in_process(code, **options):
    """Runs code in a Python of its own; its standard output."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300,
                          check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def program(*arguments):
    """Runs the program pleat quietly."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PLEAT_", "OMP_"))}
    done = subprocess.run([PROGRAM, *map(str, arguments), "-q"], capture_output=True, text=True,
                          timeout=300, check=False, env=environment)
    assert done.returncode == 0, done.stderr
