# Errors: only known types are thrown, and their texts say what was expected and what was found.
import re

from source import CODE, closing, is_test, line_of, read, without_comments, \
    without_comments_and_strings

# pleat's types, std::logic_error for a bug of ours and std::bad_alloc for memory that ran out.
# py::error_already_set is what Python itself raised, passed on in bindings.
TYPES = {"py::error_already_set", "Error", "UsageError", "InputError", "InputErrors", "MissingAtoms", "UnmatchedAtoms",
         "CutShort", "DeviceError",
         "OutputError", "Cancelled",
         "OtherRankFailed", "std::logic_error", "std::bad_alloc"}
# Ensemble::error_in() returns an InputError that names the file and the frame.
THROW = re.compile(r"\bthrow\b\s*(?:(?P<type>[\w:]+)\s*[({]|(?P<again>;|[\w.]+\.error_in\()|(?P<other>))")
COMPLAINT = re.compile(r"\b(?:throw\s+(?:pleat::)?InputError|complaints?_?\s*(?:\.|->)\s*add)\s*\(")
LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')
# The last form adds advice to the text of another complaint: "{}; remove this file to start again".
SAYS = re.compile(r"\bexpected\b.*\bfound\b|\bcannot\b|^(\{\})+; ", re.DOTALL)
SHORTEST_TEXT = 12  # shorter literals are joints such as ", " or file names


def literal_text(text, start, bare):
    """The string literals of the call whose bracket opens at `start`, joined."""
    return " ".join(LITERAL.findall(text[start:closing(bare, start)]))


def check(root, files):
    complaints = []
    for path in files:
        if path.suffix not in CODE or path.parts[0] not in ("src", "apps", "python") or is_test(path):
            continue
        source = read(root, path)
        text, bare = without_comments(source), without_comments_and_strings(source)
        for match in THROW.finditer(bare):
            at = f"{path}:{line_of(bare, match.start())}"
            if match.group("again"):
                continue
            name = (match.group("type") or "").removeprefix("pleat::")
            if name not in TYPES:
                complaints.append(f"{at}: expected throw of {', '.join(sorted(TYPES))}, "
                                  f"found '{bare[match.start():match.end()].strip()}'")
            elif "!" in literal_text(text, match.end() - 1, bare):
                complaints.append(f"{at}: expected a calm text, found an exclamation mark")
        for match in COMPLAINT.finditer(bare):
            told = literal_text(text, match.end() - 1, bare)
            if len(told) >= SHORTEST_TEXT and not SAYS.search(told):
                complaints.append(f"{path}:{line_of(bare, match.start())}: expected a text with "
                                  f"'expected ... found ...' or 'cannot ...', found '{told[:70]}'")
    return complaints
