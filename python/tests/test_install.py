# Installation: pip makes a wheel from this build without a network, and it works where it is put.
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_pip_installs_and_the_copy_works(tmp_path):
    pytest.importorskip("pip", reason="pip is not there")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target",
         tmp_path / "site", "--config-settings", f"build={os.environ['PLEAT_BUILD']}", ROOT],
        capture_output=True, text=True, check=False, env=environment, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    environment["PYTHONPATH"] = str(tmp_path / "site")
    code = ("import importlib.metadata, numpy as np, pleat\n"
            "assert importlib.metadata.version('pleat-protein') == pleat.__version__\n"
            f"assert '\\nversion: ' + pleat.__version__ + '\\n' in open({str(ROOT / 'CITATION.cff')!r}).read()\n"
            "print(pleat.__file__, pleat.rmsd(np.ones((2, 3, 3))).matrix)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                          env=environment, cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path)) and done.stdout.endswith("[0.]\n")
    assert "another package" not in done.stderr
    (tmp_path / "site" / "pleat-0.1.0.dist-info").mkdir()
    done = subprocess.run([sys.executable, "-c", "import pleat"], capture_output=True, text=True, check=False,
                          env=environment, cwd=tmp_path, timeout=60)
    assert done.returncode == 0 and "pleat-0.1.0 is installed here, too: another package" in done.stderr, done.stderr
    (tmp_path / "site" / "pleat-0.1.0.dist-info").rmdir()
    assert not list((tmp_path / "site" / "pleat").glob("libpleat*"))  # the module holds the code
    command = [sys.executable, tmp_path / "site" / "bin" / "pleat"]
    for program in (command, [sys.executable, "-m", "pleat"]):
        shown = subprocess.run([*program, "info"], capture_output=True, text=True, check=False, env=environment,
                               cwd=tmp_path, timeout=60)
        assert shown.returncode == 0 and shown.stdout.startswith("pleat "), shown.stderr
        refused = subprocess.run([*program, "rmsd", "absent.pdb", "-o", "run"], capture_output=True, text=True,
                                 check=False, env=environment, cwd=tmp_path, timeout=60)
        assert refused.returncode == 3 and refused.stderr.startswith("pleat: "), refused.stderr


def call_backend(code, backend=ROOT / "python" / "backend", **environment):
    """Runs Python code beside the build backend, as pip does."""
    return subprocess.run([sys.executable, "-B", "-c", f"import sys\nsys.path.insert(0, {str(backend)!r})\n{code}"],
                          capture_output=True, text=True, check=False, timeout=60,
                          env={**os.environ, **environment})


def call_prepare(folder, **environment):
    return call_backend("import pleat_build\n"
                        f"print(pleat_build.prepare_metadata_for_build_wheel({str(folder)!r}))", **environment)


def write_script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
    path.chmod(0o755)
    return path


def assert_refused(done, *texts):
    """One line on stderr, no traceback."""
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stderr.startswith("pleat: ") and done.stderr.count("\n") == 1, done.stderr
    for text in texts:
        assert text in done.stderr, done.stderr


def test_metadata_is_made_without_a_build(tmp_path):
    cmake = write_script(tmp_path / "cmake", f"touch {tmp_path}/called; exit 1")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = call_prepare(tmp_path, PATH=f"{cmake.parent}:{os.environ['PATH']}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime  # whatever else runs here
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "called").exists()
    assert took < 5, took
    info = tmp_path / done.stdout.strip()
    assert info.name.endswith(".dist-info")
    text = (info / "METADATA").read_text(encoding="utf-8")
    assert "\nName: pleat-protein\n" in text and "\nRequires-Dist: numpy\n" in text
    assert (info / "WHEEL").exists() and (info / "LICENSE").exists()


def test_missing_numpy_is_told_before_the_build(tmp_path):
    bare = write_script(tmp_path / "python", f"exec {sys.executable} -S \"$@\"")
    done = call_backend(f"sys.executable = {str(bare)!r}\nimport pleat_build\n"
                        f"pleat_build.prepare_metadata_for_build_wheel({str(tmp_path)!r})", PYTHONPATH="")
    assert_refused(done, f"{bare} has no NumPy", "/usr/bin/python3 -m venv --system-site-packages env")


def test_missing_packages_are_told_before_the_build(tmp_path):
    compiler = shutil.which("c++")
    for name in ("cmake", "ninja", "pkg-config"):
        if compiler is None or shutil.which(name) is None:
            pytest.skip(f"{name} or c++ is not there")
        (tmp_path / name).symlink_to(shutil.which(name))
    here = {"PATH": str(tmp_path), "CMAKE_PREFIX_PATH": ""}
    assert_refused(call_prepare(tmp_path, CXX=f"{compiler} -nostdinc -I{tmp_path}", **here), "libfmt-dev",
                   "gemmi-dev", "pybind11-dev", "scripts/setup python")
    assert_refused(call_prepare(tmp_path, CXX="no-such-compiler", **here), "missing for the build: g++.")
    (tmp_path / "cmake").unlink()
    assert_refused(call_prepare(tmp_path, CXX=compiler, **here), "missing for the build: cmake.")


def test_symbols_are_lowered_to_what_glibc_offers():
    import pleat
    done = call_backend("from pathlib import Path\nimport symbol_versions as s\n"
                        f"before = Path({pleat._pleat.__file__!r}).read_bytes()\n"
                        "after = s.lower(before, (2, 28), {})\n"
                        "assert s.lower(after, (2, 28), {}) == after and len(after) == len(before)\n"
                        "def names(elf, limit):\n"
                        "    new = {index for _, version, index, _ in elf.needed\n"
                        "           if version.startswith('GLIBC_2') and s.number(version) > limit}\n"
                        "    return {name for index in new for name, _ in elf.imported.get(index, [])}\n"
                        "print(sorted(names(s.Elf(before), (2, 28))), sorted(names(s.Elf(after), (2, 28))), sep='\\n')")
    assert done.returncode == 0, done.stderr
    before, after = done.stdout.splitlines()
    assert "'exp'" in before
    assert "'exp'" not in after and "'pthread_create'" not in after  # an ordinary build keeps fstat and its like


def test_archive_of_sources_names_its_commit(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("these sources have no git")
    done = call_backend(f"import pleat_build\nprint(pleat_build.build_sdist({str(tmp_path)!r}))",
                        GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*")
    assert done.returncode == 0, done.stderr
    name = done.stdout.strip()
    with tarfile.open(tmp_path / name) as archive:
        archive.extractall(tmp_path)
    sources = tmp_path / name.removesuffix(".tar.gz")
    made = tmp_path / "version_line.cpp"
    folder = sources / "apps" / "pleat" / "version"
    subprocess.run(["cmake", "-D", f"SOURCE={sources}", "-D", f"INPUT={folder / 'version_line.cpp.in'}", "-D",
                    f"OUTPUT={made}", "-P", folder / "write_commit.cmake"], check=True, timeout=60)
    (tmp_path / "info").mkdir()
    code = f"import pleat_build\nprint(pleat_build.prepare_metadata_for_build_wheel({str(tmp_path / 'info')!r}))"
    done = call_backend(code, backend=sources / "python" / "backend")
    assert done.returncode == 0 and done.stdout.startswith("pleat_protein-"), done.stderr
    assert re.search(r'commit = "[0-9a-f]{12,40}(-dirty)?"', made.read_text(encoding="ascii"))
