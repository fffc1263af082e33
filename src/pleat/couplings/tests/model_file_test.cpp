// Model files: what is written comes back, and what does not fit is refused.
#include "pleat/couplings/files/model_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/tests/temporary_folder.h"
#include "small_family.h"

namespace pleat::couplings {
namespace {

using pleat::testing::SmallFamily;

/// A reference row over twice the columns, of which every second was fitted; insertions between.
ReferenceRow reference_of(const SmallFamily& family) {
    ReferenceRow row{.name = "first/7-30", .letters = {}};
    for (Index i = 0; i < family.alignment.column_count(); ++i) {
        row.letters += i == 1 ? "-A" : "CA";
        row.sequence += i == 1 ? "A" : "CWA";
        row.numbers.push_back(i == 1 ? 0 : static_cast<Index>(row.sequence.size()) - 2);
        row.numbers.push_back(static_cast<Index>(row.sequence.size()));
    }
    return row;
}

class ModelFile : public ::testing::Test {
protected:
    void write(const SmallFamily& family) const {
        write_model(path_, family.result.model,
                    describe(family.alignment, family.result.weights, reference_of(family)));
    }
    /// The text of the refusal of the saved model.
    std::string saved_refusal() const {
        try {
            read_saved_model(path_);
        } catch (const InputError& error) {
            return error.what();
        }
        return "accepted";
    }
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
    write(family);
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
    write(family);
    const NpzReader reader(path_);
    EXPECT_EQ(reader.text("letters"), "ACGU-");
    EXPECT_EQ(reader.get("columns").as<std::int64_t>("columns"),
              (std::vector<std::int64_t>{0, 2, 4}));
    EXPECT_EQ(reader.get("pairs").shape, (std::vector<Index>{3, 5, 5}));
}

TEST_F(ModelFile, RefusesAnotherWidthOrAlphabet) {
    const SmallFamily family(4, 3, Alphabet::rna(), 3);
    write(family);
    EXPECT_EQ(
        refusal(SmallFamily(4, 4, Alphabet::rna(), 3)),
        path_.string() + ": array 'fields': expected shape 4 x 5 for this alignment, found 3 x 5");
    EXPECT_EQ(
        refusal(SmallFamily(4, 3, Alphabet::dna(), 3)),
        path_.string() + ": array 'letters': expected the dna letters 'ACGT-', found 'ACGU-'");
}

TEST_F(ModelFile, IsReadBackWithItsDescription) {
    const SmallFamily family(9, 5, Alphabet::protein(), 1);
    write(family);
    EXPECT_TRUE(is_model_file(path_));
    const SavedModel saved = read_saved_model(path_);
    EXPECT_TRUE(std::equal(saved.model.pairs.begin(), saved.model.pairs.end(),
                           family.result.model.pairs.begin()));
    EXPECT_EQ(saved.about.alphabet, &Alphabet::protein());
    EXPECT_EQ(saved.model.letter_count(), saved.about.alphabet->size());
    EXPECT_NEAR(saved.about.effective_sequences, family.result.effective_sequences, 1e-12);
    EXPECT_EQ(saved.about.columns, family.alignment.columns);
    EXPECT_EQ(saved.about.source_columns, 10);
    EXPECT_EQ(saved.about.reference_name, "first/7-30");
    EXPECT_EQ(saved.about.reference, "C-CCC");
    EXPECT_EQ(saved.about.sequence, "CWAACWACWACWA");
    EXPECT_EQ(saved.about.numbers, (std::vector<Index>{1, 0, 5, 8, 11}));
    double sum = 0;
    for (Index a = 0; a < 21; ++a) sum += saved.about.frequencies(3, a);
    EXPECT_NEAR(sum, 1, 1e-12);
}

TEST_F(ModelFile, SaysWhatASavedModelLacks) {
    const SmallFamily family(4, 3, Alphabet::rna(), 2);
    NpzWriter writer(path_);
    writer.add("fields", family.result.model.fields.view());
    writer.add("pairs", family.result.model.pairs.view());
    writer.add_text("letters", "ACGU-");
    writer.close();
    EXPECT_NE(saved_refusal().find("expected the letters' frequencies, found none"),
              std::string::npos)
        << saved_refusal();
    NpzWriter other(path_);
    other.add_text("letters", "01");
    other.close();
    EXPECT_EQ(saved_refusal(), path_.string() +
                                   ": array 'letters': expected the letters of "
                                   "proteins, RNA or DNA, found '01'");
}

TEST_F(ModelFile, RefusesNaN) {
    SmallFamily family(4, 3, Alphabet::rna(), 4);
    family.result.model.pairs(1, 0, 2) = std::numeric_limits<float>::quiet_NaN();
    write(family);
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
