# Topologies of GROMACS, CHARMM and AMBER: the same results as with PDB, and refusals of damaged files.
import gzip
import shutil
import unittest

from program import DATA, ProgramTest, manifest, parse_npy, pleat, remarks, results


def atoms_of(text):
    """(name, residue, chain, number, x, y, z) of the atoms of a PDB file."""
    return [(line[12:16].strip(), line[17:20], line[21], int(line[22:26]),
             *(float(line[at:at + 8]) for at in (30, 38, 46)))
            for line in text.splitlines() if line.startswith("ATOM")]


def bonds_of(atoms):
    """Neighbours of the same chain, which are CA atoms, from 0."""
    return [(n, n + 1) for n in range(len(atoms) - 1) if atoms[n][2] == atoms[n + 1][2]]


def gro(frames, box="9 9 9"):
    text = ""
    for atoms in frames:
        text += f"made, t= 0.0\n{len(atoms):5d}\n"
        for n, (name, residue, _, number, *xyz) in enumerate(atoms, 1):
            text += f"{number:5d}{residue:<5s}{name:>5s}{n:5d}" + "".join(f"{x / 10:8.3f}" for x in xyz) + "\n"
        text += box + "\n"
    return text


def psf(atoms):
    text = f"PSF EXT\n\n{1:10d} !NTITLE\n* made\n\n{len(atoms):10d} !NATOM\n"
    for n, (name, residue, chain, number, *_) in enumerate(atoms, 1):
        text += f"{n:10d} P{chain:<7s} {number:<8d} {residue:<8s} {name:<8s} CT1  {0.1:10.6f}    {12.011:10.4f}  0\n"
    bonds = bonds_of(atoms)
    text += f"\n{len(bonds):10d} !NBOND: bonds\n"
    return text + "\n".join(f"{a + 1:10d}{b + 1:10d}" for a, b in bonds) + "\n"


def prmtop(atoms):
    def section(flag, form, fields, count):
        lines = ["".join(fields[n:n + count]) for n in range(0, len(fields), count)]
        return f"%FLAG {flag}\n%FORMAT({form})\n" + "\n".join(lines) + "\n"

    def integers(flag, values):
        return section(flag, "10I8", [f"{value:8d}" for value in values], 10)
    bonds = bonds_of(atoms)
    pointers = [0] * 31
    pointers[0], pointers[11], pointers[12] = len(atoms), len(atoms), len(bonds)
    return ("%VERSION  VERSION_STAMP = V0001.000\n" + integers("POINTERS", pointers)
            + section("ATOM_NAME", "20a4", [f"{atom[0]:<4s}" for atom in atoms], 20)
            + section("RESIDUE_LABEL", "20a4", [f"{atom[1]:<4s}" for atom in atoms], 20)
            + integers("RESIDUE_POINTER", range(1, len(atoms) + 1)) + integers("BONDS_INC_HYDROGEN", [])
            + integers("BONDS_WITHOUT_HYDROGEN", [x for a, b in bonds for x in (3 * a, 3 * b, 1)])
            + integers("ATOMIC_NUMBER", [6] * len(atoms)))


class Topologies(ProgramTest):
    def setUp(self):
        super().setUp()
        self.atoms = atoms_of(gzip.decompress((DATA / "hivp.pdb.gz").read_bytes()).decode())
        self.files = {"x.gro": gro([self.atoms]), "x.psf": psf(self.atoms), "x.prmtop": prmtop(self.atoms)}
        for name, text in self.files.items():
            (self.folder / name).write_text(text, encoding="ascii")

    def rmsd(self, run, *arguments):
        done = pleat("rmsd", *arguments, "-o", self.folder / run, "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        return parse_npy((self.folder / run / "rmsd.npy").read_bytes())[1]

    def test_each_gives_the_matrix_of_a_pdb_file(self):
        chains = {"x.gro": "chain B", "x.psf": "chain PB", "x.prmtop": "chain B"}
        shutil.copy(DATA / "hivp.pdb.gz", self.folder / "x.pdb.gz")
        expected = self.rmsd("expected", DATA / "hivp.dcd.gz", "--topology", self.folder / "x.pdb.gz", "--select",
                             "B:1-99")
        for name, chain in chains.items():
            with self.subTest(name):
                found = self.rmsd(name[2:], DATA / "hivp.dcd.gz", "--topology", self.folder / name, "--select",
                                  f"{chain} and name CA")
                self.assertEqual(found, expected)
        weighted = self.rmsd("mass", DATA / "hivp.dcd.gz", "--topology", self.folder / "x.psf", "--select",
                             "chain PB", "--atom-weights", "mass")  # which are equal
        self.assertLess(max(abs(a - b) for a, b in zip(weighted, expected)), 1e-5)

    def test_gro_files_are_ensembles_with_boxes(self):
        moved = [(*atom[:4], *(x + (90 if axis == n % 3 else 0) for axis, x in enumerate(atom[4:])))
                 for n, atom in enumerate(self.atoms)]
        path = self.folder / "frames.gro"
        path.write_text(gro([self.atoms, moved, self.atoms]), encoding="ascii")
        found = self.rmsd("found", path)
        self.assertLess(max(found), 0.01)
        self.assertIn("selection split over the box in 1 of 3 frames: made whole (otherwise: --pbc none)",
                      remarks(self.folder / "found"))
        self.assertGreater(max(self.rmsd("left", path, "--pbc", "none")), 10)
        # The same frames as models of PDB.
        expected = self.rmsd("pdb", DATA / "hivp.pdb.gz", path)
        self.assertLess(max(expected), 0.01)
        self.assertEqual(len(expected), 6)

    def test_another_number_of_atoms_is_refused_with_a_selection_that_fits(self):
        more = self.atoms + [("OW", "SOL", " ", 100 + n, 0, 0, float(n)) for n in range(5)]
        (self.folder / "more.gro").write_text(gro([more]), encoding="ascii")
        done = pleat("rmsd", DATA / "hivp.dcd.gz", "--topology", self.folder / "more.gro", "-o", self.folder / "run")
        self.assert_refused(done, 3, "expected 203 atoms as in", "found 198; the selection 'protein' of",
                            "has 198 atoms: give a topology of these alone")

    def test_contacts_need_a_structure_with_residues(self):
        casp = self.folder / "x.rr"
        casp.write_text("ACDEF\n1 5 0 8 0.9\n", encoding="ascii")
        for name in self.files:
            done = pleat("select", "--ensemble", DATA / "hivp.dcd.gz", "--topology", self.folder / name,
                         "--contacts", casp, "-o", self.folder / "run", "-q")
            self.assert_refused(done, 3, name, "expected", "--structure")

    def test_damaged_files_are_refused(self):
        tpr = b"\0\0\0\x0c\0\0\0\x0bVERSION 4.0\0" + bytes(40)
        letters = self.files["x.gro"].split("\n")
        letters[5] = letters[5][:22] + "x" + letters[5][23:]
        changed = {
            "cut.gro": (self.files["x.gro"][:-300], "(cut short)"),
            "letters.gro": ("\n".join(letters), "letters.gro:6: expected"),
            "cut.psf": (self.files["x.psf"][:-30], "expected 196 bonds, found the end of the file (cut short)"),
            "atoms.psf": (self.files["x.psf"].replace("198 !NATOM", "197 !NATOM"), "in the 196 bonds, found '198'"),
            "cut.prmtop": (self.files["x.prmtop"][:-30], "expected 198 values in ATOMIC_NUMBER, found"),
            "bonds.prmtop": (self.files["x.prmtop"].replace("       3       6", "       3       7", 1), "found 7"),
            "x.tpr": (tpr, "found TPR, which each version of GROMACS writes in another way: make a PDB file with "
                           "bonds by gmx trjconv -s "),
        }
        for name, (data, text) in changed.items():
            with self.subTest(name):
                path = self.folder / name
                path.write_bytes(data if isinstance(data, bytes) else data.encode())
                done = pleat("rmsd", DATA / "hivp.dcd.gz", "--topology", path, "-o", self.folder / "run", "-q")
                self.assert_refused(done, 3, name, text)
        done = pleat("rmsd", self.folder / "x.psf", DATA / "hivp.dcd.gz", "-o", self.folder / "run")
        self.assert_refused(done, 3, "found PSF, which names atoms alone: give it as --topology")
        self.assertFalse((self.folder / "run").exists() and results(self.folder / "run"))


if __name__ == "__main__":
    unittest.main()
