# Notebook: contacts, states and a fit in cells, as Jupyter and editors show them.
# %% [markdown]
# A notebook: open this file in Jupyter (jupytext), VS Code or Spyder, whose cells begin with `# %%`, or run it.
#
# The last expression of a cell is shown: results of pleat show their headline and a small picture.

# %%
import tempfile
from pathlib import Path

import pleat

DATA = Path(__file__).resolve().parents[2] / "data" if "__file__" in globals() else Path("data")

# %% [markdown]
# Contacts of a family of response regulators.

# %%
family = pleat.read_alignment(DATA / "cheY.aln.gz").filter(max_gaps=0.5)
family

# %%
fitted = pleat.couplings(family, tolerance=0.01, models=False, progress=True)
fitted

# %%
best = fitted.contacts()[:5]
for pair in best:
    print(f"columns {pair['i'] + 1} and {pair['j'] + 1}: score {pair['corrected']:.3f}, "
          f"probability {pair['probability']:.2f}")

# %% [markdown]
# States of a simulation: pairs of frames are compared once, and grouped in two ways.

# %%
frames = pleat.read_ensemble(DATA / "hivp.dcd.gz", topology=DATA / "hivp.pdb.gz")
frames

# %%
pairs = pleat.rmsd(frames)
pairs

# %%
states = pleat.cluster(pairs, method="average", k=range(2, 7))
states

# %%
groups = pleat.cluster(pairs, cutoff=1.8)
print(f"average linkage: {len(states.clusters)} clusters; gromos: {len(groups.clusters)} clusters")

# %% [markdown]
# A structure against a curve.

# %%
fit = pleat.saxs(DATA / "1hel.pdb.gz", data=DATA / "1hel_made.dat.gz")
fit

# %% [markdown]
# All of it on one page, which a notebook shows in a frame, and in folders for later.

# %%
page = pleat.report({"contacts": fitted, "pairs": pairs, "states": states, "fit": fit}, title="A notebook")
page

# %%
with tempfile.TemporaryDirectory() as folder:
    fit.save(Path(folder, "fit"))
    again = pleat.load(Path(folder, "fit"))
    print(again, again.fit.chi2 == fit.fit.chi2)
