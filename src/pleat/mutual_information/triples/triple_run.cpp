// Triple run: the sweep over tiles of triples, its collectors, and the results of all tiles.
#include "pleat/mutual_information/triples/triple_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/additive_checkpoint.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/sweep.h"
#include "pleat/mutual_information/count/statistic.h"
#include "pleat/mutual_information/cuda/cuda_layout.h"
#include "pleat/mutual_information/exact/triple_moments.h"
#include "pleat/mutual_information/triples/interactions.h"
#include "pleat/mutual_information/triples/triple_collectors.h"

namespace pleat::mutual_information {

namespace {

/// The numbers of one tile, and the counts from which they are computed.
struct TripleTileValues {
    TripleTile tile;
    Array<double, 2> values;  ///< [number, triple of the tile]
    NullSums sums;            ///< empty without sampling
    View<const double, 1> z() const { return values.view()[z_row]; }
    int z_row = -1;  ///< row of the exact Z in `values`; -1: not computed
};

/// Computes the statistics requested by Parameters::null. Their names are those of the arrays in
/// triples.npz; README.md of the engine defines them.
class TripleValues {
public:
    TripleValues(const Problem& problem, Kernel& kernel, const PairRun& pairs,
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
            moments_ = std::make_unique<TripleMoments>(*problem.columns, context,
                                                       parameters.triple_variance);
            add({"mean"});
            if (parameters.triple_variance) add({"variance", "z"});
        }
        if (parameters.has_sampled())
            add({"sampled_mean", "sampled_variance", "sampled_skewness", "sampled_z", "n_less",
                 "n_equal", "percentile", "p", "p_strict"});
        if (parameters.rank_by == RankBy::excess) add({"excess"});
    }

    const std::vector<std::string>& names() const { return names_; }
    /// The row of the number with this name in TripleTileValues::values; -1 if it is not computed.
    int number(std::string_view name) const {
        const auto found = std::find(names_.begin(), names_.end(), name);
        return found == names_.end() ? -1 : static_cast<int>(found - names_.begin());
    }

    TripleTileValues compute(const Tile& tile) const {
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

private:
    void fill_information(const std::vector<std::int64_t>& observed, TripleTileValues& at) const {
        const Index columns = problem_.columns->column_count();
        const std::vector<double>& mi = pairs_.statistics.mi;
        parallel_for(threads_, static_cast<Index>(at.tile.rows.size()), [&](Index place, int) {
            const TripleTile::Row& row = at.tile.rows[place];
            for (Index n = 0; n < row.count; ++n) {
                const Index k = row.first_k + n, item = row.offset + n;
                const double of_three =
                    triple_information(*problem_.statistic, margin_sums_[row.i],
                                       margin_sums_[row.j], margin_sums_[k], observed[item]);
                const Interaction parts = pairwise_interaction(
                    mi[pair_index(row.i, row.j, columns)], mi[pair_index(row.i, k, columns)],
                    mi[pair_index(row.j, k, columns)], of_three);
                const double numbers[] = {
                    of_three,        parts.co_information, -parts.co_information,
                    parts.ij_with_k, parts.ik_with_j,      parts.jk_with_i};
                for (Index number = 0; number < 6; ++number)
                    at.values(number, item) = numbers[number];
            }
        });
    }

    void fill_exact(TripleTileValues& at) const {
        const View<double, 1> mean = at.values[number("mean")];
        at.z_row = number("z");
        if (at.z_row < 0) return moments_->mean(at.tile, mean);
        const View<double, 1> variance = at.values[number("variance")];
        moments_->moments(at.tile, mean, variance);
        for (Index item = 0; item < at.tile.count; ++item)
            at.values(at.z_row, item) = exact_z(at.values(0, item), mean[item], variance[item]);
    }

    void fill_sampled(const std::vector<std::int64_t>& observed, TripleTileValues& at) const {
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

    void fill_excess(TripleTileValues& at) const {
        const auto triples = triples_of(at.tile);
        std::vector<Excess> excess(triples.size());
        third_order_excess(*problem_.columns, triples, excess, quiet_context_, kListedExcess);
        for (Index item = 0; item < at.tile.count; ++item)
            at.values(number("excess"), item) = excess[item].bits;
    }

    const Problem& problem_;
    Kernel& kernel_;
    const PairRun& pairs_;
    const Parameters& parameters_;
    Context quiet_context_;  ///< without progress, for stages within a tile
    int threads_ = 1;
    std::vector<std::int64_t> margin_sums_;
    std::unique_ptr<TripleMoments> moments_;
    std::vector<std::string> names_;
};

constexpr Index kCpuSide = 16;               // columns on a side of a tile
constexpr double kLongSeconds = 60.0;        // a longer computation is announced
constexpr Index kMaxKept = Index{20} << 20;  // triples above a threshold

/// Maximum number of columns per side of a tile. On a GPU: large blocks of about equal size, or a
/// single block if that takes at most about 0.1 s, so that a cancel is noticed.
Index max_tile_side(const Context& context, Index columns, Index shuffles) {
    if (context.device.kind != Device::Kind::cuda) return kCpuSide;
    const bool is_small = columns <= cuda::kSingleTileSide &&
                          triple_count(columns) * shuffles <= cuda::kSingleTileTables;
    const Index max_side = is_small ? cuda::kSingleTileSide : cuda::kTileSide;
    const Index blocks = (columns + max_side - 1) / max_side;
    return (columns + blocks - 1) / blocks;
}

/// Relative cost of a tile's triples: cells per table, plus a constant per table. With
/// kCellsASecond it reproduces the times of two families on an H200: 998 x 160 of 20 letters, 23 s,
/// and 753 x 264 of few letters, 4 s.
Index cost_of(const TripleTile& tile, const CodedColumns& columns) {
    constexpr Index kTableCost = 280;
    Index cost = 0;
    for (const TripleTile::Row& row : tile.rows) {
        Index symbols = 0;
        for (Index n = 0; n < row.count; ++n) symbols += columns.symbol_count(row.first_k + n);
        cost += kTableCost * row.count +
                symbols * columns.symbol_count(row.i) * columns.symbol_count(row.j);
    }
    return cost;
}

/// Tiles of all triples with their costs; the same for any number of ranks. On a GPU, more than
/// about 2 s of work is cut until a tile takes less than a second and less than a 36th of the
/// total, so that several GPUs, which get tiles of about equal cost in each round, finish together.
std::vector<Tile> tiles_for(const Context& context, const CodedColumns& columns, Index shuffles) {
    constexpr double kCellsASecond = 2.4e12, kUncutSeconds = 2, kTileSeconds = 0.7;
    constexpr Index kMinBlocks = 6;
    const Index count = columns.column_count();
    Index side = max_tile_side(context, count, shuffles);
    const auto tiles_of_side = [&] {
        std::vector<Tile> tiles = triple_tiles(count, side);
        for (Tile& tile : tiles) tile.cost = cost_of(triple_tile(tile.side), columns);
        return tiles;
    };
    std::vector<Tile> tiles = tiles_of_side();
    if (context.device.kind != Device::Kind::cuda) return tiles;
    double cost = 0;
    for (const Tile& tile : tiles) cost += static_cast<double>(tile.cost);
    const double seconds = cost * static_cast<double>(shuffles) / kCellsASecond;
    if (seconds < kUncutSeconds) return tiles;
    // A tile of three different blocks has 6 / blocks^3 of all triples.
    const Index blocks =
        std::max(kMinBlocks, static_cast<Index>(std::ceil(std::cbrt(6 * seconds / kTileSeconds))));
    side = std::min(side, std::max<Index>((count + blocks - 1) / blocks, kCpuSide));
    return tiles_of_side();
}

int number_count(const Parameters& p) {
    return 6 + (p.has_exact() ? (p.triple_variance ? 3 : 1) : 0) + (p.has_sampled() ? 9 : 0) +
           (p.rank_by == RankBy::excess ? 1 : 0);
}

/// Bytes per listed triple: its numbers when collected and when sorted; a copy if the number of
/// triples is not known beforehand, since the list then grows by copying; two copies to gather from
/// several ranks; its columns.
std::int64_t record_bytes(const Parameters& parameters, const Context& context, bool is_known) {
    return 8 * number_count(parameters) * ((is_known ? 2 : 3) + (context.ranks() > 1 ? 2 : 0)) +
           112;
}

TripleMoments::Size moments_size(Index rows, Index columns, int symbols,
                                 const Parameters& parameters, const Context& context) {
    return {rows,
            columns,
            symbols,
            max_tile_side(context, columns, parameters.shuffles.value_or(kDefaultShuffles)),
            resolve_threads(context),
            parameters.triple_variance};
}

/// Bytes of one tile's statistics and of the moments of its pairs.
std::int64_t tile_bytes(const TripleMoments::Size& size, const Parameters& parameters) {
    const Index triples = std::min(triple_count(size.columns), size.side * size.side * size.side);
    return triples * (8 * number_count(parameters) + 64) +
           (parameters.has_exact() ? TripleMoments::tile_bytes(size) : 0);
}

/// Maximum number of triples above a threshold: they may take half of the memory that is left for
/// this rank on its machine.
Index kept_room(const CodedColumns& columns, const Parameters& parameters, const Context& context) {
    const TripleMoments::Size size =
        moments_size(columns.row_count(), columns.column_count(), kMaxSymbols, parameters, context);
    const std::int64_t left =
        available_memory() / context.local_ranks() - tile_bytes(size, parameters);
    const Index room = left / 2 / record_bytes(parameters, context, false);
    return std::clamp<Index>(room, 0, std::min(triple_count(columns.column_count()), kMaxKept));
}

RecordLayout layout_of(const TripleValues& values, const Parameters& parameters, Index columns) {
    RecordLayout layout{columns, values.names()};
    if (parameters.rank_by != RankBy::automatic) {
        const auto number = static_cast<std::size_t>(parameters.rank_by);
        layout.key = values.number(names_of(parameters.rank_by)[number]);
        return layout;
    }
    for (const char* name : {"mi", "sampled_z", "z"})
        if (const int number = values.number(name); number >= 0) layout.key = number;
    return layout;
}

/// Leaves triples out of the ranking, by NaN: those below the threshold, and those with a conserved
/// column, whose Z is about that of the pair of the other two columns.
void leave_out(TripleTileValues& at, int key, std::optional<double> threshold,
               const std::vector<std::uint8_t>& is_conserved) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    for (const TripleTile::Row& row : at.tile.rows) {
        const bool out = is_conserved[row.i] != 0 || is_conserved[row.j] != 0;
        for (Index n = 0; n < row.count; ++n) {
            double& value = at.values(key, row.offset + n);
            if (out || is_conserved[row.first_k + n] != 0 || (threshold && value < *threshold))
                value = kNone;
        }
    }
}

/// What one rank collects: the best triples, those above the threshold, and those that form cliques
/// (by percentile and by Z).
struct Collectors {
    Collectors(const TripleValues& values, const Parameters& parameters, const CodedColumns& of,
               const Context& context)
        : layout(layout_of(values, parameters, of.column_count())),
          best_triples(layout, parameters.top) {
        const Index columns = of.column_count();
        for (Index column = 0; column < columns; ++column)
            is_conserved.push_back(of.symbol_count(column) == 1 ||
                                   entropy(of.margin(column), of.row_count()) <
                                       parameters.min_entropy);
        if (parameters.all_triples) {
            // The deciding number is MI, which every triple has; triples with NaN would be left
            // out.
            RecordLayout by_mi = layout;
            by_mi.key = 0;
            kept_triples.emplace(by_mi, -1.0, triple_count(columns));
            kept_triples->reserve(triple_count(columns));
        } else if (parameters.min_z) {
            kept_triples.emplace(layout, *parameters.min_z, kept_room(of, parameters, context));
        }
        if (parameters.has_sampled()) {
            cliques.emplace(columns);
            levels.assign(parameters.shuffle_count() + 1, 0);
        }
        if (parameters.has_exact() && parameters.triple_variance) cliques_by_z.emplace(columns);
    }

    void put(TripleTileValues at, const PairRun& pairs, const Parameters& parameters) {
        const auto span = [](const auto& array) {
            return std::span(array.data(), static_cast<std::size_t>(array.size()));
        };
        const std::int64_t shuffles = parameters.shuffle_count();
        if (kept_triples) kept_triples->put(at.tile, at.values);
        if (cliques) {
            cliques->add_percentiles(at.tile, pairs.statistics.less_count,
                                     span(at.sums.less_count));
            for (Index item = 0; item < at.tile.count; ++item)
                if (at.sums.equal_count(item) < shuffles)
                    ++levels[shuffles - at.sums.less_count(item)];
        }
        if (cliques_by_z) {
            const View<const double, 1> z = at.z();
            cliques_by_z->add_z(at.tile, pairs.statistics.z,
                                {z.data, static_cast<std::size_t>(z.size())});
        }
        leave_out(at, layout.key, parameters.min_z, is_conserved);
        best_triples.put(at.tile, at.values);
    }

    void add_to(AdditiveCheckpoint& checkpoint) {
        checkpoint.collect("best", best_triples);
        if (kept_triples) checkpoint.collect("kept", *kept_triples);
        if (cliques) checkpoint.collect("cliques", *cliques);
        if (cliques_by_z) checkpoint.collect("cliques_by_z", *cliques_by_z);
        checkpoint.add("levels", levels);
    }

    RecordLayout layout;
    BestTriples best_triples;
    std::optional<TriplesAbove> kept_triples;
    std::optional<CliqueSet> cliques, cliques_by_z;
    /// [n_greater_or_equal]: triples with a varying null distribution, for the FDR.
    std::vector<std::int64_t> levels;
    /// [column]: whether it has one symbol or an entropy below Parameters::min_entropy.
    std::vector<std::uint8_t> is_conserved;
};

/// [level]: Benjamini-Hochberg adjusted p, p = (1 + level) / (1 + n), from counts per level.
std::vector<double> rates(const std::vector<std::int64_t>& levels) {
    std::vector<double> rate(levels.size());
    std::int64_t tests = 0;
    for (const std::int64_t count : levels) tests += count;
    std::int64_t tests_up_to = tests;
    double min_rate = 1.0;
    for (std::size_t level = levels.size(); level-- > 0;) {
        const double p = static_cast<double>(1 + level) / static_cast<double>(levels.size());
        if (tests_up_to > 0)
            min_rate = std::min(min_rate,
                                p * static_cast<double>(tests) / static_cast<double>(tests_up_to));
        rate[level] = min_rate;
        tests_up_to -= levels[level];
    }
    return rate;
}

/// The false discovery rate of each record; NaN if its null is constant.
std::vector<double> record_rates(const TripleRecords& records, const TripleValues& values,
                                 const std::vector<double>& rate) {
    const int less_count = values.number("n_less"), equal_count = values.number("n_equal");
    const auto shuffles = static_cast<Index>(rate.size()) - 1;
    std::vector<double> found;
    for (Index record = 0; record < records.numbers.extent(0); ++record) {
        const bool varies = static_cast<Index>(records.numbers(record, equal_count)) < shuffles;
        found.push_back(
            varies ? rate[shuffles - static_cast<Index>(records.numbers(record, less_count))]
                   : std::numeric_limits<double>::quiet_NaN());
    }
    return found;
}

std::vector<double> excess_of(const TripleRecords& records, const CodedColumns& columns,
                              const Context& context) {
    std::vector<std::array<Index, 3>> triples;
    for (const Index triple : records.triples)
        triples.push_back(triple_at(triple, columns.column_count()));
    std::vector<Excess> excess(triples.size());
    third_order_excess(columns, triples, excess, context, kListedExcess);
    std::vector<double> bits;
    bits.reserve(excess.size());
    for (const Excess& each : excess) bits.push_back(each.bits);
    return bits;
}

/// Reports the expected time of the exact moments if it is long.
void report_cost(const CodedColumns& columns, const Parameters& parameters,
                 const Context& context) {
    const double seconds =
        TripleMoments::seconds(columns, parameters.triple_variance) / resolve_threads(context);
    if (seconds < kLongSeconds) return;
    context.message(fmt::format(
        "the exact moments of {} triples take about {:.0f} min{}",
        triple_count(columns.column_count()), std::ceil(seconds / 60),
        parameters.triple_variance ? "; --no-triple-variance computes only the mean" : ""));
}

}  // namespace

std::int64_t triple_run_bytes(const Alignment& alignment, const Parameters& parameters,
                              const Context& context) {
    const Index columns = alignment.column_count(), triples = triple_count(columns);
    const TripleMoments::Size size = moments_size(alignment.sequence_count(), columns,
                                                  alignment.alphabet->size(), parameters, context);
    const Index best_count = std::min(triples, parameters.top);
    std::int64_t bytes =
        triples / 4 + tile_bytes(size, parameters) +
        best_count * record_bytes(parameters, context, false) * (parameters.min_z ? 2 : 1);
    if (parameters.all_triples) bytes += triples * record_bytes(parameters, context, true);
    if (parameters.has_exact())
        bytes += TripleMoments::bytes(size) - TripleMoments::tile_bytes(size);
    return bytes;
}

TripleResult run_triples(const Problem& problem, Kernel& kernel, const PairRun& pairs,
                         const Parameters& parameters, const std::string& problem_hash,
                         const Context& context) {
    const Index columns = problem.columns->column_count();
    std::vector<Tile> tiles =
        tiles_for(context, *problem.columns, parameters.shuffles.value_or(kDefaultShuffles));
    if (parameters.has_exact()) report_cost(*problem.columns, parameters, context);
    const TripleValues values(problem, kernel, pairs, parameters, context);
    Collectors collectors(values, parameters, *problem.columns, context);
    AdditiveCheckpoint checkpoint(context, "triples", problem_hash,
                                  static_cast<Index>(tiles.size()));
    collectors.add_to(checkpoint);
    checkpoint.resume();
    // Collectors receive the statistics of tiles, so tiles have no output.
    for (Tile& tile : tiles) tile.items = 0;
    sweep(context, "triples", tiles, checkpoint, [&](const Tile& tile, View<float, 2>) {
        collectors.put(checkpoint.compute_before_adding([&] { return values.compute(tile); }),
                       pairs, parameters);
    });
    checkpoint.total();

    TripleResult result;
    result.names = values.names();
    result.key = collectors.layout.key;
    result.count = triple_count(columns);
    result.best_triples = collectors.best_triples.records();
    result.best_excess = excess_of(result.best_triples, *problem.columns, context);
    if (collectors.kept_triples) result.kept_triples = collectors.kept_triples->records();
    if (parameters.has_sampled()) {
        const std::vector<double> rate = rates(collectors.levels);
        result.best_fdr = record_rates(result.best_triples, values, rate);
        if (result.kept_triples) result.kept_fdr = record_rates(*result.kept_triples, values, rate);
    }
    if (collectors.cliques) result.cliques = std::move(*collectors.cliques).result();
    if (collectors.cliques_by_z) result.cliques_by_z = std::move(*collectors.cliques_by_z).result();
    return result;
}

}  // namespace pleat::mutual_information
