# Packages: each is installed in bare systems that debootstrap makes, and does what its user would do.
"""test_packages.py [TEST...]: takes the files of scripts/packages from build/packages/out, or from the folder
that PLEAT_PACKAGES names; needs root and debootstrap, and else skips with a message. Commands come from
docs/installation.md and README.md. Debian packages are tried in the release that they were made on, the archive and
wheels in the releases that PLEAT_RELEASES names: "bullseye bookworm trixie jammy noble"."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
from snippets import snippets  # noqa: E402

OUT = Path(os.environ.get("PLEAT_PACKAGES", ROOT / "build" / "packages" / "out"))
BARE_ROOT = ROOT / "scripts" / "bare_root"
CHECK_SYMBOLS = ROOT / "scripts" / "check_symbols"
RELEASES = os.environ.get("PLEAT_RELEASES", "bullseye bookworm trixie jammy noble").split()
NEEDED = "make test-packages does"
INSTALL_SECONDS, PIP_SECONDS = 60, 30
FIRST_CONTACTS = "pleat couplings /usr/share/doc/pleat/examples/cheY.aln.gz -o run"


def reason_to_skip(needed):
    if os.geteuid() != 0:
        return "expected root, which bare systems need"
    if shutil.which("debootstrap") is None:
        return "expected debootstrap, found none (scripts/setup packages)"
    return None if list(OUT.glob(needed)) else f"expected {needed} in {OUT}, found none (make packages)"


def documented(heading):
    """The commands below a heading of docs/installation.md."""
    page = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL).group(1)
    return [one.text for one in snippets(section) if one.left_out == NEEDED]


def own_release():
    lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)["VERSION_CODENAME"].strip('"')


class System:
    """A copy of the bare system."""

    def __init__(self, folder, made):
        self.folder = folder
        subprocess.run(["cp", "-ax", made, folder], check=True)
        self.home = folder / "root"
        (self.home / "trial" / "scripts").mkdir(parents=True)
        shutil.copytree(ROOT / "data", self.home / "trial" / "data", ignore=shutil.ignore_patterns("oracles"))
        shutil.copy(ROOT / "scripts" / "demo", self.home / "trial" / "scripts")

    def drop(self):
        subprocess.run([BARE_ROOT, "drop", self.folder], check=True)

    def take(self, *patterns):
        for pattern in patterns:
            for path in OUT.glob(pattern):
                shutil.copy(path, self.home / "trial")

    def run(self, command, path=""):
        """What the command prints; it runs in ~/trial, with that folder's `path` in front of PATH."""
        front = f"export PATH=$PWD/{path}:$PATH; " if path else ""
        started = time.monotonic()
        done = subprocess.run([BARE_ROOT, "run", self.folder, f"set -e; cd ~/trial; {front}{command}"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=900)
        shown = command.strip().split("\n")[0]
        print(f"  {time.monotonic() - started:6.1f} s  {shown}", flush=True)
        if done.returncode != 0:
            raise AssertionError(f"{shown}: status {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def run_readme(self, python, path=""):
        """Every block of README.md that the tests of the documentation run, too."""
        blocks = [one for one in snippets((ROOT / "README.md").read_text(encoding="utf-8")) if not one.left_out]
        for one in blocks:
            if one.language != "python":
                self.run(one.text, path)
        code = "\n".join(one.text for one in blocks if one.language == "python")
        (self.home / "trial" / "readme.py").write_text(code + "\nprint(fit.chi2)\n", encoding="utf-8")
        assert float(self.run(f"{python} readme.py", path)) > 0


class Bare(unittest.TestCase):
    """Tests that each get a copy of a bare system."""
    made = {}

    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="pleat-packages-", dir=os.environ.get("TMPDIR", "/var/tmp")))

    @classmethod
    def tearDownClass(cls):
        for made in cls.made.values():
            subprocess.run([BARE_ROOT, "drop", made], check=True)
        cls.made.clear()
        shutil.rmtree(cls.work)

    def system_of(self, release):
        print(f"\n{self.id().rpartition('.')[2]}, {release}", flush=True)
        if release not in self.made:
            made = self.work / release
            done = subprocess.run([BARE_ROOT, "make", release, made], check=False, capture_output=True, text=True)
            if done.returncode != 0 and release != own_release():
                self.skipTest(done.stderr.strip())
            self.assertEqual(done.returncode, 0, done.stderr)
            self.made[release] = made
            (made / "etc/apt/apt.conf.d/90yes").write_text('APT::Get::Assume-Yes "true";\n', encoding="ascii")
            subprocess.run([BARE_ROOT, "run", made, "apt-get update"], check=True, capture_output=True)
        system = System(self.work / "system", self.made[release])
        self.addCleanup(system.drop)
        return system


@unittest.skipIf(reason_to_skip("*.deb"), reason_to_skip("*.deb"))
class DebianPackages(Bare):
    def setUp(self):
        self.system = self.system_of(own_release())

    def test_program(self):
        system = self.system
        system.take("*.deb")
        install = documented("Debian packages")[0].split("\n")[0]
        contacts = documented("Debian packages")[1]
        self.assertIn("./pleat_*.deb", install)
        started = time.monotonic()
        system.run(install)
        system.run(contacts)
        self.assertLess(time.monotonic() - started, INSTALL_SECONDS)
        self.assertEqual(system.run("ls /usr/bin | grep -E '^(cc|c[+][+]|gcc|g[+][+]|clang)' || true"), "")
        self.assertIn("contacts.tsv", system.run("ls run"))
        self.assertRegex(system.run("pleat info"), r"\nGPUs +none: ")
        system.run("scripts/demo pleat")
        self.assertGreater((system.home / "trial" / "demo-page.html").stat().st_size, 100_000)
        system.run("apt-get install --no-install-recommends man-db bash-completion")
        for page in ("pleat", "pleat-couplings"):
            self.assertIn("SYNOPSIS", system.run(f"man {page}"))
        self.assertIn("couplings", system.run(
            "source /usr/share/bash-completion/bash_completion; _completion_loader pleat || [ $? = 124 ]; "
            "COMP_WORDS=(pleat coup); COMP_CWORD=1; _pleat; echo ${COMPREPLY[@]}"))

    def test_library(self):
        system = self.system
        system.take("libpleat*.deb")
        system.run(documented("Debian packages")[0].split("\n")[2])
        system.run("apt-get install --no-install-recommends g++ pkg-config")
        system.run("cp /usr/share/doc/libpleat-dev/examples/strongest_contacts.cpp .")
        system.run("zcat data/trypsin.a2m.gz > family.a3m")
        self.assertIn("\n      63        78  0.0596\n", system.run(documented("C++")[0]))

    def test_python_package(self):
        system = self.system
        system.take("*.deb")
        install = documented("Debian packages")[0].split("\n")
        system.run(install[1])
        system.run("python3 -c 'import importlib.metadata as m, pleat; "
                   "assert m.version(\"pleat-protein\") == pleat.__version__'")
        self.assertRegex(system.run("python3 -m pleat --version"), r"^pleat \d")
        system.run(install[0])
        system.run_readme("python3")

    def test_container(self):
        image = OUT / "pleat-container.tar"
        if not image.exists() or shutil.which("buildah") is None:
            self.skipTest(f"expected {image} and buildah, found not both")
        storage = ["buildah", "--storage-driver", "vfs", "--root", self.work / "storage", "--runroot", self.work / "run"]

        def buildah(*words):
            return subprocess.run([*storage, *words], check=True, capture_output=True, text=True).stdout.strip()
        container = buildah("from", f"oci-archive:{image}")
        self.addCleanup(buildah, "rm", container)
        # `buildah run` ignores the image's entry point.
        self.assertIn("pleat", buildah("inspect", "--format", "{{.OCIv1.Config.Entrypoint}}", container))
        trial = self.system.home / "trial"
        buildah("run", "--isolation", "chroot", "-v", f"{trial}:/data", container, "pleat", "couplings",
                "data/cheY.aln.gz", "-o", "run")
        self.assertTrue((trial / "run" / "contacts.tsv").exists())
        buildah("run", "--isolation", "chroot", container, "python3", "-c", "import pleat")


@unittest.skipIf(reason_to_skip("*.whl"), reason_to_skip("*.whl"))
class EveryRelease(Bare):
    def in_releases(self, check):
        for release in RELEASES:
            with self.subTest(release=release):
                system = self.system_of(release)
                try:
                    check(system)
                finally:
                    self.doCleanups()

    def test_archive(self):
        self.in_releases(self.check_archive)

    def test_wheels(self):
        self.in_releases(self.check_wheel)

    def test_library_of_the_archive(self):
        """Its exceptions reach a program with a libstdc++ of its own."""
        system = self.system_of(own_release())
        system.take("pleat-*.tar.gz")
        system.run("tar xf pleat-*.tar.gz; mv pleat-*-linux-*/ moved")
        system.run("apt-get install --no-install-recommends g++ pkg-config")
        shutil.copy(ROOT / "tests" / "install" / "consumer" / "main.cpp", system.home / "trial")
        system.run("PKG_CONFIG_PATH=moved/lib/pkgconfig; export PKG_CONFIG_PATH; c++ -std=c++20 main.cpp "
                   "$(pkg-config --cflags --libs pleat) -Wl,-rpath,'$ORIGIN/moved/lib'")
        self.assertIn("broken.aln:3: expected 5", system.run("./a.out"))

    def test_symbols(self):
        limits = [f"--limit={one}" for one in ("GLIBC=2.28", "GLIBCXX=3.4.24", "CXXABI=1.3.11", "GCC=7.0.0")]
        done = subprocess.run([CHECK_SYMBOLS, *limits, *OUT.glob("pleat-*.tar.gz"), *OUT.glob("*.whl")], check=False,
                              capture_output=True, text=True)
        print(done.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)

    def check_archive(self, system):
        system.take("pleat-*.tar.gz")
        for line in documented("Archive")[0].strip().split("\n"):
            system.run(line)
        system.run("mv pleat-*-linux-*/ moved")
        self.check_carried(system.run("ldd moved/bin/pleat"))
        self.check_carried(system.run("ldd moved/lib/libpleat.so"))
        system.run(FIRST_CONTACTS.replace("/usr/share/doc/pleat/examples", "moved/share/doc/pleat/examples"),
                   "moved/bin")
        refused = system.run("moved/bin/pleat rmsd absent.pdb -o none 2>&1 || echo status $?")
        self.assertEqual(refused, "pleat: absent.pdb: expected a file, found nothing of that name\nstatus 3\n")
        system.run("scripts/demo ~/trial/moved/bin/pleat")

    def check_carried(self, libraries):
        """Every library is beside the program, but glibc's and libgcc."""
        found = re.findall(r"^\s*(\S+) => (\S+)", libraries, re.MULTILINE)
        self.assertTrue(found)
        for name, path in found:
            self.assertTrue(re.match(r"lib(c|gcc_s|m|dl|pthread|rt)\.so", name) or "/trial/" in path, (name, path))

    def check_wheel(self, system):
        system.take("pleat_protein-*.whl")
        system.run("apt-get install --no-install-recommends python3 python3-venv python3-numpy")
        make_environment, *install = documented("Python wheel")[0].strip().split("\n")
        system.run(make_environment)
        started = time.monotonic()
        for line in install:
            system.run(line)
        system.run("env/bin/python -c 'import pleat'")
        self.assertLess(time.monotonic() - started, PIP_SECONDS)
        self.check_carried(system.run("ldd env/lib/python3*/site-packages/pleat/_pleat*.so"))
        self.assertRegex(system.run("env/bin/python -m pleat --version"), r"^pleat \d")
        self.assertEqual(system.run(
            "env/bin/python -c 'import pleat\ntry: pleat.rmsd(\"absent.pdb\")\n"
            "except pleat.InputError as error: print(error)'"),
            "absent.pdb: expected a file, found nothing of that name\n")
        system.run_readme("env/bin/python", "env/bin")

if __name__ == "__main__":
    unittest.main()
