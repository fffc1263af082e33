# Many families in one call: a run each, finished ones skipped, broken ones told, stopped ones going on.
import gzip
import os
import resource
import signal
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest, clean_environment, manifest, pleat, read_table, results, \
    small_rows


def limited(bytes_):
    """A function that limits the child's address space before it starts."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))


class Families(ProgramTest):
    def setUp(self):
        super().setUp()
        (self.folder / "in").mkdir()
        self.paths = [self.write_alignment(small_rows(60 + 40 * k, 4, 20 + 4 * k), f"in/f{k}.aln")
                      for k in range(3)]
        packed = self.folder / "in" / "packed.fasta.gz"
        records = "".join(f">s{n}\n{row}\n" for n, row in enumerate(small_rows(80, 8, 30)))
        packed.write_bytes(gzip.compress(records.encode()))
        self.paths.append(packed)
        self.names = ["f0", "f1", "f2", "packed"]
        self.runs = self.folder / "runs"

    def fit_all(self, *arguments, **options):
        return pleat("couplings", *arguments, "-o", self.runs, **options)

    def table(self):
        return {row["name"]: row for row in read_table(self.runs / "jobs.tsv")}

    def status(self):
        return {name: row["status"] for name, row in self.table().items()}

    def assert_ended(self, done, code=0):
        self.assertEqual(done.returncode, code, (done.stderr or b"").decode())

    def break_one(self):
        return self.write_alignment(["ACDEF", "ACD"], "in/broken.aln")


class Results(Families):
    def test_each_is_what_a_call_for_it_alone_gives(self):
        for jobs in ((), ("-t", "1"), ("-t", "3"), ("-j", "3", "-t", "2")):
            with self.subTest(jobs):
                self.assert_ended(self.fit_all(*self.paths, *jobs, "-f"))
                self.assertEqual(sorted(path.name for path in self.runs.iterdir()),
                                 sorted(self.names + ["jobs.tsv"]))
                for path, name in zip(self.paths, self.names):
                    alone = self.fit(path, "-f", run=f"alone-{name}")
                    self.assertEqual(results(self.runs / name), results(alone), name)

    def test_the_table_tells_what_the_manifests_tell(self):
        done = self.fit_all(*self.paths)
        self.assert_ended(done)
        self.assertIn(b"4 jobs in ", done.stdout)
        self.assertIn(b": 4 done\n", done.stdout)
        table = self.table()
        self.assertEqual(list(table), self.names)
        for name, row in table.items():
            told = manifest(self.runs / name)
            self.assertEqual(row["status"], "done")
            for key in ("sequences", "columns", "evaluations"):
                self.assertEqual(int(row[key]), told["results"][key])
            self.assertEqual(float(row["relative_gap"]), told["results"]["relative_gap"])
            self.assertEqual((row["result"], row["error"]), (name, "NA"))
            self.assertEqual(row["device"], told["device"])
            self.assertEqual((told["cpu_seconds"], told["peak_memory_bytes"]), (None, None))
        lines = [line for line in done.stderr.decode().splitlines()
                 if not line.startswith("device cuda:")]  # told once at the start
        self.assertEqual(len(lines), 4, lines)  # one a family, in a log

    def test_a_manifest_holds_the_command_that_makes_its_run_alone(self):
        self.assert_ended(self.fit_all(*self.paths, "--tolerance", "1e-3", "-d", "cpu"))
        call = manifest(self.runs / "f1")["arguments"]
        self.assertEqual(call, ["couplings", str(self.paths[1]), "-o", str(self.runs / "f1"),
                                "--tolerance", "0.001", "--device", "cpu"])
        before = results(self.runs / "f1")
        self.assertNotIn("couplings.npz", before)
        self.assert_ended(pleat(*call, "--force", "-q"))
        self.assertEqual(results(self.runs / "f1"), before)

    def test_a_list(self):
        listed = self.folder / "families.txt"
        listed.write_text("# two families\n\nin/f1.aln\r\n  in/packed.fasta.gz\n", encoding="ascii")
        # Paths are relative to the working folder, as on the command line, wherever the list is.
        elsewhere = self.folder / "lists"
        elsewhere.mkdir()
        listed = listed.rename(elsewhere / listed.name)
        self.assert_ended(self.fit_all("--list", listed, cwd=self.folder))
        self.assertEqual(self.status(), {"f1": "done", "packed": "done"})
        self.assert_ended(self.fit_all("in/f0.aln", "--list", listed, cwd=self.folder))
        self.assertEqual(self.status(), {"f0": "done", "f1": "done", "packed": "done"})
        done = self.fit_all("--list", "-", cwd=self.folder, input=b"in/f2.aln\n")
        self.assert_ended(done)
        self.assertIn(b"1 job in", done.stdout)
        self.assertEqual(self.table()["f2"]["result"], "f2")  # one, and still in a folder of its own
        self.assertEqual(results(self.runs / "f2"), results(self.fit(self.paths[2])))


class Failures(Families):
    def test_a_broken_family_does_not_stop_the_rest(self):
        for jobs in (("-t", "1"), ("-t", "2")):
            with self.subTest(jobs):
                done = self.fit_all(self.paths[0], self.break_one(), *self.paths[1:], *jobs, "-f")
                self.assert_ended(done, 3)
                self.assertEqual(list(self.status().values()),
                                 ["done", "failed", "done", "done", "done"])
                self.assertFalse((self.runs / "broken").exists())
                errors = [line for line in done.stderr.decode().splitlines()
                          if line.startswith("pleat: ")]
                self.assertEqual(len(errors), 2, errors)
                told = "\n".join(errors)
                self.assertIn("pleat: broken: ", told)
                self.assertIn("broken.aln:2: expected 5 aligned columns", told)
                self.assertRegex(errors[-1], "of 5 jobs 4 done, 1 failed; .*jobs.tsv says why")
                self.assertIn("broken.aln:2: expected 5", self.table()["broken"]["error"])
                self.assertEqual(self.table()["broken"]["sequences"], "NA")

    def test_names_that_the_folder_needs_itself_are_refused(self):
        for name in ("jobs.tsv", "settings.tsv", "manifest.json"):
            with self.subTest(name):
                taken = self.write_alignment(small_rows(20), f"in/{name}.aln")
                done = self.fit_all(self.paths[0], taken)
                self.assert_refused(done, 2, f"names other than '{name}', found '{taken}'; rename")
                self.assertFalse(self.runs.exists())

    def test_a_folder_named_like_a_manifest_is_no_run(self):
        (self.runs / "manifest.json").mkdir(parents=True)
        self.assert_ended(self.fit_all(*self.paths[:2]))
        self.assertEqual(self.status(), {"f0": "done", "f1": "done"})
        one = self.fit(self.paths[0])
        done = pleat("couplings", *self.paths[:2], "-o", one)
        self.assert_refused(done, 2, "several jobs, found the run of one")

    def test_quiet_tells_failures_alone(self):
        done = self.fit_all(*self.paths, self.break_one(), "-q")
        self.assert_ended(done, 3)
        self.assertEqual((done.stdout, done.stderr.count(b"\n")), (b"", 2))
        self.assertEqual(self.fit_all(*self.paths, "-q").stderr, b"")

    def test_an_error_that_cannot_be_told_does_not_stop_the_rest(self):
        for quiet in (("-q",), ()):
            with self.subTest(quiet), open("/dev/full", "wb") as full:
                self.assert_ended(self.fit_all(self.break_one(), *self.paths, *quiet, "-f", "-t", "1",
                                               stderr=full), 3)
                self.assertEqual(list(self.status().values()), ["failed"] + ["done"] * 4)
        closed = self.fit_all(self.break_one(), *self.paths, "-q", "-f", stderr=None,
                              preexec_fn=lambda: os.close(2))
        self.assertEqual(closed.returncode, 3)
        self.assertEqual(list(self.status().values()), ["failed"] + ["done"] * 4)

    def test_the_exit_code_is_that_of_the_first_in_the_order_given(self):
        (self.runs / "f2").mkdir(parents=True)
        (self.runs / "f2" / "notes.txt").write_text("mine", encoding="ascii")
        self.assert_ended(self.fit_all(self.paths[0], self.paths[2], self.break_one()), 2)
        self.assert_ended(self.fit_all(self.paths[0], self.break_one(), self.paths[2]), 3)
        self.assertIn("--force", self.table()["f2"]["error"])
        self.assertEqual([path.name for path in (self.runs / "f2").iterdir()], ["notes.txt"])

    @unittest.skipIf(os.environ.get("PLEAT_SANITIZED"), "sanitizers take terabytes of address space")
    def test_one_that_never_fits_is_refused_and_the_rest_go_on(self):
        large = self.write_alignment([row * 26 for row in small_rows(100)], "in/large.aln")
        done = self.fit_all(large, *self.paths, "-t", "2", preexec_fn=limited(1500 << 20))
        self.assert_ended(done, 4)
        self.assertEqual(list(self.status().values()), ["failed"] + ["done"] * 4)
        self.assertIn("would fit", self.table()["large"]["error"])

    @unittest.skipIf(os.environ.get("PLEAT_SANITIZED"), "sanitizers take terabytes of address space")
    def test_families_that_do_not_fit_together_wait_for_each_other(self):
        large = [self.write_alignment([(row * 2)[k:k + 150] for row in small_rows(60, 0, 120)],
                                      f"in/large{k}.aln") for k in range(4)]
        options = ("--tolerance", "1e-2")
        alone = self.fit(large[0], *options)
        # Each takes 300 MiB; the heaps of threads would take address space, though no memory.
        self.assert_ended(self.fit_all(*large, *options, "-t", "2", "-j", "4",
                                       preexec_fn=limited(640 << 20),
                                       environment={"MALLOC_ARENA_MAX": "1"}))
        self.assertEqual(list(self.status().values()), ["done"] * 4)
        self.assertEqual(results(self.runs / "large0"), results(alone))

    @unittest.skipIf(os.environ.get("PLEAT_SANITIZED"), "sanitizers take terabytes of address space")
    def test_what_lacked_memory_beside_those_who_wait_is_tried_again(self):
        rows = small_rows(2000, 4, 20)
        paths = [self.write_alignment(rows[k:] * 60, f"in/deep{k}.aln") for k in range(6)]
        self.assert_ended(self.fit_all(*paths, "--no-sequence-weights", "--tolerance", "0.5",
                                       "--max-iterations", "1", "-t", "2", "-j", "6", preexec_fn=limited(180 << 20),
                                       environment={"MALLOC_ARENA_MAX": "1"}))
        self.assertEqual(list(self.status().values()), ["done"] * 6)

    def test_refusals(self):
        family = self.paths[0]
        same = self.write_alignment(small_rows(20), "f0.fasta")
        empty = self.write_alignment(["# none"], "empty.txt")
        for arguments, code, texts in (
                ((family, same), 2, (str(family), str(same), "both 'f0'")),
                ((*self.paths, "-"), 2, ("'-'",)),
                ((*self.paths, "--structure", "x.pdb"), 2, ("--structure: expected one input",)),
                ((*self.paths, "--row", "x"), 2, ("--row: expected one input",)),
                ((*self.paths, "--initial", "x.npz"), 2, ("--initial: expected one input",)),
                ((*self.paths, "--jobs", "0"), 2, ("--jobs",)),
                ((*self.paths, "--device", "cuda:99"), 4, ("cuda:99",)),
                ((*self.paths, self.folder / "absent.aln"), 3, ("absent.aln",)),
                (("--list", self.folder / "absent.txt"), 3, ("absent.txt",)),
                (("--list", self.folder), 3, (str(self.folder),)),
                (("--list", empty), 3, ("empty.txt: expected an input per line, found none",))):
            with self.subTest(arguments):
                self.assert_refused(self.fit_all(*arguments), code, *texts)
                self.assertFalse(self.runs.exists())

    def test_the_folder_of_one_run_is_no_folder_for_many(self):
        run = self.fit(self.paths[0], run="runs")
        before = sorted(path.name for path in run.iterdir())
        self.assert_refused(self.fit_all(*self.paths), 2, "found the run of one")
        self.assertEqual(sorted(path.name for path in run.iterdir()), before)


class SecondCall(Families):
    def test_finished_ones_are_skipped(self):
        self.assert_ended(self.fit_all(*self.paths[:2]))
        stamps = [(self.runs / name / "manifest.json").read_bytes() for name in self.names[:2]]
        first = self.table()
        done = self.fit_all(*self.paths, "-t", "1")
        self.assert_ended(done)
        self.assertIn(b": 4 done (2 skipped)\n", done.stdout)
        self.assertEqual(list(self.status().values()), ["done"] * 4)
        for name, stamp in zip(self.names, stamps):
            self.assertEqual((self.runs / name / "manifest.json").read_bytes(), stamp)
            for key in ("sequences", "effective_sequences", "evaluations", "relative_gap"):
                self.assertEqual(self.table()[name][key], first[name][key], key)
        self.assert_ended(self.fit_all(*self.paths, "--force"))
        self.assertEqual(list(self.status().values()), ["done"] * 4)

    def test_the_table_keeps_families_of_earlier_calls(self):
        self.assert_ended(self.fit_all(*self.paths[:3]))
        first = self.table()
        done = self.fit_all(*self.paths[2:])
        self.assert_ended(done)
        self.assertIn(b"2 jobs in", done.stdout)
        self.assertEqual(list(self.status()), self.names)
        for name in self.names[:3]:
            self.assertEqual(self.table()[name], first[name])
        for path in (self.runs / "f1").iterdir():
            path.unlink()
        self.assert_ended(self.fit_all(*self.paths[2:]))
        self.assertEqual(list(self.status()), ["f0", "f2", "packed"])

    def test_others_finished_in_the_way_are_told(self):
        self.assert_ended(self.fit_all(*self.paths))
        done = self.fit_all(*self.paths, "--tolerance", "1e-3")
        self.assert_ended(done, 2)
        self.assertIn(b"'tolerance' 0.0001 (now 0.001)", done.stderr)
        self.paths[1].write_text("\n".join(small_rows(30)) + "\n", encoding="ascii")
        (self.runs / "f2" / "scores.mat").unlink()
        done = self.fit_all(*self.paths)
        self.assert_ended(done, 2)
        self.assertEqual(list(self.status().values()), ["done", "failed", "failed", "done"])
        self.assertIn("other content of its input", self.table()["f1"]["error"])
        self.assertIn("scores.mat", self.table()["f2"]["error"])


class Terminal(Families):
    def test_one_bar_for_all(self):
        shown, terminal = self.open_terminal()
        done = self.fit_all(*self.paths, self.break_one(), stderr=terminal)
        os.close(terminal)
        self.assertEqual(done.returncode, 3)
        text = os.read(shown, 1 << 20).decode()
        self.assertIn("jobs: 0/5 (0 %)", text)
        self.assertIn("jobs: 5/5 (100 %)", text)
        self.assertRegex(text, "pleat: broken: .*broken.aln:2: expected 5")
        self.assertNotIn("fit: ", text)
        self.assertNotIn("evaluations", text)  # lines of families are for logs
        # Each drawing replaces the one before; only errors stay.
        lines = [line.rpartition("\x1b[K")[2] for line in text.split("\r\n")]
        lines = [line for line in lines if line and not line.startswith("device cuda:")]
        self.assertEqual([line[:6] for line in lines], ["pleat:"] * 2, lines)


class Stopped(Families):
    OPTIONS = ("--tolerance", "1e-8", "-t", "2")

    def setUp(self):
        super().setUp()
        self.paths += [self.write_alignment(small_rows(400, 4 + k, 70), f"in/large{k}.aln")
                       for k in range(3)]
        self.names += [f"large{k}" for k in range(3)]

    def start(self):
        """A call whose first family has saved a state."""
        process = subprocess.Popen(
            [PROGRAM, "couplings", *self.paths, "-o", self.runs, *self.OPTIONS],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=clean_environment(PLEAT_CHECKPOINT_SECONDS="0"))
        deadline = time.monotonic() + 60
        while not list(self.runs.glob("*/checkpoint.npz")):
            self.assertIsNone(process.poll(), "the call ended before it could be disturbed")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.002)
        return process

    def assert_goes_on(self):
        done = self.fit_all(*self.paths, *self.OPTIONS)
        self.assert_ended(done)
        self.assertTrue(any(manifest(self.runs / name)["resumed"] for name in self.names))
        for path, name in zip(self.paths, self.names):
            alone = self.fit(path, *self.OPTIONS, run=f"alone-{name}")
            self.assertEqual(results(self.runs / name), results(alone), name)
            self.assertFalse((self.runs / name / "checkpoint.npz").exists())
        self.assertNotIn("failed", self.status().values())

    def test_killed(self):
        process = self.start()
        process.kill()
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assert_goes_on()

    def test_interrupted(self):
        process = self.start()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (130, b""), err)
        self.assertIn(b"run the same command again to resume", err)
        status = self.status()
        self.assertIn("unfinished", status.values())
        self.assertIn("waiting", status.values())
        for name, word in status.items():
            if word == "unfinished":
                self.assertEqual(manifest(self.runs / name)["status"], "unfinished")
                self.assertTrue((self.runs / name / "checkpoint.npz").exists())
            if word == "waiting":
                self.assertFalse((self.runs / name).exists())
        self.assert_goes_on()

    def test_two_calls_do_not_share_a_folder(self):
        process = self.start()
        self.assert_refused(self.fit_all(*self.paths, *self.OPTIONS), 2, "another run is writing here")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)


if __name__ == "__main__":
    unittest.main()
