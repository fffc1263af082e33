// Tests of the tree null of pairs: counts by definition, threads, planted pairs, and bad input.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <random>

#include "pleat/core/error.h"
#include "pleat/core/tests/cuda_absence.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {
namespace {

/// Rows that descend from each other with a change in some columns; columns 0 and 1 always pair.
Alignment descendants(Index rows, Index columns, unsigned seed = 1) {
    std::mt19937 random(seed);
    Alignment alignment;
    alignment.alphabet = &Alphabet::rna().with_unknown();
    alignment.source = "made.sto";
    alignment.letters = Array<std::uint8_t, 2>(rows, columns);
    for (Index row = 0; row < rows; ++row) {
        alignment.names.push_back("r" + std::to_string(row));
        const Index parent = row == 0 ? 0 : static_cast<Index>(random() % row);
        for (Index column = 0; column < columns; ++column) {
            std::uint8_t& letter = alignment.letters(row, column);
            letter = row == 0 ? random() % 4 : alignment.letters(parent, column);
            if (random() % 8 == 0) letter = static_cast<std::uint8_t>(random() % 4);
        }
        alignment.letters(row, 1) = static_cast<std::uint8_t>(3 - alignment.letters(row, 0));
    }
    for (Index column = 0; column < columns; ++column) alignment.columns.push_back(column);
    return alignment;
}

/// Gaps and unknown letters in a tenth of the rows each, but not in columns 0 and 1.
void add_gaps(Alignment& alignment) {
    std::mt19937 random(9);
    for (Index row = 0; row < alignment.sequence_count(); ++row)
        for (Index column = 2; column < alignment.column_count(); ++column)
            if (random() % 5 == 0) alignment.letters(row, column) = 4 + random() % 2;
}

Parameters tree_parameters() {
    Parameters parameters;
    parameters.null = NullModel::tree;
    parameters.tree.alignments = 100;
    return parameters;
}

Context on_threads(int threads) {
    Context context;
    context.device = {Device::Kind::cpu, 0};
    context.threads = threads;
    return context;
}

/// 2 W MI in nats over rows with residues in both columns, and these rows.
std::pair<double, Index> g_of(const Alignment& alignment, Index i, Index j,
                              const std::vector<double>& weights) {
    std::map<std::pair<int, int>, double> cells;
    std::map<int, double> of_i, of_j;
    double all = 0;
    Index rows = 0;
    for (Index row = 0; row < alignment.sequence_count(); ++row) {
        const int a = alignment.letters(row, i), b = alignment.letters(row, j);
        if (a >= 4 || b >= 4) continue;
        ++rows;
        const double weight = weights.empty() ? 1 : weights[static_cast<std::size_t>(row)];
        cells[{a, b}] += weight;
        of_i[a] += weight;
        of_j[b] += weight;
        all += weight;
    }
    double g = 0;
    for (const auto& [pair, n] : cells)
        g += 2 * n * std::log(n * all / (of_i[pair.first] * of_j[pair.second]));
    return {g, rows};
}

TEST(TreePairs, CountsByDefinition) {
    Alignment alignment = descendants(60, 9);
    add_gaps(alignment);
    Parameters parameters = tree_parameters();
    parameters.statistic = PairScore::gt;
    for (const TreeWeights weights : {TreeWeights::none, TreeWeights::position}) {
        parameters.tree_weights = weights;
        const Result result = run(alignment, parameters, on_threads(1));
        EXPECT_EQ(result.weights.empty(), weights == TreeWeights::none);
        Index pair = 0;
        for (Index i = 0; i < 9; ++i)
            for (Index j = i + 1; j < 9; ++j, ++pair) {
                const auto [g, rows] = g_of(alignment, i, j, result.weights);
                EXPECT_NEAR(result.tree->score[pair], g, 2e-3 * (1 + g));
                EXPECT_EQ(result.pair_rows[pair], rows);
            }
    }
}

TEST(TreePairs, FindsPlantedPairsOnly) {
    Alignment alignment = descendants(120, 20);
    add_gaps(alignment);
    for (const auto kind : {phylogeny::TreeNullKind::markov, phylogeny::TreeNullKind::branch}) {
        Parameters parameters = tree_parameters();
        parameters.tree.kind = kind;
        const Result result = run(alignment, parameters, on_threads(2));
        const TreeResult& tree = *result.tree;
        EXPECT_LT(tree.e[0], 1e-3);
        for (std::size_t pair = 1; pair < tree.e.size(); ++pair) EXPECT_GT(tree.e[pair], 0.01);
        EXPECT_EQ(tree.extrapolated[0], 1);
        EXPECT_EQ(tree.substitutions.size(), 20u);
        // On one thread, the same bits.
        const Result again = run(alignment, parameters, on_threads(1));
        EXPECT_EQ(again.tree->p, tree.p);
        EXPECT_EQ(again.tree->mean, tree.mean);
        EXPECT_EQ(again.tree->newick, tree.newick);
    }
}

TEST(TreePairs, ReadsTheTreeAndWritesTheFirstNull) {
    const test::TemporaryFolder folder;
    const Alignment alignment = descendants(25, 6);
    Parameters parameters = tree_parameters();
    const Result own = run(alignment, parameters, on_threads(1));
    const std::filesystem::path tree = folder.path() / "t.nwk";
    std::ofstream(tree) << own.tree->newick;
    parameters.tree.file = tree.string();
    parameters.tree.write_null = true;
    const Result given = run(alignment, parameters, on_threads(1));
    EXPECT_EQ(given.tree->p, own.tree->p);
    const std::string& text = given.tree->null_fasta;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 50);
    EXPECT_EQ(text.substr(0, 4), ">r0\n");
}

TEST(TreePairs, CudaScoresTheSame) {
    const std::string absence = pleat::test::cuda_absence();
    if (!absence.empty()) GTEST_SKIP() << absence;
    Alignment alignment = descendants(333, 70);
    add_gaps(alignment);
    for (const auto kind : {phylogeny::TreeNullKind::markov, phylogeny::TreeNullKind::branch}) {
        Parameters parameters = tree_parameters();
        parameters.tree.kind = kind;
        Context context = on_threads(3);
        const Result expected = run(alignment, parameters, context);
        context.device = {Device::Kind::cuda, 0};
        const Result found = run(alignment, parameters, context);
        EXPECT_EQ(found.tree->newick, expected.tree->newick);
        EXPECT_EQ(found.pairs.mi, expected.pairs.mi);
        for (std::size_t pair = 0; pair < expected.tree->e.size(); ++pair) {
            EXPECT_NEAR(found.tree->score[pair], expected.tree->score[pair], 1e-9);
            EXPECT_NEAR(found.tree->mean[pair], expected.tree->mean[pair], 1e-9);
            EXPECT_NEAR(found.tree->p[pair] / expected.tree->p[pair], 1, 1e-4);
        }
    }
}

std::string complaint(const Alignment& alignment, const Parameters& parameters) {
    try {
        run(alignment, parameters, on_threads(1));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(TreePairs, RefusesInputWithoutANull) {
    const Parameters parameters = tree_parameters();
    EXPECT_EQ(complaint(descendants(19, 5), parameters),
              "made.sto: expected at least 20 sequences for --null tree, found 19");
    Alignment same = descendants(30, 5);
    for (auto& letter : same.letters.view()) letter = 2;
    EXPECT_NE(complaint(same, parameters).find("expected substitutions"), std::string::npos);
    Alignment twice = descendants(30, 5);
    twice.names[3] = twice.names[7];
    EXPECT_NE(complaint(twice, parameters).find("found 'r7' twice"), std::string::npos);
    Alignment empty = descendants(30, 5);
    for (Index row = 0; row < 30; ++row) empty.letters(row, 3) = 5;
    EXPECT_NE(complaint(empty, parameters).find("unknown letters in column 4"), std::string::npos);
    EXPECT_NE(complaint(descendants(10'001, 3), parameters).find("give --tree"), std::string::npos);
    for (const auto& change : std::vector<std::function<void(Parameters&)>>{
             [](Parameters& p) { p.order = 3; }, [](Parameters& p) { p.shuffles = 10; },
             [](Parameters& p) { p.sequence_weights = true; },
             [](Parameters& p) { p.pseudocount = 1; },
             [](Parameters& p) { p.tree.alignments = 99; },
             [](Parameters& p) { p.null = NullModel::exact, p.tree.file = "t"; }}) {
        Parameters wrong = parameters;
        change(wrong);
        EXPECT_THROW(run(descendants(30, 5), wrong, on_threads(1)), UsageError);
    }
}

}  // namespace
}  // namespace pleat::mutual_information
