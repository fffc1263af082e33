// Base pairs: from marks to columns, and from scores and letters to helices.
#include "pleat/couplings/contacts/base_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "pleat/core/error.h"

namespace pleat::couplings {

namespace {

constexpr Index kMinSeparation = 5;
constexpr double kMinZ = 3, kMinStackedZ = 2, kMinPairing = 0.7;
constexpr Index kBeside = 2;

/// Whether codes of ACGU or ACGT pair: AU, GC or GU.
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
        both += weights[static_cast<std::size_t>(n)];
        if (can_pair(a, b)) pairing += weights[static_cast<std::size_t>(n)];
    }
    return both > 0 ? pairing / both : 0;
}

/// For each mark: the column of the source that it stands for.
std::vector<Index> source_columns(const SecondaryStructure& structure,
                                  const ReferenceRow& reference) {
    const auto marks = static_cast<Index>(structure.marks.size());
    const auto columns = static_cast<Index>(reference.letters.size());
    const auto residues = static_cast<Index>(reference.sequence.size());
    std::vector<Index> column_of(structure.marks.size(), -1);
    if (marks == columns) {
        for (Index k = 0; k < marks; ++k) column_of[static_cast<std::size_t>(k)] = k;
    } else if (std::ssize(structure.columns) == columns) {
        for (Index k = 0; k < columns; ++k)
            column_of[static_cast<std::size_t>(structure.columns[static_cast<std::size_t>(k)])] = k;
    } else if (marks == residues) {
        for (Index k = 0; k < columns; ++k) {
            const Index number = reference.numbers[static_cast<std::size_t>(k)];
            if (number > 0) column_of[static_cast<std::size_t>(number - 1)] = k;
        }
    } else {
        throw InputError(
            structure.source, 0,
            fmt::format("expected {} marks (columns) or {} (residues of row '{}'), found {}",
                        columns, residues, reference.name, marks));
    }
    return column_of;
}

}  // namespace

BasePairs given_base_pairs(const SecondaryStructure& structure, const Alignment& alignment,
                           const ReferenceRow& reference) {
    const std::vector<Index> column_of = source_columns(structure, reference);
    std::vector<Index> kept(reference.letters.size(), -1);
    for (Index k = 0; k < alignment.column_count(); ++k)
        kept[static_cast<std::size_t>(alignment.columns[static_cast<std::size_t>(k)])] = k;
    const auto column = [&](Index mark) {
        const Index source = column_of[static_cast<std::size_t>(mark)];
        return source < 0 ? -1 : kept[static_cast<std::size_t>(source)];
    };
    BasePairs found{.pairs = {}, .is_given = true};
    for (const auto& [first, second] : nested_pairs(structure)) {
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
        for (Index j = i + kMinSeparation; j < columns; ++j) {
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
        if (is_paired[static_cast<std::size_t>(i)] || is_paired[static_cast<std::size_t>(j)])
            continue;
        is_paired[static_cast<std::size_t>(i)] = is_paired[static_cast<std::size_t>(j)] = true;
        found.pairs.emplace_back(i, j);
    }
    std::sort(found.pairs.begin(), found.pairs.end());
    return found;
}

std::span<const std::string_view> names_of(PairClass) {
    static constexpr std::string_view kNames[] = {"NA", "helix", "beside", "tertiary"};
    return kNames;
}

std::string_view name_of(PairClass pair_class) {
    return names_of(pair_class)[static_cast<std::size_t>(pair_class)];
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

}  // namespace pleat::couplings
