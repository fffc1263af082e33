// Metrics: by which number two structures are compared, and which way it goes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pleat::rmsd {

struct Metric {
    enum class Kind { rmsd, drmsd, tm, gdt_ts } kind;
    std::string_view name;   ///< of the option, of files and of columns
    std::string_view label;  ///< as papers write it
    std::string_view unit;   ///< "angstrom", or nothing for scores
    bool is_score;           ///< 1 between equal structures, falling to 0; else a distance from 0

    float of_equals() const { return is_score ? 1.0f : 0.0f; }
    /// Whether a pair of value `a` is nearer than one of value `b`.
    bool is_nearer(double a, double b) const { return is_score ? a > b : a < b; }
};

/// UsageError for a name that is none.
const Metric& metric_of(std::string_view name);
std::vector<std::string> metric_names();
/// The atoms that a metric compares by default, as a selection: scores are defined on CA atoms
/// (Zhang and Skolnick 2004, Zemla 2003), distances on all.
std::string_view default_selection(const Metric& metric);
/// Throws InputError, which names the run's folder `source`, for a run by a metric of scores, whose
/// values cannot be clustered as distances.
void require_distances(std::string_view name, std::string_view source);

}  // namespace pleat::rmsd
