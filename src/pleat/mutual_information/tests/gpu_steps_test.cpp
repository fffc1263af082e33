// The pieces of the GPU kernel one by one, on the host: draws, planes, slices, sums, places.
#include "host_gpu.h"  // before all that it imitates

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "pleat/mutual_information/shuffle.h"

namespace pleat::mutual_information {
namespace {

TEST(GpuSteps, DrawsAreTheHostsAlsoWhereWordsAreRefused) {
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
        for (const Index rows : {1, 31, 32}) {
            std::uint8_t codes[32];
            for (std::uint8_t& code : codes)
                code = static_cast<std::uint8_t>(random() % static_cast<unsigned>(symbols));
            std::uint32_t fours[8];
            for (int k = 0; k < 8; ++k) {
                fours[k] = codes[4 * k] | codes[4 * k + 1] << 8 | codes[4 * k + 2] << 16 |
                           static_cast<std::uint32_t>(codes[4 * k + 3]) << 24;
            }
            std::vector<std::uint32_t> planes(32 * cuda::kLanes, 0xdddddddd);
            cuda::write_planes(fours, cuda::valid_rows(rows), symbols,
                               static_cast<int>(std::bit_width(static_cast<unsigned>(symbols - 1))),
                               planes.data());
            for (int a = 0; a < symbols; ++a) {
                for (Index row = 0; row < 32; ++row)
                    EXPECT_EQ(planes[a * cuda::kLanes] >> row & 1, row < rows && codes[row] == a);
            }
            if (symbols < 32) {
                EXPECT_EQ(planes[symbols * cuda::kLanes], 0xdddddddd);
            }
        }
    }
}

TEST(GpuSteps, DifferencesAreRoundedLikeTheHosts) {
    for (const int shift : {0, 1, 13, 40}) {
        for (const std::int64_t d : {std::int64_t{0}, std::int64_t{1}, std::int64_t{4095},
                                     std::int64_t{4096}, std::int64_t{1} << 59}) {
            EXPECT_EQ(cuda::shifted_difference(d, shift), moment_difference(d, shift));
            EXPECT_EQ(cuda::shifted_difference(-d, shift), moment_difference(-d, shift));
        }
    }
}

TEST(GpuSteps, PlacesOfDoublesHaveTheirOrder) {
    const double inf = std::numeric_limits<double>::infinity();
    const double ascending[] = {-inf, -1e300, -2.5, -1e-310, -0.0, 0.0, 1e-310, 2.5, 1e300, inf};
    long long before = cuda::kBelowAll;
    for (const double value : ascending) {
        const long long place = cuda::ordered(std::bit_cast<long long>(value));
        EXPECT_GT(place, before);
        EXPECT_EQ(cuda::ordered(place), std::bit_cast<long long>(value));
        before = place;
    }
}

// What a warp with these values of T adds for an item of an observed T of 5.
void expect_sums_of(const std::vector<long long>& t) {
    constexpr int kValid = 31;
    NullSums expected(1);
    for (int lane = 0; lane < kValid; ++lane) {
        const long long d = t[lane] - 5, cube = d * d * d;
        expected.less[0] += d < 0;
        expected.equal[0] += d == 0;
        expected.first[0] += d;
        expected.second[0] += d * d;
        expected.third_low[0] += cube & 0xffffffff;
        expected.third_high[0] += cube >> 32;
    }
    cuda::Wide sums[cuda::kSums] = {};
    pleat::test::Machine::only().run({1, 1}, {32, 1}, [&] {
        const int lane = static_cast<int>(threadIdx.x);
        cuda::add_to_sums(t[lane], 5, lane < kValid, 0, lane, sums);
    });
    EXPECT_EQ(sums[0], expected.less[0]);
    EXPECT_EQ(sums[1], expected.equal[0]);
    EXPECT_EQ(static_cast<std::int64_t>(sums[2]), expected.first[0]);
    EXPECT_EQ(static_cast<std::int64_t>(sums[3]), expected.second[0]);
    EXPECT_EQ(static_cast<std::int64_t>(sums[4]), expected.third_low[0]);
    EXPECT_EQ(static_cast<std::int64_t>(sums[5]), expected.third_high[0]);
}

TEST(GpuSteps, SumsAreExactAtTheLargestDifferences) {
    constexpr long long kLargest = (1 << 20) - 1;
    for (const long long size : {kLargest, -kLargest, 0LL, 1LL, -1LL, 777LL}) {
        std::vector<long long> alike(32, 5 + size), mixed = alike;
        for (int lane = 2; lane < 32; lane += 3) mixed[lane] = 5 - size;
        expect_sums_of(alike);
        expect_sums_of(mixed);
    }
}

TEST(GpuSteps, CountsCellsOfAnyNumberOfWords) {
    std::mt19937 random(4);
    for (Index words = 0; words < 9; ++words) {
        std::vector<std::uint32_t> rows(3 * (words + 1) * 32), columns(2 * (words + 1) * 32);
        for (std::uint32_t& word : rows) word = static_cast<std::uint32_t>(random());
        for (std::uint32_t& word : columns) word = static_cast<std::uint32_t>(random() | random());
        std::vector<long long> f(33 * 8);
        for (std::size_t n = 0; n < f.size(); ++n) f[n] = static_cast<long long>(n * n * n);
        long long expected = 0;
        for (int r = 0; r < 3; ++r) {
            for (int c = 0; c < 2; ++c) {
                int count = 0;
                for (Index word = 0; word < words; ++word)
                    count += std::popcount(rows[word * 96 + r * 32] & columns[word * 64 + c * 32]);
                expected += f[count];
            }
        }
        EXPECT_EQ((cuda::sum_cells<3, 2>(rows.data(), 96, columns.data(), 64, words, f.data())),
                  expected);
    }
}

TEST(GpuSteps, SlicesHoldTheRowsOfSymbolsInWordsOfTheirOwn) {
    const std::vector<Index> margin = {33, 32, 31, 2, 1, 1};
    const cuda::Slices slices = cuda::symbol_slices(margin);
    ASSERT_EQ(slices.count, 4);
    EXPECT_EQ(cuda::plane_count(margin), 4);
    EXPECT_EQ(slices.words(), 2 + 1 + 1 + 1);
    EXPECT_EQ(slices.first_row[3], 96);
    EXPECT_EQ(slices.rows[3], 2);
    EXPECT_EQ(slices.first_word[2], 3);
    EXPECT_EQ(cuda::symbol_slices(std::vector<Index>{1}).words(), 0);
    EXPECT_EQ(cuda::whole_slice(65).words(), 3);
}

TEST(GpuSteps, BatchesStayWithinTheMemory) {
    for (const std::int64_t available : {100, 149, 150, 1000, 5000, 1000000}) {
        for (const Index wanted : {1, 7, 313, 100000}) {
            for (const std::int64_t slice : {0, 50, 400}) {
                const cuda::Batches batches = cuda::plan_batches(wanted, 100, slice, available);
                EXPECT_EQ(batches.groups == 0, 100 + slice > available);
                EXPECT_LE(batches.groups * 100 + (slice > 0 ? batches.sliced * slice : 0),
                          available);
                EXPECT_LE(batches.groups, std::min(wanted, cuda::kMostGroups));
                EXPECT_EQ(batches.sliced == 0, batches.groups == 0);
            }
        }
    }
    EXPECT_EQ(cuda::plan_batches(313, 100, 400, 1000000).groups, 313);
    EXPECT_EQ(cuda::plan_batches(10, 0, 0, 5).groups, 10);  // columns without planes
}

}  // namespace
}  // namespace pleat::mutual_information
