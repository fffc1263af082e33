# pleat select: two made folds ranked by contacts, clusters and a curve; stages kept; refusals in a line.
import json
import math
import random
import signal
import struct
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest, clean_environment, manifest, pleat, read_table

LETTERS = "ACDEFGHIKLMNPQRSTVWY"
NAMES = ["ALA", "CYS", "ASP", "GLU", "PHE", "GLY", "HIS", "ILE", "LYS", "LEU", "MET", "ASN", "PRO", "GLN", "ARG",
         "SER", "THR", "VAL", "TRP", "TYR"]
SEQUENCE = LETTERS + LETTERS[::-1]


def hairpin(n):
    """Residue n of two strands side by side, 5 angstrom apart."""
    return (3.4 * min(n, 39 - n), 5.0 * (n >= 20), 0.3 * (n % 2))


def helix(n):
    return (2.3 * math.cos(1.745 * n), 2.3 * math.sin(1.745 * n), 1.5 * n)


def coil(n):
    """A wide helix of ten residues a turn, each 5 angstrom above the tenth before it."""
    return (5.6 * math.cos(0.2 * math.pi * n), 5.6 * math.sin(0.2 * math.pi * n), 0.5 * n)


def two_folds(seed=3):
    """Kinds and frames: hairpins, fewer coils, and helices that no contact supports."""
    source = random.Random(seed)
    kinds = [hairpin] * 12 + [coil] * 6 + [helix] * 4
    source.shuffle(kinds)
    return kinds, [[tuple(x + source.gauss(0, 0.25) for x in kind(n)) for n in range(40)] for kind in kinds]


def pdb_text(frames, first=101):
    text = ""
    for model, frame in enumerate(frames, 1):
        text += f"MODEL     {model:4d}\n"
        for number, (x, y, z) in enumerate(frame):
            text += (f"ATOM  {number + 1:5d}  CA  {NAMES[LETTERS.index(SEQUENCE[number])]} A{number + first:4d}    "
                     f"{x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00           C  \n")
        text += "TER\nENDMDL\n"
    return text + "END\n"


def rr_text(extra=""):
    """Contacts of the hairpin, strong, and fewer and weaker ones of the coil."""
    pairs = [(n + 1, 40 - n, 0.9 - n / 100) for n in range(15)]
    pairs += [(n + 1, n + 11, 0.5 - n / 100) for n in range(10)]
    return ("PFRMAT RR\nMODEL 1\n" + SEQUENCE + "\n" +
            "".join(f"{i} {j} 0 8 {p:.3f}\n" for i, j, p in pairs) + extra + "END\n")


def changed(sequence):
    """The sequence with S at six places of ten."""
    return "".join(one if n % 10 < 4 else "S" for n, one in enumerate(sequence))


def family_text(rows=60, seed=4, sequence=SEQUENCE):
    source = random.Random(seed)
    made = [sequence]
    for _ in range(rows - 1):
        made.append("".join(source.choice(LETTERS) if source.random() < 0.4 else one for one in sequence))
    return "".join(f">row{n}\n{row}\n" for n, row in enumerate(made))


class Select(ProgramTest):
    def setUp(self):
        super().setUp()
        self.kinds, frames = two_folds()
        self.ensemble = self.folder / "models.pdb"
        self.ensemble.write_text(pdb_text(frames))
        self.contacts = self.folder / "contacts.rr"
        self.contacts.write_text(rr_text())
        self.run_folder = self.folder / "run"

    def call(self, *arguments):
        """Runs pleat to its good end; what it told on standard error comes back."""
        done = pleat(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stderr.decode()

    def select(self, *more, folder=None):
        return self.call("select", "--ensemble", self.ensemble, "-o", folder or self.run_folder, *more)

    def kinds_of(self, table, column):
        return [self.kinds[int(row[column])].__name__ for row in table]

    def test_ranks_frames_and_selects_both_folds(self):
        self.select("--contacts", self.contacts)
        scores = read_table(self.run_folder / "scores.tsv")
        self.assertEqual([int(row["place"]) for row in scores], list(range(1, 23)))
        self.assertEqual(self.kinds_of(scores[:12], "frame"), ["hairpin"] * 12)
        clusters = read_table(self.run_folder / "clusters.tsv")
        self.assertEqual([row["selected"] for row in clusters], ["1", "2", "3"])
        self.assertEqual(self.kinds_of(clusters, "medoid"), ["hairpin", "coil", "helix"])
        self.assertEqual(self.kinds_of(clusters, "best"), ["hairpin", "coil", "helix"])
        self.assertGreater(float(clusters[1]["added"]), 0)
        self.assertEqual(float(clusters[2]["added"]), 0)
        explained = {(row["i"], row["j"]): row for row in read_table(self.run_folder / "explained.tsv")}
        self.assertEqual(explained["1", "40"]["residue_j"], "ALA 140")
        self.assertEqual(explained["1", "40"]["explained_by"], "1")
        self.assertEqual(explained["1", "11"]["explained_by"], "2")
        self.assertEqual(float(explained["1", "40"]["selected_2"]), 0)
        for name in ("best.pdb", "medoids.pdb"):
            self.assertEqual((self.run_folder / name).read_text().count("MODEL "), 3)
        found = manifest(self.run_folder)["results"]
        self.assertEqual((found["frames"], found["clusters"], found["selected"], found["identity"]), (22, 3, 3, 1))
        self.assertEqual(found["contacts"], 25)
        self.assertEqual(self.kinds[found["best_frame"]], hairpin)
        keys = [work["key"] for work in manifest(self.run_folder)["citations"]]
        self.assertIn("Daura1999", keys)
        self.assertIn("Zhang2004", keys)
        self.assertIn("@article{Daura1999", (self.run_folder / "cite.bib").read_text())

    def test_a_group_of_an_index_file_is_superposed(self):
        index = self.folder / "a.ndx"
        index.write_text("[ Few atoms ]\n1 2 3 4 5 6\n")
        tables = []
        for name, select in (("numbers", "index 0 to 5"), ("group", f"{index}:Few atoms")):
            self.select("--contacts", self.contacts, "--select", select, folder=self.folder / name)
            tables.append((self.folder / name / "scores.tsv").read_bytes())
        self.assertEqual(*tables)

    def test_shares_of_contacts_are_those_counted(self):
        self.select("--contacts", self.contacts, "--contact-cutoff", "7", "--contacts-per-residue", "0.1")
        strengths = {(n, 39 - n): 0.9 - n / 100 for n in range(4)}  # the 4 strongest of 40 residues
        _, frames = two_folds()
        frames = [[tuple(float(f"{x:.3f}") for x in atom) for atom in frame] for frame in frames]
        for row in read_table(self.run_folder / "scores.tsv"):
            frame = frames[int(row["frame"])]
            share = sum(p for (i, j), p in strengths.items() if math.dist(frame[i], frame[j]) < 7)
            self.assertAlmostEqual(float(row["contacts"]), share / sum(strengths.values()), places=5)

    def test_a_curve_of_the_second_fold_puts_it_first(self):
        kinds = [kind for kind in self.kinds]
        coiled = self.folder / "coil.pdb"
        coiled.write_text(pdb_text([[coil(n) for n in range(40)]]))
        self.call("saxs", coiled, "-o", self.folder / "profile", "--q-max", "0.4")
        curve = self.folder / "curve.dat"
        rows = read_table(self.folder / "profile" / "profile.tsv")[3:]
        curve.write_text("".join(f"{row['q']} {row['intensity']} {0.02 * float(row['intensity']):.6g}\n"
                                 for row in rows))
        self.select("--data", curve)
        scores = read_table(self.run_folder / "scores.tsv")
        by_chi2 = sorted(scores, key=lambda row: float(row["chi2"]))
        self.assertEqual({kinds[int(row["frame"])] for row in by_chi2[:6]}, {coil})
        self.assertEqual({row["contacts"] for row in scores}, {"NA"})
        self.select("--data", curve, "--weight-clusters", "0", "--force")
        clusters = read_table(self.run_folder / "clusters.tsv")
        self.assertEqual(self.kinds_of(clusters[:1], "best"), ["coil"])
        self.assertEqual(float(clusters[0]["min_chi2"]), min(float(row["chi2"]) for row in by_chi2))
        self.assertFalse((self.run_folder / "explained.tsv").exists())

    def test_a_score_that_is_named_ranks_frames(self):
        energies = self.folder / "energies.tsv"
        energies.write_text("frame\tenergy\tsize\n" + "".join(
            f"{n}\t{'NA' if n == 3 else -n if kind is helix else n}\t{n}\n" for n, kind in enumerate(self.kinds)))
        told = pleat("select", "--ensemble", self.ensemble, "-o", self.run_folder, "--scores", energies, "--score", "energy",
                     "--least", "--weight-clusters", "0")
        self.assertIn(b"\nframes are also ranked by their energy, with weight 1\n", told.stdout)
        scores = read_table(self.run_folder / "scores.tsv")
        known = [row for row in scores if row["energy"] != "NA"]
        self.assertEqual(known, sorted(known, key=lambda row: float(row["energy"])))
        self.assertEqual((scores[-1]["frame"], scores[-1]["score_part"], scores[0]["score_part"]), ("3", "0", "1"))
        self.assertEqual(self.kinds_of(read_table(self.run_folder / "clusters.tsv")[:1], "best"), ["helix"])
        # Beside contacts it is one of three ranks; a score that is not named only has a column.
        self.select("--contacts", self.contacts, "--scores", energies, "--score", "energy", "--least", "--force",
                    "--weight-score", "2")
        for row in read_table(self.run_folder / "scores.tsv"):
            parts = [float(row[name]) for name in ("contact_part", "cluster_part", "score_part")]
            self.assertAlmostEqual(float(row["joined"]), (parts[0] + parts[1] + 2 * parts[2]) / 4, places=4)
        self.select("--contacts", self.contacts, folder=self.folder / "plain")
        self.select("--contacts", self.contacts, "--scores", energies, folder=self.folder / "unnamed")
        plain, unnamed = (read_table(self.folder / name / "scores.tsv") for name in ("plain", "unnamed"))
        self.assertEqual([row["joined"] for row in plain], [row["joined"] for row in unnamed])
        self.assertEqual({row["score_part"] for row in unnamed}, {"NA"})
        self.assertEqual(unnamed[0]["size"], unnamed[0]["frame"])

    def test_warns_of_an_ensemble_of_another_family(self):
        doubt = f"{self.ensemble}: chain A has an identity of only 0.4"
        self.assertNotIn("an identity of only", self.select("--contacts", self.contacts))
        other = self.folder / "other.rr"
        other.write_text(rr_text().replace(SEQUENCE, changed(SEQUENCE)))
        told = self.select("--contacts", other, folder=self.folder / "second")
        self.assertIn(doubt, told)
        self.assertIn(f" to the sequence of {other}; is it a structure of this family?", told)
        family = self.folder / "family.fasta"
        family.write_text(family_text(sequence=changed(SEQUENCE)))
        told = self.select("--alignment", family, folder=self.folder / "third")
        self.assertIn(doubt, told)
        self.assertRegex(told, r" to row 'row\d+'; is it a structure of this family\?")

    def test_an_alignment_is_fitted_and_stages_are_kept(self):
        family = self.folder / "family.fasta"
        family.write_text(family_text() + f">odd\n{SEQUENCE[:-1]}?\n")
        self.select("--alignment", family)
        notes = [note for note in manifest(self.run_folder)["notes"] if note["kind"] == "alphabet"]
        self.assertEqual(len(notes), 1)
        parts = {name: manifest(self.run_folder / name) for name in ("couplings", "clusters")}
        self.assertEqual(parts["couplings"]["parameters"]["row"], "row0")
        self.assertEqual(parts["clusters"]["command"], "cluster")
        again = self.select("--alignment", family, "--force", "--weight-clusters", "0.5")
        self.assertEqual(again.count("unchanged, using the existing results"), 2)
        self.assertEqual([note for note in manifest(self.run_folder)["notes"] if note["kind"] == "alphabet"], notes)
        for name, before in parts.items():
            self.assertEqual(manifest(self.run_folder / name)["started"], before["started"])
        other = self.select("--alignment", family, "--force", "--cutoff", "5")
        self.assertEqual(other.count("unchanged, using the existing results"), 1)
        self.assertRegex(other, "clusters: replaced, it has 'cutoff'")
        # The run of couplings is taken as --contacts too, and gives the same.
        first = (self.run_folder / "scores.tsv").read_text()
        self.select("--contacts", self.run_folder / "couplings", "--cutoff", "5", folder=self.folder / "second")
        self.assertEqual((self.folder / "second" / "scores.tsv").read_text(), first)
        page = self.folder / "page.html"
        self.call("report", self.run_folder, "-o", page)
        data = page.read_text().split('id="pleat-data">')[1].split("</script>")[0]
        runs = json.loads(data)["runs"]
        self.assertEqual([run["name"] for run in runs], ["run", "run/clusters", "run/couplings"])
        kinds = [section["kind"] for section in runs[0]["sections"]]
        self.assertEqual(kinds[:5], ["table", "scatter", "table", "models", "models"])

    def test_each_stage_records_the_command_that_repeats_it(self):
        family = self.folder / "family.fasta"
        family.write_text(family_text())
        curve = self.folder / "curve.dat"
        curve.write_text("".join(f"{0.01 * n:.3f} {math.exp(-0.01 * n * n):.6g} 0.01\n" for n in range(3, 30)))
        self.select("--alignment", family, "--data", curve, "--method", "average", "--k", "2:6", "--seed", "7",
                    "--threads", "1")
        for name, table in (("couplings", "contacts.tsv"), ("clusters", "clusters.tsv"), ("saxs", "frames.tsv")):
            first = manifest(self.run_folder / name)
            words = first["arguments"]
            self.assertEqual(words[0], first["command"])
            at = words.index("-o") + 1
            self.assertEqual(words[at], str(self.run_folder / name))
            again = self.folder / f"again-{name}"
            self.call(*words[:at], again, *words[at + 1:])
            second = manifest(again)
            for key in ("command", "parameters", "seed", "threads"):
                self.assertEqual(second[key], first[key], (name, key))
            self.assertEqual((again / table).read_text(), (self.run_folder / name / table).read_text())

    def test_resumes_with_the_stages_of_a_run_that_was_stopped(self):
        family = self.folder / "family.fasta"
        family.write_text(family_text(4000))
        command = [PROGRAM, "select", "--ensemble", self.ensemble, "--alignment", family, "-o", self.run_folder]
        process = subprocess.Popen([str(one) for one in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**clean_environment(), "PLEAT_CHECKPOINT_SECONDS": "0"})
        while process.poll() is None and not (self.run_folder / "couplings" / "checkpoint.npz").exists():
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        process.communicate()
        if process.returncode == 0:
            self.skipTest("the fit ended before it could be stopped")
        self.assertEqual(process.returncode, 130)
        self.assertEqual(manifest(self.run_folder)["status"], "unfinished")
        done = self.select("--alignment", family)
        self.assertRegex(done, "clusters: unchanged")
        self.assertTrue(manifest(self.run_folder / "couplings")["resumed"])
        self.assertEqual(manifest(self.run_folder)["status"], "finished")

    def refused(self, code, text, *more):
        done = pleat("select", "--ensemble", self.ensemble, "-o", self.run_folder, "-q", *more)
        self.assert_refused(done, code, text)
        self.assertFalse(self.run_folder.exists(), text)

    def test_refuses_in_one_line_and_leaves_nothing(self):
        broken = self.folder / "broken.rr"
        broken.write_text(rr_text("1 99 0 8 0.5\n"))
        other = self.folder / "other.rr"
        other.write_text("W" * 40 + "\n1 30 0 8 0.9\n")
        rna = self.folder / "rna.fasta"
        rna.write_text(">a\nACGUACGUAC\n>b\nACGUACGUAA\n")
        family = self.folder / "other.fasta"
        family.write_text(">a\n" + "W" * 40 + "\n>b\n" + "WC" * 20 + "\n")
        near = self.folder / "near.rr"
        near.write_text(SEQUENCE + "\n1 4 0 8 0.9\n")
        contacts = ("--contacts", self.contacts)
        self.refused(2, "give --alignment, --contacts, --data or --score besides the ensemble")
        self.refused(2, "give either --alignment or --contacts, not both", *contacts, "--alignment", "a")
        self.refused(2, "'-': give a file", "--alignment", "-")
        self.refused(3, "broken.rr:29: expected two residues from 1 to 40, found 1 and 99", "--contacts", broken)
        self.refused(3, "absent.rr", "--contacts", self.folder / "absent.rr")
        self.refused(3, "expected the folder of a finished 'pleat couplings', found another one",
                     "--contacts", self.folder)
        self.refused(3, "expected a structure of the family in " + str(other), "--contacts", other)
        self.refused(3, "expected a structure of the family in " + str(family), "--alignment", family)
        self.refused(3, "rna.fasta: expected an alignment of proteins, found one of rna", "--alignment", rna)
        self.refused(3, "near.rr: expected pairs at least 6 residues apart", "--contacts", near)
        self.refused(3, "absent.dat", "--data", self.folder / "absent.dat")
        self.refused(2, "weight-saxs", *contacts, "--weight-saxs", "-1")
        self.refused(2, "--method kmedoids", *contacts, "--method", "kmedoids")
        self.refused(2, "expected a weight above 0 for contacts, clusters, scattering or a score", *contacts,
                     "--weight-contacts", "0", "--weight-clusters", "0")
        self.refused(2, "frames", *contacts, "--frames", "a:b")
        self.refused(3, "models.pdb", *contacts, "--frames", "100::")

    def test_coordinates_without_names_take_a_topology(self):
        source = self.folder / "frames.npy"
        _, frames = two_folds()
        values = [x for frame in frames for atom in frame for x in atom]
        head = str({"descr": "<f4", "fortran_order": False, "shape": (len(frames), 40, 3)})
        head += " " * (63 - (len(head) + 10) % 64) + "\n"
        source.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() +
                           struct.pack(f"<{len(values)}f", *values))
        named = self.ensemble
        self.ensemble = source
        self.refused(3, "expected atoms with names for contacts, found coordinates only: give --topology",
                     "--contacts", self.contacts, "--select", "all")
        self.select("--contacts", self.contacts, "--topology", named)
        self.assertEqual(manifest(self.run_folder)["results"]["frames"], len(frames))

    def test_kept_stages_give_the_same_bytes(self):
        family = self.folder / "family.fasta"
        family.write_text(family_text())
        curve = self.folder / "curve.dat"
        curve.write_text("".join(f"{0.01 * n:.3f} {math.exp(-0.01 * n * n):.6g} 0.01\n" for n in range(3, 30)))
        first = self.select("--alignment", family, "--data", curve)
        self.assertNotIn("unchanged", first)
        fresh = {name: (self.run_folder / name).read_bytes()
                 for name in ("scores.tsv", "clusters.tsv", "explained.tsv", "best.pdb")}
        again = self.select("--alignment", family, "--data", curve, "--force")
        self.assertEqual(again.count("unchanged, using the existing results"), 3)
        for name, data in fresh.items():
            self.assertEqual((self.run_folder / name).read_bytes(), data, name)

    def test_a_finished_run_is_left_alone(self):
        self.select("--contacts", self.contacts)
        before = (self.run_folder / "scores.tsv").read_bytes()
        done = pleat("select", "--ensemble", self.ensemble, "-o", self.run_folder, "-q", "--contacts", self.contacts)
        self.assert_refused(done, 2, "holds a finished run of 'pleat select'", "--force")
        self.assertEqual((self.run_folder / "scores.tsv").read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
