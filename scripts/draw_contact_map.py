#!/usr/bin/env python3
# Draws the contact map of a run of `pleat couplings` as a picture (needs numpy and matplotlib).
"""Usage: scripts/draw_contact_map.py RUN PICTURE.png [TITLE]

Above the diagonal every pair's corrected score, below it the best L pairs at least 6 columns apart,
larger and darker the more probable.
"""
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np


def main(run, picture, title):
    scores = np.load(f"{run}/scores.npz")
    corrected, columns = scores["corrected"], scores["columns"] + 1
    length = len(columns)
    best = np.genfromtxt(f"{run}/contacts.tsv", names=True, delimiter="\t", dtype=None,
                         encoding="utf-8", max_rows=length)

    figure, axes = plt.subplots(figsize=(6.4, 5.6), dpi=110, layout="constrained")
    # Columns that a filter left out stay empty, so that the others stand at their own numbers.
    square = np.full((columns[-1] - columns[0] + 1,) * 2, np.nan)
    square[np.ix_(columns - columns[0], columns - columns[0])] = corrected
    upper = np.ma.masked_where(np.isnan(square) | (np.tril(np.ones_like(square)) > 0), square)
    edge = [columns[0] - 0.5, columns[-1] + 0.5]
    image = axes.imshow(upper, cmap="Blues", vmin=np.median(corrected),
                        vmax=np.quantile(corrected, 0.999),
                        extent=[edge[0], edge[1], edge[1], edge[0]], interpolation="nearest")
    dots = axes.scatter(best["i"], best["j"], c=best["probability"], s=6 + 26 * best["probability"],
                        cmap="Greys", vmin=0, vmax=1, edgecolors="black", linewidths=0.3)
    axes.plot(edge, edge, color="black", linewidth=0.6)
    axes.set(title=title, xlabel="column", ylabel="column", xlim=edge, ylim=edge[::-1])
    figure.colorbar(image, ax=axes, shrink=0.8, label="score (above the diagonal)")
    figure.colorbar(dots, ax=axes, shrink=0.8,
                    label=f"probability of contact, best {length} pairs (below)")
    figure.savefig(picture)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) == 4 else "Predicted contacts")
