# Plots: figures of results by matplotlib, which must be installed.
"""pleat.plot: a result on axes of matplotlib. Each function draws on `ax` (None: a new figure) and returns it."""
import numpy as np

from .alignment import alignment as as_alignment
from .errors import InputError, UsageError
from .result import square
from .results import Clusters, Couplings, MutualInformation, Rmsd, Saxs

__all__ = ["contact_map", "dendrogram", "fit", "logo", "matrix"]


def _axes(ax):
    if ax is not None:
        return ax
    import matplotlib.pyplot
    return matplotlib.pyplot.subplots()[1]


def _is(result, kinds, what):
    if not isinstance(result, kinds):
        raise InputError(f"expected {what}, found {type(result).__name__}")


def contact_map(result, *, best=None, min_separation=6, ax=None):
    """The scores of all pairs of columns as an image, and the best contacts as circles.

    result : pleat.Couplings
    best : number of contacts; None: as many as columns
    min_separation : as for `contacts`

    Axes count columns of the source alignment from 1, as the program's tables.
    """
    _is(result, Couplings, "pleat.Couplings")
    ax = _axes(ax)
    columns = result.columns + 1
    contacts = result.contacts(min_separation)[:len(columns) if best is None else best]
    places = np.arange(columns[0], columns[-1] + 1)
    shown = np.full((places.size, places.size), np.nan)
    at = columns - columns[0]
    shown[np.ix_(at, at)] = result.scores
    shown[at, at] = np.nan
    edge = (places[0] - 0.5, places[-1] + 0.5)
    ax.imshow(shown, cmap="Greys", origin="lower", extent=(*edge, *edge), vmin=0)
    ax.plot(np.append(contacts["i"], contacts["j"]) + 1, np.append(contacts["j"], contacts["i"]) + 1, "o",
            markersize=3, fillstyle="none")
    ax.set(xlabel="column", ylabel="column", title=f"{len(contacts)} best contacts")
    return ax


def matrix(result, *, ax=None):
    """The values of all pairs as an image with its scale: RMSD of frames, or mutual information of columns.

    result : pleat.Rmsd with a matrix, pleat.MutualInformation, or an array, condensed or [row, column]
    """
    ax = _axes(ax)
    values = np.asarray(result)
    if isinstance(result, Rmsd) and result.matrix is None:
        raise InputError("expected an Rmsd with a matrix, found none; take matrix='condensed'")
    values = square(values) if values.ndim == 1 else values
    if values.ndim != 2:
        raise InputError(f"expected a matrix, condensed or [row, column], found shape {values.shape}")
    label, axis = "", "frame"
    if isinstance(result, Rmsd):
        label = f"{result.metric} (angstrom)" if result.metric in ("rmsd", "drmsd") else result.metric
    elif isinstance(result, MutualInformation):
        label, axis = "mutual information (bits)", "column that was kept, from 0"
    image = ax.imshow(values, origin="lower")
    ax.figure.colorbar(image, ax=ax, label=label)
    ax.set(xlabel=axis, ylabel=axis)
    return ax


def dendrogram(result, *, ax=None):
    """The tree of a hierarchical clustering; needs SciPy.

    result : pleat.Clusters with a tree
    """
    _is(result, Clusters, "pleat.Clusters")
    if result.tree is None:
        raise UsageError("expected a clustering with a tree, found one without; take method='average'")
    import scipy.cluster.hierarchy
    ax = _axes(ax)
    count = len(result.clusters)
    heights = result.tree[:, 2]
    # Between the merge that made these clusters and the next.
    cut = heights[-count:][:2].mean() if 1 < count <= len(heights) else 0
    scipy.cluster.hierarchy.dendrogram(result.tree, ax=ax, no_labels=True, color_threshold=cut)
    ax.set(ylabel="distance (angstrom)", title=f"{count} clusters")
    return ax


def fit(result, *, ax=None):
    """A measured curve with its errors, and the fitted profile, on a logarithmic axis.

    result : pleat.Saxs with data
    """
    _is(result, Saxs, "pleat.Saxs")
    if result.fit is None:
        raise UsageError("expected a result with data, found one without a fit")
    ax = _axes(ax)
    curve = result.curve
    ax.errorbar(curve.q, curve.intensity, curve.sigma, fmt=".", markersize=3, elinewidth=0.5, label="measured",
                zorder=1)
    ax.plot(curve.q, result.fit.model, label=f"fit, chi^2 {result.fit.chi2:.3g}", zorder=2)
    ax.set(xlabel="q (1/angstrom)", ylabel="intensity", yscale="log")
    ax.legend()
    return ax


def logo(source, *, first=None, last=None, ax=None):
    """The letters of each column, as high as their frequency times the column's information, in bits.

    source : what pleat.alignment takes
    first, last : columns, from 0, without the last; None: all. Gaps and unknown letters are not counted
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D
    family = as_alignment(source)
    letters = family.letters[:, slice(first, last)]
    if 0 in letters.shape:
        raise InputError(f"expected sequences and columns, found {letters.shape[0]} and {letters.shape[1]}")
    names = family.alphabet_letters[:-2]
    counts = np.stack([(letters == code).sum(axis=0) for code in range(len(names))]).astype(np.float64)
    totals = counts.sum(axis=0)
    shares = counts / np.maximum(totals, 1)
    entropy = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=0)
    heights = shares * np.where(totals > 0, np.log2(len(names)) - entropy, 0)
    ax = _axes(ax)
    font = FontProperties(family="monospace", weight="bold")
    start = range(family.shape[1])[slice(first, last)].start
    for column in range(letters.shape[1]):
        bottom = 0.0
        for code in np.argsort(heights[:, column]):
            height = heights[code, column]
            if height < 0.01:
                continue
            path = TextPath((0, 0), names[code], size=1, prop=font)
            box = path.get_extents()
            moved = (Affine2D().translate(-box.x0, -box.y0).scale(0.9 / box.width, height / box.height)
                     .translate(start + column - 0.45, bottom))
            ax.add_patch(PathPatch(moved.transform_path(path), linewidth=0, facecolor=f"C{code % 10}"))
            bottom += height
    ax.set(xlabel="column, from 0", ylabel="information (bits)", xlim=(start - 0.5, start + letters.shape[1] - 0.5),
           ylim=(0, np.log2(len(names))))
    return ax
