# Trajectories in pleat cluster: transitions and dwell times of made files whose states are known.
import random
import struct
import unittest

from program import ProgramTest, manifest, parse_npy, pleat, read_table
from test_cluster import npy, pdb_text

ATOMS = 6
TABLES = ("transition_probabilities.tsv", "dwell_times.tsv", "dwell_distribution.tsv")
# State 0 must be the largest, as clusters are numbered by their size.
STATES = "0001100200" "0111000022" "0"


def shapes(seed=3):
    source = random.Random(seed)
    return [[[source.gauss(0, 8) for _ in range(3)] for _ in range(ATOMS)] for _ in range(3)]


def frames_of(states, seed=4, noise=0.1):
    source = random.Random(seed)
    return [[[x + source.gauss(0, noise) for x in atom] for atom in shapes()[int(state)]] for state in states]


def xtc(frames, times):
    """Up to nine atoms are not packed."""
    data = b""
    for step, (frame, time) in enumerate(zip(frames, times)):
        data += struct.pack(">iiif9fi", 1995, len(frame), step, time, *[0.0] * 9, len(frame))
        data += struct.pack(f">{3 * len(frame)}f", *(x / 10 for atom in frame for x in atom))
    return data


class TrajectoryTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.topology = self.write("top.pdb", pdb_text(frames_of("0")))

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def trajectory(self, name, states, interval=20.0, start=0.0, **options):
        return self.write(name, xtc(frames_of(states, **options), [start + interval * n for n in range(len(states))]))

    def cluster(self, *arguments, run="run", code=0):
        if any(str(one).endswith(".xtc") for one in arguments):
            arguments = (*arguments, "--topology", self.topology)
        done = pleat("cluster", *arguments, "-o", self.folder / run, "-q", "--force")
        self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr)
        self.told = done.stderr.decode()
        return self.folder / run

    def assignment(self, run):
        return list(parse_npy((run / "assignment.npy").read_bytes())[1])

    def rows(self, run, file, *columns):
        return [tuple(row[name] for name in columns) for row in read_table(run / file)]


class States(TrajectoryTest):
    def test_counts_and_dwells_are_those_that_were_made(self):
        run = self.cluster(self.trajectory("a.xtc", STATES), "--cutoff", "2")
        self.assertEqual("".join(map(str, self.assignment(run))), STATES)
        self.assertEqual(self.rows(run, "dwell_times.tsv", "cluster", "frames", "visits", "mean", "median", "longest",
                                   "cut", "longest_cut", "mean_ps", "longest_ps"),
                         [("0", "13", "3", "3", "3", "4", "2", "3", "60", "80"),
                          ("1", "5", "2", "2.5", "2.5", "3", "0", "NA", "50", "60"),
                          ("2", "3", "2", "1.5", "1.5", "2", "0", "NA", "30", "40")])
        self.assertEqual(self.rows(run, "dwell_distribution.tsv", "cluster", "dwell", "visits", "cut"),
                         [("0", "1", "0", "1"), ("0", "2", "1", "0"), ("0", "3", "1", "1"), ("0", "4", "1", "0"),
                          ("1", "2", "1", "0"), ("1", "3", "1", "0"), ("2", "1", "1", "0"), ("2", "2", "1", "0")])
        self.assertEqual(self.rows(run, "transition_probabilities.tsv", "from", "to", "count", "from_count", "probability"),
                         [("0", "0", "8", "12", "0.666667"), ("0", "1", "2", "12", "0.166667"),
                          ("0", "2", "2", "12", "0.166667"), ("1", "0", "2", "5", "0.4"), ("1", "1", "3", "5", "0.6"),
                          ("2", "0", "2", "3", "0.666667"), ("2", "2", "1", "3", "0.333333")])
        self.assertEqual(self.rows(run, "transitions.tsv", "from", "to", "count"),
                         self.rows(run, "transition_probabilities.tsv", "from", "to", "count"))
        self.assertEqual(manifest(run)["results"]["trajectory"], "yes")
        self.assertAlmostEqual(manifest(run)["results"]["ps_per_frame"], 20, places=4)

    def test_several_files_a_range_with_a_step_and_a_lag(self):
        one, two = self.trajectory("a.xtc", STATES), self.trajectory("b.xtc", "0111100000", start=1e5)
        run = self.cluster(one, two, "--cutoff", "2", "--frames", "1::2", "--lag", "2")
        kept = (STATES + "0111100000")[1::2]
        self.assertEqual(kept, "0102011002" "01100")
        self.assertEqual("".join(map(str, self.assignment(run))), kept)
        self.assertEqual(self.rows(run, "series.tsv", "first", "frames", "file", "frame_of_file", "step"),
                         [("0", "10", str(one), "1", "2"), ("10", "5", str(two), "0", "2")])
        expected = {}
        for part in (kept[:10], kept[10:]):
            for step in zip(part, part[2:]):
                expected[step] = expected.get(step, 0) + 1
        self.assertEqual({row[:2]: int(row[2]) for row in
                          self.rows(run, "transition_probabilities.tsv", "from", "to", "count")}, expected)
        self.assertEqual(sum(int(row[0]) for row in self.rows(run, "transitions.tsv", "count")), 13)
        self.assertEqual(self.rows(run, "dwell_times.tsv", "cluster", "frames", "visits", "mean", "mean_ps", "cut"),
                         [("0", "8", "3", "1.33333", "53.3333", "3"), ("1", "5", "3", "1.66667", "66.6667", "0"),
                          ("2", "2", "1", "1", "40", "1")])

    def test_a_lag_that_no_series_has_is_refused(self):
        files = [self.trajectory("a.xtc", STATES), self.trajectory("b.xtc", "0111")]
        self.cluster(*files, "--cutoff", "2", "--lag", "20", run="longest")
        self.cluster(*files, "--cutoff", "2", "--lag", "21", run="longer", code=3)
        self.assertIn("expected a series of more than 21 frames for --lag 21, found at most 21 frames in a row", self.told)

    def test_noise_is_a_state_of_its_own(self):
        run = self.cluster(self.trajectory("a.xtc", "0001200100"), "-m", "dbscan", "--cutoff", "2", "--min-neighbours", "3")
        self.assertEqual(self.assignment(run), [0, 0, 0, -1, -1, 0, 0, -1, 0, 0])
        self.assertEqual(self.rows(run, "dwell_times.tsv", "cluster", "frames", "visits", "mean", "cut"),
                         [("-1", "3", "2", "1.5", "0"), ("0", "7", "1", "2", "2")])
        self.assertIn(("-1", "0", "2", "3"),
                      self.rows(run, "transition_probabilities.tsv", "from", "to", "count", "from_count"))

    def test_models_are_no_trajectory_unless_the_user_says_so(self):
        path = self.write("models.pdb", pdb_text(frames_of(STATES)))
        run = self.cluster(path, "--cutoff", "2")
        self.assertEqual(manifest(run)["results"]["trajectory"], "no")
        self.assertFalse([name for name in TABLES if (run / name).exists()])
        self.assertTrue((run / "transitions.tsv").exists())
        self.assertEqual(self.rows(run, "series.tsv", "frames", "file"), [("21", str(path))])
        self.cluster(path, "--cutoff", "2", "--lag", "2", code=3)
        self.assertIn("expected a trajectory for --lag (DCD, XTC, TRR or AMBER NetCDF), found other files: --timestep", self.told)
        run = self.cluster(path, "--cutoff", "2", "--timestep", "5")
        self.assertEqual(self.rows(run, "dwell_times.tsv", "mean", "mean_ps")[0], ("3", "15"))
        for n in range(3):
            self.write(f"folder{n}.pdb", pdb_text(frames_of("0")))
        self.cluster(*(self.folder / f"folder{n}.pdb" for n in range(3)), "--cutoff", "2", "--timestep", "5", code=3)
        self.assertIn("expected files with several frames for --lag and --timestep, found none", self.told)

    def test_items_of_a_matrix_are_in_order_of_time_if_the_user_says_so(self):
        values = [abs(a - b) for n, a in enumerate(map(int, STATES)) for b in map(int, STATES[n + 1:])]
        path = self.write("line.npy", npy((len(values),), values))
        run = self.cluster(path, "--cutoff", "0.5")
        self.assertEqual(manifest(run)["results"]["trajectory"], "no")
        run = self.cluster(path, "--cutoff", "0.5", "--timestep", "2")
        self.assertEqual(self.rows(run, "dwell_times.tsv", "mean_ps", "longest_ps")[0], ("6", "8"))

    def test_a_finished_run_knows_its_trajectory(self):
        done = pleat("rmsd", self.trajectory("a.xtc", STATES), "--topology", self.topology, "-o", self.folder / "pairs", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        run = self.cluster(self.folder / "pairs", "--cutoff", "2")
        self.assertEqual(self.rows(run, "dwell_times.tsv", "mean_ps")[0], ("60",))

    def test_times_that_are_not_even_or_not_those_given_are_told(self):
        path = self.write("odd.xtc", xtc(frames_of(STATES), [0, 20, *range(30, 30 + 10 * 19, 10)]))
        run = self.cluster(path, "--cutoff", "2")
        self.assertIn("dwell times are in frames only, since the times in the files are not at equal distances",
                      (run / "log.txt").read_text())
        self.assertEqual(self.rows(run, "dwell_times.tsv", "mean", "mean_ps")[0], ("3", "NA"))
        run = self.cluster(path, "--cutoff", "2", "--timestep", "10")
        self.assertEqual(self.rows(run, "dwell_times.tsv", "mean_ps")[0], ("30",))
        self.assertNotIn("--timestep;", (run / "log.txt").read_text())
        run = self.cluster(self.trajectory("a.xtc", STATES), "--cutoff", "2", "--timestep", "10")
        self.assertIn("10 ps from one frame to the next, by --timestep; by the files 20", (run / "log.txt").read_text())
        late = self.trajectory("late.xtc", STATES, interval=100, start=1e6)  # float32 holds such times to 0.06 ps
        run = self.cluster(late, "--cutoff", "2")
        self.assertEqual(self.rows(run, "dwell_times.tsv", "mean_ps")[0], ("300",))


if __name__ == "__main__":
    unittest.main()
