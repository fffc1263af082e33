# pleat cluster --each-chain: shapes of equal chains, their combinations in frames, medoids, refusals.
import random
import unittest

from program import ProgramTest, manifest, parse_npy, pleat, read_table
from structures import ATOM, turned

NAMES = ("ALA", "GLY", "SER", "LEU", "ASP", "VAL")
# The shape of each chain in each frame; 0 comes most often, 2 least.
STATES = {"A": "0001100200", "B": "0111000022", "C": "0000000011"}
CALL = ("--select", "chain A B C and ca", "--each-chain", "--cutoff", "2")


class Chains(ProgramTest):
    def setUp(self):
        super().setUp()
        source = random.Random(7)
        self.shapes = [[[source.gauss(0, 9) for _ in range(3)] for _ in range(2 * len(NAMES))] for _ in range(3)]

    def models(self, name="complex.pdb", states=None, other="D"):
        """Chains of two atoms per residue, each turned by itself; those of `other` have other residues."""
        source, text = random.Random(8), ""
        states = {**STATES, "D": "0" * 10} if states is None else states
        for frame in range(len(states["A"])):
            text += f"MODEL     {frame + 1:4d}\n"
            for place, (chain, shapes) in enumerate(states.items()):
                atoms = [[x + source.gauss(0, 0.1) for x in atom] for atom in self.shapes[int(shapes[frame])]]
                atoms = [(x + 30 * place, y, z) for x, y, z in turned(atoms, 0.7 * frame + place)]
                for n, xyz in enumerate(atoms):
                    residue = "TRP" if chain in other and n < 2 else NAMES[n // 2]
                    text += ATOM.format(n + 1, " CA " if n % 2 == 0 else " CB ", residue, chain, 10 * place + n // 2, *xyz, "C")
            text += "ENDMDL\n"
        path = self.folder / name
        path.write_text(text + "END\n", encoding="ascii")
        return path

    def cluster(self, *arguments, run="run"):
        done = pleat("cluster", *arguments, "-o", self.folder / run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.shown, self.told = done.stdout.decode(), done.stderr.decode()
        return self.folder / run

    def rows(self, run, file, *columns):
        return [tuple(row[name] for name in columns) for row in read_table(run / file)]

    def test_shapes_of_chains_and_their_combinations(self):
        run = self.cluster(self.models(), *CALL)
        assignment = parse_npy((run / "assignment.npy").read_bytes())[1]
        self.assertEqual("".join(map(str, assignment)), "".join(STATES.values()))
        frames = list(zip(*STATES.values()))
        self.assertEqual(self.rows(run, "chains.tsv", "frame", "chain_A", "chain_B", "chain_C", "combination"),
                         [(str(n), *frame, " ".join(sorted(frame))) for n, frame in enumerate(frames)])
        self.assertEqual(self.rows(run, "combinations.tsv", "combination", "frames", "share", "first_frame"),
                         self.counted(frames))
        for row in read_table(run / "clusters.tsv"):
            medoid = int(row["medoid"])
            self.assertEqual((row["medoid_chain"], row["medoid_frame"]), ("ABC"[medoid // 10], str(medoid % 10)))
            self.assertEqual(row["cluster"], STATES[row["medoid_chain"]][medoid % 10])
        self.assertEqual({name: manifest(run)["results"][name] for name in ("items", "frames", "clusters")},
                         {"items": 30, "frames": 10, "clusters": 3})
        self.assertIn("\nthe items are the chains A = B = C of 10 frames: chains.tsv, combinations.tsv\n", self.shown)

    @staticmethod
    def counted(frames):
        """Rows of combinations.tsv by their definition."""
        found = {}
        for n, frame in enumerate(frames):
            found.setdefault(" ".join(sorted(frame)), []).append(n)
        rows = sorted(found.items(), key=lambda one: (-len(one[1]), one[1][0]))
        return [(text, str(len(of)), f"{len(of) / len(frames):.6g}", str(of[0])) for text, of in rows]

    def test_each_chain_is_a_trajectory(self):
        run = self.cluster(self.models(), *CALL, "--timestep", "5")
        steps, visits = {}, 0
        for states in STATES.values():
            for step in zip(states, states[1:]):
                steps[step] = steps.get(step, 0) + 1
            visits += sum(a != b for a, b in zip(states, states[1:])) + 1
        self.assertEqual({row[:2]: int(row[2]) for row in
                          self.rows(run, "transition_probabilities.tsv", "from", "to", "count")}, steps)
        self.assertEqual(sum(int(a) + int(b) for a, b in self.rows(run, "dwell_times.tsv", "visits", "cut")), visits)
        self.assertEqual(self.rows(run, "series.tsv", "first", "frames", "frame_of_file"),
                         [("0", "10", "0"), ("10", "10", "0"), ("20", "10", "0")])

    def test_medoids_are_models_of_one_chain(self):
        source = self.models()
        for more, atoms, run in (((), 6, "superposed"), (("--write", "chain A B C"), 12, "all"),
                                 (("--write", "chain A B C", "--structures", "pdb", "--write-members", "1"), 12, "members")):
            run = self.cluster(source, *CALL, *more, run=run)
            lines = (run / "medoids.pdb").read_text().splitlines()
            models = [line for line in lines if line.startswith("ATOM")]
            self.assertEqual((len(models), {line[21] for line in models}), (3 * atoms, {"A"}))
            self.assertEqual(sum(line.startswith("MODEL") for line in lines), 3)
            # A medoid is its chain of its frame: no farther than the rounding of PDB's decimals.
            for row in read_table(run / "clusters.tsv"):
                chain, frame, number = row["medoid_chain"], row["medoid_frame"], int(row["cluster"])
                one, of = self.folder / f"{run.name}-{number}.pdb", models[number * atoms:(number + 1) * atoms]
                one.write_text("\n".join(of) + "\nEND\n")
                own = self.folder / f"own-{run.name}-{number}.pdb"
                own.write_text(self.chain_of(source, chain, int(frame), ca_only=atoms == 6))
                pair = self.folder / f"pair-{run.name}-{number}"
                done = pleat("rmsd", own, one, "-o", pair, "-q")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertLess(parse_npy((pair / "rmsd.npy").read_bytes())[1][0], 2e-3)

    @staticmethod
    def chain_of(path, chain, frame, ca_only):
        """The atoms of one chain, with the names and numbers of chain A."""
        model = path.read_text().split("ENDMDL")[frame]
        lines = [line for line in model.splitlines()
                 if line.startswith("ATOM") and line[21] == chain and (not ca_only or line[12:16] == " CA ")]
        first = int(lines[0][22:26])
        return "".join(f"{line[:21]}A{int(line[22:26]) - first:4d}{line[26:]}\n" for line in lines) + "END\n"

    def test_scores_of_frames_are_those_of_their_chains(self):
        scores = self.folder / "scores.tsv"
        scores.write_text("frame\tenergy\n" + "".join(f"{n}\t{10 - n}\n" for n in range(10)))
        run = self.cluster(self.models(), *CALL, "--scores", scores, "--least")
        for row in read_table(run / "clusters.tsv"):
            members = [n for states in STATES.values() for n, state in enumerate(states) if state == row["cluster"]]
            self.assertAlmostEqual(float(row["mean_energy"]), sum(10 - n for n in members) / len(members), places=5)
            self.assertEqual((row["best_energy"], row["best_frame"]), (str(10 - max(members)), str(max(members))))
        self.assertEqual(self.rows(run, "frames.tsv", "frame", "energy"), [(str(n), str(10 - n)) for n in range(10)])

    def test_weights_are_those_of_one_chain(self):
        run = self.cluster(self.models(), *CALL, "--atom-weights", "mass")
        self.assertEqual(len(parse_npy((run / "assignment.npy").read_bytes())[1]), 30)

    def test_the_estimate_counts_chains(self):
        done = pleat("cluster", self.models(), *CALL, "--estimate")
        self.assertIn(b"30 frames, 6 atoms", done.stdout)

    def test_chains_that_are_left_out_are_named(self):
        self.cluster(self.models(), "--select", "ca", "--each-chain", "--cutoff", "2")
        self.assertIn("left out, as they equal no other chain: 'D'", self.told)

    def test_refusals(self):
        def refused(code, text, *arguments):
            self.assert_refused(pleat("cluster", *arguments, "--cutoff", "2", "-o", self.folder / "x"), code, text)

        refused(3, "expected chains of the same residues and atoms, found none that are equal among 'A', 'D'",
                self.models("one.pdb", {"A": "01", "D": "00"}), "--each-chain")
        refused(3, "expected one group of equal chains, found A = B; C = D; select one, such as 'chain A B and name CA'",
                self.models("two.pdb", {"A": "01", "B": "00", "C": "01", "D": "00"}, other="CD"), "--each-chain")
        source = self.models()
        refused(2, "leave --symmetry and --fit out: --each-chain superposes single chains",
                source, "--each-chain", "--symmetry", "chains")
        refused(2, "leave --each-chain out: with --assign the clusters are given", source, "--each-chain", "--assign", source)
        self.assertEqual(pleat("rmsd", source, "--select", "ca", "-o", self.folder / "pairs", "-q").returncode, 0)
        refused(2, "--each-chain", self.folder / "pairs", "--each-chain")
        # CB of chain B has another name in the topology.
        text = source.read_text()
        odd = self.folder / "odd.pdb"
        odd.write_text("\n".join(line.replace(" CB ", " CG ") if line[21:22] == "B" else line for line in text.split("\n")))
        refused(3, "expected atoms for --write that chains A, B, C have alike, found chains that differ; select fewer",
                odd, "--select", "chain A B C and ca", "--each-chain", "--write", "chain A B C", "-q")


if __name__ == "__main__":
    unittest.main()
