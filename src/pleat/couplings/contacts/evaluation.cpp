// Evaluation: ranks the pairs with a distance and counts contacts among the best.
#include "pleat/couplings/contacts/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "pleat/core/error.h"

namespace pleat::couplings {

namespace {

constexpr Index kMinSeparation = 6;

struct Depth {
    const char* name;
    Index times, parts;  // number of pairs: L * times / parts
};
constexpr std::array<Depth, 5> kDepths{
    {{"L/10", 1, 10}, {"L/5", 1, 5}, {"L/2", 1, 2}, {"L", 1, 1}, {"2L", 2, 1}}};

struct Pair {
    double score;
    Index i, j;
    Index separation;
    bool contact;
};

void check_shapes(View<const double, 2> scores, View<const double, 2> distances,
                  const std::vector<Index>& columns) {
    const auto length = static_cast<Index>(columns.size());
    for (const View<const double, 2>& matrix : {scores, distances}) {
        if (matrix.extent(0) == length && matrix.extent(1) == length) continue;
        throw UsageError(fmt::format("expected {0} x {0} scores and distances, found {1} x {2}",
                                     length, matrix.extent(0), matrix.extent(1)));
    }
}

/// All pairs with a known distance, by descending score.
std::vector<Pair> ranked_pairs(View<const double, 2> scores, View<const double, 2> distances,
                               const std::vector<Index>& columns, double cutoff) {
    std::vector<Pair> pairs;
    for (Index i = 0; i < scores.extent(0); ++i) {
        for (Index j = i + 1; j < scores.extent(1); ++j) {
            const Index separation = std::abs(columns[j] - columns[i]);
            const double distance = distances(i, j);
            if (separation < kMinSeparation || std::isnan(distance)) continue;
            if (std::isnan(scores(i, j))) {
                throw UsageError(fmt::format(
                    "expected numbers as scores, found NaN for columns {} and {}", i + 1, j + 1));
            }
            pairs.push_back({scores(i, j), i, j, separation, distance < cutoff});
        }
    }
    std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
        if (a.score != b.score) return a.score > b.score;
        return a.i != b.i ? a.i < b.i : a.j < b.j;
    });
    return pairs;
}

/// A range of separations |i - j| along the sequence, both ends included.
struct SeparationRange {
    std::string name;  ///< "all", "short", "medium", "long"
    Index min = 0;
    std::optional<Index> max = {};  ///< not set: no limit

    bool contains(Index separation) const {
        return separation >= min && (!max || separation <= *max);
    }
};

RangePrecision precision_at(const std::vector<Pair>& pairs, const SeparationRange& range,
                            const Depth& depth, Index length) {
    RangePrecision result{range.name, depth.name, 0, 0, std::numeric_limits<double>::quiet_NaN()};
    const Index wanted = std::max<Index>(1, length * depth.times / depth.parts);
    for (const Pair& pair : pairs) {
        if (result.pairs == wanted) break;
        if (!range.contains(pair.separation)) continue;
        ++result.pairs;
        result.contact_count += pair.contact;
    }
    if (result.pairs > 0) {
        result.precision =
            static_cast<double>(result.contact_count) / static_cast<double>(result.pairs);
    }
    return result;
}

/// all: >= 6; short: 6-11; medium: 12-23; long: >= 24 (CASP's ranges).
const std::vector<SeparationRange>& separation_ranges() {
    static const std::vector<SeparationRange> ranges = {
        {"all", kMinSeparation}, {"short", 6, 11}, {"medium", 12, 23}, {"long", 24}};
    return ranges;
}

}  // namespace

const RangePrecision& ContactEvaluation::at(const std::string& range,
                                            const std::string& depth) const {
    for (const RangePrecision& entry : precisions) {
        if (entry.range == range && entry.depth == depth) return entry;
    }
    throw UsageError(fmt::format("expected a range and depth of the evaluation, found '{}' at '{}'",
                                 range, depth));
}

ContactEvaluation evaluate(View<const double, 2> scores, View<const double, 2> distances,
                           const std::vector<Index>& columns, double cutoff) {
    check_shapes(scores, distances, columns);
    ContactEvaluation evaluation;
    evaluation.cutoff = cutoff;
    for (Index i = 0; i < distances.extent(0); ++i) {
        evaluation.length += !std::isnan(distances(i, i));
    }
    const std::vector<Pair> pairs = ranked_pairs(scores, distances, columns, cutoff);
    evaluation.evaluated_pairs = static_cast<Index>(pairs.size());
    evaluation.contacts =
        std::count_if(pairs.begin(), pairs.end(), [](const Pair& pair) { return pair.contact; });
    for (const SeparationRange& range : separation_ranges()) {
        for (const Depth& depth : kDepths) {
            evaluation.precisions.push_back(precision_at(pairs, range, depth, evaluation.length));
        }
    }
    return evaluation;
}

ContactEvaluation evaluate_parts(const Result& result, const ScoredParts& parts,
                                 View<const double, 2> distances, const std::vector<Index>& columns,
                                 double cutoff) {
    const auto part = [&](Index i) { return parts.part_of_column[i]; };
    const Index count = result.raw.extent(0);
    // Distances of pairs within parts, and of pairs between parts.
    Array<double, 2> within(count, count), between(count, count), block(count, count);
    for (Index i = 0; i < count; ++i) {
        for (Index j = 0; j < count; ++j) {
            const double distance = distances(i, j), none = std::nan("");
            within(i, j) = part(i) == part(j) ? distance : none;
            between(i, j) = i == j || part(i) != part(j) ? distance : none;
        }
    }
    for (const InterPair& pair : parts.pairs)
        block(pair.i, pair.j) = block(pair.j, pair.i) = pair.block_corrected;
    ContactEvaluation evaluation = evaluate(result.corrected, within, columns, cutoff);
    const ContactEvaluation inter =
        evaluate(block, between, apart(columns, parts.part_of_column), cutoff);
    for (RangePrecision entry : inter.precisions) {
        if (entry.range != "all") continue;
        entry.range = "inter";
        evaluation.precisions.push_back(entry);
    }
    return evaluation;
}

}  // namespace pleat::couplings
