# Names: plain words in identifiers and file names, and parameters that are types instead of texts.
import re

from source import CODE, is_test, line_of, read, without_comments, without_comments_and_strings

SCOPE = ("src", "apps", "python")
IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*")
WORD = re.compile(r"[A-Z]?[a-z]+")
# Each with what to write instead. least_squares is what the method is called.
WORDS = {"least": "min", "most": "max", "settle": "choose, fix, converge or the like",
         "settled": "chosen, fixed, converged or the like",
         "settles": "chooses, fixes, converges or the like"}
TERMS = re.compile(r"least_?squares", re.IGNORECASE)
FILE_WORDS = {"least", "most", "settle", "settled", "joined", "needs", "rest", "places", "misc",
              "util", "utils", "helpers"}

# A struct of options: its body, where members are declared one per line.
STRUCT = re.compile(r"\bstruct\s+(?:\w*Parameters|\w*Options)\b[^;{]*\{")
NOT_SET = re.compile(r"\b(\w+)\s*(?:=|\{)\s*(?:-1\b|std::nan\w*\s*\(|(?:\w+::)*kN[ao][Nn]\b|"
                     r"std::numeric_limits<\s*\w+\s*>::quiet_NaN\s*\(\s*\))")
TEXT_MEMBER = re.compile(r"\bstd::string\s+(\w+(?:\s*(?:=\s*\"[^\"\n]*\")?\s*,\s*\w+)*)[^;(]*;")
# A path may be "-", standard input.
COMPARED = r'(?:(?:\.|->|\b)({names})\s*[!=]=\s*"(?!-?")|"[^"\n]+"\s*[!=]=\s*[\w.>()-]*\b({names})\b)'


def bodies(bare):
    """(start, end) of the body of each struct of options; `bare` has no comments or strings."""
    for match in STRUCT.finditer(bare):
        depth, at = 1, match.end()
        while depth and at < len(bare):
            depth += {"{": 1, "}": -1}.get(bare[at], 0)
            at += 1
        yield match.end(), at


def module_of(path):
    return path.parts[:3] if path.parts[0] == "src" else path.parts[:2]


def identifiers(path, bare):
    seen = set()
    for match in IDENTIFIER.finditer(bare):
        name = match.group()
        words = {word.lower() for word in WORD.findall(TERMS.sub("", name))} & WORDS.keys()
        if words and name not in seen:
            seen.add(name)
            word = min(words)
            yield f"{path}:{line_of(bare, match.start())}: expected a name with {WORDS[word]} instead " \
                  f"of {word}, found '{name}'"


def check(root, files):
    complaints, texts, members = [], {}, {}
    for path in files:
        if path.suffix not in CODE or path.parts[0] not in SCOPE:
            continue
        source = read(root, path)
        text, bare = without_comments(source), without_comments_and_strings(source)
        for word in sorted(set(re.findall(r"[a-z]+", path.stem.lower())) & FILE_WORDS):
            if not TERMS.search(path.stem):
                complaints.append(f"{path}:1: expected a file name that says what is in it, found "
                                  f"'{word}'")
        complaints += identifiers(path, bare)
        if is_test(path):
            continue
        texts[path] = text
        for start, end in bodies(bare):
            # A span with the quotes' content, which `bare` blanks but keeps in place.
            for match in NOT_SET.finditer(bare, start, end):
                complaints.append(f"{path}:{line_of(bare, match.start())}: expected std::optional for "
                                  f"what may be not set, found '{match.group().strip()}'")
            for match in TEXT_MEMBER.finditer(text, start, end):
                names = re.sub(r'=\s*"[^"\n]*"', "", match.group(1))
                members.setdefault(module_of(path), set()).update(re.findall(r"\w+", names))
    for path, text in texts.items():
        names = members.get(module_of(path))
        if not names:
            continue
        compared = re.compile(COMPARED.format(names="|".join(sorted(names))))
        complaints += [f"{path}:{line_of(text, match.start())}: expected an enumeration (see Choice in "
                       f"pleat/core/fields.h), found the comparison '{match.group().strip()}'"
                       for match in compared.finditer(text)]
    return complaints
