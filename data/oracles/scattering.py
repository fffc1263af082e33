# Debye sums in float64, and what atoms and the water that they displace scatter.
#
# Formulas: src/pleat/saxs/README.md.
import numpy as np

# International Tables for Crystallography C (1992), table 6.1.1.4: four Gaussians a, b and a constant c;
# hydrogen as it is bonded (Stewart, Davidson, Simpson).
GAUSSIANS = {
    "H": ((0.493002, 0.322912, 0.140191, 0.040810), (10.5109, 26.1257, 3.14236, 57.7997), 0.003038),
    "C": ((2.3100, 1.0200, 1.5886, 0.8650), (20.8439, 10.2075, 0.5687, 51.6512), 0.2156),
    "N": ((12.2126, 3.1322, 2.0125, 1.1663), (0.0057, 9.8933, 28.9975, 0.5826), -11.529),
    "O": ((3.0485, 2.2868, 1.5463, 0.8670), (13.2771, 5.7011, 0.3239, 32.9089), 0.2508),
    "S": ((6.9053, 5.2034, 1.4379, 1.5863), (1.4679, 22.2151, 0.2536, 56.1720), 0.8669),
}
# Fraser, MacRae, Suzuki, J. Appl. Cryst. 11:693 (1978), cubic angstrom.
VOLUMES = {"H": 5.15, "C": 16.44, "N": 2.49, "O": 9.13, "S": 19.86}
WATER = 0.334  # electrons per cubic angstrom

# Hydrogens of the amino acids' heavy atoms at pH 7, besides one on N (none in proline) and on CA (two in
# glycine). Lysozyme's cysteines all form bridges and carry none.
SIDE_CHAINS = {
    "ALA": {"CB": 3}, "ARG": {"CB": 2, "CG": 2, "CD": 2, "NE": 1, "NH1": 2, "NH2": 2},
    "ASN": {"CB": 2, "ND2": 2}, "ASP": {"CB": 2}, "CYS": {"CB": 2}, "GLN": {"CB": 2, "CG": 2, "NE2": 2},
    "GLU": {"CB": 2, "CG": 2}, "GLY": {}, "HIS": {"CB": 2, "ND1": 1, "CD2": 1, "CE1": 1},
    "ILE": {"CB": 1, "CG1": 2, "CG2": 3, "CD1": 3}, "LEU": {"CB": 2, "CG": 1, "CD1": 3, "CD2": 3},
    "LYS": {"CB": 2, "CG": 2, "CD": 2, "CE": 2, "NZ": 3}, "MET": {"CB": 2, "CG": 2, "CE": 3},
    "PHE": {"CB": 2, "CD1": 1, "CD2": 1, "CE1": 1, "CE2": 1, "CZ": 1},
    "PRO": {"CB": 2, "CG": 2, "CD": 2}, "SER": {"CB": 2, "OG": 1}, "THR": {"CB": 1, "OG1": 1, "CG2": 3},
    "TRP": {"CB": 2, "CD1": 1, "NE1": 1, "CE3": 1, "CZ2": 1, "CZ3": 1, "CH2": 1},
    "TYR": {"CB": 2, "CD1": 1, "CD2": 1, "CE1": 1, "CE2": 1, "OH": 1}, "VAL": {"CB": 1, "CG1": 3, "CG2": 3},
}


def hydrogens(residue, atom):
    backbone = {"N": 0 if residue == "PRO" else 1, "CA": 2 if residue == "GLY" else 1}
    return {**backbone, **SIDE_CHAINS[residue]}.get(atom, 0)


def element_factor(element, q):
    a, b, c = GAUSSIANS[element]
    s2 = (q / (4 * np.pi))**2
    return sum(x * np.exp(-y * s2) for x, y in zip(a, b)) + c


def vacuum(element, count, q):
    """Of an atom with so many hydrogens."""
    return element_factor(element, q) + count * element_factor("H", q)


def excluded(element, count, q):
    volume = VOLUMES[element] + count * VOLUMES["H"]
    return WATER * volume * np.exp(-volume**(2 / 3) * q**2 / (4 * np.pi))


def debye(xyz, amplitudes, q):
    """sum_ij A_i A_j sin(q r_ij) / (q r_ij), i = j included. amplitudes: [scatterer, q]."""
    r = np.sqrt(((xyz[:, None] - xyz[None])**2).sum(axis=2))
    return np.array([a @ np.sinc(one * r / np.pi) @ a for one, a in zip(q, amplitudes.T)])
