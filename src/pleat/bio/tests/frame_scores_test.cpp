// Scores of frames: the best ones, tables by number and by name, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/frame_scores.h"
#include "pleat/bio/tests/made_models.h"
#include "pleat/bio/tests/refusal.h"
#include "pleat/bio/tests/scratch_file.h"

namespace {

using namespace pleat;
using namespace pleat::testing;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

TEST(FrameScores, BestFramesAreTheFirstOfTheSortedOnes) {
    // 100,000 frames with many equal scores and some without.
    std::mt19937 random(7);
    std::vector<double> values(100'000);
    for (double& value : values)
        value = random() % 100 == 0 ? kUnknown : static_cast<double>(random() % 20'000) / 7;
    for (const bool lowest : {true, false}) {
        std::vector<std::pair<double, Index>> sorted;  // by value, then by frame
        for (std::size_t n = 0; n < values.size(); ++n)
            sorted.emplace_back(
                std::isnan(values[n]) ? HUGE_VAL : (lowest ? values[n] : -values[n]),
                static_cast<Index>(n));
        std::sort(sorted.begin(), sorted.end());
        std::vector<Index> expected;
        for (std::size_t n = 0; n < 5000; ++n) expected.push_back(sorted[n].second);
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(best_frames(values, lowest, 5000, 0), expected);
    }
}

TEST(FrameScores, LeavesOutWholeFramesOfTheWorst) {
    const std::vector<double> values = {5, kUnknown, 3, 3, 9};
    EXPECT_EQ(best_frames(values, true, 0, 0.2), (std::vector<Index>{0, 2, 3, 4}));
    EXPECT_EQ(best_frames(values, true, 0, 0.39), (std::vector<Index>{0, 2, 3, 4}));
    EXPECT_EQ(best_frames(values, true, 0, 0.4), (std::vector<Index>{0, 2, 3}));
    EXPECT_EQ(best_frames(values, false, 2, 0.4), (std::vector<Index>{0, 4}));
    EXPECT_EQ(best_frames(values, true, 1, 0), (std::vector<Index>{2})) << "the first of equals";
    EXPECT_EQ(best_frames(values, true, 9, 0).size(), 5U);
    EXPECT_EQ(best_frames(std::vector<double>(30, 1.0), true, 0, 0.1).size(), 27U);
    EXPECT_EQ(parse_percentage("10%"), 0.1);
    for (const char* text : {"10", "100%", "-1%", "%", "", "x%"})
        EXPECT_NE(refusal([&] { parse_percentage(text); }).find("--worst-left-out: expected"),
                  std::string::npos)
            << text;
}

/// Ten frames, x of whose last atom is 20 + frame, in two files.
class ScoredFrames : public ::testing::Test {
protected:
    ScoredFrames() {
        for (int file = 0; file < 2; ++file) {
            std::string text;
            for (int frame = 0; frame < 5; ++frame) {
                const std::string model = model_pdb(20 + 5 * file + frame, 50);
                text += "MODEL " + std::to_string(frame + 1) + "\n" +
                        model.substr(0, model.size() - 4) + "ENDMDL\n";
            }
            files_.push_back(folder_.write("m" + std::to_string(file) + ".pdb", text).string());
        }
    }
    Ensemble read(const std::string& table, const std::string& range = "::") {
        options_.scores.tables = {folder_.write("scores.tsv", table).string()};
        options_.range = parse_frame_range(range);
        return read_ensemble(files_, options_);
    }
    std::string refused(const std::string& table, const std::string& range = "::") {
        return refusal([&] { read(table, range); });
    }

    const ScratchFolder folder_;
    std::vector<std::string> files_;
    EnsembleOptions options_;
};

std::string table_of(int frames) {
    std::string text = "frame\tenergy\tq\n";
    for (int frame = frames - 1; frame >= 0; --frame)  // in any order
        text += std::to_string(frame) + "\t" + std::to_string((frame * 7) % 10) + "\t0.5\n";
    return text;
}

TEST_F(ScoredFrames, KeepTheirNumbersAndScores) {
    options_.scores.column = "energy";
    options_.scores.best = 3;
    options_.scores.lowest_is_best = true;
    const Ensemble best = read(table_of(10));  // energies 0 7 4 1 8 5 2 9 6 3
    EXPECT_EQ(best.numbers, (std::vector<Index>{0, 3, 6}));
    EXPECT_EQ(best.scores.ranking(), (std::vector<double>{0, 1, 2}));
    EXPECT_EQ(best.xyz(1, 0, 3), 23);
    EXPECT_EQ(best.xyz(2, 0, 3), 26);
    EXPECT_EQ(best.origins[2].file, 1);
    EXPECT_EQ(best.origins[2].frame, 1);
    // The range is taken first; scores of other frames may be missing.
    EXPECT_EQ(read(table_of(10), "1::2").numbers, (std::vector<Index>{3, 5, 9}));
    EXPECT_EQ(read(table_of(10), "-4:").numbers, (std::vector<Index>{6, 8, 9}));
    EXPECT_EQ(read(table_of(5), ":5").numbers, (std::vector<Index>{0, 2, 3}));
    options_.scores.worst_share = 0.8;
    EXPECT_EQ(read(table_of(10)).numbers, (std::vector<Index>{0, 3}));
    EXPECT_EQ(read("frame,energy\n0,1\n1,2\n2,nan\n3,NA\n4,0\n5,9\n6,9\n7,9\n8,9\n9,9\n").numbers,
              (std::vector<Index>{0, 4}));
}

TEST_F(ScoredFrames, RefuseScoresOfOtherFrames) {
    options_.scores.column = "energy";
    const auto has = [](const std::string& text, const std::string& part) {
        return text.find(part) != text.npos;
    };
    EXPECT_TRUE(has(refused(table_of(9)), "expected scores of frame 9"));
    EXPECT_TRUE(has(refused(table_of(11)), "10 frames of the ensemble"));
    EXPECT_TRUE(has(refused(table_of(10) + "3\t1\t1\n"), ":12: expected each frame once"));
    EXPECT_TRUE(has(refused("frame\tenergy\n1\t5\n2\t5\n"), "frame 0 (frames count from 0)"));
    EXPECT_TRUE(has(refused("frame\tenergy\n0\tlow\n"), "found 'low'"));
    EXPECT_TRUE(has(refused("frame\tenergy\n0\n"), "expected 2 cells, found 1"));
    EXPECT_TRUE(has(refused("frame\tenergy\n-1\t5\n"), "found '-1'"));
    EXPECT_TRUE(has(refused("frame\tenergy\n99999999999\t5\n"), "expected"));
    EXPECT_TRUE(has(refused("energy\n5\n"), "commas; found 'energy'"));
    EXPECT_TRUE(has(refused(""), "commas; found none"));
    EXPECT_TRUE(has(refused("frame\tenergy\tenergy\n"), "second one called 'energy'"));
    EXPECT_TRUE(has(refused("name\tenergy\nm0\t5\nm1\t6\n"), "expected one frame"));
    options_.scores.column = "pressure";
    EXPECT_TRUE(has(refused(table_of(10)), "one of energy, q, found 'pressure'"));
    options_.scores.column.clear();
    EXPECT_EQ(refused(table_of(10)), "");
    EXPECT_EQ(refused("\xEF\xBB\xBF" + table_of(10)), "") << "as spreadsheets write it";
    options_.scores.best = 1;
    EXPECT_TRUE(has(refused(table_of(10)), "--score: energy, q"));
    options_.scores = {};
    options_.scores.lowest_is_best = true;
    EXPECT_TRUE(has(refusal([&] { read_ensemble(files_, options_); }), "--scores"));
}

TEST_F(ScoredFrames, MayBeFiles) {
    const std::string root = folder_.path().string();
    write_file(folder_.path() / "d/a.pdb", model_pdb(21, 50));
    write_file(folder_.path() / "d/b.pdb", model_pdb(22, 50));
    write_file(folder_.path() / "d/c.pdb", model_pdb(23, 50));
    files_ = {root + "/d"};
    options_.scores.best = 2;
    const Ensemble best = read("name\tenergy\nc\t3\nd\t8\na.pdb\t1\n" + root + "/d/b.pdb\t2\n");
    EXPECT_EQ(best.numbers, (std::vector<Index>{1, 2}));
    EXPECT_EQ(best.names, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(best.xyz(0, 0, 3), 22);
    EXPECT_NE(refused("name\tenergy\na\t1\nb\t2\n").find("scores of 'c'"), std::string::npos);
    EXPECT_NE(refused("name\tenergy\na\t1\nb\t2\na.pdb\t3\n"), "");
    // Files that are left out are not opened, but the first one, which names the atoms.
    write_file(folder_.path() / "d/c.pdb", "damaged");
    EXPECT_EQ(refused("name\tenergy\na\t3\nb\t2\nc\t1\n"), "");
    EXPECT_NE(refused("name\tenergy\na\t3\nb\t2\nc\t9\n"), "");
    write_file(folder_.path() / "d/c.pdb", model_pdb(23, 50));
    EXPECT_NE(refused("name\tenergy\na\t1\nb\t2\nc\t3\n", "3:").find("found 3 frames"),
              std::string::npos);
    options_.range = {};
    // Two tables are one.
    const auto second = folder_.write("second.csv", "frame,q\n0,1\n1,2\n2,3\n");
    options_.scores.tables = {folder_.write("scores.tsv", "name\tenergy\na\t3\nb\t2\nc\t9\n"),
                              second.string()};
    options_.scores.column = "q";
    const Ensemble both = read_ensemble(files_, options_);
    EXPECT_EQ(both.scores.columns, (std::vector<std::string>{"energy", "q"}));
    EXPECT_EQ(both.scores.values[0], (std::vector<double>{2, 9}));
}

}  // namespace
