# Conformations: contacts of a family, and clusters of an ensemble, from NumPy arrays in seconds.
# Cells as editors and Jupyter know them are marked by %%; run it from anywhere.

# %% Contacts of the CheY family from its alignment.
from pathlib import Path

import numpy as np

import pleat

data = Path(__file__).resolve().parents[2] / "data"
family = pleat.read_alignment(data / "cheY.aln.gz").filter(max_gaps=0.5)
print(family)

fitted = pleat.couplings(family, tolerance=1e-2)
print(f"{fitted.effective_sequences:.0f} effective sequences, {fitted.iterations} iterations")
for contact in fitted.contacts(min_separation=6)[:3]:
    print("columns {i} and {j}: z {z:.1f}, probability {probability:.2f}".format(
        **dict(zip(contact.dtype.names, contact.tolist()))))

# %% What the columns tell of each other, against permuted columns.
measured = pleat.mutual_information(family)
z = pleat.square(measured.z)
i, j = np.unravel_index(np.nanargmax(z), z.shape)
print(f"most informative pair: columns {i} and {j}, Z {z[i, j]:.0f}")

# %% An ensemble of our own: a structure whose halves turn about its middle, with noise.
native = pleat.read_ensemble(data / "1a8o.pdb.gz", select="ca")
atoms = native.shape[1]
source = np.random.default_rng(1)
frames = np.repeat(native.xyz, 300, axis=0)
middle = atoms // 2
for frame, angle in zip(frames, np.repeat([0.0, 0.6, 1.2], 100)):
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    frame[middle:] = (frame[middle:] - frame[middle]) @ turn.T + frame[middle]
frames += source.normal(0, 0.3, frames.shape).astype(np.float32)

# %% All pairs after superposition; the array is not copied. Then clusters of its matrix.
pairs = pleat.rmsd(frames, progress=None)
print(f"{pairs.pairs} pairs, RMSD {pairs.min:.2f} to {pairs.max:.2f} angstrom")
groups = pleat.cluster(pairs, method="average", k="2:5")
for number, group in enumerate(groups.clusters):
    print(f"cluster {number}: {group['size']} frames, medoid {group['medoid']}, "
          f"radius {group['radius']:.2f} angstrom")

# %% How far every frame is from the structure they were made of.
values = pleat.rmsd(frames, reference=native).values
for number in range(len(groups.clusters)):
    print(f"cluster {number}: {values[groups.assignment == number].mean():.2f} angstrom from 1a8o")
