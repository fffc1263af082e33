// Printable text: control characters, bytes that are no UTF-8, and what stays as it is.
#include "pleat/core/files/text.h"

#include <gtest/gtest.h>

#include <string>

#include "pleat/core/terminal/progress_terminal.h"

namespace pleat {
namespace {

TEST(Printable, EscapesControlCharacters) {
    EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
    EXPECT_EQ(printable("\a\x7f\t\n\r"), "\\x07\\x7f\\t\\n\\r");
    EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\u009b31m");  // C1: the one-byte CSI, as UTF-8
    EXPECT_EQ(printable("a\u202egnp.exe"), "a\\u202egnp.exe");
    EXPECT_EQ(printable("a\u2028b"), "a\\u2028b");
}

TEST(Printable, EscapesBytesThatAreNoUtf8) {
    EXPECT_EQ(printable("\x9b"
                        "31m"),
              "\\x9b31m");
    EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
    EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");                    // cut
    EXPECT_EQ(printable("\xff"), "\\xff");
}

TEST(Printable, KeepsWhatPeopleRead) {
    const std::string text = "Müller/α-helix 日本 🧬 C:\\dir a b.pdb";
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable(printable("\x1b\xff\n")), printable("\x1b\xff\n"));
    EXPECT_EQ(printable(""), "");
}

TEST(Printable, QuotesAreAscii) {
    EXPECT_EQ(in_quotes("a~ \x7f\té"), "'a~ " + std::string(4, '?') + "'");
    EXPECT_EQ(in_quotes(std::string(41, 'x')), "'" + std::string(40, 'x') + "...'");
}

TEST(Printable, KeepsLinesAndCellsThatAreMeant) {
    EXPECT_EQ(printable_lines("a\tb\n\x1b[0m\n"), "a\tb\n\\x1b[0m\n");
    EXPECT_EQ(table_cell("a\tb\nc"), "a\\tb\\nc");
    EXPECT_EQ(table_cell(""), "NA");
}

TEST(Printable, ErrorsAreOneLineOrOnePerComplaint) {
    EXPECT_EQ(error_text(InputError("a\nb", 3, "found '\x1b'")), "a\\nb:3: found '\\x1b'");
    Complaints complaints("a\nb");
    complaints.add(1, "expected x, found '\x1b'");
    complaints.add(2, "expected y");
    try {
        complaints.throw_if_any();
        FAIL() << "no error";
    } catch (const InputError& error) {
        EXPECT_EQ(error_text(error), "a\\nb:1: expected x, found '\\x1b'\na\\nb:2: expected y");
    }
}

TEST(Printable, ProgressShowsNoControlCharacters) {
    std::string written;
    LogProgress log([&](std::string_view line) { written += std::string(line) + "\n"; });
    log.message("read a\x1b[2J\nb");
    EXPECT_EQ(written, "read a\\x1b[2J\\nb\n");
}

}  // namespace
}  // namespace pleat
