# EVcouplings: a model that pleat fitted, with the attributes and methods of evcouplings.couplings.CouplingsModel.
"""Put this file where Python finds it:

    from evcouplings_model import CouplingsModel
    family = pleat.read_alignment("family.a2m")
    model = CouplingsModel(pleat.couplings(family, focus=family.names[0]), family)
    model.ecs.head()
    model.delta_hamiltonian([(57, "D", "A")])[0]
    evcouplings.mutate.predict_mutation_table(model, table)     # and what else takes such a model

`pleat couplings family.a2m -o run --models plmc` writes run/model.plmc, which EVcouplings itself opens.
"""
from functools import cached_property
from itertools import combinations

import numpy as np
import pleat


class CouplingsModel:
    """A Potts model: the log-probability of a sequence is the sum of h_i and J_ij of its letters, up to a constant, so
    a mutant with a negative difference is less probable.

    fitted : what pleat.couplings returned, with models=True; family : its alignment, unfiltered by the fit, for
    frequencies and the target, its first row. The gap is the first letter, as in plmc's files. Positions are those of
    `index_list`, which can be set: residue numbers as pleat.mutants has them if the target has no gap in the model
    (after a fit with `focus`), from START of a name NAME/START-END or from 1, insertions counted; else columns from 1.
    """

    def __init__(self, fitted, family):
        if len(fitted.weights) != len(family):
            raise ValueError(f"expected the alignment of {len(fitted.weights)} sequences that was fitted, found {len(family)}")
        letters = sorted(family.alphabet_letters[:-2])
        self.alphabet = np.array(["-", *letters])
        codes = np.array([len(letters), *map(family.alphabet_letters.index, letters)])  # of pleat's model: the gap last
        self.L, self.num_symbols, self.N_eff = len(fitted.columns), len(codes), fitted.effective_sequences
        self.alphabet_map = {letter: code for code, letter in enumerate(self.alphabet)}
        self.h_i = fitted.fields[:, codes].astype(float)
        self.J_ij = np.zeros((self.L, self.L, self.num_symbols, self.num_symbols))
        i, j = np.triu_indices(self.L, 1)
        self.J_ij[i, j] = fitted.pairs[:, codes[:, None], codes]
        self.J_ij[j, i] = self.J_ij[i, j].swapaxes(1, 2)
        code = np.zeros(len(family.alphabet_letters), dtype=int)  # unknown letters are gaps
        code[codes[1:]] = np.arange(1, self.num_symbols)
        rows, columns = code[family.letters], np.searchsorted(family.columns, fitted.columns)
        self._codes = rows[:, columns].astype(np.uint8).T.copy()
        self._weights = fitted.weights / fitted.weights.sum()
        self.f_i = np.array([self._frequencies(letters) for letters in self._codes])
        self.target_seq, self.has_target_seq = self.alphabet[self._codes[:, 0]], True
        residues = pleat.mutants(fitted).positions
        is_whole = list(self.target_seq) == [letter.decode() for letter in residues["wt"]]
        self.index_list = residues["pos"] if is_whole else np.asarray(fitted.columns) + 1

    def _frequencies(self, codes, count=None):
        return np.bincount(codes, self._weights, count or self.num_symbols)

    @cached_property
    def f_ij(self):
        """float32 [L, L, letter, letter]: weighted frequencies of pairs of letters; 0 for i = j."""
        letters = self.num_symbols
        pairs = np.zeros((self.L, self.L, letters, letters), np.float32)
        for i, j in combinations(range(self.L), 2):
            codes = self._codes[i].astype(np.intp) * letters + self._codes[j]
            pairs[i, j] = self._frequencies(codes, letters * letters).reshape(letters, letters)
            pairs[j, i] = pairs[i, j].T
        return pairs

    @property
    def target_seq(self):
        """[L] letters of the target; a string of as many can be set."""
        return self._target_seq

    @target_seq.setter
    def target_seq(self, sequence):
        self._target_seq = self.alphabet[self.convert_sequences([sequence])[0]]

    @property
    def index_map(self):
        return {number: place for place, number in enumerate(self.index_list)}

    @property
    def target_seq_mapped(self):
        return self.convert_sequences([self.target_seq])[0]

    def convert_sequences(self, sequences):
        """int [sequence, L]: codes of letters; ValueError for unknown ones."""
        if {len(row) for row in sequences} != {self.L} or not set().union(*sequences) <= set(self.alphabet):
            raise ValueError(f"expected sequences of {self.L} of the letters {''.join(self.alphabet)}")
        return np.array([[self.alphabet_map[letter] for letter in row] for row in sequences])

    def hamiltonians(self, sequences):
        """float [sequence, 3]: the energy, its part of J_ij and its part of h_i."""
        codes = self.convert_sequences(sequences) if isinstance(sequences, list) else sequences
        every = np.arange(self.L)
        couplings = [self.J_ij[every[:, None], every, row[:, None], row].sum() / 2 for row in codes]
        fields = [self.h_i[every, row].sum() for row in codes]
        return np.stack([np.add(couplings, fields), couplings, fields], axis=1)

    def delta_hamiltonian(self, substitutions, verify_mutants=True):
        """float [3] as `hamiltonians`: mutant minus target, of substitutions [(position, from, to)]."""
        mutant, places = np.array(self.target_seq), self.index_map
        for position, wild_type, letter in substitutions:
            if position not in places or letter not in self.alphabet_map:
                raise ValueError(f"expected a position and a letter of the model, found {wild_type}{position}{letter}")
            if verify_mutants and self.target_seq[places[position]] != wild_type:
                raise ValueError(f"expected {self.target_seq[places[position]]} at {position}, found {wild_type}")
            mutant[places[position]] = letter
        return np.subtract(*self.hamiltonians([mutant, self.target_seq]))

    @property
    def single_mut_mat_full(self):
        """float [L, letter, 3]: delta_hamiltonian of all single mutants."""
        target, every = self.target_seq_mapped, np.arange(self.L)
        couplings = self.J_ij[:, every, :, target].sum(axis=0)
        couplings, fields = (values - values[every, target][:, None] for values in (couplings, self.h_i))
        return np.stack([couplings + fields, couplings, fields], axis=2)

    @property
    def single_mut_mat(self):
        return self.single_mut_mat_full[:, :, 0]

    @property
    def double_mut_mat(self):
        """float [L, L, letter, letter]: delta_hamiltonian of all double mutants."""
        one, target, every = self.single_mut_mat, self.target_seq_mapped, np.arange(self.L)
        at_j = self.J_ij[every[:, None], every, :, target]
        both = self.J_ij - at_j[..., None] - at_j.swapaxes(0, 1)[:, :, None, :]
        both += at_j[every[:, None], every, target[:, None]][..., None, None]
        both += one[:, None, :, None] + one[None, :, None, :]
        both[every, every] = 0
        return both

    @staticmethod
    def apc(matrix):
        """The scores [L, L] minus their average product correction."""
        means = matrix.sum(axis=0) / (len(matrix) - 1)
        corrected = matrix - np.outer(means, means) / means.mean()
        np.fill_diagonal(corrected, 0)
        return corrected

    @cached_property
    def fn_scores(self):
        """Frobenius norms [L, L] of J_ij in the zero-sum gauge, the gap included."""
        rows, columns = self.J_ij.mean(axis=3, keepdims=True), self.J_ij.mean(axis=2, keepdims=True)
        return np.linalg.norm(self.J_ij - rows - columns + rows.mean(axis=2, keepdims=True), axis=(2, 3))

    @cached_property
    def mi_scores_raw(self):
        """Mutual information [L, L] of the weighted frequencies, in nats."""
        alone = self.f_i[:, None, :, None] * self.f_i[None, :, None, :]
        ratio = np.divide(self.f_ij, alone, out=np.ones_like(alone), where=self.f_ij > 0)
        return (self.f_ij * np.log(ratio)).sum(axis=(2, 3))

    cn_scores = property(lambda self: self.apc(self.fn_scores))
    mi_scores_apc = property(lambda self: self.apc(self.mi_scores_raw))

    @property
    def ecs(self):
        """All pairs as a pandas.DataFrame, the strongest first."""
        i, j = np.triu_indices(self.L, 1)
        numbers, letters = np.asarray(self.index_list), self.target_seq
        scores = {"mi_raw": self.mi_scores_raw, "mi_apc": self.mi_scores_apc, "fn": self.fn_scores, "cn": self.cn_scores}
        columns = {"i": numbers[i], "A_i": letters[i], "j": numbers[j], "A_j": letters[j],
                   "seqdist": np.abs(numbers[i] - numbers[j]), **{name: table[i, j] for name, table in scores.items()}}
        return pleat.result.to_dataframe(columns).sort_values(by="cn", ascending=False)

    def _at(self, table, positions, letters=()):
        """The part of a table at positions and letters; None is all of them, a list an array."""
        where = []
        for values, known in [*((one, self.index_map) for one in positions), *((one, self.alphabet_map) for one in letters)]:
            several = np.ndim(values) > 0 and not isinstance(values, tuple)
            where.append(slice(None) if values is None else [known[one] for one in values] if several else known[values])
        return table[tuple(where)]

    def hi(self, i=None, A_i=None):
        return self._at(self.h_i, [i], [A_i])

    def fi(self, i=None, A_i=None):
        return self._at(self.f_i, [i], [A_i])

    def smm(self, i=None, A_i=None):
        return self._at(self.single_mut_mat, [i], [A_i])

    def Jij(self, i=None, j=None, A_i=None, A_j=None):  # pylint: disable=invalid-name
        return self._at(self.J_ij, [i, j], [A_i, A_j])

    def fij(self, i=None, j=None, A_i=None, A_j=None):
        return self._at(self.f_ij, [i, j], [A_i, A_j])

    def dmm(self, i=None, j=None, A_i=None, A_j=None):
        return self._at(self.double_mut_mat, [i, j], [A_i, A_j])

    def cn(self, i=None, j=None):
        return self._at(self.cn_scores, [i, j])

    def fn(self, i=None, j=None):
        return self._at(self.fn_scores, [i, j])

    def mi_raw(self, i=None, j=None):
        return self._at(self.mi_scores_raw, [i, j])

    def mi_apc(self, i=None, j=None):
        return self._at(self.mi_scores_apc, [i, j])

    def mn(self, i=None):
        """Places, from 0, of positions."""
        return self._at(np.arange(self.L), [i])

    def sn(self, i=None):
        """Positions of places, which count from 0."""
        return np.asarray(self.index_list)[slice(None) if i is None else i]

    def seq(self, i=None):
        return self._at(np.asarray(self.target_seq), [i])
