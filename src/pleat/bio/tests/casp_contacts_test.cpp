// CASP contacts: what a file of format RR gives, and what is said of each way it can break.
#include "pleat/bio/structure/casp_contacts.h"

#include <gtest/gtest.h>

#include <string>

#include "pleat/bio/input/byte_source.h"
#include "pleat/core/error.h"

namespace pleat {
namespace {

constexpr const char* kHead = "PFRMAT RR\nTARGET T0001\nMODEL 1\nACDEF\nGHIKL\n";

PredictedContacts read(const std::string& text) {
    ByteSource source("a.rr", text);
    return read_casp_contacts(source);
}

std::string complaint(const std::string& text) {
    try {
        read(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(CaspContacts, ReadsSequenceAndPairs) {
    const PredictedContacts found = read(
        std::string(kHead) + "9 2 0 8 0.25\n# a comment\n1 10 0 8 0.5\n3 4 0.5\nEND\nwhatever\n");
    EXPECT_EQ(found.sequence, "ACDEFGHIKL");
    ASSERT_EQ(found.pairs.size(), 3U);
    // The most probable first, equal ones as in the file, residues from 0 in their order.
    EXPECT_EQ(found.pairs[0].i, 0);
    EXPECT_EQ(found.pairs[0].j, 9);
    EXPECT_EQ(found.pairs[1].i, 2);
    EXPECT_EQ(found.pairs[1].j, 3);
    EXPECT_EQ(found.pairs[2].i, 1);
    EXPECT_EQ(found.pairs[2].j, 8);
    EXPECT_DOUBLE_EQ(found.pairs[2].probability, 0.25);
}

TEST(CaspContacts, TellsLineAndFault) {
    const std::string head = kHead;
    EXPECT_EQ(complaint("1 2 0 8 0.5\n"),
              "a.rr:1: expected two residues from 1 to 0, found 1 and 2");
    EXPECT_EQ(complaint(head + "1 11 0 8 0.5\n"),
              "a.rr:6: expected two residues from 1 to 10, found 1 and 11");
    EXPECT_EQ(complaint(head + "4 4 0 8 0.5\n"),
              "a.rr:6: expected two residues from 1 to 10, found 4 and 4");
    EXPECT_EQ(complaint(head + "1 9 0 8 1.5\n"),
              "a.rr:6: expected a probability from 0 to 1, found '1.5'");
    EXPECT_EQ(complaint(head + "1 9 0 8 nan\n"),
              "a.rr:6: expected a probability from 0 to 1, found 'nan'");
    EXPECT_EQ(complaint(head + "1 9 0 8\n"),
              "a.rr:6: expected 'i j 0 8 probability', found '1 9 0 8'");
    EXPECT_EQ(complaint(head + "1 9 0 8 0.5\n9 1 0 8 0.4\n"),
              "a.rr:7: expected each pair once, found 1 and 9 again");
    // Also one that is repeated twice, and far from the first, beside another fault.
    EXPECT_EQ(
        complaint(head + "1 9 0 8 0.5\n2 9 0 8 0.5\n9 2 0 8 0.4\n1 9 0 8 0.5\n9 1 0 8 0.4\nx\n"),
        "a.rr:11: expected a pair, found 'x'\n"
        "a.rr:8: expected each pair once, found 2 and 9 again\n"
        "a.rr:9: expected each pair once, found 1 and 9 again\n"
        "a.rr:10: expected each pair once, found 1 and 9 again");
    EXPECT_EQ(complaint(head + "1 9 0 8 0.5\nACDE\n"), "a.rr:7: expected a pair, found 'ACDE'");
    EXPECT_EQ(complaint(head), "a.rr:5: expected pairs 'i j 0 8 probability', found none");
    EXPECT_EQ(complaint("PFRMAT RR\nEND\n"),
              "a.rr:2: expected the target's sequence before the pairs, found none");
}

}  // namespace
}  // namespace pleat
