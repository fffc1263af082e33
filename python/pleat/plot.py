# Plots: figures of results by matplotlib, which must be installed.
"""pleat.plot: a result on axes of matplotlib. Each function draws on `ax` (None: a new figure) and returns it."""
import io

import numpy as np

from .alignment import alignment as as_alignment
from .errors import InputError, UsageError
from .result import counted, square
from .results import Clusters, Couplings, MutualInformation, Refinement, Rmsd, Saxs, Selection

__all__ = ["clusters", "contact_map", "dendrogram", "distribution", "dwell_times", "fit", "logo", "matrix", "profile",
           "scores", "transitions"]


def _axes(ax):
    if ax is not None:
        return ax
    import matplotlib.pyplot
    return matplotlib.pyplot.subplots()[1]


LABELS = {"rg": "Rg (angstrom)", "dmax": "Dmax (angstrom)", "end_to_end": "end-to-end distance (angstrom)", "chi2": "chi^2 per point", "ln_likelihood": "ln of the likelihood",
          "rmsd": "RMSD from the first selected cluster (angstrom)", "contacts": "share of the contacts that are formed",
          "density": "share of frames nearby"}


def _label(name):
    """What an axis says of a column."""
    if name.startswith("distance_"):
        return f"distance of domains {' and '.join(name.split('_')[1:])} (angstrom)"
    return LABELS.get(name, name.replace("_", " "))


def _is(result, kinds, what):
    if not isinstance(result, kinds):
        raise InputError(f"expected {what}, found {type(result).__name__}")


def contact_map(result, *, best=None, min_separation=6, ax=None):
    """The scores of all pairs of columns as an image, and the best contacts as circles above the diagonal.

    result : pleat.Couplings
    best : number of contacts; None: as many as columns
    min_separation : as for `contacts`

    Axes count columns of the source alignment from 1, as the program's tables. Dashed lines are the borders of
    its parts.
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
    # Neighbours in the chain have the largest scores, and most pairs have none to speak of.
    apart = np.abs(np.subtract.outer(columns, columns)) >= min_separation
    low, high = np.quantile(result.scores[apart], [0.8, 0.999]) if apart.any() else (None, None)
    ax.imshow(shown, cmap="Greys", origin="lower", extent=(*edge, *edge), vmin=low, vmax=high)
    ax.plot(contacts["i"] + 1, contacts["j"] + 1, "o", color="tab:red", markersize=4, fillstyle="none")
    parts = getattr(result, "parts", None) or [""] * len(columns)
    for n in range(1, len(columns)):
        if parts[n] != parts[n - 1]:
            for line in (ax.axvline, ax.axhline):
                line((columns[n] + columns[n - 1]) / 2, color="tab:blue", linestyle="--", linewidth=1)
    ax.set(xlabel="column", ylabel="column", title=f"{len(contacts)} best contacts, above the diagonal")
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
    ax.set(ylabel="distance (angstrom)", title=counted(count, "cluster"))
    return ax


def clusters(result, *, ax=None):
    """The cluster of each item against its number, such as time; noise is -1.

    result : pleat.Clusters
    """
    from matplotlib.ticker import MaxNLocator
    _is(result, Clusters, "pleat.Clusters")
    ax = _axes(ax)
    ax.plot(result.assignment, ".", markersize=3)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="frame", ylabel="cluster", title=counted(len(result.clusters), "cluster"))
    return ax


def transitions(result, *, lag=1, counts=False, ax=None):
    """The transition probabilities between clusters as an image, rows to columns; noise is -1.

    result : pleat.Clusters of a trajectory
    lag : items from the begin to the end of a step
    counts : show how often steps are taken instead
    """
    _is(result, Clusters, "pleat.Clusters")
    steps = result.transitions(lag)
    if len(steps) == 0:
        raise InputError(f"expected two items of one series that are {lag} apart, found none")
    names, places = np.unique(np.concatenate([steps["from"], steps["to"]]), return_inverse=True)
    shown = np.zeros((names.size, names.size))
    shown[places[:len(steps)], places[len(steps):]] = steps["count" if counts else "probability"]
    ax = _axes(ax)
    image = ax.imshow(shown, cmap="Blues", vmin=0)
    ax.figure.colorbar(image, ax=ax, label="steps" if counts else f"probability of a step of {lag}")
    every = range(0, names.size, -(-names.size // 20))
    ax.set_xticks(every, names[every])
    ax.set_yticks(every, names[every])
    ax.set(xlabel="to cluster", ylabel="from cluster")
    return ax


def dwell_times(result, *, cluster=0, timestep=1.0, bins=40, ax=None):
    """The distribution of the dwell times of one cluster: whole visits, and on top those that a file cuts.

    result : pleat.Clusters of a trajectory
    cluster : its number; -1: noise
    timestep : time from one item to the next; 1: dwell times in items
    bins : number of bins
    """
    _is(result, Clusters, "pleat.Clusters")
    result.dwell_times(timestep)  # refuses a time that is none
    rows = result.dwells()
    rows = rows[rows["cluster"] == cluster]
    if len(rows) == 0:
        raise UsageError(f"cluster: expected one with items, found {cluster}")
    ax = _axes(ax)
    times = rows["dwell"] * timestep
    ax.hist([times, times], weights=[rows["visits"], rows["cut"]], bins=bins, stacked=True,
            label=["whole", "cut by the begin or end of a file"])
    ax.set(xlabel="dwell time" if timestep != 1 else "dwell time (frames)", ylabel="visits", title=f"cluster {cluster}")
    ax.legend()
    return ax


def profile(result, *, ax=None):
    """The mean profile on a logarithmic axis.

    result : pleat.Saxs
    """
    _is(result, Saxs, "pleat.Saxs")
    ax = _axes(ax)
    ax.plot(result.q, result.mean)
    ax.set(xlabel="q (1/angstrom)", ylabel="intensity", yscale="log")
    return ax


def distribution(result, *, quantity="rg", bins=40, ax=None):
    """The distribution of a number of the frames.

    result : pleat.Refinement
    quantity : a column of its table: 'rg', 'distance_1_2', ...
    bins : number of bins
    """
    _is(result, Refinement, "pleat.Refinement")
    if quantity not in result.table:
        raise UsageError(f"quantity: expected one of {', '.join(result.table)}, found {quantity!r}")
    ax = _axes(ax)
    ax.hist(result.table[quantity], bins=bins)
    ax.set(xlabel=_label(quantity), ylabel="frames", title=f"{len(result.frames)} frames")
    return ax


def scores(result, *, x="rmsd", y=None, ax=None):
    """Two scores of the frames against each other, with a colour for each selected cluster.

    result : pleat.Selection
    x, y : names of scores; y None: contacts, without them chi2
    """
    _is(result, Selection, "pleat.Selection")
    found = result.scores
    if y is None:
        y = "chi2" if np.isnan(found["contacts"]).all() else "contacts"
    for name in (x, y):
        if name not in found.dtype.names:
            raise UsageError(f"expected one of {', '.join(found.dtype.names)}, found {name!r}")
    ax = _axes(ax)
    chosen = result.clusters[result.clusters["selected"] > 0]["cluster"]
    others = ~np.isin(found["cluster"], chosen)
    if others.any():
        ax.plot(found[x][others], found[y][others], ".", color="0.7", label="others")
    for cluster in chosen:
        rows = found["cluster"] == cluster
        ax.plot(found[x][rows], found[y][rows], "o", markersize=4, label=f"cluster {cluster}")
    ax.set(xlabel=_label(x), ylabel=_label(y))
    ax.legend()
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
    ax.errorbar(curve.q, curve.intensity, curve.sigma, fmt=".", color="0.6", markersize=4, elinewidth=0.5,
                label="measured", zorder=1)
    ax.plot(curve.q, result.fit.model, color="tab:red", label=f"fit, chi^2 {result.fit.chi2:.3g}", zorder=2)
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


MAX_PICTURE = 2000  # columns or frames of a matrix in a small picture


def _drawn_by(result):
    """The function that shows a result best; None without one."""
    if isinstance(result, Couplings) and len(result.columns) <= MAX_PICTURE:
        return contact_map
    if isinstance(result, MutualInformation) and len(result.columns) <= MAX_PICTURE:
        return matrix
    if isinstance(result, Rmsd) and result.matrix is not None and result.frames <= MAX_PICTURE:
        return matrix
    if isinstance(result, Saxs):
        return profile if result.fit is None else fit
    return {Clusters: clusters, Refinement: distribution, Selection: scores}.get(type(result))


def picture(result):
    """A small picture of a result as bytes of PNG, without pyplot; None for what has none."""
    draw = _drawn_by(result)
    if draw is None:
        return None
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    figure = Figure(figsize=(4, 3), layout="constrained")
    FigureCanvasAgg(figure)
    draw(result, ax=figure.subplots())
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=80)
    return file.getvalue()
