// Tests of the steps of the GPU kernel on the host: draws, planes, slices, sums.
#include "host_gpu.h"  // before all that it imitates

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "pleat/mutual_information/kernel/shuffle.h"

namespace pleat::mutual_information {
namespace {

void count_threads(int* threads) { ++*threads; }

__global__ void name_last(unsigned* last) { last[blockIdx.x] = threadIdx.x; }

// Without a barrier a kernel must not depend on the order of its threads.
TEST(HostGpu, RunsTheThreadsOfEverySecondCtaInReverse) {
    HostGpuState state;
    const HostGpu gpu(state);
    unsigned last[2];
    gpu.launch("name the last thread", &name_last, {2}, {64}, 0, &last[0]);
    EXPECT_EQ(std::min(last[0], last[1]), 0U);
    EXPECT_EQ(std::max(last[0], last[1]), 63U);
}

TEST(HostGpu, AcceptsOnlyTheGridsOfAGpu) {
    HostGpuState state;
    const HostGpu gpu(state);
    int threads = 0;
    const auto launch = [&](cuda::Sides grid, cuda::Sides block, Index bytes = 0) {
        gpu.launch("count threads", &count_threads, grid, block, bytes, &threads);
    };
    launch({2, 3}, {64, 16}, state.shared_bytes);
    EXPECT_EQ(threads, 2 * 3 * 64 * 16);
    constexpr Index kTooLong = Index{1} << 31;
    for (const cuda::Sides grid : {cuda::Sides{0, 1}, {1, 0}, {-1, 1}, {kTooLong, 1}, {1, 65536}})
        EXPECT_THROW(launch(grid, {32, 1}), std::logic_error) << grid.x << " " << grid.y;
    for (const cuda::Sides block :
         {cuda::Sides{0, 1}, {1, 0}, {-1, -1}, {1025, 1}, {33, 32}, {kTooLong, kTooLong}})
        EXPECT_THROW(launch({1, 1}, block), std::logic_error) << block.x << " " << block.y;
    EXPECT_THROW(launch({1, 1}, {32, 1}, state.shared_bytes + 1), std::logic_error);
    EXPECT_THROW(launch({1, 1}, {32, 1}, -1), std::logic_error);
}

TEST(GpuSteps, DrawsAgreeWithTheHostAlsoForRefusedWords) {
    // Of a range just above 2^31 nearly half of the words are refused.
    for (const std::uint32_t range : {2u, 3u, 1000u, 0x80000001u, 0xc0000001u, 0xffffffffu}) {
        for (std::uint32_t index = 0; index < 100; ++index) {
            const cuda::Draws draws{0x123456789abcdefULL, 7, 3};
            const auto words = draws.block(index / 4, 0);
            EXPECT_EQ(draws.bounded(words.v[index % 4], index, range),
                      bounded_draw(0x123456789abcdefULL, 7, 3, index, range));
        }
    }
}

TEST(GpuSteps, ShufflesLikeTheHost) {
    for (const std::vector<Index>& margin : {std::vector<Index>{1},
                                             {9},
                                             {1, 1},
                                             {3, 3, 2, 1},
                                             {40, 20, 20, 7, 2, 1, 1, 1, 1},
                                             {31, 1},
                                             {64, 64}}) {
        Index rows = 0;
        for (const Index n : margin) rows += n;
        const std::vector<std::uint32_t> counts(margin.begin(), margin.end());
        std::vector<std::uint32_t> words(cuda::LaneCodes::size(rows));
        for (int lane = 0; lane < 32; ++lane) {
            const auto shuffle = static_cast<std::uint32_t>(100 + lane);
            cuda::shuffle_codes(counts.data(), static_cast<int>(margin.size()),
                                static_cast<std::uint32_t>(rows), {5, shuffle, 2},
                                {words.data(), lane});
        }
        for (int lane = 0; lane < 32; ++lane) {
            std::vector<std::uint8_t> expected(rows), found;
            shuffle_column(margin, 5, static_cast<std::uint32_t>(100 + lane), 2, expected);
            const cuda::LaneCodes codes{words.data(), lane};
            for (Index row = 0; row < rows; ++row)
                found.push_back(codes.at(static_cast<std::uint32_t>(row)));
            EXPECT_EQ(found, expected);
            EXPECT_EQ(codes.four(0) & 0xff, found[0]);
        }
    }
}

TEST(GpuSteps, WritesOneBitForEachRow) {
    std::mt19937 random(3);
    for (const int symbols : {1, 2, 3, 5, 17, 32}) {
        for (const Index rows : {1, 31, 32, 33, 128, 300}) {
            const Index stride = cuda::plane_stride(rows);
            std::vector<std::uint32_t> words(cuda::LaneCodes::size(rows));
            const cuda::LaneCodes codes{words.data(), 5};
            for (Index row = 0; row < cuda::round_up(rows, 32); ++row)
                codes.at(static_cast<std::uint32_t>(row)) =
                    static_cast<std::uint8_t>(random() % static_cast<unsigned>(symbols));
            std::vector<cuda::FourWords> four((symbols + 1) * stride / 4, {{7, 7, 7, 7}});
            std::uint32_t* planes = four.front().words;
            for (Index word = 0; 32 * word < rows; word += 4)
                cuda::write_planes(codes, rows, word, symbols,
                                   std::bit_width(static_cast<unsigned>(symbols - 1)), planes,
                                   stride);
            for (int a = 0; a < symbols; ++a) {
                for (Index row = 0; row < cuda::round_up(rows, 128); ++row) {
                    EXPECT_EQ(planes[a * stride + row / 32] >> row % 32 & 1,
                              row < rows && codes.at(static_cast<std::uint32_t>(row)) == a);
                }
            }
            EXPECT_EQ(planes[symbols * stride], 7u);
        }
    }
}

TEST(GpuSteps, RoundsDifferencesLikeTheHost) {
    for (const int shift : {0, 1, 13, 40}) {
        for (const std::int64_t d : {std::int64_t{0}, std::int64_t{1}, std::int64_t{4095},
                                     std::int64_t{4096}, std::int64_t{1} << 59}) {
            EXPECT_EQ(cuda::shifted_difference(d, shift), moment_difference(d, shift));
            EXPECT_EQ(cuda::shifted_difference(-d, shift), moment_difference(-d, shift));
        }
    }
}

TEST(GpuSteps, OrdersDoublesAsIntegers) {
    const double inf = std::numeric_limits<double>::infinity();
    const double ascending[] = {-inf, -1e300, -2.5, -1e-310, -0.0, 0.0, 1e-310, 2.5, 1e300, inf};
    long long before = cuda::kBelowAll;
    for (const double value : ascending) {
        const long long ordered = cuda::ordered(std::bit_cast<long long>(value));
        EXPECT_GT(ordered, before);
        EXPECT_EQ(cuda::ordered(ordered), std::bit_cast<long long>(value));
        before = ordered;
    }
}

// The sums of an item whose observed T is 5, of shuffles of these T, beside another item.
void expect_sums_of(const std::vector<long long>& t) {
    NullSums expected(1);
    std::vector<std::int32_t> packed;
    for (const long long value : t) {
        const long long d = value - 5, cube = d * d * d;
        expected.less_count[0] += d < 0;
        expected.equal_count[0] += d == 0;
        expected.first[0] += d;
        expected.second[0] += d * d;
        expected.third_low[0] += cube & 0xffffffff;
        expected.third_high[0] += cube >> 32;
        packed.push_back(cuda::pack_difference(1, 0));
        packed.push_back(cuda::pack_difference(d, 0));
    }
    const auto arrangements = static_cast<Index>(t.size());
    cuda::Wide sums[2 * cuda::kSums] = {};
    pleat::test::Machine::only().run({1, 3, 1}, {cuda::kSumThreads, 1, 1}, [&] {
        cuda::sum_differences({packed.data(), 2, arrangements}, (arrangements + 2) / 3, sums);
    });
    EXPECT_EQ(sums[2], t.size());
    const cuda::Wide* found = sums + cuda::kSums;
    EXPECT_EQ(found[0], expected.less_count[0]);
    EXPECT_EQ(found[1], expected.equal_count[0]);
    EXPECT_EQ(static_cast<std::int64_t>(found[2]), expected.first[0]);
    EXPECT_EQ(static_cast<std::int64_t>(found[3]), expected.second[0]);
    EXPECT_EQ(static_cast<std::int64_t>(found[4]), expected.third_low[0]);
    EXPECT_EQ(static_cast<std::int64_t>(found[5]), expected.third_high[0]);
}

TEST(GpuSteps, SumsTheLargestDifferencesExactly) {
    constexpr long long kLargest = 1 << 20;
    for (const long long size : {kLargest, -kLargest, 0LL, 1LL, -1LL, 777LL}) {
        std::vector<long long> alike(32, 5 + size), mixed = alike;
        for (std::size_t n = 2; n < mixed.size(); n += 3) mixed[n] = 5 - size;
        expect_sums_of(alike);
        expect_sums_of(mixed);
    }
}

TEST(GpuSteps, ComparesBeforeRounding) {
    constexpr int kShift = 10;
    const std::pair<long long, int> kinds[] = {
        {-(1LL << 30), 1}, {-1, 1}, {0, 2}, {1, 0}, {1LL << 30, 0}};
    for (const auto& [difference, flags] : kinds) {
        const std::int32_t packed = cuda::pack_difference(difference, kShift);
        EXPECT_EQ(packed & 3, flags);
        EXPECT_EQ(packed >> 2, moment_difference(difference, kShift));
    }
}

TEST(GpuSteps, MasksTheRowsOfASlice) {
    for (int row : {0, 32, 64, 4096}) {
        for (int first = 0; first < 140; first += 3) {
            for (int end = first + 1; end < 140; end += 5) {
                std::uint32_t expected = 0;
                for (int bit = 0; bit < 32; ++bit)
                    expected |= static_cast<std::uint32_t>(row + bit >= first && row + bit < end)
                                << bit;
                if (row + 32 <= first) continue;  // words before a slice are not visited
                EXPECT_EQ(cuda::rows_of_word(row, first, end), expected);
            }
        }
    }
}

TEST(GpuSteps, CutsColumnsIntoStrips) {
    Array<std::uint8_t, 2> letters(64, 9);
    const int symbols[] = {32, 1, 5, 2, 2, 32, 9, 16, 7};
    for (Index column = 0; column < 9; ++column) {
        for (Index row = 0; row < 64; ++row)
            letters(row, column) = static_cast<std::uint8_t>(row % symbols[column]);
    }
    const CodedColumns columns = compact_columns(letters);
    const Block all{0, 9};
    const std::vector<std::int32_t> first = cuda::first_bit_planes(columns, {&all, 1});
    EXPECT_EQ(first, (std::vector<std::int32_t>{0, 32, 34, 40, 42, 44, 76, 86, 102, 110}));
    const std::vector<cuda::Strip> strips = cuda::make_strips(first, all);
    ASSERT_EQ(strips.size(), 5u);
    EXPECT_EQ(strips[1].first_bit_plane, 32);
    EXPECT_EQ(strips[1].first_column, 1);
    EXPECT_EQ(strips[1].columns, 4);
    EXPECT_EQ(strips[1].planes(), 12);
    EXPECT_EQ(strips[1].plane_start[2], 8);
    EXPECT_EQ(strips[1].column_end_bits, 0b111001u);
    EXPECT_EQ(strips[0].column_end_bits, 0x8000u);
    EXPECT_EQ(strips[3].columns, 2);
    EXPECT_EQ(strips[4].first_column, 8);
}

// What a warp reads or writes at once: 32 words in different banks; half-warps of 64 bits likewise.
TEST(GpuSteps, HasNoBankConflicts) {
    for (Index rows = 1; rows < 3000; rows += 31) {
        const Index stride = cuda::plane_stride(rows);
        EXPECT_GE(stride, cuda::word_count(rows));
        std::vector<int> met(32, 0);
        for (Index lane = 0; lane < 32; ++lane) ++met[(lane / 4 * stride + lane % 4) % 32];
        EXPECT_EQ(met, std::vector<int>(32, 1));
    }
    std::vector<int> used(cuda::kScratch, 0);
    for (int row = 0; row < 32; ++row)
        for (int pair = 0; pair < 16; ++pair) ++used[cuda::scratch_index(row, pair)];
    EXPECT_EQ(used, std::vector<int>(cuda::kScratch, 1));
    for (const int half : {0, 16}) {
        std::vector<int> written(16, 0), read(16, 0);
        for (int lane = half; lane < half + 16; ++lane) {
            ++written[cuda::scratch_index(8 + lane / 4, 4 + lane % 4) % 16];
            ++read[cuda::scratch_index(lane, 3) % 16];
        }
        EXPECT_EQ(written, std::vector<int>(16, 1));
        EXPECT_EQ(read, std::vector<int>(16, 1));
    }
}

TEST(GpuSteps, SharesStayWithinTheMemory) {
    for (const Index rows : {1, 140, 753, 6500, 9001, 40001}) {
        const auto stride = static_cast<int>(cuda::plane_stride(rows));
        const auto f_size = static_cast<int>(rows + 1);
        for (const int strips : {1, 2, 9, 36, 1000}) {
            const cuda::CountShare share =
                cuda::plan_share(strips, strips, f_size, stride, 227 << 10);
            EXPECT_LE(share.bytes, 227 << 10);
            EXPECT_GE(share.rows, 1);
            EXPECT_GE(share.columns, 1);
            EXPECT_EQ(share.planes_in_shared, rows < 20000);
            EXPECT_EQ(share.f_in_shared, rows < 6144);
        }
    }
}

TEST(GpuSteps, BatchesStayWithinTheMemory) {
    for (const std::int64_t available : {100, 149, 150, 1000, 5000, 1000000}) {
        for (const Index wanted : {1, 7, 313, 100000}) {
            for (const std::int64_t differences : {10, 50, 400}) {
                const cuda::Batches batches =
                    cuda::fit_batches(wanted, 100, differences, available);
                EXPECT_EQ(batches.groups == 0, 100 + differences > available);
                EXPECT_LE(batches.groups * 100 + batches.counted_groups * differences, available);
                EXPECT_LE(batches.groups, std::min(wanted, cuda::kMaxGroups));
                EXPECT_LE(batches.counted_groups, batches.groups);
                EXPECT_EQ(batches.counted_groups == 0, batches.groups == 0);
            }
        }
    }
    EXPECT_EQ(cuda::fit_batches(313, 100, 400, 1000000).groups, 313);
}

}  // namespace
}  // namespace pleat::mutual_information
