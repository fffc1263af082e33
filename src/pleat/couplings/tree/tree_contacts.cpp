// Tree contacts: fits null alignments side by side and compares their scores.
#include "pleat/couplings/tree/tree_contacts.h"

#include <algorithm>

#include "pleat/core/error.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/couplings/fit/memory_estimate.h"
#include "pleat/couplings/parts/analysis.h"
#include "pleat/phylogeny/alignment_null.h"

namespace pleat::couplings {

namespace {

/// The scores of all pairs i < j in row order: after APC, before its shift to a minimum of 0, which
/// would differ between alignments.
phylogeny::PairScores scores_of(const Result& result, bool apc) {
    const Index columns = result.raw.extent(0);
    const Array<double, 2> corrected =
        block_correction(result.raw, std::vector<Index>(static_cast<std::size_t>(columns)));
    phylogeny::PairScores scores;
    for (Index i = 0; i < columns; ++i)
        for (Index j = i + 1; j < columns; ++j) {
            scores.values.push_back(apc ? corrected(i, j) : result.raw(i, j));
            scores.mean += result.raw(i, j);
        }
    scores.mean /= static_cast<double>(scores.values.size());
    return scores;
}

/// Fits that run at the same time: one per thread if their memory is there, else one with all
/// threads.
int fits_at_a_time(std::int64_t bytes_of_one, const Context& context) {
    if (context.device.kind == Device::Kind::cuda) return 1;
    const int threads = resolve_threads(context);
    return available_memory() / 2 >= bytes_of_one * threads ? threads : 1;
}

std::int64_t bytes_of_one_fit(Index sequences, Index columns, int letters,
                              const Parameters& parameters, Context context) {
    context.threads = 1;
    return estimate(sequences, columns, letters, parameters, context).host_bytes;
}

}  // namespace

std::int64_t null_fit_bytes(Index sequences, Index columns, int letters,
                            const Parameters& parameters, const Context& context) {
    const std::int64_t one = bytes_of_one_fit(sequences, columns, letters, parameters, context);
    const int at_a_time = fits_at_a_time(one, context);
    return at_a_time * one + phylogeny::null_bytes(sequences, columns, letters, at_a_time);
}

phylogeny::TreeResult compare_with_tree(const Alignment& alignment, const Result& result,
                                        const Parameters& parameters, const Context& context) {
    phylogeny::TreeResult tree;
    const phylogeny::TreeNull null =
        phylogeny::make_null(alignment, parameters.tree, context, tree);
    Parameters own = resolved(parameters, *alignment.alphabet);
    own.null = ScoreNull::none;
    own.tree = {};
    own.models = false;
    own.initial.clear();
    const int at_a_time =
        fits_at_a_time(bytes_of_one_fit(alignment.sequence_count(), alignment.column_count(),
                                        alignment.alphabet->size(), own, context),
                       context);
    CancelOnly progress(context.progress);
    Context quiet = context;
    quiet.progress = &progress;
    quiet.checkpoint.clear();
    if (at_a_time > 1) quiet.threads = 1;
    const auto score = [&](View<const std::uint8_t, 2> letters, int) {
        Alignment evolved = alignment;
        for (Index row = 0; row < evolved.sequence_count(); ++row)
            for (Index column = 0; column < evolved.column_count(); ++column)
                if (letters(column, row) < null.states())
                    evolved.letters(row, column) = letters(column, row);
        try {
            return scores_of(run(evolved, own, result.weights, quiet), parameters.apc);
        } catch (const Cancelled&) {
            throw Cancelled("null alignments: stopped; nothing of it was kept");
        }
    };
    phylogeny::compare(null, alignment, parameters.tree, scores_of(result, parameters.apc), score,
                       at_a_time, at_a_time, context, tree);
    return tree;
}

}  // namespace pleat::couplings
