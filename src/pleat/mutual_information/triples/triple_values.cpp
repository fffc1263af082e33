// Triple values: counts, moments, shuffles and interaction terms of the triples of a tile.
#include "pleat/mutual_information/triples/triple_values.h"

#include <algorithm>

#include "pleat/core/loops/parallel.h"
#include "pleat/mutual_information/count/information.h"
#include "pleat/mutual_information/pairs/pair_statistics.h"
#include "pleat/mutual_information/triples/interactions.h"

namespace pleat::mutual_information {

TripleValues::TripleValues(const Problem& problem, Kernel& kernel, const PairRun& pairs,
                           const Parameters& parameters, const Context& context)
    : problem_(problem),
      kernel_(kernel),
      pairs_(pairs),
      parameters_(parameters),
      quiet_context_(context),
      threads_(resolve_threads(context)),
      margin_sums_(margin_sums(*problem.columns, *problem.statistic)) {
    quiet_context_.progress = nullptr;
    quiet_context_.comm = nullptr;
    names_ = {"mi", "co_information", "synergy", "ij_with_k", "ik_with_j", "jk_with_i"};
    const auto add = [&](std::initializer_list<const char*> more) {
        names_.insert(names_.end(), more.begin(), more.end());
    };
    if (parameters.has_exact()) {
        moments_ =
            std::make_unique<TripleMoments>(*problem.columns, context, parameters.triple_variance);
        add({"mean"});
        if (parameters.triple_variance) add({"variance", "z"});
    }
    if (parameters.has_sampled())
        add({"sampled_mean", "sampled_variance", "sampled_skewness", "sampled_z", "n_less",
             "n_equal", "percentile", "p", "p_strict"});
    if (parameters.rank_by == RankBy::excess) add({"excess"});
}

int TripleValues::number(std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    return found == names_.end() ? -1 : static_cast<int>(found - names_.begin());
}

TripleTileValues TripleValues::compute(const Tile& tile) const {
    TripleTileValues at;
    at.tile = triple_tile(tile.side);
    at.values = Array<double, 2>(static_cast<Index>(names_.size()), at.tile.count);
    std::vector<std::int64_t> observed(at.tile.count);
    kernel_.observe_triples(at.tile, {observed.data(), at.tile.count});
    fill_information(observed, at);
    if (parameters_.has_exact()) fill_exact(at);
    if (parameters_.has_sampled()) fill_sampled(observed, at);
    if (number("excess") >= 0) fill_excess(at);
    return at;
}

void TripleValues::fill_information(const std::vector<std::int64_t>& observed,
                                    TripleTileValues& at) const {
    const Index columns = problem_.columns->column_count();
    const std::vector<double>& mi = pairs_.statistics.mi;
    parallel_for(threads_, static_cast<Index>(at.tile.rows.size()), [&](Index place, int) {
        const TripleTile::Row& row = at.tile.rows[place];
        for (Index n = 0; n < row.count; ++n) {
            const Index k = row.first_k + n, item = row.offset + n;
            const double of_three =
                triple_information(*problem_.statistic, margin_sums_[row.i], margin_sums_[row.j],
                                   margin_sums_[k], observed[item]);
            const Interaction parts = pairwise_interaction(
                mi[pair_index(row.i, row.j, columns)], mi[pair_index(row.i, k, columns)],
                mi[pair_index(row.j, k, columns)], of_three);
            const double numbers[] = {of_three,        parts.co_information, -parts.co_information,
                                      parts.ij_with_k, parts.ik_with_j,      parts.jk_with_i};
            for (Index number = 0; number < 6; ++number) at.values(number, item) = numbers[number];
        }
    });
}

void TripleValues::fill_exact(TripleTileValues& at) const {
    const View<double, 1> mean = at.values[number("mean")];
    at.z_row = number("z");
    if (at.z_row < 0) return moments_->mean(at.tile, mean);
    const View<double, 1> variance = at.values[number("variance")];
    moments_->moments(at.tile, mean, variance);
    for (Index item = 0; item < at.tile.count; ++item)
        at.values(at.z_row, item) = exact_z(at.values(0, item), mean[item], variance[item]);
}

void TripleValues::fill_sampled(const std::vector<std::int64_t>& observed,
                                TripleTileValues& at) const {
    at.sums = NullSums(at.tile.count);
    kernel_.sample_triples(at.tile, {0, parameters_.shuffle_count()},
                           {observed.data(), at.tile.count}, at.sums);
    const int first = number("sampled_mean");
    const auto fill = [&](Index item) {
        const SampledNull null = sampled_null(at.sums, item, parameters_.shuffle_count(),
                                              at.values(0, item), *problem_.statistic);
        const double numbers[] = {null.mean,
                                  null.variance,
                                  null.skewness,
                                  null.z,
                                  static_cast<double>(at.sums.less_count(item)),
                                  static_cast<double>(at.sums.equal_count(item)),
                                  null.percentile,
                                  null.p,
                                  null.p_strict};
        for (int number = 0; number < 9; ++number)
            at.values(first + number, item) = numbers[number];
    };
    parallel_for(threads_, static_cast<Index>(at.tile.rows.size()), [&](Index place, int) {
        const TripleTile::Row& row = at.tile.rows[place];
        for (Index n = 0; n < row.count; ++n) fill(row.offset + n);
    });
}

void TripleValues::fill_excess(TripleTileValues& at) const {
    const auto triples = triples_of(at.tile);
    std::vector<Excess> excess(triples.size());
    third_order_excess(*problem_.columns, triples, excess, quiet_context_, kListedExcess);
    for (Index item = 0; item < at.tile.count; ++item)
        at.values(number("excess"), item) = excess[item].bits;
}

}  // namespace pleat::mutual_information
