// Plots of mutual information: triples against their pairs, and the error of the sampled null
// model.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "pleat/report/tests/small_run.h"

namespace pleat::report {
namespace {

using namespace testing;

TEST(Report, PlotsTriplesAgainstTheirPairs) {
    SmallRun run;
    // Columns 2, 5, 6 and 9; pairs 2-5, 2-6, 2-9, 5-6, 5-9, 6-9.
    const std::vector<double> mi = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    const std::vector<std::int64_t> columns = {1, 4, 5, 8};
    NpzWriter arrays(run.file("pairs.npz"));
    arrays.add("mi", mi.data(), {6});
    arrays.add("columns", columns.data(), {4});
    arrays.close();
    run.add("triples.tsv", "rank\ti\tj\tk\tmi\tz\n1\t5\t6\t9\t0.9\t3\n2\t2\t5\t9\t0.8\t2\n");
    const Json plot = section(drawn_run(run.path()), "MI of triples and of their pairs");
    EXPECT_EQ(plot["columns"][0]["values"], Json({0.6, 0.4, 0.5, 0.1}));
    EXPECT_EQ(plot["columns"][1]["values"], Json({0.9, 0.9, 0.8, 0.8}));
    EXPECT_EQ(plot["equal"], true);
    // The pairs have no Z.
    EXPECT_TRUE(section(drawn_run(run.path()), "Z of triples and of their pairs").is_null());
}

TEST(Report, ShowsWhatANullAlongATreeSays) {
    SmallRun run(Json{{"results",
                       {{"low_entropy_columns", 0},
                        {"sequences", 30},
                        {"columns", 3},
                        {"tree_significant", 1},
                        {"annotated_pairs", 2},
                        {"annotated_found", 1}}}});
    const std::vector<double> mi = {0.1, 0.2, 0.3}, e = {10, 1e-4, 0.05};
    const std::vector<std::int64_t> columns = {1, 4, 5};
    NpzWriter arrays(run.file("pairs.npz"));
    arrays.add("mi", mi.data(), {3});
    arrays.add("tree_e", e.data(), {3});
    arrays.add("columns", columns.data(), {3});
    arrays.close();
    run.add("pairs.tsv",
            "rank\ti\tj\tletter_i\tletter_j\tmi\ttree_e\textrapolated\tannotation\n"
            "1\t2\t6\tG\tC\t0.2\t0.0001\t1\tpair\n");
    run.add("tree.nwk", "(a:0.5,b:0.5);\n");
    run.add("substitutions.nwk", "(a:3,b:4);\n");
    const Json drawn = drawn_run(run.path());
    const Json map = section(drawn, "Scores of pairs");
    EXPECT_EQ(map["significant"], Json({{"e", 0.05}, {"i", {0}}, {"j", {2}}}));
    EXPECT_EQ(map["layers"][0]["name"], "-log10 E (tree null)");
    EXPECT_NEAR(unpacked(map["layers"][0]["matrix"])[1], 4, 1e-3);
    EXPECT_EQ(section(drawn, "Pairs")["columns"],
              Json({"rank", "i", "j", "tree_e", "extrapolated", "annotation", "mi", "letter_i",
                    "letter_j"}));
    EXPECT_EQ(section(drawn, "Tree of the sequences")["newick"], "(a:3,b:4);\n");
    EXPECT_TRUE(section(drawn, "Dendrogram").is_null());
    EXPECT_EQ(drawn["headline"]["sentence"],
              "1 pair has an E below 0.05 along the tree of the sequences, 1 of 2 annotated pairs "
              "among them.");
}

/// A run of a sweep over --shuffles, whose sampled mean is off by `error` standard deviations.
void add_sampled_run(const std::filesystem::path& folder, double error) {
    std::filesystem::create_directories(folder);
    const double mean = 2, variance = 4, sampled_mean = 2 + 2 * error;
    NpzWriter arrays(folder / "pairs.npz");
    arrays.add("mean", &mean, {1});
    arrays.add("variance", &variance, {1});
    arrays.add("sampled_mean", &sampled_mean, {1});
    arrays.add("sampled_variance", &variance, {1});
    arrays.close();
}

TEST(Report, DrawsTheErrorOfTheSampledNullModelOverShuffles) {
    const TemporaryFolder folder;
    spill(folder / "jobs.tsv",
          "# version: pleat 0.1.0\n# command: pleat mi\n# swept: shuffles\n"
          "name\tshuffles\tstatus\tdevice\tseconds\tpairs\tresult\terror\n"
          "a\t100\tdone\tcpu\t1\t1\ta/100\tNA\na\t10\tdone\tcpu\t1\t1\ta/10\tNA\n"
          "a\t1000\tfailed\tcpu\t1\t1\ta/1000\tno\n");
    EXPECT_TRUE(section(drawn_run(folder.path()), "Error of the sampled null model").is_null());
    add_sampled_run(folder / "a/100", 0.1);
    add_sampled_run(folder / "a/10", 0.5);
    const Json drawn = section(drawn_run(folder.path()), "Error of the sampled null model");
    EXPECT_EQ(drawn["positions"], Json({10.0, 100.0}));
    EXPECT_NEAR(drawn["series"][0]["values"][0], 0.5, 1e-12);
    EXPECT_NEAR(drawn["series"][0]["values"][1], 0.1, 1e-12);
    EXPECT_EQ(drawn["series"][1]["values"], Json({0.0, 0.0}));
    EXPECT_NEAR(drawn["series"][2]["values"][1], 0.1, 1e-12);
}

}  // namespace
}  // namespace pleat::report
