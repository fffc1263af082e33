# Mutual information of columns, and its exact null distribution under permutations of the columns.
#
# Formulas: src/pleat/mutual_information/README.md. Everything is summed over hypergeometric laws in
# 80-bit floating point; the enumeration of tables uses integers and fractions.
from fractions import Fraction
from math import factorial, prod

import numpy as np

Real = np.longdouble


def margin(column):
    return np.unique(column, return_counts=True)[1]


def plogp(count):
    """n lg n, 0 at n = 0."""
    count = np.asarray(count, dtype=Real)
    return count * np.log2(np.where(count > 0, count, 1))


def entropy(counts):
    rows = counts.sum()
    return np.log2(Real(rows)) - plogp(counts).sum() / rows


def information(columns):
    """Sum of the columns' entropies less their joint entropy, in bits."""
    joint = np.unique(np.stack(columns), axis=1, return_counts=True)[1]
    return sum(entropy(margin(column)) for column in columns) - entropy(joint)


class Null:
    """Laws of counts where every column of `rows` rows is permuted independently and uniformly."""

    def __init__(self, rows):
        self.rows = rows
        logs = np.log(np.arange(1, rows + 1, dtype=Real))
        self.log_factorial = np.concatenate([np.zeros(1, Real), np.cumsum(logs)])
        self.expected_plogp = {}

    def choose(self, n, k):
        """ln of the binomial coefficient; minus infinity where there is no such choice."""
        n, k = np.broadcast_arrays(n, k)
        valid = (n >= 0) & (k >= 0) & (k <= n)
        n, k = np.where(valid, n, 0), np.where(valid, k, 0)
        f = self.log_factorial
        return np.where(valid, f[n] - f[k] - f[n - k], -np.inf)

    def law(self, total, marked, drawn, x):
        """P(x of the `drawn` are marked), `marked` of `total` being so."""
        outcomes = self.choose(total, drawn)
        ways = self.choose(marked, x) + self.choose(total - marked, drawn - x)
        return np.where(np.isfinite(outcomes), np.exp(ways - np.where(np.isfinite(outcomes), outcomes, 0)), 0)

    def mean_plogp(self, total):
        """E[n lg n] of the marked ones among the drawn: [drawn, marked] of `total`."""
        if total not in self.expected_plogp:
            size = np.arange(total + 1)
            table = np.zeros((total + 1, total + 1), Real)
            for x in range(2, total + 1):
                some = size[x:]
                table[x:, x:] += self.law(total, some[None, :], some[:, None], x) * plogp(x)
            self.expected_plogp[total] = table
        return self.expected_plogp[total]

    def composition(self, margins, drawn):
        """The law of how `drawn` rows of a column with these margins divide among its letters: the letter
        and the count of each index, and the joint law of every two of them [index, index]."""
        letter = np.concatenate([np.full(min(c, drawn) + 1, a) for a, c in enumerate(margins)])
        count = np.concatenate([np.arange(min(c, drawn) + 1) for c in margins])
        of = margins[letter]
        alone = np.exp(self.choose(of, count))
        left = drawn - count[:, None] - count[None, :]
        others = self.choose(self.rows - of[:, None] - of[None, :], left) - self.choose(self.rows, drawn)
        joint = alone[:, None] * alone[None, :] * np.exp(others)
        same = letter[:, None] == letter[None, :]
        joint[same] = np.diag(self.law(self.rows, of, drawn, count))[same]
        return letter, count, joint

    def cells(self, first, second):
        """Of the table of two columns with these margins: the expected number of cells with a count x [x],
        and of ordered pairs of different cells with counts x and y [x, y]."""
        one = np.zeros(self.rows + 1, Real)
        two = np.zeros((self.rows + 1, self.rows + 1), Real)
        for a, drawn in enumerate(first):
            letter, count, joint = self.composition(second, drawn)
            np.add.at(one, count, np.diag(joint))
            by_count = np.zeros((self.rows + 1, len(count)), Real)
            np.add.at(by_count, count, joint)
            # In another row of the table: what is left of the letter falls on the rows left.
            other = np.zeros((len(count), self.rows + 1), Real)
            x = np.arange(self.rows + 1)
            for b, size in enumerate(first):
                if b != a:
                    other += self.law(self.rows - drawn, (second[letter] - count)[:, None], size, x[None, :])
            two += by_count @ other
            different = letter[:, None] != letter[None, :]
            at = np.broadcast_arrays(count[:, None], count[None, :])
            np.add.at(two, (at[0][different], at[1][different]), joint[different])
        return one, two


class ThirdColumn:
    """What a group of x rows, a cell of the table of two columns, adds to T = sum n lg n by its division
    among the letters of a third column: mean [x], variance [x], covariance of two groups [x, y]."""

    def __init__(self, null, margins, largest):
        rows = null.rows
        self.mean, self.variance = np.zeros(rows + 1, Real), np.zeros(rows + 1, Real)
        self.covariance = np.zeros((rows + 1, rows + 1), Real)
        for x in range(1, largest + 1):
            letter, count, joint = null.composition(margins, x)
            law, value = np.diag(joint), plogp(count)
            self.mean[x] = law @ value
            self.variance[x] = value @ joint @ value - self.mean[x]**2
            # The expected share of another group, given how many of a letter this one took.
            left = np.minimum(margins[letter] - count, rows - x)  # more cannot be left
            other = null.mean_plogp(rows - x)[:, left]
            self.covariance[x, :rows - x + 1] = value @ joint @ other.T - self.mean[x] * (law @ other.T)


def pair_moments(null, cells):
    """Mean of T and variance of T / N over all permutations."""
    one, two = cells
    value = plogp(np.arange(null.rows + 1))
    mean = one @ value
    centred = value - np.arange(null.rows + 1) * (mean / null.rows)
    variance = one @ centred**2 + centred @ two @ centred - (one @ centred)**2
    return mean, variance / null.rows**2


def triple_moments(null, cells, third):
    """The same of three columns, by the law of total variance over the tables of the first two."""
    one, two = cells
    mean = one @ third.mean
    centred = third.mean - np.arange(null.rows + 1) * (mean / null.rows)
    between = one @ centred**2 + centred @ two @ centred - (one @ centred)**2
    within = one @ third.variance + (two * third.covariance).sum()
    return mean, (between + within) / null.rows**2


def all_moments(columns):
    """Arrays MI2, E2, V2 over pairs i < j and MI3, E3, V3 over triples i < j < k, in row order."""
    rows, count = len(columns[0]), len(columns)
    null = Null(rows)
    margins = [margin(column) for column in columns]
    thirds = [ThirdColumn(null, m, max(m.max() for m in margins)) for m in margins]
    constant = [entropy(m) for m in margins]
    found = {name: [] for name in ("MI2", "E2", "V2", "MI3", "E3", "V3")}
    for i in range(count):
        for j in range(i + 1, count):
            cells = null.cells(margins[i], margins[j])
            mean, variance = pair_moments(null, cells)
            base = constant[i] + constant[j] - np.log2(Real(rows))
            found["MI2"].append(information([columns[i], columns[j]]))
            found["E2"].append(base + mean / rows)
            found["V2"].append(variance)
            for k in range(j + 1, count):
                mean, variance = triple_moments(null, cells, thirds[k])
                found["MI3"].append(information([columns[i], columns[j], columns[k]]))
                found["E3"].append(base + constant[k] + mean / rows)
                found["V3"].append(variance)
    return {name: np.array(values, dtype=np.float64) for name, values in found.items()}


def shares(margins, size):
    """All ways of taking `size` from these margins."""
    if not margins:
        yield ()
        return
    left = sum(margins[1:])
    for x in range(max(0, size - left), min(size, margins[0]) + 1):
        for others in shares(margins[1:], size - x):
            yield (x, *others)


def tables(margins, sizes):
    """All tables with these margins, as tuples of cells."""
    if not sizes:
        yield ()
        return
    for taken in shares(margins, sizes[0]):
        for others in tables(tuple(a - b for a, b in zip(margins, taken)), sizes[1:]):
            yield taken + others


def exact_tail(first, second, most=4000):
    """P(MI below), P(equal), P(above) what was observed and the number of different values, by
    enumeration of all tables; None where there are more than `most`. MI is compared by the integers
    prod n^n."""
    a, b = (sorted(int(n) for n in margin(column)) for column in (first, second))
    observed = prod(int(n)**int(n) for n in np.unique(np.stack([first, second]), axis=1, return_counts=True)[1])
    ways = prod(factorial(n) for n in (*a, *b))
    atoms = {}
    for number, cells in enumerate(tables(tuple(a), tuple(b))):
        if number >= most:
            return None
        value = prod(n**n for n in cells)
        atoms[value] = atoms.get(value, 0) + Fraction(ways, prod(factorial(n) for n in cells))
    total = factorial(len(first))
    assert sum(atoms.values()) == total
    return [float(sum(p for value, p in atoms.items() if is_there(value)) / total) for is_there in
            (lambda value: value < observed, lambda value: value == observed, lambda value: value > observed)
            ], len(atoms)


def some_tails(columns, wanted=40):
    """Up to `wanted` pairs of columns, spread over all whose tables can be enumerated."""
    pairs = [(i, j) for i in range(len(columns)) for j in range(i + 1, len(columns))]
    found = []
    for i, j in pairs:
        if min(len(margin(columns[i])), len(margin(columns[j]))) > 1:
            tail = exact_tail(columns[i], columns[j])
            if tail is not None:
                found.append((i, j, *tail))
    step = max(1, -(-len(found) // wanted))
    found = found[::step]
    return {"tail_pairs": np.array([row[:2] for row in found], dtype=np.int64),
            "tail_atoms": np.array([row[3] for row in found], dtype=np.int64),
            "tails": np.array([row[2] for row in found])}
