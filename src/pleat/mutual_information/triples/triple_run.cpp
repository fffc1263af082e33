// Triple run: the sweep over tiles of triples, its collectors, and what is derived once all are in.
#include "pleat/mutual_information/triples/triple_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/additive_checkpoint.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/mutual_information/cuda/cuda_layout.h"
#include "pleat/mutual_information/triples/interactions.h"
#include "pleat/mutual_information/triples/triple_values.h"

namespace pleat::mutual_information {

namespace {

constexpr Index kCpuSide = 16;                // columns of a tile's block
constexpr double kLong = 60.0;                // seconds
constexpr Index kMostKept = Index{20} << 20;  // triples over a threshold
constexpr int kMostSymbols = 32;              // of any alphabet

/// Columns on a side of a tile: on a GPU large blocks of about as many columns, or one where that
/// takes no longer than it takes a person to cancel.
Index tile_side(const Context& context, Index columns, Index shuffles) {
    if (context.device.kind != Device::Kind::cuda) return kCpuSide;
    const bool is_small =
        columns <= cuda::kLoneTileSide && triple_count(columns) * shuffles <= cuda::kLoneTileTables;
    const Index most = is_small ? cuda::kLoneTileSide : cuda::kTileSide;
    const Index blocks = (columns + most - 1) / most;
    return (columns + blocks - 1) / blocks;
}

/// All triples in tiles: for ranks, which take one tile each at a time, the largest first, so that
/// they end together. The tiles do not depend on the number of ranks.
std::vector<Tile> tiles_for(const Context& context, Index columns, Index shuffles) {
    std::vector<Tile> tiles = triple_tiles(columns, tile_side(context, columns, shuffles));
    if (context.comm != nullptr && context.comm->size() > 1)
        std::ranges::stable_sort(tiles, std::ranges::greater{}, &Tile::items);
    return tiles;
}

int number_count(const Parameters& p) {
    return 6 + (p.has_exact() ? (p.triple_variance ? 3 : 1) : 0) + (p.has_sampled() ? 9 : 0) +
           (p.by == "excess" ? 1 : 0);
}

/// Bytes of a triple that is listed: its numbers once collected and once sorted, where its number
/// is not known beforehand in a list that grows by copying itself, and with several ranks once more
/// as they are gathered; its places.
std::int64_t record_bytes(const Parameters& parameters, const Context& context, bool is_known) {
    const bool has_ranks = context.comm != nullptr && context.comm->size() > 1;
    return 8 * number_count(parameters) * ((is_known ? 2 : 3) + (has_ranks ? 2 : 0)) + 112;
}

TripleMoments::Size moments_size(Index rows, Index columns, int symbols,
                                 const Parameters& parameters, const Context& context) {
    return {rows,
            columns,
            symbols,
            tile_side(context, columns, parameters.shuffles),
            resolve_threads(context),
            parameters.triple_variance};
}

/// Bytes of what one tile gives, and of the moments of its pairs.
std::int64_t tile_bytes(const TripleMoments::Size& size, const Parameters& parameters) {
    const Index triples = std::min(triple_count(size.columns), size.side * size.side * size.side);
    return triples * (8 * number_count(parameters) + 64) +
           (parameters.has_exact() ? TripleMoments::tile_bytes(size) : 0);
}

/// How many triples over a threshold memory has room for beside all else: half of what is left to
/// this rank of its machine.
Index kept_room(const Columns& columns, const Parameters& parameters, const Context& context) {
    const TripleMoments::Size size = moments_size(columns.row_count(), columns.column_count(),
                                                  kMostSymbols, parameters, context);
    const int ranks = context.comm != nullptr ? context.comm->local_size() : 1;
    const std::int64_t left = available_memory() / ranks - tile_bytes(size, parameters);
    const Index most = std::min(triple_count(columns.column_count()), kMostKept);
    return std::clamp<Index>(left / 2 / record_bytes(parameters, context, false), 0, most);
}

/// The collectors of one rank.
struct Collectors {
    Collectors(const TripleValues& values, const Parameters& parameters, const Columns& columns,
               const Context& context);
    void put(TripleTileValues at, const PairRun& pairs, const Parameters& parameters);
    void join(AdditiveCheckpoint& checkpoint);

    TripleNumbers numbers;
    BestTriples best;
    std::optional<TriplesOver> kept;
    std::optional<CliqueSet> cliques, cliques_by_z;
    /// [n_greater_or_equal]: triples whose null varies, for the false discovery rate.
    std::vector<std::int64_t> levels;
    /// [column]: it has one symbol or an entropy below Parameters::least_entropy.
    std::vector<std::uint8_t> is_conserved;
};

TripleNumbers ranked_numbers(const TripleValues& values, const Parameters& parameters,
                             Index columns) {
    TripleNumbers numbers{columns, values.names()};
    if (!parameters.by.empty()) {
        numbers.key = values.place(parameters.by);
        return numbers;
    }
    for (const char* name : {"mi", "sampled_z", "z"})
        if (const int place = values.place(name); place >= 0) numbers.key = place;
    return numbers;
}

Collectors::Collectors(const TripleValues& values, const Parameters& parameters, const Columns& of,
                       const Context& context)
    : numbers(ranked_numbers(values, parameters, of.column_count())),
      best(numbers, parameters.top) {
    const Index columns = of.column_count();
    for (Index column = 0; column < columns; ++column)
        is_conserved.push_back(of.symbol_count(column) == 1 ||
                               entropy(of.margin(column), of.row_count()) <
                                   parameters.least_entropy);
    if (parameters.all) {
        // Ranked by MI, which every triple has: a number that may be NaN would leave triples out.
        TripleNumbers by_mi = numbers;
        by_mi.key = 0;
        kept.emplace(by_mi, -1.0, triple_count(columns));
        kept->reserve(triple_count(columns));
    } else if (!std::isnan(parameters.threshold)) {
        kept.emplace(numbers, parameters.threshold, kept_room(of, parameters, context));
    }
    if (parameters.has_sampled()) {
        cliques.emplace(columns);
        levels.assign(parameters.shuffles + 1, 0);
    }
    if (parameters.has_exact() && parameters.triple_variance) cliques_by_z.emplace(columns);
}

void Collectors::join(AdditiveCheckpoint& checkpoint) {
    checkpoint.collect("best", best);
    if (kept) checkpoint.collect("kept", *kept);
    if (cliques) checkpoint.collect("cliques", *cliques);
    if (cliques_by_z) checkpoint.collect("cliques_by_z", *cliques_by_z);
    checkpoint.add("levels", levels);
}

/// Takes what is not to be listed out of the ranking: triples below the threshold, and those with a
/// conserved column, whose Z is about that of the pair of the other two.
void leave_out(TripleTileValues& at, int key, double threshold,
               const std::vector<std::uint8_t>& is_conserved) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    for (const TripleTile::Row& row : at.tile.rows) {
        const bool out = is_conserved[row.i] != 0 || is_conserved[row.j] != 0;
        for (Index n = 0; n < row.count; ++n) {
            double& value = at.values(key, row.offset + n);
            if (out || is_conserved[row.first_k + n] != 0 || value < threshold) value = kNone;
        }
    }
}

void Collectors::put(TripleTileValues at, const PairRun& pairs, const Parameters& parameters) {
    const auto span = [](const auto& array) {
        return std::span(array.data(), static_cast<std::size_t>(array.size()));
    };
    const std::int64_t shuffles = parameters.shuffles;
    if (kept) kept->put(at.tile, at.values);
    if (cliques) {
        cliques->put_percentiles(at.tile, pairs.statistics.less, span(at.sums.less));
        for (Index item = 0; item < at.tile.count; ++item)
            if (at.sums.equal(item) < shuffles) ++levels[shuffles - at.sums.less(item)];
    }
    if (cliques_by_z) {
        const View<const double, 1> z = at.z();
        cliques_by_z->put_z(at.tile, pairs.statistics.z,
                            {z.data, static_cast<std::size_t>(z.size())});
    }
    leave_out(at, numbers.key, parameters.threshold, is_conserved);
    best.put(at.tile, at.values);
}

/// Benjamini-Hochberg from the counts of each level of p = (1 + level) / (1 + n): [level].
std::vector<double> rates(const std::vector<std::int64_t>& levels) {
    std::vector<double> rate(levels.size());
    std::int64_t tests = 0;
    for (const std::int64_t count : levels) tests += count;
    std::int64_t at_most = tests;
    double least = 1.0;
    for (std::size_t level = levels.size(); level-- > 0;) {
        const double p = static_cast<double>(1 + level) / static_cast<double>(levels.size());
        if (at_most > 0)
            least = std::min(least, p * static_cast<double>(tests) / static_cast<double>(at_most));
        rate[level] = least;
        at_most -= levels[level];
    }
    return rate;
}

/// The false discovery rate of each record; NaN where the null does not vary.
std::vector<double> record_rates(const TripleRecords& records, const TripleValues& values,
                                 const std::vector<double>& rate) {
    const int less = values.place("n_less"), equal = values.place("n_equal");
    const auto shuffles = static_cast<Index>(rate.size()) - 1;
    std::vector<double> found;
    for (Index record = 0; record < records.numbers.extent(0); ++record) {
        const bool varies = static_cast<Index>(records.numbers(record, equal)) < shuffles;
        found.push_back(varies ? rate[shuffles - static_cast<Index>(records.numbers(record, less))]
                               : std::numeric_limits<double>::quiet_NaN());
    }
    return found;
}

std::vector<double> excess_of(const TripleRecords& records, const Columns& columns,
                              const Context& context) {
    std::vector<std::array<Index, 3>> triples;
    for (const Index triple : records.triples)
        triples.push_back(triple_at(triple, columns.column_count()));
    std::vector<Excess> excess(triples.size());
    third_order_excess(columns, triples, excess, context, kListedExcess);
    std::vector<double> bits;
    for (const Excess& each : excess) bits.push_back(each.bits);
    return bits;
}

/// What the exact moments will take, where that is long.
void tell_cost(const Columns& columns, const Parameters& parameters, const Context& context) {
    const double seconds =
        TripleMoments::seconds(columns, parameters.triple_variance) / resolve_threads(context);
    if (seconds < kLong) return;
    context.message(
        fmt::format("the exact moments of {} triples take some {:.0f} min{}",
                    triple_count(columns.column_count()), std::ceil(seconds / 60),
                    parameters.triple_variance ? "; --no-triple-variance leaves the mean" : ""));
}

}  // namespace

std::int64_t triple_run_bytes(const Alignment& alignment, const Parameters& parameters,
                              const Context& context) {
    const Index columns = alignment.column_count(), triples = triple_count(columns);
    const TripleMoments::Size size = moments_size(alignment.sequence_count(), columns,
                                                  alignment.alphabet->size(), parameters, context);
    const Index best = std::min(triples, parameters.top);
    const bool has_threshold = !std::isnan(parameters.threshold);
    std::int64_t bytes = triples / 4 + tile_bytes(size, parameters) +
                         best * record_bytes(parameters, context, false) * (has_threshold ? 2 : 1);
    if (parameters.all) bytes += triples * record_bytes(parameters, context, true);
    if (parameters.has_exact())
        bytes += TripleMoments::bytes(size) - TripleMoments::tile_bytes(size);
    return bytes;
}

TripleResult run_triples(const Problem& problem, Kernel& kernel, const PairRun& pairs,
                         const Parameters& parameters, const std::string& problem_hash,
                         const Context& context) {
    const Index columns = problem.columns->column_count();
    std::vector<Tile> tiles = tiles_for(context, columns, parameters.shuffles);
    if (parameters.has_exact()) tell_cost(*problem.columns, parameters, context);
    const TripleValues values(problem, kernel, pairs, parameters, context);
    Collectors collectors(values, parameters, *problem.columns, context);
    AdditiveCheckpoint checkpoint(context, "triples", problem_hash,
                                  static_cast<Index>(tiles.size()));
    collectors.join(checkpoint);
    checkpoint.resume();
    // The tiles' output goes to the collectors.
    for (Tile& tile : tiles) tile.items = 0;
    sweep(context, "triples", tiles, checkpoint, [&](const Tile& tile, View<float, 2>) {
        collectors.put(checkpoint.before_adding([&] { return values.compute(tile); }), pairs,
                       parameters);
    });
    checkpoint.total();

    TripleResult result;
    result.names = values.names();
    result.key = collectors.numbers.key;
    result.count = triple_count(columns);
    result.best = collectors.best.records();
    result.best_excess = excess_of(result.best, *problem.columns, context);
    if (collectors.kept) result.kept = collectors.kept->records();
    if (parameters.has_sampled()) {
        const std::vector<double> rate = rates(collectors.levels);
        result.best_fdr = record_rates(result.best, values, rate);
        if (result.kept) result.kept_fdr = record_rates(*result.kept, values, rate);
    }
    result.cliques = std::move(collectors.cliques);
    result.cliques_by_z = std::move(collectors.cliques_by_z);
    return result;
}

}  // namespace pleat::mutual_information
