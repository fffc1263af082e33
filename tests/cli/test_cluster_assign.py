# pleat cluster --assign: frames given to the medoids of another run or file.
import unittest

from program import manifest, parse_npy, pleat, read_table
from test_cluster import models_of, npy, pdb_text
from test_cluster_trajectory import STATES, TrajectoryTest, frames_of, shapes


class Assign(TrajectoryTest):
    def run_of(self, states=STATES, *options, name="a.xtc"):
        return self.cluster(self.trajectory(name, states), "--cutoff", "2", *options, run="first")

    def test_clustered_frames_go_to_their_medoids(self):
        first = self.run_of()
        run = self.cluster(self.folder / "a.xtc", "--assign", first)
        self.assertEqual(self.assignment(run), self.assignment(first))
        for file in ("transitions.tsv", "dwell_times.tsv", "dwell_distribution.tsv", "transition_probabilities.tsv", "series.tsv"):
            self.assertEqual((run / file).read_bytes(), (first / file).read_bytes(), file)
        self.assertEqual(self.rows(run, "clusters.tsv", "cluster", "size", "medoid"),
                         self.rows(first, "clusters.tsv", "cluster", "size", "medoid"))
        self.assertEqual(len(models_of(run / "medoids.pdb")), 3)
        distances = read_table(run / "distances.tsv")
        for medoid in self.rows(first, "clusters.tsv", "medoid"):
            self.assertLess(float(distances[int(medoid[0])]["distance"]), 1e-3)  # PDB holds three decimals
        facts = manifest(run)["results"]
        self.assertEqual((facts["items"], facts["clusters"], facts["largest"], facts["noise"]), (21, 3, 13, 0))
        self.assertNotIn("method", manifest(run)["parameters"])

    def test_distances_are_those_of_rmsd(self):
        self.run_of()
        medoids = self.write("given.pdb", pdb_text(frames_of("2011", seed=9, noise=2)))
        path = self.trajectory("b.xtc", STATES * 3, seed=8, noise=3)
        for options in ((), ("--select", "ca"), ("--frames", "3:40:2", "--atom-weights", "mass")):
            with self.subTest(options):
                run = self.cluster(path, "--assign", medoids, *options)
                done = pleat("rmsd", path, "--topology", self.topology, "--against", medoids, *options,
                             "-o", self.folder / "pairs", "-q", "--force")
                self.assertEqual(done.returncode, 0, done.stderr)
                (frames, count), values = parse_npy((self.folder / "pairs" / "rmsd.npy").read_bytes())
                self.assertEqual(count, 4)
                for n, row in enumerate(read_table(run / "distances.tsv")):
                    order = sorted((values[4 * n + c], c) for c in range(4))
                    self.assertEqual((int(row["nearest"]), int(row["second"])), (order[0][1], order[1][1]))
                    self.assertAlmostEqual(float(row["distance"]), order[0][0], places=4)
                    self.assertAlmostEqual(float(row["second_distance"]), order[1][0], places=4)
                self.assertEqual(n + 1, frames)

    def test_numbers_of_the_medoids_are_kept(self):
        first = self.run_of()
        run = self.cluster(self.trajectory("b.xtc", "2221112", seed=6), "--assign", first)
        self.assertEqual("".join(map(str, self.assignment(run))), "2221112")
        self.assertEqual(self.rows(run, "clusters.tsv", "cluster", "size", "medoid", "mean", "radius")[0],
                         ("0", "0", "NA", "NA", "NA"))
        self.assertEqual(self.rows(run, "dwell_times.tsv", "cluster", "visits", "cut"), [("1", "1", "0"), ("2", "0", "2")])
        again = self.cluster(self.trajectory("c.xtc", "012"), "--assign", run, run="again")
        self.assertEqual(self.assignment(again), [0, 1, 2])

    def test_frames_beyond_the_cutoff_are_noise(self):
        medoids = self.write("two.pdb", pdb_text(frames_of("01")))
        run = self.cluster(self.trajectory("a.xtc", "0021100"), "--assign", medoids, "--cutoff", "2")
        self.assertEqual(self.assignment(run), [0, 0, -1, 1, 1, 0, 0])
        self.assertEqual(manifest(run)["results"]["noise"], 1)
        self.assertIn(self.rows(run, "distances.tsv", "cluster", "nearest")[2], [("-1", "0"), ("-1", "1")])
        self.assertEqual(self.rows(run, "dwell_times.tsv", "cluster")[0], ("-1",))

    def test_atoms_are_those_of_the_medoids(self):
        medoids = frames_of("01", seed=5, noise=1.5)
        text = pdb_text(medoids).decode()
        only_ca = self.write("ca.pdb", "".join(line + "\n" for line in text.splitlines() if " CB " not in line).encode())
        everything = self.write("all.pdb", text.encode())
        path = self.trajectory("a.xtc", STATES, noise=2)
        run = self.cluster(path, "--assign", only_ca)
        selected = self.cluster(path, "--assign", everything, "--select", "ca", run="selected")
        self.assertEqual((run / "distances.tsv").read_bytes(), (selected / "distances.tsv").read_bytes())
        self.assertEqual(manifest(selected)["results"]["select"], "ca")
        # A run whose medoids have more atoms than were superposed.
        first = self.run_of(STATES, "--select", "ca", "--write", "all")
        self.assertEqual(len(models_of(first / "medoids.pdb")[0]), 6)
        run = self.cluster(path, "--assign", first)
        models = self.write("models.pdb", (first / "medoids.pdb").read_bytes())
        selected = self.cluster(path, "--assign", models, "--select", "ca", run="selected")
        self.assertEqual((run / "distances.tsv").read_bytes(), (selected / "distances.tsv").read_bytes())

    def test_any_number_of_threads_gives_the_same_bytes(self):
        medoids = self.write("given.pdb", pdb_text(frames_of("0120", seed=2, noise=2)))
        path = self.trajectory("a.xtc", STATES * 200, noise=2)
        runs = [self.cluster(path, "--assign", medoids, "--threads", threads, run=f"run{threads}") for threads in (1, 3)]
        for file in ("distances.tsv", "assignment.npy", "clusters.tsv", "histogram.tsv"):
            self.assertEqual((runs[0] / file).read_bytes(), (runs[1] / file).read_bytes(), file)

    def test_lists_and_estimates(self):
        first = self.run_of()
        two = self.trajectory("b.xtc", "00112", seed=7)
        done = pleat("cluster", self.folder / "a.xtc", two, "--each", "--topology", self.topology, "--assign", first, "-o",
                     self.folder / "runs", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = read_table(self.folder / "runs" / "jobs.tsv")
        self.assertEqual([(row["items"], row["clusters"]) for row in table], [("21", "3"), ("5", "3")])
        self.assertEqual(self.assignment(self.folder / "runs" / table[1]["name"]) if "name" in table[1] else [0, 0, 1, 1, 2],
                         [0, 0, 1, 1, 2])
        done = pleat("cluster", two, "--topology", self.topology, "--assign", first, "--estimate")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"5 frames, 6 atoms, 3 medoids", done.stdout)

    def test_refusals(self):
        first, path = self.run_of(), self.folder / "a.xtc"
        other = self.write("other.pdb", pdb_text(frames_of("0")).replace(b"ALA A", b"GLY A"))
        far = self.write("far.pdb", pdb_text(frames_of("0")).replace(b"ALA A   ", b"ALA A  9"))
        values = [x for atom in shapes()[0][:5] for x in atom]
        five = self.write("five.npy", npy((1, 5, 3), values))
        (self.folder / "empty").mkdir()
        done = pleat("rmsd", path, "--topology", self.topology, "-o", self.folder / "pairs", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        bare = self.cluster(path, "--cutoff", "2", "--structures", "none", run="bare")
        drmsd = pleat("rmsd", path, "--topology", self.topology, "--metric", "drmsd", "-o", self.folder / "drmsd", "-q")
        self.assertEqual(drmsd.returncode, 0, drmsd.stderr)
        other_distances = self.cluster(self.folder / "drmsd", "--cutoff", "2", run="of_drmsd")
        in_place = self.cluster(path, "--cutoff", "2", "--fit", "none", run="in_place")
        for code, words, *options in (
                (2, "leave --method, --k out: with --assign the clusters are given", first, "-m", "average", "--k", "2"),
                (2, "leave --symmetry out", first, "--symmetry", "chains"),
                (2, "leave --write-members out", first, "--write-members", "1"),
                (2, "give one --cutoff, not several", first, "--cutoff", "1:2:0.5"),
                (2, "--assign computes on CPUs: leave --device out", first, "--device", "cuda"),
                (2, "leave --select and --atom-weights out", first, "--select", "ca"),
                (3, "expected residues of the names in", other),
                (3, "found 6 of 6 that it lacks", far),
                (3, "expected 6 atoms", five),
                (3, "expected a run of 'pleat cluster', found one of 'pleat rmsd'", self.folder / "pairs"),
                (3, "expected medoids.pdb or medoids.cif, found none", bare),
                (3, "expected a run that superposed frames, without --symmetry, --fit none and --each-chain, found another", other_distances),
                (3, "expected a run that superposed frames, without --symmetry, --fit none and --each-chain", in_place),
                (3, "expected", self.folder / "empty"),
                (3, "nowhere.pdb", self.folder / "nowhere.pdb")):
            with self.subTest(words):
                self.cluster(path, "--assign", *options, run="refused", code=code)
                self.assertIn(words, self.told)
                self.assertEqual(self.told.count("\n"), 1, self.told)


if __name__ == "__main__":
    unittest.main()
