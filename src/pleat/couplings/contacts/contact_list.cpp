// Contact list: sorts pairs and computes their Z values and probabilities.
#include "pleat/couplings/contacts/contact_list.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>

#include "pleat/core/loops/parallel_sort.h"
#include "pleat/couplings/contacts/calibration.h"

namespace pleat::couplings {

namespace {

constexpr Index kMinCalibratedSeparation = 6;  // smaller ones have no probability; calibration.h
constexpr Index kPairsPerPiece = 1 << 12;

// A pair with what determines its rank.
struct Candidate {
    double score;
    std::int32_t i, j;

    bool operator<(const Candidate& other) const {
        if (score != other.score) return score > other.score;
        return std::tie(i, j) < std::tie(other.i, other.j);
    }
};

std::vector<Candidate> candidates(const Alignment& alignment, View<const double, 2> scores,
                                  Index min_separation) {
    const auto columns = static_cast<std::int32_t>(alignment.column_count());
    std::vector<Candidate> pairs;
    pairs.reserve(static_cast<std::size_t>(columns) * static_cast<std::size_t>(columns) / 2);
    for (std::int32_t i = 0; i < columns; ++i) {
        for (std::int32_t j = i + 1; j < columns; ++j) {
            const Index separation = alignment.columns[static_cast<std::size_t>(j)] -
                                     alignment.columns[static_cast<std::size_t>(i)];
            if (separation >= min_separation) pairs.push_back({scores(i, j), i, j});
        }
    }
    return pairs;
}

}  // namespace

std::vector<RankedPair> rank_pairs(const Alignment& alignment, const Result& result,
                                   Index min_separation, bool corrected, int threads) {
    const Index columns = alignment.column_count();
    const bool is_calibrated = alignment.alphabet->kind() == Alphabet::Kind::protein && corrected &&
                               result.effective_sequences >= kMinEffectiveSequences;
    const ScoreScale scale = score_scale(result.corrected, alignment.columns);
    std::vector<Candidate> order = candidates(alignment, result.corrected, min_separation);
    parallel_sort(order, threads, std::less<>());

    std::vector<RankedPair> pairs(order.size());
    const auto count = static_cast<Index>(pairs.size());
    const auto fill = [&](Index rank) {
        const auto [score, i, j] = order[static_cast<std::size_t>(rank)];
        const Index separation = alignment.columns[static_cast<std::size_t>(j)] -
                                 alignment.columns[static_cast<std::size_t>(i)];
        const double z = scale.z(score);
        const double probability = is_calibrated && separation >= kMinCalibratedSeparation
                                       ? contact_probability(z, columns)
                                       : std::numeric_limits<double>::quiet_NaN();
        pairs[static_cast<std::size_t>(rank)] = {i, j, result.raw(i, j), score, z, probability};
    };
    parallel_for(threads, (count + kPairsPerPiece - 1) / kPairsPerPiece, [&](Index piece, int) {
        const Index first = piece * kPairsPerPiece;
        for (Index rank = first; rank < std::min(first + kPairsPerPiece, count); ++rank) fill(rank);
    });
    return pairs;
}

}  // namespace pleat::couplings
