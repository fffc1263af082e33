# pleat refine: frames of a made hinge, the same for any threads and after a stop; refusals in a line.
import gzip
import json
import signal
import struct
import subprocess
import time
import unittest

from program import DATA, PROGRAM, ProgramTest, clean_environment, manifest, pleat, read_table

STRUCTURE = DATA / "1a8o.pdb.gz"
LINKER = ("--linkers", "A:174-179")
SEQUENCE = "MDIRQGPKEPFRDYVDRFYKTLRAEQASQEVKNWMTETLLVQNANPDCKTILKALGPGATLEEMMTACQG"  # of 151 to 220
HISTATIN = "DSHAKRHHGYKRKFHEKHHSHRGY"
FEW = ("--frames", 60, "--chains", 4, "--moves", 20)


def frame_count(path):
    """The number of frames in the header of a DCD file."""
    return struct.unpack("<i", path.read_bytes()[8:12])[0]


class Refine(ProgramTest):
    def refine(self, folder, *options, code=0):
        done = pleat("refine", STRUCTURE, *options, "-o", self.folder / folder)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done

    def test_writes_frames_and_says_that_few_have_not_converged(self):
        done = self.refine("run", *LINKER, *FEW)
        self.assertTrue(done.stdout.decode().startswith("not converged: rg has R-hat"))
        self.assertIn("WARNING: not converged", done.stderr.decode())
        run = self.folder / "run"
        self.assertEqual(frame_count(run / "frames.dcd"), 60)
        rows = read_table(run / "frames.tsv")
        self.assertEqual(len(rows), 60)
        self.assertEqual([row["chain"] for row in rows[:5]], ["0", "1", "2", "3", "0"])
        self.assertEqual(rows[0]["step"], "420")  # 20 frames of burn-in, and this one
        self.assertTrue(all(10 < float(row["rg"]) < 40 for row in rows))
        self.assertGreater(len({row["distance_1_2"] for row in rows}), 30)
        told = json.loads((run / "convergence.json").read_text(encoding="utf-8"))
        self.assertFalse(told["converged"])
        self.assertEqual(told["domains"], ["A:180-220", "A:151-173"])
        self.assertEqual([one["name"] for one in told["quantities"]], ["rg", "distance_1_2"])
        self.assertEqual(manifest(run)["results"]["converged"], "no")
        # The names fit the frames.
        measured = pleat("rmsd", run / "frames.dcd", "--topology", run / "topology.pdb", "-o", self.folder / "rmsd")
        self.assertEqual(measured.returncode, 0, measured.stderr.decode())

    def test_writes_profiles_of_frames_without_a_curve(self):
        profiles = ("--profiles", "--model", "two-bead", "--q-max", 0.3, "--q-points", 31)
        done = self.refine("run", *LINKER, *FEW, *profiles)
        self.assertIn("not converged", done.stdout.decode().splitlines()[0])
        run = self.folder / "run"
        same = pleat("saxs", run / "frames.dcd", "--topology", run / "topology.pdb", *profiles[1:], "-o", self.folder / "same")
        self.assertEqual(same.returncode, 0, same.stderr.decode())
        for name in ("profiles.npy", "q.npy", "frames.tsv"):
            self.assertEqual((run / "saxs" / name).read_bytes(), (self.folder / "same" / name).read_bytes(), name)
        self.assertIn(b"(60, 31)", (run / "saxs" / "profiles.npy").read_bytes()[:128])
        self.assertIn("profiles.npy", [one["file"] for one in manifest(run / "saxs")["outputs"]])
        self.assertTrue(manifest(run)["parameters"]["profiles"])
        self.assertFalse((run / "saxs" / "fit.json").exists())
        self.refine("plain", *LINKER, *FEW)
        self.assertFalse((self.folder / "plain" / "saxs").exists())
        self.assertEqual((run / "frames.dcd").read_bytes(), (self.folder / "plain" / "frames.dcd").read_bytes())
        estimate = pleat("refine", STRUCTURE, *LINKER, *FEW, *profiles, "--estimate")
        self.assertEqual(estimate.returncode, 0, estimate.stderr.decode())

    def test_finds_clusters_of_frames_for_the_page(self):
        done = self.refine("run", *LINKER, *FEW, "--cluster-cutoff", 4)
        run = self.folder / "run"
        rows = read_table(run / "clusters" / "clusters.tsv")
        self.assertIn(f"60 items, {len(rows)} clusters by gromos", done.stdout.decode())
        self.assertEqual(sum(int(row["size"]) for row in rows), 60)
        self.assertGreater(len(rows), 1)
        same = pleat("cluster", run / "frames.dcd", "--topology", run / "topology.pdb", "--select", "ca", "--cutoff", 4,
                     "-o", self.folder / "same")
        self.assertEqual(same.returncode, 0, same.stderr.decode())
        for name in ("assignment.npy", "medoids.pdb"):
            self.assertEqual((run / "clusters" / name).read_bytes(), (self.folder / "same" / name).read_bytes(), name)
        page = self.folder / "page.html"
        self.assertEqual(pleat("report", run, "-o", page).returncode, 0)
        text = page.read_text(encoding="utf-8")
        for title in ("Rg by frame", "Medoids", "Cluster against time"):
            self.assertIn(title, text)
        estimate = pleat("refine", STRUCTURE, *LINKER, *FEW, "--cluster-cutoff", 4, "--estimate")
        self.assertEqual(estimate.returncode, 0, estimate.stderr.decode())

    def test_has_the_same_bits_for_any_number_of_threads(self):
        for threads in (1, 2):
            self.refine(f"run{threads}", *LINKER, *FEW, "-t", threads)
        for name in ("frames.dcd", "frames.tsv", "convergence.json"):
            self.assertEqual((self.folder / "run1" / name).read_bytes(), (self.folder / "run2" / name).read_bytes())
        self.refine("other", *LINKER, *FEW, "--seed", 2)
        self.assertNotEqual((self.folder / "run1" / "frames.dcd").read_bytes(),
                            (self.folder / "other" / "frames.dcd").read_bytes())

    def test_resumes_after_an_interrupt_with_the_same_bits(self):
        options = [*LINKER, "--frames", 2000, "--chains", 4, "--moves", 200]
        self.refine("whole", *options)
        command = [PROGRAM, "refine", STRUCTURE, *options, "-o", self.folder / "stopped"]
        with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=clean_environment()) as process:
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=120)
        if process.returncode == 0:
            self.skipTest("the run was over before it was interrupted")
        self.assertEqual(process.returncode, 130, errors.decode())
        self.refine("stopped", *options)
        self.assertTrue(manifest(self.folder / "stopped")["resumed"])
        self.assertEqual((self.folder / "whole" / "frames.dcd").read_bytes(),
                         (self.folder / "stopped" / "frames.dcd").read_bytes())

    def made_curve(self):
        done = pleat("saxs", STRUCTURE, "-o", self.folder / "native", "--q-max", 0.3)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        rows = read_table(self.folder / "native" / "profile.tsv")
        curve = self.folder / "curve.dat"
        curve.write_text("".join(f"{row['q']} {row['intensity']} {0.02 * float(row['intensity'])}\n" for row in rows),
                         encoding="utf-8")
        return curve

    def test_fits_the_frames_to_a_curve(self):
        done = self.refine("run", *LINKER, *FEW, "--data", self.made_curve(), "--model", "two-bead")
        self.assertIn(" effective frames of 60", done.stdout.decode())
        fitted = self.folder / "run" / "saxs"
        self.assertEqual(len(read_table(fitted / "frames.tsv")), 60)
        self.assertTrue((fitted / "minimal_ensemble.tsv").exists())
        chosen = [row for row in read_table(fitted / "minimal_ensemble.tsv") if row["chosen"] == "1"]
        self.assertEqual((fitted / "members.pdb").read_text().count("\nENDMDL"), len(chosen))
        rows = {row["quantity"]: row for row in read_table(self.folder / "run" / "ensemble.tsv")}
        self.assertEqual(set(rows), {"rg", "distance_1_2"})
        rg = sorted(float(row["rg"]) for row in read_table(self.folder / "run" / "frames.tsv"))
        self.assertAlmostEqual(float(rows["rg"]["pool_50"]), rg[30], delta=1e-3)
        self.assertLessEqual(float(rows["rg"]["ensemble_rflex"]), 1)
        self.assertEqual(manifest(fitted)["status"], "finished")
        self.assertIn("saxs", manifest(self.folder / "run")["stages"])
        self.assertNotIn("chi2", read_table(self.folder / "run" / "frames.tsv")[0])

    def test_weighs_frames_by_observables_without_a_curve(self):
        table = self.folder / "means.csv"
        head, rows = "name,value,error,kind,average,computed\n", "near,8,1,upper,r^-6,A:160:CA-A:190:CA\nrg,14,0.5,,,rg\n"
        table.write_text(head + rows, encoding="utf-8")
        self.refine("run", *LINKER, *FEW, "--observables", table)
        fitted = self.folder / "run" / "saxs"
        self.assertEqual(len(read_table(fitted / "weights.tsv")), 60)
        near, rg = read_table(fitted / "observables.tsv")
        self.assertEqual((near["name"], near["kind"], near["average"]), ("near", "upper", "r^-6"))
        deviations = [abs(float(rg[key]) - 14) for key in ("mean_before", "mean")]
        self.assertLess(deviations[1], deviations[0])
        self.assertEqual(manifest(fitted)["results"]["observables"], 2)
        table.write_text(head + "near,8,1,,,\n", encoding="utf-8")
        done = self.refine("none", *LINKER, *FEW, "--observables", table, code=3)
        self.assertIn(b"expected how each observable is computed", done.stderr)
        self.assertFalse((self.folder / "none").exists())
        table.write_text(head + "far,8,1,,,A:160:CA-A:999:CA\n", encoding="utf-8")
        done = self.refine("none", *LINKER, *FEW, "--observables", table, code=3)
        self.assertIn(b"A:999:CA", done.stderr)
        self.assertNotIn(b"sample", done.stderr)

    def test_draws_frames_by_the_likelihood_of_a_curve(self):
        curve = self.made_curve()
        done = self.refine("fit", *LINKER, "--mode", "fit", "--frames", 256, "--chains", 4, "--moves", 10, "--doublings",
                           0, "--data", curve, "--model", "two-bead", "--no-reweight")
        self.assertIn(" powers of the likelihood; frames descend from ", done.stdout.decode())
        rows = read_table(self.folder / "fit" / "frames.tsv")
        self.refine("pool", *LINKER, "--frames", 256, "--chains", 2, "--moves", 50)
        pool = read_table(self.folder / "pool" / "frames.tsv")

        def spread(table):
            return sorted(float(row["rg"]) for row in table)[230] - sorted(float(row["rg"]) for row in table)[25]
        self.assertLess(spread(rows), spread(pool))
        self.assertLess(sorted(float(row["chi2"]) for row in rows)[128], 5)
        told = json.loads((self.folder / "fit" / "convergence.json").read_text(encoding="utf-8"))
        self.assertEqual((told["evidence"]["powers"][0], told["evidence"]["powers"][-1]), (0, 1))
        self.assertIn("passed", told["misfit"])
        known = manifest(self.folder / "fit")["results"]
        self.assertIn(known["residuals_are_noise"], ("yes", "no"))
        self.assertEqual(known["log_evidence"], told["evidence"]["log_evidence"])
        done = self.refine("few", *LINKER, "--mode", "fit", "--chains", 3, "--data", curve, code=2)
        self.assertIn("of at least 4 in mode fit", done.stderr.decode())
        self.refine("none", *LINKER, "--mode", "fit", code=2)
        self.refine("none", *LINKER, "--mode", "fit", "--data", curve, "--background", code=2)

    def test_refuses_a_gpu_that_is_missing(self):
        curve = self.made_curve()
        for mode in ("pool", "fit"):
            done = self.refine("run", *LINKER, *FEW, "--mode", mode, "--data", curve, "--device", "cuda:63", code=4)
            self.assertEqual(len(done.stderr.decode().splitlines()), 1, done.stderr.decode())
            self.assertFalse((self.folder / "run").exists())

    def predicted(self):
        """A model with pLDDT 50 in residues 174 to 179 and 90 elsewhere, and its predicted errors."""
        lines = [line for line in gzip.decompress(STRUCTURE.read_bytes()).decode().splitlines()
                 if line.startswith("ATOM")]
        model, errors = self.folder / "model.pdb", self.folder / "pae.json"
        model.write_text("".join(f"{line[:60]}{50 if 174 <= int(line[22:26]) <= 179 else 90:6.2f}{line[66:]}\n"
                                 for line in lines), encoding="ascii")
        numbers = list(dict.fromkeys(int(line[22:26]) for line in lines if line[12:16] == " CA "))
        errors.write_text(json.dumps([{"predicted_aligned_error": [
            [2 if (a < 177) == (b < 177) else 25 for b in numbers] for a in numbers]}]), encoding="ascii")
        return model, errors

    def test_finds_linkers_by_predicted_errors(self):
        model, errors = self.predicted()
        done = pleat("refine", model, "--pae", errors, *FEW, "-o", self.folder / "run")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn("--linkers A:174-179", done.stdout.decode())
        run = self.folder / "run"
        self.assertEqual((run / "domains.txt").read_text(encoding="ascii"), "--linkers A:174-179\n")
        self.assertIn(str(errors), json.dumps(manifest(run)["inputs"]))
        again = pleat("refine", model, *LINKER, *FEW, "-o", self.folder / "given")
        self.assertEqual(again.returncode, 0, again.stderr.decode())
        self.assertEqual((run / "frames.dcd").read_bytes(), (self.folder / "given" / "frames.dcd").read_bytes())
        self.assertFalse((self.folder / "given" / "domains.txt").exists())
        rows = json.loads(errors.read_text(encoding="ascii"))
        rows[0]["predicted_aligned_error"].pop()
        errors.write_text(json.dumps(rows), encoding="ascii")
        for options, code, told in ((("--pae", errors), 3, "expected a square matrix of 65 rows"),
                                    (("--pae", errors, *LINKER), 2, "give one of --linkers, --rigid and --pae"),
                                    (("--pae", errors, "--group", "A:151-170"), 2, "or --pae, which finds groups itself"),
                                    (("--pae", self.folder / "none"), 3, "none")):
            done = pleat("refine", model, *options, "-o", self.folder / "refused")
            lines = [line for line in done.stderr.decode().splitlines() if line.startswith("pleat: ")]
            self.assertEqual((done.returncode, len(lines)), (code, 1), done.stderr.decode())
            self.assertIn(told, lines[0])

    def with_gap(self, sequence=SEQUENCE):
        """The structure without residues 174 to 179, and a file of its sequence."""
        lines = gzip.decompress(STRUCTURE.read_bytes()).decode().splitlines()
        structure, fasta = self.folder / "domains.pdb", self.folder / "protein.fasta"
        structure.write_text("".join(line + "\n" for line in lines
                                     if line[:6] in ("ATOM  ", "HETATM") and not 174 <= int(line[22:26]) <= 179),
                             encoding="ascii")
        fasta.write_text(f">protein\n{sequence}\n", encoding="ascii")
        return structure, fasta

    def test_builds_missing_linkers_by_a_sequence(self):
        structure, fasta = self.with_gap()
        run = self.folder / "run"
        done = pleat("refine", structure, "--sequence", fasta, *FEW, "-o", run)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn("built 6 missing residues: A:174-179\n", done.stdout.decode())
        self.assertIn("angles of linkers A:174-180", done.stdout.decode())
        told = json.loads((run / "convergence.json").read_text(encoding="utf-8"))
        self.assertEqual((told["linkers"], told["built"]), (["A:174-180"], ["A:174-179"]))
        self.assertEqual(manifest(run)["results"]["built_residues"], 6)
        self.assertIn(str(fasta), json.dumps(manifest(run)["inputs"]))
        atoms = [line for line in (run / "topology.pdb").read_text(encoding="ascii").splitlines()
                 if line.startswith(("ATOM", "HETATM"))]
        names = [line[17:20] for line in atoms if line[12:16] == " CA " and 174 <= int(line[22:26]) <= 179]
        self.assertEqual(names, ["ALA", "GLU", "GLN", "ALA", "SER", "GLN"])
        glutamate = [line[12:16].strip() for line in atoms if line[22:26] == " 175"]
        self.assertEqual(sorted(glutamate), sorted(["N", "CA", "C", "O", "CB", "CG", "CD", "OE1", "OE2"]))
        # Frames have beads of every residue.
        saxs = pleat("saxs", run / "frames.dcd", "--topology", run / "topology.pdb", "--model", "two-bead",
                     "-o", self.folder / "saxs")
        self.assertEqual(saxs.returncode, 0, saxs.stderr.decode())
        # The gap alone is refused, and so are sequences that do not fit, each in a line.
        for sequence, options, code, text in (
                (SEQUENCE, LINKER, 3, "expected residue 174 of A:174-179"),
                (SEQUENCE[:23] + SEQUENCE[24:], ("--sequence", fasta), 3, "whose numbers count along a sequence of"),
                (SEQUENCE[:25] + "X" + SEQUENCE[26:], ("--sequence", fasta), 3, "missing residue 176 of chain 'A', found letter 'X'"),
                (SEQUENCE, ("--sequence", self.folder / "none"), 3, "none"),
                (SEQUENCE, ("--sequence", fasta, "--pae", fasta), 2, "not both")):
            self.with_gap(sequence)
            done = pleat("refine", structure, *options, "-o", self.folder / "refused")
            lines = [line for line in done.stderr.decode().splitlines() if line.startswith("pleat: ")]
            self.assertEqual((done.returncode, len(lines)), (code, 1), done.stderr.decode())
            self.assertIn(text, lines[0])

    def of_sequence(self, text, *options, code=0):
        """Refines a sequence without a structure, in the folder `run`."""
        fasta = self.folder / "protein.fasta"
        fasta.write_text(text, encoding="ascii")
        done = pleat("refine", "--sequence", fasta, *options, "-o", self.folder / "run", "--force")
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done

    def test_samples_a_disordered_protein_and_fits_it(self):
        head = f">sp|P15516|HIS3_HUMAN\n{HISTATIN}*\n"
        done = self.of_sequence(head, *FEW, "--q-max", 0.3, "--model", "two-bead", "--profiles")
        self.assertIn("protein.fasta: 60 frames of 216 atoms, 68 angles of linkers A:1-24\n", done.stdout.decode())
        self.assertIn("without a structure all 24 residues of 'sp|P15516|HIS3_HUMAN' are one linker", done.stderr.decode())
        run = self.folder / "run"
        rows = read_table(run / "saxs" / "profile.tsv")
        curve = self.folder / "curve.dat"
        curve.write_text("".join(f"{row['q']} {row['intensity']} {0.02 * float(row['intensity'])}\n" for row in rows),
                         encoding="ascii")
        fit = ("--data", curve, "--model", "two-bead", "--seed", 2, "--cluster-cutoff", 8)
        done = self.of_sequence(head, *FEW, *fit)
        self.assertIn(" effective frames of 60", done.stdout.decode())
        self.assertEqual([row["quantity"] for row in read_table(run / "ensemble.tsv")], ["rg", "end_to_end"])
        told = json.loads((run / "convergence.json").read_text(encoding="utf-8"))
        self.assertEqual((told["domains"], told["linkers"]), ([], ["A:1-24"]))
        self.assertEqual(told["quantities"][1]["meaning"], "distance between CA of A:1 and of A:24")
        inputs = [str(one) for one in manifest(run)["inputs"]]
        self.assertEqual(sum("protein.fasta" in name for name in inputs), 1, inputs)
        page = self.folder / "page.html"
        self.assertEqual(pleat("report", run, "-o", page).returncode, 0)
        self.assertIn("nd-to-end distance", page.read_text(encoding="utf-8"))
        done = self.of_sequence(head, "--frames", 16, "--chains", 4, "--moves", 2, "--mode", "fit", "--doublings", 0, *fit,
                                "--no-reweight", "--q-max", 0.2)
        self.assertIn("no moves keep a distance of domains", done.stderr.decode())
        self.assertIn("ln of the evidence", done.stdout.decode())
        done = self.of_sequence(head, *FEW, *fit, "--estimate")
        self.assertIn("216 atoms, 68 angles of linkers", done.stdout.decode())
        done = pleat("refine", "--sequence", self.folder / "protein.fasta", *FEW, "--sweep", "seed=1,2", "-o", self.folder / "runs")
        self.assertEqual((done.returncode, len(list((self.folder / "runs").rglob("frames.dcd")))), (0, 2), done.stderr.decode())

    def test_refuses_sequences_without_a_structure_in_a_line(self):
        whole = f">p\n{HISTATIN}\n"
        for text, options, code, told in (
                (">p\nACDF\n", (), 3, "expected at least 5 residues without a structure, found 4"),
                (">p\nACDBFGH\n", (), 3, "residue 4 of chain 'A', found letter 'B'"),
                (">p\nACD-FGH\n", (), 3, "found '-' at position 4 of 'p'"),
                (">p\nACDFGH:ACDFGH\n", (), 3, "write each chain as a sequence of its own"),
                (">1ABC_1|Chain A\nACDFGH\n>1ABC_2|Chain B\nACDFGH\n", (), 3, "expected one sequence without a structure, found 2"),
                (whole, ("--linkers", "A:1-5"), 2, "give a STRUCTURE"),
                (whole, ("--assembly", "1"), 2, "expected a STRUCTURE, found none"),
                (whole, ("--mode", "fit"), 2, "give a curve by --data")):
            done = self.of_sequence(text, *FEW, *options, code=code)
            lines = [line for line in done.stderr.decode().splitlines() if line.startswith("pleat: ")]
            self.assertEqual(len(lines), 1, done.stderr.decode())
            self.assertIn(told, lines[0])
            self.assertFalse((self.folder / "run").exists() and any((self.folder / "run").glob("frames*")))
        done = pleat("refine", "-o", self.folder / "run")
        self.assertIn("or a --sequence alone", done.stderr.decode())

    def dimer(self, *options, code=0, structure=DATA / "1a8o.cif.gz", folder="dimer"):
        done = pleat("refine", structure, *options, "--group", "A:181-220", "-o", self.folder / folder)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done

    def test_moves_the_copies_of_a_dimer_alike(self):
        given = ("--assembly", 1, "--linkers", "A:174-180", "--symmetry", "c2")
        done = self.dimer(*given, *FEW)
        run = self.folder / "dimer"
        self.assertIn("21 angles of linkers A:174-180, A-2:174-180\nsymmetry c2: ", done.stdout.decode())
        self.assertIn("(40 residues of a chain) moved by 0.00 angstrom", done.stderr.decode())
        for row in read_table(run / "frames.tsv"):
            self.assertAlmostEqual(float(row["distance_1_2"]), float(row["distance_1_3"]), delta=1e-3)
        self.assertEqual(json.loads((run / "convergence.json").read_text(encoding="utf-8"))["symmetry"], "c2")
        self.assertEqual(manifest(run)["results"]["symmetry"], "c2")
        page = self.folder / "page.html"
        self.assertEqual(pleat("report", run, "-o", page).returncode, 0)
        self.assertIn("Symmetry c2: all copies have the same angles.", page.read_text(encoding="utf-8"))
        for options, code, told in ((("--assembly", 1, *LINKER, "--symmetry", "d2"), 2, "c2 to c12 (p2 to p12 mean the same), found 'd2'"),
                                    ((*LINKER, "--symmetry", "c2"), 3, "expected 2 chains of one sequence, numbered alike, for symmetry c2, found 1"),
                                    (("--assembly", 1, *LINKER, "--symmetry", "c3"), 3, "expected 3 chains")):
            lines = [line for line in self.dimer(*options, code=code, folder="refused").stderr.decode().splitlines()
                     if line.startswith("pleat: ")]
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(told, lines[0])

    def test_builds_the_same_residues_in_all_copies(self):
        self.dimer("--assembly", 1, "--linkers", "A:174-180", "--symmetry", "c2", *FEW)
        fasta, gap = self.folder / "protein.fasta", self.folder / "gap.pdb"
        fasta.write_text(f">protein\n{SEQUENCE}\n", encoding="ascii")
        atoms = [line for line in (self.folder / "dimer" / "topology.pdb").read_text(encoding="ascii").splitlines()
                 if line.startswith(("ATOM", "HETATM")) and not 174 <= int(line[22:26]) <= 179]
        # The second chain also lacks the first two residues, MSE and ASP.
        gap.write_text("".join(line[:21] + ("A" if line[21] == "A" else "B") + line[22:72] + "\n" for line in atoms
                               if line[21] == "A" or int(line[22:26]) > 152), encoding="ascii")
        done = self.dimer("--sequence", fasta, "--symmetry", "c2", *FEW, structure=gap, folder="built")
        self.assertIn("built 14 missing residues: A:174-179, B:151-152, B:174-179\n", done.stdout.decode())
        rows = read_table(self.folder / "built" / "frames.tsv")
        self.assertTrue(all(abs(float(row["distance_1_2"]) - float(row["distance_1_3"])) < 1e-3 for row in rows))
        told = json.loads((self.folder / "built" / "convergence.json").read_text(encoding="utf-8"))
        self.assertEqual(len(told["linkers"]), 2 * len([one for one in told["linkers"] if one.startswith("A:")]))
        refused = self.dimer("--symmetry", "c2", "--linkers", "A:165-168", *FEW, code=3, structure=gap, folder="refused")
        self.assertIn("found 64 of A:151-220 and 62 of B:153-220; --sequence builds", refused.stderr.decode())

    def test_joins_domains_of_models_and_of_files(self):
        structure, fasta = self.with_gap()
        lines = structure.read_text(encoding="ascii").splitlines(keepends=True)
        parts = ["".join(line for line in lines if (int(line[22:26]) < 174) == is_first) for is_first in (True, False)]
        models, files = self.folder / "models.pdb", [self.folder / "one.pdb", self.folder / "two.pdb"]
        models.write_text("".join(f"MODEL     {n + 1:4}\n{part}ENDMDL\n" for n, part in enumerate(parts)), encoding="ascii")
        for path, part in zip(files, parts):
            path.write_text(part, encoding="ascii")
        for name, sources in (("models", [models]), ("files", [*files, "--join"])):
            done = pleat("refine", *sources, "--sequence", fasta, *FEW, "-o", self.folder / name)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            self.assertIn("built 6 missing residues: A:174-179\n", done.stdout.decode())
        self.assertEqual(*((self.folder / name / "frames.tsv").read_bytes() for name in ("models", "files")))
        inputs = json.dumps(manifest(self.folder / "files")["inputs"])
        self.assertTrue(all(str(path) in inputs for path in (*files, fasta)), inputs)
        for sources, code, text in (([models, *LINKER], 3, "models.pdb: expected --sequence, whose missing residues"),
                                    ([*files, "--join", "--sweep", "seed=1,2"], 2, "--join makes one run"),
                                    ([files[0], "--join", "--sequence", fasta], 2, "several STRUCTUREs, found one"),
                                    ([files[0], files[0], "--join", "--sequence", fasta], 3, "one.pdb: expected each structure to join once"),
                                    ([*files, "--join", "--sequence", fasta, "--group", "A:151-160"], 3, "give one model that has")):
            done = pleat("refine", *sources, "-o", self.folder / "refused")
            told = [line for line in done.stderr.decode().splitlines() if line.startswith("pleat: ")]
            self.assertEqual((done.returncode, len(told)), (code, 1), done.stderr.decode())
            self.assertIn(text, told[0])

    def test_refuses_linkers_in_one_line(self):
        for linkers, told in (("A:174-179,A:178-182", "do not overlap, found A:178"),
                              ("A:300-310", "expected residue 300 of A:300-310"),
                              ("B:174-179", "expected one of the protein chains 'A', found 'B'"),
                              ("A:205-207", "the disulfide bond A:198-A:218 closes one through linker A:205-207")):
            done = self.refine("run", "--linkers", linkers, code=3)
            lines = [line for line in done.stderr.decode().splitlines() if line.startswith("pleat: ")]
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(told, lines[0])
        done = self.refine("run", *LINKER, "--group", "A:151-160,A:165-170", code=3)
        self.assertIn("found A:151-160,A:165-170, which move as one anyway", done.stderr.decode())
        for options in ((), ("--linkers", "A:174-179", "--rigid", "A:151-170"), ("--linkers", "A;174")):
            self.refine("run", *options, code=2)


if __name__ == "__main__":
    unittest.main()
