// Tree pairs: the observed pairs, the same of every null alignment, and what p follows from them.
#include "pleat/mutual_information/tree/tree_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/mutual_information/pairs/pair_run.h"
#include "pleat/phylogeny/alignment_null.h"
#include "pleat/phylogeny/tree_null.h"
#include "pleat/weights/weights.h"

namespace pleat::mutual_information {

namespace {

using Letters = View<const std::uint8_t, 2>;

double x_ln_x(std::uint32_t x) {
    return x > 0 ? static_cast<double>(x) * std::log(static_cast<double>(x)) : 0;
}

/// Two columns over the rows where both have a residue.
struct ResiduePair {
    double mi = 0, joint_entropy = 0;  ///< bits; 0 without such rows
    double g = 0;                      ///< 2 W MI, nats, W: the sum of these rows' weights
};

/// Counts pairs of columns with weights that were rounded to integers, so that sums do not depend
/// on their order. Letters are [column, row], `states` where there is no residue.
class ResidueCounter {
public:
    /// `weights` of at least 0, one per row; at most 2^30 rows.
    ResidueCounter(std::span<const double> weights, int states);

    /// Calls `use(pair, found)` for every pair i < j in lexicographic order. Thread-safe.
    template <class Use>
    void for_each_pair(Letters letters, Use use) const;

private:
    ResiduePair evaluate(std::span<const std::uint32_t> table) const;

    std::vector<std::uint32_t> weights_;
    double scale_ = 1;
    std::size_t symbols_;  ///< states and the missing one
};

ResidueCounter::ResidueCounter(std::span<const double> weights, int states)
    : symbols_(static_cast<std::size_t>(states) + 1) {
    // The largest power of two, at most 2^16, with which the sum of all weights fits 31 bits.
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    scale_ = std::min(65536.0, std::exp2(std::floor(std::log2(2147483648.0 / (2 * sum)))));
    for (const double weight : weights)
        weights_.push_back(static_cast<std::uint32_t>(std::lround(weight * scale_)));
}

ResiduePair ResidueCounter::evaluate(std::span<const std::uint32_t> table) const {
    const std::size_t states = symbols_ - 1;
    std::array<std::uint32_t, 32> of_j{};
    double cells = 0, margins = 0;
    std::uint32_t total = 0;
    for (std::size_t a = 0; a < states; ++a) {
        std::uint32_t of_i = 0;
        for (std::size_t b = 0; b < states; ++b) {
            const std::uint32_t count = table[a * symbols_ + b];
            of_i += count;
            of_j[b] += count;
            cells += x_ln_x(count);
        }
        margins += x_ln_x(of_i);
        total += of_i;
    }
    if (total == 0) return {};
    for (std::size_t b = 0; b < states; ++b) margins += x_ln_x(of_j[b]);
    const double all = static_cast<double>(total);
    const double information = std::max(0.0, cells - margins + x_ln_x(total));
    return {.mi = information / all / std::numbers::ln2,
            .joint_entropy = std::max(0.0, std::log(all) - cells / all) / std::numbers::ln2,
            .g = 2 * information / scale_};
}

template <class Use>
void ResidueCounter::for_each_pair(Letters letters, Use use) const {
    // Copies of the table, filled in turn: two rows of one cell do not wait for each other.
    constexpr std::size_t kTables = 4;
    const std::size_t size = symbols_ * symbols_, rows = weights_.size();
    std::vector<std::uint32_t> tables(kTables * size);
    std::vector<std::uint16_t> first(rows);
    const std::uint32_t* const weight = weights_.data();
    Index pair = 0;
    for (Index i = 0; i < letters.extent(0); ++i) {
        const std::uint8_t* const of_i = &letters(i, 0);
        for (std::size_t row = 0; row < rows; ++row)
            first[row] = static_cast<std::uint16_t>(of_i[row] * symbols_);
        for (Index j = i + 1; j < letters.extent(0); ++j, ++pair) {
            const std::uint8_t* const of_j = &letters(j, 0);
            std::fill(tables.begin(), tables.end(), 0);
            std::size_t row = 0;
            for (; row + kTables <= rows; row += kTables)
                for (std::size_t table = 0; table < kTables; ++table)
                    tables[table * size + first[row + table] + of_j[row + table]] +=
                        weight[row + table];
            for (; row < rows; ++row) tables[first[row] + of_j[row]] += weight[row];
            for (std::size_t table = 1; table < kTables; ++table)
                for (std::size_t cell = 0; cell < size; ++cell)
                    tables[cell] += tables[table * size + cell];
            use(pair, evaluate({tables.data(), size}));
        }
    }
}

bool has_apc(PairScore score) { return score == PairScore::gtp || score == PairScore::mip; }

bool is_g(PairScore score) { return score == PairScore::gtp || score == PairScore::gt; }

std::vector<double> weights_of(const Alignment& alignment, const Parameters& parameters,
                               const Context& context) {
    switch (parameters.tree_weights) {
        case TreeWeights::position:
            return phylogeny::position_weights(alignment.letters,
                                               phylogeny::state_count(alignment));
        case TreeWeights::identity:
            return weights::sequence_weights(alignment.letters, parameters.identity, context);
        case TreeWeights::none: break;
    }
    return {};
}

void set_pair_rows(Letters letters, int states, Result& result) {
    const Index columns = letters.extent(0), rows = letters.extent(1);
    for (Index i = 0; i < columns; ++i)
        for (Index j = i + 1; j < columns; ++j) {
            Index count = 0;
            for (Index row = 0; row < rows; ++row)
                count += letters(i, row) < states && letters(j, row) < states;
            result.pair_rows.push_back(count);
        }
}

phylogeny::PairScores scores_of(const ResidueCounter& counter, Letters letters, PairScore which) {
    const Index columns = letters.extent(0);
    phylogeny::PairScores scores{
        std::vector<double>(static_cast<std::size_t>(pair_count(columns)))};
    counter.for_each_pair(letters, [&](Index pair, const ResiduePair& found) {
        const double value = is_g(which) ? found.g : found.mi;
        scores.values[static_cast<std::size_t>(pair)] = value;
        scores.mean += value;
    });
    scores.mean /= static_cast<double>(scores.values.size());
    if (has_apc(which)) scores.values = product_corrected(scores.values, columns);
    return scores;
}

}  // namespace

void check_tree_options(const Parameters& p) {
    const auto refuse = [](bool is_wrong, const char* text) {
        if (is_wrong) throw UsageError(text);
    };
    if (!p.has_tree()) {
        refuse(!p.tree.file.empty() || p.tree.write_null,
               "give --null tree with --tree or --write-null, which belong to it");
        return;
    }
    refuse(p.order > 2, "give --order 2: --null tree compares pairs only");
    refuse(p.shuffles.has_value(),
           "give --null-alignments instead of --shuffles: --null tree shuffles nothing");
    refuse(p.sequence_weights,
           "give --tree-weights identity instead of --sequence-weights with --null tree");
    refuse(p.min_z.has_value(), "give no --min-z: --null tree ranks by its statistic, and has E");
    refuse(p.pseudocount > 0, "give no --pseudocount: --null tree counts without");
}

void run_tree_pairs(const Alignment& alignment, const Parameters& parameters,
                    const Context& context, Result& result) {
    if (context.device.kind != Device::Kind::cpu)
        throw UsageError("give --device cpu or auto: only the CPU compares with --null tree");
    if (alignment.column_count() < 3 && has_apc(parameters.statistic))
        throw UsageError(
            "give --statistic gt or mi: the average product correction (gtp, mip) needs 3 columns");
    TreeResult& tree = result.tree.emplace();
    const phylogeny::TreeNull null =
        phylogeny::make_null(alignment, parameters.tree, context, tree);
    const int states = null.states();
    result.weights = weights_of(alignment, parameters, context);
    result.effective_sequences = weights::effective_count(result.weights);
    const std::vector<double> ones(static_cast<std::size_t>(alignment.sequence_count()), 1.0);
    const ResidueCounter counter(result.weights.empty() ? ones : result.weights, states);

    const Array<std::uint8_t, 2> letters = phylogeny::transposed_letters(alignment, states);
    set_pair_rows(letters, states, result);
    counter.for_each_pair(letters, [&](Index, const ResiduePair& found) {
        result.pairs.mi.push_back(found.mi);
        result.pairs.joint_entropy.push_back(found.joint_entropy);
    });
    correct(alignment.column_count(), result.pairs);
    const auto score = [&](Letters of) { return scores_of(counter, of, parameters.statistic); };
    phylogeny::compare(
        null, alignment, parameters.tree, score(letters), score, resolve_threads(context),
        phylogeny::block_of_nulls(std::ssize(result.pairs.mi), resolve_threads(context)), context,
        tree);
}

double tree_null_seconds(Index rows, Index columns, const Parameters& parameters) {
    const auto pairs = static_cast<double>(pair_count(columns));
    return static_cast<double>(parameters.tree.alignments) *
           (pairs * (0.3e-6 + 1.2e-9 * static_cast<double>(rows)) +
            20e-9 * static_cast<double>(rows * columns));
}

std::int64_t tree_null_bytes(Index rows, Index columns, int symbols, const Context& context) {
    const int threads = resolve_threads(context);
    const Index pairs = pair_count(columns);
    return phylogeny::null_bytes(rows, columns, symbols, threads) +
           8 * pairs * (phylogeny::block_of_nulls(pairs, threads) + 10);
}

}  // namespace pleat::mutual_information
