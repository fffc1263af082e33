# Flexible linker: frames of two domains, those that explain a curve, and what the curve says of them.
# %% marks cells for editors and Jupyter; run it from any folder.

# %% The C-terminal domain of HIV's capsid protein, with six residues that are taken to be flexible.
import warnings
from pathlib import Path

import numpy as np

import pleat

data = Path(__file__).resolve().parents[2] / "data"
warnings.filterwarnings("ignore", "not converged")  # so few frames; results need the defaults
pool = pleat.refine(data / "1a8o.pdb.gz", linkers="A:174-179", frames=400, moves=20)
print(f"{len(pool.frames)} frames; domains {', '.join(pool.domains)}; {pool.angles} angles change")
for name, one in pool.convergence.items():
    print(f"{name}: R-hat {one['r_hat']:.3f}, effective size {one['effective_size']:.0f}")

# %% A curve of two conformations, 30 % compact and 70 % wide, with errors of 2 %.
order = np.argsort(pool.table["distance_1_2"])
compact, wide = order[20], order[-20]
profiles = pleat.saxs(pool.frames, model="two-bead", q_max=0.3)
mean = 0.3 * profiles.intensity[compact] + 0.7 * profiles.intensity[wide]
noise = np.random.default_rng(1).normal(size=mean.size)
curve = pleat.profile((profiles.q[1:], (mean * (1 + 0.02 * noise))[1:], 0.02 * mean[1:]))

# %% The minimal ensemble of the pool, and the distances of its members.
fitted = pleat.saxs(pool.frames, data=curve, model="two-bead", reweight=False)
chosen = fitted.minimal[fitted.minimal_chosen]
print(f"minimal ensemble: {chosen.frames.size} frames, chi^2 per point {chosen.fit.chi2:.2f}")
distances = pool.table["distance_1_2"]
for frame, weight in zip(chosen.frames, chosen.weights):
    print(f"  frame {frame}: weight {weight:.2f}, distance {distances[frame]:.1f} angstrom")
print(f"truth: 0.30 at {distances[compact]:.1f}, 0.70 at {distances[wide]:.1f} angstrom")
assert chosen.frames.size > 1 and chosen.fit.chi2 < 2
