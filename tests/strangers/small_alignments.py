# A small reader of alignments, written from the formats' definitions and independent of pleat's.
import re

HELPERS = re.compile(r"(ss|sa|aa)_(pred|conf|dssp)$|_?consensus$", re.IGNORECASE)
HEADERS = re.compile(r"(CLUSTAL|MUSCLE|PROBCONS|MSAPROBS|T-COFFEE|Kalign|PROMALS)")


def _fasta(lines):
    rows = []
    for line in lines:
        if line.startswith(">"):
            rows.append([line[1:].split(" ")[0].strip(), ""])
        elif rows and not line.startswith((";", "#")):
            rows[-1][1] += re.sub(r"\s", "", line)
    return [row.rstrip("*") for name, row in rows if not HELPERS.match(name)]


def _without_insertions(rows):
    """(rows without lower case and dots, where these are insertions; whether other readings are possible)"""
    match = [re.sub("[a-z.]", "", row) for row in rows]
    equal = len({len(row) for row in rows}) == 1
    pure = not equal or all(len({c.islower() or c == "." for c in column}) == 1 for column in zip(*rows))
    if len({len(row) for row in match}) == 1 and match and match[0] and re.search("[A-Z]", "".join(rows)) and pure:
        return match, equal and match != rows
    return rows, False


def _blocks(lines):
    """Stockholm and CLUSTAL: the parts of each name joined, and those of the line of Stockholm's RF."""
    rows, reference = {}, ""
    for line in lines:
        words = line.split()
        if line.startswith("//"):
            break
        if line.startswith("#=GC RF"):
            reference += words[2]
        elif len(words) > 1 and line[0] not in "# \t" and re.fullmatch(r"[A-Za-z.~?*_-]+", words[1]):
            rows[words[0]] = rows.get(words[0], "") + words[1]
    return list(rows.values()), reference


def _phylip(lines, count, width):
    """Interleaved, or one sequence after the other; names end at a blank or after ten characters."""
    for name in (r"\s*\S+\s+(.*)", r".{10}(.*)"):
        bare = [re.sub(r"\s", "", line) for line in lines]
        first = [re.sub(r"\s", "", found[1]) if (found := re.match(name, line)) else "" for line in lines]
        rows = first[:count]
        for number, text in enumerate(bare[count:]):
            again = len(rows[number % count] + text) > width
            rows[number % count] += first[count + number] if again else text
        if len(rows) == count and all(len(row) == width for row in rows):
            return rows
        rows = []
        for whole, text in zip(bare, first):
            if rows and len(rows[-1]) < width:
                rows[-1] += whole
            else:
                rows.append(text)
        if len(rows) == count and all(len(row) == width for row in rows):
            return rows
    return []


def read(path, data):
    """{"sequences", "columns", "letters", "insertions"}; {"refused": why}; None: no alignment that it knows."""
    text = data.decode("latin-1").strip("\0").replace("\r\n", "\n").replace("\r", "\n").removeprefix("\xef\xbb\xbf")
    lines = [line for line in text.split("\n") if line.strip()]
    first, insertions = lines[0] if lines else "", False
    sizes = re.match(r"\s*(\d+)\s+(\d+)\s*[A-Za-z ]*$", first)
    if re.search(r"^>", text, re.MULTILINE) and first[:1] in ">#;" and not first.startswith("# STOCKHOLM"):
        if re.match(r">(P1|F1|DL|DC|RL|RC|N1|N3|XX);", first) or "\n=" in text:
            return None
        rows, insertions = _without_insertions(_fasta(lines))
    elif first.startswith("# STOCKHOLM"):
        rows, reference = _blocks(lines)
        if reference and all(len(row) == len(reference) for row in rows):
            kept = [j for j, mark in enumerate(reference) if mark not in ".-~_"]
            insertions = len(kept) < len(reference)
            rows = ["".join(row[j] for j in kept) for row in rows]
        else:
            rows, insertions = _without_insertions(rows)
    elif HEADERS.match(first):
        rows, _ = _blocks(lines[1:])
    elif sizes:
        rows = _phylip(lines[1:], int(sizes[1]), int(sizes[2]))
    else:
        rows = [line.strip() for line in lines if re.fullmatch(r"[A-Za-z.-]+", line.strip())]
        rows = rows if len(rows) == len(lines) > 1 else []
    if not rows:
        return None
    widths = {len(row) for row in rows}
    if len(rows) < 2 or len(widths) > 1 or max(widths) < 2:
        return {"refused": f"{len(rows)} rows of {len(widths)} lengths"}
    letters = re.sub("[^A-Z]", "", "".join(rows).upper())
    nucleic = len(re.sub("[^ACGTUN]", "", letters)) >= 0.9 * len(letters)
    unknown = "[^ACGTU]" if nucleic else "[BZJXUO]"
    return {"sequences": len(rows), "columns": widths.pop(), "letters": len(re.sub(unknown, "", letters)),
            "insertions": insertions}
