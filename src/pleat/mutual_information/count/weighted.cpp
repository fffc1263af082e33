// Weighted: tables of weights, their entropies, and the same for shuffled columns.
#include "pleat/mutual_information/count/weighted.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/mutual_information/kernel/shuffle.h"

namespace pleat::mutual_information {

namespace {

constexpr int kMostSymbols = 32;
constexpr int kTables = 4;  // rows in turn, so that rows of one cell need not wait for each other
constexpr Index kBytesOfShuffles = Index{32} << 20;
constexpr double kLeastVariance = 1e-18;  // bits^2; less is rounding

double x_lg_x(double x) { return x > 0 ? x * std::log2(x) : 0; }

/// Two columns of codes with the weight of each row.
struct WeightedRows {
    const std::uint8_t* code_i;
    const std::uint8_t* code_j;
    const double* weight;
    Index count;
    int q_i, q_j;
};

struct Information {
    double mi = 0, joint_entropy = 0, weight = 0;
};

/// Memory of one thread.
class Table {
public:
    Information operator()(const WeightedRows& rows, double pseudocount, int symbols) {
        const int cells = rows.q_i * rows.q_j;
        fill(rows, cells);
        std::array<double, kMostSymbols> of_i{}, of_j{};
        Information found;
        double joint = 0;
        for (int a = 0, cell = 0; a < rows.q_i; ++a) {
            for (int b = 0; b < rows.q_j; ++b, ++cell) {
                const double weight = cells_[0][cell];
                of_i[a] += weight;
                of_j[b] += weight;
                found.weight += weight;
                joint += x_lg_x(weight + pseudocount);
            }
        }
        const double q = symbols, line = pseudocount * q, total = found.weight + line * q;
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

    std::array<std::array<double, kMostSymbols * kMostSymbols>, kTables> cells_;
};

/// The options with their defaults filled in, checked.
struct WeightedProblem {
    const Columns& columns;
    WeightedOptions options;
    std::vector<double> weights;

    WeightedProblem(const Columns& all, const WeightedOptions& chosen)
        : columns(all), options(chosen) {
        const Index rows = columns.row_count();
        weights.assign(chosen.weights.begin(), chosen.weights.end());
        if (weights.empty()) weights.assign(rows, 1.0);
        check();
    }

    void check() const {
        if (static_cast<Index>(weights.size()) != columns.row_count())
            throw UsageError(fmt::format("weights: expected one a sequence, {}, found {}",
                                         columns.row_count(), weights.size()));
        for (const double weight : weights) {
            if (!(weight >= 0) || std::isinf(weight))
                throw UsageError(
                    fmt::format("weights: expected numbers of at least 0, found {}", weight));
        }
        if (!(options.pseudocount >= 0) || std::isinf(options.pseudocount))
            throw UsageError(fmt::format("pseudocount: expected a number of at least 0, found {}",
                                         options.pseudocount));
        if (options.pseudocount == 0) return;
        for (Index column = 0; column < columns.column_count(); ++column) {
            int present = 0;
            for (int code = 0; code < columns.symbol_count(column); ++code) {
                const Index symbol = columns.first_symbol[column] + code;
                present += (options.omitted & letter_set(columns.letters[symbol])) == 0;
            }
            if (present > options.symbols)
                throw UsageError(fmt::format(
                    "pseudocount: expected at most {} symbols a column, found {} in column {}",
                    options.symbols, present, column + 1));
        }
    }

    Information information(Table& table, const WeightedRows& rows) const {
        return table(rows, options.pseudocount, options.symbols);
    }
};

/// What a thread needs for the rows of a pair; reused from pair to pair.
struct Workspace {
    Table table;
    PairRows kept;
    std::vector<double> weights;
    std::vector<std::uint8_t> code_i, code_j;

    void take(const WeightedProblem& problem, Index i, Index j) {
        kept.take(problem.columns, i, j, problem.options.omitted);
        weights.clear();
        for (const Index row : kept.row) weights.push_back(problem.weights[row]);
    }
    WeightedRows rows(const std::uint8_t* codes_i, const std::uint8_t* codes_j) const {
        return {codes_i,
                codes_j,
                weights.data(),
                kept.count(),
                static_cast<int>(kept.margin_i.size()),
                static_cast<int>(kept.margin_j.size())};
    }
};

std::vector<std::unique_ptr<Workspace>> workspaces(int threads) {
    std::vector<std::unique_ptr<Workspace>> made;
    for (int thread = 0; thread < threads; ++thread) made.push_back(std::make_unique<Workspace>());
    return made;
}

/// Sums over the shuffles of one pair, of differences from the observed.
struct Sums {
    double first = 0, second = 0, third = 0;
    std::uint32_t less = 0, equal = 0;

    void add(double difference) {
        if (std::abs(difference) <= kEqualInformation) {
            ++equal;
            return;
        }
        less += difference < 0;
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
        found.variance = variance > kLeastVariance ? variance : 0;
        const double root = std::sqrt(found.variance);
        found.skewness = (third / n - mean * (3 * square - 2 * mean * mean)) / (root * root * root);
        found.z = -mean / root;
        if (found.variance == 0)
            found.skewness = found.z = std::numeric_limits<double>::quiet_NaN();
        found.percentile = less / n;
        found.p = (1 + n - less) / (1 + n);
        found.p_strict = (1 + n - less - equal) / (1 + n);
        return found;
    }
};

/// Adds blocks of shuffles to the sums of every pair.
class Sampler {
public:
    Sampler(const Columns& columns, const WeightedOptions& options,
            std::span<const double> observed, const Context& context)
        : problem_(columns, options),
          observed_(observed),
          seed_(context.seed),
          threads_(resolve_threads(context)),
          spaces_(workspaces(threads_)),
          sums_(observed.size()) {
        const Index bytes = std::max<Index>(1, columns.column_count() * columns.row_count());
        block_ = std::clamp<Index>(kBytesOfShuffles / bytes, 1, 64);
        if (options.omitted == 0)
            shuffled_ = Array<std::uint8_t, 3>(columns.column_count(), block_, columns.row_count());
    }

    Index block() const { return block_; }
    const std::vector<Sums>& sums() const { return sums_; }

    void add(Index first, Index count) {
        const Columns& columns = problem_.columns;
        if (problem_.options.omitted == 0) {
            parallel_for(threads_, columns.column_count(), [&](Index column, int) {
                for (Index shuffle = 0; shuffle < count; ++shuffle)
                    shuffle_into(columns.margin(column), first + shuffle, column,
                                 {&shuffled_(column, shuffle, 0),
                                  static_cast<std::size_t>(columns.row_count())});
            });
        }
        parallel_for(threads_, columns.column_count(), [&](Index i, int thread) {
            for (Index j = i + 1; j < columns.column_count(); ++j) {
                if (problem_.options.omitted == 0) {
                    add_whole(*spaces_[thread], i, j, count);
                } else {
                    add_kept(*spaces_[thread], i, j, first, count);
                }
            }
        });
    }

private:
    void shuffle_into(std::span<const Index> margin, Index shuffle, Index column,
                      std::span<std::uint8_t> codes) const {
        shuffle_column(margin, seed_, static_cast<std::uint32_t>(shuffle),
                       static_cast<std::uint32_t>(column), codes);
    }

    void add_whole(Workspace& space, Index i, Index j, Index count) {
        const Columns& columns = problem_.columns;
        const Index pair = pair_index(i, j, columns.column_count());
        for (Index shuffle = 0; shuffle < count; ++shuffle) {
            const WeightedRows rows{&shuffled_(i, shuffle, 0), &shuffled_(j, shuffle, 0),
                                    problem_.weights.data(),   columns.row_count(),
                                    columns.symbol_count(i),   columns.symbol_count(j)};
            sums_[pair].add(problem_.information(space.table, rows).mi - observed_[pair]);
        }
    }

    void add_kept(Workspace& space, Index i, Index j, Index first, Index count) {
        const Index pair = pair_index(i, j, problem_.columns.column_count());
        space.take(problem_, i, j);
        if (space.kept.count() == 0) {
            for (Index shuffle = 0; shuffle < count; ++shuffle) sums_[pair].add(0);
            return;
        }
        space.code_i.resize(space.kept.count());
        space.code_j.resize(space.kept.count());
        for (Index shuffle = first; shuffle < first + count; ++shuffle) {
            shuffle_into(space.kept.margin_i, shuffle, i, space.code_i);
            shuffle_into(space.kept.margin_j, shuffle, j, space.code_j);
            const WeightedRows rows = space.rows(space.code_i.data(), space.code_j.data());
            sums_[pair].add(problem_.information(space.table, rows).mi - observed_[pair]);
        }
    }

    WeightedProblem problem_;
    std::span<const double> observed_;
    std::uint64_t seed_;
    int threads_;
    std::vector<std::unique_ptr<Workspace>> spaces_;
    std::vector<Sums> sums_;
    Index block_;
    Array<std::uint8_t, 3> shuffled_;  // [column, shuffle of the block, row]
};

}  // namespace

WeightedPairs weighted_pairs(const Columns& columns, const WeightedOptions& options,
                             const Context& context) {
    const WeightedProblem problem(columns, options);
    const int threads = resolve_threads(context);
    const auto spaces = workspaces(threads);
    const Index pairs = pair_count(columns.column_count());
    WeightedPairs found{std::vector<double>(pairs), std::vector<double>(pairs),
                        std::vector<double>(pairs)};
    parallel_for(threads, columns.column_count(), [&](Index i, int thread) {
        Workspace& space = *spaces[thread];
        for (Index j = i + 1; j < columns.column_count(); ++j) {
            space.take(problem, i, j);
            const Information information = problem.information(
                space.table, space.rows(space.kept.code_i.data(), space.kept.code_j.data()));
            const Index pair = pair_index(i, j, columns.column_count());
            found.mi[pair] = information.mi;
            found.joint_entropy[pair] = information.joint_entropy;
            found.weight[pair] = information.weight;
        }
    });
    return found;
}

WeightedNull weighted_null(const Columns& columns, const WeightedOptions& options,
                           std::span<const double> observed, std::int64_t shuffles,
                           const Context& context) {
    if (shuffles < 1 || shuffles > std::numeric_limits<std::uint32_t>::max())
        throw UsageError(
            fmt::format("shuffles: expected a number from 1 to 2^32 - 1, found {}", shuffles));
    Sampler sampler(columns, options, observed, context);
    for (Index first = 0; first < shuffles; first += sampler.block()) {
        context.update("weighted shuffles", first, shuffles);
        if (context.cancelled()) throw Cancelled("stopped while shuffling weighted columns");
        sampler.add(first, std::min<Index>(sampler.block(), shuffles - first));
    }
    context.update("weighted shuffles", shuffles, shuffles);
    WeightedNull null;
    for (std::size_t pair = 0; pair < observed.size(); ++pair) {
        const Sums& sums = sampler.sums()[pair];
        null.sampled.push_back(sums.null(observed[pair], shuffles));
        null.less.push_back(sums.less);
        null.equal.push_back(sums.equal);
    }
    return null;
}

}  // namespace pleat::mutual_information
