# Build backend: wheels of pleat by CMake, without any package of Python's (PEP 517).
"""`pip install .` calls prepare_metadata_for_build_wheel(), which checks what the build needs and compiles
nothing, then build_wheel(). Settings: --config-settings build=FOLDER takes the module from a CMake build
that is there, with the libraries that it links to if that was configured with PLEAT_BUNDLE=ON; python=3.N
takes the module for another Python of that build (PLEAT_PYTHON_HEADERS); jobs=N sets how many compilers run."""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

import build_requirements
import symbol_versions

ROOT = Path(__file__).resolve().parents[2]
NAME = "pleat"  # of the module and the program
DISTRIBUTION = "pleat-protein"  # on the Python index, where "pleat" is another package
FILE_NAME = DISTRIBUTION.replace("-", "_")
GLIBC = "2.28"  # the oldest that wheels with libraries run on, where that can be had
COMMIT_FILE = "apps/pleat/version/commit.txt"  # in git's archives, too
DESCRIPTION = "Couplings, mutual information, RMSD, clusters and scattering of proteins, on CPUs and GPUs"


def version():
    """The project's, as CMakeLists.txt has it."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(pleat VERSION ([\d.]+)", text).group(1)


def metadata():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return (f"Metadata-Version: 2.1\nName: {DISTRIBUTION}\nVersion: {version()}\nSummary: {DESCRIPTION}\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\nRequires-Dist: numpy\n"
            f"Description-Content-Type: text/markdown\n\n{readme}")


def tag(python=None, glibc=None):
    """`python`: such as "3.9", this one where it is None; `glibc`: the version that a wheel needs that has all
    other libraries (PEP 600)."""
    python = "cp" + (python or f"{sys.version_info.major}.{sys.version_info.minor}").replace(".", "")
    platform = f"manylinux_{glibc}_{os.uname().machine}" if glibc else sysconfig.get_platform()
    return f"{python}-{python}-" + re.sub(r"\W", "_", platform)


def commit():
    """The commit of these sources; empty where git does not know them."""
    done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*", "--abbrev=12"],
                          check=False, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def run(*command):
    print("+", *command, flush=True)
    # CMake imports NumPy, and the module that it built.
    subprocess.run(command, check=True, env=build_requirements.outer_environment())


def built(settings):
    """A build folder with the module for this Python."""
    if "build" in settings:
        return Path(settings["build"])
    folder = ROOT / "build" / "python"
    # Below virtual environments the headers are those of the Python that made them.
    run("cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        "-DPLEAT_PYTHON_MODULE=ON", "-DPLEAT_PROGRAM=OFF", "-DPLEAT_TESTS=OFF", "-DPLEAT_BENCH=OFF",
        f"-DPython_EXECUTABLE={sys.executable}")
    jobs = settings.get("jobs") or os.environ.get("PLEAT_JOBS") or str(os.cpu_count() or 1)
    run("cmake", "--build", str(folder), "--parallel", jobs, "--target", "pleat_package")
    return folder


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def info_folder():
    return f"{FILE_NAME}-{version()}.dist-info"


def info_files(wheel_tag):
    """What describes the wheel: {name in its .dist-info: bytes}."""
    return {"METADATA": metadata().encode(),
            "WHEEL": ("Wheel-Version: 1.0\nGenerator: pleat_build\nRoot-Is-Purelib: false\n"
                      f"Tag: {wheel_tag}\n").encode(),
            "entry_points.txt": f"[console_scripts]\n{NAME} = {NAME}.__main__:main\n".encode(),
            "LICENSE": (ROOT / "LICENSE").read_bytes(),
            "copyright": (ROOT / "packaging" / "debian" / "copyright").read_bytes()}


def staged_files(folder):
    """{name: bytes} of what CMake installed there. A wheel has no links, so a library has the name that
    others look for."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    targets = {path.resolve() for path in paths if path.is_symlink()}
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path not in targets}


def write_wheel(path, files, wheel_tag):
    """`files`: {name: bytes}, to which the description and the record are added."""
    info = info_folder()
    files = dict(files)
    files.update((f"{info}/{name}", data) for name, data in info_files(wheel_tag).items())
    record = "".join(record_line(name, data) for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o755 << 16 if ".so" in name else 0o644 << 16
            wheel.writestr(entry, data)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    build_requirements.check(compiles="build" not in (config_settings or {}))
    folder = Path(metadata_directory, info_folder())
    folder.mkdir()
    for name, data in info_files(tag()).items():
        (folder / name).write_bytes(data)
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    settings = config_settings or {}
    build_requirements.check(compiles="build" not in settings)
    folder = built(settings)
    with tempfile.TemporaryDirectory() as name:
        staged = Path(name).resolve()

        def install(component):
            run("cmake", "--install", str(folder), "--component", component, "--strip", "--prefix", str(staged))
        install("python")
        if "python" in settings:
            next((staged / NAME).glob("_pleat.*.so")).unlink()
            install(f"python{settings['python']}")
        glibc = None
        if (staged / NAME / "libs").exists():
            lowered = symbol_versions.lower_folder(staged, symbol_versions.number(GLIBC))
            glibc = max(GLIBC, lowered, key=symbol_versions.number)
        wheel_tag = tag(settings.get("python"), glibc)
        wheel = f"{FILE_NAME}-{version()}-{wheel_tag}.whl"
        write_wheel(Path(wheel_directory, wheel), staged_files(staged), wheel_tag)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    """All that git tracks, and the commit, which a build of the archive names."""
    base = f"{FILE_NAME}-{version()}"
    listing = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], check=True,
                             capture_output=True).stdout.decode()
    with tempfile.TemporaryDirectory() as staged:
        described, named = Path(staged, "PKG-INFO"), Path(staged, "commit.txt")
        described.write_text(metadata(), encoding="utf-8")
        named.write_text(commit(), encoding="utf-8")
        with tarfile.open(Path(sdist_directory, f"{base}.tar.gz"), "w:gz") as archive:
            for name in filter(None, listing.split("\0")):
                archive.add(named if name == COMMIT_FILE else ROOT / name, f"{base}/{name}", recursive=False)
            archive.add(described, f"{base}/PKG-INFO")
    return f"{base}.tar.gz"
