# Packs the programs, libraries, scripts and alignments that a GPU machine needs into one folder.
import json
import lzma
import re
import shutil
import subprocess
import tarfile

from record import describe_commit

PROGRAMS = ("apps/pleat/pleat", "src/pleat/core/test_core", "src/pleat/weights/test_weights",
            "src/pleat/weights/bench_weights", "src/pleat/couplings/test_couplings",
            "src/pleat/couplings/bench_couplings", "src/pleat/mutual_information/test_mutual_information",
            "src/pleat/rmsd/test_rmsd", "src/pleat/saxs/test_saxs", "bench/bench_ceilings",
            "bench/bench_ccmpred_iterations", "bench/bench_rmsd_gpu", "bench/bench_fit_gpu",
            "bench/bench_tm_gpu", "bench/bench_measures", "bench/bench_measure_launches",
            "bench/bench_make_ensemble", "bench/bench_make_families",
            "bench/bench_saxs_gpu", "bench/bench_refine", "bench/bench_ensemble_fits")
SCRIPTS = ("scripts/gpu_test", "bench/make_alignment.py", "bench/record.py", "bench/measure.py")
# What every Linux has, in a version that fits its own kernel and loader.
SYSTEM = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s))\.so")
MAX_BYTES = 60 << 20
# Folders of programs and libraries, which travel compressed: each test program holds all of libpleat.
PROGRAM_FOLDERS = ("bin", "lib", "ranks")
ARCHIVE = "programs.tar.xz"
# A dictionary longer than several programs stores what they share once. A higher preset takes three times as
# long for 2 % less.
COMPRESSION = [{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 64 << 20}]
# What tests read, as they find it in data/ and beside the repository.
TEST_DATA = ("1a8o.pdb.gz", "1hel.pdb.gz", "cheY.aln.gz", "trna.sto.gz", "trypsin.a2m.gz", "hivp.dcd.gz", "hivp.pdb.gz")
TEST_SHARED = ("oracle/mutual_information/trna140x71.fasta",
               "oracle/mutual_information/hivp_xray_unique.fasta",
               "data/alignments/PF00014_bpti.aln.gz", "data/ensembles/md70_CA70_M5000_xyz.npy",
               *(f"oracle/saxs/{name}" for name in (
                   "paper_1888/oracle_float64_numpy.dat", "paper_1888/test1888.pos_matrix.txt",
                   "paper_1888/test1888.ff_db.txt", "all_atom/6lyz_Q51.dat",
                   "all_atom/6lyz_atoms.npz", "all_atom/1XIB_4mer_Q51.dat",
                   "all_atom/1XIB_4mer_atoms.npz")))


def libraries(program):
    """The shared libraries that a program loads and another Linux may lack."""
    listing = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^\s*(\S+) => (/\S+)", listing, re.MULTILINE)
    return [(name, path) for name, path in found if not SYSTEM.match(name)]


def pack_programs(build, folder):
    for name in ("bin", "lib"):
        (folder / name).mkdir(parents=True)
    for name in PROGRAMS:
        for library, path in libraries(build / name):
            shutil.copy(path, folder / "lib" / library)
        shutil.copy(build / name, folder / "bin")
    for path in [*(folder / "bin").iterdir(), *(folder / "lib").iterdir()]:
        subprocess.run(["strip", "--strip-all", path], check=True)


def pack_scripts(root, folder):
    for name in SCRIPTS:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(root / name, folder / name)
    (folder / "bench/gpu").mkdir()
    for path in (root / "bench/gpu").glob("*.py"):
        shutil.copy(path, folder / "bench/gpu")


def pack_data(root, shared, folder):
    """Alignments with what is known of them; those outside the repository where they are."""
    (folder / "data/families").mkdir(parents=True)
    (folder / "data/oracle").mkdir()
    for name in TEST_DATA:
        shutil.copy(root / "data" / name, folder / "data")
    shutil.copytree(root / "data/oracles", folder / "data/oracles")
    ensembles = [str(path.relative_to(shared)) for path in (shared / "oracle/rmsd").glob("*.npy")]
    for name in (*TEST_SHARED, *ensembles):
        if (shared / name).exists():
            (folder / "data/shared" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(shared / name, folder / "data/shared" / name)
    for path in (shared / "data/alignments").glob("*.aln.gz"):
        shutil.copy(path, folder / "data/families")
    for path in (shared / "oracle/couplings").glob("*.gz"):
        if re.fullmatch(r"\w+\.(aln|mat)\.gz", path.name):
            shutil.copy(path, folder / "data/oracle")
    pdz3 = shared / "data/mutants/PF00595_DLG4_RAT_313-391.fasta.gz"
    if pdz3.exists():
        (folder / "data/mutants").mkdir()
        shutil.copy(pdz3, folder / "data/mutants")
    for case in ("ligase_multifoxs", "rpa_multifoxs"):
        if (shared / "data/refine" / case).exists():
            shutil.copytree(shared / "data/refine" / case, folder / "data/refine" / case)
    (folder / "data/mutual_information").mkdir()
    for name in ("calm753x264.fasta.gz", "ribo140x71.fasta"):
        if (shared / "oracle/mutual_information" / name).exists():
            shutil.copy(shared / "oracle/mutual_information" / name, folder / "data/mutual_information")
    if not shared.is_dir():
        print(f"{shared}: absent; the families and the reference optima are left out")


def compress_programs(folder):
    """Replaces the folders of programs by one archive."""
    with lzma.open(folder / ARCHIVE, "w", filters=COMPRESSION) as file, tarfile.open(fileobj=file, mode="w") as archive:
        for name in PROGRAM_FOLDERS:
            if (folder / name).exists():
                archive.add(folder / name, arcname=name)
                shutil.rmtree(folder / name)


def unpack_programs(folder):
    """Unpacks the archive, on the machine with the GPU; does nothing where that was done before."""
    if (folder / ARCHIVE).exists() and not (folder / "bin").exists():
        with tarfile.open(folder / ARCHIVE) as archive:
            archive.extractall(folder)


def pack(root, folder, build, shared):
    """Packs a build into a new folder; the exit status."""
    if build is None:
        subprocess.run([root / "scripts/build", "cuda"], check=True)
        build = root / "build/cuda"
    if folder.exists():
        if not (folder / "pack.json").exists():
            print(f"{folder}: expected a new folder or an earlier pack, found something else")
            return 2
        shutil.rmtree(folder)
    pack_programs(build, folder)
    compress_programs(folder)
    pack_scripts(root, folder)
    pack_data(root, shared, folder)
    (folder / "pack.json").write_text(json.dumps({"commit": describe_commit(root)}) + "\n")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 2**20:.1f} MiB; there: python3 {folder.name}/scripts/gpu_test run "
          f"{folder.name}")
    if size > MAX_BYTES:
        print(f"expected at most {MAX_BYTES >> 20} MiB")
        return 1
    return 0
