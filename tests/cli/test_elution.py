# Elutions: frames of a made chromatography, whose buffer, sample and Rg are known.
"""Needs PLEAT_PROGRAM."""
import math
import random
import shutil
import unittest

from program import DATA, ProgramTest, manifest, pleat, read_table

GYRATION_RADIUS = 28.0
PEAK = 40


def write_frames(folder, count=80, step=0.0025):
    """A particle that leaves the column at frame PEAK, in a buffer, with noise."""
    noise = random.Random(7)
    folder.mkdir()
    for frame in range(count):
        height = 2 * math.exp(-((frame - PEAK) / 5) ** 2 / 2)
        lines = ["# q intensity error"]
        for k in range(120):
            q = 0.01 + step * k
            value = 1.5 + height * math.exp(-((q * GYRATION_RADIUS) ** 2) / 3)
            lines.append(f"{q:.5f} {value + 0.01 * noise.gauss(0, 1):.6f} 0.01")
        (folder / f"frame_{frame:03d}.dat").write_text("\n".join(lines) + "\n", encoding="ascii")
    return sorted(str(path) for path in folder.iterdir())


class Elution(ProgramTest):
    def setUp(self):
        super().setUp()
        self.frames = write_frames(self.folder / "frames")
        self.run_folder = self.folder / "run"

    def run_elution(self, *words, frames=None):
        return pleat("saxs", "--data", *(frames or self.frames), "--elution", "--q-unit", "1/angstrom", *words,
                     "-o", self.run_folder)

    def test_buffer_and_sample_are_found_and_subtracted(self):
        done = self.run_elution()
        self.assertEqual(done.returncode, 0, done.stderr)
        use = [row["use"] for row in read_table(self.run_folder / "elution.tsv")]
        self.assertEqual(len(use), 80)
        self.assertEqual(use[PEAK], "sample")
        self.assertGreaterEqual(use.count("buffer"), 15)
        buffer = [frame for frame, name in enumerate(use) if name == "buffer"]
        self.assertTrue(all(abs(frame - PEAK) > 12 for frame in buffer), buffer)
        results = manifest(self.run_folder)["results"]
        self.assertAlmostEqual(results["rg"], GYRATION_RADIUS, delta=4 * results["rg_error"])
        for name in ("subtracted.dat", "buffer.dat", "elution.npy", "pr.tsv", "analysis.tsv"):
            self.assertTrue((self.run_folder / name).is_file(), name)
        self.assertIn(b"Elution of 80 frames: buffer", done.stdout)

    def test_given_ranges_are_taken(self):
        done = self.run_elution("--buffer-frames", "2:12", "--sample-frames", "38:43")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"buffer 2 to 11, sample 38 to 42", done.stdout)

    def test_impossible_requests_are_one_line(self):
        for words, frames, code, text in (
                (["--buffer-frames", "90:95"], None, 2, "expected FIRST:END of 80 frames"),
                (["--concentration", "2"], None, 2, "not known of the frames of an elution"),
                (["--buffer-frames", "0:40", "--sample-frames", "30:50"], None, 2, "that do not overlap"),
                ([], self.frames[:6], 3, "expected 10 frames of an elution or more, found 6"),
                ([], self.frames[:20], 3, "with a peak, found none")):
            done = self.run_elution("-q", *words, frames=frames)
            self.assert_refused(done, code, text)
        other = write_frames(self.folder / "other", 1, step=0.0026)
        done = self.run_elution("-q", frames=self.frames + other)
        self.assert_refused(done, 3, "expected the same q as in")

    def test_a_list_of_curves_is_one_table(self):
        curves = "".join(f"{path}\n" for path in self.frames[PEAK - 1:PEAK + 2])
        listed = self.folder / "list.txt"
        listed.write_text("data\n" + curves, encoding="ascii")
        (self.folder / "data").mkdir()  # is no input
        done = pleat("saxs", "--list", listed, "-o", self.run_folder, "-q", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = read_table(self.run_folder / "jobs.tsv")
        self.assertEqual([row["status"] for row in rows], ["done"] * 3)
        self.assertTrue(all(float(row["guinier_rg"]) > 0 for row in rows), rows)
        (self.folder / "m2").mkdir()
        listed.write_text("data\nm2\n", encoding="ascii")  # two folders of structures
        done = pleat("saxs", "--list", listed, "-o", self.folder / "folders", "-q", cwd=self.folder)
        self.assertIn(b"data: expected a folder with coordinate files", done.stderr)
        listed.write_text(curves, encoding="ascii")  # structures
        done = pleat("saxs", "--list", listed, "-o", self.folder / "structures", "-q")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"expected a structure, found a curve", done.stderr)

    def test_folders_and_lists_stand_for_their_curves(self):
        folder, listed = self.folder / "sample", self.folder / "list.txt"
        folder.mkdir()
        for number, path in zip((10, 2, 1), self.frames[PEAK - 1:PEAK + 2]):
            shutil.copy(path, folder / f"c{number}.dat")
        (folder / "notes.md").write_text("no curve\n", encoding="ascii")
        listed.write_text("".join(f"{folder}/c{number}.dat\n" for number in (2, 1)), encoding="ascii")
        for given, names in (([folder], ["c1", "c2", "c10"]), ([f"@{listed}"], ["c2", "c1"]),
                             ([folder, self.frames[PEAK + 3]], ["c1", "c2", "c10", f"frame_0{PEAK + 3}"])):
            done = pleat("saxs", "--data", *given, "-o", self.run_folder, "-q", "-f")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([row["curve"] for row in read_table(self.run_folder / "analysis.tsv")][:-1],
                             [f"{name}.dat" for name in names])
        self.assertEqual(len(manifest(self.run_folder)["inputs"]), 4)
        done = self.run_elution("--buffer-frames", "2:12", "--sample-frames", "38:43", "-f", frames=[self.folder / "frames"])
        self.assertIn(b"buffer 2 to 11, sample 38 to 42", done.stdout)
        empty = self.folder / "empty"
        empty.mkdir()
        for given, code, text in (([empty], 3, "expected a folder with curves (.dat, .txt"),
                                  (["@nowhere"], 3, "nowhere: expected a file"),
                                  ([folder, DATA / "1hel.pdb.gz"], 3, "expected one curve for a structure, found several"),
                                  ([f"@{listed}", DATA / "1hel.pdb.gz"], 3, "expected one curve for a structure, found several")):
            self.assert_refused(pleat("saxs", "--data", *given, "-o", self.folder / "other", "-q"), code, text)

    def test_numbers_that_a_curve_does_not_determine_are_na(self):
        short = self.folder / "short.dat"
        with open(self.frames[PEAK], encoding="ascii") as file:
            short.write_text("".join(file.readlines()[:31]), encoding="ascii")
        done = pleat("saxs", "--data", short, "--sweep", "q-max=0.4", "-o", self.run_folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(manifest(self.run_folder / "short.dat" / "q-max=0.4")["results"]["mass_vp"], "nan")
        self.assertEqual(read_table(self.run_folder / "jobs.tsv")[0]["mass_vp"], "NA")
        self.assertNotIn(b"nan", done.stdout + done.stderr)

    def test_options_of_structures_and_of_curves_exclude_each_other(self):
        self.assert_refused(pleat("saxs", "--data", self.frames[0], "--model", "two-bead", "-o", self.run_folder, "-q"),
                            2, "leave --model out: it is for structures")
        self.assert_refused(pleat("saxs", self.folder / "frames", "--elution", "-o", self.run_folder, "-q"),
                            2, "leave --elution out: it is for curves without a structure")

    def test_curves_of_one_sample_are_each_given_once_and_at_their_own_q(self):
        one, other = self.frames[PEAK:PEAK + 2]
        run = self.run_folder
        self.assert_refused(pleat("saxs", "--data", one, one, "-o", run, "-q"), 3, "found the same intensities")
        self.assert_refused(pleat("saxs", "--data", one, other, "--each", "-o", run, "-q"), 2, "leave --each out")
        short = self.folder / "short.dat"
        lines = open(other, encoding="ascii").read().splitlines()
        short.write_text("\n".join(lines[:-3]) + "\n", encoding="ascii")
        done = pleat("saxs", "--data", one, short, "-o", run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"joined at the 117 q that all have", done.stderr)
        self.assertEqual([row["curve"] for row in read_table(run / "analysis.tsv")][-1], "average")
        self.assertFalse((run / "short.dat.dat").exists())

    def test_a_curve_that_no_pair_distances_fit_has_no_shape(self):
        lines = open(self.frames[PEAK], encoding="ascii").read().splitlines()
        cells = [[float(cell) for cell in line.split()] for line in lines[1:]]
        bent = self.folder / "bent.dat"
        bent.write_text("".join(f"{q} {i * (1.2 if 40 < k < 60 else 1)} {e / 5}\n" for k, (q, i, e) in enumerate(cells)),
                        encoding="ascii")
        done = pleat("saxs", "--data", bent, "-o", self.run_folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"Shape: not known: P(r) does not fit the curve", done.stdout)
        told = [note["text"] for note in manifest(self.run_folder)["notes"]]
        self.assertTrue(any("times as large as given" in text for text in told), told)

    def test_pair_distances_are_a_curve_that_can_be_fitted(self):
        curve = DATA / "1hel_made.dat.gz"
        self.assertEqual(pleat("saxs", "--data", curve, "-o", self.run_folder, "-q").returncode, 0)
        fit = self.folder / "fit"
        done = pleat("saxs", DATA / "1hel.pdb.gz", "--data", self.run_folder / "pr.out", "-o", fit)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"(197 points)", done.stdout)
        self.assertLess(manifest(fit)["results"]["chi2"], 1.2)

    def test_a_sample_without_signal_is_told(self):
        done = pleat("saxs", "--data", *self.frames, "--elution", "--buffer-frames", "0:10", "--sample-frames", "10:14",
                     "-o", self.run_folder)
        self.assertIn(b"differ from the buffer by only", done.stderr)


if __name__ == "__main__":
    unittest.main()
