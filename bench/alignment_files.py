# Reads and writes the alignment files that the benchmarks hand to programs: PSICOV .aln and FASTA.
import gzip


def read_aln(path):
    """Rows of a PSICOV alignment (one a line, plain or .gz), all of one length."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt", encoding="ascii") as file:
        rows = [line.strip() for line in file]
    while rows and not rows[-1]:
        rows.pop()
    if not rows:
        raise ValueError(f"{path}: expected an alignment, found no rows")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"{path}:{number}: expected {len(rows[0])} columns, found {len(row)}")
    return rows


def write_aln(path, rows):
    """Writes rows as a PSICOV alignment, uncompressed."""
    with open(path, "w", encoding="ascii") as file:
        file.writelines(row + "\n" for row in rows)


def write_fasta(path, rows):
    """Writes rows as FASTA with the row numbers, from 1, as names."""
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f">{number}\n{row}\n" for number, row in enumerate(rows, start=1))


def query_first(rows, query_row):
    """The rows with row `query_row` (from 0) moved to the front, the others in their order."""
    return [rows[query_row]] + rows[:query_row] + rows[query_row + 1:]
