# pleat report: pages of real runs, files that are in the way, and refusals.
import json
import re
import unittest

from program import DATA, ProgramTest, pleat, small_rows


def page_data(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="pleat-data">(.*?)</script>', text, re.DOTALL).group(1))


class Report(ProgramTest):
    def run_mi(self, name="run", *more):
        family = self.folder / "family.aln"
        family.write_text("\n".join(small_rows(60)) + "\n")
        done = pleat("mi", family, "-o", self.folder / name, "--null", "exact", "-q", *more)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return self.folder / name

    def refused(self, code, *arguments):
        done = pleat("report", *arguments)
        self.assertEqual((done.returncode, done.stdout), (code, b""))
        lines = done.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, lines)
        return lines[0]

    def test_page_of_runs(self):
        first, second = self.run_mi("a", "--order", "3"), self.run_mi("b")
        page = self.folder / "page.html"
        done = pleat("report", first, second, "-o", page, "--title", "Two <runs>", "--rows", "7")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout.decode(), r"page\.html: 9 panels of 2 runs, [\d.]+ KiB\n$")
        data = page_data(page)
        self.assertEqual(data["title"], "Two <runs>")
        self.assertEqual([run["name"] for run in data["runs"]], ["a", "b"])
        sections = data["runs"][0]["sections"]
        self.assertEqual([one["kind"] for one in sections], ["contact_map", "table", "curve", "table", "scatter", "scatter"])
        self.assertEqual(len(sections[1]["rows"]), 7)
        listed = (first / "pairs.tsv").read_text().splitlines()
        # What matters first: some columns, in another order.
        first_row = dict(zip(listed[0].split("\t"), listed[1].split("\t")))
        self.assertTrue(set(sections[1]["rows"][0]) <= set(first_row.values()))
        self.assertEqual(sections[1]["rows"][0][1:3], [first_row["i"], first_row["j"]])
        self.assertEqual(data["runs"][0]["manifest"], json.loads((first / "manifest.json").read_text()))

    def test_json_of_any_depth_is_refused_in_one_line(self):
        deep = "[" * 200000 + "]" * 200000
        for name in ("manifest.json", "results.json"):
            run = self.run_mi(name)
            if name == "manifest.json":
                deep = json.dumps({"program": "pleat", "results": "deep"}).replace('"deep"', deep)
            (run / name).write_text(deep)
            line = self.refused(3, run, "-o", self.folder / "page.html")
            self.assertIn(f"{name}: expected JSON at most 100 lists or objects deep, found more", line)
            self.assertFalse((self.folder / "page.html").exists())

    def test_structure_of_the_run_and_of_the_option(self):
        run = self.folder / "run"
        done = pleat("mi", DATA / "trypsin.a2m.gz", "--structure", DATA / "1ql9_A.pdb.gz", "--null", "none", "-o", run, "-q")
        self.assertEqual(done.returncode, 0)
        page = self.folder / "page.html"
        self.assertEqual(pleat("report", run, "-o", page, "-q").stdout, b"")
        kinds = [one["kind"] for one in page_data(page)["runs"][0]["sections"]]
        self.assertIn("molecule", kinds)
        manifest = json.loads((run / "manifest.json").read_text())
        manifest["parameters"]["structure"] = "moved.pdb"
        (run / "manifest.json").write_text(json.dumps(manifest))
        done = pleat("report", run, "-o", page)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"its structure moved.pdb is missing or has changed; give its present path with --structure", done.stderr)
        self.assertNotIn("molecule", [one["kind"] for one in page_data(page)["runs"][0]["sections"]])
        done = pleat("report", run, "-o", page, "--structure", DATA / "1ql9_A.pdb.gz")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn("molecule", [one["kind"] for one in page_data(page)["runs"][0]["sections"]])

    def test_only_pages_are_replaced(self):
        run = self.run_mi()
        other = self.folder / "notes.html"
        other.write_text("mine")
        self.assertIn("notes.html exists and is not a page made by pleat",
                      self.refused(2, run, "-o", other))
        self.assertEqual(other.read_text(), "mine")
        self.assertIn("it is a folder", self.refused(2, run, "-o", self.folder))
        for _ in range(2):
            self.assertEqual(pleat("report", run, "-o", other, "--force", "-q").returncode, 0)
        self.assertEqual(pleat("report", run, "-o", other, "-q").returncode, 0)

    def test_refusals(self):
        run, page = self.run_mi(), self.folder / "page.html"
        self.assertIn("absent: expected the folder of a run, found none",
                      self.refused(3, self.folder / "absent", "-o", page))
        self.assertIn("--rows", self.refused(2, run, "-o", page, "--rows", "0"))
        self.assertIn("no/page.html", self.refused(5, run, "-o", self.folder / "no" / "page.html"))
        with (run / "pairs.tsv").open("a") as table:
            table.write("1\t2\n")
        self.assertRegex(self.refused(3, run, "-o", page), r"pairs\.tsv:\d+: expected \d+ cells, found 2")
        self.assertFalse(page.exists())


if __name__ == "__main__":
    unittest.main()
