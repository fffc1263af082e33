// Contact list: probabilities of scores, base pairs, and the list of all pairs.
#include "pleat/couplings/contacts/contact_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <limits>
#include <tuple>

#include "pleat/core/error.h"
#include "pleat/core/loops/threads.h"
#include "pleat/couplings/parts/parts.h"

namespace pleat::couplings {

namespace {

constexpr Index kMinSeparation = 6;

// Printed by scripts/calibrate_probability.py.
constexpr double kConstant = 0.7058, kOfScore = 1.1038, kOfColumns = -0.9045;
constexpr double kSaturation = 6, kMinColumns = 50, kMaxColumns = 500;

// Families reduced to a number of effective sequences (medians): the mean probability of their best
// L pairs, and the fraction of these that were contacts. README.md says how it was measured.
struct Depth {
    double effective, probability, contacts;
};
constexpr int kCutFamilies = 35;
constexpr Depth kDepths[] = {{10, 0.37, 0.09}, {20, 0.37, 0.12},  {40, 0.38, 0.15},
                             {80, 0.38, 0.21}, {159, 0.39, 0.27}, {316, 0.41, 0.36}};
constexpr double kWarnBelow = 500;

struct Moments {
    double count = 0, mean = 0, squares = 0;
    void add(double value) {
        count += 1;
        const double step = value - mean;
        mean += step / count;
        squares += step * (value - mean);
    }
};

// Over pairs with one column in each of these two parts.
Moments moments(View<const double, 2> scores, const std::vector<Index>& columns,
                const std::vector<Index>& part_of_column, Index a, Index b, Index min_separation) {
    const auto at = [](Index index) { return static_cast<std::size_t>(index); };
    Moments all;
    for (Index i = 0; i < scores.extent(0); ++i) {
        const Index part = part_of_column[at(i)];
        if (part != a && part != b) continue;
        for (Index j = i + 1; j < scores.extent(1); ++j) {
            if (part_of_column[at(j)] != (part == a ? b : a)) continue;
            const Index separation = std::abs(columns[at(j)] - columns[at(i)]);
            if (a != b || separation >= min_separation) all.add(scores(i, j));
        }
    }
    return all;
}

double saturated(double z) { return z / std::sqrt(1 + (z / kSaturation) * (z / kSaturation)); }

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// L and n as in README.md, limited to the range of the families used for fitting.
double log_columns(const RnaFamily& family) {
    return std::log(std::clamp(static_cast<double>(family.columns), 41.0, 496.0));
}
double log_depth(const RnaFamily& family) {
    const double depth = family.effective_sequences / static_cast<double>(family.columns);
    return std::clamp(std::log(depth), -4.5, 4.8);
}

constexpr Index kMinPairSeparation = 5;
constexpr double kMinZ = 3, kMinStackedZ = 2, kMinPairing = 0.7;
constexpr Index kBeside = 2;

/// Whether two codes of ACGU or ACGT form a base pair: AU, GC or GU.
bool can_pair(int a, int b) {
    constexpr int kA = 0, kC = 1, kG = 2, kU = 3;
    if (a > b) std::swap(a, b);
    return (a == kA && b == kU) || (a == kC && b == kG) || (a == kG && b == kU);
}

/// The weight of sequences whose letters pair, as a fraction of those with both residues.
double pairing_fraction(const Alignment& alignment, const std::vector<double>& weights, Index i,
                        Index j) {
    const int gap = alignment.alphabet->gap();
    double pairing = 0, both = 0;
    for (Index n = 0; n < alignment.sequence_count(); ++n) {
        const int a = alignment.letters(n, i), b = alignment.letters(n, j);
        if (a == gap || b == gap) continue;
        both += weights[n];
        if (can_pair(a, b)) pairing += weights[n];
    }
    return both > 0 ? pairing / both : 0;
}

/// For each mark: its column in the source.
std::vector<Index> source_columns(const SecondaryStructure& structure,
                                  const ReferenceRow& reference) {
    const auto marks = static_cast<Index>(structure.marks.size());
    const auto columns = static_cast<Index>(reference.letters.size());
    const auto residues = static_cast<Index>(reference.sequence.size());
    std::vector<Index> column_of(structure.marks.size(), -1);
    if (marks == columns) {
        for (Index k = 0; k < marks; ++k) column_of[k] = k;
    } else if (std::ssize(structure.columns) == columns) {
        for (Index k = 0; k < columns; ++k) column_of[structure.columns[k]] = k;
    } else if (marks == residues) {
        for (Index k = 0; k < columns; ++k) {
            const Index number = reference.numbers[k];
            if (number > 0) column_of[number - 1] = k;
        }
    } else {
        throw InputError(
            structure.source, 0,
            fmt::format("expected {} marks (columns) or {} (residues of row '{}'), found {}",
                        columns, residues, reference.name, marks));
    }
    return column_of;
}

// Smaller separations have no probability; see contact_probability().
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
            const Index separation = columns[j] - columns[i];
            if (separation >= min_separation) pairs.push_back({scores(i, j), i, j});
        }
    }
    return pairs;
}

/// Computes Z values and probabilities. A pair within a part is compared with the other pairs of
/// this part, a pair between two parts with the other pairs between these parts.
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

ScoreScale score_scale(View<const double, 2> scores, const std::vector<Index>& columns) {
    return score_scale(scores, columns, std::vector<Index>(columns.size()), 0, 0);
}

ScoreScale score_scale(View<const double, 2> scores, const std::vector<Index>& columns,
                       const std::vector<Index>& part_of_column, Index a, Index b) {
    Moments all = moments(scores, columns, part_of_column, a, b, kMinSeparation);
    if (all.count < 2) all = moments(scores, columns, part_of_column, a, b, 0);
    return {all.mean, all.count > 1 ? std::sqrt(all.squares / (all.count - 1)) : 0.0};
}

std::string depth_warning(double effective_sequences, bool is_nucleic) {
    if (effective_sequences >= (is_nucleic ? kMinEffectiveSequences : kWarnBelow)) return {};
    if (effective_sequences < kMinEffectiveSequences)
        return fmt::format(
            "only {:.1f} effective sequences: probabilities of contacts need at least {:g}",
            effective_sequences, kMinEffectiveSequences);
    const auto distance = [&](const Depth& depth) {
        return std::abs(std::log(depth.effective / effective_sequences));
    };
    const Depth& nearest = *std::min_element(
        std::begin(kDepths), std::end(kDepths),
        [&](const Depth& a, const Depth& b) { return distance(a) < distance(b); });
    return fmt::format(
        "only {:.1f} effective sequences: probabilities are too high. In {} families reduced to "
        "about "
        "{:g}, the best L pairs had a mean probability of {:.2f}, but only {:.2f} of them were "
        "contacts",
        effective_sequences, kCutFamilies, nearest.effective, nearest.probability,
        nearest.contacts);
}

double rna_contact_probability(double z, double stacked_z, const RnaFamily& family) {
    const double s = saturated(z), n = log_depth(family);
    return logistic(2.521 + 0.596 * s - 1.151 * log_columns(family) + 0.014 * n + 0.155 * s * n +
                    0.496 * saturated(stacked_z));
}

double tertiary_contact_probability(double z, const RnaFamily& family) {
    constexpr double kMax = 0.8;
    const double s = saturated(z), n = log_depth(family);
    return std::min(kMax, logistic(1.512 + 0.566 * s - 1.032 * log_columns(family) + 0.013 * n +
                                   0.135 * s * n));
}

double contact_probability(double z, Index columns) {
    const double score = saturated(z);
    const double length = std::clamp(static_cast<double>(columns), kMinColumns, kMaxColumns);
    return 1 / (1 + std::exp(-(kConstant + kOfScore * score + kOfColumns * std::log(length))));
}

BasePairs given_base_pairs(const SecondaryStructure& structure, const Alignment& alignment,
                           const ReferenceRow& reference, bool is_nested) {
    const std::vector<Index> column_of = source_columns(structure, reference);
    std::vector<Index> kept(reference.letters.size(), -1);
    for (Index k = 0; k < alignment.column_count(); ++k) kept[alignment.columns[k]] = k;
    const auto column = [&](Index mark) {
        const Index source = column_of[mark];
        return source < 0 ? -1 : kept[source];
    };
    BasePairs found{.pairs = {}, .is_given = true};
    for (const auto& [first, second] :
         is_nested ? nested_pairs(structure) : all_base_pairs(structure)) {
        const Index i = column(first), j = column(second);
        if (i >= 0 && j >= 0) found.pairs.emplace_back(i, j);
    }
    return found;
}

double stacked_z(View<const double, 2> corrected, const ScoreScale& scale, Index i, Index j) {
    double best = -std::numeric_limits<double>::infinity();
    if (i > 0 && j + 1 < corrected.extent(0)) best = scale.z(corrected(i - 1, j + 1));
    if (i + 1 < j - 1) best = std::max(best, scale.z(corrected(i + 1, j - 1)));
    return best;
}

BasePairs find_base_pairs(const Alignment& alignment, const std::vector<double>& weights,
                          View<const double, 2> corrected, const ScoreScale& scale) {
    struct Candidate {
        double z;
        Index i, j;
    };
    const Index columns = alignment.column_count();
    std::vector<Candidate> candidates;
    for (Index i = 0; i < columns; ++i) {
        for (Index j = i + kMinPairSeparation; j < columns; ++j) {
            const double z = scale.z(corrected(i, j));
            if (z >= kMinZ && stacked_z(corrected, scale, i, j) >= kMinStackedZ &&
                pairing_fraction(alignment, weights, i, j) >= kMinPairing)
                candidates.push_back({z, i, j});
        }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.z > b.z; });
    BasePairs found;
    std::vector<bool> is_paired(static_cast<std::size_t>(columns));
    for (const auto& [z, i, j] : candidates) {
        if (is_paired[i] || is_paired[j]) continue;
        is_paired[i] = is_paired[j] = true;
        found.pairs.emplace_back(i, j);
    }
    std::sort(found.pairs.begin(), found.pairs.end());
    return found;
}

std::span<const std::string_view> names_of(PairClass) {
    static constexpr std::string_view kNames[] = {"NA", "helix", "beside", "tertiary"};
    return kNames;
}

Array<PairClass, 2> pair_classes(const BasePairs& base_pairs, Index columns) {
    Array<PairClass, 2> classes(columns, columns);
    classes.fill(base_pairs.is_given ? PairClass::tertiary : PairClass::unknown);
    for (const auto& [first, second] : base_pairs.pairs) {
        for (Index i = std::max<Index>(0, first - kBeside);
             i <= std::min(columns - 1, first + kBeside); ++i)
            for (Index j = std::max<Index>(0, second - kBeside);
                 j <= std::min(columns - 1, second + kBeside); ++j)
                classes(i, j) = classes(j, i) = PairClass::beside;
    }
    for (const auto& [i, j] : base_pairs.pairs) classes(i, j) = classes(j, i) = PairClass::helix;
    return classes;
}

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
        const auto [score, i, j] = order[rank];
        const Index separation = columns[j] - columns[i];
        RankedPair& pair = pairs[rank];
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
