// Metrics: by which number two structures are compared, and which way it goes.
#pragma once

#include <string_view>

#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

/// The properties in which metrics differ.
struct MetricTraits {
    Metric metric;
    std::string_view name;   ///< in options, files and columns
    std::string_view label;  ///< in papers
    std::string_view unit;   ///< "angstrom"; empty for scores
    bool is_score;           ///< 1 for equal structures, falling to 0; else a distance

    float value_of_equal_structures() const { return is_score ? 1.0f : 0.0f; }
    /// Whether a pair with value `a` is nearer than one with value `b`.
    bool is_nearer(double a, double b) const { return is_score ? a > b : a < b; }
};

const MetricTraits& traits_of(Metric metric);
/// The metric with this name. Throws UsageError if there is none.
Metric metric_named(std::string_view name);
/// The default selection of a metric: CA atoms for scores, as defined (Zhang and Skolnick 2004,
/// Zemla 2003), all atoms for distances.
std::string_view default_selection(Metric metric);
/// Throws InputError, which names the run's folder `source`, for scores, which cannot be clustered
/// as distances.
void require_distances(Metric metric, std::string_view source);

}  // namespace pleat::rmsd
