// Tests of refusals: every broken input gives its exact text, from memory and from a file.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "broken_inputs.h"
#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/core/error.h"
#include "scratch_file.h"

namespace pleat {
namespace {

using testing::BrokenInput;
using testing::ScratchFolder;

/// The text of the InputError that `read` throws; a note when it throws none.
template <class Read>
std::string refusal_of(Read read) {
    try {
        read();
    } catch (const InputError& error) {
        EXPECT_EQ(error.exit_code(), 3);
        return error.what();
    }
    return "(accepted)";
}

TEST(BrokenAlignment, IsRefusedWithItsText) {
    std::set<std::string> names;
    for (const BrokenInput& broken : testing::broken_inputs()) {
        EXPECT_TRUE(names.insert(broken.name).second) << broken.name;
        const std::string found = refusal_of([&] {
            read_alignment_from_memory(broken.name, broken.bytes, {broken.format, broken.alphabet});
        });
        EXPECT_EQ(found, broken.refusal(broken.name));
    }
    EXPECT_GE(names.size(), 45u);
}

TEST(BrokenAlignment, IsRefusedFromAFileToo) {
    const ScratchFolder folder;
    for (const BrokenInput& broken : testing::broken_inputs()) {
        const std::filesystem::path file = folder.write(broken.name, broken.bytes);
        const std::string found = refusal_of([&] {
            read_alignment(file, {broken.format, broken.alphabet});
        });
        EXPECT_EQ(found, broken.refusal(file.string()));
    }
}

TEST(BrokenAlignment, OfManyFaultsTenAreTold) {
    std::string rows = "ACDEFGHIK\n";
    for (int i = 0; i < 30; ++i) rows += "ACDEF\n";
    const std::string text = refusal_of([&] { read_alignment_from_memory("x.aln", rows); });
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 9);
    EXPECT_NE(text.find("x.aln:2: "), std::string::npos);
    EXPECT_NE(text.find("x.aln:11: "), std::string::npos);
}

TEST(BrokenAlignment, TextFromTheFileIsCutAndPrintable) {
    const std::string name = "a\x1b[2J" + std::string(1000, 'b') + "\xc3\x84";
    const std::string text = refusal_of([&] {
        read_alignment_from_memory("x.fasta",
                                   ">" + name + "\nACDEF\n>c\nACDEF\n>" + name + "\nAC\n");
    });
    EXPECT_EQ(text,
              "x.fasta:5: expected 5 aligned columns as in the first sequence, found 2 in "
              "sequence 'a'");
    const std::string longer = refusal_of([&] {
        read_alignment_from_memory("x.fasta", ">a\nACDEF\n>" + std::string(99, 'b') + "\nAC\n");
    });
    EXPECT_EQ(longer,
              "x.fasta:3: expected 5 aligned columns as in the first sequence, found 2 in "
              "sequence '" +
                  std::string(40, 'b') + "...'");
}

TEST(BrokenAlignment, WhatIsNoReadableFileIsRefused) {
    const ScratchFolder folder;
    const auto refusal = [](const std::filesystem::path& file) {
        return refusal_of([&] { read_alignment(file); });
    };
    const std::filesystem::path missing = folder.path() / "missing.fasta";
    EXPECT_EQ(refusal(missing), missing.string() + ": expected a file, found nothing of that name");
    EXPECT_EQ(refusal(folder.path()),
              folder.path().string() + ": expected a file, found a directory");
    const std::filesystem::path below = folder.write("plain", "x") / "below.fasta";
    EXPECT_EQ(refusal(below),
              below.string() + ": expected a readable file, found: Not a directory");
    EXPECT_EQ(refusal(""), "expected the name of a file, found an empty one");
}

TEST(BrokenAlignment, FileWithoutPermissionIsRefused) {
    const ScratchFolder folder;
    const std::filesystem::path file = folder.write("closed.fasta", testing::sound_fasta());
    std::filesystem::permissions(file, std::filesystem::perms::none);
    // Root may read every file: become somebody else for the moment.
    constexpr uid_t kNobody = 65534;
    const bool root = ::geteuid() == 0;
    if (root && ::seteuid(kNobody) != 0) GTEST_SKIP() << "cannot give up root's rights";
    EXPECT_EQ(refusal_of([&] { read_alignment(file); }),
              file.string() + ": expected a readable file, found: Permission denied");
    if (root) {
        ASSERT_EQ(::seteuid(0), 0);
    }
}

TEST(BrokenAlignment, UnknownOptionIsAUsageError) {
    EXPECT_THROW(read_alignment_from_memory("x", testing::sound_fasta(), {"msf", ""}), UsageError);
    EXPECT_THROW(read_alignment_from_memory("x", testing::sound_fasta(), {"", "amino"}),
                 UsageError);
}

TEST(BrokenAlignment, TextAboveTheLimitIsRefused) {
    ReadOptions options;
    options.max_bytes = 1000;
    const std::string bomb = testing::gzipped(std::string(1 << 20, 'A'));
    EXPECT_EQ(refusal_of([&] { read_alignment_from_memory("x.gz", bomb, options); }),
              "x.gz:1: expected at most 1000 bytes of text, found more");
    // Many tiny rows: 400 bytes of text, but more than that in memory.
    const std::string rows = testing::repeated("A\n", 200);
    EXPECT_EQ(refusal_of([&] { read_alignment_from_memory("x.aln", rows, options); }).substr(0, 8),
              "x.aln:9:");
    options.max_bytes = 1 << 20;
    EXPECT_NO_THROW(read_alignment_from_memory("x.fasta", testing::sound_fasta(), options));
}

TEST(BrokenAlignment, EndlessLineIsRefused) {
    const std::string zst = testing::zstandard(std::string(ByteSource::kMaxLine * 3, 'A'));
    EXPECT_EQ(refusal_of([&] { read_alignment_from_memory("x.zst", zst); }),
              "x.zst:1: expected lines of at most 33554432 bytes, found a longer one");
}

}  // namespace
}  // namespace pleat
