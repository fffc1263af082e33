# Job lists of every command: sweeps, lists with options, claims between processes, refusals.
import signal
import subprocess
import time
import unittest

from job_inputs import COMMANDS, results_below, write_inputs
from program import DATA, PROGRAM, ROOT, ProgramTest, clean_environment, manifest, pleat, read_table, results


class Jobs(ProgramTest):
    def setUp(self):
        super().setUp()
        self.runs = self.folder / "runs"
        write_inputs(self.folder)

    def run_jobs(self, *arguments, code=0, **options):
        done = pleat(*arguments, "-o", self.runs, cwd=self.folder, **options)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done

    def rows(self):
        return read_table(self.runs / "jobs.tsv")

    def status(self):
        return {row["result"]: row["status"] for row in self.rows()}


class EveryCommand(Jobs):
    def test_sweeps_inputs_and_resumes(self):
        for command, (inputs, sweep, options, number) in COMMANDS.items():
            with self.subTest(command):
                self.runs = self.folder / f"runs-{command}"
                call = (command, *inputs, "--sweep", sweep, *options)
                done = self.run_jobs(*call, code=3)
                option, values = sweep.split("=")
                names = [name.split(".")[0] for name in inputs if "." in name]
                folders = [f"{name}/{option}={value}" for name in names for value in values.split(",")]
                rows = {row["result"]: row for row in self.rows()}
                self.assertEqual(list(rows), folders)
                self.assertIn(b" jobs in ", done.stdout)
                for folder, row in rows.items():
                    broken = folder.startswith(("bad", "broken"))
                    self.assertEqual(row["status"], "failed" if broken else "done", row)
                    self.assertEqual(row[option], folder.split("=")[1])
                    if broken:
                        self.assertRegex(row["error"], r"(bad\.aln:2|broken\.pdb).*expected")
                        self.assertFalse((self.runs / folder / "manifest.json").exists())
                        continue
                    told = manifest(self.runs / folder)
                    self.assertEqual(float(row[number]), float(told["results"][number]))
                    self.assertEqual(row["error"], "NA")
                # A job is the run that its manifest's command makes alone.
                folder = folders[-1]
                words = told["arguments"]
                words[words.index("-o") + 1] = str(self.folder / f"alone-{command}")
                self.assertEqual(pleat(*words, "-q", cwd=self.folder).returncode, 0)
                self.assertEqual(results_below(self.runs / folder),
                                 results_below(self.folder / f"alone-{command}"), command)
                before = {name: (self.runs / name / "manifest.json").read_bytes()
                          for name, row in rows.items() if row["status"] == "done"}
                again = self.run_jobs(*call, code=3)
                self.assertIn(b"(4 skipped)", again.stdout)
                for name, stamp in before.items():
                    self.assertEqual((self.runs / name / "manifest.json").read_bytes(), stamp)

    def test_a_list_names_inputs_and_their_options(self):
        for command, (inputs, _, options, _) in COMMANDS.items():
            if command == "select":
                continue
            with self.subTest(command):
                self.runs = self.folder / f"runs-{command}"
                kept = [option for option in options if option != "--each"]
                kept += ["--cutoff", "1"] if command == "cluster" else []
                paths = [name for name in inputs if "." in name]
                listed = self.folder / "inputs.txt"
                both = f"{paths[0]} {paths[0]}" if "--each" in options else paths[0]
                listed.write_text(f"# comment\nfirst\t{both}\n{paths[2]}\n", encoding="ascii")
                self.run_jobs(command, "--list", listed, *kept)
                self.assertEqual(self.status(), {"first": "done", paths[2].split(".")[0]: "done"})
                if both != paths[0]:
                    self.assertEqual(manifest(self.runs / "first")["arguments"][1:3], [paths[0]] * 2)

    def test_columns_of_a_list_are_options(self):
        listed = self.folder / "table.tsv"
        listed.write_text("alignment\tname\tlambda-pair\tapc\n"
                          "f0.aln\ta\t0.3\tfalse\nf0.aln\tb\n", encoding="ascii")
        self.run_jobs("couplings", "--list", listed)
        self.assertEqual([(row["name"], row["lambda-pair"], row["apc"]) for row in self.rows()],
                         [("a", "0.3", "false"), ("b", "NA", "NA")])
        told = manifest(self.runs / "a")["parameters"]
        self.assertEqual((told["lambda-pair"], told["apc"]), (0.3, False))
        self.assertEqual(manifest(self.runs / "b")["parameters"]["apc"], True)


class Sweeps(Jobs):
    def test_products_ranges_and_tables(self):
        (self.folder / "settings.txt").write_text("min-separation\tlambda-pair\n2\t0.10\n3\t0.2\n",
                                                  encoding="ascii")
        self.run_jobs("couplings", "f0.aln", "--sweep", "@settings.txt", "--sweep", "apc=true,false",
                      "--sweep", "max-gaps=0.5:1:0.25")
        self.assertEqual(len(self.rows()), 12)
        self.assertTrue((self.runs / "f0" / "lambda-pair=0.10,apc=false,max-gaps=0.75,min-separation=2"
                         / "contacts.tsv").exists())

    def test_seeds(self):
        self.run_jobs("mi", "f0.aln", "--sweep", "seed=1:3:1", "--shuffles", "10")
        self.assertEqual([manifest(self.runs / "f0" / f"seed={k}")["seed"] for k in (1, 2, 3)], [1, 2, 3])
        other = pleat("mi", "f0.aln", "f1.aln", "-o", self.folder / "seeds", "--shuffles", "10",
                      cwd=self.folder)
        self.assertEqual(other.returncode, 0)
        other = pleat("mi", "f0.aln", "f1.aln", "-o", self.folder / "seeds", "--shuffles", "10",
                      "--seed", "2", cwd=self.folder)
        self.assertEqual(other.returncode, 2)
        self.assertIn(b"seed 1 (now 2)", other.stderr)
        one = pleat("mi", "f0.aln", "-o", self.folder / "one", "--sweep", "seed=1", "--shuffles", "10", cwd=self.folder)
        self.assertTrue(one.stdout.startswith(b"1 job in "), one.stdout)

    def test_long_names_are_numbered(self):
        table = "select\n" + "".join(f"A:1-{last}" + " or A:1-2" * 15 + "\n" for last in (8, 9))
        (self.folder / "settings.txt").write_text(table, encoding="ascii")
        self.run_jobs("rmsd", "one.pdb", "--sweep", "@settings.txt")
        self.assertEqual(self.status(), {"one/s0001": "done", "one/s0002": "done"})
        self.assertEqual([row["folder"] for row in read_table(self.runs / "settings.tsv")],
                         ["s0001", "s0002"])

    def test_a_structure_goes_with_a_sweep_of_one_alignment(self):
        packed = DATA / "cheY.aln.gz"
        done = self.run_jobs("couplings", packed, "--sweep", "max-iterations=1,2", "--row", "absent", code=2)
        self.assertIn(b"absent", done.stderr)


class Refusals(Jobs):
    def test_one_line_before_any_work(self):
        def listed(text, name="list.txt"):
            (self.folder / name).write_text(text, encoding="ascii")
            return ("--list", name)

        many = ",".join(str(k) for k in range(1, 5002))
        for arguments, code, texts in (
                (("couplings",), 2, ("--list",)), (("rmsd",), 2, ("--list",)), (("select",), 2, ("--list",)),
                (("mi", "--list", "none.txt"), 3, ("none.txt",)),
                (("rmsd", *listed("# nothing\n", "empty.txt")), 3, ("empty.txt: expected an input per line",)),
                (("rmsd", *listed("one.pdb\none.pdb\n")), 2, ("both 'one'",)),
                (("saxs", *listed("one.pdb\nnone.pdb\n", "b.txt")), 3, ("none.pdb",)),
                (("cluster", "--each", "one.pdb", "none.pdb", "--cutoff", "1"), 3, ("none.pdb",)),
                (("mi", *listed("alignment\tshufles\nf0.aln\t3\n", "c.txt")), 3,
                 ("c.txt:1: expected columns", "'shufles'")),
                (("mi", *listed("alignment\tshuffles\nf0.aln\tmany\n", "d.txt")), 3, ("d.txt:2: --shuffles",)),
                (("couplings", *listed("a\tf0.aln f1.aln\n", "e.txt")), 3, ("e.txt:1: expected one path",)),
                (("couplings", *listed("alignment\tstructure\nf0.aln\tno.pdb\n", "f.txt")), 3, ("no.pdb",)),
                (("rmsd", "one.pdb", "--sweep", "cutof=1"), 2, ("found 'cutof'",)),
                (("rmsd", "one.pdb", "--sweep", "cutoff=1,x"), 2, ("--cutoff", "found 'x'")),
                (("rmsd", "one.pdb", "--sweep", "cutoff=1,1.0"), 2, ("different values, found '1.0' again",)),
                (("rmsd", "one.pdb", "--sweep", "cutoff=1", "--sweep", "cutoff=2"), 2, ("each option once",)),
                (("rmsd", "one.pdb", "--cutoff", "1", "--sweep", "cutoff=1,2"), 2, ("not both",)),
                (("rmsd", "--each", "one.pdb", "two.pdb", "--sweep", "histogram-bins=" + many), 2, ()),
                (("cluster", "--each", "one.pdb", "two.pdb", "--sweep", f"seed={many}"), 2,
                 ("at most 10000 jobs",)),
                (("saxs", "one.pdb", "--sweep", "data=x/y.dat"), 2, ("found 'x/y.dat'",)),
                (("saxs", "one.pdb", "--sweep", "data=no.dat"), 3, ("no.dat",)),
                (("saxs", "-", "--sweep", "q-points=11,21"), 2, ("found '-'",)),
                (("rmsd", "one.pdb", "--share", "--force"), 2, ("--share or --force",)),
                (("rmsd", "--each", "one.pdb", "-d", "cuda:99"), 4, ("cuda:99",)),
                (("cluster", "--each", "one.pdb", "--sweep", "cutoff=1", "--structures", "none",
                  "--write", "all"), 2, ("--structures none",))):
            with self.subTest(arguments[:4]):
                done = pleat(*arguments, "-o", self.runs, cwd=self.folder)
                self.assert_refused(done, code, *texts)
                self.assertFalse(self.runs.exists())

    def test_a_full_disk_is_the_line_of_its_job(self):
        # The results of one job go to a folder that is a file.
        self.runs.mkdir()
        (self.runs / "one").write_text("in the way", encoding="ascii")
        self.run_jobs("rmsd", "--each", "one.pdb", "two.pdb", code=2)
        self.assertEqual(self.status(), {"one": "failed", "two": "done"})


class WhichCommands(Jobs):
    def test_take_lists_and_sweeps_is_what_the_table_of_the_docs_says(self):
        rows = [line.split("|") for line in (ROOT / "docs" / "limits.md").read_text(encoding="utf-8").splitlines()
                if line.startswith("| `")]
        told = {row[1].strip(" `"): row[6].strip() for row in rows if len(row) > 7}
        self.assertEqual({name for name, takes in told.items() if takes == "yes"}, set(COMMANDS))
        for command in [*told, "report", "table"]:
            with self.subTest(command):
                listed = pleat(command, "--list", "none.txt", "-o", self.runs, cwd=self.folder)
                swept = pleat(command, "--sweep", "none=1", "-o", self.runs, cwd=self.folder)
                if told.get(command) == "yes":
                    self.assert_refused(listed, 3, "none.txt: expected a file")
                    self.assert_refused(swept, 2, "give an input or a --list of inputs")
                else:
                    for option, done in (("--list", listed), ("--sweep", swept)):
                        self.assert_refused(done, 2, f"unknown option '{option}'; 'pleat help {command}'")


class Table(Jobs):
    def test_is_made_again_from_manifests(self):
        self.run_jobs("rmsd", "--each", "one.pdb", "two.pdb", "broken.pdb", code=3)
        before = (self.runs / "jobs.tsv").read_text(encoding="ascii")
        stale = before.replace("done", "waiting")
        (self.runs / "jobs.tsv").write_text(stale, encoding="ascii")
        done = pleat("table", self.runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"3 jobs, 2 done, 1 failed", done.stdout)
        self.assertEqual((self.runs / "jobs.tsv").read_text(encoding="ascii"), before)
        self.assert_refused(pleat("table", self.folder), 3, "jobs.tsv")


class Shared(Jobs):
    SWEEP = ("couplings", "f0.aln", "f1.aln", "bad.aln", "--sweep", "lambda-pair=0.05:0.6:0.05",
             "--tolerance", "1e-6", "--share", "-t", "1")

    def start(self):
        return subprocess.Popen([PROGRAM, *self.SWEEP, "-o", self.runs], cwd=self.folder,
                                env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def assert_all_as_alone(self):
        self.assertEqual(list(self.status().values()), ["done"] * 24 + ["failed"] * 12)
        alone = self.folder / "alone"
        plain = [word for word in self.SWEEP if word != "--share"]
        pleat(*plain, "-o", alone, cwd=self.folder)
        for row in self.rows():
            if row["status"] == "done":
                self.assertEqual(results(self.runs / row["result"]), results(alone / row["result"]), row)

    def test_three_processes_make_the_same_files(self):
        processes = [self.start() for _ in range(3)]
        for process in processes:
            process.communicate(timeout=300)
        self.assertEqual([process.returncode for process in processes], [3] * 3)
        self.assert_all_as_alone()

    def test_one_is_killed_and_its_jobs_are_done_by_others(self):
        first, second = self.start(), self.start()
        deadline = time.monotonic() + 60
        while not list(self.runs.glob("*/*/manifest.json")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.005)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        second.communicate(timeout=300)
        if second.returncode == 3 and "unfinished" not in self.status().values():
            self.assert_all_as_alone()
        third = self.start()
        third.communicate(timeout=300)
        self.assertEqual(third.returncode, 3)
        self.assert_all_as_alone()

    def test_a_call_that_does_not_share_is_refused_meanwhile(self):
        process = self.start()
        while not (self.runs / "jobs.tsv").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.005)
        process.send_signal(signal.SIGSTOP)
        plain = [word for word in self.SWEEP if word != "--share"]
        self.assert_refused(pleat(*plain, "-o", self.runs, cwd=self.folder), 2, "another run is writing here")
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=300)


if __name__ == "__main__":
    unittest.main()
