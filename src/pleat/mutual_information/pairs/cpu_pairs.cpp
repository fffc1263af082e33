// CPU pairs: tables of weights and of gap-free rows, their null models, and what follows from them.
#include "pleat/mutual_information/pairs/cpu_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "pleat/bio/alignment/filter.h"
#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/mutual_information/count/tiles.h"
#include "pleat/mutual_information/exact/pair_moments.h"
#include "pleat/mutual_information/kernel/shuffled_planes.h"
#include "pleat/mutual_information/pairs/pair_run.h"
#include "pleat/weights/weights.h"

namespace pleat::mutual_information {

namespace {

constexpr const char* kGapFreeStage = "gaps omitted";

/// Bit c: code c of the column is an omitted letter.
std::uint32_t omitted_codes(const CodedColumns& columns, Index column, LetterSet omitted) {
    std::uint32_t codes = 0;
    for (int code = 0; code < columns.symbol_count(column); ++code) {
        const std::uint8_t letter = columns.letters[columns.first_symbol[column] + code];
        if (omitted & letter_set(letter)) codes |= std::uint32_t{1} << code;
    }
    return codes;
}

/// Renumbers the occurring codes as 0, 1, ... and counts each.
void renumber(std::vector<std::uint8_t>& codes, std::vector<Index>& margin) {
    Index count[kMaxSymbols] = {};
    for (const std::uint8_t code : codes) ++count[code];
    std::uint8_t renumbered[kMaxSymbols] = {};
    margin.clear();
    for (int code = 0; code < kMaxSymbols; ++code) {
        if (count[code] == 0) continue;
        renumbered[code] = static_cast<std::uint8_t>(margin.size());
        margin.push_back(count[code]);
    }
    for (std::uint8_t& code : codes) code = renumbered[code];
}

std::int64_t sum_of(const Statistic& statistic, std::span<const Index> counts) {
    std::int64_t t = 0;
    for (const Index count : counts) t += statistic.f[count];
    return t;
}

/// The results for one pair of columns.
struct PairNumbers {
    double mi = 0, joint_entropy = 0, mean = 0, variance = 0;
};

PairNumbers numbers_of(const PairRows& kept, const Statistic& statistic) {
    const Index rows = kept.count();
    if (rows == 0) return {};
    std::array<Index, kMaxSymbols * kMaxSymbols> table{};
    for (Index row = 0; row < rows; ++row)
        ++table[kept.code_i[row] * kMaxSymbols + kept.code_j[row]];
    const std::int64_t all = statistic.f[rows], t = sum_of(statistic, table);
    const std::int64_t shared =
        (all - sum_of(statistic, kept.margin_i)) - (sum_of(statistic, kept.margin_j) - t);
    const auto n = static_cast<double>(rows);
    // If a column has only one symbol left, mean and variance are 0.
    const Moments moments = pair_moments(kept.margin_i, kept.margin_j);
    return {std::max(0.0, statistic.bits(shared) / n), statistic.bits(all - t) / n, moments.mean,
            moments.variance};
}

constexpr int kTables =
    4;  // copies of the table, filled in turn: two rows of the same cell do not wait for each other
constexpr const char* kStage = "weighted pairs";
constexpr Index kBytesOfShuffles = Index{32} << 20;
constexpr double kMinVariance = 1e-18;  // bits^2; a smaller one is rounding

double x_lg_x(double x) { return x > 0 ? x * std::log2(x) : 0; }

/// Two columns of symbol codes, and the weight of each row.
struct WeightedRows {
    const std::uint8_t* code_i;
    const std::uint8_t* code_j;
    const double* weight;
    Index count;
    int q_i, q_j;
};

struct Information {
    double mi = 0, joint_entropy = 0;
};

/// The table of two columns, in memory that a thread reuses. Not thread-safe.
class Table {
public:
    Information operator()(const WeightedRows& rows, double pseudocount, int symbols) {
        const int cells = rows.q_i * rows.q_j;
        fill(rows, cells);
        std::array<double, kMaxSymbols> of_i{}, of_j{};
        Information found;
        double joint = 0, weights = 0;
        for (int a = 0, cell = 0; a < rows.q_i; ++a) {
            for (int b = 0; b < rows.q_j; ++b, ++cell) {
                const double weight = cells_[0][cell];
                of_i[a] += weight;
                of_j[b] += weight;
                weights += weight;
                joint += x_lg_x(weight + pseudocount);
            }
        }
        const double q = symbols, line = pseudocount * q, total = weights + line * q;
        if (!(total > 0)) return found;
        double sum_i = 0, sum_j = 0;
        for (int a = 0; a < rows.q_i; ++a) sum_i += x_lg_x(of_i[a] + line);
        for (int b = 0; b < rows.q_j; ++b) sum_j += x_lg_x(of_j[b] + line);
        if (pseudocount > 0) {  // letters that do not occur
            joint += (q * q - cells) * x_lg_x(pseudocount);
            sum_i += (q - rows.q_i) * x_lg_x(line);
            sum_j += (q - rows.q_j) * x_lg_x(line);
        }
        const double lg = std::log2(total);
        found.mi = std::max(0.0, lg + (joint - sum_i - sum_j) / total);
        found.joint_entropy = std::max(0.0, lg - joint / total);
        return found;
    }

private:
    void fill(const WeightedRows& rows, int cells) {
        for (auto& table : cells_) std::fill_n(table.begin(), cells, 0.0);
        Index row = 0;
        const auto add = [&](int table, Index at) {
            cells_[table][rows.code_i[at] * rows.q_j + rows.code_j[at]] += rows.weight[at];
        };
        for (; row + kTables <= rows.count; row += kTables)
            for (int table = 0; table < kTables; ++table) add(table, row + table);
        for (; row < rows.count; ++row) add(0, row);
        for (int table = 1; table < kTables; ++table)
            for (int cell = 0; cell < cells; ++cell) cells_[0][cell] += cells_[table][cell];
    }

    std::array<std::array<double, kMaxSymbols * kMaxSymbols>, kTables> cells_;
};

void check(const CodedColumns& columns, const WeightedOptions& options) {
    const std::span<const double> weights = options.weights;
    if (!weights.empty() && static_cast<Index>(weights.size()) != columns.row_count())
        throw UsageError(fmt::format("weights: expected one per sequence, {}, found {}",
                                     columns.row_count(), weights.size()));
    for (const double weight : weights) {
        if (!(weight >= 0) || std::isinf(weight))
            throw UsageError(
                fmt::format("weights: expected numbers of at least 0, found {}", weight));
    }
    if (!(options.pseudocount >= 0) || std::isinf(options.pseudocount))
        throw UsageError(fmt::format("pseudocount: expected a number of at least 0, found {}",
                                     options.pseudocount));
    if (options.shuffles < 0 || options.shuffles > std::numeric_limits<std::uint32_t>::max())
        throw UsageError(fmt::format("shuffles: expected a number from 0 to 2^32 - 1, found {}",
                                     options.shuffles));
    if (options.pseudocount == 0) return;
    for (Index column = 0; column < columns.column_count(); ++column) {
        if (columns.symbol_count(column) > options.symbols)
            throw UsageError(
                fmt::format("pseudocount: expected at most {} symbols per column, found {} in "
                            "column {}",
                            options.symbols, columns.symbol_count(column), column));
    }
}

/// Sums over the shuffles of one pair, of differences from the observed MI.
struct Sums {
    double first = 0, second = 0, third = 0, less_count = 0, equal_count = 0;

    void add(double difference) {
        if (std::abs(difference) <= kEqualInformation) {
            ++equal_count;
            return;
        }
        less_count += difference < 0;
        first += difference;
        second += difference * difference;
        third += difference * difference * difference;
    }

    SampledNull null(double observed, std::int64_t shuffles) const {
        const auto n = static_cast<double>(shuffles);
        const double mean = first / n, square = second / n;
        const double variance = square - mean * mean;
        SampledNull found;
        found.mean = observed + mean;
        found.variance = variance > kMinVariance ? variance : 0;
        const double root = std::sqrt(found.variance);
        found.skewness = (third / n - mean * (3 * square - 2 * mean * mean)) / (root * root * root);
        found.z = -mean / root;
        if (found.variance == 0)
            found.skewness = found.z = std::numeric_limits<double>::quiet_NaN();
        found.percentile = less_count / n;
        found.p = (1 + n - less_count) / (1 + n);
        found.p_strict = (1 + n - less_count - equal_count) / (1 + n);
        return found;
    }
};

/// The results of all pairs, and the function that computes one tile of pairs.
class AllPairs {
public:
    AllPairs(const CodedColumns& columns, const WeightedOptions& options, const Context& context)
        : columns_(columns),
          options_(options),
          context_(context),
          threads_(resolve_threads(context)),
          weights_(options.weights.begin(), options.weights.end()),
          tables_(threads_) {
        if (weights_.empty()) weights_.assign(columns.row_count(), 1.0);
        const Index pairs = pair_count(columns.column_count());
        for (const char* name : {"mi", "joint_entropy"}) add_array(name, pairs);
        if (options.shuffles == 0) return;
        for (const char* name : {"first", "second", "third", "less", "equal"})
            add_array(name, pairs);
    }

    std::vector<NamedArray> arrays() {
        std::vector<NamedArray> spans;
        for (auto& [name, values] : numbers_) spans.emplace_back(name, values);
        return spans;
    }

    void compute(const Tile& tile) {
        const auto pairs = pairs_of(tile);
        std::vector<Information> observed(pairs.size());
        parallel_for(threads_, static_cast<Index>(pairs.size()), [&](Index at, int thread) {
            const auto [i, j] = pairs[at];
            observed[at] = information(thread, i, j, &columns_.codes(i, 0), &columns_.codes(j, 0));
        });
        std::vector<Sums> sums(pairs.size());
        if (options_.shuffles > 0) sample(tile, pairs, observed, sums);
        for (std::size_t at = 0; at < pairs.size(); ++at) {
            const Sums& of = sums[at];
            const double all[] = {observed[at].mi, observed[at].joint_entropy,
                                  of.first,        of.second,
                                  of.third,        of.less_count,
                                  of.equal_count};
            const auto [i, j] = pairs[at];
            for (std::size_t number = 0; number < numbers_.size(); ++number)
                numbers_[number].second[pair_index(i, j, columns_.column_count())] = all[number];
        }
    }

    WeightedPairs result() && {
        WeightedPairs pairs;
        if (options_.shuffles > 0) {
            for (std::size_t pair = 0; pair < numbers_[0].second.size(); ++pair) {
                const auto number = [&](int which) { return numbers_[which].second[pair]; };
                const Sums sums{number(2), number(3), number(4), number(5), number(6)};
                pairs.sampled.push_back(sums.null(number(0), options_.shuffles));
                pairs.less_count.push_back(static_cast<std::uint32_t>(sums.less_count));
                pairs.equal_count.push_back(static_cast<std::uint32_t>(sums.equal_count));
            }
        }
        pairs.mi = std::move(numbers_[0].second);
        pairs.joint_entropy = std::move(numbers_[1].second);
        return pairs;
    }

private:
    void add_array(const char* name, Index pairs) {
        numbers_.emplace_back(name,
                              std::vector<double>(pairs, std::numeric_limits<double>::lowest()));
    }

    Information information(int thread, Index i, Index j, const std::uint8_t* codes_i,
                            const std::uint8_t* codes_j) {
        const WeightedRows rows{codes_i,
                                codes_j,
                                weights_.data(),
                                columns_.row_count(),
                                columns_.symbol_count(i),
                                columns_.symbol_count(j)};
        return tables_[thread](rows, options_.pseudocount, options_.symbols);
    }

    /// Adds all shuffles to the sums of a tile's pairs, some groups of shuffles after the other.
    void sample(const Tile& tile, const std::vector<std::pair<Index, Index>>& pairs,
                const std::vector<Information>& observed, std::vector<Sums>& sums) {
        const PlaneLayout layout(columns_, tile.side[0], tile.side[1]);
        const Index group_bytes = layout.group_bytes() + layout.group_code_bytes();
        const Index groups = std::clamp<Index>(kBytesOfShuffles / group_bytes, 1, 8);
        Array<std::uint64_t, 1> planes(
            groups * layout.group_bytes() /
            8);  // bit planes, which shuffle_planes() also writes and which are not used here
        Array<std::uint8_t, 1> codes(groups * layout.group_code_bytes());
        for (Index first = 0; first < options_.shuffles; first += groups * kLanes) {
            throw_if_cancelled(context_, kStage);
            const Index count = std::min(groups * kLanes, options_.shuffles - first);
            shuffle_planes(columns_, layout, context_.seed, first, (count + kLanes - 1) / kLanes,
                           threads_, planes.data(), codes.data());
            const auto codes_of = [&](Index shuffle, Index column) {
                const Index lane = layout.position[column] * kLanes + shuffle % kLanes;
                return codes.data() + shuffle / kLanes * layout.group_code_bytes() +
                       lane * layout.code_bytes();
            };
            parallel_for(threads_, static_cast<Index>(pairs.size()), [&](Index at, int thread) {
                const auto [i, j] = pairs[at];
                for (Index shuffle = 0; shuffle < count; ++shuffle) {
                    const Information found =
                        information(thread, i, j, codes_of(shuffle, i), codes_of(shuffle, j));
                    sums[at].add(found.mi - observed[at].mi);
                }
            });
        }
    }

    const CodedColumns& columns_;
    const WeightedOptions& options_;
    const Context& context_;
    int threads_;
    std::vector<double> weights_;
    std::vector<Table> tables_;  // [thread]
    std::vector<std::pair<std::string, std::vector<double>>> numbers_;
};

void run_weighted(const Alignment& alignment, const CodedColumns& columns,
                  const Parameters& parameters, const std::string& problem_hash,
                  const Context& context, Result& result) {
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
    PairInformation& pairs = result.pairs;
    pairs.mi = std::move(counted.mi);
    pairs.joint_entropy = std::move(counted.joint_entropy);
    pairs.sampled = std::move(counted.sampled);
    pairs.less_count = std::move(counted.less_count);
    pairs.equal_count = std::move(counted.equal_count);
    if (result.shuffles > 0) pairs.fdr = false_discovery_rate(tested_p(pairs, result.shuffles));
}

void run_without_gaps(const Alignment& alignment, const CodedColumns& columns,
                      const Parameters& parameters, const std::string& problem_hash,
                      const Context& context, Result& result) {
    GapFreePairs counted =
        gap_free_pairs(columns, make_statistic(columns.row_count()),
                       letter_set(alignment.alphabet->gap()), context, problem_hash);
    PairInformation& pairs = result.pairs;
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

void PairRows::select_rows(const CodedColumns& columns, Index i, Index j, LetterSet omitted) {
    const std::uint32_t out_i = omitted_codes(columns, i, omitted);
    const std::uint32_t out_j = omitted_codes(columns, j, omitted);
    code_i.clear();
    code_j.clear();
    row.clear();
    for (Index at = 0; at < columns.row_count(); ++at) {
        const std::uint8_t a = columns.codes(i, at), b = columns.codes(j, at);
        if ((out_i >> a | out_j >> b) & 1) continue;
        code_i.push_back(a);
        code_j.push_back(b);
        row.push_back(at);
    }
    renumber(code_i, margin_i);
    renumber(code_j, margin_j);
}

GapFreePairs gap_free_pairs(const CodedColumns& columns, const Statistic& statistic,
                            LetterSet omitted, const Context& context,
                            const std::string& problem_hash) {
    const Index count = columns.column_count(), pairs = pair_count(count);
    GapFreePairs result{{},
                        std::vector<double>(pairs),
                        std::vector<double>(pairs),
                        std::vector<double>(pairs),
                        std::vector<double>(pairs)};
    std::vector<double> rows(pairs);
    const NamedArray arrays[] = {{"rows", rows},
                                 {"mi", result.mi},
                                 {"joint_entropy", result.joint_entropy},
                                 {"mean", result.mean},
                                 {"variance", result.variance}};
    const int threads = resolve_threads(context);
    std::vector<PairRows> kept(threads);
    compute_pair_tiles(
        context, kGapFreeStage, problem_hash, pair_tiles(count), arrays, [&](const Tile& tile) {
            const auto of_tile = pairs_of(tile);
            parallel_for_chunks(context, kGapFreeStage, threads, of_tile.size(), 8 * threads,
                                [&](Index at, int thread) {
                                    const auto [i, j] = of_tile[at];
                                    kept[thread].select_rows(columns, i, j, omitted);
                                    const PairNumbers numbers = numbers_of(kept[thread], statistic);
                                    const Index pair = pair_index(i, j, count);
                                    rows[pair] = static_cast<double>(kept[thread].count());
                                    result.mi[pair] = numbers.mi;
                                    result.joint_entropy[pair] = numbers.joint_entropy;
                                    result.mean[pair] = numbers.mean;
                                    result.variance[pair] = numbers.variance;
                                });
        });
    result.rows.assign(rows.begin(), rows.end());
    return result;
}

WeightedPairs weighted_pairs(const CodedColumns& columns, const WeightedOptions& options,
                             const Context& context, const std::string& problem_hash) {
    check(columns, options);
    AllPairs all(columns, options, context);
    compute_pair_tiles(context, kStage, problem_hash, pair_tiles(columns.column_count()),
                       all.arrays(), [&](const Tile& tile) { all.compute(tile); });
    return std::move(all).result();
}

void run_cpu_pairs(const Alignment& alignment, const CodedColumns& columns,
                   const Parameters& parameters, const std::string& problem_hash,
                   const Context& context, Result& result) {
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
