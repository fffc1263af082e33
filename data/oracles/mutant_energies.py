# Energies of mutants from a parameter file of plmc, read as EVcouplings reads it, in float64.
"""Answers for data/oracles/mutants: sums over the model as it is stored."""
import gzip

import numpy as np


def read_plmc(path):
    """{name: values} of a file of plmc's OutputParametersFull, float32."""
    with gzip.open(path, "rb") as file:
        data = file.read()
    at = 0

    def take(kind, count):
        nonlocal at
        values = np.frombuffer(data, kind, count, at)
        at += values.nbytes
        return values

    columns, letters, sequences, left_out, _ = take("<i4", 5)
    effective = take("<f4", 5)[4]
    alphabet = take("S1", letters).astype("U1")
    take("<f4", sequences + left_out)
    target, numbers = take("S1", columns).astype("U1"), take("<i4", columns)
    frequencies, fields = (take("<f4", columns * letters).reshape(columns, letters).astype(float) for _ in range(2))
    pairs = columns * (columns - 1) // 2
    take("<f4", pairs * letters ** 2)
    blocks = take("<f4", pairs * letters ** 2).reshape(pairs, letters, letters).astype(float)
    assert at == len(data)
    couplings = np.zeros((columns, columns, letters, letters))
    for pair, (i, j) in enumerate(zip(*np.triu_indices(columns, 1))):
        couplings[i, j], couplings[j, i] = blocks[pair], blocks[pair].T
    return {"effective": float(effective), "alphabet": list(alphabet), "numbers": numbers, "target": list(target),
            "frequencies": frequencies, "fields": fields, "couplings": couplings}


def energy(model, codes):
    columns = np.arange(len(codes))
    coupled = model["couplings"][columns[:, None], columns[None, :], codes[:, None], codes[None, :]]
    return model["fields"][columns, codes].sum() + np.triu(coupled, 1).sum()


def independent(frequencies, effective, lambda_h=0.01):
    """Fields of EVcouplings' independent model, by Newton steps with a line search."""
    fields = np.zeros_like(frequencies)
    for column, shares in enumerate(frequencies):
        def objective(h):
            return effective * (np.log(np.exp(h).sum()) - shares @ h) + lambda_h * (h @ h)

        h = fields[column]
        for _ in range(200):
            p = np.exp(h) / np.exp(h).sum()
            gradient = effective * (p - shares) + 2 * lambda_h * h
            if np.abs(gradient).max() < 1e-10 * effective:
                break
            hessian = effective * (np.diag(p) - np.outer(p, p)) + 2 * lambda_h * np.eye(len(h))
            step, length = np.linalg.solve(hessian, gradient), 1.0
            while objective(h - length * step) > objective(h) + 1e-12 * abs(objective(h)) and length > 1e-12:
                length /= 2
            h = h - length * step
        fields[column] = h
    return fields


def tables(path, seed=1, doubles=60):
    """Texts of two tables: all single mutants, and some double ones."""
    model = read_plmc(path)
    alphabet = model["alphabet"]
    target = np.array([alphabet.index(letter) for letter in model["target"]])
    alone = independent(model["frequencies"], model["effective"])
    own = energy(model, target)

    def name(column, code):
        return f"{alphabet[target[column]]}{model['numbers'][column]}{alphabet[code]}"

    def effect(*changes):
        codes = target.copy()
        for column, code in changes:
            codes[column] = code
        return energy(model, codes) - own

    singles = "mutant\tfull\tindependent\tfrequency\n"
    for column, own_code in enumerate(target):
        for code in range(len(alphabet)):
            if code != own_code:
                singles += (f"{name(column, code)}\t{effect((column, code)):.7f}\t"
                            f"{alone[column, code] - alone[column, own_code]:.7f}\t"
                            f"{model['frequencies'][column, code]:.7f}\n")
    source = np.random.default_rng(seed)
    pairs = "mutant\tfull\tepistasis\n"
    for _ in range(doubles):
        i, j = sorted(source.choice(len(target), 2, replace=False))
        a, b = (source.choice([code for code in range(len(alphabet)) if code != target[column]]) for column in (i, j))
        both = effect((i, a), (j, b))
        pairs += f"{name(i, a)}:{name(j, b)}\t{both:.7f}\t{both - effect((i, a)) - effect((j, b)):.7f}\n"
    return singles, pairs
