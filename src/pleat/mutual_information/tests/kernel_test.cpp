// Every kernel gives the integers of the reference: tables, ties, sums and largest z, on any shape.
#include "pleat/mutual_information/kernel/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/mutual_information/kernel/row_counts.h"
#include "random_columns.h"
#include "sampled.h"

namespace pleat::mutual_information {
namespace {

using test::expect_equal;
using test::Found;
using test::found_pairs;
using test::found_triples;

Context context_of(const std::string& device, int threads) {
    Context context;
    context.device = Device::parse(device);
    context.threads = threads;
    return context;
}

/// All pairs, in two blocks of shuffles.
Found sample_pairs(const CodedColumns& columns, const std::string& device, Index shuffles,
                   int threads) {
    const Statistic statistic = make_statistic(columns.row_count());
    const Problem problem{&columns, &statistic, 42};
    const auto kernel = make_kernel(problem, context_of(device, threads));
    const Index half = shuffles / 2;
    return found_pairs(*kernel, columns, 3, {half, shuffles - half});
}

Found sample_triples(const CodedColumns& columns, const std::string& device, const Tile& tile,
                     Index shuffles, int threads) {
    const Statistic statistic = make_statistic(columns.row_count());
    const Problem problem{&columns, &statistic, 43};
    const auto kernel = make_kernel(problem, context_of(device, threads));
    return found_triples(*kernel, triple_tile(tile.side), {5, shuffles});
}

struct Shape {
    Index rows, columns;
    int symbols;
    Index shuffles;
};
// None a multiple of words, lanes or blocks alone; columns of one symbol and of all symbols.
const Shape kShapes[] = {{1, 4, 1, 3},    {2, 3, 2, 9},    {5, 2, 5, 1},    {63, 6, 4, 8},
                         {64, 7, 22, 17}, {65, 9, 6, 33},  {128, 5, 3, 64}, {200, 11, 22, 70},
                         {753, 8, 9, 40}, {300, 30, 5, 20}};

class EveryKernel : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        if (GetParam() != "cuda") return;
        const CudaDevices found = find_cuda_devices(0);
        if (found.devices.empty()) GTEST_SKIP() << found.absence;
    }
};

TEST_P(EveryKernel, CountsPairsLikeTheReference) {
    for (const Shape& shape : kShapes) {
        SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns));
        const CodedColumns columns = random_columns(shape.rows, shape.columns, shape.symbols, 7);
        const Found expected = sample_pairs(columns, "reference", shape.shuffles, 1);
        expect_equal(sample_pairs(columns, GetParam(), shape.shuffles, 1), expected);
        expect_equal(sample_pairs(columns, GetParam(), shape.shuffles, 3), expected);
    }
}

TEST_P(EveryKernel, CountsTriplesLikeTheReference) {
    for (const Shape& shape : kShapes) {
        SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns));
        const Index used = std::min<Index>(shape.columns, 11);
        const CodedColumns columns = random_columns(shape.rows, used, shape.symbols, 8);
        for (const Tile& tile : triple_tiles(used, 4)) {
            const Found expected = sample_triples(columns, "reference", tile, shape.shuffles, 1);
            expect_equal(sample_triples(columns, GetParam(), tile, shape.shuffles, 1), expected);
            expect_equal(sample_triples(columns, GetParam(), tile, shape.shuffles, 3), expected);
        }
    }
}

// Triples of few symbols are counted by bit planes, those of many symbols row by row.
TEST(CpuKernel, AgreesOnEveryInstructionSet) {
    for (const int symbols : {4, 22}) {
        const CodedColumns columns = random_columns(100, 9, symbols, 9);
        const Found pairs = sample_pairs(columns, "reference", 21, 1);
        const Tile tile = triple_tiles(9, 9).front();
        const auto by_rows = std::ranges::count_if(
            triple_tile(tile.side).rows,
            [&](const TripleTile::Row& row) { return counts_by_rows(columns, row); });
        EXPECT_EQ(by_rows > 0, symbols == 22);
        const Found triples = sample_triples(columns, "reference", tile, 21, 1);
        for (const std::string& name : instruction_sets()) {
            SCOPED_TRACE(name);
            restrict_instruction_set(name);
            expect_equal(sample_pairs(columns, "cpu", 21, 2), pairs);
            expect_equal(sample_triples(columns, "cpu", tile, 21, 2), triples);
        }
        restrict_instruction_set("");
    }
}

TEST_P(EveryKernel, ShuffledTablesDifferFromTheObserved) {
    // Two equal columns share all their information: no shuffle reaches it, unless it is the
    // identity.
    Array<std::uint8_t, 2> letters(100, 2);
    for (Index row = 0; row < 100; ++row)
        letters(row, 0) = letters(row, 1) = static_cast<std::uint8_t>(row % 4);
    const Found found = sample_pairs(compact_columns(letters), GetParam(), 50, 2);
    EXPECT_EQ(found.sums.less_count(0), 50u);
    EXPECT_EQ(found.sums.equal_count(0), 0u);
    EXPECT_LT(found.sums.first(0), 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, EveryKernel, testing::Values("reference", "cpu", "cuda"),
                         [](const auto& device) { return device.param; });

}  // namespace
}  // namespace pleat::mutual_information
