// Metrics: their names, units and directions.
#include "pleat/rmsd/measures/metric.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "pleat/core/error.h"

namespace pleat::rmsd {

namespace {

constexpr Metric kMetrics[] = {{Metric::Kind::rmsd, "rmsd", "RMSD", "angstrom", false},
                               {Metric::Kind::drmsd, "drmsd", "dRMSD", "angstrom", false},
                               {Metric::Kind::tm, "tm", "TM-score", "", true},
                               {Metric::Kind::gdt_ts, "gdt_ts", "GDT_TS", "", true}};

}  // namespace

const Metric& metric_of(std::string_view name) {
    for (const Metric& metric : kMetrics)
        if (metric.name == name) return metric;
    throw UsageError(
        fmt::format("expected one of {}, found '{}'", fmt::join(metric_names(), ", "), name));
}

std::vector<std::string> metric_names() {
    std::vector<std::string> names;
    for (const Metric& metric : kMetrics) names.emplace_back(metric.name);
    return names;
}

std::string_view default_selection(const Metric& metric) { return metric.is_score ? "ca" : "all"; }

void require_distances(std::string_view name, std::string_view source) {
    const bool is_score =
        std::any_of(std::begin(kMetrics), std::end(kMetrics),
                    [&](const Metric& m) { return m.name == name && m.is_score; });
    if (is_score)
        throw InputError(
            source, 0, fmt::format("expected a run of distances, found one of scores ({})", name));
}

}  // namespace pleat::rmsd
