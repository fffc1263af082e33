// Tests of alignments that are checked before they are kept: the same results and the same texts as
// of those that are kept at once.
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "broken_inputs.h"
#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/error.h"
#include "refusal.h"
#include "scratch_file.h"
#include "written_alignment.h"

namespace pleat {
namespace {

using testing::BrokenInput;
using testing::ScratchFolder;

/// From "kept at once" to "never kept".
constexpr Index kLimits[] = {Index{1} << 30, 1500, 700, 400, 250, 120, 0};

std::string refusal_of(const std::string& text, Index max_kept_bytes,
                       const std::string& format = {}, const std::string& alphabet = {}) {
    ReadOptions options{.format = format, .alphabet = alphabet};
    options.max_kept_bytes = max_kept_bytes;
    return testing::refusal([&] { read_alignment_from_memory("x", text, options); });
}

TEST(LongAlignment, EachFaultIsToldInTheSameWords) {
    for (const BrokenInput& broken : testing::broken_inputs()) {
        for (const Index limit : kLimits) {
            EXPECT_EQ(refusal_of(broken.bytes, limit, broken.format, broken.alphabet),
                      broken.refusal("x"))
                << broken.name << ", " << limit << " bytes kept";
        }
    }
}

TEST(LongAlignment, IsReadAsAShortOne) {
    const ScratchFolder folder;
    testing::Table table;
    for (int n = 0; n < 12; ++n) {
        table.names.push_back("name" + std::to_string(n));
        table.rows.push_back(testing::residues(50 + n).substr(static_cast<std::size_t>(n)));
    }
    std::string a3m = testing::as_fasta(table, 50);
    a3m.insert(a3m.find('\n') + 1, "acd");
    for (const std::string& text :
         {testing::as_fasta(table, 50), testing::as_fasta(table, 7),
          testing::as_a2m(table, 3, true, 20), a3m, testing::as_stockholm(table, 50),
          testing::as_stockholm(table, 11), testing::as_clustal(table, 11),
          testing::as_psicov(table)}) {
        for (const std::string& bytes : {text, testing::gzipped(text)}) {
            ReadOptions options;
            options.keep_full_rows = true;
            const Alignment expected = read_alignment_from_memory("x", bytes, options);
            EXPECT_EQ(testing::rows_of(expected), table.rows);
            for (const Index limit : kLimits) {
                options.max_kept_bytes = limit;
                const Alignment found = read_alignment(folder.write("file", bytes), options);
                EXPECT_EQ(testing::rows_of(found), table.rows);
                EXPECT_EQ(found.names, expected.names);
                EXPECT_EQ(found.format, expected.format);
                EXPECT_EQ(found.full_rows, expected.full_rows);
            }
        }
    }
}

TEST(LongAlignment, FaultsOfInterleavedRowsAreToldByRow) {
    // The tenth row first has an odd letter in the first block, the others in the second.
    std::string text = "# STOCKHOLM 1.0\n";
    for (int n = 0; n < 13; ++n)
        text += "s" + std::to_string(n) + (n == 9 ? " ACEFACGTACGT\n" : " ACGTACGTACGT\n");
    text += "\n";
    for (int n = 0; n < 13; ++n) text += "s" + std::to_string(n) + (n == 12 ? " A\n" : " E\n");
    text += "//\n";
    std::string expected;
    for (int n = 0; n < 10; ++n) {
        if (n > 0) expected += "\n";
        expected += "x:" + std::to_string(n == 9 ? 11 : 16 + n) +
                    ": expected dna letters, found 'E' in sequence 's" + std::to_string(n) + "'";
    }
    for (const Index limit : kLimits) EXPECT_EQ(refusal_of(text, limit, "", "dna"), expected);
}

TEST(LongAlignment, RepeatedNamesAreToldInTheirOrder) {
    for (const Index limit : kLimits) {
        EXPECT_EQ(refusal_of("# STOCKHOLM 1.0\nb AC\na AC\nb AC\nc AC\na AC\nb AC\n//\n", limit),
                  "x:4: expected each name once in a block, found 'b' again\n"
                  "x:6: expected each name once in a block, found 'a' again\n"
                  "x:7: expected each name once in a block, found 'b' again");
    }
}

TEST(LongAlignment, TooMuchTextIsToldAtTheSameLine) {
    for (const std::string& rows :
         {testing::repeated("ACDEFGHIKL\n", 150), testing::repeated(">a\nACD\nEFGHIKL\n", 150)}) {
        ReadOptions options;
        options.max_bytes = 2500;
        const auto refusal = [&] {
            return testing::refusal([&] { read_alignment_from_memory("x", rows, options); });
        };
        const std::string kept = refusal();
        EXPECT_NE(kept.find("expected an alignment that fits into 2500 bytes"), std::string::npos);
        for (const Index limit : kLimits) {
            options.max_kept_bytes = limit;
            EXPECT_EQ(refusal(), kept);
        }
    }
}

/// The refusal of what a pipe gives.
std::string refusal_of_pipe(const std::string& text, Index max_kept_bytes) {
    int ends[2];
    if (::pipe(ends) != 0) return "no pipe";
    std::thread writer([&] {
        EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
        ::close(ends[1]);
    });
    ReadOptions options;
    options.max_kept_bytes = max_kept_bytes;
    const std::string path = "/dev/fd/" + std::to_string(ends[0]);
    const std::string found = testing::refusal([&] { read_alignment(path, options); });
    writer.join();
    ::close(ends[0]);
    return found.starts_with(path) ? found.substr(path.size()) : found;
}

TEST(LongAlignment, FromAPipeIsRefused) {
    const std::string rows = testing::repeated("ACDEFGHIKL\n", 100);
    EXPECT_EQ(refusal_of_pipe(rows, 1 << 20), "");
    EXPECT_EQ(refusal_of_pipe(rows, 1000),
              ":9: expected an alignment that fits into 1000 bytes from a pipe or a device, found "
              "more; save it to a file first");
}

}  // namespace
}  // namespace pleat
