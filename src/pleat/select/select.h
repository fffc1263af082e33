// Select: conformations of an ensemble ranked by contacts, clusters and scattering together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/fields.h"
#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat::select {

/// The options; fields() describes each.
struct Parameters {
    double contact_weight = 1, cluster_weight = 1, curve_weight = 1;
    double contact_cutoff = 8;  ///< angstrom
    double contacts_per_residue = 1;
    std::int64_t least_size = 3;  ///< of a cluster that is selected
    std::int64_t best = 5;        ///< clusters that are selected
};
std::vector<Field> fields(Parameters& parameters);

/// What is known of each frame. Spans of what is not known are empty, and clusters always are.
struct Evidence {
    View<const std::uint8_t, 2> satisfied;     ///< [frame, contact]: 1 where it is formed
    std::span<const double> strengths;         ///< [contact], above 0
    std::span<const std::int32_t> assignment;  ///< [frame]: cluster from 0, or -1 for noise
    std::span<const double> density;           ///< [frame], more in fuller places
    std::span<const double> chi2;              ///< [frame], of the curve

    Index frame_count() const { return static_cast<Index>(assignment.size()); }
    bool has_contacts() const { return !strengths.empty(); }
    bool has_chi2() const { return !chi2.empty(); }
};

/// Parts are places among all frames from 0 (worst) to 1 (best); frames of one value share the mean
/// of their places.
struct Scores {
    std::vector<double> contacts;  ///< share of the strengths of all contacts that are satisfied
    std::vector<double> left;      ///< the same of contacts that the first cluster leaves open
    std::vector<double> contact_part, cluster_part, curve_part;
    std::vector<double> joined;  ///< weighted mean of the parts
    std::vector<Index> place;    ///< from 1, the best; of equals the first frame
};

/// A cluster with all that speaks for it: medians over its frames.
struct ClusterEvidence {
    std::int32_t cluster = 0;
    Index size = 0;
    Index selected = 0;        ///< place among the selected from 1, 0 for others
    Index best = 0;            ///< its frame of the best place
    double joined = 0;         ///< of Scores
    double when_selected = 0;  ///< joined with contacts that were open then; NaN for others
    double contacts = 0, left = 0, density = 0, chi2 = 0, least_chi2 = 0;  ///< NaN: not known
    double added = 0;  ///< share of strengths it explains and no cluster before it; NaN for others
};

struct Result {
    Scores scores;
    std::vector<ClusterEvidence> clusters;  ///< the selected in their order, then by `joined`
    std::vector<Index> explained_by;  ///< [contact]: place of the first selected cluster that does
                                      ///< so, 0 for none
};

/// A cluster explains a contact that at least this share of its frames satisfies.
inline constexpr double kExplains = 0.1;

/// Ranks frames, and selects clusters one after another: the first has the highest median of joined
/// scores; each further one likewise among the frames of clusters left, where only contacts count
/// that no selected cluster explains, so that a second fold is not hidden by the first. README.md
/// gives the formulas. UsageError: options out of range, or weights that are 0 for all evidence
/// there is; std::logic_error: spans of different lengths.
Result run(const Evidence& evidence, const Parameters& parameters);

/// Places of values from 0 (worst) to 1 (best), equal ones sharing their mean; 0.5 for one alone.
std::vector<double> parts_of(std::span<const double> values, bool higher_is_better);

}  // namespace pleat::select

#pragma GCC visibility pop
