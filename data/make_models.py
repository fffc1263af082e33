#!/usr/bin/env python3
# Makes eight models of trypsin to choose among: four near the crystal's, four with a part of it turned.
#
# data/make_models.py >models.pdb
import gzip
import math
from pathlib import Path

path = Path(__file__).resolve().parent / "1ql9_A.pdb.gz"
with gzip.open(path, "rt", encoding="ascii") as file:
    atoms = [line for line in file if line.startswith("ATOM")]

for model in range(8):
    # Residues behind number 120 turn about the z axis in every second model, all sway a little.
    angle, sway = (0.8 if model % 2 else 0.0), 0.2 * (model // 2)
    print(f"MODEL     {model + 1:4d}")
    for line in atoms:
        x, y, z = (float(line[k:k + 8]) for k in (30, 38, 46))
        if int(line[22:26]) > 120:
            x, y = (x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle))
        print(f"{line[:30]}{x + sway * math.sin(z / 9):8.3f}{y:8.3f}{z:8.3f}{line[54:].rstrip()}")
    print("ENDMDL")
