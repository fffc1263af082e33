// Headline: the title of a run, its sentence and its numbers, from results in its manifest.
#include <gtest/gtest.h>

#include "small_run.h"

namespace pleat::report {
namespace {

using namespace testing;

TEST(Headline, BeginsARunWithItsHeadline) {
    const Json manifest = {{"results",
                            {{"scatterers", 9},
                             {"frames", 1},
                             {"rg", 15.068},
                             {"dmax", 49.28},
                             {"chi2", 0.86008},
                             {"curve_points", 197}}},
                           {"inputs", Json::array({{{"path", "/a/lysozyme.pdb.gz"}}})}};
    const Json drawn = drawn_run(SmallRun(manifest).path());
    EXPECT_EQ(drawn["title"], "lysozyme: small-angle scattering");
    EXPECT_EQ(drawn["headline"]["sentence"],
              "Between the computed and the measured curve chi^2 is 0.860 per point; Rg 15.07 Å.");
    ASSERT_EQ(drawn["headline"]["tiles"].size(), 3U);
    EXPECT_EQ(drawn["headline"]["tiles"][2], Json({{"value", "49.3 Å"}, {"label", "Dmax"}}));
}

TEST(Headline, NamesAStageAfterTheDataOfItsRun) {
    const auto inputs = [](const char* path) { return Json::array({{{"path", path}}}); };
    SmallRun run(
        Json{{"results", {{"selected", 1}, {"frames", 8}, {"clusters", 2}, {"best_frame", 0}}},
             {"inputs", inputs("/a/models.pdb")}});
    std::filesystem::create_directory(run.file("stage"));
    const Json stage = {{"program", "pleat"},
                        {"status", "finished"},
                        {"results", {{"items", 8}, {"clusters", 2}, {"largest", 4}}},
                        {"inputs", inputs("/run/frames.dcd")}};
    run.add("stage/manifest.json", stage.dump());
    const Json runs = Json::parse(data_text(draw({run.path()}, {}).html))["runs"];
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[1]["title"], "models: clusters");
    EXPECT_EQ(drawn_run(run.file("stage"))["title"], "frames: clusters");
}

TEST(Headline, NamesGivenClustersAfterTheFramesAndNotTheMedoids) {
    for (const char* assign : {"some", "some/", "some/medoids.pdb"}) {
        const Json manifest = {
            {"results", {{"items", 8}, {"clusters", 2}, {"largest", 4}}},
            {"parameters", {{"assign", assign}}},
            {"inputs", Json::array({{{"path", "some/medoids.pdb"}}, {{"path", "long.xtc"}}})}};
        EXPECT_EQ(drawn_run(SmallRun(manifest).path())["title"], "long: clusters") << assign;
    }
}

TEST(Headline, CountsOneClusterInTheSingular) {
    for (const int clusters : {1, 2}) {
        const SmallRun run({{"results", {{"items", 8}, {"clusters", clusters}, {"largest", 4}}},
                            {"parameters", {{"method", "dbscan"}}}});
        EXPECT_EQ(drawn_run(run.path())["headline"]["sentence"],
                  clusters == 1 ? "8 items form 1 cluster by dbscan; the largest has 4 (50 %)."
                                : "8 items form 2 clusters by dbscan; the largest has 4 (50 %).");
    }
}

TEST(Headline, NamesARunOfAModelAfterItsFolderAndNotAFileBesideTheModel) {
    const Json clusters = {{"items", 8}, {"clusters", 2}, {"largest", 4}};
    for (const char* option : {"target", "mutants", "sequences"}) {
        const SmallRun run({{"results", clusters},
                            {"parameters", {{option, "beside.fasta"}}},
                            {"inputs", Json::array({{{"path", "fit/couplings.npz"}},
                                                    {{"path", "beside.fasta"}}})}});
        EXPECT_EQ(drawn_run(run.path())["title"], run.path().filename().string() + ": clusters")
            << option;
    }
}

TEST(Headline, CountsPairsThatAreContactsMoreLikelyThanNot) {
    SmallRun run(Json{
        {"results",
         {{"objective", 1.0}, {"effective_sequences", 4.0}, {"sequences", 4}, {"columns", 9}}}});
    run.add("contacts.tsv",
            "i\tj\tletter_i\tletter_j\tcorrected\tz\tprobability\n1\t9\tA\tG\t0.5\t7\t0.9\n"
            "2\t8\tA\tC\t0.4\t6\t0.6\n3\t9\tA\tC\t0.1\t1\t0.5\n");
    EXPECT_EQ(drawn_run(run.path())["headline"]["sentence"],
              "2 pairs have a probability of a contact above one half. 1 (A) and 9 (G) are coupled "
              "most strongly.");
}

TEST(Headline, DrawsNoHeadlineForOtherResults) {
    const Json others = {{"results", {{"frames", 3}}}}, no_object = {{"results", "none"}};
    EXPECT_FALSE(drawn_run(SmallRun(others).path()).contains("headline"));
    EXPECT_FALSE(drawn_run(SmallRun(no_object).path()).contains("headline"));
}

TEST(Headline, TakesTheHeadlineOfATableWithoutRowsOrNumbers) {
    const Json manifest = {
        {"results", {{"low_entropy_columns", 0}, {"sequences", 4}, {"columns", 2}}}};
    SmallRun none(manifest), missing(manifest);
    none.add("pairs.tsv", "i\tj\tletter_i\tletter_j\tmi\n");
    missing.add("pairs.tsv", "i\tj\tletter_i\tletter_j\tmi\n1\t2\t-\tG\tNA\n");
    EXPECT_EQ(drawn_run(none.path())["headline"]["sentence"], "No pair reaches --min-z.");
    EXPECT_EQ(drawn_run(missing.path())["headline"]["sentence"],
              "1 (gap) and 2 (G) are the strongest pair: unknown bits.");
}

}  // namespace
}  // namespace pleat::report
