// Parameters: the options of rmsd and its metrics, described once.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pleat/core/error.h"
#include "pleat/rmsd/measures/metric.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

namespace {

constexpr MetricTraits kMetrics[] = {{Metric::rmsd, "rmsd", "RMSD", "angstrom", false},
                                     {Metric::drmsd, "drmsd", "dRMSD", "angstrom", false},
                                     {Metric::tm, "tm", "TM-score", "", true},
                                     {Metric::gdt_ts, "gdt_ts", "GDT_TS", "", true},
                                     {Metric::lddt, "lddt", "lDDT", "", true}};
constexpr std::string_view kNames[] = {"rmsd", "drmsd", "tm", "gdt_ts", "lddt"};

}  // namespace

std::span<const std::string_view> names_of(Metric) { return kNames; }

const MetricTraits& traits_of(Metric metric) { return kMetrics[static_cast<std::size_t>(metric)]; }

Metric metric_named(std::string_view name) {
    for (const MetricTraits& traits : kMetrics)
        if (traits.name == name) return traits.metric;
    throw UsageError(fmt::format("expected one of {}, found '{}'", fmt::join(kNames, ", "), name));
}

std::string_view default_selection(Metric metric) {
    return traits_of(metric).is_score ? "ca" : "all";
}

void require_distances(Metric metric, std::string_view source) {
    const MetricTraits& traits = traits_of(metric);
    if (!traits.is_score) return;
    throw InputError(
        source, 0,
        fmt::format("expected a run of distances, found one of scores ({})", traits.name));
}

namespace {

constexpr std::string_view kPrecisions[] = {"mixed", "float64"},
                           kLayouts[] = {"condensed", "full", "none"};

}  // namespace

std::span<const std::string_view> names_of(FitPrecision) { return kPrecisions; }
std::span<const std::string_view> names_of(MatrixLayout) { return kLayouts; }

std::vector<Field> fields(Parameters& p) {
    return {
        {.name = "metric",
         .target = &p.metric,
         .help = "rmsd: after superposition; drmsd: of the distances between atoms; tm, gdt_ts: "
                 "scores up to 1 from TM-score's search over superpositions; lddt: fraction of the "
                 "distances below 15 angstrom between atoms of different residues that the other "
                 "frame preserves, without superposition"},
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
