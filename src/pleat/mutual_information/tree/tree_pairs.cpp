// Tree pairs: the observed pairs, the same of every null alignment, and what p follows from them.
#include "pleat/mutual_information/tree/tree_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/mutual_information/pairs/pair_run.h"
#include "pleat/mutual_information/tree/residue_pairs.h"
#include "pleat/phylogeny/alignment_null.h"
#include "pleat/phylogeny/tree_null.h"
#include "pleat/weights/weights.h"

namespace pleat::mutual_information {

namespace {

using Letters = View<const std::uint8_t, 2>;

/// Counts pairs of columns on the CPU. Letters are [column, row], `states` where there is no
/// residue.
class ResidueCounter final : public ResidueScorer {
public:
    explicit ResidueCounter(const ResidueScoring& scoring)
        : scoring_(scoring), symbols_(static_cast<std::size_t>(scoring.states) + 1) {}

    /// Calls `use(pair, found)` for every pair i < j in lexicographic order. Thread-safe.
    template <class Use>
    void for_each_pair(Letters letters, Use use) const;

    void score(Letters letters, int, std::span<double> to) override {
        for_each_pair(letters, [&](Index pair, const ResiduePair& found) {
            to[static_cast<std::size_t>(pair)] = residue_score(found, scoring_.is_g);
        });
    }

private:
    ResidueScoring scoring_;
    std::size_t symbols_;  ///< states and the missing one
};

template <class Use>
void ResidueCounter::for_each_pair(Letters letters, Use use) const {
    // Copies of the table, filled in turn: two rows of one cell do not wait for each other.
    constexpr std::size_t kTables = 4;
    const std::size_t size = symbols_ * symbols_, rows = scoring_.weights.weights.size();
    std::vector<std::uint32_t> tables(kTables * size);
    std::vector<std::uint16_t> first(rows);
    const std::uint32_t* const weight = scoring_.weights.weights.data();
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
            const auto cell = [&](int a, int b) {
                return tables[static_cast<std::size_t>(a) * symbols_ + static_cast<std::size_t>(b)];
            };
            use(pair, residue_pair(cell, scoring_.states, scoring_.weights.scale));
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

phylogeny::PairScores scores_of(ResidueScorer& scorer, Letters letters, int thread,
                                PairScore which) {
    const Index columns = letters.extent(0);
    phylogeny::PairScores scores{
        std::vector<double>(static_cast<std::size_t>(pair_count(columns)))};
    scorer.score(letters, thread, scores.values);
    for (const double value : scores.values) scores.mean += value;
    scores.mean /= static_cast<double>(scores.values.size());
    if (has_apc(which)) scores.values = product_corrected(scores.values, columns);
    return scores;
}

}  // namespace

IntegerWeights::IntegerWeights(std::span<const double> from) {
    // The largest power of two, at most 2^16, with which the sum of all weights fits 31 bits.
    const double sum = std::accumulate(from.begin(), from.end(), 0.0);
    scale = std::min(65536.0, std::exp2(std::floor(std::log2(2147483648.0 / (2 * sum)))));
    for (const double weight : from)
        weights.push_back(static_cast<std::uint32_t>(std::lround(weight * scale)));
}

std::unique_ptr<ResidueScorer> make_scorer(const ResidueScoring& scoring, int threads,
                                           const Context& context) {
    if (context.device.kind == Device::Kind::cuda)
        return make_cuda_scorer(scoring, threads, context);
    return std::make_unique<ResidueCounter>(scoring);
}

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
    const ResidueScoring scoring{IntegerWeights(result.weights.empty() ? ones : result.weights),
                                 states, is_g(parameters.statistic)};
    const Array<std::uint8_t, 2> letters = phylogeny::transposed_letters(alignment, states);
    set_pair_rows(letters, states, result);
    ResidueCounter(scoring).for_each_pair(letters, [&](Index, const ResiduePair& found) {
        result.pairs.mi.push_back(found.mi);
        result.pairs.joint_entropy.push_back(found.joint_entropy);
    });
    correct(alignment.column_count(), result.pairs);
    const int threads = resolve_threads(context);
    const std::unique_ptr<ResidueScorer> scorer = make_scorer(scoring, threads, context);
    const auto score = [&](Letters of, int thread) {
        return scores_of(*scorer, of, thread, parameters.statistic);
    };
    phylogeny::compare(null, alignment, parameters.tree, score(letters, 0), score, threads,
                       phylogeny::block_of_nulls(std::ssize(result.pairs.mi), threads), context,
                       tree);
}

double tree_null_seconds(Index rows, Index columns, bool has_gpu, const Parameters& parameters) {
    const auto pairs = static_cast<double>(pair_count(columns));
    const double of_pair = has_gpu ? 0.1e-6 : 0.3e-6 + 1.2e-9 * static_cast<double>(rows);
    return static_cast<double>(parameters.tree.alignments) *
           (pairs * of_pair + 20e-9 * static_cast<double>(rows * columns));
}

double tree_gpu_seconds(Index rows, Index columns, const Parameters& parameters) {
    return static_cast<double>(parameters.tree.alignments) *
           (50e-6 + 1e-12 * static_cast<double>(rows * pair_count(columns)));
}

std::int64_t tree_gpu_bytes(Index rows, Index columns, int threads) {
    return threads * (columns * (rows + 16) + 8 * pair_count(columns)) + (std::int64_t{256} << 20);
}

std::int64_t tree_null_bytes(Index rows, Index columns, int symbols, const Context& context) {
    const int threads = resolve_threads(context);
    const Index pairs = pair_count(columns);
    return phylogeny::null_bytes(rows, columns, symbols, threads) +
           8 * pairs * (phylogeny::block_of_nulls(pairs, threads) + 10 + 3 * threads);
}

}  // namespace pleat::mutual_information
