# Loops: progress, cancelling and ranks are the business of the loops in core, not of its callers.
import re

from source import CODE, is_test, line_of, read, without_comments

# What for_each_block(), for_each_tile(), StageProgress and all_gather_rows() do for their callers.
OWN_LOOP = re.compile(r"(?:\.|->)\s*cancelled\s*\("
                      r"|\b\w*(?:context|progress)\w*(?:\.|->)update\s*\("
                      r'|(?:\.|->)\s*update\s*\(\s*"'
                      r"|\bcomm\s*(?:\(\s*\)\s*)?(?:->|\.)\s*\w+\s*\(")
# They implement a Progress, and the ranks of the program.
IMPLEMENTATIONS = {"apps/pleat/process/process.cpp", "apps/pleat/process/process.h"}


def check(root, files):
    complaints = []
    for path in files:
        if path.suffix not in CODE or path.parts[0] not in ("src", "apps") or is_test(path):
            continue
        if path.parts[:3] == ("src", "pleat", "core") or str(path) in IMPLEMENTATIONS:
            continue
        text = without_comments(read(root, path))
        complaints += [f"{path}:{line_of(text, match.start())}: expected a loop of pleat/core/loops or "
                       f"pleat/core/ranks, found '{match.group().strip()}'"
                       for match in OWN_LOOP.finditer(text)]
    return complaints
