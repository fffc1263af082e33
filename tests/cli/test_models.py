# Predicted models and scores: folders as ensembles, frames kept by scores, and tables that show both.
import gzip
import json
import os
import random
import unittest
from pathlib import Path

from program import ROOT, ProgramTest, manifest, parse_npy, pleat, read_table, results
from structures import ATOM, npy, turned
from test_select import pdb_text, rr_text, two_folds

KAIB = Path(os.environ.get("PLEAT_SHARED", ROOT.parent / "shared")) / "data" / "ensembles" / "KaiB_AFcluster"


def mean(values):
    return sum(values) / len(values)


def condensed(values, frames):
    """{(i, j): distance} of a condensed matrix."""
    pairs = [(i, j) for i in range(frames) for j in range(i + 1, frames)]
    return dict(zip(pairs, values))


class Models(ProgramTest):
    def run_pleat(self, *arguments, run="run"):
        done = pleat(*arguments, "-o", self.folder / run)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.said = done.stderr.decode()
        return self.folder / run

    def frames(self, count=40, atoms=12):
        """An array of frames, and random energies with equal ones among them."""
        source = random.Random(5)
        shape = [[source.gauss(0, 6) for _ in range(3)] for _ in range(atoms)]
        values = [number for _ in range(count) for atom in
                  turned([[at + source.gauss(0, 1) for at in atom] for atom in shape], source.random())
                  for number in atom]
        path = self.folder / "frames.npy"
        path.write_bytes(npy((count, atoms, 3), values))
        return path, [source.randrange(15) / 4 for _ in range(count)]

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def energies(self, energies, name="energies.tsv"):
        return self.write(name, "frame\tenergy\tsize\n" + "".join(
            f"{n}\t{energy}\t{n % 3}\n" for n, energy in enumerate(energies)))

    def colabfold(self, models, folder="models"):
        """A folder of models (texts of PDB files, pLDDT of each residue), ranked by their mean pLDDT."""
        ranked = sorted(models, key=lambda model: -mean(model[1]))
        for rank, (text, plddt) in enumerate(ranked, 1):
            name = f"rank_{rank:03d}_alphafold2_ptm_model_1_seed_{rank:03d}"
            self.write(f"{folder}/job_unrelaxed_{name}.pdb", text)
            self.write(f"{folder}/job_scores_{name}.json",
                       json.dumps({"plddt": plddt, "max_pae": 20.5, "ptm": rank / 1000}))
        return self.folder / folder, ranked

    def test_best_frames_are_those_of_sorting_first(self):
        path, energies = self.frames()
        every = self.run_pleat("rmsd", path, run="every")
        pairs = condensed(parse_npy((every / "rmsd.npy").read_bytes())[1], 40)
        for options, order in ((["--least"], energies), ([], [-energy for energy in energies])):
            best = self.run_pleat("rmsd", path, "--scores", self.energies(energies), "--score", "energy",
                                  "--best", 9, *options, "-f")
            chosen = sorted(sorted(range(40), key=lambda n: (order[n], n))[:9])
            table = read_table(best / "frames.tsv")
            self.assertEqual([int(row["number"]) for row in table], chosen)
            self.assertEqual([int(row["frame_of_file"]) for row in table], chosen)
            self.assertEqual([int(row["frame"]) for row in table], list(range(9)))
            self.assertEqual([float(row["energy"]) for row in table], [energies[n] for n in chosen])
            shape, values = parse_npy((best / "rmsd.npy").read_bytes())
            self.assertEqual(shape, (36,))
            for (i, j), value in condensed(values, 9).items():
                self.assertAlmostEqual(value, pairs[chosen[i], chosen[j]], places=5)
        self.assertIn("kept 9 of 40 frames by their energy", self.said)
        listed = [one["path"] for one in manifest(best)["inputs"]]
        self.assertIn(str(self.folder / "energies.tsv"), listed)

    def test_worst_are_left_out_and_unknown_ones_are_told(self):
        path, energies = self.frames()
        table = self.energies(["NA" if n in (3, 7) else energy for n, energy in enumerate(energies)])
        run = self.run_pleat("rmsd", path, "--scores", table, "--score", "energy", "--worst-left-out", "10%",
                             "--frames", "::2")
        self.assertIn("2 of 20 frames have no energy" if 3 % 2 == 0 else "kept 18 of 20", self.said)
        self.assertEqual(len(read_table(run / "frames.tsv")), 18)
        run = self.run_pleat("rmsd", path, "--scores", table, "--score", "energy", "--least", "--best", "38", "-f")
        self.assertIn("2 of 40 frames have no energy", self.said)
        numbers = [int(row["number"]) for row in read_table(run / "frames.tsv")]
        self.assertEqual(numbers, [n for n in range(40) if n not in (3, 7)])

    def test_clusters_have_scores(self):
        path, energies = self.frames()
        table = self.energies(energies)
        run = self.run_pleat("cluster", path, "--scores", table, "--score", "energy", "--least", "--cutoff", 2.2)
        frames, clusters = read_table(run / "frames.tsv"), read_table(run / "clusters.tsv")
        self.assertGreater(len(clusters), 1)
        for n, row in enumerate(clusters):
            members = [int(one["frame"]) for one in frames if int(one["cluster"]) == n]
            self.assertEqual(len(members), int(row["size"]))
            self.assertAlmostEqual(float(row["mean_energy"]), mean([energies[i] for i in members]), places=6)
            self.assertAlmostEqual(float(row["mean_size"]), mean([i % 3 for i in members]), places=6)
            best = min(members, key=lambda i: (energies[i], i))
            self.assertEqual((int(row["best_frame"]), float(row["best_energy"])), (best, energies[best]))
        # Other atoms are read again, those of the frames that were kept.
        models = self.write("models.pdb", pdb_text(two_folds()[1]))
        two = self.run_pleat("cluster", models, "--select", "resid 101 to 130", "--write", "all", "--cutoff", 3,
                             "--scores", self.energies(range(22), "numbers.tsv"), "--score", "energy", "--best", 9,
                             run="two")
        self.assertEqual([int(row["number"]) for row in read_table(two / "frames.tsv")], list(range(13, 22)))
        # A run of rmsd remembers what it kept.
        kept = self.run_pleat("rmsd", path, "--scores", table, "--score", "energy", "--best", 20, run="kept")
        again = self.run_pleat("cluster", kept, "--cutoff", 2.2, run="again")
        self.assertEqual((again / "frames.tsv").read_text().replace("\tcluster", "").split("\n")[0],
                         (kept / "frames.tsv").read_text().split("\n")[0])
        self.assertEqual([row["number"] for row in read_table(again / "frames.tsv")],
                         [row["number"] for row in read_table(kept / "frames.tsv")])
        self.assertIn("best_energy", read_table(again / "clusters.tsv")[0])
        done = pleat("cluster", kept, "--cutoff", 2.2, "--scores", table, "-o", self.folder / "no")
        self.assert_refused(done, 2, "scores", "a finished run")

    def test_each_set_of_scores_is_a_job(self):
        path, energies = self.frames()
        self.run_pleat("rmsd", path, "--scores", self.energies(energies), "--best", 5, "--sweep", "score=energy,size")
        rows = [read_table(table) for table in sorted((self.folder / "run").rglob("frames.tsv"))]
        self.assertEqual([len(one) for one in rows], [5, 5])
        self.assertNotEqual([row["number"] for row in rows[0]], [row["number"] for row in rows[1]])

    def test_select_and_saxs_show_scores(self):
        _, frames = two_folds()
        models = self.write("models.pdb", pdb_text(frames))
        table = self.energies(range(len(frames)))
        run = self.run_pleat("select", "--ensemble", models, "--contacts", self.write("c.rr", rr_text()),
                             "--scores", table, "--score", "energy")
        rows = read_table(run / "scores.tsv")
        self.assertEqual([float(row["energy"]) for row in rows], [float(row["frame"]) for row in rows])
        frames_table = read_table(run / "frames.tsv")
        for row in read_table(run / "clusters.tsv"):
            members = [int(one["frame"]) for one in frames_table if one["cluster"] == row["cluster"]]
            self.assertEqual(int(row["best_frame"]), max(members))
        run = self.run_pleat("select", "--ensemble", models, "--contacts", self.folder / "c.rr",
                             "--scores", table, "--score", "energy", "--best", 20, run="best")
        self.assertEqual(len(read_table(run / "scores.tsv")), 20)
        run = self.run_pleat("saxs", models, "--scores", table, "--score", "energy", "--best", 3, run="saxs")
        rows = read_table(run / "frames.tsv")
        self.assertEqual([(row["frame"], row["number"]) for row in rows], [("0", "19"), ("1", "20"), ("2", "21")])
        self.assertEqual([float(row["energy"]) for row in rows], [19, 20, 21])
        self.assertEqual([int(row["frame_of_file"]) for row in rows], [19, 20, 21])

    def test_models_are_read_by_rank_with_their_names(self):
        models = []
        for n in range(4):
            plddt = [60 + 5 * ((n + 2) % 4) + k for k in range(5)]
            models.append(("".join(ATOM.format(k, "CA", "ALA", "A", k, 3.8 * k, n * k % 3, 0.5 * n, "C").replace(
                "  0.00          ", f"{plddt[k - 1]:6.2f}          ") for k in range(1, 6)) + "END\n", plddt))
        folder, ranked = self.colabfold(models)
        run = self.run_pleat("rmsd", folder, "--scores", "folder", "--select", "plddt >= 70")
        self.assertIn("4 models of ColabFold, the best first", self.said)
        rows = read_table(run / "frames.tsv")
        self.assertEqual([row["name"] for row in rows],
                         [f"job_unrelaxed_rank_{r:03d}_alphafold2_ptm_model_1_seed_{r:03d}" for r in range(1, 5)])
        self.assertEqual([float(row["plddt"]) for row in rows], [mean(plddt) for _, plddt in ranked])
        # The means over models are 67.5 to 71.5.
        self.assertEqual(manifest(run)["results"]["atoms"], 2)
        # A run of clusters finds the folder again.
        again = self.run_pleat("cluster", run, "--cutoff", 3, run="again")
        self.assertEqual([row["name"] for row in read_table(again / "frames.tsv")], [row["name"] for row in rows])

    def test_refuses_in_one_line(self):
        path, energies = self.frames()
        table = self.energies(energies)

        def refused(code, *arguments, texts=()):
            self.assert_refused(pleat("rmsd", *arguments, "-o", self.folder / "no"), code, *texts)
        refused(3, path, "--scores", self.energies(energies[:-1], "few.tsv"), "--score", "energy",
                texts=["few.tsv", "frame 39"])
        refused(3, path, "--scores", self.energies([*energies, 1], "many.tsv"), "--score", "energy",
                texts=["many.tsv", "40 frames"])
        refused(3, path, "--scores", "folder", texts=["--scores folder"])
        refused(3, path, "--scores", self.folder / "none.tsv", texts=["none.tsv"])
        refused(2, path, "--scores", table, "--best", "3", texts=["--score", "energy, size"])
        refused(2, path, "--scores", table, "--score", "mass", texts=["energy, size", "mass"])
        refused(2, path, "--best", "3", texts=["--scores"])
        refused(2, path, "--least", texts=["--scores"])
        refused(2, path, "--scores", table, "--score", "energy", "--worst-left-out", "110%", texts=["110%"])
        (self.folder / "empty").mkdir()
        refused(3, self.folder / "empty", texts=["empty", "found none"])

    @unittest.skipUnless(KAIB.exists(), "shared data are not beside this repository")
    def test_kaib_as_a_colabfold_folder(self):
        with gzip.open(KAIB / "KaiB_every4_allatom.pdb.gz", "rt") as file:
            texts = ["".join(line for line in text.splitlines(True) if line.startswith("ATOM")) + "END\n"
                     for text in file.read().split("ENDMDL")[:-1]]
        models = [(text, [float(line[60:66]) for line in text.splitlines() if line[12:16].strip() == "CA"])
                  for text in texts]
        self.assertEqual(len(models), 333)
        folder, ranked = self.colabfold(models)
        run = self.run_pleat("cluster", folder, "--select", "ca and plddt >= 50", "--scores", "folder",
                             "--best", 100, "--cutoff", 3)
        rows = read_table(run / "frames.tsv")
        self.assertEqual([int(row["number"]) for row in rows], list(range(100)))
        for row, (_, plddt) in zip(rows, ranked):
            self.assertAlmostEqual(float(row["plddt"]), mean(plddt), places=5)
        # A list of the files of the hundred best is the same ensemble.
        files = sorted(folder.glob("*.pdb"))[:100]
        listed = self.run_pleat("cluster", f"@{self.write('best.txt', chr(10).join(map(str, files)))}", "--select",
                                "ca and plddt >= 50", "--cutoff", 3, run="listed")
        self.assertEqual((listed / "assignment.npy").read_bytes(), (run / "assignment.npy").read_bytes())
        self.assertEqual(results(listed)["medoids.pdb"], results(run)["medoids.pdb"])


if __name__ == "__main__":
    unittest.main()
