// Tests of the CUDA kernel on a GPU: the CPU's integers on large and odd shapes, memory, threads.
#include <gtest/gtest.h>

#include <thread>

#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/tests/cuda_absence.h"
#include "pleat/mutual_information/cuda/cuda_layout.h"
#include "random_columns.h"
#include "sampled.h"

namespace pleat::mutual_information {
namespace {

using test::expect_equal;
using test::Found;
using test::found_pairs;
using test::found_triples;

class CudaKernel : public testing::Test {
protected:
    void SetUp() override {
        const std::string absence = pleat::test::cuda_absence();
        if (!absence.empty()) GTEST_SKIP() << absence;
    }
};

struct Given {
    CodedColumns columns;
    Statistic statistic;
    Problem problem;

    Given(Index rows, Index count, int symbols, unsigned seed)
        : columns(random_columns(rows, count, symbols, seed)),
          statistic(make_statistic(rows)),
          problem{&columns, &statistic, seed} {}
    Given(const Given&) = delete;

    std::unique_ptr<Kernel> on(Device::Kind kind) const {
        Context context;
        context.device = {kind, 0};
        context.threads = 2;
        return make_kernel(problem, context);
    }
    std::unique_ptr<Kernel> on_gpu() const { return on(Device::Kind::cuda); }
    TripleTile triples(Index first, Index count) const {
        const Block side{first, count};
        return triple_tile({side, side, side});
    }
};

void expect_pairs_of_the_cpu(const Given& given, const std::vector<Index>& lengths) {
    SCOPED_TRACE(std::to_string(given.columns.row_count()) + " rows");
    expect_equal(found_pairs(*given.on_gpu(), given.columns, 1, lengths),
                 found_pairs(*given.on(Device::Kind::cpu), given.columns, 1, lengths));
}

void expect_triples_of_the_cpu(const Given& given, const TripleTile& tile, Block shuffles) {
    SCOPED_TRACE(std::to_string(given.columns.row_count()) + " rows");
    expect_equal(found_triples(*given.on_gpu(), tile, shuffles),
                 found_triples(*given.on(Device::Kind::cpu), tile, shuffles));
}

// What racecheck goes through, with the next: every launch once, on shapes that are no multiple of
// anything. Here codes, planes and F lie in shared memory.
TEST_F(CudaKernel, CountsOneOddShape) {
    const Given given(67, 9, 7, 3);
    expect_pairs_of_the_cpu(given, {33});
    expect_triples_of_the_cpu(given, given.triples(1, 6), {2, 35});
}

// Here neither codes nor F do, and of the longer columns planes do not either.
TEST_F(CudaKernel, CountsOneLongShape) {
    for (const Index rows : {9001, 40001}) {
        const Given given(rows, 4, 5, 14);
        expect_pairs_of_the_cpu(given, {33});
        expect_triples_of_the_cpu(given, given.triples(1, 3), {2, 33});
    }
}

TEST_F(CudaKernel, CountsLargeShapesLikeTheCpu) {
    const Given given(753, 60, 12, 4);
    expect_pairs_of_the_cpu(given, {1000, 1, 95});
    expect_triples_of_the_cpu(given, given.triples(3, 20), {0, 333});
    const Given rna(140, 71, 5, 5);
    expect_triples_of_the_cpu(rna, rna.triples(0, 71), {0, 64});
    const Given diverse(998, 20, 22, 6);
    expect_pairs_of_the_cpu(diverse, {10000});
    expect_triples_of_the_cpu(diverse, diverse.triples(0, 20), {0, 40});
}

TEST_F(CudaKernel, CountsTheSmallestShapes) {
    for (const Index rows : {1, 2, 31, 32, 33}) {
        const Given given(rows, 2, 3, 7);
        expect_pairs_of_the_cpu(given, {1});
        const Given three(rows, 3, 32, 8);
        expect_triples_of_the_cpu(three, three.triples(0, 3), {kMaxShuffles - 1, 1});
    }
}

// The codes of a column go through shared memory up to some 7000 rows, F up to some 6000.
TEST_F(CudaKernel, CountsLongColumns) {
    for (const Index rows : {1600, 5000, 6500, 9000, 40000}) {
        const Given given(rows, 4, 9, 9);
        expect_pairs_of_the_cpu(given, {40});
        expect_triples_of_the_cpu(given, given.triples(0, 4), {0, 33});
    }
}

TEST_F(CudaKernel, GivesTheSameSumsFromRunToRun) {
    const Given given(300, 40, 9, 10);
    const Found first = found_pairs(*given.on_gpu(), given.columns, 0, {500});
    for (int repeat = 0; repeat < 4; ++repeat)
        expect_equal(found_pairs(*given.on_gpu(), given.columns, 0, {500}), first);
}

TEST_F(CudaKernel, UsesNoMoreMemoryThanEstimated) {
    const Given given(753, 100, 9, 11);
    const Index items = pair_count(100);
    std::vector<std::int64_t> observed(items);
    NullSums sums(items);
    const std::int64_t before = use_cuda_device(0).free_bytes;
    const auto kernel = given.on_gpu();
    kernel->observe_pairs({observed.data(), items});
    kernel->sample_pairs({0, 2000}, {observed.data(), items}, sums, nullptr);
    const std::int64_t taken = before - use_cuda_device(0).free_bytes;
    EXPECT_LE(taken, cuda::memory_needed(given.columns, 2, 2000));
}

// Two kernels on one GPU in two threads, each with a stream of its own.
TEST_F(CudaKernel, WorksOnTwoThreadsAtATime) {
    const Given a(200, 40, 6, 12), b(333, 30, 12, 13);
    const Found alone_a = found_pairs(*a.on_gpu(), a.columns, 0, {640});
    const Found alone_b = found_pairs(*b.on_gpu(), b.columns, 0, {640});
    Found together_a, together_b;
    {
        const std::jthread first(
            [&] { together_a = found_pairs(*a.on_gpu(), a.columns, 0, {640}); });
        const std::jthread second(
            [&] { together_b = found_pairs(*b.on_gpu(), b.columns, 0, {640}); });
    }
    expect_equal(together_a, alone_a);
    expect_equal(together_b, alone_b);
}

}  // namespace
}  // namespace pleat::mutual_information
