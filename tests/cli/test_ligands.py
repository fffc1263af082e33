# pleat rmsd and cluster of ligands: poses in place and fitted, complexes, files of other orders, refusals.
import gzip
import unittest

from program import DATA, ProgramTest, manifest, parse_npy, pleat, read_table

POSES, CRYSTAL = DATA / "1a4k_dock.sdf.gz", DATA / "1a4k_ligand.sdf.gz"
# A second computation (RDKit 2022.09, CalcRMS and GetBestRMS) of the first pose.
IN_PLACE, FITTED = 2.025, 1.201


def records(path):
    """[record][line] of an SDF file."""
    text = gzip.open(path, "rt", encoding="ascii").read()
    return [record.splitlines() for record in text.split("$$$$\n") if record.strip()]


def parts(record):
    """(atoms, bonds) of a record's lines."""
    atoms, bonds = int(record[3][:3]), int(record[3][3:6])
    return record[4:4 + atoms], [(int(line[:3]) - 1, int(line[3:6]) - 1, line[6:9])
                                 for line in record[4 + atoms:4 + atoms + bonds]]


def molecule(atoms, bonds):
    return "\n".join(["made", "", "", f"{len(atoms):3d}{len(bonds):3d}" + 27 * " " + " V2000", *atoms,
                      *(f"{a + 1:3d}{b + 1:3d}{order}" for a, b, order in bonds), "M  END", "$$$$", ""])


class Ligands(ProgramTest):
    def values(self, *arguments, run):
        done = pleat("rmsd", *arguments, "-o", self.folder / run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stdout.decode() + done.stderr.decode()
        return [float(row["rmsd"]) for row in read_table(self.folder / run / "reference.tsv")]

    def matrix(self, *arguments, run):
        done = pleat("rmsd", *arguments, "-o", self.folder / run, "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(parse_npy((self.folder / run / "rmsd.npy").read_bytes())[1])

    def test_poses_against_the_crystal(self):
        call = (POSES, "--symmetry", "ligand", "--reference", CRYSTAL)
        found = self.values(*call, run="in_place")
        self.assertEqual(len(found), 10)
        self.assertAlmostEqual(found[0], IN_PLACE, delta=1e-3)
        self.assertIn("in place, not superposed\nsymmetry: exact, 8 automorphisms\n", self.said)
        self.assertIn("symmetry: LIG 1 8 automorphisms\n", self.said)
        results = manifest(self.folder / "in_place")["results"]
        self.assertEqual((results["atoms"], results["automorphisms"], results["unproven"]), (31, 8, 0))
        self.assertAlmostEqual(self.values(*call, "--fit", "heavy", run="fitted")[0], FITTED, delta=1e-3)
        self.assertEqual(self.values(*call, "--fit", "none", run="named"), found)
        # Without symmetry no value is smaller, and some are larger.
        plain = self.values(POSES, "--select", "heavy", "--fit", "none", "--reference", CRYSTAL, run="plain")
        self.assertTrue(all(a >= b - 1e-6 for a, b in zip(plain, found)))
        for device in ("reference", "cpu"):
            again = self.values(*call, "--fit", "heavy", "--device", device, run=f"fitted-{device}")
            self.assertAlmostEqual(again[0], FITTED, delta=1e-3)

    def test_atoms_of_another_order_are_matched(self):
        first = self.matrix(POSES, "--symmetry", "ligand", run="first")
        self.assertEqual(len(first), 45)
        text = ""
        for number, record in enumerate(records(POSES)):
            atoms, bonds = parts(record)
            order = list(range(len(atoms)))
            order = order[number:] + order[:number]
            place = {atom: n for n, atom in enumerate(order)}
            text += molecule([atoms[n] for n in order], [(place[a], place[b], kind) for a, b, kind in bonds])
        (self.folder / "turned.sdf").write_text(text, encoding="ascii")
        found = self.matrix(self.folder / "turned.sdf", "--symmetry", "ligand", run="turned")
        for one, other in zip(found, first):
            self.assertAlmostEqual(one, other, delta=1e-5)
        fitted = self.matrix(self.folder / "turned.sdf", "--symmetry", "ligand", "--fit", "heavy", run="turned-fitted")
        for one, other in zip(fitted, self.matrix(POSES, "--symmetry", "ligand", "--fit", "heavy", run="fitted")):
            self.assertAlmostEqual(one, other, delta=1e-5)

    def test_clusters_of_poses(self):
        call = ("--symmetry", "ligand", "--cutoff", "2")
        done = pleat("cluster", POSES, *call, "-o", self.folder / "clusters", "--write-members", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"in place, not superposed\nsymmetry: exact, 8 automorphisms\n", done.stdout)
        wanted = list(parse_npy((self.folder / "clusters" / "assignment.npy").read_bytes())[1])
        self.matrix(POSES, "--symmetry", "ligand", run="pairs")
        done = pleat("cluster", self.folder / "pairs", "--cutoff", "2", "-o", self.folder / "of_run", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list(parse_npy((self.folder / "of_run" / "assignment.npy").read_bytes())[1]), wanted)
        # Members are written where they were: their first atom is that of the file.
        first = wanted.index(0)
        atoms, _ = parts(records(POSES)[first])
        for run in ("clusters",):
            text = (self.folder / run / "members-0.pdb").read_text(encoding="ascii")
            line = next(line for line in text.splitlines() if line.startswith(("ATOM", "HETATM")))
            heavy = next(atom for atom in atoms if atom[31:34].strip() != "H")
            for n in range(3):
                self.assertAlmostEqual(float(line[30 + 8 * n:38 + 8 * n]), float(heavy[10 * n:10 * n + 10]), delta=1e-3)
        fitted = pleat("cluster", POSES, *call, "--fit", "heavy", "-o", self.folder / "fitted", "-q")
        self.assertEqual(fitted.returncode, 0, fitted.stderr)

    def complexes(self, bonds=True):
        """A PDB file: three atoms that are superposed, and each pose, turned and moved with them."""
        text = ""
        for model, record in enumerate(records(POSES), 1):
            atoms, edges = parts(record)
            text += f"MODEL     {model:4d}\n"
            xyz = [(0, 0, 0), (20, 0, 0), (0, 30, 0)]
            lines = [("CA", "GLY", "A", n + 1, "C", one) for n, one in enumerate(xyz)]
            heavy = [n for n, atom in enumerate(atoms) if atom[31:34].strip() != "H"]
            lines += [(f"X{n}", "FRA", "B", 9, atoms[n][31:34].strip(),
                       tuple(float(atoms[n][10 * a:10 * a + 10]) for a in range(3))) for n in heavy]
            for serial, (name, residue, chain, number, element, (x, y, z)) in enumerate(lines, 1):
                x, y, z = (y, -x, z) if model % 2 == 0 else (x, y, z)
                kind = "ATOM  " if residue == "GLY" else "HETATM"
                text += (f"{kind}{serial:5d} {name:>4s} {residue} {chain}{number:4d}    {x + model:8.3f}{y:8.3f}{z:8.3f}"
                         f"  1.00  0.00          {element:>2s}\n")
            text += "ENDMDL\n"
            place = {n: at + 4 for at, n in enumerate(heavy)}
            if bonds and model == 1:
                text += "".join(f"CONECT{place[a]:5d}{place[b]:5d}\n" for a, b, _ in edges if a in place and b in place)
        path = self.folder / ("complexes.pdb" if bonds else "bare.pdb")
        path.write_text(text + "END\n", encoding="ascii")
        return path

    def test_complexes_are_fitted_on_their_protein(self):
        wanted = self.matrix(POSES, "--symmetry", "ligand", run="poses")
        for name, call in (("fit", ("--fit", "name CA", "--select", "ligand")),
                           ("measure", ("--select", "name CA", "--measure", "ligand"))):
            found = self.matrix(self.complexes(), *call, "--symmetry", "ligand", run=name)
            for one, other in zip(found, wanted):
                self.assertAlmostEqual(one, other, delta=3e-3)  # PDB's decimals
        # Bonds by distances are all of one kind.
        found = self.matrix(self.complexes(False), "--select", "name CA", "--measure", "ligand", "--symmetry", "ligand",
                            run="bare")
        for one, other in zip(found, wanted):
            self.assertLessEqual(one, other + 3e-3)

    def test_what_cannot_be_is_refused(self):
        out = ("-o", self.folder / "x", "-q")
        call = ("rmsd", POSES, "--symmetry", "ligand")
        for code, text, arguments in (
                (2, "a mean, --rmsf and --superposed superpose frames: leave --symmetry out", ("--reference", "mean")),
                (2, "a mean, --rmsf and --superposed superpose frames: leave --symmetry out", ("--rmsf", "--reference", "0")),
                (2, "need one labelling of each frame: leave --symmetry out", ("--rmsf", "--fit", "heavy")),
                (2, "--symmetry needs --metric rmsd", ("--metric", "drmsd", "--fit", "heavy")),
                (2, "--symmetry needs --metric rmsd", ("--metric", "tm")),
                (2, "give two of --select, --fit and --measure",
                 ("--fit", "name C1", "--select", "heavy", "--measure", "name C2")),
                (2, "give two of --select, --fit and --measure",
                 ("--fit", "none", "--select", "heavy", "--measure", "name C2")),
                (4, "cuda:99", ("--device", "cuda:99")),
                (3, "expected heavy atoms for --symmetry ligand, found H1", ("--select", "all"))):
            with self.subTest(text):
                self.assert_refused(pleat(*call, *arguments, *out), code, text)
        atoms, bonds = parts(records(CRYSTAL)[0])
        for name, text, content in (
                ("other.sdf", "31 heavy atoms, found", molecule([atoms[0].replace(" C ", " N "), *atoms[1:]], bonds)),
                ("less.sdf", "found C21 N3 O6", molecule(atoms[:-1], [bond for bond in bonds if max(bond[:2]) < 30])),
                ("loose.sdf", "with other bonds", molecule(atoms, bonds[:-1])),
                ("new.sdf", "expected the begin of the table in a line of M  V30", molecule(atoms, bonds).replace("V2000", "V3000"))):
            with self.subTest(name):
                (self.folder / name).write_text(content, encoding="ascii")
                self.assert_refused(pleat(*call, "--reference", self.folder / name, *out), 3, text)
        self.assert_refused(pleat(*call, "--measure", "element C", *out), 3, "measured and not superposed, or both by the same")
        self.assert_refused(pleat("rmsd", self.complexes(), "--select", "name CA", "--symmetry", "ligand", *out), 3,
                            "found single atoms only: select the ligand")
        self.assert_refused(pleat("cluster", POSES, "--fit", "name C1", "--cutoff", "1", *out), 2, "run 'pleat rmsd'")


if __name__ == "__main__":
    unittest.main()
