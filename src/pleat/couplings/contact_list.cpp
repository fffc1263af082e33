// Contact list: sorting pairs and reading their scores as Z and probability.
#include "pleat/couplings/contact_list.h"

#include <algorithm>
#include <limits>

#include "pleat/couplings/calibration.h"

namespace pleat::couplings {

namespace {

constexpr Index kLeastCalibrated = 6;  // separation of the pairs that calibration.h speaks of

}  // namespace

std::vector<RankedPair> rank_pairs(const Alignment& alignment, const Result& result,
                                   Index least_separation, bool corrected) {
    const Index columns = alignment.column_count();
    const bool is_protein = alignment.alphabet->kind() == Alphabet::Kind::protein;
    const ScoreScale scale = score_scale(result.corrected, alignment.columns);
    std::vector<RankedPair> pairs;
    for (Index i = 0; i < columns; ++i) {
        for (Index j = i + 1; j < columns; ++j) {
            const Index separation = alignment.columns[static_cast<std::size_t>(j)] -
                                     alignment.columns[static_cast<std::size_t>(i)];
            if (separation < least_separation) continue;
            const double z = scale.z(result.corrected(i, j));
            const bool calibrated = is_protein && corrected && separation >= kLeastCalibrated;
            const double probability = calibrated ? contact_probability(z, columns)
                                                  : std::numeric_limits<double>::quiet_NaN();
            pairs.push_back({i, j, result.raw(i, j), result.corrected(i, j), z, probability});
        }
    }
    std::stable_sort(pairs.begin(), pairs.end(), [](const RankedPair& a, const RankedPair& b) {
        return a.corrected > b.corrected;
    });
    return pairs;
}

}  // namespace pleat::couplings
