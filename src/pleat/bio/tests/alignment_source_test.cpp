// Tests of byte sources: packings, line ends, long lines, standard input.
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "broken_inputs.h"
#include "packed.h"
#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/core/error.h"
#include "scratch_file.h"
#include "written_alignment.h"

namespace pleat {
namespace {

using testing::gzipped;
using testing::residues;
using testing::ScratchFolder;
using testing::zstandard;
using Lines = std::vector<std::string>;

Lines lines_of(std::string_view bytes) {
    ByteSource source("x", bytes);
    Lines lines;
    for (std::string_view line; source.next(line);) {
        lines.emplace_back(line);
        EXPECT_EQ(source.line(), static_cast<Index>(lines.size()));
    }
    return lines;
}

TEST(ByteSource, EndsLinesAtLineFeedCarriageReturnAndBoth) {
    EXPECT_EQ(lines_of("a\nb\r\nc\rd"), (Lines{"a", "b", "c", "d"}));
    EXPECT_EQ(lines_of("a\n\nb\n"), (Lines{"a", "", "b"}));
    EXPECT_EQ(lines_of("a\r\rb\r"), (Lines{"a", "", "b"}));
    EXPECT_EQ(lines_of("\r\n\r\n"), (Lines{"", ""}));
    EXPECT_EQ(lines_of("a\n\rb"), (Lines{"a", "", "b"}));
    EXPECT_EQ(lines_of(""), Lines{});
    EXPECT_EQ(lines_of("\n"), Lines{""});
}

TEST(ByteSource, SkipsTheUtf8MarkOnceAtTheStart) {
    EXPECT_EQ(lines_of("\xef\xbb\xbf>a\n"), Lines{">a"});
    EXPECT_EQ(lines_of("\xef\xbb\xbf"), Lines{});
    EXPECT_EQ(lines_of("a\n\xef\xbb\xbf"), (Lines{"a", "\xef\xbb\xbf"}));
}

/// Lines whose lengths cross every boundary of the buffers inside, with every kind of end.
TEST(ByteSource, JoinsLinesAcrossBuffers) {
    const std::string letters = residues(3000000);
    for (const std::string& end : {std::string("\n"), std::string("\r\n"), std::string("\r")}) {
        Lines expected;
        std::string text;
        std::size_t at = 0;
        for (std::size_t length :
             {1, 131071, 131072, 131073, 262143, 262144, 262145, 1, 0, 1000000, 59, 60, 61}) {
            expected.push_back(letters.substr(at, length));
            text += expected.back() + end;
            at += length;
        }
        EXPECT_TRUE(lines_of(text) == expected);
        EXPECT_TRUE(lines_of(gzipped(text)) == expected);
        EXPECT_TRUE(lines_of(zstandard(text)) == expected);
        const std::size_t half = text.size() / 2;
        EXPECT_TRUE(lines_of(gzipped(text.substr(0, half)) + gzipped("") +
                             gzipped(text.substr(half))) == expected);
        const std::string skippable("\x50\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
        EXPECT_TRUE(lines_of(skippable + zstandard(text.substr(0, half)) + zstandard("") +
                             skippable + zstandard(text.substr(half))) == expected);
    }
}

TEST(ByteSource, GivesAHeldLineOnceMore) {
    ByteSource source("x", "a\nb\n");
    std::string_view line;
    ASSERT_TRUE(source.next(line));
    source.hold();
    ASSERT_TRUE(source.next(line));
    EXPECT_EQ(line, "a");
    EXPECT_EQ(source.line(), 1);
    ASSERT_TRUE(source.next(line));
    EXPECT_EQ(line, "b");
    EXPECT_FALSE(source.next(line));
    EXPECT_FALSE(source.next(line));
}

TEST(ByteSource, CutAtAnyByteIsRefusedOrShorter) {
    const std::string text = testing::sound_fasta();
    for (const std::string& packed : {gzipped(text), zstandard(text)}) {
        for (std::size_t size = 4; size < packed.size(); ++size) {
            EXPECT_THROW(lines_of(std::string_view(packed).substr(0, size)), InputError) << size;
        }
        EXPECT_EQ(lines_of(packed).size(), 6u);
    }
}

TEST(ByteSource, FlippedBitsNeverPassAsOtherText) {
    const std::string text = testing::sound_fasta();
    const Lines sound = lines_of(text);
    for (const std::string& packed : {gzipped(text), zstandard(text)}) {
        for (std::size_t bit = 32; bit < 8 * packed.size(); ++bit) {
            std::string damaged = packed;
            damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
            try {
                EXPECT_EQ(lines_of(damaged), sound) << bit;  // a header field that changes nothing
            } catch (const InputError&) {
            }
        }
    }
}

TEST(AlignmentSource, PackingIsToldByContentNotByName) {
    const ScratchFolder folder;
    const std::string text = testing::sound_fasta();
    const auto expected = testing::rows_of(read_alignment_from_memory("x", text));
    for (const char* name : {"a.fasta", "a.gz", "a.zst", "a"}) {
        for (const std::string& bytes : {text, gzipped(text), zstandard(text)}) {
            const std::filesystem::path file = folder.write(name, bytes);
            const Alignment found = read_alignment(file);
            EXPECT_EQ(testing::rows_of(found), expected);
            EXPECT_EQ(found.source, file);
        }
    }
}

/// Puts a file in the place of standard input while it lives.
class StandardInput {
public:
    explicit StandardInput(const std::filesystem::path& file) : saved_(::dup(STDIN_FILENO)) {
        const int opened = ::open(file.c_str(), O_RDONLY);
        ::dup2(opened, STDIN_FILENO);
        ::close(opened);
    }
    ~StandardInput() {
        ::dup2(saved_, STDIN_FILENO);
        ::close(saved_);
    }

private:
    int saved_;
};

TEST(AlignmentSource, MinusIsStandardInput) {
    const ScratchFolder folder;
    const std::string text = testing::sound_fasta();
    for (const std::string& bytes : {text, gzipped(text), zstandard(text)}) {
        const StandardInput input(folder.write("stdin", bytes));
        const Alignment found = read_alignment("-");
        EXPECT_EQ(found.sequence_count(), 3);
        EXPECT_EQ(found.column_count(), 12);
        EXPECT_EQ(found.source, "-");
    }
    const StandardInput input(folder.write("stdin", ">a\nACDEF\n"));
    try {
        read_alignment("-");
        ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "stdin:1: expected at least 2 sequences, found 1");
    }
}

TEST(AlignmentSource, LineEndsAndMarkMakeNoDifference) {
    const std::string text = testing::sound_fasta();
    const auto expected = testing::rows_of(read_alignment_from_memory("x", text));
    for (const char* end : {"\r\n", "\r"}) {
        std::string other = "\xef\xbb\xbf";
        for (char c : text) other += c == '\n' ? std::string(end) : std::string(1, c);
        EXPECT_EQ(testing::rows_of(read_alignment_from_memory("x", other)), expected);
    }
    std::string unended = text;
    unended.pop_back();
    EXPECT_EQ(testing::rows_of(read_alignment_from_memory("x", unended)), expected);
}

TEST(AlignmentSource, MillionColumnsAreRead) {
    const std::string row = residues(1000000);
    const Alignment found = read_alignment_from_memory("x", row + "\n" + row + "\n");
    EXPECT_EQ(found.column_count(), 1000000);
    EXPECT_TRUE(testing::rows_of(found)[1] == row);
}

}  // namespace
}  // namespace pleat
