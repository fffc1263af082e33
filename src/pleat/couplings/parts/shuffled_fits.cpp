// Shuffled fits: permuting the rows of parts and fitting again.
#include "pleat/couplings/parts/shuffled_fits.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "pleat/core/loops/steps.h"
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

std::vector<double> shuffled_scores(const Alignment& alignment,
                                    const std::vector<Index>& part_of_column,
                                    const Parameters& parameters, Index fits,
                                    const Context& context,
                                    const std::function<std::filesystem::path(Index)>& checkpoint) {
    Parameters own = parameters;
    own.models = false;
    own.initial.clear();
    WithoutMessages progress(context.progress);
    std::vector<double> scores;
    for (Index fit = 1; fit <= fits; ++fit) {
        const Alignment shuffled = shuffle_pairing(
            alignment, part_of_column, context.seed * 1'000'003 + static_cast<std::uint64_t>(fit));
        Context quiet = context;
        quiet.progress = &progress;
        quiet.checkpoint = checkpoint(fit);
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

}  // namespace pleat::couplings
