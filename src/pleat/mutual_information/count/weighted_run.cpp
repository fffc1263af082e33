// Weighted run: MI in float64, where counts are weighted, smoothed, or of rows without gaps.
#include "pleat/mutual_information/count/weighted_run.h"

#include "pleat/bio/alignment/filter.h"
#include "pleat/core/error.h"
#include "pleat/mutual_information/count/gaps_omitted.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/count/weighted.h"
#include "pleat/weights/weights.h"

namespace pleat::mutual_information {

namespace {

void derive(Index columns, PairStatistics& pairs) {
    pairs.normalised = normalised_information(pairs.mi, pairs.joint_entropy);
    pairs.mip = product_corrected(pairs.mi, columns);
    pairs.mia = sum_corrected(pairs.mi, columns);
}

/// The false discovery rate of sampled p, of pairs whose null varies.
void derive_rates(std::int64_t shuffles, PairStatistics& pairs) {
    std::vector<double> p;
    for (std::size_t pair = 0; pair < pairs.sampled.size(); ++pair)
        p.push_back(pairs.equal[pair] < shuffles ? pairs.sampled[pair].p
                                                 : std::numeric_limits<double>::quiet_NaN());
    pairs.fdr = false_discovery_rate(p);
}

void run_weights(const Alignment& alignment, const Parameters& parameters, const Context& context,
                 Result& result) {
    WeightedOptions options;
    options.pseudocount = parameters.pseudocount;
    options.symbols = alignment.alphabet->size();
    if (parameters.weights) {
        if (const std::string gaps = gap_only_text(alignment); !gaps.empty())
            context.message(gaps +
                            ", which the weights count as identical: --max-gaps and "
                            "--min-coverage leave them out");
        result.weights = weights::sequence_weights(alignment.letters, parameters.identity, context);
        result.effective_sequences = weights::effective_count(result.weights);
        options.weights = result.weights;
    }
    WeightedPairs found = weighted_pairs(result.columns, options, context);
    PairStatistics& pairs = result.pairs;
    pairs.mi = std::move(found.mi);
    pairs.joint_entropy = std::move(found.joint_entropy);
    if (!parameters.has_sampled()) return;
    WeightedNull null =
        weighted_null(result.columns, options, pairs.mi, parameters.shuffles, context);
    pairs.sampled = std::move(null.sampled);
    pairs.less = std::move(null.less);
    pairs.equal = std::move(null.equal);
    derive_rates(parameters.shuffles, pairs);
}

void run_without_gaps(const Alignment& alignment, const Parameters& parameters,
                      const Context& context, Result& result) {
    const Statistic statistic = make_statistic(result.columns.row_count());
    OmittedPairs found =
        pairs_without(result.columns, statistic, letter_set(alignment.alphabet->gap()), context);
    PairStatistics& pairs = result.pairs;
    pairs.mi = std::move(found.mi);
    pairs.joint_entropy = std::move(found.joint_entropy);
    result.pair_rows = std::move(found.rows);
    if (!parameters.has_exact()) return;
    pairs.mean = std::move(found.mean);
    pairs.variance = std::move(found.variance);
    for (std::size_t pair = 0; pair < pairs.mi.size(); ++pair)
        pairs.z.push_back(exact_z(pairs.mi[pair], pairs.mean[pair], pairs.variance[pair]));
}

}  // namespace

void run_weighted(const Alignment& alignment, const Parameters& parameters, const Context& context,
                  Result& result) {
    if (context.device.kind != Device::Kind::cpu)
        throw UsageError(
            "expected --device cpu or auto for --weights, --pseudocount and --gaps omit, "
            "which the CPU alone computes, found " +
            std::string(context.device.kind_name()));
    if (context.comm != nullptr && context.comm->size() > 1)
        throw UsageError(
            "expected one rank for --weights, --pseudocount and --gaps omit, found several");
    if (parameters.gaps == "omit") {
        run_without_gaps(alignment, parameters, context, result);
    } else {
        run_weights(alignment, parameters, context, result);
    }
    derive(result.columns.column_count(), result.pairs);
}

}  // namespace pleat::mutual_information
