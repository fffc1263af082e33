# pleat rmsd, cluster and select with structures of other numbers and chains: --match sequence.
import json
import math
import random
import shutil
import unittest

from program import ProgramTest, manifest, parse_npy, pleat, read_table

NAMES = {"A": "ALA", "R": "ARG", "N": "ASN", "D": "ASP", "C": "CYS", "Q": "GLN", "E": "GLU", "G": "GLY", "H": "HIS",
         "I": "ILE", "L": "LEU", "K": "LYS", "M": "MET", "F": "PHE", "P": "PRO", "S": "SER", "T": "THR", "W": "TRP",
         "Y": "TYR", "V": "VAL"}
HEAVY = "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ"
LIGHT = "GSHMASMTGGQQMGRDLYDDDDKDPSSRSAAGT"


def helix(sequence, seed, offset=(0.0, 0.0, 0.0)):
    """(letter, number from 1, [(atom, x, y, z)]) of each residue of a helix with some noise."""
    noise = random.Random(seed)
    residues = []
    for n, letter in enumerate(sequence):
        turn = math.radians(100 * n)
        x, y, z = 2.3 * math.cos(turn) + offset[0], 2.3 * math.sin(turn) + offset[1], 1.5 * n + offset[2]
        atoms = [("N", x - 0.8, y, z - 0.9), ("CA", x, y, z), ("C", x + 0.9, y, z + 0.8), ("O", x + 1.9, y, z + 1.1)]
        if letter != "G":
            atoms.append(("CB", 1.4 * x, 1.4 * y, z))
        residues.append((letter, n + 1, [(name, *(round(v + noise.uniform(-0.2, 0.2), 3) for v in xyz))
                                         for name, *xyz in atoms]))
    return residues


def pdb(chains, shifts=None, missing=()):
    """PDB text of {chain: residues}; chains' numbers are shifted, and (chain, number) of `missing` left out."""
    lines = []
    for chain, residues in chains.items():
        for letter, number, atoms in residues:
            if (chain, number) in missing:
                continue
            for name, x, y, z in atoms:
                lines.append(f"ATOM  {len(lines) + 1:5d}  {name:<3s} {NAMES[letter]} {chain}"
                             f"{number + (shifts or {}).get(chain, 0):4d}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00"
                             f"          {name[0]:>2s}  ")
        lines.append("TER")
    return "\n".join(lines) + "\nEND\n"


def cif(atoms):
    """mmCIF text of (group, element, atom, residue, chain, number, x, y, z)."""
    columns = ("group_PDB", "type_symbol", "label_atom_id", "label_comp_id", "label_asym_id", "auth_seq_id", "Cartn_x",
               "Cartn_y", "Cartn_z", "id")
    rows = "\n".join(" ".join(map(str, (*atom, n))) for n, atom in enumerate(atoms, 1))
    return "data_x\nloop_\n" + "\n".join(f"_atom_site.{name}" for name in columns) + f"\n{rows}\n"


class Match(ProgramTest):
    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
        return path

    def run_of(self, *arguments, run="run"):
        done = pleat(*arguments, "-o", self.folder / run, "--force", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / run

    def values(self, *arguments, run="run"):
        return [float(row["rmsd"]) for row in read_table(self.run_of("rmsd", *arguments, run=run) / "reference.tsv")]

    def notes(self, kind, run="run"):
        return [note for note in manifest(self.folder / run)["notes"] if note["kind"] == kind]

    def test_a_shift_of_numbers_is_told_and_undone(self):
        chain = helix(HEAVY, 1)
        whole = self.write("whole.pdb", pdb({"A": chain}))
        # One residue is missing, and all behind it are counted without it.
        cut = chain[:20] + [(letter, number - 1, atoms) for letter, number, atoms in chain[21:]]
        other = self.write("cut.pdb", pdb({"A": cut}))
        call = (other, "--reference", whole, "--select", "ca")
        self.assertGreater(self.values(*call)[0], 0.1)
        note, = self.notes("names_differ")
        self.assertTrue(note["warning"])
        self.assertEqual(note["option"], "--match sequence")
        self.assertIn(" of 32 residues", note["text"])
        self.assertLess(self.values(*call, "--match", "sequence")[0], 1e-5)
        self.assertEqual(self.notes("names_differ"), [])
        self.assertEqual(json.loads((self.folder / "run" / "manifest.json").read_text())["results"]["atoms"], 32)

    def test_one_mutation_is_told_without_a_warning(self):
        chain = helix(HEAVY, 1)
        whole = self.write("whole.pdb", pdb({"A": chain}))
        mutant = self.write("mutant.pdb", pdb({"A": [("V", *chain[3][1:]) if n == 3 else one for n, one in enumerate(chain)]}))
        self.values(mutant, "--reference", whole)
        note, = self.notes("names_differ")
        self.assertNotIn("warning", note)
        self.assertIn("ALA 4 in chain 'A' for VAL", note["text"])
        # Other names of one residue are none: force fields call histidine by its protons.
        histidine = self.write("hsd.pdb", whole.read_text().replace("HIS", "HSD"))
        self.values(histidine, "--reference", whole)
        self.assertEqual(self.notes("names_differ"), [])

    def test_chains_of_other_names_and_numbers_are_paired(self):
        a, b = helix(HEAVY, 2), helix(LIGHT, 3, (15, 0, 0))
        model = self.write("model.pdb", pdb({"A": a, "B": b}))
        # Light chain first, numbers from elsewhere, a loop and an end missing.
        missing = {("H", 8), ("H", 9), ("L", 1)}
        crystal = self.write("crystal.pdb", pdb({"L": b, "H": a}, {"H": 100, "L": 500}, missing))
        done = pleat("rmsd", model, "--reference", crystal, "-o", self.folder / "x", "-q")
        self.assert_refused(done, 3)
        self.assertIn(b"--match sequence", done.stderr)
        self.assertLess(self.values(model, "--reference", crystal, "--match", "sequence")[0], 1e-5)
        first = self.notes("matching")[0]["text"]
        self.assertIn("A = H, B = L", first)
        self.assertIn("63 of 63 residues in common with the 66", first)
        self.assertIn("identity 1.00", first)
        # The same of an ensemble of both, in pairs and in clusters.
        run = self.run_of("rmsd", model, crystal, "--match", "sequence", "--select", "ca", run="pairs")
        self.assertLess(parse_npy((run / "rmsd.npy").read_bytes())[1][0], 1e-5)
        for what in ((model, crystal, "--match", "sequence"), (run,)):
            clusters = self.run_of("cluster", *what, "--cutoff", "0.5", run="clusters")
            self.assertEqual(list(parse_npy((clusters / "assignment.npy").read_bytes())[1]), [0, 0])
        assigned = self.run_of("cluster", crystal, "--assign", model, "--match", "sequence", "--select", "ca", run="assigned")
        self.assertLess(float(read_table(assigned / "distances.tsv")[0]["distance"]), 1e-5)

    def test_mutated_residues_share_their_backbone(self):
        chain = helix(HEAVY, 4)
        model = self.write("model.pdb", pdb({"A": chain}))
        mutant = [("G", number, atoms[:4]) if number == 5 else ("W", number, atoms) if number == 9 else
                  (letter, number, atoms) for letter, number, atoms in chain]
        other = self.write("mutant.pdb", pdb({"Z": mutant}, {"Z": 7}))
        self.assertLess(self.values(model, "--reference", other, "--match", "sequence")[0], 1e-5)
        atoms = sum(len(atoms) for _, _, atoms in chain)
        self.assertEqual(manifest(self.folder / "run")["results"]["atoms"], atoms - 1)

    def test_another_protein_is_refused(self):
        model = self.write("model.pdb", pdb({"A": helix(HEAVY, 5)}))
        other = self.write("other.pdb", pdb({"A": helix("WWPPWWPPCCWWPPHHCCWWPP", 6)}))
        self.assert_refused(pleat("rmsd", model, "--reference", other, "--match", "sequence", "-o", self.folder / "x", "-q"),
                            3, "sequence like one in")

    def test_select_takes_models_of_other_numbers(self):
        a = helix(HEAVY, 7)
        models = [self.write(f"{n}.pdb", pdb({chain: a}, {chain: shift}))
                  for n, (chain, shift) in enumerate((("A", 0), ("B", 40), ("C", -3)))]
        scores = self.write("scores.tsv", "name\tenergy\n0\t1\n1\t2\n2\t0\n")
        run = self.run_of("select", "--ensemble", *models, "--scores", scores, "--score", "energy", "--least", "--match",
                          "sequence", "--cutoff", "1")
        self.assertEqual(manifest(run)["results"]["clusters"], 1)

    def models(self, orders):
        """A folder as AlphaFold 3 writes it, each model with chains in an order of its own."""
        sequences = {"A": helix(HEAVY, 8), "B": helix(LIGHT, 9, (15, 0, 0))}
        folder = self.folder / "af3"
        shutil.rmtree(folder, ignore_errors=True)
        for n, chains in enumerate(orders):
            atoms = [("ATOM", name[0], name, NAMES[letter], chain, number, *xyz)
                     for chain, of in chains for letter, number, rest in sequences[of] for name, *xyz in rest]
            self.write(f"af3/seed-1_sample-{n}/model.cif", cif(atoms))
            self.write(f"af3/seed-1_sample-{n}/summary_confidences.json", json.dumps({"ranking_score": 1 - n / 10}))
        self.write("af3/ranking_scores.csv", "seed,sample,ranking_score\n1,0,1\n1,1,0.9\n")
        return folder

    def test_models_list_chains_in_any_order(self):
        for orders, paired in (((("A", "A"), ("B", "B")), (("B", "B"), ("A", "A"))), 0), (
                ((("A", "A"), ("B", "B")), (("A", "B"), ("B", "A"))), 1):
            run = self.run_of("rmsd", self.models(orders))
            self.assertLess(parse_npy((run / "rmsd.npy").read_bytes())[1][0], 1e-5)
            self.assertEqual(len(self.notes("matching")), paired)

    def test_copies_of_a_ligand_are_paired_by_their_chains(self):
        ligands = {chain: [("HETATM", "C", f"C{k}", "LIG", chain, 1, 30.0 * n, 2.0 * k, n) for k in range(4)]
                   for n, chain in enumerate("CD")}
        polymers = {chain: [("ATOM", name[0], name, NAMES[letter], chain, number, *xyz)
                            for letter, number, atoms in helix(HEAVY, 1, (15.0 * n, 0, 0)) for name, *xyz in atoms]
                    for n, chain in enumerate("AB")}
        one = self.write("one.cif", cif(polymers["A"] + polymers["B"] + ligands["C"] + ligands["D"]))
        other = self.write("other.cif", cif(polymers["B"] + polymers["A"] + ligands["D"] + ligands["C"]))
        self.assertLess(self.values(other, "--reference", one, "--match", "sequence")[0], 1e-5)
        found = json.loads((self.folder / "run" / "manifest.json").read_text())["results"]["atoms"]
        self.assertEqual(found, 2 * len(polymers["A"]) + 8)

    def test_ligands_of_mmcif_have_bonds_by_distances(self):
        ring = [(1.39 * math.cos(math.radians(60 * n)), 1.39 * math.sin(math.radians(60 * n)), 0.0) for n in range(6)]
        ring.append((2.74, 0.0, 0.0))  # phenol's oxygen
        turned = [ring[0]] + ring[5:0:-1] + [ring[6]]  # the other side of the ring
        paths = []
        for n, xyz in enumerate((ring, turned)):
            atoms = [("ATOM", "C", "CA", "GLY", "A", k, 10.0 + 3 * k, k * k, 5.0) for k in range(1, 5)]
            atoms += [("HETATM", "C" if k < 6 else "O", f"X{k}", "LIG1", "B", 1, *(round(v, 3) for v in point))
                      for k, point in enumerate(xyz)]
            paths.append(self.write(f"complex{n}.cif", cif(atoms)))
        for symmetry, wanted in (("none", 1.0), ("ligand", 0.0)):
            run = self.run_of("rmsd", *paths, "--select", "chain B", "--fit", "ca", "--symmetry", symmetry)
            self.assertEqual(parse_npy((run / "rmsd.npy").read_bytes())[1][0] > 0.5, wanted > 0.5)
        self.assertEqual(manifest(run)["results"]["automorphisms"], 2)


if __name__ == "__main__":
    unittest.main()
