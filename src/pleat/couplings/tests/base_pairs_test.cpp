// Base pairs: from marks to columns, helices found in made scores, and the classes beside them.
#include "pleat/couplings/contacts/contact_list.h"

#include <gtest/gtest.h>

#include "pleat/core/error.h"
#include "small_family.h"

namespace pleat::couplings {
namespace {

using pleat::testing::SmallFamily;
using Pairs = std::vector<std::pair<Index, Index>>;

TEST(BasePairs, CountColumnsOrResiduesOfTheReference) {
    SmallFamily family(3, 4, Alphabet::rna(), 1);  // columns 0, 2, 4, 6 of the source
    const ReferenceRow reference{
        .name = "row", .letters = "A-C-GU-", .sequence = "ACGU", .numbers = {1, 0, 2, 0, 3, 4, 0}};
    const BasePairs by_column = given_base_pairs({"((...))", "s.db"}, family.alignment, reference);
    EXPECT_TRUE(by_column.is_given);
    EXPECT_EQ(by_column.pairs, (Pairs{{0, 3}}));  // column 1 of the source was left out
    // Marks of columns that the RF line leaves out count for nothing.
    EXPECT_EQ(
        given_base_pairs({"(.(...)).", "s.sto", {0, 2, 3, 4, 5, 6, 7}}, family.alignment, reference)
            .pairs,
        by_column.pairs);
    EXPECT_EQ(given_base_pairs({"(.).", "s.db"}, family.alignment, reference).pairs,
              (Pairs{{0, 2}}));  // residues 1 and 3 are in columns 0 and 4
    try {
        given_base_pairs({"(..)..", "s.db"}, family.alignment, reference);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(),
                     "s.db: expected 7 marks (columns) or 4 (residues of row 'row'), found 6");
    }
}

/// A family whose columns 0-3 pair with 14-11, with strong scores for these pairs alone.
SmallFamily hairpin() {
    SmallFamily family(40, 15, Alphabet::rna(), 2);
    const int partner[] = {3, 2, 1, 0};  // of A, C, G, U
    family.result.corrected.fill(0);
    for (Index k = 0; k < 4; ++k) {
        for (Index n = 0; n < 40; ++n) {
            std::uint8_t& letter = family.alignment.letters(n, k);
            letter = static_cast<std::uint8_t>(letter % 4);
            family.alignment.letters(n, 14 - k) = static_cast<std::uint8_t>(partner[letter]);
        }
        family.result.corrected(k, 14 - k) = family.result.corrected(14 - k, k) = 5;
    }
    return family;
}

BasePairs found_in(const SmallFamily& family) {
    return find_base_pairs(family.alignment, family.result.weights, family.result.corrected,
                           {.mean = 0, .deviation = 1});
}

TEST(BasePairs, AreFoundWhereScoresStackAndLettersPair) {
    SmallFamily family = hairpin();
    const BasePairs found = found_in(family);
    EXPECT_FALSE(found.is_given);
    EXPECT_EQ(found.pairs, (Pairs{{0, 14}, {1, 13}, {2, 12}, {3, 11}}));

    SmallFamily unstacked = hairpin();
    for (const Index k : {1, 3})
        unstacked.result.corrected(k, 14 - k) = unstacked.result.corrected(14 - k, k) = 1.9;
    EXPECT_TRUE(found_in(unstacked).pairs.empty());

    SmallFamily unpaired = hairpin();
    for (Index n = 0; n < 40; ++n) unpaired.alignment.letters(n, 0) = 0;
    EXPECT_EQ(found_in(unpaired).pairs, (Pairs{{1, 13}, {2, 12}, {3, 11}}));
}

TEST(BasePairs, HaveOnePartnerPerColumn) {
    SmallFamily family = hairpin();
    family.result.corrected(1, 14) = family.result.corrected(14, 1) = 4;
    family.result.corrected(2, 13) = family.result.corrected(13, 2) = 4;
    for (Index n = 0; n < 40; ++n)
        for (Index k = 0; k < 15; ++k) family.alignment.letters(n, k) = k < 8 ? 2 : 1;
    EXPECT_EQ(found_in(family).pairs.size(), 4u);
}

TEST(PairClasses, SurroundBasePairs) {
    const Array<PairClass, 2> given = pair_classes({.pairs = {{2, 9}}, .is_given = true}, 12);
    EXPECT_EQ(given(2, 9), PairClass::helix);
    EXPECT_EQ(given(9, 2), PairClass::helix);
    EXPECT_EQ(given(0, 11), PairClass::beside);
    EXPECT_EQ(given(4, 7), PairClass::beside);
    EXPECT_EQ(given(5, 9), PairClass::tertiary);
    EXPECT_EQ(given(0, 6), PairClass::tertiary);
    const Array<PairClass, 2> found = pair_classes({.pairs = {{2, 9}}, .is_given = false}, 12);
    EXPECT_EQ(found(2, 10), PairClass::beside);
    EXPECT_EQ(found(5, 9), PairClass::unknown);
    EXPECT_EQ(name_of(found(5, 9)), "NA");
}

}  // namespace
}  // namespace pleat::couplings
