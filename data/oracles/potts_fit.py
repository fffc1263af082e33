# Potts models of small families by pseudo-likelihood: weights, the minimum of the objective, scores.
#
# Formulas: src/pleat/couplings/README.md and src/pleat/weights/README.md. The minimum is found by L-BFGS in
# float64; its distance from the true one is bounded by the curvature of the regularisers.
from math import ceil

import numpy as np

LAMBDA_SINGLE, LAMBDA_PAIR = 0.01, 0.2  # the second is multiplied by L - 1


def neighbour_counts(letters, identity):
    """How many rows, itself included, each row is identical to in more than ceil(identity L) columns."""
    enough = ceil(identity * letters.shape[1] - 1e-9)
    same = np.array([(letters == row).sum(axis=1) for row in letters])
    np.fill_diagonal(same, letters.shape[1] + 1)
    return (same > enough).sum(axis=1)


class Family:
    """codes: [sequence, column] from 0 to q - 1, the gap being q - 1."""

    def __init__(self, codes, q, identity=0.8):
        self.codes, self.q = codes, q
        self.rows, self.columns = codes.shape
        self.weights = 1 / neighbour_counts(codes, identity)
        self.one_hot = np.eye(q)[codes].reshape(self.rows, -1)
        self.lambda_pair = LAMBDA_PAIR * (self.columns - 1)
        self.first, self.second = np.triu_indices(self.columns, 1)
        self.fields = (self.columns, q - 1)
        self.size = self.columns * (q - 1) + len(self.first) * q * q

    def split(self, x):
        """Fields [column, letter], the gap's being 0, and pairs [pair, letter, letter] of a vector."""
        count = self.columns * (self.q - 1)
        fields = np.concatenate([x[:count].reshape(self.fields), np.zeros((self.columns, 1))], axis=1)
        return fields, x[count:].reshape(-1, self.q, self.q)

    def evaluate(self, x):
        """The objective and its gradient."""
        fields, pairs = self.split(x)
        table = np.zeros((self.columns, self.q, self.columns, self.q))
        table[self.first, :, self.second, :] = pairs
        table[self.second, :, self.first, :] = pairs.transpose(0, 2, 1)
        table = table.reshape(self.columns * self.q, -1)
        logits = (self.one_hot @ table).reshape(self.rows, self.columns, self.q) + fields
        largest = logits.max(axis=2, keepdims=True)
        share = np.exp(logits - largest)
        total = share.sum(axis=2, keepdims=True)
        own = np.take_along_axis(logits, self.codes[:, :, None], axis=2)
        value = (self.weights[:, None, None] * (np.log(total) + largest - own)).sum()
        value += LAMBDA_SINGLE * (fields**2).sum() + self.lambda_pair * (pairs**2).sum()
        residual = (share / total).reshape(self.rows, -1) - self.one_hot
        residual *= self.weights[:, None]
        slope = (self.one_hot.T @ residual).reshape(self.columns, self.q, self.columns, self.q)
        both = slope[self.first, :, self.second, :] + slope[self.second, :, self.first, :].transpose(0, 2, 1)
        of_fields = residual.sum(axis=0).reshape(self.columns, self.q) + 2 * LAMBDA_SINGLE * fields
        of_pairs = both + 2 * self.lambda_pair * pairs
        return value, np.concatenate([of_fields[:, :-1].ravel(), of_pairs.ravel()])

    def gap(self, gradient):
        """An upper bound of f - min f."""
        count = self.columns * (self.q - 1)
        return ((gradient[:count]**2).sum() / (4 * LAMBDA_SINGLE)
                + (gradient[count:]**2).sum() / (4 * self.lambda_pair))

    def start(self):
        """Fields by the counts of letters, no couplings."""
        counts = np.array([np.bincount(column, minlength=self.q) for column in self.codes.T])
        fields = np.log(counts + 1) - np.log(counts[:, -1:] + 1)
        return np.concatenate([fields[:, :-1].ravel(), np.zeros(self.size - self.columns * (self.q - 1))])

    def curvature(self):
        """About the diagonal of the Hessian at the start."""
        share = (self.weights @ self.one_hot / self.weights.sum()).reshape(self.columns, self.q)
        spread, total = share * (1 - share), self.weights.sum()
        pairs = spread[self.first][:, :, None] * share[self.second][:, None, :]
        pairs = pairs + share[self.first][:, :, None] * spread[self.second][:, None, :]
        return np.concatenate([(total * spread[:, :-1] + 2 * LAMBDA_SINGLE).ravel(),
                               (total * pairs + 2 * self.lambda_pair).ravel()])


def minimise(family, tolerance=1e-12, history=20, most=3000):
    """L-BFGS (Nocedal 1980) with a line search by halving, until the bound of (f - min f) / f is met."""
    x = family.start()
    diagonal = 1 / family.curvature()
    value, gradient = family.evaluate(x)
    pairs = []
    for iteration in range(most):
        if family.gap(gradient) <= tolerance * value:
            return x, value, family.gap(gradient) / value, iteration
        direction, factors = gradient.copy(), []
        for s, y in reversed(pairs):
            factors.append(s @ direction / (s @ y))
            direction -= factors[-1] * y
        direction *= diagonal * (pairs[-1][0] @ pairs[-1][1] / (pairs[-1][1] @ (diagonal * pairs[-1][1]))
                                 if pairs else 1)
        for (s, y), factor in zip(pairs, reversed(factors)):
            direction += s * (factor - y @ direction / (s @ y))
        step = 1.0
        while True:
            moved, slope = family.evaluate(x - step * direction)
            if moved <= value - 1e-4 * step * (gradient @ direction) + 1e-14 * value:
                break
            step /= 2
        pairs = [*pairs[1 - history:], (-step * direction, slope - gradient)]
        x, value, gradient = x - step * direction, moved, slope
    raise RuntimeError("no minimum found")


def raw_scores(pairs, columns):
    """Frobenius norms of centred blocks, without the gap."""
    norms = np.sqrt(((pairs - pairs.mean(axis=(1, 2), keepdims=True))[:, :-1, :-1]**2).sum(axis=(1, 2)))
    scores = np.zeros((columns, columns))
    scores[np.triu_indices(columns, 1)] = norms
    return scores + scores.T


def corrected_scores(raw):
    """The average product correction, shifted so that the smallest score is 0."""
    mean = raw.mean(axis=0)
    scores = raw - mean[:, None] * mean[None] / raw.mean()
    off_diagonal = ~np.eye(len(raw), dtype=bool)
    return np.where(off_diagonal, scores - scores[off_diagonal].min(), 0)


def ccmpred(family):
    """The scores at which CCMpred's program stops, and its number of iterations: conjugate gradients of
    Fletcher and Reeves, a line search that only shortens, and vectors and inner products in float32, summed
    term by term in the program's order with both orders of each pair."""
    count, q, columns = family.columns * (family.q - 1), family.q, family.columns
    column, letter = np.arange(columns), np.arange(q)
    b, k, a, j = np.ix_(letter, column, letter, column)
    pair = np.zeros((columns, columns), dtype=int)
    pair[family.first, family.second] = pair[family.second, family.first] = np.arange(len(family.first))
    place = count + pair[k, j] * q * q + np.where(j < k, a * q + b, b * q + a)
    same = np.broadcast_to(j == k, place.shape)

    def dot(x, y):
        product = x * y
        pairs = np.where(same, np.float32(0), product[place])
        fields = product[:count].reshape(columns, q - 1).T
        return np.cumsum(np.concatenate([fields.ravel(), pairs.ravel()]), dtype=np.float32)[-1].item()

    def evaluate(x):
        value, gradient = family.evaluate(x.astype(np.float64))
        return value, gradient.astype(np.float32)

    x = family.start().astype(np.float32)
    value, gradient = evaluate(x)
    norm = dot(gradient, gradient)
    direction, slope, step, recent, iterations = -gradient, -norm, 1 / np.sqrt(norm), [], 0
    while True:
        moved = 0.0
        for _ in range(5):
            x = x + np.float32(step - moved) * direction
            moved = step
            trial, gradient = evaluate(x)
            if trial <= value + 1e-4 * step * slope and dot(direction, gradient) < 0.2 * slope:
                break
            step *= 0.5
        else:
            raise RuntimeError("no step found")
        value = trial
        if iterations >= 5 and (recent[-5] - value) / recent[-5] < 0.01:
            return corrected_scores(raw_scores(family.split(x)[1], columns)), iterations
        recent.append(value)
        iterations += 1
        before, norm = norm, dot(gradient, gradient)
        direction = np.float32(norm / before) * direction - gradient
        new_slope = dot(direction, gradient)
        step, slope = step * slope / new_slope, new_slope
