// Metrics: their names, units and directions.
#include "pleat/rmsd/measures/metric.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pleat/core/error.h"

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

}  // namespace pleat::rmsd
