// Thinning: what stands out stays, what is short is left as it is.
#include "pleat/report/reduced_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "pleat/core/error.h"
#include "small_run.h"

namespace pleat::report {
namespace {

using namespace testing;
using pleat::test::error_text;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<double> places(Index count) {
    std::vector<double> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0.0);
    return all;
}

TEST(ReduceCurve, KeepsShortCurves) {
    const std::vector<double> values = {3, kNone, 1};
    const ReducedCurve curve = reduce_curve(places(3), values, 3);
    EXPECT_EQ(curve.positions, places(3));
    EXPECT_EQ(curve.values[0], 3);
    EXPECT_TRUE(std::isnan(curve.values[1]));
    EXPECT_EQ(curve.block, 1);
    EXPECT_EQ(curve.note("frames"), "");
    EXPECT_TRUE(reduce_curve({}, {}, 2).values.empty());
}

TEST(ReduceCurve, KeepsTheExtremesOfEachBlock) {
    const std::vector<double> values = {5, 1, 2, 9, kNone, 4, 7, 7, kNone, kNone};
    const ReducedCurve curve = reduce_curve(places(10), values, 6);  // blocks of 4
    EXPECT_EQ(curve.block, 4);
    ASSERT_EQ(curve.positions, (std::vector<double>{1, 3, 5, 6, 8}));
    EXPECT_EQ(curve.values[0], 1);
    EXPECT_EQ(curve.values[1], 9);
    EXPECT_EQ(curve.values[2], 4);
    EXPECT_EQ(curve.values[3], 7);
    EXPECT_TRUE(std::isnan(curve.values[4]));
    EXPECT_EQ(curve.note("frames"), "The minimum and the maximum of every 4 frames are drawn.");
    for (const Index count : {4001, 4002, 8000, 123457}) {
        const ReducedCurve many = reduce_curve(places(count), places(count));
        EXPECT_LE(many.values.size(), 4000U);
        EXPECT_GE(many.values.size(), 2000U);
        EXPECT_EQ(many.values.front(), 0);
        EXPECT_EQ(many.values.back(), static_cast<double>(count - 1));
    }
}

TEST(ReduceSteps, KeepsTheModeOfEachBlock) {
    const std::vector<std::int64_t> labels = {0, 1, 1, 2, 0, 2, -1, 3, 3, 3};
    const ReducedSteps whole = reduce_steps(labels, 8);
    EXPECT_EQ(whole.labels, (std::vector<std::int64_t>{0, 1, 2, 0, 2, -1, 3}));
    EXPECT_EQ(whole.lengths, (std::vector<std::int64_t>{1, 2, 1, 1, 1, 1, 3}));
    EXPECT_EQ(whole.note("frames"), "");
    const ReducedSteps few = reduce_steps(labels, 4);  // blocks of 3
    EXPECT_EQ(few.labels, (std::vector<std::int64_t>{1, 2, 3}));
    EXPECT_EQ(few.lengths, (std::vector<std::int64_t>{3, 3, 4}));
    EXPECT_EQ(few.note("frames"), "Each step is the most frequent value of 3 frames.");
    // Few changes in many labels are all there.
    std::vector<std::int64_t> long_runs(100000, 0);
    long_runs[50000] = 1;
    EXPECT_EQ(reduce_steps(long_runs).lengths, (std::vector<std::int64_t>{50000, 1, 49999}));
}

TEST(Report, ReducesCurvesOverManyFrames) {
    constexpr Index kFrames = 200000;
    SmallRun run;
    std::string text = "frame\tfile\trmsd\n";
    std::vector<std::int32_t> assignment;
    for (Index n = 0; n < kFrames; ++n) {
        text += std::to_string(n) + "\ta.xtc\t" +
                (n == 77777   ? "99"
                 : n % 2 == 0 ? "1"
                              : "2") +
                "\n";
        assignment.push_back(static_cast<std::int32_t>(n % 3 == 0 ? 1 : 0));
    }
    run.add("reference.tsv", text);
    write_npy(run.file("assignment.npy"), assignment.data(), {kFrames});
    const Json drawn = drawn_run(run.path());
    const Json curve = section(drawn, "RMSD from the reference");
    EXPECT_EQ(curve["positions"].size(), 4000U);
    EXPECT_EQ(curve["series"][0]["values"].size(), 4000U);
    EXPECT_NE(curve["series"][0]["values"].dump().find("99.0"), std::string::npos);
    EXPECT_EQ(curve["note"], "The minimum and the maximum of every 100 frames are drawn.");
    const Json steps = section(drawn, "Cluster against time");
    EXPECT_EQ(steps["values"], Json({0}));
    EXPECT_EQ(steps["lengths"], Json({kFrames}));
    EXPECT_EQ(steps["note"], "Each step is the most frequent value of 50 frames.");
}

TEST(Report, DrawsDistributionsOfSampledFrames) {
    SmallRun run;
    std::string text = "frame\tchain\tstep\trg\tdistance_1_2\tchi2\n";
    for (int n = 0; n < 200; ++n)
        text += std::to_string(n) + "\t0\t" + std::to_string(10 * n) + "\t" +
                std::to_string(20 + n % 10) + "\t30\t" + std::to_string(n) + "\n";
    run.add("frames.tsv", text);
    const Json drawn = drawn_run(run.path());
    const Json distribution = section(drawn, "Distribution of Rg");
    ASSERT_EQ(distribution["count"].size(), 40U);
    EXPECT_EQ(distribution["count"][0], 20);
    EXPECT_EQ(distribution["count"][39], 20);
    EXPECT_EQ(distribution["from"][0], 20);
    EXPECT_EQ(distribution["to"][39], 29);
    EXPECT_EQ(section(drawn, "Rg by frame")["positions"].size(), 200U);
    EXPECT_EQ(section(drawn, "distance of domains 1-2 by frame")["series"][0]["values"][7], 30);
    EXPECT_EQ(section(drawn, "chi^2 per point by frame")["x"]["label"], "frame");
}

// A file with a hole of terabytes: what memory does not hold is refused before it is read.
TEST(Report, RefusesFilesLargerThanMemory) {
    for (const char* name : {"list.tsv", "reference.tsv", "results.json", "tree.nwk", "medoids.pdb",
                             "assignment.npy", "scores.npz", "manifest.json"}) {
        SmallRun run;
        run.add("contacts.tsv", "i\tj\n");  // beside scores.npz
        if (std::string(name) != "manifest.json") run.add(name, "");
        std::error_code problem;
        std::filesystem::resize_file(run.file(name), std::uintmax_t{1} << 42, problem);
        if (problem) GTEST_SKIP() << "no file of 4 TiB can be made here: " << problem.message();
        const std::string text = error_text<DeviceError>([&] { draw({run.path()}, {}); });
        EXPECT_NE(text.find(name), std::string::npos) << name << ": " << text;
        EXPECT_EQ(text.find('\n'), std::string::npos);
    }
}

}  // namespace
}  // namespace pleat::report
