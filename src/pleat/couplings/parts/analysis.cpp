// Analysis: finding base pairs, and scoring pairs between chains against shuffled fits.
#include "pleat/couplings/parts/analysis.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "pleat/core/loops/without_messages.h"
#include "pleat/couplings/parts/inter_scores.h"
#include "pleat/couplings/parts/parts.h"

namespace pleat::couplings {

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
            if (part_of_column[static_cast<std::size_t>(column)] != part) continue;
            for (std::size_t n = 0; n < rows; ++n)
                shuffled.letters(static_cast<Index>(n), column) =
                    alignment.letters(static_cast<Index>(from[n]), column);
        }
    }
    return shuffled;
}

namespace {

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
                if (part_of_column[static_cast<std::size_t>(i)] !=
                    part_of_column[static_cast<std::size_t>(j)])
                    scores.push_back(corrected(i, j));
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
    return found;
}

}  // namespace pleat::couplings
