// Parameters: the options of rmsd, described once.
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

std::vector<Field> fields(Parameters& p) {
    return {
        {.name = "metric",
         .target = &p.metric,
         .help = "rmsd: after superposition; drmsd: of the distances between atoms; tm, gdt_ts: "
                 "scores up to 1 by TM-score's search over superpositions",
         .letter = 'm',
         .choices = metric_names()},
        {.name = "precision",
         .target = &p.precision,
         .help = "mixed: products in float32, error up to 1e-5 angstrom; float64: up to 1e-6 "
                 "(beside the rounding of results to float32)",
         .choices = {"mixed", "float64"}},
        {.name = "matrix",
         .target = &p.matrix,
         .help = "Pairs of rmsd.npy: condensed (i < j, as SciPy's), full (square), or none; with "
                 "--against a rectangle or none",
         .choices = {"condensed", "full", "none"}},
        {.name = "cutoff",
         .target = &p.cutoff,
         .help = "List pairs below this RMSD, or above this score, in neighbours.npz",
         .unit = "angstrom",
         .letter = 'c',
         .min = 1e-30,
         .max = 1e30,
         .automatic = "none"},
        {.name = "best",
         .target = &p.best,
         .help = "Nearest frames of each that best.npz lists; 0: none",
         .letter = 'k',
         .min = 0,
         .max = 1e6},
        {.name = "bin",
         .target = &p.bin,
         .help = "Width of the histogram's bins",
         .unit = "angstrom",
         .min = 1e-6,
         .max = 1e6}};
}

}  // namespace pleat::rmsd
