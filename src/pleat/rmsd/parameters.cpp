// Parameters: the options of rmsd, described once.
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

namespace {

constexpr std::string_view kPrecisions[] = {"mixed", "float64"},
                           kLayouts[] = {"condensed", "full", "none"};

}  // namespace

std::span<const std::string_view> names_of(Precision) { return kPrecisions; }
std::span<const std::string_view> names_of(MatrixLayout) { return kLayouts; }

std::vector<Field> fields(Parameters& p) {
    return {
        {.name = "metric",
         .target = &p.metric,
         .help = "rmsd: after superposition; drmsd: of the distances between atoms; tm, gdt_ts: "
                 "scores up to 1 from TM-score's search over superpositions; lddt: share of the "
                 "distances below 15 angstrom between residues that are the same in both frames, "
                 "without superposition"},
        {.name = "precision",
         .target = &p.precision,
         .help = "mixed: products in float32, error up to 1e-5 angstrom; float64: up to 1e-6 "
                 "(besides the rounding of results to float32)"},
        {.name = "matrix",
         .target = &p.matrix,
         .help =
             "Layout of rmsd.npy: condensed (pairs i < j, as in SciPy), full (square), or none; "
             "with --against a rectangle or none"},
        {.name = "cutoff",
         .target = &p.cutoff,
         .help = "List pairs below this RMSD, or above this score, in neighbours.npz",
         .unit = "angstrom",
         .letter = 'c',
         .min = 1e-30,
         .max = 1e30,
         .automatic = "none"},
        {.name = "nearest",
         .target = &p.nearest,
         .help = "How many nearest frames best.npz lists for each frame; 0: no list",
         .min = 0,
         .max = 1e6},
        {.name = "bin-width",
         .target = &p.bin_width,
         .help = "Width of the bins of the histogram",
         .unit = "angstrom",
         .min = 1e-6,
         .max = 1e6}};
}

}  // namespace pleat::rmsd
