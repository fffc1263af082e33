// The GPU kernel's steps and their order, run thread by thread on the host: the reference's
// integers.
#include "host_gpu.h"  // before all that it imitates

#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "pleat/mutual_information/cuda/residue_steps.cuh"
#include "pleat/mutual_information/tree/residue_pairs.h"
#include "random_columns.h"
#include "sampled.h"

namespace pleat::mutual_information {
namespace {

using test::expect_equal;
using test::Found;
using test::found_pairs;
using test::found_triples;
using GpuOnHost = cuda::GpuKernel<HostGpu>;

struct Given {
    CodedColumns columns;
    Statistic statistic;
    Problem problem;

    explicit Given(CodedColumns from, std::uint64_t seed = 42)
        : columns(std::move(from)),
          statistic(make_statistic(columns.row_count())),
          problem{&columns, &statistic, seed} {}
    Given(const Given&) = delete;
};

CodedColumns letters_of(Index rows, Index columns, int symbols, unsigned seed) {
    std::mt19937 random(seed);
    Array<std::uint8_t, 2> letters(rows, columns);
    for (std::uint8_t& letter : letters)
        letter = static_cast<std::uint8_t>(random() % static_cast<unsigned>(symbols));
    return compact_columns(letters);
}

void expect_pairs_of_the_reference(const Given& given, HostGpuState& state,
                                   const std::vector<Index>& lengths) {
    GpuOnHost kernel(given.problem, HostGpu(state));
    const auto reference = make_reference_kernel(given.problem);
    expect_equal(found_pairs(kernel, given.columns, 3, lengths),
                 found_pairs(*reference, given.columns, 3, lengths));
}

void expect_triples_of_the_reference(const Given& given, HostGpuState& state,
                                     const TripleTile& tile, Block shuffles) {
    GpuOnHost kernel(given.problem, HostGpu(state));
    const auto reference = make_reference_kernel(given.problem);
    expect_equal(found_triples(kernel, tile, shuffles), found_triples(*reference, tile, shuffles));
}

struct Shape {
    Index rows, columns;
    int symbols;
    Index shuffles;
};
// No multiple of a word's rows, of 32 shuffles, of strips of planes; one symbol and 32.
const Shape kShapes[] = {{1, 4, 1, 3},    {2, 3, 2, 9},    {31, 2, 5, 1},    {33, 6, 4, 8},
                         {64, 7, 22, 33}, {97, 13, 6, 40}, {100, 5, 32, 64}, {150, 9, 13, 5}};

TEST(GpuOnHost, CountsPairsLikeTheReference) {
    for (const Shape& shape : kShapes) {
        SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns));
        HostGpuState state;
        const Index half = shape.shuffles / 2;
        expect_pairs_of_the_reference(
            Given(random_columns(shape.rows, shape.columns, shape.symbols, 7)), state,
            {half, shape.shuffles - half});
        EXPECT_EQ(state.used_bytes, 0);
    }
}

TEST(GpuOnHost, CountsTriplesLikeTheReference) {
    for (const Shape& shape : kShapes) {
        SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns));
        const Index used = std::min<Index>(shape.columns, 9);
        const Given given(random_columns(shape.rows, used, shape.symbols, 8));
        HostGpuState state;
        for (const Tile& tile : triple_tiles(used, 4))
            expect_triples_of_the_reference(given, state, triple_tile(tile.side),
                                            {5, std::min<Index>(shape.shuffles, 35)});
    }
}

// Evenly frequent symbols: strips of one column, of two, and of five.
TEST(GpuOnHost, CountsTablesWithManySymbols) {
    for (const int symbols : {6, 7, 12, 13, 22, 32}) {
        SCOPED_TRACE(symbols);
        HostGpuState state;
        const Given given(letters_of(230, 4, symbols, 9));
        expect_pairs_of_the_reference(given, state, {34});
        const Block side{0, 4};
        expect_triples_of_the_reference(given, state, triple_tile({side, side, side}), {1, 20});
    }
}

// Columns of one to six symbols beside each other, so that they begin anywhere in a strip.
TEST(GpuOnHost, CountsTablesOfMixedColumns) {
    Array<std::uint8_t, 2> letters(160, 25);
    std::mt19937 random(10);
    for (Index column = 0; column < 25; ++column) {
        for (Index row = 0; row < 160; ++row)
            letters(row, column) = static_cast<std::uint8_t>(random() % (column % 6 + 1));
    }
    HostGpuState state;
    const Given given(compact_columns(letters));
    expect_pairs_of_the_reference(given, state, {32});
    const Block sides[3] = {{2, 2}, {0, 25}, {0, 25}};
    expect_triples_of_the_reference(given, state, triple_tile(sides), {0, 2});
}

// Slices of every length about the 128 and 256 rows of a product, that begin anywhere in a word.
TEST(GpuOnHost, CountsSlicesOfAnyLength) {
    for (const Index longest : {127, 128, 129, 160, 161, 255, 256, 257, 300, 700}) {
        SCOPED_TRACE(longest);
        const Index rows = longest + 1 + 40 + 2;
        Array<std::uint8_t, 2> letters(rows, 4);
        std::mt19937 random(static_cast<unsigned>(longest));
        for (Index row = 0; row < rows; ++row) {
            letters(row, 0) = row < longest ? 0 : row < longest + 1 ? 3 : row < longest + 3 ? 2 : 1;
            for (Index column = 1; column < 4; ++column)
                letters(row, column) = static_cast<std::uint8_t>(random() % 4);
        }
        HostGpuState state;
        const Block all{0, 4};
        expect_triples_of_the_reference(Given(compact_columns(letters)), state,
                                        triple_tile({all, all, all}), {0, 3});
    }
}

// Columns of single rows have no plane, but results.
TEST(GpuOnHost, CountsColumnsWithoutPlanes) {
    Array<std::uint8_t, 2> letters(20, 5);
    for (Index row = 0; row < 20; ++row) {
        for (Index column = 0; column < 5; ++column)
            letters(row, column) = static_cast<std::uint8_t>(column == 3 ? row / 7 : row);
    }
    HostGpuState state;
    const Given given(compact_columns(letters));
    expect_pairs_of_the_reference(given, state, {33});
    const Block all{0, 5};
    expect_triples_of_the_reference(given, state, triple_tile({all, all, all}), {0, 3});
}

// Shared memory that holds the strips of one table at a time, and none at all.
TEST(GpuOnHost, CountsWithLittleSharedMemory) {
    const Given given(random_columns(200, 30, 9, 17));
    const Block all{0, 30};
    const TripleTile tile = triple_tile({Block{0, 2}, all, all});
    const Index stride = cuda::plane_stride(200);
    for (const int strips : {0, 2, 3, 5}) {
        SCOPED_TRACE(strips);
        HostGpuState state;
        state.shared_bytes = cuda::count_shared_bytes(201, strips, static_cast<int>(stride));
        expect_pairs_of_the_reference(given, state, {3});
        expect_triples_of_the_reference(given, state, tile, {0, 2});
    }
}

TEST(GpuOnHost, CountsTilesOfAnySides) {
    const Given given(random_columns(70, 14, 5, 11));
    const Block sides[][3] = {
        {{0, 3}, {2, 4}, {9, 5}},   {{0, 14}, {0, 14}, {0, 14}}, {{1, 2}, {5, 1}, {6, 1}},
        {{3, 3}, {3, 6}, {5, 9}},   {{4, 3}, {4, 3}, {12, 2}},   {{5, 2}, {8, 4}, {0, 14}},
        {{0, 1}, {1, 12}, {3, 11}}, {{11, 3}, {11, 3}, {11, 3}}, {{12, 2}, {12, 2}, {12, 2}}};
    for (const auto& side : sides) {
        SCOPED_TRACE(std::to_string(side[0].first) + " " + std::to_string(side[1].first) + " " +
                     std::to_string(side[2].first));
        HostGpuState state;
        expect_triples_of_the_reference(given, state, triple_tile(side), {0, 6});
    }
}

// What a kernel for 200 shuffles of these columns takes besides the planes of shuffles.
std::int64_t bytes_besides(const Given& given, Index items) {
    constexpr std::int64_t kReserve = 64 << 20, kFixed = 10 << 10;
    return kReserve + kFixed + cuda::item_bytes(items, 200);
}

TEST(GpuOnHost, CountsPairsInBatchesIfMemoryIsShort) {
    const Given given(random_columns(90, 8, 6, 12));
    const std::int64_t group = cuda::group_bytes(given.columns) + cuda::difference_bytes(28);
    for (const Index groups : {1, 2, 5}) {
        SCOPED_TRACE(groups);
        HostGpuState state;
        state.total_bytes = bytes_besides(given, 28) + (groups + 1) * group;
        expect_pairs_of_the_reference(given, state, {200});
        EXPECT_GE(state.launches["shuffle columns"], 2);
        EXPECT_LE(state.max_used_bytes, state.total_bytes);
    }
}

TEST(GpuOnHost, CountsTriplesInBatchesIfMemoryIsShort) {
    const Given given(random_columns(90, 11, 4, 12));
    const Block all{0, 11};
    const TripleTile tile = triple_tile({all, all, all});
    const std::int64_t group = cuda::group_bytes(given.columns);
    HostGpuState enough;
    expect_triples_of_the_reference(given, enough, tile, {2, 100});
    EXPECT_EQ(enough.launches["shuffle columns"], 1);
    EXPECT_EQ(enough.launches["count tables"], 2);
    // With the largest memory, the planes of all four groups fit, but not all of their differences.
    for (const Index groups : {3, 6}) {
        SCOPED_TRACE(groups);
        HostGpuState state;
        state.total_bytes = bytes_besides(given, tile.count) + groups * group;
        expect_triples_of_the_reference(given, state, tile, {2, 100});
        EXPECT_EQ(state.launches["shuffle columns"] == 1, groups == 6);
        EXPECT_GT(state.launches["count tables"], 2);
        EXPECT_LE(state.max_used_bytes, state.total_bytes);
    }
}

// What is announced is enough for all shuffles at once, up to those that fill a GPU.
TEST(GpuOnHost, FitsIntoTheEstimatedMemory) {
    const Given given(random_columns(90, 8, 6, 12));
    const Block all{0, 8};
    const TripleTile tile = triple_tile({all, all, all});
    HostGpuState state;
    state.total_bytes = cuda::memory_needed(given.columns, 3, 200);
    expect_pairs_of_the_reference(given, state, {200});
    expect_triples_of_the_reference(given, state, tile, {0, 200});
    EXPECT_EQ(state.launches["shuffle columns"], 2);
}

// The clock of HostGpu counts one second per launch.
TEST(GpuOnHost, ReportsTheSecondsOfAllLaunches) {
    const Given given(random_columns(90, 8, 6, 12));
    const Block all{0, 8};
    HostGpuState state;
    GpuOnHost kernel(given.problem, HostGpu(state));
    EXPECT_EQ(kernel.gpu_seconds(), 0);
    const auto launches = [&] {
        Index sum = 0;
        for (const auto& [what, count] : state.launches) sum += count;
        return static_cast<double>(sum);
    };
    found_pairs(kernel, given.columns, 0, {40});
    const double of_pairs = launches();
    EXPECT_GE(of_pairs, 5);
    EXPECT_EQ(kernel.gpu_seconds(), of_pairs);
    found_triples(kernel, triple_tile({all, all, all}), {0, 40});
    EXPECT_GT(launches(), of_pairs);
    EXPECT_EQ(kernel.gpu_seconds(), launches());
}

// Observing needs memory of its own, which planes that are kept may hold.
TEST(GpuOnHost, FreesPlanesToObserve) {
    const Given given(random_columns(90, 8, 6, 12));
    const Block all{0, 8};
    const TripleTile tile = triple_tile({all, all, all});
    HostGpuState state;
    state.total_bytes = bytes_besides(given, 56) + 7 * cuda::group_bytes(given.columns);
    GpuOnHost kernel(given.problem, HostGpu(state));
    const auto reference = make_reference_kernel(given.problem);
    for (int repeat = 0; repeat < 2; ++repeat) {
        expect_equal(found_pairs(kernel, given.columns, 0, {40}),
                     found_pairs(*reference, given.columns, 0, {40}));
        expect_equal(found_triples(kernel, tile, {0, 40}),
                     found_triples(*reference, tile, {0, 40}));
    }
}

TEST(GpuOnHost, RefusesColumnsThatDoNotFit) {
    const Given given(random_columns(90, 8, 6, 12));
    HostGpuState state;
    state.total_bytes = (64 << 20) + 1000;
    GpuOnHost kernel(given.problem, HostGpu(state));
    std::vector<std::int64_t> observed(28);
    NullSums sums(28);
    try {
        kernel.sample_pairs({0, 10}, {observed.data(), 28}, sums, nullptr);
        FAIL() << "expected a DeviceError";
    } catch (const DeviceError& error) {
        EXPECT_NE(std::string(error.what()).find("32 shuffles of 8 columns of 90 rows"),
                  std::string::npos)
            << error.what();
    }
}

TEST(GpuOnHost, ShufflesOnceForAllTilesOfABlock) {
    const Given given(random_columns(50, 9, 4, 13));
    HostGpuState state;
    GpuOnHost kernel(given.problem, HostGpu(state));
    const auto reference = make_reference_kernel(given.problem);
    for (const Block shuffles : {Block{0, 40}, Block{40, 20}, Block{0, 40}}) {
        for (const Tile& tile : triple_tiles(9, 5)) {
            const TripleTile triples = triple_tile(tile.side);
            expect_equal(found_triples(kernel, triples, shuffles),
                         found_triples(*reference, triples, shuffles));
        }
    }
    EXPECT_EQ(state.launches["shuffle columns"], 3);
}

TEST(GpuOnHost, ShufflesLongColumnsInScratchMemory) {
    const Given given(random_columns(1500, 5, 9, 14));
    HostGpuState state;
    state.shared_bytes = 47 << 10;  // less than the codes of 1500 rows for 32 lanes
    expect_pairs_of_the_reference(given, state, {70});
    EXPECT_EQ(state.used_bytes, 0);
}

// More rows than counts of F that shared memory holds, and counts up to all of them.
TEST(GpuOnHost, ReadsALongTableOfFFromGlobalMemory) {
    HostGpuState state;
    expect_pairs_of_the_reference(Given(random_columns(7000, 3, 3, 15)), state, {2});
}

TEST(GpuOnHost, AcceptsNoShufflesAndNoItems) {
    const Given given(random_columns(20, 2, 3, 16));
    HostGpuState state;
    GpuOnHost kernel(given.problem, HostGpu(state));
    const Block all{0, 2};
    const Found nothing = found_triples(kernel, triple_tile({all, all, all}), {0, 5});
    EXPECT_TRUE(nothing.observed.empty());
    const Found unsampled = found_pairs(kernel, given.columns, 0, {0});
    EXPECT_EQ(unsampled.sums.less_count[0] + unsampled.sums.equal_count[0], 0u);
    EXPECT_EQ(state.launches["shuffle columns"], 0);
}

TEST(GpuOnHost, ScoresPairsOfResidues) {
    std::mt19937 random(3);
    HostGpuState state;
    Context on_cpu;
    on_cpu.device = {Device::Kind::cpu, 0};
    for (const auto& [rows, columns, states] : std::vector<std::tuple<Index, Index, int>>{
             {1, 2, 4}, {16, 3, 20}, {37, 150, 4}, {90, 35, 20}}) {
        Array<std::uint8_t, 2> letters(columns, rows);
        for (std::uint8_t& letter : letters)
            letter = static_cast<std::uint8_t>(random() % static_cast<unsigned>(states + 1));
        std::vector<double> weights;
        for (Index row = 0; row < rows; ++row)
            weights.push_back(static_cast<double>(random() % 1000) / 300);
        for (const bool is_g : {true, false}) {
            const ResidueScoring scoring{IntegerWeights(weights), states, is_g};
            const auto cpu = make_scorer(scoring, 1, on_cpu);
            cuda::GpuResidueScorer<HostGpu> gpu(scoring, 2, HostGpu(state));
            std::vector<double> expected(static_cast<std::size_t>(pair_count(columns)));
            std::vector<double> found(expected.size(), -1);
            cpu->score(letters, 0, expected);
            gpu.score(letters, 1, found);
            EXPECT_EQ(found, expected) << rows << " x " << columns;
        }
    }
}

}  // namespace
}  // namespace pleat::mutual_information
