# Inputs of lists of jobs, a sweep for each command, and the results of runs.
import gzip

from program import DATA, small_rows


def atom_line(serial, residue, x, y, z):
    return (f"ATOM  {serial:5d}  CA  ALA A{residue:4d}    {x:8.3f}{y:8.3f}{z:8.3f}"
            "  1.00  0.00           C\n")


def models(count, atoms=12, shift=0.0):
    """A PDB file of some models that bend differently."""
    text = ""
    for model in range(count):
        text += f"MODEL     {model + 1:4d}\n"
        for k in range(atoms):
            bend = 0.02 * model * (k - atoms / 2) ** 2 + shift * k
            text += atom_line(k + 1, k + 1, 3.8 * k, bend, 0.5 * (k % 3))
        text += "ENDMDL\n"
    return text + "END\n"


def write_inputs(folder):
    """The files of COMMANDS."""
    curve = "".join(f"{0.01 * k:.3f} {100 - k:.3f} 1.0\n" for k in range(1, 40))
    lines = gzip.decompress((DATA / "1a8o.pdb.gz").read_bytes()).decode().splitlines(keepends=True)
    small = "".join(line for line in lines if line.startswith("ATOM"))
    for name, text in (("small.pdb", small), ("whole.pdb", small + "END\n"),
                       ("one.pdb", models(6)), ("two.pdb", models(9, shift=0.1)),
                       ("broken.pdb", models(2) + "MODEL 3\n" + atom_line(1, 1, 0, 0, 0) + "ENDMDL\n"),
                       ("bad.aln", "ACDEF\nACD\n"), ("curve.dat", curve),
                       *((f"f{k}.aln", "\n".join(small_rows(60 + 40 * k, 4, 20 + 4 * k)) + "\n") for k in range(2))):
        (folder / name).write_text(text, encoding="ascii")


# A sweep of two values for each command, with inputs of which one is broken, and a main number.
COMMANDS = {
    "couplings": (("f0.aln", "bad.aln", "f1.aln"), "lambda-pair=0.1,0.2", (), "evaluations"),
    "mutants": (("f0.aln", "bad.aln", "f1.aln"), "doubles=1-4,5-9", (), "singles"),
    "mi": (("f0.aln", "bad.aln", "f1.aln"), "shuffles=10,20", ("-t", "2"), "pairs"),
    "rmsd": (("one.pdb", "broken.pdb", "two.pdb"), "metric=rmsd,drmsd", ("--each",), "mean"),
    "cluster": (("one.pdb", "broken.pdb", "two.pdb"), "cutoff=0.5,2", ("--each",), "clusters"),
    "saxs": (("one.pdb", "broken.pdb", "two.pdb"), "q-points=11,21",
             ("--each", "--model", "one-bead"), "i0"),
    "refine": (("small.pdb", "broken.pdb", "whole.pdb"), "moves=2,3",
               ("--linkers", "A:174-179", "--frames", "40", "--chains", "2"), "angles"),
    "select": (("--ensemble", "one.pdb", "broken.pdb", "two.pdb"), "weight-clusters=0.5,2",
               ("--each", "--data", "curve.dat", "--cutoff", "1"), "clusters"),
}


def results_below(run):
    """{path: bytes} of the results of a run, and of the runs in folders within it."""
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.rglob("*"))
            if path.is_file() and path.name not in ("manifest.json", "log.txt", "jobs.tsv")
            and not any(part.startswith(".pleat-") for part in path.relative_to(run).parts)}
