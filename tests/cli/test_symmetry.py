# pleat rmsd and cluster of complexes of equal chains: exact permutations, relabelled frames, refusals.
import itertools
import random
import unittest

from program import ProgramTest, manifest, parse_npy, pleat, read_table
from structures import ATOM, turned

NAMES = ("ALA", "GLY", "SER", "LEU", "ASP", "VAL")


class Symmetry(ProgramTest):
    """Complexes of three equal chains and one other, whose equal chains are permuted in half of the frames."""

    def frames(self, count, permuted, seed=1):
        """[frame][chain][residue] of CA atoms, in two shapes; the same frames permuted or not."""
        source, order = random.Random(seed), random.Random(99)
        shapes = [[[tuple(source.gauss(0, 9) for _ in range(3)) for _ in NAMES] for _ in range(4)] for _ in range(2)]
        made = []
        for n in range(count):
            chains = [[tuple(x + source.gauss(0, 0.3) for x in atom) for atom in chain] for chain in shapes[n % 2]]
            places = list(range(3))
            order.shuffle(places)
            if permuted:
                chains = [chains[place] for place in places] + chains[3:]
            made.append([turned(chain, 0.7 * n) for chain in chains])
        return made

    def models(self, name, frames, chains="ABCD"):
        text = ""
        for model, frame in enumerate(frames, 1):
            text += f"MODEL     {model:4d}\n"
            number = itertools.count(1)
            for chain, (letter, atoms) in enumerate(zip(chains, frame)):
                for n, (residue, xyz) in enumerate(zip(NAMES, atoms)):
                    residue = "TRP" if chain == 3 and n == 0 else residue
                    text += ATOM.format(next(number), " CA ", residue, letter, 10 * chain + n, *xyz, "C")
            text += "ENDMDL\n"
        path = self.folder / name
        path.write_text(text + "END\n", encoding="ascii")
        return path

    def run_quietly(self, command, *arguments, run):
        done = pleat(command, *arguments, "-o", self.folder / run, "-q")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        return self.folder / run

    def matrix(self, *arguments, run):
        return parse_npy((self.run_quietly("rmsd", *arguments, run=run) / "rmsd.npy").read_bytes())[1]

    def assert_near(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for value, wanted in zip(found, expected):
            self.assertAlmostEqual(value, wanted, delta=3e-3)  # PDB's decimals

    def test_permuted_chains_leave_the_matrix(self):
        plain = self.models("plain.pdb", self.frames(10, False))
        mixed = self.models("mixed.pdb", self.frames(10, True))
        expected = self.matrix(plain, run="plain")
        self.assertGreater(max(abs(a - b) for a, b in zip(self.matrix(mixed, run="mixed"), expected)), 1)
        # Frames of one shape are nearest as they are; two random shapes may come nearer permuted.
        own = [n for n, (i, j) in enumerate(itertools.combinations(range(10), 2)) if (i - j) % 2 == 0]
        exact = self.matrix(plain, "--symmetry", "chains", run="exact")
        self.assert_near([exact[n] for n in own], [expected[n] for n in own])
        self.assert_near(self.matrix(mixed, "--symmetry", "chains", run="mixed_exact"), exact)
        self.assertEqual(manifest(self.folder / "mixed_exact")["results"]["permutations"], 6)
        relabelled = self.matrix(mixed, "--symmetry", "chains", "--relabel", run="relabelled")
        self.assert_near([relabelled[n] for n in own], [expected[n] for n in own])
        done = pleat("rmsd", mixed, "--symmetry", "chains", "-o", self.folder / "told")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"\nsymmetry: exact, 6 permutations\n", done.stdout)
        self.assertIn(b"symmetry: chains A = B = C, 6 permutations\n", done.stderr)
        done = pleat("rmsd", mixed, "--symmetry", "chains", "--relabel", "-o", self.folder / "told2")
        self.assertIn(b"\nsymmetry: relabelled, each frame by the best of 6 permutations\n", done.stdout)
        self.assertRegex(done.stderr.decode(), r"symmetry: chains changed places in \d+ of 10 frames, towards the")

    def test_one_structure_and_other_frames(self):
        frames = self.frames(8, True)
        mixed, first = self.models("mixed.pdb", frames), self.models("first.pdb", frames[:1])
        exact = self.matrix(mixed, "--symmetry", "chains", "--matrix", "full", run="exact")
        for reference, run in ((("--reference", first), "file"), (("--reference", "0"), "number"),
                               (("--reference", first, "--relabel"), "relabelled")):
            done = self.run_quietly("rmsd", mixed, "--symmetry", "chains", *reference, run=run)
            self.assert_near([float(row["rmsd"]) for row in read_table(done / "reference.tsv")], exact[:8])
        for more, run in (((), "against"), (("--relabel",), "against_relabelled")):
            found = self.matrix(first, "--against", mixed, "--symmetry", "chains", *more, run=run)
            self.assert_near(found, exact[:8])
        one_shape = self.models("one.pdb", frames[::2])
        run = self.run_quietly("rmsd", one_shape, "--rmsf", "--superposed", "pdb", "--symmetry", "chains", "--relabel",
                               run="rmsf")
        self.assertLess(max(float(row["rmsf"]) for row in read_table(run / "rmsf.tsv")), 1.0)
        moved = self.matrix(run / "superposed.pdb", run="moved")
        self.assertLess(max(moved), 2)

    def test_clusters_are_those_of_the_shapes(self):
        mixed = self.models("mixed.pdb", self.frames(20, True))
        call = ("--cutoff", "2", "--structures", "pdb", "--write-members", "1")

        def clusters(run):
            return list(parse_npy((run / "assignment.npy").read_bytes())[1])

        wanted = clusters(self.run_quietly("cluster", self.models("plain.pdb", self.frames(20, False)), *call,
                                           run="plain"))
        self.assertEqual(set(wanted), {0, 1})
        self.assertGreater(len(set(clusters(self.run_quietly("cluster", mixed, *call, run="mixed")))), 2)
        exact = self.run_quietly("cluster", mixed, "--symmetry", "chains", *call, run="exact")
        self.assertEqual(clusters(exact), wanted)
        # The members overlap though their chains have other letters.
        shown = self.matrix(exact / "members-0.pdb", "--symmetry", "chains", run="shown")
        self.assertLess(max(shown), 2)
        relabelled = self.run_quietly("cluster", mixed, "--symmetry", "chains", "--relabel", *call, run="relabelled")
        self.assertEqual(clusters(relabelled), wanted)
        self.assertLess(max(self.matrix(relabelled / "members-0.pdb", run="one_labelling")), 2)
        for more in (("--symmetry", "chains"), ("--symmetry", "chains", "--relabel")):
            for matrix in ("condensed", "none"):
                run = "-".join((*more, matrix))
                pairs = self.run_quietly("rmsd", mixed, *more, "--matrix", matrix, run=f"pairs{run}")
                self.assertEqual(clusters(self.run_quietly("cluster", pairs, *call, run=f"of{run}")), wanted)
        run = self.run_quietly("rmsd", mixed, run="run")
        self.assert_refused(pleat("cluster", run, "--symmetry", "chains", "--cutoff", "2", "-o", self.folder / "x"), 2,
                            "leave --symmetry and --fit out: ", "is a finished run")

    def test_sides_of_rings_change_places(self):
        source = random.Random(3)
        names = ("N", "CA", "C", "O", "CB", "CG", "CD1", "CE1", "CD2", "CE2", "CZ")
        frame = [[tuple(source.gauss(0, 4) for _ in range(3)) for _ in names] for _ in range(3)]
        swapped = [*frame[0][:6], *frame[0][8:10], *frame[0][6:8], frame[0][10]]

        def write(name, frames):
            text = ""
            for model, residues in enumerate(frames, 1):
                text += f"MODEL     {model:4d}\n" + "".join(
                    ATOM.format(11 * r + n + 1, f" {atom}", "PHE", "A", r + 1, *xyz, atom[0])
                    for r, atoms in enumerate(residues) for n, (atom, xyz) in enumerate(zip(names, atoms))) + "ENDMDL\n"
            (self.folder / name).write_text(text + "END\n", encoding="ascii")
            return self.folder / name

        models = write("rings.pdb", [frame, [turned(atoms, 0.5) for atoms in (swapped, *frame[1:])]])
        call = ("--select", "backbone", "--measure", "heavy")
        self.assertGreater(self.matrix(models, *call, run="named")[0], 0.5)
        run = self.run_quietly("rmsd", models, *call, "--symmetry", "atoms", run="sides")
        self.assertLess(parse_npy((run / "rmsd.npy").read_bytes())[1][0], 2e-3)
        self.assertIn("symmetry: 3 groups of equivalent atoms may change places\n",
                      (run / "log.txt").read_text(encoding="utf-8"))
        done = pleat("rmsd", models, *call, "--symmetry", "atoms", "-o", self.folder / "told")
        self.assertIn(b"\nsymmetry: exact, 3 groups of equivalent atoms\n", done.stdout)
        # All atoms are superposed, and flipped too.
        self.assertGreater(self.matrix(models, run="superposed")[0], 0.2)
        self.assertLess(self.matrix(models, "--symmetry", "atoms", run="within")[0], 2e-3)
        done = pleat("rmsd", models, "--symmetry", "atoms", "--reference", "0", "-o", self.folder / "one")
        self.assertIn(b"\nsymmetry: exact, 3 groups of equivalent atoms\n", done.stdout)
        self.assertEqual(manifest(self.folder / "one")["results"]["unproven"], 0)
        run = self.run_quietly("cluster", models, "--symmetry", "atoms", "--cutoff", "0.1", "--structures", "pdb", run="c")
        self.assertEqual(set(parse_npy((run / "assignment.npy").read_bytes())[1]), {0})
        out = ("--symmetry", "atoms", "-o", self.folder / "x", "-q")
        for code, text, arguments in (
                (2, "need one labelling", (*call, "--rmsf")),
                (2, "--relabel needs --symmetry chains", (*call, "--relabel")),
                (3, "found none but superposed ones such as CD1 of PHE 1",
                 ("--select", "all", "--measure", "name CG CD1 CD2 CE1 CE2"))):
            with self.subTest(text):
                self.assert_refused(pleat("rmsd", models, *arguments, *out), code, text)

    def test_what_cannot_be_is_refused(self):
        mixed = self.models("mixed.pdb", self.frames(4, True))
        out = ("-o", self.folder / "x", "-q")
        for code, text, arguments in (
                (2, "--relabel needs --symmetry chains", ("--relabel",)),
                (2, "--symmetry needs --metric rmsd", ("--symmetry", "chains", "--metric", "tm")),
                (2, "leave --measure and --fit out", ("--symmetry", "chains", "--measure", "A")),
                (2, "need one labelling of each frame: take --symmetry", ("--symmetry", "chains", "--rmsf")),
                (2, "need one labelling", ("--symmetry", "chains", "--reference", "mean")),
                (3, "found none that are equal among 'A', 'D'", ("--symmetry", "chains", "--select", "A or D"))):
            with self.subTest(text):
                self.assert_refused(pleat("rmsd", mixed, *arguments, *out), code, text)

    def test_more_than_can_be_tried(self):
        source = random.Random(7)
        centres = [tuple(source.gauss(0, 40) for _ in range(3)) for _ in range(10)]
        shape = [[tuple(c + source.gauss(0, 4) for c in centre) for _ in NAMES] for centre in centres]
        frames = []
        for _ in range(4):
            frame = [[tuple(x + source.gauss(0, 0.2) for x in atom) for atom in chain] for chain in shape]
            equal = frame[:3] + frame[4:]  # models() gives the fourth another first residue
            source.shuffle(equal)
            frames.append(equal[:3] + frame[3:4] + equal[3:])
        many = self.models("many.pdb", frames, "ABCDEFGHIJ")
        run = self.run_quietly("rmsd", many, "--symmetry", "chains", run="many")
        self.assertEqual(manifest(run)["results"]["permutations"], 362880)
        self.assertLess(max(parse_npy((run / "rmsd.npy").read_bytes())[1]), 1)
        self.assertGreater(min(self.matrix(many, run="named")), 10)
        done = pleat("rmsd", many, "--symmetry", "chains", "--estimate", "-o", self.folder / "none")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"4 frames, 60 atoms", done.stdout)
        self.assertNotIn(b"cuda", done.stdout)  # a GPU tries no more than 5040
        done = pleat("rmsd", many, "--symmetry", "chains", "-d", "cuda", "--estimate", "-o", self.folder / "none")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"GPU", done.stderr)
        done = pleat("rmsd", many, "--symmetry", "chains", "--matrix", "none", "-o", self.folder / "told")
        self.assertIn(b"362880 permutations, too many to try all: searched on the CPU\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
