// Tests of couplings against null alignments along a tree: a planted pair, threads, and bad input.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/parts/analysis.h"
#include "pleat/couplings/tree/tree_contacts.h"

namespace pleat::couplings {
namespace {

/// Rows that descend from each other with a change in some columns; columns 0 and 1 always pair.
Alignment descendants(Index rows, Index columns) {
    std::mt19937 random(3);
    Alignment alignment;
    alignment.alphabet = &Alphabet::rna();
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
    alignment.letters(5, 4) = 4;  // a gap
    for (Index column = 0; column < columns; ++column) alignment.columns.push_back(column);
    return alignment;
}

Context on_threads(int threads) {
    Context context;
    context.device = {Device::Kind::cpu, 0};
    context.threads = threads;
    return context;
}

Parameters tree_parameters() {
    Parameters parameters;
    parameters.null = ScoreNull::tree;
    return parameters;
}

TEST(TreeContacts, FindThePairThatCovaries) {
    const Alignment alignment = descendants(80, 9);
    const Parameters parameters = tree_parameters();
    const Result result = run(alignment, parameters, on_threads(2));
    const Analysis found = analyse(alignment, result, parameters, {}, on_threads(2));
    ASSERT_TRUE(found.tree.has_value());
    const phylogeny::TreeResult& tree = *found.tree;
    ASSERT_EQ(tree.e.size(), 36u);
    EXPECT_EQ(tree.null_alignments, 100);
    EXPECT_LT(tree.e[0], phylogeny::kSignificantE);
    EXPECT_EQ(tree.extrapolated[0], 1);
    Index others = 0;
    for (std::size_t pair = 1; pair < tree.e.size(); ++pair)
        others += tree.e[pair] < phylogeny::kSignificantE;
    EXPECT_EQ(others, 0);
}

TEST(TreeContacts, HaveTheSameNumbersOnAnyNumberOfThreads) {
    const Alignment alignment = descendants(40, 6);
    const Parameters parameters = tree_parameters();
    const Result result = run(alignment, parameters, on_threads(1));
    const phylogeny::TreeResult one =
        compare_with_tree(alignment, result, parameters, on_threads(1));
    const phylogeny::TreeResult three =
        compare_with_tree(alignment, result, parameters, on_threads(3));
    EXPECT_EQ(one.p, three.p);
    EXPECT_EQ(one.mean, three.mean);
}

TEST(TreeContacts, TakeATreeFileAndKeepTheFirstNull) {
    const test::TemporaryFolder folder;
    const Alignment alignment = descendants(25, 6);
    Parameters parameters = tree_parameters();
    const Result result = run(alignment, parameters, on_threads(2));
    const phylogeny::TreeResult own =
        compare_with_tree(alignment, result, parameters, on_threads(2));
    const std::filesystem::path tree = folder.path() / "t.nwk";
    std::ofstream(tree) << own.newick;
    parameters.tree.file = tree.string();
    parameters.tree.write_null = true;
    const phylogeny::TreeResult given =
        compare_with_tree(alignment, result, parameters, on_threads(2));
    EXPECT_EQ(given.p, own.p);
    EXPECT_EQ(std::ranges::count(given.null_fasta, '\n'), 50);
}

TEST(TreeContacts, RefuseFewSequencesAndATreeWithoutTheNull) {
    const Alignment alignment = descendants(19, 6);
    Parameters parameters = tree_parameters();
    const Result result = run(alignment, parameters, on_threads(1));
    EXPECT_THROW(compare_with_tree(alignment, result, parameters, on_threads(1)), InputError);
    parameters.null = ScoreNull::none;
    parameters.tree.file = "tree.nwk";
    EXPECT_THROW(run(alignment, parameters, on_threads(1)), UsageError);
}

}  // namespace
}  // namespace pleat::couplings
