// Packing: base64, 16-bit matrices, block means of distance files, and tables.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "pleat/core/error.h"
#include "pleat/report/run_files.h"
#include "small_run.h"

namespace pleat::report {
namespace {

using namespace testing;
using pleat::test::error_text;

std::string encoded(const std::string& text) {
    return base64({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// The examples of RFC 4648, section 10.
TEST(Base64, MatchesTheStandard) {
    EXPECT_EQ(encoded(""), "");
    EXPECT_EQ(encoded("f"), "Zg==");
    EXPECT_EQ(encoded("fo"), "Zm8=");
    EXPECT_EQ(encoded("foo"), "Zm9v");
    EXPECT_EQ(encoded("foob"), "Zm9vYg==");
    EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
    EXPECT_EQ(encoded("\xff\xfe\xfd"), "//79");
}

TEST(EncodeSymmetric, KeepsNumbersToHalfAStep) {
    std::mt19937_64 source(3);
    std::normal_distribution<double> normal;
    std::vector<double> values(45);
    for (double& value : values) value = 1e3 * normal(source);
    values[7] = std::nan("");
    values[8] = INFINITY;
    const Json packed = encode_symmetric(values, 10, false);
    const std::vector<double> back = unpacked(packed);
    ASSERT_EQ(back.size(), values.size());
    const double half_step =
        (packed["most"].get<double>() - packed["least"].get<double>()) / 131068;
    for (std::size_t at = 0; at < values.size(); ++at) {
        if (std::isfinite(values[at]))
            EXPECT_NEAR(back[at], values[at], half_step * 1.001) << at;
        else
            EXPECT_TRUE(std::isnan(back[at])) << at;
    }
}

TEST(EncodeSymmetric, EncodesConstantAndMissingNumbers) {
    EXPECT_EQ(unpacked(encode_symmetric(std::vector<double>{2, 2, 2}, 3, false)),
              (std::vector<double>{2, 2, 2}));
    EXPECT_TRUE(std::isnan(unpacked(encode_symmetric(std::vector<double>{NAN}, 2, false))[0]));
    EXPECT_TRUE(unpacked(encode_symmetric({}, 1, false)).empty());
}

/// All pairs of frames on a line, condensed.
std::vector<float> line_distances(Index frames) {
    std::vector<float> pairs;
    for (Index i = 0; i < frames; ++i)
        for (Index j = i + 1; j < frames; ++j)
            pairs.push_back(static_cast<float>(j - i) + 0.25F * static_cast<float>(i));
    return pairs;
}

TEST(ReadDistances, ReadsCondensedAndSquareFilesAlike) {
    const TemporaryFolder folder;
    const Index frames = 7;
    const std::vector<float> pairs = line_distances(frames);
    write_npy(folder / "condensed.npy", pairs.data(), {static_cast<Index>(pairs.size())});
    std::vector<double> square(frames * frames, 0);
    for (Index i = 0, at = 0; i < frames; ++i)
        for (Index j = i + 1; j < frames; ++j, ++at)
            square[i * frames + j] = square[j * frames + i] = pairs[at];
    write_npy(folder / "square.npy", square.data(), {frames, frames});
    const DistanceCells a = read_distances(folder / "condensed.npy", 100, 0),
                        b = read_distances(folder / "square.npy", 100, 0);
    EXPECT_EQ(a.rows, frames);
    EXPECT_EQ(a.values, b.values);
    Index at = 0, pair = 0;
    for (Index i = 0; i < frames; ++i)
        for (Index j = i; j < frames; ++j, ++at)
            EXPECT_EQ(a.values[at], i == j ? 0 : pairs[pair++]) << i << ' ' << j;
}

// 23 frames in cells of 4: six cells, the last of three frames.
TEST(ReadDistances, AveragesBlocks) {
    const TemporaryFolder folder;
    const Index frames = 23, block = 4;
    const std::vector<float> pairs = line_distances(frames);
    write_npy(folder / "rmsd.npy", pairs.data(), {static_cast<Index>(pairs.size())});
    const DistanceCells cells = read_distances(folder / "rmsd.npy", 6, 0);
    ASSERT_EQ(cells.block, block);
    ASSERT_EQ(cells.rows, 6);
    Index at = 0;
    for (Index a = 0; a < cells.rows; ++a)
        for (Index b = a; b < cells.rows; ++b, ++at) {
            double sum = 0, count = 0;
            Index pair = 0;
            for (Index i = 0; i < frames; ++i)
                for (Index j = i + 1; j < frames; ++j, ++pair)
                    if (i / block == a && j / block == b) sum += pairs[pair], ++count;
            EXPECT_NEAR(cells.values[at], sum / count, 1e-9) << a << ' ' << b;
        }
}

TEST(ReadDistances, KeepsOneSetAgainstAnother) {
    const TemporaryFolder folder;
    std::vector<double> values(5 * 3);
    for (std::size_t at = 0; at < values.size(); ++at) values[at] = static_cast<double>(at * at);
    write_npy(folder / "sets.npy", values.data(), {5, 3});
    const DistanceCells all = read_distances(folder / "sets.npy", 5, 0),
                        two = read_distances(folder / "sets.npy", 3, 0);
    EXPECT_FALSE(all.symmetric);
    EXPECT_EQ(all.values, values);
    EXPECT_EQ(unpacked(encode_rectangle(all.values, 5, 3)).size(), 15U);
    ASSERT_EQ(two.rows, 3);
    ASSERT_EQ(two.columns, 2);
    EXPECT_EQ(two.values[0], (0 + 1 + 9 + 16) / 4.0);
    EXPECT_EQ(two.values[1], (4 + 25) / 2.0);
    EXPECT_EQ(two.values[5], 14 * 14);
    // As many frames in both sets: told by what is not symmetric, or not alike on the diagonal.
    for (const std::size_t odd : {std::size_t{1}, std::size_t{4}}) {
        std::vector<double> square = {0, 1, 2, 1, 0, 3, 2, 3, 0};
        write_npy(folder / "square.npy", square.data(), {3, 3});
        EXPECT_TRUE(read_distances(folder / "square.npy", 9, 0).symmetric);
        EXPECT_FALSE(read_distances(folder / "square.npy", 9, 1).symmetric);
        square[odd] = 7;
        write_npy(folder / "square.npy", square.data(), {3, 3});
        const DistanceCells cells = read_distances(folder / "square.npy", 9, 0);
        EXPECT_FALSE(cells.symmetric);
        EXPECT_EQ(cells.values, square);
    }
}

// A frame beside itself has no part in a block's mean, of a square file as of a condensed one.
TEST(ReadDistances, OmitsTheDiagonalFromMeans) {
    const TemporaryFolder folder;
    const std::vector<double> square = {1, 0.2, 0.4, 0.2, 1, 0.6, 0.4, 0.6, 1};
    write_npy(folder / "tm.npy", square.data(), {3, 3});
    const DistanceCells cells = read_distances(folder / "tm.npy", 2, 1);
    EXPECT_TRUE(cells.symmetric);
    EXPECT_NEAR(cells.values[0], 0.2, 1e-12);
    EXPECT_NEAR(cells.values[1], 0.5, 1e-12);
    EXPECT_TRUE(std::isnan(cells.values[2]));
}

TEST(ReadDistances, MarksCellsWithoutPairsAsMissing) {
    const TemporaryFolder folder;
    const std::vector<float> pairs = line_distances(3);
    write_npy(folder / "rmsd.npy", pairs.data(), {3});
    const DistanceCells cells = read_distances(folder / "rmsd.npy", 2, 0);
    ASSERT_EQ(cells.values.size(), 3U);
    EXPECT_TRUE(std::isnan(cells.values[2]));  // frame 2 alone
}

TEST(ReadDistances, RefusesOtherShapesTypesAndLengths) {
    const TemporaryFolder folder;
    const std::vector<float> five(5), six(6);
    const auto refused = [&](const char* name) {
        return error_text<InputError>([&] { read_distances(folder / name, 10, 0); });
    };
    write_npy(folder / "five.npy", five.data(), {5});
    EXPECT_NE(refused("five.npy").find("expected all pairs of frames or a matrix, found [5]"),
              std::string::npos);
    write_npy(folder / "solid.npy", six.data(), {1, 2, 3});
    EXPECT_NE(refused("solid.npy").find("found [1, 2, 3]"), std::string::npos);
    const std::vector<std::int32_t> integers(6);
    write_npy(folder / "integers.npy", integers.data(), {6});
    EXPECT_NE(refused("integers.npy").find("expected distances as <f4 or <f8"), std::string::npos);
    write_npy(folder / "short.npy", six.data(), {6});
    std::filesystem::resize_file(folder / "short.npy",
                                 std::filesystem::file_size(folder / "short.npy") - 1);
    EXPECT_NE(refused("short.npy").find("expected 24 bytes behind the header, found 23"),
              std::string::npos);
    EXPECT_NE(refused("absent.npy").find("cannot be read"), std::string::npos);
}

TEST(Table, ReadsLinesOfAnyEnding) {
    const TemporaryFolder folder;
    spill(folder / "t.tsv", "a\tb\r\n1\tx\r\nNA\t\r\n-2.5e3\tz");
    const Table table = read_table(folder / "t.tsv", 2);
    EXPECT_EQ(table.total, 3);
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(table.rows[1], (std::vector<std::string>{"NA", ""}));
    const std::vector<double> a = read_table(folder / "t.tsv", 9).numbers("a");
    EXPECT_EQ(a[0], 1);
    EXPECT_TRUE(std::isnan(a[1]));
    EXPECT_EQ(a[2], -2500);
}

TEST(Table, NamesTheWrongLine) {
    const TemporaryFolder folder;
    const std::string path = folder / "t.tsv";
    const auto refused = [&](const std::string& text, const char* column) {
        spill(path, text);
        return error_text<InputError>([&] { read_table(path, 9).numbers(column); });
    };
    EXPECT_EQ(refused("", "a"), path + ": expected a header line, found an empty file");
    EXPECT_EQ(refused("a\tb\n1\t2\n3\n", "a"), path + ":3: expected 2 cells, found 1");
    EXPECT_EQ(refused("a\n1\n\n2\n", "a"), path + ":3: expected a number as a, found ''");
    EXPECT_EQ(refused("a\n1\n2x\n", "a"), path + ":3: expected a number as a, found '2x'");
    EXPECT_EQ(refused("a\n1\n", "b"), path + ":1: expected a column 'b', found none");
}

}  // namespace
}  // namespace pleat::report
