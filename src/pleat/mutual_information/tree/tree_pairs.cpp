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
#include "pleat/core/files/output_file.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/mutual_information/pairs/pair_run.h"
#include "pleat/phylogeny/score_tail.h"
#include "pleat/phylogeny/tree.h"
#include "pleat/phylogeny/tree_null.h"
#include "pleat/weights/weights.h"

namespace pleat::mutual_information {

namespace {

constexpr Index kMinRows = 20;
constexpr const char* kStage = "null alignments";
/// Scores of null alignments that are kept until their turn comes.
constexpr std::int64_t kScoreBytes = std::int64_t{64} << 20;
/// Outside this range the null alignments do not resemble the alignment.
constexpr double kMinRatio = 0.8, kMaxRatio = 1.25;

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

/// Null alignments whose scores are computed before they are added up.
Index block_size(Index pairs, int threads) {
    return std::max<Index>(threads,
                           std::min<Index>(256, kScoreBytes / (8 * std::max<Index>(pairs, 1))));
}

int state_count(const Alignment& alignment) {
    return alignment.alphabet->without_unknown().size() - 1;
}

std::vector<double> weights_of(const Alignment& alignment, const Parameters& parameters,
                               const Context& context) {
    switch (parameters.tree_weights) {
        case TreeWeights::position:
            return phylogeny::position_weights(alignment.letters, state_count(alignment));
        case TreeWeights::identity:
            return weights::sequence_weights(alignment.letters, parameters.identity, context);
        case TreeWeights::none: break;
    }
    return {};
}

void check_rows(const Alignment& alignment, const Parameters& parameters) {
    const std::string source = alignment.source.string();
    const Index rows = alignment.sequence_count();
    if (rows < kMinRows)
        throw InputError(fmt::format("{}: expected at least {} sequences for --null tree, found {}",
                                     source, kMinRows, rows));
    if (rows > phylogeny::kMaxUpgmaRows && parameters.tree.empty())
        throw UsageError(fmt::format(
            "give --tree, or representatives of the sequences: {} has {} sequences, and --null "
            "tree makes a tree of at most {} itself",
            source, rows, phylogeny::kMaxUpgmaRows));
    phylogeny::check_names(alignment.names, source);
    const int states = state_count(alignment);
    for (Index column = 0; column < alignment.column_count(); ++column) {
        Index row = 0;
        while (row < rows && alignment.letters(row, column) >= states) ++row;
        if (row == rows)
            throw InputError(fmt::format(
                "{}: expected residues in every column for --null tree, found none in column {} "
                "(--max-gaps leaves it out)",
                source, alignment.columns[static_cast<std::size_t>(column)] + 1));
    }
}

/// The tree of the sequences; sets the mean identity where it is known.
phylogeny::TreeNull make_null(const Alignment& alignment, const Parameters& parameters,
                              const Context& context, TreeResult& result) {
    const int states = state_count(alignment);
    phylogeny::Tree tree;
    if (alignment.sequence_count() <= phylogeny::kMaxUpgmaRows) {
        std::vector<float> identities =
            phylogeny::identities(alignment.letters, states, resolve_threads(context));
        result.mean_identity = phylogeny::mean_identity(identities);
        if (parameters.tree.empty())
            tree = phylogeny::upgma(std::move(identities), alignment.names, context);
    }
    if (!parameters.tree.empty()) {
        tree = phylogeny::read_newick(parameters.tree);
        phylogeny::match_rows(tree, alignment.names, parameters.tree);
    }
    result.newick = to_newick(tree);
    phylogeny::TreeNull null(std::move(tree), alignment.letters, states);
    result.substitutions = null.substitutions();
    if (std::accumulate(result.substitutions.begin(), result.substitutions.end(), Index{0}) == 0)
        throw InputError(fmt::format(
            "{}: expected substitutions for --null tree, found none: all residues of each column "
            "are equal",
            alignment.source.string()));
    return null;
}

/// The letters of the alignment as [column, row], `states` where there is no residue.
Array<std::uint8_t, 2> transposed(const Alignment& alignment, int states) {
    Array<std::uint8_t, 2> letters(alignment.column_count(), alignment.sequence_count());
    for (Index row = 0; row < alignment.sequence_count(); ++row)
        for (Index column = 0; column < alignment.column_count(); ++column)
            letters(column, row) =
                static_cast<std::uint8_t>(std::min<int>(alignment.letters(row, column), states));
    return letters;
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

/// The null alignment in FASTA, with the gaps and unknown letters of the alignment.
void write_alignment(const std::string& path, const Alignment& alignment, Letters letters,
                     int states) {
    OutputFile file(path);
    const Alphabet& alphabet = *alignment.alphabet;
    for (Index row = 0; row < alignment.sequence_count(); ++row) {
        std::string line;
        for (Index column = 0; column < alignment.column_count(); ++column) {
            const std::uint8_t state = letters(column, row);
            line += alphabet.letter(state < states ? state : alignment.letters(row, column));
        }
        file.write(fmt::format(">{}\n{}\n", alignment.names[static_cast<std::size_t>(row)], line));
    }
    file.close();
}

/// The scores of one alignment, and their mean before APC.
struct Scores {
    std::vector<double> values;
    double mean = 0;
};

Scores scores_of(const ResidueCounter& counter, Letters letters, PairScore which) {
    const Index columns = letters.extent(0);
    Scores scores{std::vector<double>(static_cast<std::size_t>(pair_count(columns)))};
    counter.for_each_pair(letters, [&](Index pair, const ResiduePair& found) {
        const double value = is_g(which) ? found.g : found.mi;
        scores.values[static_cast<std::size_t>(pair)] = value;
        scores.mean += value;
    });
    scores.mean /= static_cast<double>(scores.values.size());
    if (has_apc(which)) scores.values = product_corrected(scores.values, columns);
    return scores;
}

/// Draws and scores all null alignments; sets what follows from them.
void compare(const phylogeny::TreeNull& null, const ResidueCounter& counter,
             const Alignment& alignment, const Parameters& parameters, const Context& context,
             double observed_mean, TreeResult& result) {
    const auto pairs = static_cast<Index>(result.score.size());
    const Index nulls = parameters.null_alignments;
    const int threads = resolve_threads(context);
    const Index block = block_size(pairs, threads);
    phylogeny::ScorePool pool(result.score, nulls, parameters.tail_mass);
    std::vector<phylogeny::TreeDraw> draws(static_cast<std::size_t>(threads));
    std::vector<Scores> scores(static_cast<std::size_t>(block));
    std::vector<Index> dropped(static_cast<std::size_t>(block));
    result.mean.assign(result.score.size(), 0);
    double mean = 0;
    for_each_block(context, kStage, nulls, block, [&](Index first, Index count) {
        parallel_for_chunks(
            context, kStage, threads, count, 8 * threads, [&](Index at, int thread) {
                phylogeny::TreeDraw& draw = draws[static_cast<std::size_t>(thread)];
                null.draw(parameters.tree_null, context.seed, first + at, draw);
                scores[static_cast<std::size_t>(at)] =
                    scores_of(counter, draw.letters, parameters.statistic);
                dropped[static_cast<std::size_t>(at)] = draw.dropped;
                if (first + at == 0 && !parameters.write_null.empty() && context.rank() == 0)
                    write_alignment(parameters.write_null, alignment, draw.letters, null.states());
            });
        for (Index at = 0; at < count; ++at) {
            const Scores& of = scores[static_cast<std::size_t>(at)];
            pool.add(of.values);
            for (std::size_t pair = 0; pair < of.values.size(); ++pair)
                result.mean[pair] += of.values[pair] / static_cast<double>(nulls);
            mean += of.mean / static_cast<double>(nulls);
            result.dropped += static_cast<double>(dropped[static_cast<std::size_t>(at)]) /
                              static_cast<double>(nulls);
        }
    });
    const phylogeny::ScoreTail tail = pool.fit();
    result.p = pool.p(tail);
    for (std::size_t pair = 0; pair < result.p.size(); ++pair) {
        result.e.push_back(result.p[pair] * static_cast<double>(pairs));
        result.extrapolated.push_back(result.score[pair] > tail.max);
    }
    result.null_alignments = nulls;
    result.mean_ratio = observed_mean > 0 ? mean / observed_mean : 1;
    result.tail_threshold = tail.threshold;
    result.tail_shape = tail.shape;
    result.tail_scale = tail.scale;
}

void warn_of_ratio(const TreeResult& result, const Context& context) {
    if (result.mean_ratio >= kMinRatio && result.mean_ratio <= kMaxRatio) return;
    context.note({.kind = NoteKind::assumption,
                  .text = fmt::format(
                      "the mean statistic of the null alignments is {:.2f} of the alignment's, "
                      "outside {} to {}: {}",
                      result.mean_ratio, kMinRatio, kMaxRatio,
                      result.mean_ratio < 1 ? "many pairs covary, or the tree does not fit"
                                            : "E may be too large, or the tree does not fit"),
                  .option = {},
                  .is_warning = true});
}

}  // namespace

void check_tree_options(const Parameters& p) {
    const auto refuse = [](bool is_wrong, const char* text) {
        if (is_wrong) throw UsageError(text);
    };
    if (!p.has_tree()) {
        refuse(!p.tree.empty() || !p.write_null.empty(),
               "give --null tree with --tree or --write-null, which belong to it");
        return;
    }
    refuse(p.order > 2, "give --order 2: --null tree compares pairs only");
    refuse(p.shuffles.has_value(),
           "give --null-alignments instead of --shuffles: --null tree shuffles nothing");
    refuse(p.sequence_weights,
           "give --tree-weights identity instead of --sequence-weights with --null tree");
    refuse(p.pseudocount > 0, "give no --pseudocount: --null tree counts without");
}

void run_tree_pairs(const Alignment& alignment, const Parameters& parameters,
                    const Context& context, Result& result) {
    if (context.device.kind != Device::Kind::cpu)
        throw UsageError("give --device cpu or auto: only the CPU compares with --null tree");
    check_rows(alignment, parameters);
    TreeResult& tree = result.tree.emplace();
    const phylogeny::TreeNull null = make_null(alignment, parameters, context, tree);
    const int states = null.states();
    result.weights = weights_of(alignment, parameters, context);
    result.effective_sequences = weights::effective_count(result.weights);
    const std::vector<double> ones(static_cast<std::size_t>(alignment.sequence_count()), 1.0);
    const ResidueCounter counter(result.weights.empty() ? ones : result.weights, states);

    const Array<std::uint8_t, 2> letters = transposed(alignment, states);
    set_pair_rows(letters, states, result);
    counter.for_each_pair(letters, [&](Index, const ResiduePair& found) {
        result.pairs.mi.push_back(found.mi);
        result.pairs.joint_entropy.push_back(found.joint_entropy);
    });
    correct(alignment.column_count(), result.pairs);
    Scores observed = scores_of(counter, letters, parameters.statistic);
    tree.score = std::move(observed.values);
    compare(null, counter, alignment, parameters, context, observed.mean, tree);
    warn_of_ratio(tree, context);
}

double tree_null_seconds(Index rows, Index columns, const Parameters& parameters) {
    const auto pairs = static_cast<double>(pair_count(columns));
    return static_cast<double>(parameters.null_alignments) *
           (pairs * (0.3e-6 + 1.2e-9 * static_cast<double>(rows)) +
            20e-9 * static_cast<double>(rows * columns));
}

std::int64_t tree_null_bytes(Index rows, Index columns, int symbols, const Context& context) {
    const int threads = resolve_threads(context);
    const Index pairs = pair_count(columns), nodes = 2 * rows;
    const Index draw = 2 * nodes * columns + rows * columns + 4 * columns * symbols * (symbols + 2);
    return 4 * rows * rows / 2 + 4 * nodes * columns + threads * draw +
           8 * pairs * (block_size(pairs, threads) + 10);
}

}  // namespace pleat::mutual_information
