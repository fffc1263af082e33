// Packing: planes keep every difference between sequences, and copies are counted.
#include "pleat/weights/kernel.h"

#include <gtest/gtest.h>

#include <bit>
#include <tuple>

#include "pleat/weights/tests/random_family.h"

namespace pleat::weights {
namespace {

Index differing_columns(View<const std::uint8_t, 2> letters, Index n, Index m) {
    Index count = 0;
    for (Index i = 0; i < letters.extent(1); ++i) count += letters(n, i) != letters(m, i);
    return count;
}

Index differing_bits(const BitPlanes& packed, Index u, Index v) {
    Index count = 0;
    for (Index word = 0; word < packed.word_count(); ++word) {
        std::uint64_t any = 0;
        for (Index p = 0; p < packed.plane_count(); ++p) {
            any |= packed.bits(u / 8, word, p, u % 8) ^ packed.bits(v / 8, word, p, v % 8);
        }
        count += std::popcount(any);
    }
    return count;
}

class Packing : public testing::TestWithParam<std::tuple<Index, Index, int>> {};

TEST_P(Packing, KeepsEveryDifferenceAndCountsCopies) {
    const auto [sequences, columns, codes] = GetParam();
    const auto letters = random_family(sequences, columns, codes, 7);
    const BitPlanes packed = pack(letters);
    ASSERT_EQ(packed.distinct.size(), static_cast<std::size_t>(sequences));
    for (Index n = 0; n < sequences; ++n) {
        Index copies = 0;
        const Index u = packed.distinct[static_cast<std::size_t>(n)];
        for (Index m = 0; m < sequences; ++m) {
            const Index v = packed.distinct[static_cast<std::size_t>(m)];
            const Index differences = differing_columns(letters, n, m);
            ASSERT_EQ(differing_bits(packed, u, v), differences) << n << " " << m;
            ASSERT_EQ(u == v, differences == 0) << n << " " << m;
            copies += differences == 0;
        }
        EXPECT_EQ(packed.multiplicity(u / 8, u % 8), static_cast<std::uint64_t>(copies));
    }
    const BitPlanes threaded = pack(letters, 3);
    EXPECT_TRUE(std::equal(packed.bits.begin(), packed.bits.end(), threaded.bits.begin()));
    std::uint64_t total = 0;
    for (const std::uint64_t copies : packed.multiplicity) total += copies;
    EXPECT_EQ(total, static_cast<std::uint64_t>(sequences));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Packing,
                         testing::Values(std::tuple(2, 1, 2), std::tuple(9, 63, 5),
                                         std::tuple(40, 64, 21), std::tuple(41, 65, 8),
                                         std::tuple(33, 130, 9), std::tuple(30, 128, 32),
                                         std::tuple(30, 77, 33), std::tuple(30, 200, 256)));

TEST(Packing, UsesAsManyPlanesAsTheCodesNeed) {
    Array<std::uint8_t, 2> letters(2, 3);
    for (const auto& [code, planes] :
         {std::pair{0, 3}, {7, 3}, {8, 5}, {31, 5}, {32, 8}, {255, 8}}) {
        letters(1, 2) = static_cast<std::uint8_t>(code);
        EXPECT_EQ(pack(letters).plane_count(), planes) << code;
    }
}

TEST(Packing, PutsDiverseColumnsIntoTheFirstWord) {
    // Of 128 columns the odd ones are constant: the first word then holds every difference.
    Array<std::uint8_t, 2> letters = random_family(50, 128, 21, 3);
    for (Index n = 0; n < 50; ++n) {
        for (Index i = 1; i < 128; i += 2) letters(n, i) = 4;
    }
    const BitPlanes packed = pack(letters);
    ASSERT_EQ(packed.word_count(), 2);
    for (Index u = 1; u < 8; ++u) {
        for (Index p = 0; p < packed.plane_count(); ++p) {
            EXPECT_EQ(packed.bits(0, 1, p, u), packed.bits(0, 1, p, 0));
        }
    }
}

}  // namespace
}  // namespace pleat::weights
