# Checks that a wheel of pleat can be built here, in a second and before anything is compiled.
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

# What each Debian package brings: headers for the compiler, or programs.
HEADERS = {"libfmt-dev": "fmt/format.h", "libhwy-dev": "hwy/highway.h", "gemmi-dev": "gemmi/version.hpp",
           "nlohmann-json3-dev": "nlohmann/json.hpp", "libcli11-dev": "CLI/CLI.hpp", "zlib1g-dev": "zlib.h", "libzstd-dev": "zstd.h",
           "tao-pegtl-dev": "tao/pegtl.hpp", "libstb-dev": "stb/stb_sprintf.h",
           "librandom123-dev": "Random123/philox.h", "pybind11-dev": "pybind11/pybind11.h"}
PROGRAMS = {"cmake": "cmake", "ninja-build": "ninja", "pkg-config": "pkg-config"}


def header_folders():
    """Where CMake looks for packages beside the compiler's own folders."""
    prefixes = os.environ.get("CMAKE_PREFIX_PATH", "").split(os.pathsep)
    prefixes += [str(Path(folder).parent) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    return [str(Path(prefix, "include")) for prefix in dict.fromkeys(prefixes) if prefix]


def missing_packages():
    """The Debian packages that a build needs and this machine lacks."""
    missing = [package for package, program in PROGRAMS.items() if shutil.which(program) is None]
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        missing.append("python3-dev")
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    if shutil.which(compiler[0]) is None:
        return missing + ["g++"]
    source = "".join(f"#if !__has_include(<{header}>)\nmissing {package}\n#endif\n"
                     for package, header in HEADERS.items())
    options = [option for folder in header_folders() for option in ("-idirafter", folder)]
    done = subprocess.run([*compiler, "-std=c++20", *options, "-E", "-P", "-x", "c++", "-"],
                          input=source, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return missing + ["g++"]
    return missing + [line.split()[1] for line in done.stdout.splitlines() if line.startswith("missing ")]


def outer_environment():
    """The variables outside of the environment that pip isolates builds in, which hides the system's NumPy."""
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("PYTHONPATH", "PYTHONNOUSERSITE")}
    try:  # pip replaces PYTHONPATH; its own process still shows what the user set.
        caller = Path("/proc", str(os.getppid()), "environ").read_bytes().split(b"\0")
        environment.update(entry.decode().split("=", 1) for entry in caller
                           if entry.startswith((b"PYTHONPATH=", b"PYTHONNOUSERSITE=")))
    except (OSError, ValueError):
        pass
    return environment


def has_numpy():
    return subprocess.run([sys.executable, "-c", "import numpy"], env=outer_environment(), check=False,
                          capture_output=True).returncode == 0


def check(compiles):
    """Ends the build with one line where it could not succeed. `compiles`: whether it runs a compiler."""
    if not has_numpy():
        sys.exit(f"pleat: {sys.executable} has no NumPy. Either use Debian's Python (scripts/setup python; "
                 "/usr/bin/python3 -m venv --system-site-packages env) or install NumPy for this one first.")
    missing = missing_packages() if compiles else []
    if missing:
        sys.exit(f"pleat: missing for the build: {' '.join(missing)}. On Debian, scripts/setup python "
                 "installs these packages.")
