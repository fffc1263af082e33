# Each kind of failure has its exit code, one line on stderr, and leaves no half-written files.
import gzip
import os
import re
import resource
import unittest
from random import Random

from program import DATA, ProgramTest, manifest, matrix, pleat, read_npz, read_rows, results, small_rows, written

CHEY = DATA / "cheY.aln.gz"


def limited(kind, bytes_):
    """A function that limits the child before it starts."""
    def limit():
        resource.setrlimit(kind, (bytes_, bytes_))
    return limit


class Usage(ProgramTest):
    def test_refusals(self):
        family = self.write_alignment(small_rows(20))
        run = ("-o", self.folder / "deep" / "run")
        for arguments, text in (
                ((family,), "--output"),
                (run, "ALIGNMENT"),
                ((family, *run, "--tolerance", "0"), "--tolerance: expected a number >= 1e-09"),
                ((family, *run, "--max-iterations", "-3"), "--max-iterations: expected a whole number >= 1 and <= 1000000000, found '-3'"),
                ((family, *run, "-w", "1.5"), "--identity"),
                ((family, *run, "-l", "nan"), "--lambda-pair"),
                ((family, *run, "-t", "0"), "--threads"),
                ((family, *run, "--format", "xml"), "--format: expected one of"),
                ((family, *run, "--device", "gpu"), "--device: expected reference, cpu, cuda"),
                ((family, *run, "--row", "nobody"), "found 'nobody'"),
                ((family, *run, "--contact", "heavy"),
                 "--contact needs a structure to measure in; give --structure"),
                ((family, *run, "--contact-cutoff", "6"), "--contact-cutoff needs a structure"),
                ((family, family, *run, "--contact-cutoff", "6"), "--contact-cutoff needs a structure"),
                ((family, "--extra", *run), "--extra"),
                ((family, *run, "--row", "a", "--row", "b"), "give --row once; 'pleat help couplings' shows"),
                ((family, *run, "--weights"), "weights")):
            with self.subTest(arguments):
                self.assert_refused(pleat("couplings", *arguments), 2, text)
                self.assertFalse((self.folder / "deep").exists())

    def test_results_need_a_name(self):
        family = self.write_alignment(small_rows(20))
        for command in ("couplings", "mi", "rmsd", "cluster", "saxs", "report"):
            with self.subTest(command):
                done = pleat(command, family, "-o", "", cwd=self.folder)
                self.assert_refused(done, 2, "--output: expected a name, found none")
                self.assertEqual(os.listdir(self.folder), [family.name])
        # An empty text would stand for an option left out: all atoms, pairs instead of one structure.
        for option in ("measure", "against", "reference", "topology", "atom-weights"):
            with self.subTest(option):
                done = pleat("rmsd", family, "-o", self.folder / "run", f"--{option}", "")
                self.assert_refused(done, 2, f"--{option}: expected a name, found none")

    def test_results_cannot_go_to_standard_output(self):
        family = self.write_alignment(small_rows(20))
        for command in ("couplings", "mi", "rmsd", "cluster", "saxs", "report", "manual"):
            with self.subTest(command):
                done = pleat(command, family, "-o", "-", cwd=self.folder)
                self.assert_refused(done, 2, "--output: results cannot go to standard output")
                self.assertEqual(os.listdir(self.folder), [family.name])

    def test_a_name_that_different_rows_bear_is_no_choice(self):
        first, second = small_rows(20)[:2]
        family = self.folder / "family.fasta"
        family.write_text("".join(f">{name}\n{row}\n" for name, row in
                                  (("a", first), ("b", second), ("a", second))), encoding="ascii")
        done = pleat("couplings", family, "-o", self.folder / "run", "--row", "a")
        self.assert_refused(done, 2, "'a' on the rows 1 and 3, which differ")
        done = pleat("mi", family, "-o", self.folder / "run", "--contact", "cb")
        self.assert_refused(done, 2, "--contact needs a structure")
        self.assertEqual(manifest(self.fit(family, "--row", "b", run="b"))["results"]["reference_row"], "b")

    def test_environment(self):
        family = self.write_alignment(small_rows(20))
        for name, value, text in (("PLEAT_THREADS", "many", "--threads"),
                                  ("PLEAT_DEVICE", "gpu", "--device"),
                                  ("PLEAT_SIMD", "mmx", "PLEAT_SIMD: expected one of")):
            with self.subTest(name):
                done = pleat("couplings", family, "-o", self.folder / "run", environment={name: value})
                self.assert_refused(done, 2, text, f"'{value}'")
                self.assertFalse((self.folder / "run").exists())
        run = self.fit(family, environment={"PLEAT_THREADS": "3", "PLEAT_SIMD": "baseline"})
        self.assertEqual(manifest(run)["threads"], 3)
        self.assertNotIn(manifest(run)["instruction_set"], ("avx512", "avx2"))
        run = self.fit(family, "-t", "2", run="other", environment={"PLEAT_THREADS": "3"})
        self.assertEqual(manifest(run)["threads"], 2)

    def test_processes_of_a_launch_that_cannot_become_ranks(self):
        family = self.write_alignment(small_rows(20))
        for rank in ("0", "1"):
            launch = {"PMI_RANK": rank, "PMI_SIZE": "2"}
            done = pleat("couplings", family, "-o", self.folder / "run", environment=launch)
            if rank == "0":
                self.assert_refused(done, 2, "found", "set PLEAT_RANKS=off")
            else:  # the first one tells
                self.assertEqual((done.returncode, done.stdout, done.stderr), (2, b"", b""))
            self.assertFalse((self.folder / "run").exists())
        run = self.fit(family, environment={**launch, "PLEAT_RANKS": "off"})
        self.assertEqual(manifest(run)["ranks"], 1)

    def test_a_folder_in_use_is_not_overwritten(self):
        family = self.write_alignment(small_rows(20))
        run = self.fit(family)
        before = (run / "manifest.json").read_bytes()
        self.assert_refused(pleat("couplings", family, "-o", run), 2, "finished run", "--force")
        self.assertEqual((run / "manifest.json").read_bytes(), before)
        first = written(run / "manifest.json")  # the new text may be equal within a second
        self.fit(family, "--force")
        self.assertNotEqual(written(run / "manifest.json"), first)
        foreign = self.folder / "foreign"
        foreign.mkdir()
        (foreign / "notes.txt").write_text("mine", encoding="ascii")
        self.assert_refused(pleat("couplings", family, "-o", foreign), 2, "--force")
        self.assertEqual([path.name for path in foreign.iterdir()], ["notes.txt"])


def as_nobody():
    """Makes the child a user for whom modes of files count."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


class System(ProgramTest):
    def test_a_folder_that_may_not_be_entered_is_told(self):
        try:
            pleat("version", preexec_fn=as_nobody)
        except PermissionError:
            self.skipTest("only root may enter the folder of the program")
        self.folder.chmod(0o777)
        shut = self.folder / "shut"
        (shut / "run").mkdir(parents=True)
        shut.chmod(0)
        self.addCleanup(shut.chmod, 0o700)
        for command, name in (("report", "run"), ("rmsd", "models.pdb"), ("cluster", "run"),
                              ("saxs", "models.pdb"), ("couplings", "family.aln")):
            with self.subTest(command):
                done = pleat(command, shut / name, "-o", self.folder / "results", "-q", preexec_fn=as_nobody,
                             *(["--cutoff", "2"] if command == "cluster" else []))
                self.assert_refused(done, 3, str(shut / name), "Permission denied")
                self.assertFalse((self.folder / "results").exists())

    def test_a_loop_of_links_is_told(self):
        family = self.write_alignment(small_rows(20))
        loop = self.folder / "loop"
        loop.symlink_to(loop)
        for code, arguments in ((3, ("report", loop, "-o", self.folder / "page.html")),
                                (3, ("couplings", loop, "-o", self.folder / "run")),
                                (3, ("rmsd", loop, "-o", self.folder / "run")),
                                (3, ("rmsd", f"@{loop}", "-o", self.folder / "run")),
                                (3, ("couplings", family, "-i", loop, "-o", self.folder / "run")),
                                (5, ("couplings", family, "-o", loop)),
                                (5, ("couplings", family, "-o", loop / "run"))):
            with self.subTest(arguments):
                self.assert_refused(pleat(*arguments, "-q"), code, "Too many levels of symbolic links")
                self.assertFalse((self.folder / "run").exists())

    def test_a_folder_given_as_a_file_is_told(self):
        family = self.write_alignment(small_rows(20))
        models, folder, run = DATA / "1hel.pdb.gz", self.folder / "empty", self.folder / "run"
        folder.mkdir()
        for arguments in (("couplings", folder), ("couplings", family, "--initial", folder),
                          ("couplings", "--list", folder), ("couplings", family, "--structure", folder),
                          ("mi", folder), ("rmsd", f"@{folder}"), ("rmsd", models, "--topology", folder),
                          ("rmsd", models, "--reference", folder), ("rmsd", models, "--against", folder),
                          ("rmsd", models, "--atom-weights", folder), ("saxs", models, "--data", folder),
                          ("cluster", folder, "--cutoff", "2"),
                          ("report", folder), ("select", "-e", models, "--contacts", folder),
                          ("select", "-e", models, "--data", folder)):
            with self.subTest(arguments):
                self.assert_refused(pleat(*arguments, "-o", run, "-q"), 3, str(folder))
                self.assertFalse(run.exists())

    @unittest.skipIf(os.environ.get("PLEAT_SANITIZED"), "sanitizers open files of their own")
    def test_too_few_files_are_no_bug(self):
        family = self.write_alignment(small_rows(20))
        codes = set()
        for files in range(4, 13):
            done = pleat("couplings", family, "-o", self.folder / f"run{files}", "-q",
                         preexec_fn=limited(resource.RLIMIT_NOFILE, files))
            codes.add(done.returncode)
            if done.returncode not in (0, 127):  # 127: not even the program's libraries were read
                self.assertIn(done.returncode, (4, 5), done.stderr)
                self.assertIn(b"Too many open files", done.stderr)
                self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertGreater(len(codes), 1, "expected refusals and success")

    def test_a_pipe_is_no_start(self):
        family = self.write_alignment(small_rows(20))
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        done = pleat("couplings", family, "-o", self.folder / "run", "-q", "-i", pipe)
        self.assert_refused(done, 3, "expected a regular file, found a folder, device or pipe")


class Input(ProgramTest):
    def test_missing_and_wrong_files(self):
        family = self.write_alignment(small_rows(20))
        run = ("-o", self.folder / "deep" / "run")
        no_structure = self.write_alignment(["nothing here"], "no.pdb")
        for arguments, text in (
                ((self.folder / "absent.aln", *run), "absent.aln"),
                ((self.folder, *run), str(self.folder)),
                ((family, *run, "--structure", self.folder / "absent.pdb"), "absent.pdb"),
                ((family, *run, "--structure", no_structure), "no.pdb"),
                ((family, *run, "--structure", f"{DATA / '1ql9_A.pdb.gz'}:Q"), "'Q'"),
                ((family, *run, "--initial", family), "family.aln"),
                ((family, *run, "--max-gaps", "0", "--min-coverage", "1"), "expected")):
            with self.subTest(arguments):
                if "--min-coverage" in arguments:
                    rows = ["-CDEFG", "A-DEFG", "AC-EFG", "ACD-FG", "ACDE-G", "ACDEF-"]
                    arguments = (self.write_alignment(rows, "gaps.aln"), *arguments[1:])
                self.assert_refused(pleat("couplings", *arguments, "-q"), 3, text)
                self.assertFalse((self.folder / "deep").exists())

    def test_an_earlier_run_of_other_columns_is_no_start(self):
        earlier = self.fit(self.write_alignment(small_rows(20, columns=12)), "--models", "npz")
        family = self.write_alignment(small_rows(20, columns=14), "other.aln")
        done = pleat("couplings", family, "-o", self.folder / "second", "-q",
                     "-i", earlier / "couplings.npz")
        self.assert_refused(done, 3, "couplings.npz", "expected shape 14 x 21", "found 12 x 21")
        self.assertFalse((self.folder / "second").exists())


class Device(ProgramTest):
    def test_an_absent_device_never_falls_back(self):
        family = self.write_alignment(small_rows(20))
        done = pleat("couplings", family, "-o", self.folder / "run", "--device", "cuda:99",
                     "-q")
        self.assert_refused(done, 4, "CUDA", "cuda:99", "leave --device out")
        self.assertFalse((self.folder / "run").exists())

    def test_an_absent_gpu_is_refused_before_the_memory_is_counted(self):
        family = self.write_alignment(small_rows(20))
        done = pleat("couplings", family, "-o", self.folder / "run", "--device", "cuda:99")
        self.assertNotIn(b"needs", done.stderr)
        self.assertIn(b"cuda:99", done.stderr)
        self.assertEqual(done.returncode, 4)

    @unittest.skipIf(os.environ.get("PLEAT_SANITIZED"), "sanitizers need memory of their own")
    def test_the_announced_memory_covers_the_peak(self):
        random = Random(1)
        for rows, columns in ((12000, 40), (60, 240)):
            family = self.write_alignment(["".join(random.choices("ACDEFGHIKLMNPQRSTVWY-", k=columns))
                                           for _ in range(rows)])
            done = pleat("couplings", family, "-o", self.folder / "run", "-f", "-t", "2", "-d", "cpu",
                         "--max-iterations", "1")
            self.assertEqual(done.returncode, 0, done.stderr)
            found = re.search(r"needs ([0-9.]+) ([MG])iB of ", done.stderr.decode())
            needed = float(found[1]) * (1 << (20 if found[2] == "M" else 30))
            peak = manifest(self.folder / "run")["peak_memory_bytes"]
            self.assertLessEqual(peak, needed, f"{rows} x {columns}")
            self.assertGreater(1.1 * peak + (24 << 20), needed, f"{rows} x {columns}")

    @unittest.skipIf(os.environ.get("PLEAT_SANITIZED"), "sanitizers take terabytes of address space")
    def test_short_memory_shortens_the_history(self):
        family = self.write_alignment([row * 2 for row in read_rows()[:60]])
        options = ("-t", "1", "-d", "cpu", "-f")

        def fit(mebibytes):
            # One arena: others, which threads may or may not make, take 64 MiB of address space each.
            done = pleat("couplings", family, "-o", self.folder / "run", *options,
                         environment={"MALLOC_ARENA_MAX": "1"},
                         preexec_fn=limited(resource.RLIMIT_AS, mebibytes << 20))
            self.assertEqual(done.returncode, 0, done.stderr)
            found = re.search(r"needs ([0-9.]+) MiB of ([0-9.]+) (M|G)iB", done.stderr.decode())
            needed, free = float(found[1]), float(found[2]) * (1 if found[3] == "M" else 1024)
            scores = matrix(*read_npz(self.folder / "run" / "scores.npz")["corrected"])
            return needed, free, scores, done.stderr.decode()

        # Free memory is printed with one digit: in MiB, finely enough, below 1 GiB only.
        needed, free, _, _ = fit(4000)
        enough = 4000 - int(free) + int(needed) + 150
        needed, free, expected, text = fit(enough)
        self.assertLess(free, 1024)
        self.assertNotIn("memory is short", text)
        tight = enough - int(free - 0.8 * needed)
        less, _, scores, text = fit(tight)
        self.assertIn("memory is short: L-BFGS keeps ", text)
        self.assertLess(less, 0.9 * needed)
        most = max(map(max, expected))
        for row, wanted in zip(scores, expected):
            for score, value in zip(row, wanted):
                self.assertAlmostEqual(score, value, delta=0.04 * most)
        self.assertEqual(fit(tight)[2], scores)

    @unittest.skipIf(os.environ.get("PLEAT_SANITIZED"), "sanitizers take terabytes of address space")
    def test_too_little_memory_says_what_would_fit(self):
        rows = [row * 8 for row in read_rows()[:100]]
        family = self.write_alignment(rows)
        limit = limited(resource.RLIMIT_AS, 1500 << 20)
        done = pleat("couplings", family, "-o", self.folder / "run", "-q", "-t", "1",
                     preexec_fn=limit)
        self.assert_refused(done, 4, "1008 columns", "needed", "available", "would fit")
        self.assertFalse((self.folder / "run").exists())


class Output(ProgramTest):
    def test_a_folder_that_cannot_be_made(self):
        family = self.write_alignment(small_rows(20))
        done = pleat("couplings", family, "-o", "/proc/pleat/run", "-q")
        self.assert_refused(done, 5, "/proc/pleat/run", "cannot be created")

    def test_a_full_disk_leaves_whole_files_only(self):
        family = self.write_alignment(small_rows(100))
        whole = self.fit(family, "--models", "npz", run="whole")
        run = self.folder / "run"
        done = pleat("couplings", family, "-o", run, "-q", "--models", "npz",
                     preexec_fn=limited(resource.RLIMIT_FSIZE, 200_000))
        self.assert_refused(done, 5, "couplings.npz", "File too large")
        for path in run.iterdir():
            self.assertFalse(path.name.endswith(".pleat-part"), path)
            if path.name not in ("manifest.json", "log.txt", ".pleat-lock"):
                self.assertEqual(path.read_bytes(), (whole / path.name).read_bytes(), path.name)
        self.assertEqual(manifest(run)["status"], "unfinished")
        self.fit(family, "--models", "npz")
        self.assertEqual(manifest(run)["status"], "finished")

    def test_a_full_disk_leaves_the_run_that_force_was_to_replace(self):
        family = self.write_alignment(small_rows(100))
        run = self.fit(family)
        before = {path.name: path.read_bytes() for path in run.iterdir()}
        done = pleat("couplings", family, "-o", run, "-q", "--force", "-w", "0.7", "--models", "npz",
                     preexec_fn=limited(resource.RLIMIT_FSIZE, 200_000))
        self.assert_refused(done, 5, "couplings.npz", "File too large")
        after = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}
        self.assertEqual({name: after.get(name) for name in before}, before)
        self.fit(family, "--force", "-w", "0.7")
        self.assertEqual(results(run), results(self.fit(family, "-w", "0.7", run="whole")))

    def test_a_summary_that_cannot_be_written(self):
        family = self.write_alignment(small_rows(20))
        with open("/dev/full", "wb") as full:
            done = pleat("couplings", family, "-o", self.folder / "run", stdout=full)
        self.assertEqual(done.returncode, 5)
        self.assertIn(b"standard output: cannot be written", done.stderr)
        self.assertEqual(manifest(self.folder / "run")["status"], "finished")


class Real(ProgramTest):
    def test_an_early_end_is_told(self):
        family = self.write_alignment(small_rows(40))
        done = pleat("couplings", family, "-o", self.folder / "run", "--max-iterations", "2")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"the fit ended early (iteration limit): its certified gap is", done.stderr)
        self.assertIn(b"(iteration limit)", done.stdout)
        self.assertEqual(manifest(self.folder / "run")["results"]["iterations"], 2)

    def test_a_cut_archive_is_told_by_line(self):
        cut = self.folder / "cut.aln.gz"
        cut.write_bytes(CHEY.read_bytes()[:20_000])
        done = pleat("couplings", cut, "-o", self.folder / "run")
        self.assert_refused(done, 3, "cut.aln.gz:", "cut short")

    def test_progress_is_on_stderr_only(self):
        family = self.folder / "family.fasta.gz"
        records = "".join(f">s{n} x\n{row}\n" for n, row in enumerate(small_rows(20)))
        family.write_bytes(gzip.compress(records.encode()))
        done = pleat("couplings", family, "-o", self.folder / "run", "-v")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, rb"fit: .*certified gap [0-9.e-]+, goal 1\.0e-0[0-9]")
        self.assertIn(b"device cpu", done.stderr)
        self.assertNotIn(b"fit: ", done.stdout)
        self.assertIn(b"20 sequences", done.stdout)
        self.assertIn(b"10 strongest contacts of s0", done.stdout)
        self.assertIn(str(self.folder / "run").encode(), done.stdout)


if __name__ == "__main__":
    unittest.main()
