# Runs pleat, FreeContact, CCMpred, plmc and GREMLIN on an alignment and reads their contact scores.
import array
import ast
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import alignment_files


def freecontact_scores(executable, rows, query_row, kept, threads=1):
    """Mean-field scores of FreeContact: its evfold profile, column "corrected norm" (CN).

    The program's manual asks for the query in the first row; its scores do not depend on the order
    of rows beyond rounding. It numbers alignment columns from 1 and scores the columns where the
    query has a gap too. `kept` is the file for its output, reused when it exists. Returns
    {(i, j): score}, columns from 0.
    """
    if not kept.exists():
        with tempfile.TemporaryDirectory(prefix="pleat-bench-") as directory:
            path = pathlib.Path(directory) / "input.aln"
            alignment_files.write_aln(path, alignment_files.query_first(rows, query_row))
            beside = kept.with_suffix(".part")
            with open(beside, "wb") as out:
                subprocess.run([executable, "--parprof", "evfold", "--quiet", "1",
                                "-a", str(threads), "-f", str(path)],
                               stdin=subprocess.DEVNULL, stdout=out, check=True)
            beside.replace(kept)
    return read_evfold(kept)


def read_evfold(path):
    """{(i, j): corrected norm}, columns from 0, of FreeContact's evfold output
    (`i letter j letter MI CN` a line, columns from 1)."""
    scores = {}
    with open(path, encoding="ascii") as file:
        for number, line in enumerate(file, start=1):
            fields = line.split()
            if len(fields) != 6:
                raise ValueError(f"{path}:{number}: expected 6 fields, found {len(fields)}")
            scores[int(fields[0]) - 1, int(fields[2]) - 1] = float(fields[5])
    return scores


def pleat_scores(executable, alignment_path, run, threads=1):
    """Corrected scores of pleat, from scores.mat of its run directory `run`; a finished run that is
    there already is read. Returns {(i, j): score}, columns of the alignment from 0."""
    if not (run / "scores.mat").exists():
        answer = subprocess.run([executable, "couplings", str(alignment_path), "-o", str(run),
                                 "--threads", str(threads)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, check=False)
        if answer.returncode != 0:
            raise ValueError(f"{alignment_path}: pleat ended with status {answer.returncode}: "
                             + (answer.stderr.strip().splitlines() or ["nothing on stderr"])[-1])
    return read_run(run)


def read_run(run):
    """{(i, j): score} of a pleat run directory: scores.mat, with the kept columns of scores.npz."""
    columns = read_npz_integers(run / "scores.npz", "columns")
    scores = {}
    with open(run / "scores.mat", encoding="ascii") as file:
        matrix = [array.array("d", map(float, line.split())) for line in file if line.strip()]
    if len(matrix) != len(columns) or any(len(row) != len(columns) for row in matrix):
        raise ValueError(f"{run / 'scores.mat'}: expected {len(columns)} rows and columns, "
                         f"found {len(matrix)} rows")
    for first, i in enumerate(columns):
        for second in range(first + 1, len(columns)):
            scores[i, columns[second]] = matrix[first][second]
    return scores


def peer_scores(command, kept, rows, read):
    """Scores that `read` finds in the file `kept`, which `command(folder)` writes: it gets a folder with
    input.aln and input.fasta, and its words name the file as OUTPUT. A file that is there is reused."""
    if not kept.exists():
        with tempfile.TemporaryDirectory(prefix="pleat-bench-") as directory:
            folder = pathlib.Path(directory)
            alignment_files.write_aln(folder / "input.aln", rows)
            alignment_files.write_fasta(folder / "input.fasta", rows)
            words = [str(folder / "output") if word == "OUTPUT" else word for word in command]
            subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=True)
            (folder / "output").replace(kept.with_suffix(".part"))
        kept.with_suffix(".part").replace(kept)
    return read(kept)


def ccmpred_scores(executable, rows, kept, threads=1):
    """CCMpred with its defaults: corrected scores as a matrix."""
    return peer_scores([executable, "-t", str(threads), "input.aln", "OUTPUT"], kept, rows, read_matrix)


def plmc_scores(executable, rows, kept, threads=1):
    """plmc with pleat's regularisation and weights, gaps left out, at most 100 iterations; its usual build
    has one thread and refuses -n."""
    del threads
    pair = f"{0.2 * (len(rows[0]) - 1):g}"
    return peer_scores([executable, "-c", "OUTPUT", "-o", "model.params", "-g", "-le", pair, "-lh", "0.01",
                        "-t", "0.2", "-m", "100", "input.fasta"], kept, rows, read_plmc)


def gremlin_scores(executable, rows, kept, threads=1):
    """gremlin_cpp with its defaults, but all columns."""
    del threads
    return peer_scores([executable, "-i", "input.aln", "-o", "OUTPUT", "-gap_cutoff", "1"], kept, rows,
                       read_gremlin)


def read_matrix(path):
    """{(i, j): score} of L lines of L numbers."""
    with open(path, encoding="ascii") as file:
        matrix = [[float(word) for word in line.split()] for line in file if line.strip()]
    if any(len(row) != len(matrix) for row in matrix):
        raise ValueError(f"{path}: expected as many columns as its {len(matrix)} rows")
    return {(i, j): matrix[i][j] for i in range(len(matrix)) for j in range(i + 1, len(matrix))}


def read_plmc(path):
    """{(i, j): score} of plmc's `i letter j letter 0 score` lines, columns from 1."""
    with open(path, encoding="ascii") as file:
        lines = [line.split() for line in file if line.strip()]
    if any(len(words) != 6 for words in lines):
        raise ValueError(f"{path}: expected 6 fields per line")
    return {(int(words[0]) - 1, int(words[2]) - 1): float(words[5]) for words in lines}


def read_gremlin(path):
    """{(i, j): score} of gremlin_cpp's column "apc", columns from 0."""
    with open(path, encoding="ascii") as file:
        names, *lines = [line.split() for line in file if line.strip()]
    if names[:4] != ["i", "j", "raw", "apc"]:
        raise ValueError(f"{path}:1: expected the names i j raw apc, found {' '.join(names)}")
    return {(int(words[0]), int(words[1])): float(words[3]) for words in lines}


def read_npz_integers(path, name):
    """A one-dimensional integer array of a NumPy .npz file, as a list (NEP 1 format)."""
    with zipfile.ZipFile(path) as archive:
        data = archive.read(f"{name}.npy")
    if data[:6] != b"\x93NUMPY":
        raise ValueError(f"{path}: expected a NumPy array '{name}', found other bytes")
    width = 2 if data[6] == 1 else 4
    start = 8 + width
    end = start + int.from_bytes(data[8:start], "little")
    header = ast.literal_eval(data[start:end].decode("latin-1"))
    codes = {"<i4": "i", "<i8": "q"}
    if header["descr"] not in codes or len(header["shape"]) != 1:
        raise ValueError(f"{path}: expected '{name}' as one-dimensional integers, found "
                         f"{header['descr']} of shape {header['shape']}")
    values = array.array(codes[header["descr"]], data[end:])
    if sys.byteorder == "big":
        values.byteswap()
    return values.tolist()
