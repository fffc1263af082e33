# Runs one check, or all, over the project: lint.py CHECK|all [ROOT]; exit status 1 on complaints.
import importlib
import sys
from pathlib import Path

from source import project_files

CHECKS = ("layers", "rooms", "first_lines", "budgets", "conditionals", "errors", "words", "options",
          "loops", "names", "results", "type_names")


def main():
    if not 2 <= len(sys.argv) <= 3 or sys.argv[1] not in CHECKS + ("all",):
        sys.exit(f"lint.py: expected one of {', '.join(CHECKS)}, all, then the project's folder")
    root = Path(sys.argv[2] if len(sys.argv) == 3 else ".").resolve()
    files = project_files(root)
    if not files:
        sys.exit(f"lint.py: expected files in {root}, found none")
    complaints = []
    for name in CHECKS if sys.argv[1] == "all" else (sys.argv[1],):
        complaints += importlib.import_module(name).check(root, files)
    print("\n".join(complaints) if complaints else f"{len(files)} files, no complaint")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
