# True contacts of a structure in alignment columns, and the precision of ranked pairs against them.
import gzip
import math

CONTACT_DISTANCE = 8.0  # angstrom, between CB atoms (CA for glycine)


class Truth:
    """Contacts of one structure: `position[column]` is the residue's index along the chain and
    `contacts` holds pairs (i, j) of alignment columns from 0, i < j."""

    def __init__(self, position, contacts):
        self.position = position
        self.contacts = contacts

    @property
    def length(self):
        """Number of alignment columns that have a residue with coordinates."""
        return len(self.position)


def read_residues(path):
    """Representative atoms of a single-chain PDB file in chain order: {number and insertion code:
    (index along the chain, (x, y, z))}. CB, or CA for glycine and where CB is not resolved; of
    alternate locations the first."""
    opener = gzip.open if str(path).endswith(".gz") else open
    order, atoms = {}, {}
    with opener(path, "rt", encoding="ascii", errors="replace") as file:
        for line in file:
            if not line.startswith("ATOM"):
                continue
            residue, atom = line[22:27].strip(), line[12:16].strip()
            order.setdefault(residue, len(order))
            if atom == "CA" or (atom == "CB" and line[17:20] != "GLY"):
                place = tuple(float(line[start:start + 8]) for start in (30, 38, 46))
                atoms.setdefault(residue, {}).setdefault(atom, place)
    return {residue: (order[residue], found.get("CB", found.get("CA")))
            for residue, found in atoms.items()}


def read_map(path):
    """Pairs (alignment column from 0, residue number with insertion code) of a NAME.map.tsv.gz."""
    with gzip.open(path, "rt", encoding="ascii") as file:
        rows = [line.split("\t") for line in file if line.strip() and not line.startswith("#")]
    return [(int(row[0]), row[1].strip()) for row in rows]


def true_contacts(map_path, structure_path):
    """The Truth of a structure: all pairs of mapped columns closer than CONTACT_DISTANCE."""
    residues = read_residues(structure_path)
    placed = [(column, *residues[residue]) for column, residue in read_map(map_path)
              if residue in residues]
    contacts = set()
    for first, (i, _, here) in enumerate(placed):
        for j, _, there in placed[first + 1:]:
            if math.dist(here, there) < CONTACT_DISTANCE:
                contacts.add((min(i, j), max(i, j)))
    return Truth({column: index for column, index, _ in placed}, contacts)


def ranked_pairs(scores, truth, least_separation, by="columns"):
    """Pairs (i, j), i < j, of mapped columns with |i - j| >= least_separation (counted in alignment
    columns, or in residues of the structure), best score first; equal scores in column order.
    `scores` maps (i, j) to a score; a mapped pair that it lacks is not ranked."""
    def separation(i, j):
        return abs(truth.position[j] - truth.position[i]) if by == "residues" else j - i
    wanted = [(-score, pair) for pair, score in scores.items()
              if pair[0] in truth.position and pair[1] in truth.position
              and separation(*pair) >= least_separation]
    return [pair for _, pair in sorted(wanted)]


def precision(pairs, truth, count):
    """The share of true contacts among the first `count` ranked pairs."""
    best = pairs[:count]
    if not best:
        raise ValueError("expected at least one ranked pair, found none")
    return sum(pair in truth.contacts for pair in best) / len(best)
