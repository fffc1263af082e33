// Analysis: scores between chains, shuffled fits, false discovery rates, and base pairs.
#include "pleat/couplings/parts/analysis.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "pleat/core/loops/steps.h"
#include "pleat/couplings/tree/tree_contacts.h"

namespace pleat::couplings {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kMinDepth = 0.3;                              // EVcomplex
constexpr double kBase = 0.47, kOffset = 0.96, kSlope = 9.77;  // GREMLIN
constexpr Index kMinSeparation = 6;

std::size_t at(Index index) { return static_cast<std::size_t>(index); }

/// The scores of a fit with several parts.
struct Scores {
    View<const double, 2> whole, by_block;  ///< corrected over all columns, and by block
    const std::vector<Index>& columns;
    const std::vector<Index>& part_of_column;
    double effective_sequences;
    Index sequences;
};

double mean_of_best(std::vector<double> scores, Index count) {
    const auto end = scores.begin() + std::min<Index>(count, std::ssize(scores));
    std::partial_sort(scores.begin(), end, scores.end(), std::greater<>());
    double sum = 0;
    for (auto score = scores.begin(); score != end; ++score) sum += *score;
    return sum / static_cast<double>(end - scores.begin());
}

double evcomplex(double score, double min, double depth) {
    if (depth <= kMinDepth || min == 0) return kNaN;
    return score / std::abs(min) / (1 + 1 / std::sqrt(depth));
}

/// Number of fitted columns of two parts, and the block-corrected scores of the pairs in each that
/// are far enough apart and of those between.
std::pair<Index, std::vector<double>> scores_of_chains(const Scores& scores, Index a, Index b) {
    Index columns = 0;
    std::vector<double> found;
    for (Index i = 0; i < scores.by_block.extent(0); ++i) {
        const Index part = scores.part_of_column[at(i)];
        if (part != a && part != b) continue;
        ++columns;
        for (Index j = i + 1; j < scores.by_block.extent(0); ++j) {
            const Index other = scores.part_of_column[at(j)];
            const Index separation = scores.columns[at(j)] - scores.columns[at(i)];
            if (other == part ? separation >= kMinSeparation : other == a || other == b)
                found.push_back(scores.by_block(i, j));
        }
    }
    return {columns, std::move(found)};
}

/// `pairs`: those between parts a and b, the best first.
void set_scores(const std::vector<InterPair*>& pairs, const Scores& scores, Index a, Index b) {
    auto [columns, of_chains] = scores_of_chains(scores, a, b);
    const auto length = static_cast<double>(columns);
    const double depth = scores.effective_sequences / length;
    const double strong = mean_of_best(std::move(of_chains), columns * 3 / 2);
    const double mu = std::pow(kBase, static_cast<double>(scores.sequences) / length + 1) + kOffset;
    const ScoreScale scale =
        score_scale(scores.by_block, scores.columns, scores.part_of_column, a, b);
    double min_whole = 0, min_block = 0;
    for (const InterPair* pair : pairs) {
        min_whole = std::min(min_whole, scores.whole(pair->i, pair->j));
        min_block = std::min(min_block, pair->block_corrected);
    }
    double best = 1;
    for (InterPair* pair : pairs) {
        pair->z = scale.z(pair->block_corrected);
        pair->evcomplex = evcomplex(scores.whole(pair->i, pair->j), min_whole, depth);
        pair->evcomplex_block = evcomplex(pair->block_corrected, min_block, depth);
        const double x = std::sqrt(std::max(0.0, pair->block_corrected / strong)) * best;
        pair->gremlin = strong > 0 ? 1 / (1 + std::exp(-kSlope * (x - mu))) : kNaN;
        if (pair == pairs.front()) best = pair->gremlin;
    }
}

std::vector<double> shuffled_scores(const Alignment& alignment,
                                    const std::vector<Index>& part_of_column,
                                    const Parameters& parameters, const FamilyFacts& facts,
                                    const Context& context) {
    Parameters own = parameters;
    own.models = false;
    own.initial.clear();
    WithoutMessages progress(context.progress);
    std::vector<double> scores;
    for (Index fit = 1; fit <= facts.shuffled_fits; ++fit) {
        const Alignment shuffled = shuffle_pairing(
            alignment, part_of_column, context.seed * 1'000'003 + static_cast<std::uint64_t>(fit));
        Context quiet = context;
        quiet.progress = &progress;
        quiet.checkpoint = facts.checkpoint ? facts.checkpoint(fit) : std::filesystem::path();
        const Array<double, 2> corrected =
            block_correction(run(shuffled, own, quiet).raw, part_of_column);
        for (Index i = 0; i < corrected.extent(0); ++i)
            for (Index j = i + 1; j < corrected.extent(0); ++j)
                if (part_of_column[i] != part_of_column[j]) scores.push_back(corrected(i, j));
    }
    return scores;
}

ScoredParts score_parts(const Alignment& alignment, const Result& result,
                        const Parameters& parameters, const FamilyFacts& facts,
                        const Context& context) {
    ScoredParts scored{.parts = facts.parts,
                       .part_of_column = parts_of_columns(facts.parts, alignment),
                       .pairs = {}};
    scored.pairs = rank_inter_pairs(result, alignment.sequence_count(), alignment.columns,
                                    scored.part_of_column);
    if (facts.shuffled_fits > 0)
        set_false_discovery_rates(
            scored.pairs,
            shuffled_scores(alignment, scored.part_of_column, parameters, facts, context),
            facts.shuffled_fits);
    return scored;
}

}  // namespace

Array<double, 2> block_correction(View<const double, 2> raw,
                                  const std::vector<Index>& part_of_column) {
    const Index columns = raw.extent(0), parts = part_count(part_of_column);
    const std::vector<Index> counts = column_counts(part_of_column);
    Array<double, 2> row_mean(columns, parts), block_mean(parts, parts);
    for (Index i = 0; i < columns; ++i) {
        for (Index j = 0; j < columns; ++j) row_mean(i, part_of_column[at(j)]) += raw(i, j);
        for (Index part = 0; part < parts; ++part) {
            block_mean(part_of_column[at(i)], part) += row_mean(i, part);
            row_mean(i, part) /= static_cast<double>(counts[at(part)]);
        }
    }
    Array<double, 2> corrected(columns, columns);
    for (Index i = 0; i < columns; ++i) {
        for (Index j = 0; j < columns; ++j) {
            const Index a = part_of_column[at(i)], b = part_of_column[at(j)];
            const double all =
                block_mean(a, b) / static_cast<double>(counts[at(a)] * counts[at(b)]);
            if (i == j || !(all > 0)) continue;
            corrected(i, j) = raw(i, j) - row_mean(i, b) * row_mean(j, a) / all;
        }
    }
    return corrected;
}

std::vector<InterPair> rank_inter_pairs(const Result& result, Index sequences,
                                        const std::vector<Index>& columns,
                                        const std::vector<Index>& part_of_column) {
    const Index count = result.raw.extent(0), parts = part_count(part_of_column);
    const Array<double, 2> whole = block_correction(result.raw, std::vector<Index>(at(count)));
    const Array<double, 2> by_block = block_correction(result.raw, part_of_column);
    std::vector<InterPair> pairs;
    for (Index i = 0; i < count; ++i) {
        for (Index j = i + 1; j < count; ++j) {
            if (part_of_column[at(i)] != part_of_column[at(j)])
                pairs.push_back({.i = i,
                                 .j = j,
                                 .raw = result.raw(i, j),
                                 .corrected = result.corrected(i, j),
                                 .block_corrected = by_block(i, j),
                                 .fdr = kNaN});
        }
    }
    std::stable_sort(pairs.begin(), pairs.end(), [](const InterPair& x, const InterPair& y) {
        return x.block_corrected > y.block_corrected;
    });
    std::vector<std::vector<InterPair*>> by_parts(at(parts * parts));
    for (InterPair& pair : pairs)
        by_parts[at(part_of_column[at(pair.i)] * parts + part_of_column[at(pair.j)])].push_back(
            &pair);
    const Scores scores{whole,    by_block, columns, part_of_column, result.effective_sequences,
                        sequences};
    for (Index a = 0; a < parts; ++a)
        for (Index b = a + 1; b < parts; ++b) set_scores(by_parts[at(a * parts + b)], scores, a, b);
    return pairs;
}

void set_false_discovery_rates(std::vector<InterPair>& ranked, std::vector<double> null_scores,
                               Index fits) {
    std::sort(null_scores.begin(), null_scores.end());
    double min = 1;
    Index pairs_to_here = std::ssize(ranked);  // pairs with at least the score of this one
    for (Index rank = std::ssize(ranked) - 1; rank >= 0; --rank) {
        InterPair& pair = ranked[at(rank)];
        const bool is_tie = rank + 1 < std::ssize(ranked) &&
                            ranked[at(rank + 1)].block_corrected == pair.block_corrected;
        if (!is_tie) pairs_to_here = rank + 1;
        const auto above =
            null_scores.end() -
            std::lower_bound(null_scores.begin(), null_scores.end(), pair.block_corrected);
        const double expected = static_cast<double>(1 + above) / static_cast<double>(fits);
        min = std::min(min, expected / static_cast<double>(pairs_to_here));
        pair.fdr = min;
    }
}

Alignment shuffle_pairing(const Alignment& alignment, const std::vector<Index>& part_of_column,
                          std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Alignment shuffled = alignment;
    const auto rows = static_cast<std::size_t>(alignment.sequence_count());
    for (Index part = 1; part < part_count(part_of_column); ++part) {
        std::vector<std::size_t> from(rows);
        std::iota(from.begin(), from.end(), std::size_t{0});
        for (std::size_t n = rows; n > 1; --n) std::swap(from[n - 1], from[random() % n]);
        for (Index column = 0; column < alignment.column_count(); ++column) {
            if (part_of_column[column] != part) continue;
            for (std::size_t n = 0; n < rows; ++n)
                shuffled.letters(static_cast<Index>(n), column) =
                    alignment.letters(static_cast<Index>(from[n]), column);
        }
    }
    return shuffled;
}

bool is_nucleic(const Alignment& alignment) {
    return alignment.alphabet->kind() != Alphabet::Kind::protein;
}

Analysis analyse(const Alignment& alignment, const Result& result, const Parameters& parameters,
                 FamilyFacts facts, const Context& context) {
    Analysis found;
    if (!facts.parts.empty())
        found.parts = score_parts(alignment, result, parameters, facts, context);
    if (facts.base_pairs)
        found.base_pairs = std::move(facts.base_pairs);
    else if (is_nucleic(alignment))
        found.base_pairs = find_base_pairs(alignment, result.weights, result.corrected,
                                           score_scale(result.corrected, alignment.columns));
    if (parameters.null == ScoreNull::tree)
        found.tree = compare_with_tree(alignment, result, parameters, context);
    return found;
}

}  // namespace pleat::couplings
