// Contact list: sorts pairs and computes their Z values and probabilities.
#include "pleat/couplings/contacts/contact_list.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>

#include "pleat/core/loops/threads.h"
#include "pleat/couplings/contacts/calibration.h"
#include "pleat/couplings/parts/parts.h"

namespace pleat::couplings {

namespace {

// Smaller separations have no probability; see calibration.h.
constexpr Index kMinCalibratedSeparation = 6, kMinCalibratedSeparationOfRna = 5;
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

std::vector<Candidate> candidates(const std::vector<Index>& columns, View<const double, 2> scores,
                                  Index min_separation) {
    const auto count = static_cast<std::int32_t>(columns.size());
    std::vector<Candidate> pairs;
    pairs.reserve(columns.size() * columns.size() / 2);
    for (std::int32_t i = 0; i < count; ++i) {
        for (std::int32_t j = i + 1; j < count; ++j) {
            const Index separation =
                columns[static_cast<std::size_t>(j)] - columns[static_cast<std::size_t>(i)];
            if (separation >= min_separation) pairs.push_back({scores(i, j), i, j});
        }
    }
    return pairs;
}

/// Z values and probabilities. Pairs within a part are compared with the others of this part, pairs
/// between two parts with those between the same two.
class Scale {
public:
    Scale(const Alignment& alignment, const Result& result, const ListOptions& options,
          const std::vector<Index>& part_of_column)
        : scores_(result.corrected),
          part_of_(part_of_column),
          parts_(part_count(part_of_column)),
          effective_sequences_(result.effective_sequences),
          is_protein_(alignment.alphabet->kind() == Alphabet::Kind::protein),
          has_any_(options.is_calibrated &&
                   (!is_protein_ || effective_sequences_ >= kMinEffectiveSequences)),
          columns_of_part_(column_counts(part_of_column)) {
        for (Index a = 0; a < parts_; ++a)
            for (Index b = 0; b < parts_; ++b)
                scales_.push_back(score_scale(scores_, alignment.columns, part_of_column, a, b));
    }

    const ScoreScale& of(Index i, Index j) const {
        return scales_[at(part_of_[at(i)] * parts_ + part_of_[at(j)])];
    }

    /// NaN if there is none.
    double probability(const RankedPair& pair, Index separation) const {
        const Index part = part_of_[at(pair.i)];
        const Index min_separation =
            is_protein_ ? kMinCalibratedSeparation : kMinCalibratedSeparationOfRna;
        if (!has_any_ || part != part_of_[at(pair.j)] || separation < min_separation)
            return std::numeric_limits<double>::quiet_NaN();
        const Index columns = columns_of_part_[at(part)];
        if (is_protein_) return contact_probability(pair.z, columns);
        const RnaFamily family{columns, effective_sequences_};
        return pair.pair_class == PairClass::tertiary
                   ? tertiary_contact_probability(pair.z, family)
                   : rna_contact_probability(
                         pair.z, stacked_z(scores_, of(pair.i, pair.j), pair.i, pair.j), family);
    }

private:
    static std::size_t at(Index index) { return static_cast<std::size_t>(index); }

    View<const double, 2> scores_;
    const std::vector<Index>& part_of_;
    Index parts_;
    double effective_sequences_;
    bool is_protein_, has_any_;
    std::vector<Index> columns_of_part_;
    std::vector<ScoreScale> scales_;
};

}  // namespace

bool has_probabilities(const Parameters& parameters, const Alphabet& alphabet) {
    const NormLetters norm = resolved(parameters, alphabet).norm;
    const bool is_protein = alphabet.kind() == Alphabet::Kind::protein;
    return parameters.apc && norm == (is_protein ? NormLetters::residues : NormLetters::all);
}

std::vector<RankedPair> rank_pairs(const Alignment& alignment, const Result& result,
                                   const ListOptions& options) {
    const std::vector<Index> part_of_column = options.part_of_column.empty()
                                                  ? std::vector<Index>(alignment.columns.size())
                                                  : options.part_of_column;
    const std::vector<Index> columns = apart(alignment.columns, part_of_column);
    const Scale scale(alignment, result, options, part_of_column);
    const Array<PairClass, 2> classes =
        options.base_pairs == nullptr ? Array<PairClass, 2>(Index{0}, Index{0})
                                      : pair_classes(*options.base_pairs, alignment.column_count());
    std::vector<Candidate> order = candidates(columns, result.corrected, options.min_separation);
    parallel_sort(order, options.threads, std::less<>());

    std::vector<RankedPair> pairs(order.size());
    const auto count = static_cast<Index>(pairs.size());
    const auto fill = [&](Index rank) {
        const auto [score, i, j] = order[static_cast<std::size_t>(rank)];
        const Index separation =
            columns[static_cast<std::size_t>(j)] - columns[static_cast<std::size_t>(i)];
        RankedPair& pair = pairs[static_cast<std::size_t>(rank)];
        pair = {.i = i,
                .j = j,
                .raw = result.raw(i, j),
                .corrected = score,
                .z = scale.of(i, j).z(score)};
        if (classes.size() > 0) pair.pair_class = classes(i, j);
        pair.probability = scale.probability(pair, separation);
    };
    const Index pieces = (count + kPairsPerPiece - 1) / kPairsPerPiece;
    parallel_for(options.threads, pieces, [&](Index piece, int) {
        const Index first = piece * kPairsPerPiece;
        for (Index rank = first; rank < std::min(first + kPairsPerPiece, count); ++rank) fill(rank);
    });
    return pairs;
}

}  // namespace pleat::couplings
