// Tests of long texts: lines in their order for any number of threads, and digits as printf has
// them.
#include "pleat/core/files/output_file.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include "pleat/core/files/input_file.h"
#include "pleat/core/loops/threads.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

std::string joined(const TextPieces& pieces) {
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    return text;
}

std::string number(double value, std::chars_format format, int precision) {
    std::string text;
    append_number(text, value, format, precision);
    return text;
}

std::string printed(double value, const char* format) {
    char text[500];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

TEST(OutputFile, TwoWritersOfOneFileDoNotMeet) {
    test::TemporaryFolder folder;
    const std::filesystem::path path = folder / "page.html";
    OutputFile first(path), second(path);
    EXPECT_EQ(folder.names().size(), 2u);
    first.write("first");
    second.write("second");
    first.close();
    EXPECT_EQ(test::slurp(path), "first");
    second.close();
    EXPECT_EQ(test::slurp(path), "second");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"page.html"});
}

TEST(OutputFile, ReusesWhatAKilledWriterLeft) {
    test::TemporaryFolder folder;
    const std::filesystem::path path = folder / "page.html";
    test::spill(folder / "page.html.pleat-part", "a long text of a writer that was killed");
    write_text(path, "whole");
    EXPECT_EQ(test::slurp(path), "whole");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"page.html"});
    for (const char* name : {"page.html.pleat-part", "page.html.2.pleat-part"})
        EXPECT_EQ(complete_name(name), "page.html");
    EXPECT_EQ(complete_name("page.html.part"), "");
}

TEST(LineText, KeepsTheOrderOfLines) {
    for (const Index count : {0, 1, 7, 1000}) {
        std::string expected;
        for (Index line = 0; line < count; ++line) expected += std::to_string(line) + "\n";
        for (const int threads : {1, 2, 5}) {
            const TextPieces pieces = make_lines(threads, count, [](Index line, std::string& text) {
                append_integer(text, line);
                text += '\n';
            });
            EXPECT_EQ(joined(pieces), expected) << count << ' ' << threads;
        }
    }
    std::string smallest;
    append_integer(smallest, std::numeric_limits<Index>::min());
    EXPECT_EQ(smallest, "-9223372036854775808");
}

TEST(LineText, WritesItsPiecesAsOneFile) {
    test::TemporaryFolder folder;
    write_text(folder / "text", TextPieces{"a\n", "", "bc"});
    const auto bytes = read_file(folder / "text");
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "a\nbc");
}

TEST(LineText, WritesDigitsAsPrintfDoes) {
    std::mt19937_64 random(5);
    std::vector<double> values = {
        0.0,      -0.0,        1,          0.5,     1e22,
        5e-324,   999999999.5, 0.00009999, 0x1p-24, std::numeric_limits<double>::max(),
        INFINITY, NAN};
    for (int k = 0; k < 20000; ++k) {
        const double any = std::bit_cast<double>(random());
        values.push_back(std::isnan(any) ? 0 : any);
        values.push_back(static_cast<double>(random() >> 11) * 0x1p-52);
        values.push_back(static_cast<float>(values.back()));
    }
    for (const double value : values) {
        ASSERT_EQ(number(value, std::chars_format::scientific, 20), printed(value, "%.20e"));
        ASSERT_EQ(number(value, std::chars_format::general, 9), printed(value, "%.9g"));
        ASSERT_EQ(number(value, std::chars_format::fixed, 4), printed(value, "%.4f"));
    }
}

TEST(ParallelSort, SortsTheSameForAnyThreads) {
    std::mt19937_64 random(6);
    for (const std::size_t count : {0u, 1u, 2u, 13u, 5000u}) {
        std::vector<std::uint64_t> values(count);
        for (auto& value : values) value = random();
        std::vector<std::uint64_t> expected = values;
        std::sort(expected.begin(), expected.end(), std::greater<>());
        for (const int threads : {1, 2, 3, 8}) {
            std::vector<std::uint64_t> sorted = values;
            parallel_sort(sorted, threads, std::greater<>());
            EXPECT_EQ(sorted, expected) << count << ' ' << threads;
        }
    }
}

}  // namespace
}  // namespace pleat
