# Words: no machine paths, package hosts or unfinished words in what is committed, and no long pages.
import re

from source import read

# Square brackets keep these patterns from matching their own text.
UNFINISHED = re.compile(
    r"\b(TO[D]O|FIX[M]E|TB[D]|HAC[K])\b|\bXX[X]\b[:( ]|(?i:\bplace[h]older|\blorem i[p]sum|"
    r"\bnot (yet )?impl[e]mented|\bcoming s[o]on)")
MACHINE_PATH = re.compile(r"(?<![\w.}\)])/(home|root|work|Users|mnt|tmp|private|scratch)/[\w.-]")
PACKAGE_HOST = re.compile(
    r"\b(deb|registry|proxy|packages?|mirrors?|snapshot|security|ftp|files|dl)\.[a-z0-9.-]+\."
    r"(org|com|net|io|dev)\b|\bpy[p]i\.org\b|\bnode[s]ource\b", re.IGNORECASE)
RULES = ((UNFINISHED, "no unfinished words"), (MACHINE_PATH, "no path of one machine"),
         (PACKAGE_HOST, "no package host"))
# Words of a page at most. The two decisions hold tables that other pages need.
PAGES = ((re.compile(r"src/pleat/.*README\.md"), 2000),
         (re.compile(r"docs/decisions/(?!0010-|0029-).*\.md"), 400))
# The folder of what a program built from others' sources, which hold their own words.
BUILT = ("report", "dist")
TEXT = {".h", ".cpp", ".cu", ".cuh", ".py", ".pyi", ".cmake", ".in", ".md", ".sh", ".toml", ".yaml",
        ".yml", ".cff", ".json", ".ts", ".js", ".html", ".css", ".txt", ".bib", ".smk", ""}


def check(root, files):
    complaints = []
    for path in files:
        for page, most in PAGES:
            count = len(read(root, path).split()) if page.fullmatch(path.as_posix()) else 0
            if count > most:
                complaints.append(f"{path}:1: expected at most {most} words, found {count}")
        if path.suffix not in TEXT or path.name == "LICENSE" or path.parts[:2] == BUILT:
            continue
        for number, line in enumerate(read(root, path).split("\n"), 1):
            for pattern, wanted in RULES:
                match = pattern.search(line)
                if match:
                    complaints.append(f"{path}:{number}: expected {wanted}, "
                                      f"found '{match.group().strip()}'")
    return complaints
