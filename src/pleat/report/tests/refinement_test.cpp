// Refinement: distributions of drawn frames, and the same by the weights of a fit.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "pleat/core/error.h"
#include "pleat/report/tests/small_run.h"

namespace pleat::report {

namespace {

using testing::drawn_run;
using testing::section;
using testing::SmallRun;

/// 80 frames of which two are in each bin.
void add_frames(SmallRun& run) {
    std::string text = "frame\tchain\tstep\trg\tclose_atoms\n";
    for (int n = 0; n < 80; ++n)
        text += std::to_string(n) + "\t0\t1\t" + std::to_string(20 + n / 2) + "\t3\n";
    run.add("frames.tsv", text);
}

void add_weights(SmallRun& run, const std::string& rows) {
    std::filesystem::create_directory(run.file("saxs"));
    run.add("saxs/weights.tsv", "frame\tfile\tframe_of_file\tweight\n" + rows);
}

TEST(Refinement, DrawsHistogramsOfFrames) {
    SmallRun run;
    add_frames(run);
    const Json drawn = section(drawn_run(run.path()), "Distribution of Rg");
    EXPECT_EQ(drawn["kind"], "histogram");
    EXPECT_EQ(drawn["count"].size(), 40u);
    EXPECT_EQ(drawn["from"][0], 20);
    double sum = 0;
    for (const Json& count : drawn["count"]) sum += count.get<double>();
    EXPECT_EQ(sum, 80);
    EXPECT_FALSE(section(drawn_run(run.path()), "Rg by frame").is_null());
}

TEST(Refinement, ComparesDrawnFramesWithTheirWeights) {
    SmallRun run;
    add_frames(run);
    // Two bins with the same weight.
    add_weights(run, "0\tx\t0\t0.25\n1\tx\t1\t0.25\n79\tx\t79\t0.5\n");
    const Json page = drawn_run(run.path());
    EXPECT_TRUE(section(page, "Distribution of Rg").is_null());
    const Json drawn = section(page, "Distribution of Rg: drawn and weighted by the curve");
    ASSERT_EQ(drawn["series"].size(), 2u);
    EXPECT_EQ(drawn["series"][1]["values"][0], 50);
    EXPECT_EQ(drawn["series"][1]["values"][39], 50);
    EXPECT_EQ(drawn["series"][1]["values"][20], 0);
    EXPECT_NEAR(drawn["series"][0]["values"][20].get<double>(), 2.5, 1e-9);
    // ln 2 / ln 40
    EXPECT_EQ(drawn["note"], "entropy ratio (weighted to drawn): 0.19");
}

TEST(Refinement, RefusesWeightsOfOtherFrames) {
    SmallRun run;
    add_frames(run);
    add_weights(run, "80\tx\t80\t1\n");
    EXPECT_THROW(drawn_run(run.path()), InputError);
}

}  // namespace

}  // namespace pleat::report
