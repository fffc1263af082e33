// plmc file: read back by a parser of its own that follows EVcouplings' order of fields.
#include "pleat/couplings/files/plmc_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/tests/temporary_folder.h"
#include "small_family.h"

namespace pleat::couplings {
namespace {

using pleat::testing::SmallFamily;

/// The fields of the layout, in the order in which a reader of "plmc_v2" takes them.
struct Parsed {
    std::vector<std::int32_t> head;  // L, q, sequences, left out, iterations
    std::vector<float> numbers;      // theta, lambda h, lambda J, lambda group, effective
    std::string letters;
    std::vector<float> copies;
    std::string target;
    std::vector<std::int32_t> places;
    std::vector<float> frequencies, fields, pair_frequencies, pairs;
    bool complete = false;
};

struct Cursor {
    const std::vector<std::uint8_t>& bytes;
    std::size_t at = 0;

    template <class T>
    std::vector<T> take(std::size_t count) {
        std::vector<T> values(count);
        if (at + count * sizeof(T) > bytes.size()) throw std::out_of_range("file too short");
        std::memcpy(values.data(), bytes.data() + at, count * sizeof(T));
        at += count * sizeof(T);
        return values;
    }
    std::string text(std::size_t count) {
        const std::vector<char> letters = take<char>(count);
        return {letters.begin(), letters.end()};
    }
};

Parsed parse(const std::filesystem::path& path) {
    const std::vector<std::uint8_t> bytes = read_file(path);
    Cursor cursor{bytes};
    Parsed parsed;
    parsed.head = cursor.take<std::int32_t>(5);
    parsed.numbers = cursor.take<float>(5);
    const auto columns = static_cast<std::size_t>(parsed.head[0]);
    const auto letters = static_cast<std::size_t>(parsed.head[1]);
    const std::size_t blocks = columns * (columns - 1) / 2 * letters * letters;
    parsed.letters = cursor.text(letters);
    parsed.copies =
        cursor.take<float>(static_cast<std::size_t>(Index{parsed.head[2]} + parsed.head[3]));
    parsed.target = cursor.text(columns);
    parsed.places = cursor.take<std::int32_t>(columns);
    parsed.frequencies = cursor.take<float>(columns * letters);
    parsed.fields = cursor.take<float>(columns * letters);
    parsed.pair_frequencies = cursor.take<float>(blocks);
    parsed.pairs = cursor.take<float>(blocks);
    parsed.complete = cursor.at == bytes.size();
    return parsed;
}

Parsed written(const SmallFamily& family, const Parameters& parameters, std::string_view reference,
               int threads) {
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder / "model.plmc";
    write_plmc_model(path, family.alignment, parameters, family.result,
                     {std::string(reference), family.alignment.columns}, threads);
    Parsed parsed = parse(path);
    return parsed;
}

TEST(PlmcFile, HeaderDescribesTheFit) {
    const SmallFamily family(8, 4, Alphabet::protein(), 1);
    Parameters parameters;
    const Parsed parsed = written(family, parameters, "AC-Y", 1);
    EXPECT_TRUE(parsed.complete);
    EXPECT_EQ(parsed.head, (std::vector<std::int32_t>{4, 21, 8, 0, 7}));
    EXPECT_FLOAT_EQ(parsed.numbers[0], 0.2f);
    EXPECT_FLOAT_EQ(parsed.numbers[1], 0.01f);
    EXPECT_FLOAT_EQ(parsed.numbers[2], 0.6f);  // 0.2 (L - 1)
    EXPECT_FLOAT_EQ(parsed.numbers[3], 0.0f);
    EXPECT_FLOAT_EQ(parsed.numbers[4], static_cast<float>(family.result.effective_sequences));
    EXPECT_EQ(parsed.letters, "-ACDEFGHIKLMNPQRSTVWY");
    EXPECT_EQ(parsed.target, "AC-Y");
    EXPECT_EQ(parsed.places, (std::vector<std::int32_t>{1, 3, 5, 7}));
    for (std::size_t n = 0; n < parsed.copies.size(); ++n)
        EXPECT_FLOAT_EQ(parsed.copies[n], static_cast<float>(1 / family.result.weights[n]));
    parameters.sequence_weights = false;
    EXPECT_FLOAT_EQ(written(family, parameters, "AC-Y", 1).numbers[0], -1.0f);
}

/// Every number of the file against plain loops over the alignment, for each alphabet.
void expect_all_numbers(const Alphabet& alphabet, int threads) {
    const Index columns = 5, sequences = 30;
    const SmallFamily family(sequences, columns, alphabet, 11);
    const Parsed parsed = written(family, {}, "AAAAA", threads);
    ASSERT_TRUE(parsed.complete);
    const std::size_t q = parsed.letters.size();
    const auto code = [&](std::size_t place) { return alphabet.code(parsed.letters[place]); };
    const auto frequency = [&](Index i, Index j, std::uint8_t a, std::uint8_t b) {
        double sum = 0;
        for (Index n = 0; n < sequences; ++n) {
            if (family.alignment.letters(n, i) == a && family.alignment.letters(n, j) == b)
                sum += family.result.weights[static_cast<std::size_t>(n)];
        }
        return sum / family.result.effective_sequences;
    };
    std::size_t pair = 0;
    for (Index i = 0; i < columns; ++i) {
        for (std::size_t a = 0; a < q; ++a) {
            const std::size_t at = static_cast<std::size_t>(i) * q + a;
            EXPECT_NEAR(parsed.frequencies[at], frequency(i, i, code(a), code(a)), 1e-6);
            EXPECT_EQ(parsed.fields[at], family.result.model.fields(i, code(a)));
        }
        for (Index j = i + 1; j < columns; ++j, ++pair) {
            for (std::size_t a = 0; a < q; ++a) {
                for (std::size_t b = 0; b < q; ++b) {
                    const std::size_t at = (pair * q + a) * q + b;
                    ASSERT_NEAR(parsed.pair_frequencies[at], frequency(i, j, code(a), code(b)),
                                1e-6);
                    ASSERT_EQ(parsed.pairs[at], family.result.model.pairs(static_cast<Index>(pair),
                                                                          code(a), code(b)));
                }
            }
        }
    }
}

TEST(PlmcFile, HasAllNumbersOfAProtein) { expect_all_numbers(Alphabet::protein(), 1); }
TEST(PlmcFile, HasAllNumbersOfAnRna) { expect_all_numbers(Alphabet::rna(), 1); }
TEST(PlmcFile, IsTheSameWithThreeThreads) { expect_all_numbers(Alphabet::dna(), 3); }

/// The text of the refusal of these bytes as a model.
std::string refusal_of(const std::string& bytes) {
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder / "model.plmc";
    write_text(path, bytes);
    try {
        read_saved_model(path);
    } catch (const InputError& error) {
        return std::string(error.what()).substr(path.string().size());
    }
    return "accepted";
}

TEST(PlmcFile, IsReadBack) {
    for (const Alphabet* alphabet : {&Alphabet::protein(), &Alphabet::rna()}) {
        const SmallFamily family(12, 4, *alphabet, 3);
        const test::TemporaryFolder folder;
        const std::filesystem::path path = folder / "model.plmc";
        write_plmc_model(path, family.alignment, {}, family.result,
                         {"AC-G", family.alignment.columns}, 1);
        EXPECT_TRUE(is_model_file(path));
        const SavedModel saved = read_saved_model(path);
        EXPECT_EQ(saved.about.alphabet, alphabet);
        const Model& model = family.result.model;
        EXPECT_TRUE(
            std::equal(model.fields.begin(), model.fields.end(), saved.model.fields.begin()));
        EXPECT_TRUE(std::equal(model.pairs.begin(), model.pairs.end(), saved.model.pairs.begin()));
        EXPECT_NEAR(saved.about.effective_sequences, family.result.effective_sequences, 1e-5);
        EXPECT_EQ(saved.about.reference, "AC-G");
        EXPECT_EQ(saved.about.first_number, 1);
        EXPECT_EQ(saved.about.numbers, (std::vector<Index>{1, 3, 0, 7}));
        EXPECT_EQ(saved.about.sequence, "AXCXXXG");
        const Array<double, 2> shares = letter_frequencies(family.alignment, family.result.weights);
        for (Index n = 0; n < shares.size(); ++n)
            EXPECT_NEAR(saved.about.frequencies.data()[n], shares.data()[n], 1e-6);
    }
}

TEST(PlmcFile, IsRefusedWhereItIsCutShort) {
    const SmallFamily family(6, 3, Alphabet::rna(), 4);
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder / "model.plmc";
    write_plmc_model(path, family.alignment, {}, family.result, {"ACG", family.alignment.columns},
                     1);
    const std::vector<std::uint8_t> whole = read_file(path);
    const std::string bytes(whole.begin(), whole.end());
    EXPECT_EQ(refusal_of(bytes), "accepted");
    for (const std::size_t size : {std::size_t{10}, std::size_t{60}, bytes.size() / 2})
        EXPECT_NE(refusal_of(bytes.substr(0, size)).find("expected"), std::string::npos) << size;
    EXPECT_EQ(
        refusal_of(bytes.substr(0, bytes.size() - 1)),
        fmt::format(": expected {} bytes of float32 or {} of float64 for 3 columns, 5 letters "
                    "and 6 sequences, found {}",
                    bytes.size(), bytes.size() + 4 * (5 + 6 + 30 + 150), bytes.size() - 1));
    EXPECT_NE(refusal_of(bytes + "x").find("float64"), std::string::npos);
    std::string other = bytes;
    other[40] = 'B';
    EXPECT_EQ(refusal_of(other), ": expected the letters of proteins, RNA or DNA, found 'BACGU'");
    other = bytes;
    other[0] = 0;
    EXPECT_NE(refusal_of(other).find("expected a model of plmc, found 0 columns"),
              std::string::npos);
}

/// A model in float64 of two columns and the letters -ACGU, with this number as its last coupling.
std::string float64_model(double last) {
    std::string bytes;
    const auto append = [&](const auto& value) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    for (const std::int32_t number : {2, 5, 1, 0, 10}) append(number);
    for (int n = 0; n < 5; ++n) append(1.5);
    bytes += "-ACGU";
    append(1.0);
    bytes += "AC";
    for (const std::int32_t number : {5, 6}) append(number);
    for (int n = 0; n < 2 * 10 + 25 + 24; ++n) append(0.25);
    append(last);
    return bytes;
}

TEST(PlmcFile, RefusesNumbersThatFloat32CannotHold) {
    EXPECT_EQ(refusal_of(float64_model(3e38)), "accepted");
    EXPECT_EQ(refusal_of(float64_model(-1e39)),
              ": expected finite numbers of float32, found -1e+39");
    EXPECT_EQ(refusal_of(float64_model(std::nan(""))),
              ": expected finite numbers of float32, found nan");
}

TEST(PlmcFile, HasOnePairForTwoColumns) {
    const SmallFamily family(2, 2, Alphabet::rna(), 5);
    const Parsed parsed = written(family, {}, "A-", 2);
    EXPECT_TRUE(parsed.complete);
    EXPECT_EQ(parsed.pairs.size(), 25u);
}

}  // namespace
}  // namespace pleat::couplings
