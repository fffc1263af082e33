# The built page is what its sources make: built again where npm's packages are, and compared byte by byte.
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPORT = Path(__file__).resolve().parents[2] / "report"
SKIPPED = 77


def complaints():
    lock = (REPORT / "package-lock.json").read_text(encoding="utf-8")
    if '"resolved"' in lock:
        yield "report/package-lock.json: expected no addresses of a registry, found 'resolved'"
    with tempfile.TemporaryDirectory() as folder:
        for command in (["tsc", "--noEmit"], ["vite", "build", "--outDir", folder, "--emptyOutDir", "--logLevel", "error"]):
            done = subprocess.run(["node", f"node_modules/.bin/{command[0]}", *command[1:]], cwd=REPORT, check=False,
                                  capture_output=True, text=True)
            if done.returncode != 0:
                yield f"report: {command[0]} failed:\n{done.stdout}{done.stderr}"
                return
        if (Path(folder) / "page.html").read_bytes() != (REPORT / "dist" / "page.html").read_bytes():
            yield "report/dist/page.html: expected what its sources make; run 'npm run build' in report/"


def main():
    if shutil.which("node") is None or not (REPORT / "node_modules" / "vite").is_dir():
        print("skipped: needs node and 'npm install --no-save' in report/")
        return SKIPPED
    found = list(complaints())
    print("\n".join(found) or "the built page is what its sources make")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
