// CPU pair run: weights, pairs of weighted counts or of gap-free rows, and what follows from them.
#include "pleat/mutual_information/pairs/cpu_pair_run.h"

#include <limits>

#include "pleat/bio/alignment/filter.h"
#include "pleat/core/error.h"
#include "pleat/mutual_information/count/gap_free_pairs.h"
#include "pleat/mutual_information/count/weighted_pairs.h"
#include "pleat/mutual_information/pairs/pair_statistics.h"
#include "pleat/weights/weights.h"

namespace pleat::mutual_information {

namespace {

/// The p of pairs whose null varies, NaN of the others.
std::vector<double> tested_p(std::int64_t shuffles, const PairStatistics& pairs) {
    std::vector<double> p;
    for (std::size_t pair = 0; pair < pairs.sampled.size(); ++pair)
        p.push_back(pairs.equal_count[pair] < shuffles ? pairs.sampled[pair].p
                                                       : std::numeric_limits<double>::quiet_NaN());
    return p;
}

void run_weighted(const Alignment& alignment, const Columns& columns, const Parameters& parameters,
                  const std::string& problem_hash, const Context& context, Result& result) {
    WeightedOptions options;
    options.pseudocount = parameters.pseudocount;
    options.symbols = alignment.alphabet->size();
    options.shuffles = result.shuffles;
    if (parameters.sequence_weights) {
        if (const std::string gaps = gap_only_text(alignment); !gaps.empty())
            context.message(gaps +
                            ", which the weights count as identical: --max-gaps and "
                            "--min-coverage leave them out");
        result.weights = weights::sequence_weights(alignment.letters, parameters.identity, context);
        result.effective_sequences = weights::effective_count(result.weights);
        options.weights = result.weights;
    }
    WeightedPairs counted = weighted_pairs(columns, options, context, problem_hash);
    PairStatistics& pairs = result.pairs;
    pairs.mi = std::move(counted.mi);
    pairs.joint_entropy = std::move(counted.joint_entropy);
    pairs.sampled = std::move(counted.sampled);
    pairs.less_count = std::move(counted.less_count);
    pairs.equal_count = std::move(counted.equal_count);
    if (result.shuffles > 0) pairs.fdr = false_discovery_rate(tested_p(result.shuffles, pairs));
}

void run_without_gaps(const Alignment& alignment, const Columns& columns,
                      const Parameters& parameters, const std::string& problem_hash,
                      const Context& context, Result& result) {
    GapFreePairs counted =
        gap_free_pairs(columns, make_statistic(columns.row_count()),
                       letter_set(alignment.alphabet->gap()), context, problem_hash);
    PairStatistics& pairs = result.pairs;
    pairs.mi = std::move(counted.mi);
    pairs.joint_entropy = std::move(counted.joint_entropy);
    result.pair_rows = std::move(counted.rows);
    if (!parameters.has_exact()) return;
    pairs.mean = std::move(counted.mean);
    pairs.variance = std::move(counted.variance);
    for (std::size_t pair = 0; pair < pairs.mi.size(); ++pair)
        pairs.z.push_back(exact_z(pairs.mi[pair], pairs.mean[pair], pairs.variance[pair]));
}

}  // namespace

void run_cpu_pairs(const Alignment& alignment, const Columns& columns, const Parameters& parameters,
                   const std::string& problem_hash, const Context& context, Result& result) {
    if (context.device.kind != Device::Kind::cpu)
        throw UsageError(
            "give --device cpu or auto: with --sequence-weights, --pseudocount or --gaps omit only "
            "the "
            "CPU counts; found " +
            std::string(context.device.kind_name()));
    if (parameters.gaps == Gaps::omit) {
        run_without_gaps(alignment, columns, parameters, problem_hash, context, result);
    } else {
        run_weighted(alignment, columns, parameters, problem_hash, context, result);
    }
    correct(columns.column_count(), result.pairs);
}

}  // namespace pleat::mutual_information
