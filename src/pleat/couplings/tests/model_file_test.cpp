// Model files: what is written comes back, and what does not fit is refused.
#include "pleat/couplings/files/model_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/tests/temporary_folder.h"
#include "small_family.h"

namespace pleat::couplings {
namespace {

using pleat::testing::SmallFamily;

class ModelFile : public ::testing::Test {
protected:
    /// The text of the refusal of `path_` for this family.
    std::string refusal(const SmallFamily& family) const {
        try {
            read_model(path_, family.alignment);
        } catch (const InputError& error) {
            return error.what();
        }
        return "accepted";
    }

    const test::TemporaryFolder folder_;
    const std::filesystem::path path_ = folder_ / "couplings.npz";
};

TEST_F(ModelFile, IsReadBackBitForBit) {
    const SmallFamily family(9, 5, Alphabet::protein(), 1);
    write_model(path_, family.result.model, family.alignment);
    const Model back = read_model(path_, family.alignment);
    ASSERT_EQ(back.fields.extent(0), 5);
    ASSERT_EQ(back.pairs.extent(0), 10);
    EXPECT_TRUE(
        std::equal(back.fields.begin(), back.fields.end(), family.result.model.fields.begin()));
    EXPECT_TRUE(
        std::equal(back.pairs.begin(), back.pairs.end(), family.result.model.pairs.begin()));
}

TEST_F(ModelFile, NamesItsLettersAndColumns) {
    const SmallFamily family(4, 3, Alphabet::rna(), 2);
    write_model(path_, family.result.model, family.alignment);
    const NpzReader reader(path_);
    EXPECT_EQ(reader.text("letters"), "ACGU-");
    EXPECT_EQ(reader.get("columns").as<std::int64_t>("columns"),
              (std::vector<std::int64_t>{0, 2, 4}));
    EXPECT_EQ(reader.get("pairs").shape, (std::vector<Index>{3, 5, 5}));
}

TEST_F(ModelFile, RefusesAnotherWidthOrAlphabet) {
    const SmallFamily family(4, 3, Alphabet::rna(), 3);
    write_model(path_, family.result.model, family.alignment);
    EXPECT_EQ(
        refusal(SmallFamily(4, 4, Alphabet::rna(), 3)),
        path_.string() + ": array 'fields': expected shape 4 x 5 for this alignment, found 3 x 5");
    EXPECT_EQ(
        refusal(SmallFamily(4, 3, Alphabet::dna(), 3)),
        path_.string() + ": array 'letters': expected the dna letters 'ACGT-', found 'ACGU-'");
}

TEST_F(ModelFile, RefusesNaN) {
    SmallFamily family(4, 3, Alphabet::rna(), 4);
    family.result.model.pairs(1, 0, 2) = std::numeric_limits<float>::quiet_NaN();
    write_model(path_, family.result.model, family.alignment);
    EXPECT_EQ(refusal(family),
              path_.string() + ": array 'pairs': expected finite numbers, found nan at element 27");
}

TEST_F(ModelFile, RefusesAnArchiveWithoutCouplings) {
    const SmallFamily family(4, 3, Alphabet::rna(), 5);
    NpzWriter writer(path_);
    writer.add_text("letters", "ACGU-");
    writer.close();
    const std::string text = refusal(family);
    EXPECT_NE(text.find("fields"), std::string::npos) << text;
    EXPECT_EQ(text.find(path_.string()), 0u) << text;
}

}  // namespace
}  // namespace pleat::couplings
