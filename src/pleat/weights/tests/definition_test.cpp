// The weights by hand: the strict threshold, its rounding, degenerate alignments, refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/error.h"
#include "pleat/weights/weights.h"

namespace pleat::weights {
namespace {

Array<std::uint8_t, 2> rows(const std::vector<std::string_view>& text) {
    Array<std::uint8_t, 2> letters(text.size(), text.front().size());
    for (std::size_t n = 0; n < text.size(); ++n) {
        for (std::size_t i = 0; i < text[n].size(); ++i) {
            letters(n, i) = static_cast<std::uint8_t>(
                std::string_view("ARNDCQEGHILKMFPSTWYV-").find(text[n][i]));
        }
    }
    return letters;
}

class Definition : public testing::TestWithParam<Device::Kind> {
protected:
    std::vector<double> weights(const Array<std::uint8_t, 2>& letters, double threshold) const {
        Context context;
        context.device.kind = GetParam();
        context.threads = 1;
        return sequence_weights(letters, threshold, context);
    }
};

using Weights = std::vector<double>;

TEST_P(Definition, NeighboursHaveMoreIdenticalColumnsThanTheThreshold) {
    // ceil(0.8 * 10) = 8: nine identical columns are enough, eight are not.
    const auto letters = rows({"ACDEFGHIKL", "ACDEFGHIKV", "ACDEFGHIVV", "ACDEFGHVVV"});
    EXPECT_EQ(weights(letters, 0.8), (Weights{1.0 / 2, 1.0 / 3, 1.0 / 3, 1.0 / 2}));
}

TEST_P(Definition, RoundsAThresholdBetweenColumnCountsUp) {
    // ceil(0.71 * 10) = 8 as well; ceil(0.7 * 10) = 7 makes eight identical columns enough.
    const auto letters = rows({"ACDEFGHIKL", "ACDEFGHIVV"});
    EXPECT_EQ(weights(letters, 0.71), (Weights{1, 1}));
    EXPECT_EQ(weights(letters, 0.7), (Weights{0.5, 0.5}));
}

TEST_P(Definition, TreatsGapsAsLetters) {
    const auto letters = rows({"AC--------", "AV--------", "ACGGGGGGGG"});
    EXPECT_EQ(weights(letters, 0.8), (Weights{0.5, 0.5, 1}));
}

TEST_P(Definition, EqualSequencesShareOneWeight) {
    const auto letters = rows({"ACDEF", "ACDEF", "VVVVV", "ACDEF"});
    EXPECT_EQ(weights(letters, 0.6), (Weights{1.0 / 3, 1.0 / 3, 1, 1.0 / 3}));
}

TEST_P(Definition, GivesWeightOneIfTheThresholdIsAllColumns) {
    const auto letters = rows({"ACDEF", "ACDEF", "ACDEV"});
    EXPECT_EQ(weights(letters, 1.0), (Weights{1, 1, 1}));
    EXPECT_EQ(weights(letters, 0.81), (Weights{1, 1, 1}));
    EXPECT_EQ(weights(letters, 0.8), (Weights{0.5, 0.5, 1}));
}

TEST_P(Definition, NeedsOneIdenticalColumnAtThresholdZero) {
    const auto letters = rows({"AAA", "CCA", "CCC", "DDD"});
    EXPECT_EQ(weights(letters, 0.0), (Weights{1.0 / 2, 1.0 / 3, 1.0 / 2, 1}));
}

TEST_P(Definition, HandlesTwoColumnsAndTwoSequences) {
    EXPECT_EQ(weights(rows({"AC", "AC"}), 0.5), (Weights{0.5, 0.5}));
    EXPECT_EQ(weights(rows({"AC", "AD"}), 0.5), (Weights{1, 1}));
    EXPECT_EQ(weights(rows({"AC", "AC"}), 0.8), (Weights{1, 1}));
    EXPECT_EQ(weights(rows({"AC", "AD"}), 0.0), (Weights{0.5, 0.5}));
}

TEST_P(Definition, HandlesEmptyAlignments) {
    EXPECT_EQ(weights(Array<std::uint8_t, 2>(0, 7), 0.8), Weights{});
    EXPECT_EQ(weights(Array<std::uint8_t, 2>(1, 7), 0.8), Weights{1});
    EXPECT_EQ(weights(Array<std::uint8_t, 2>(3, 0), 0.8), (Weights{1, 1, 1}));
}

TEST_P(Definition, RefusesAThresholdOutsideZeroToOne) {
    const Array<std::uint8_t, 2> letters(3, 4);
    EXPECT_THROW(weights(letters, -0.01), UsageError);
    EXPECT_THROW(weights(letters, 1.01), UsageError);
    EXPECT_THROW(weights(letters, std::numeric_limits<double>::quiet_NaN()), UsageError);
}

std::string device_name(const testing::TestParamInfo<Device::Kind>& device) {
    return Device{device.param, 0}.name();
}

INSTANTIATE_TEST_SUITE_P(Devices, Definition,
                         testing::Values(Device::Kind::reference, Device::Kind::cpu), device_name);

TEST(MinIdentical, IsExactForEveryPercentageAndWidth) {
    for (Index percent = 0; percent <= 100; ++percent) {
        const double threshold = static_cast<double>(percent) / 100.0;
        for (Index columns = 0; columns <= 5000; ++columns) {
            const Index ceiling = (percent * columns + 99) / 100;
            ASSERT_EQ(min_identical(threshold, columns), ceiling + 1)
                << percent << " % of " << columns;
        }
    }
}

TEST(MinIdentical, IgnoresRoundingErrors) {
    ASSERT_GT(0.55 * 100, 55.0);
    EXPECT_EQ(min_identical(0.55, 100), 56);
    EXPECT_EQ(min_identical(0.55 + 1e-6, 100), 57);
}

TEST(EffectiveCount, IsTheSumOfTheWeights) {
    EXPECT_EQ(effective_count(Weights{0.5, 0.5, 1, 0.25}), 2.25);
    EXPECT_EQ(effective_count(Weights{}), 0.0);
}

TEST(Devices, TheCpuComputesSmallAlignmentsForCuda) {
    Context context;
    context.device.kind = Device::Kind::cuda;
    const auto letters = rows({"ACDEF", "ACDEF", "FEDCA"});
    EXPECT_EQ(sequence_weights(letters, 0.4, context), (Weights{0.5, 0.5, 1}));
}

}  // namespace
}  // namespace pleat::weights
