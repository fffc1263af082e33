#!/usr/bin/env python3
# Makes the curve of 1hel_made.dat: a profile that pleat computes with known parameters, with noise.
#
# data/make_curve.py PROGRAM >data/1hel_made.dat    (then gzip -9n)
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

folder = Path(__file__).resolve().parent
with tempfile.TemporaryDirectory() as run:
    subprocess.run([sys.argv[1], "saxs", folder / "1hel.pdb.gz", "-o", f"{run}/profile", "-q", "--c1", "1.02",
                    "--c2", "1.5", "--q-points", "201", "--q-max", "0.4", "--device", "cpu"], check=True)
    q, intensity = np.loadtxt(f"{run}/profile/profile.tsv", skiprows=1, usecols=(0, 1)).T[:, 4:]
model = intensity / intensity[0]
sigma = 0.01 * model + 5e-5
made = model + sigma * np.random.default_rng(1).normal(size=len(q))
print("Made from PDB 1HEL with c1 = 1.02, c2 = 1.5 and noise; no measurement. q in 1/angstrom")
for row in zip(q, made, sigma):
    print("{:.4f} {:.6e} {:.3e}".format(*row))
