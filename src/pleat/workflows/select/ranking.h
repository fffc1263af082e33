// Ranking: frames ranked and clusters selected by what is known of each frame.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/core/view.h"
#include "pleat/workflows/select/select.h"

namespace pleat::select {

/// The evidence for each frame. Spans of unknown evidence are empty; `assignment` and `density`
/// never are.
struct Evidence {
    View<const std::uint8_t, 2> formed_contacts;  ///< [frame, contact]: 1 if the frame forms it
    std::span<const double> contact_strengths;    ///< [contact], above 0
    std::span<const std::int32_t> assignment;     ///< [frame]: cluster from 0, or -1 for noise
    std::span<const double> density;              ///< [frame]: share of the other frames nearby
    std::span<const double> chi2;                 ///< [frame]: of the curve
    std::span<const double> score;  ///< [frame]: higher is better; -infinity: not known

    Index frame_count() const { return static_cast<Index>(assignment.size()); }
    bool has_contacts() const { return !contact_strengths.empty(); }
    bool has_chi2() const { return !chi2.empty(); }
};

struct Ranking {
    Scores scores;
    std::vector<ClusterSummary> clusters;  ///< the selected in their order, then by `joint_rank`
    std::vector<Index> explained_by;       ///< as in Result
};

/// A cluster explains a contact that at least this share of its frames forms.
inline constexpr double kMinShareOfFrames = 0.1;

/// Ranks frames and selects clusters as described in select.h. Throws UsageError for options out of
/// range and if the weights of all available evidence are 0, std::logic_error for spans of
/// different lengths.
Ranking rank(const Evidence& evidence, const Parameters& parameters);

/// Throws UsageError if the weights of all available evidence are 0.
void check_weights(const Parameters& parameters, bool has_contacts, bool has_curve, bool has_score);

/// Whether the clustering takes usual_cutoff(): its method needs a cutoff, and none is set.
bool wants_cutoff(const cluster::Parameters& clustering);

/// Ranks of values from 0 (worst) to 1 (best), equal ones sharing their mean; a single value has
/// 0.5.
std::vector<double> ranks_of(std::span<const double> values, bool higher_is_better);

}  // namespace pleat::select
