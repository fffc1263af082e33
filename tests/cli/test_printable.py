# Names with control characters: what reaches terminal, log and tables is printable and on its own line.
import os
import shutil
import unittest

from program import DATA, ProgramTest, manifest, pleat, read_table, small_rows

NASTY = "a\x1b[2J\x07\nb\tc\x7f"
SHOWN = r"a\x1b[2J\x07\nb\tc\x7f"
# A C1 control as a byte that is no UTF-8.
BYTES = b"\x9b31m"


def has_controls(data):
    """Whether bytes hold a control character but newlines and tabs, or are no UTF-8."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return True
    return any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in text)


class Printable(ProgramTest):
    def assert_printable(self, *texts):
        for text in texts:
            self.assertFalse(has_controls(text), text)

    def test_errors_name_such_files_in_one_line(self):
        for name, shown in ((NASTY, SHOWN), (os.fsdecode(BYTES), r"\x9b31m")):
            missing = f"{self.folder}/{name}.fasta"
            for arguments in (("couplings", missing, "-o", "run"), ("mi", missing, "-o", "run"),
                              ("rmsd", missing, "-o", "run"), ("rmsd", f"@{missing}", "-o", "run"),
                              ("saxs", missing, "-o", "run"), ("report", missing, "-o", "page.html"),
                              ("cluster", missing, "-o", "run", "--cutoff", "2"), ("help", name), ("couplings", "--format", name)):
                done = pleat(*arguments, cwd=self.folder)
                self.assertNotEqual(done.returncode, 0)
                self.assert_printable(done.stdout, done.stderr)
                self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
                self.assertIn(shown.encode(), done.stderr)

    def test_runs_print_and_log_such_names_in_one_form(self):
        family = self.write_alignment(small_rows(), f"{NASTY}.aln")
        done = pleat("couplings", family, "-o", self.folder / f"run{NASTY}", "-v")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_printable(done.stdout, done.stderr, (self.folder / f"run{NASTY}" / "log.txt").read_bytes())
        self.assertIn(f"{SHOWN}.aln: 200 sequences".encode(), done.stdout)
        self.assertIn(f"The run is in {self.folder}/run{SHOWN}:".encode(), done.stdout)
        self.assertEqual(manifest(self.folder / f"run{NASTY}")["arguments"][1], str(family))

    def test_tables_keep_their_cells(self):
        families = [self.write_alignment(small_rows(), f"{NASTY}{n}.aln") for n in range(2)]
        done = pleat("couplings", *families, "-o", self.folder / "runs", "-v")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_printable(done.stdout, done.stderr, (self.folder / "runs" / "jobs.tsv").read_bytes())
        rows = read_table(self.folder / "runs" / "jobs.tsv")
        self.assertEqual([row["name"] for row in rows], [f"{SHOWN}0", f"{SHOWN}1"])
        models = self.folder / f"{NASTY}.dcd.gz"
        shutil.copy(DATA / "hivp.dcd.gz", models)
        done = pleat("rmsd", models, "--topology", DATA / "hivp.pdb.gz", "--reference", DATA / "hivp.pdb.gz",
                     "-o", self.folder / "rmsd")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = self.folder / "rmsd" / "reference.tsv"
        self.assert_printable(done.stdout, done.stderr, table.read_bytes())
        self.assertEqual({row["file"] for row in read_table(table)}, {f"{self.folder}/{SHOWN}.dcd.gz"})

    def test_a_manifest_cannot_write_to_the_terminal(self):
        run = self.folder / "run"
        run.mkdir()
        (run / "manifest.json").write_text('{"program": "pleat", "status": "finished", "command": "\\u001b[2Jx\\ny", '
                                           '"parameters": {"structure": "\\u001b]0;owned\\u0007\\n"}, "outputs": []}')
        (run / "table.tsv").write_text("a\tb\n\x1b[2J\x1bc\n")
        for arguments in (("report", run, "-o", self.folder / "page.html"), ("cluster", run, "-o", self.folder / "to")):
            done = pleat(*arguments)
            self.assertNotEqual(done.returncode, 1)
            self.assert_printable(done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
