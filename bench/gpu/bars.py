# The bars of the engines on one H200: what is measured, by which part, and what it must reach.
from __future__ import annotations

from dataclasses import dataclass

# Sizes (sequences, columns) of the generated alignments that are timed, and of the large one.
SIZES = ((5000, 150), (5000, 300), (5000, 500), (50000, 150), (2000, 1000))
LARGE = (5000, 3000)
# As diverse as the sequences of Ras: 17 symbols a column. Made too.
DIVERSE = (998, 160)


def size_name(size):
    return f"{size[0]}x{size[1]}"


@dataclass(frozen=True)
class Bar:
    """`most` or `least`: the number that the measured one must not pass; `stretch`: a finer aim;
    `gpus`: how many the machine must have."""
    name: str
    part: str
    most: float | None = None
    least: float | None = None
    stretch: float | None = None
    gpus: int = 1

    def is_met(self, value):
        if value is None:
            return None
        return value <= self.most if self.least is None else value >= self.least

    def text(self):
        return f"<= {self.most:g}" if self.least is None else f">= {self.least:g}"


@dataclass(frozen=True)
class MiCase:
    """A run of pleat mi that is timed: `program` and `kernel` are the most seconds of the whole and of
    the kernels that count, by the GPU's clock, with a finer aim."""
    name: str
    alignment: str
    order: int
    repeats: int
    program: tuple[float, float | None] | None = None
    kernel: tuple[float, float | None] | None = None

    def bars(self):
        for what, aim in (("program", self.program), ("kernel", self.kernel)):
            if aim is not None:
                yield Bar(f"{self.name}: seconds of the {what}", "mutual_information", most=aim[0],
                          stretch=aim[1])


# Metric, frames and atoms: seconds of all pairs.
MEASURES = {("lddt", 5000, 300): 1.0, ("drmsd", 100000, 100): 1.0, ("tm", 5000, 150): 15.0}


def measure_bar(metric, frames, atoms):
    return f"measures: seconds of {metric}, all pairs of {frames}x{atoms}"


MI_SHUFFLES = 10000
MI_TIMES = (
    MiCase("pairs of 753x264", "calm753x264", 2, 5, (0.4, None), (0.1, None)),
    MiCase("triples of 140x71 RNA", "ribo140x71", 3, 5, None, (0.05, None)),
    MiCase("triples of 753x264", "calm753x264", 3, 2, (20, 6)),
    MiCase(f"triples of {size_name(DIVERSE)}", size_name(DIVERSE), 3, 1, (30, None)),
)

# Lists of jobs: families of made sizes, frames and atoms of an ensemble, and threads of the CPU.
MADE_FAMILIES = 1000
ENSEMBLE = (5000, 70)
CPU_THREADS = 16

# What several GPUs share, and how near to their number it must be as many times as fast: 1.9 on two.
LANES = {"triples of 753x264": 0.95, f"triples of {size_name(DIVERSE)}": 0.95, "pairs of 400000x100": 0.95,
         "profiles of 16000 frames": 0.95, "clusters of 1000000x100": 0.85, "clusters of 2000000x100": 0.85}

SECONDS = {(5000, 150): (0.25, 0.12), (5000, 500): (0.6, 0.35), (50000, 150): (0.7, 0.4),
           (2000, 1000): (0.9, 0.5)}

BARS = (
    Bar("CUDA tests that failed or were skipped", "tests", most=0),
    Bar("memcheck: programs not clean", "sanitizers", most=0),
    Bar("racecheck: programs not clean", "sanitizers", most=0),
    *(Bar(f"{size_name(size)}: seconds, file to scores", "times", most=most, stretch=stretch)
      for size, (most, stretch) in SECONDS.items()),
    Bar("timed fits with other bits in another run", "times", most=0),
    Bar("fits above CCMpred's 50 iterations", "times", most=0),
    *(Bar(f"{size_name(size)}: evaluation amid a fit, fraction of its limit", "evaluations", least=0.5)
      for size in SIZES),
    Bar("optimum: relative difference of f to float64", "optimum", most=1e-6),
    Bar("optimum: difference of scores over the largest", "optimum", most=1e-3),
    Bar("optimum: top-L pairs that differ", "optimum", most=0),
    Bar("GPU and CPU: relative difference of f", "optimum", most=1e-6),
    Bar("GPU and CPU: difference of scores over the largest", "optimum", most=1e-3),
    Bar("GPU and CPU: top-L pairs that differ", "optimum", most=0),
    Bar("families: seconds of one call", "families", most=20),
    Bar("families: not finished by that call", "families", most=0),
    Bar("families: computed again by a second call", "families", most=0),
    Bar("families: lost beside a broken one", "families", most=0),
    Bar("families: scores of other bits in another run", "families", most=0),
    *(bar for case in MI_TIMES for bar in case.bars()),
    Bar("mutual information: runs of other bits than the first", "mutual_information", most=0),
    Bar("mutual information: results that differ from the CPU's", "mutual_information", most=0),
    Bar("mutual information: seconds of 10000 null alignments of 753x264 along a tree", "mutual_information", most=20),
    Bar("mutual information: relative difference of E below 1 along a tree to the CPU's", "mutual_information", most=1e-6),
    *(bar for name, least in LANES.items() for bar in (
        Bar(f"lanes: {name}: times as fast as one GPU, by the share of each", "lanes", least=least,
            gpus=2),
        Bar(f"lanes: {name}: results that differ from one GPU's", "lanes", most=0, gpus=2))),
    Bar(f"lists: seconds of {MADE_FAMILIES} made families on one GPU", "lists", most=60),
    Bar(f"lists: seconds of {MADE_FAMILIES} made families on two GPUs", "lists", most=35, gpus=2),
    Bar("lists: real families: times as fast on two GPUs, beyond the start", "lists", least=1.7, gpus=2),
    *(Bar(f"lists: {name}: seconds of an ensemble on one GPU", "lists", most=0.05)
      for name in ("superposition", "clustering", "superposition with the matrix")),
    Bar("lists: results of two GPUs that differ from those of one", "lists", most=0, gpus=2),
    Bar("cpu list: seconds over what CPU seconds and the longest family allow", "cpu_list", most=1.3),
    Bar("cpu list: results of the longest family that differ alone", "cpu_list", most=0),
    Bar("mutants: seconds of all singles of PDZ3, 36690x82", "mutants", most=1),
    Bar("rmsd: kernel seconds, values of 5000x140", "rmsd", most=0.005),
    Bar("rmsd: error of values of 5000x140, angstrom", "rmsd", most=1e-5),
    Bar("rmsd: clusterings of 20000x100 other than the definition's", "rmsd", most=0),
    Bar("rmsd: kernel seconds, histogram and neighbours of 100000x100", "rmsd", most=1, stretch=0.4),
    Bar("rmsd: clusterings of 50000x100 by the program other than the CPU's", "rmsd", most=0),
    *(Bar(measure_bar(*case), "measures", most=most) for case, most in MEASURES.items()),
    Bar("million: seconds of the clustering", "million", most=120, stretch=40),
    Bar("million: bytes of GPU memory", "million", most=100e9),
    Bar("million: clusters out of the order of their sizes", "million", most=0),
    Bar("saxs: seconds of a profile, 1888 bodies, 51 q", "saxs", most=30e-6),
    Bar("saxs: seconds of a rigid move of 40 %", "saxs", most=20e-6),
    Bar("saxs: 1000 frames, fraction of multiply-adds", "saxs", least=0.45),
    Bar("saxs: seconds of 100000 scatterers, 501 q", "saxs", most=1.5),
    Bar("saxs: moves a second, 64 chains of 200 bodies", "saxs", least=500000),
    Bar("saxs: largest relative error", "saxs", most=1e-5),
    Bar("saxs: 1000 frames, float64 by float32", "saxs", most=4.0),
    Bar("saxs: largest relative error in float64", "saxs", most=1e-10),
    Bar("saxs: a gradient by a profile", "saxs", most=3.0),
    Bar("saxs: largest error of a gradient", "saxs", most=1e-5),
    Bar("saxs: largest error of a gradient in float64", "saxs", most=1e-10),
    Bar("refine: moves a second, 1024 conformations of 1888 bodies", "refine", least=150000),
    Bar("refine: moves a second, 1024 conformations of 200 bodies", "refine", least=800000),
    Bar("refine: seconds of a pool of 10000 with profiles", "refine", most=10),
    Bar("refine: runs of other bits with other threads", "refine", most=0),
    Bar("refine: seconds of a pool of 10000 frames of 603 residues with profiles", "refine_trials", most=10),
    Bar("refine: chi^2 of the minimal ensemble of DNA ligase III", "refine_trials", most=1.6),
    Bar("refine: angstrom of the 90 % interval of RPA70's distance", "refine_trials", most=4),
    Bar("refine: angstrom of RPA70's true distance outside of it", "refine_trials", most=0),
    Bar("refine: clusters of RPA70's conformations", "refine_trials", least=2),
    Bar("refine: largest R-hat of RPA70's lineages", "refine_trials", most=1.01),
    Bar("refine: smallest effective size of RPA70's lineages", "refine_trials", least=400),
    Bar(f"{size_name(LARGE)}: exit status", "large", most=0),
)
