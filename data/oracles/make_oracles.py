#!/usr/bin/env python3
# Makes the reference answers in this folder, by NumPy alone and without pleat, from the files beside it.
#
# data/oracles/make_oracles.py [mutual_information] [couplings] [weights] [rmsd] [saxs] [bio] [mutants]    (all by default)
import gzip
import struct
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
DATA = HERE.parent


def text_of(name):
    with gzip.open(DATA / name, "rt", encoding="ascii") as file:
        return file.read()


def save(path, **arrays):
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, **arrays)
    print(f"{path.relative_to(DATA)}: {path.stat().st_size} bytes")


def rows_of(name):
    """Names and rows of an alignment of data/: upper case, gaps as -, match columns alone."""
    text = text_of(name)
    if name.endswith(".aln.gz"):
        return [str(n) for n in range(len(text.split()))], text.split()
    rows = {}
    if name.endswith(".sto.gz"):
        for line in text.splitlines():
            if line and line[0] not in "#/":
                key, part = line.split()
                rows[key] = rows.get(key, "") + part
    else:
        for entry in text.split(">")[1:]:
            key, _, part = entry.partition("\n")
            rows[key.split()[0]] = "".join(c for c in part if not c.islower() and c not in ".\n")
    return list(rows), [row.upper().replace(".", "-") for row in rows.values()]


def letters_of(rows):
    return np.array([list(row) for row in rows])


def chosen_columns(letters, count, most_gaps):
    """So many columns, evenly spaced among those with at most this share of gaps."""
    few = np.flatnonzero((letters == "-").mean(axis=0) <= most_gaps)
    return few[np.linspace(0, len(few) - 1, count).round().astype(int)]


def distinct(rows):
    """Indices of the first of each different row."""
    return sorted({row: n for n, row in reversed(list(enumerate(rows)))}.values())


def codes_of(letters, alphabet):
    """0, 1, ... by the alphabet's letters; its last one is the gap, which unknown letters count as."""
    codes = np.full(letters.shape, len(alphabet) - 1)
    for code, letter in enumerate(alphabet):
        codes[letters == letter] = code
    return codes


def cut(name, rows, columns, most_gaps=0.5):
    """Names and letters of that many distinct rows and columns of an alignment, evenly spaced."""
    names, text = rows_of(name)
    letters = letters_of(text)
    letters = letters[:, chosen_columns(letters, columns, most_gaps)]
    different = distinct(["".join(row) for row in letters])
    kept = [different[n] for n in np.linspace(0, len(different) - 1, rows).round().astype(int)]
    return [names[n] for n in kept], letters[kept]


def made_letters():
    """24 rows by 8 columns: 1 to 6 letters a column, and pairs of columns that depend on each other."""
    random = np.random.default_rng(1)
    columns = [random.integers(0, letters, 24) for letters in (1, 2, 2, 3, 4, 6, 3, 2)]
    columns[4][:16] = columns[3][:16]
    columns[7] = columns[1] ^ columns[2]
    columns[6][:18] = 0
    return [f"made{n}" for n in range(24)], np.array(list("-ACDEX"))[np.stack(columns, axis=1)]


def mutual_information():
    from null_moments import all_moments, some_tails
    folder = HERE / "mutual_information"
    for name, (names, letters) in {"made24x8": made_letters(), "trna60x20": cut("trna.sto.gz", 60, 20),
                                   "trna120x24": cut("trna.sto.gz", 120, 24),
                                   "trypsin90x12": cut("trypsin.a2m.gz", 90, 12)}.items():
        columns = [np.unique(column, return_inverse=True)[1] for column in letters.T]
        save(folder / f"{name}.npz", **all_moments(columns), **some_tails(columns))
        (folder / f"{name}.fasta").write_text(
            "".join(f">{key}\n{''.join(row)}\n" for key, row in zip(names, letters)), encoding="ascii")


def atoms_of(name):
    """(residue name, number with insertion code, atom, position) of the ATOM records of a PDB file."""
    return [(line[17:20], line[22:27].strip(), line[12:16].strip(),
             np.array([float(line[k:k + 8]) for k in (30, 38, 46)]))
            for line in text_of(name).splitlines() if line.startswith("ATOM")]


THREE = dict(zip("ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL".split(),
                 "ARNDCQEGHILKMFPSTWYV"))


def trypsin():
    """Of 1QL9: ids of the residues, their letters, their CB atoms (CA of glycine), and their columns in the
    alignment, a row of which holds the same letters in the same order."""
    residues = {}
    for residue, number, atom, xyz in atoms_of("1ql9_A.pdb.gz"):
        letter, kept = residues.setdefault(number, (THREE[residue], {}))
        kept[atom] = xyz
    beta = np.array([kept.get("CB", kept["CA"]) for _, kept in residues.values()])
    letters = "".join(letter for letter, _ in residues.values())
    names, rows = rows_of("trypsin.a2m.gz")
    row = rows[next(n for n, name in enumerate(names) if "1QL9" in name)]
    columns = np.array([c for c, letter in enumerate(row) if letter != "-"])
    assert letters == row.replace("-", "")
    return list(residues), letters, beta, columns


def dcd_frames(name):
    """[frame, atom, 3] of a little-endian DCD file without fixed atoms."""
    with gzip.open(DATA / name, "rb") as file:
        data = file.read()
    records, at = [], 0
    while at < len(data):
        length = struct.unpack_from("<i", data, at)[0]
        records.append(data[at + 4:at + 4 + length])
        at += length + 8
    atoms = struct.unpack_from("<i", records[2])[0]
    axes = [np.frombuffer(record, "<f4") for record in records[3:] if len(record) == 4 * atoms]  # without cells
    return np.stack([np.stack(axes[k:k + 3], axis=1) for k in range(0, len(axes), 3)])


PROTEIN, RNA = "ACDEFGHIKLMNPQRSTVWY-", "ACGU-"


def weights():
    from potts_fit import neighbour_counts
    save(HERE / "weights" / "neighbours.npz",
         **{name.split(".")[0]: neighbour_counts(codes_of(letters_of(rows_of(name)[1]), alphabet), 0.8)
            for name, alphabet in (("cheY.aln.gz", PROTEIN), ("trypsin.a2m.gz", PROTEIN), ("trna.sto.gz", RNA))})


def contact_counts(scores, distances, columns):
    """Of the best L/2 and L pairs that are 6 or more columns apart: how many are closer than 8 angstrom."""
    pairs = [(i, j) for i in range(len(columns)) for j in range(i + 1, len(columns))
             if columns[j] - columns[i] >= 6]
    pairs.sort(key=lambda pair: -scores[pair])
    close = [distances[pair] < 8 for pair in pairs]
    return np.array([sum(close[:len(columns) // 2]), sum(close[:len(columns)])])


def couplings():
    from potts_fit import Family, ccmpred, corrected_scores, minimise, raw_scores
    _, text = rows_of("trypsin.a2m.gz")
    _, _, beta, mapped = trypsin()
    whole = letters_of(text)
    few = chosen_columns(whole[:, mapped], 40, 0.1)
    families = {"cheY200x25": (cut("cheY.aln.gz", 200, 25, 0.2)[1], PROTEIN),
                "trna150x30": (cut("trna.sto.gz", 150, 30)[1], RNA),
                "trypsin189x40": (whole[:, mapped[few]], PROTEIN)}
    for name, (letters, alphabet) in families.items():
        family = Family(codes_of(letters, alphabet), len(alphabet))
        x, objective, gap, iterations = minimise(family)
        raw = raw_scores(family.split(x)[1], family.columns)
        compatible, steps = ccmpred(family)
        print(f"{name}: f = {objective:.8f}, above the minimum by at most {gap:.1e} of it, {iterations} and "
              f"{steps} iterations")
        arrays = {"objective": objective, "neighbours": np.rint(1 / family.weights).astype(np.int64),
                  "raw": raw, "corrected": corrected_scores(raw), "ccmpred": compatible,
                  "ccmpred_iterations": steps}
        if name.startswith("trypsin"):
            distances = np.sqrt(((beta[few][:, None] - beta[few][None])**2).sum(axis=2))
            arrays |= {"columns": mapped[few], "contacts": contact_counts(arrays["corrected"], distances,
                                                                          mapped[few])}
        save(HERE / "couplings" / f"{name}.npz", **arrays)
        (HERE / "couplings" / f"{name}.aln").write_text("".join("".join(row) + "\n" for row in letters),
                                                        encoding="ascii")


def rmsd():
    from superposition import all_pairs, degenerate
    arrays = {}
    for name, frames in degenerate().items():
        arrays |= {f"{name}_xyz": frames, f"{name}_rmsd": all_pairs(frames)}
    save(HERE / "rmsd" / "degenerate.npz", **arrays)
    frames = dcd_frames("hivp.dcd.gz")[:60]
    save(HERE / "rmsd" / "hivp_first60.npz", rmsd=all_pairs(frames)[np.triu_indices(60, 1)])


def saxs():
    from scattering import debye, excluded, hydrogens, vacuum
    q = np.linspace(0, 0.75, 51)
    atoms = [(atom[0], hydrogens(residue, atom), xyz) for residue, _, atom, xyz in atoms_of("1hel.pdb.gz")]
    kinds = sorted({atom[:2] for atom in atoms})
    types = np.array([kinds.index(atom[:2]) for atom in atoms])
    alone, water = (np.array([of(*kind, q) for kind in kinds]) for of in (vacuum, excluded))
    xyz = np.array([atom[2] for atom in atoms])
    save(HERE / "saxs" / "lysozyme.npz", q=q, xyz=xyz, types=types, vacuum=alone, excluded=water,
         intensity=debye(xyz, (alone - water)[types], q), in_vacuum=debye(xyz, alone[types], q))
    # Two bodies a residue of trypsin, with made-up factors.
    random = np.random.default_rng(4)
    factors = random.uniform(2, 18, (21, 1)) * np.exp(-random.uniform(0.5, 4, (21, 1)) * q**2)
    bodies = {}
    for residue, number, atom, position in atoms_of("1ql9_A.pdb.gz"):
        side = atom not in ("N", "CA", "C", "O", "OXT")
        bodies.setdefault((number, 1 + sorted(THREE).index(residue) if side else 0), []).append(position)
    xyz, types = np.array([np.mean(of, axis=0).round(3) for of in bodies.values()]), np.array([t for _, t in bodies])
    factors = factors.round(6)
    save(HERE / "saxs" / "trypsin_bodies.npz", q=q, xyz=xyz, types=types, factors=factors,
         intensity=debye(xyz, factors[types], q))
    rows = "\n".join(f"[{', '.join(f'{x:.6f}' for x in row)}]" for row in factors.T)
    (HERE / "saxs" / "two_body_factors.dat").write_text(f"[\n{rows}\n]\n", encoding="ascii")


def bio():
    folder = HERE / "bio"
    folder.mkdir(exist_ok=True)

    def table(name, head, rows):
        lines = ["\t".join(map(str, row)) for row in (head, *rows)]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="ascii")

    # Letters that the alphabet does not know are read as gaps.
    table("alignments.tsv", ("file", "format", "alphabet", "sequences", "columns", "gaps"),
          [(name, form, "rna" if letters is RNA else "protein", *codes.shape, (codes == len(letters) - 1).sum())
           for name, form, letters in (("cheY.aln.gz", "psicov", PROTEIN), ("trypsin.a2m.gz", "fasta", PROTEIN),
                                       ("trna.sto.gz", "stockholm", RNA))
           for codes in [codes_of(letters_of(rows_of(name)[1]), letters)]])
    ids, letters, beta, columns = trypsin()
    table("1ql9_A_map.tsv", ("column", "residue", "letter"), zip(columns, ids, letters))
    near = [(ids[i], ids[j], f"{np.linalg.norm(beta[i] - beta[j]):.4f}") for i in range(len(ids))
            for j in range(i + 1, len(ids)) if np.linalg.norm(beta[i] - beta[j]) < 8]
    table("1ql9_A_contacts.tsv", ("residue", "other", "distance"), near)
    frames = dcd_frames("hivp.dcd.gz").astype(np.float64)
    table("hivp_centres.tsv", ("frame", "atoms", "x", "y", "z"),
          [(n, frame.shape[0], *(f"{x:.5f}" for x in frame.mean(axis=0))) for n, frame in enumerate(frames)])
    curve = np.array([line.split() for line in text_of("1hel_made.dat.gz").splitlines()[1:]], float)
    table("curves.tsv", ("file", "points", "first", "last", "intensities", "errors"),
          [("1hel_made.dat.gz", len(curve), curve[0, 0], curve[-1, 0], *(f"{x:.8g}" for x in curve[:, 1:].sum(axis=0)))])


def mutants():
    """From the model that plmc 18c9e55 fitted: plmc -f target/5-12 -le 1.4 -lh 0.01 -m 50 -t 0.2 -g -o
    cheY_plmc.params cheY386x8.fasta, packed by gzip."""
    from mutant_energies import tables
    folder = HERE / "mutants"
    for name, text in zip(("cheY_singles.tsv", "cheY_doubles.tsv"), tables(folder / "cheY_plmc.params.gz")):
        (folder / name).write_text(text, encoding="ascii")
        print(f"oracles/mutants/{name}: {len(text)} bytes")


def main():
    makers = {f.__name__: f for f in (mutual_information, weights, couplings, rmsd, saxs, bio, mutants)}
    for name in sys.argv[1:] or makers:
        makers[name]()


if __name__ == "__main__":
    main()
