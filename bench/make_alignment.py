#!/usr/bin/env python3
# Makes a synthetic protein alignment of a given size for scaling benchmarks, fixed by its seed.
import argparse
import bisect
import itertools
import math
import random
import sys

LETTERS = b"ACDEFGHIKLMNPQRSTVWY"
GAP = ord("-")
# Amino acid composition of UniProtKB/Swiss-Prot in per cent, rounded, in the order of LETTERS.
BACKGROUND = (8.3, 1.4, 5.5, 6.7, 3.9, 7.1, 2.3, 5.9, 5.8, 9.7,
              2.4, 4.1, 4.7, 3.9, 5.5, 6.6, 5.3, 6.9, 1.1, 2.9)
COUPLED_SHARE = 0.33     # of the columns have a partner at least 6 columns away
FOLLOW = 0.7             # probability that a change is answered by the partner
CLOSE_SHARE = 0.75      # of the sequences are close relatives of an earlier one
CLOSE, DISTANT = 0.1, 0.9  # mean changes a column on a branch to a close or a distant relative


class Family:
    """Column profiles, rates of change and coupled pairs from which sequences are grown on a tree.

    Every random decision is one call of Random.random(), whose sequence Python guarantees for a
    seed: the result does not depend on the Python version.
    """

    def __init__(self, columns, seed):
        self.columns = columns
        self.draw = random.Random(seed).random
        self.cumulative = [self._profile() for _ in range(columns)]
        self.rates = list(itertools.accumulate(0.2 + self.draw() for _ in range(columns)))
        self.partner = self._pair_columns()

    def _index(self, count):
        return int(self.draw() * count)

    def _profile(self):
        """Cumulative letter frequencies of one column: background mixed with a few favourites."""
        conserved = self.draw() ** 0.5
        weights = [(1.0 - conserved) * share / 100.0 for share in BACKGROUND]
        for share in (0.7, 0.2, 0.1):
            weights[self._index(20)] += conserved * share
        return list(itertools.accumulate(weights))

    def _pair_columns(self):
        """{column: (partner, letter of the partner for each letter here)}; each has one at most."""
        partner = {}
        for _ in range(20 * self.columns):
            i, j = self._index(self.columns), self._index(self.columns)
            if abs(i - j) >= 6 and i not in partner and j not in partner:
                forth = self._permutation()
                back = [forth.index(letter) for letter in range(20)]
                partner[i], partner[j] = (j, forth), (i, back)
            if len(partner) >= COUPLED_SHARE * self.columns:
                break
        return partner

    def _permutation(self):
        order = list(range(20))
        for last in range(19, 0, -1):
            other = self._index(last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def _letter(self, column):
        sums = self.cumulative[column]
        return min(bisect.bisect_right(sums, self.draw() * sums[-1]), 19)

    def ancestor(self):
        """Letters 0..19 of the root, coupled pairs agreeing."""
        sequence = bytearray(self._letter(column) for column in range(self.columns))
        for i, (j, letters) in self.partner.items():
            if i < j:
                sequence[j] = letters[sequence[i]]
        return sequence

    def descendant(self, parent, mean_changes):
        """A copy of `parent` after a branch of exponentially distributed length: some columns drawn
        again from their profiles, most changes in a coupled column answered by its partner."""
        child = bytearray(parent)
        length = -math.log(1.0 - self.draw()) * mean_changes
        changes = length * self.columns
        for _ in range(int(changes) + (self.draw() < changes - int(changes))):
            column = bisect.bisect_right(self.rates, self.draw() * self.rates[-1])
            column = min(column, self.columns - 1)
            child[column] = self._letter(column)
            if column in self.partner and self.draw() < FOLLOW:
                other, letters = self.partner[column]
                child[other] = letters[child[column]]
        return child

    def gaps(self):
        """Ranges [first, end) of gaps: ragged ends in a third of the sequences, few inner ones."""
        ranges = []
        if self.draw() < 0.33:
            ranges.append((0, int(self.draw() ** 2 * self.columns / 3)))
        if self.draw() < 0.33:
            ranges.append((self.columns - int(self.draw() ** 2 * self.columns / 3), self.columns))
        while self.draw() < 0.4:
            first = self._index(self.columns)
            ranges.append((first, min(self.columns, first + 1 + self._index(6))))
        return ranges


def make_alignment(sequences, columns, seed):
    """Rows (bytes) of an alignment: the root without gaps, then its descendants. Equal arguments
    give equal rows; a smaller `sequences` gives the first rows of a larger one."""
    family = Family(columns, seed)
    grown = [family.ancestor()]
    table = bytes.maketrans(bytes(range(20)), LETTERS)
    yield bytes(grown[0]).translate(table)
    while len(grown) < sequences:
        parent = grown[int(family.draw() * len(grown))]
        close = family.draw() < CLOSE_SHARE
        grown.append(family.descendant(parent, CLOSE if close else DISTANT))
        row = bytearray(grown[-1]).translate(table)
        for first, end in family.gaps():
            row[first:end] = bytes([GAP]) * (end - first)
        yield bytes(row)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description="Write a synthetic alignment in PSICOV format (.aln) to a file or stdout.")
    parser.add_argument("sequences", type=int)
    parser.add_argument("columns", type=int)
    parser.add_argument("-o", "--output", default="-", help="file (default: stdout)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if options.sequences < 1 or options.columns < 1:
        parser.error("expected at least one sequence and one column")
    out = sys.stdout.buffer if options.output == "-" else open(options.output, "wb")
    with out:
        for row in make_alignment(options.sequences, options.columns, options.seed):
            out.write(row + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
