// Weights of real families: to the last bit those of counted neighbours.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/weights/tests/compiled_targets.h"
#include "pleat/weights/weights.h"

namespace pleat::weights {
namespace {

std::vector<double> numbers(const std::filesystem::path& path) {
    std::vector<double> result;
    ByteSource source(path);
    std::string_view line;
    while (source.next(line)) result.push_back(std::stod(std::string(line)));
    return result;
}

void expect_weights(const Alignment& alignment, const std::vector<double>& expected) {
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

class CommittedFamilies : public testing::TestWithParam<const char*> {};

TEST_P(CommittedFamilies, HaveTheWeightsOfTheirCountedNeighbours) {
    const std::string file = GetParam();
    const NpzReader oracle(test::committed_oracles("weights") / "neighbours.npz");
    std::vector<double> expected;
    for (const double count : oracle.get(file.substr(0, file.find('.'))).as<double>(file))
        expected.push_back(1.0 / count);
    ReadOptions options;
    if (file.ends_with(".sto.gz")) options.insertions = Insertions::keep;
    expect_weights(read_alignment(test::data_folder() / file, options), expected);
}

INSTANTIATE_TEST_SUITE_P(Families, CommittedFamilies,
                         testing::Values("cheY.aln.gz", "trypsin.a2m.gz", "trna.sto.gz"),
                         [](const auto& file) {
                             const std::string name = file.param;
                             return name.substr(0, name.find('.'));
                         });

void expect_each_hundredth_weight(const std::filesystem::path& file) {
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

TEST(SharedFamilies, HaveTheWeightsOfTheDefinition) {
    const std::filesystem::path shared = test::shared_folder(),
                                oracle = shared / "oracle" / "couplings";
    if (!std::filesystem::exists(oracle))
        GTEST_SKIP() << "the larger families of " << oracle << " are absent";
    for (const std::string name : {"1atzA", "demo1000", "PF00014", "DHFR"}) {
        SCOPED_TRACE(name);
        expect_weights(read_alignment(oracle / (name + ".aln.gz")),
                       numbers(oracle / (name + ".weights.gz")));
    }
    expect_each_hundredth_weight(shared / "data" / "alignments" / "PF00595deep_2h3l.aln.gz");
}

}  // namespace
}  // namespace pleat::weights
