// Real families: reference weights to the last bit, and rows checked one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/weights/tests/compiled_targets.h"
#include "pleat/weights/weights.h"

namespace pleat::weights {
namespace {

const std::filesystem::path kShared = PLEAT_SHARED;

std::vector<double> numbers(const std::filesystem::path& path) {
    std::vector<double> result;
    ByteSource source(path);
    std::string_view line;
    while (source.next(line)) result.push_back(std::stod(std::string(line)));
    return result;
}

class ReferenceWeights : public testing::TestWithParam<const char*> {};

TEST_P(ReferenceWeights, AreReproducedToTheLastBit) {
    const auto folder = kShared / "oracle" / "couplings";
    const auto file = folder / (std::string(GetParam()) + ".aln.gz");
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "needs " << file;
    const Alignment alignment = read_alignment(file);
    const auto expected = numbers(folder / (std::string(GetParam()) + ".weights.gz"));
    ASSERT_EQ(expected.size(), static_cast<std::size_t>(alignment.sequence_count()));
    for (const std::int64_t target : compiled_targets()) {
        const UseInstructionSet use(target);
        for (const int threads : {1, 2}) {
            Context context;
            context.threads = threads;
            const auto found = sequence_weights(alignment.letters, 0.8, context);
            EXPECT_EQ(found, expected) << hwy::TargetName(target) << ", threads " << threads;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Families, ReferenceWeights,
                         testing::Values("1atzA", "demo1000", "PF00014", "DHFR"),
                         [](const auto& name) { return std::string(name.param); });

TEST(DeepFamily, EveryHundredthSequenceHasTheWeightOfTheDefinition) {
    const auto file = kShared / "data" / "alignments" / "PF00595deep_2h3l.aln.gz";
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "needs " << file;
    const Alignment alignment = read_alignment(file);
    const Index columns = alignment.column_count();
    const Index enough = min_identical(0.8, columns);
    Context context;
    context.threads = 2;
    const auto found = sequence_weights(alignment.letters, 0.8, context);
    for (Index n = 0; n < alignment.sequence_count(); n += 100) {
        const std::uint8_t* row = alignment.letters[n].data;
        Index count = 0;
        for (Index m = 0; m < alignment.sequence_count(); ++m) {
            const std::uint8_t* other = alignment.letters[m].data;
            Index identical = 0;
            for (Index i = 0; i < columns; ++i) identical += row[i] == other[i];
            count += identical >= enough;
        }
        ASSERT_EQ(found[static_cast<std::size_t>(n)], 1.0 / static_cast<double>(count)) << n;
    }
}

}  // namespace
}  // namespace pleat::weights
