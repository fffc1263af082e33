# A small reader of scattering curves, written from the formats' definitions and independent of pleat's.
import math
import re
import xml.etree.ElementTree as ElementTree

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eEdD][-+]?\d+)?$|[-+]?(nan|inf)$", re.IGNORECASE)
PER_NM = re.compile(r"nm\s*\^?\s*[(\[]?-\s*1|1\s*/\s*nm|/nm\b", re.IGNORECASE)
PER_ANGSTROM = re.compile("(?:ang\\w*|\u00c5|\u212b|\\bA)\\s*\\^?\\s*[(\\[]?-\\s*1|1\\s*/\\s*(?:A\\b|\u00c5|\u212b|ang)|"
                          "inv_ang|SAXS profile: number of points", re.IGNORECASE)  # the last: FoXS
UNITS = {"1/A": 1, "A^-1": 1, "1/angstrom": 1, "A-1": 1, "1/nm": 0.1, "nm^-1": 0.1, "1/m": 1e-10}


def _numbers(line):
    line = line.replace("\u2212", "-").replace("\u00a0", " ").replace('"', "").strip(" ,;\t")
    words = re.split(r"[\s,;|]+", line)
    return [float(word.lower().replace("d", "e")) for word in words] if all(map(NUMBER.match, words)) else None


def _table(lines):
    """(rows, lines above) of the longest run of lines with the same two or more numbers each."""
    best, run, start = [], [], 0
    for number, line in enumerate([*(line for line in lines if line.strip()), "end"]):
        row = _numbers(line)
        if row and run and len(row) == len(run[0]):
            run.append(row)
            continue
        if len(run) > len(best) and len(run[0]) > 1:
            best, start = run, number - len(run)
        run = [row] if row else []
    return best, [line for line in lines if line.strip()][:start]


def _error_column(above, width, suffix):
    """Which column is the error by the names above the table, else the third; None: none of them."""
    words = re.split(r"[\s,;|]+", above[-1].strip("# \t|;,").lower()) if above else []
    errors = [j for j, name in enumerate(words[:width]) if j > 1 and re.match(r"err|sig|dev|d_?i|e$|sd$|idev|std|unc", name)]
    if errors:
        return errors[0]
    if width < 3 or (len(words) >= width and re.search("fit|model|calc|theor|debye", words[2])):
        return None
    return None if "Dif/Atom/Shape" in "".join(above[:1]) or (suffix in (".fit", ".fir") and width == 3) else 2


def _finish(rows, unit, error):
    """The points with finite numbers, and with an error above 0 where there are errors."""
    rows = sorted((row for row in rows if all(map(math.isfinite, row[:2])) and (error is None or row[error] > 0)),
                  key=lambda row: row[0])
    if len(rows) < 3:
        return None
    first = next((row for row in rows if row[0] > 0), rows[0])
    return {"points": len({row[0] for row in rows}), "first": first[0] * (unit or 1), "last": rows[-1][0] * (unit or 1),
            "unit": unit, "intensity": first[1], "sigma": None if error is None else first[error]}


def _xml(data):
    rows, unit = [], ""
    entry = next(found for found in ElementTree.fromstring(data).iter() if found.tag.endswith("}SASdata"))
    for point in (found for found in entry.iter() if found.tag.endswith("}Idata")):
        values = {child.tag.rsplit("}", 1)[-1]: child for child in point}
        unit = values["Q"].get("unit", "")
        rows.append([float(values[key].text) if key in values else math.nan for key in ("Q", "I", "Idev")])
    return _finish(rows, UNITS.get(unit, 0), None if all(math.isnan(row[2]) for row in rows) else 2)


def read(path, data):
    """{"points", "first", "last" (q), "unit" (0: not said), "intensity", "sigma" (None: none)} or None."""
    if b"SASroot" in data[:3000]:
        return _xml(data)
    if b"\0" in data or b"@<TRIPOS>" in data:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x1a", "").split("\n")
    if "G N O M" in text[:2000]:  # S, J EXP, ERROR, J REG, I REG
        above = text.split("Distance distribution")[0].split("\n")
        return _finish([row for row in map(_numbers, above) if row and len(row) == 5], 0, 2)
    rows, above = _table(lines)
    if len(rows) < 5 or any(line.startswith(("loop_", "data_")) for line in lines):
        return None
    header = "\n".join([*above, *(line for line in lines if line.startswith("#"))])
    nm, angstrom = bool(PER_NM.search(header)), bool(PER_ANGSTROM.search(header))
    return _finish(rows, 0 if nm == angstrom else 0.1 if nm else 1, _error_column(above, len(rows[0]), path.suffix))
