// Alignment null: checks of the alignment, its tree, the scores of null alignments, and p.
#include "pleat/phylogeny/alignment_null.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/phylogeny/score_tail.h"
#include "pleat/phylogeny/tree.h"

namespace pleat::phylogeny {

namespace {

constexpr Index kMinRows = 20;
constexpr const char* kStage = "null alignments";
/// Scores of null alignments that are kept until their turn comes.
constexpr std::int64_t kScoreBytes = std::int64_t{64} << 20;
/// Fraction of the pairs that are not significant with a smaller p than kSmallP: 0.006 to 0.011 of
/// alignments that evolved along their tree, above 0.04 in 2 of 45 families of RNA, and 0.046 to
/// 0.099 with wrong trees (mutual_information/tree/README.md).
constexpr double kSmallP = 0.01, kMaxShare = 0.04;
constexpr double kMinSmall = 10;  ///< fewer pairs can be so many by chance

void check_rows(const Alignment& alignment, const TreeOptions& options) {
    const std::string source = alignment.source.string();
    const Index rows = alignment.sequence_count();
    if (rows < kMinRows)
        throw InputError(fmt::format("{}: expected at least {} sequences for --null tree, found {}",
                                     source, kMinRows, rows));
    if (rows > kMaxUpgmaRows && options.file.empty())
        throw UsageError(fmt::format(
            "give --tree, or representatives of the sequences: {} has {} sequences, and --null "
            "tree makes a tree of at most {} itself",
            source, rows, kMaxUpgmaRows));
    check_names(alignment.names, source);
    const int states = state_count(alignment);
    for (Index column = 0; column < alignment.column_count(); ++column) {
        Index row = 0;
        while (row < rows && alignment.letters(row, column) >= states) ++row;
        if (row == rows)
            throw InputError(
                fmt::format("{}: expected residues in every column for --null tree, found only "
                            "gaps and unknown "
                            "letters in column {}: leave it out (--max-gaps does with gaps)",
                            source, alignment.columns[column] + 1));
    }
}

/// The null alignment in FASTA, with the gaps and unknown letters of the alignment.
std::string fasta_text(const Alignment& alignment, View<const std::uint8_t, 2> letters,
                       int states) {
    std::string text;
    const Alphabet& alphabet = *alignment.alphabet;
    for (Index row = 0; row < alignment.sequence_count(); ++row) {
        std::string line;
        for (Index column = 0; column < alignment.column_count(); ++column) {
            const std::uint8_t state = letters(column, row);
            line += alphabet.letter(state < states ? state : alignment.letters(row, column));
        }
        std::string name = alignment.names[row];
        std::ranges::replace(name, ' ', '_');  // readers take the first word
        text += fmt::format(">{}\n{}\n", name, line);
    }
    return text;
}

/// The fraction of the pairs that are not significant whose p is below kSmallP, and a warning if it
/// is far above that.
double small_p(const TreeResult& result, const Context& context) {
    double others = 0, small = 0;
    for (std::size_t pair = 0; pair < result.p.size(); ++pair) {
        if (result.e[pair] < kSignificantE) continue;
        ++others;
        small += result.p[pair] < kSmallP;
    }
    const double share = others > 0 ? small / others : 0;
    if (small >= kMinSmall && share > kMaxShare)
        context.note(
            {.kind = NoteKind::assumption,
             .text = fmt::format("{:.1f} % of the pairs that are not significant have a tree_p "
                                 "below {}, instead of about 1 %: many more pairs covary weakly, "
                                 "or the tree does not fit and E is too small",
                                 100 * share, kSmallP),
             .option = {},
             .is_warning = true});
    return share;
}

}  // namespace

std::vector<Field> fields(TreeOptions& options) {
    return {{.name = "tree",
             .target = &options.file,
             .help = "With --null tree: the tree of the sequences, a Newick file whose leaves have "
                     "their names; by default UPGMA on identities, up to 10000 sequences",
             .value_name = "FILE"},
            {.name = "tree-null",
             .target = &options.kind,
             .help = "With --null tree: each column keeps its own rate and composition (markov), "
                     "or each branch its substitutions, on random columns (branch, as R-scape), "
                     "which finds more pairs, also false ones where rates of columns differ"},
            {.name = "null-alignments",
             .target = &options.alignments,
             .help = "With --null tree: number of null alignments",
             .min = 100,
             .max = 1e6},
            {.name = "tail-mass",
             .target = &options.tail_mass,
             .help = "With --null tree: fraction of the largest null scores to which the gamma "
                     "tail of p is fitted",
             .min = 0,
             .max = 0.5,
             .min_excluded = true},
            {.name = "write-null",
             .target = &options.write_null,
             .help = "With --null tree: write the first null alignment, null.fasta"}};
}

int state_count(const Alignment& alignment) {
    return alignment.alphabet->without_unknown().size() - 1;
}

Index block_of_nulls(Index pairs, int threads) {
    return std::max<Index>(threads,
                           std::min<Index>(256, kScoreBytes / (8 * std::max<Index>(pairs, 1))));
}

std::int64_t null_bytes(Index rows, Index columns, int symbols, int threads) {
    const Index nodes = 2 * rows;
    const Index draw = 2 * nodes * columns + rows * columns + 4 * columns * symbols * (symbols + 2);
    return (rows <= kMaxUpgmaRows ? 2 * rows * rows : 0) + 4 * nodes * columns + threads * draw;
}

Array<std::uint8_t, 2> transposed_letters(const Alignment& alignment, int states) {
    Array<std::uint8_t, 2> letters(alignment.column_count(), alignment.sequence_count());
    for (Index row = 0; row < alignment.sequence_count(); ++row)
        for (Index column = 0; column < alignment.column_count(); ++column)
            letters(column, row) =
                static_cast<std::uint8_t>(std::min<int>(alignment.letters(row, column), states));
    return letters;
}

TreeNull make_null(const Alignment& alignment, const TreeOptions& options, const Context& context,
                   TreeResult& result) {
    check_rows(alignment, options);
    const int states = state_count(alignment);
    Tree tree;
    result.mean_identity = std::numeric_limits<double>::quiet_NaN();
    if (alignment.sequence_count() <= kMaxUpgmaRows) {
        std::vector<float> found = identities(alignment.letters, states, resolve_threads(context));
        result.mean_identity = mean_identity(found);
        if (options.file.empty()) tree = upgma(std::move(found), alignment.names, context);
    }
    if (!options.file.empty()) {
        tree = read_newick(options.file);
        match_rows(tree, alignment.names, options.file);
    }
    result.newick = to_newick(tree);
    TreeNull null(std::move(tree), alignment.letters, states);
    result.substitutions = null.substitutions();
    if (std::accumulate(result.substitutions.begin(), result.substitutions.end(), Index{0}) == 0)
        throw InputError(fmt::format(
            "{}: expected substitutions for --null tree, found none: all residues of each column "
            "are equal",
            alignment.source.string()));
    TreeDraw draw;
    null.draw(options.kind, context.seed, 0, draw);
    Tree changes = null.tree();
    changes.length.assign(draw.branch_changes.begin(), draw.branch_changes.end());
    result.substitution_newick = to_newick(changes);
    return null;
}

void compare(const TreeNull& null, const Alignment& alignment, const TreeOptions& options,
             PairScores observed, const ScoreLetters& score, int threads, Index block,
             const Context& context, TreeResult& result) {
    result.score = std::move(observed.values);
    const auto pairs = static_cast<Index>(result.score.size());
    const Index nulls = options.alignments;
    const auto share = 1 / static_cast<double>(nulls);
    std::vector<ScorePool> pools(static_cast<std::size_t>(threads),
                                 ScorePool(result.score, nulls, options.tail_mass));
    std::vector<TreeDraw> draws(static_cast<std::size_t>(threads));
    std::vector<PairScores> scores(static_cast<std::size_t>(block));
    std::vector<Index> dropped(static_cast<std::size_t>(block));
    result.mean.assign(result.score.size(), 0);
    double mean = 0;
    for_each_block(context, kStage, nulls, block, [&](Index first, Index count) {
        parallel_for_chunks(
            context, kStage, threads, count, 8 * threads, [&](Index at, int thread) {
                TreeDraw& draw = draws[static_cast<std::size_t>(thread)];
                null.draw(options.kind, context.seed, first + at, draw);
                PairScores& of = scores[static_cast<std::size_t>(at)];
                of = score(draw.letters, thread);
                pools[static_cast<std::size_t>(thread)].add(of.values);
                dropped[static_cast<std::size_t>(at)] = draw.dropped;
                if (first + at == 0 && options.write_null)
                    result.null_fasta = fasta_text(alignment, draw.letters, null.states());
            });
        for (Index at = 0; at < count; ++at) {
            const PairScores& of = scores[static_cast<std::size_t>(at)];
            for (std::size_t pair = 0; pair < of.values.size(); ++pair)
                result.mean[pair] += of.values[pair] * share;
            mean += of.mean * share;
            result.dropped += static_cast<double>(dropped[static_cast<std::size_t>(at)]) * share;
        }
    });
    ScorePool& pool = pools.front();
    for (const ScorePool& other : std::span(pools).subspan(1)) pool.merge(other);
    const ScoreTail tail = pool.fit();
    result.p = pool.p(tail);
    for (std::size_t pair = 0; pair < result.p.size(); ++pair) {
        result.e.push_back(result.p[pair] * static_cast<double>(pairs));
        result.extrapolated.push_back(tail.shape > 0 && result.score[pair] > tail.max);
    }
    result.null_alignments = nulls;
    result.mean_ratio = observed.mean > 0 ? mean / observed.mean : 1;
    result.tail_threshold = tail.threshold;
    result.tail_shape = tail.shape;
    result.tail_scale = tail.scale;
    result.small_p = small_p(result, context);
}

}  // namespace pleat::phylogeny
