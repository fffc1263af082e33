// Predicted domains: linkers from made errors in each format, and what is refused.
#include "pleat/workflows/refine/chain/predicted_domains.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/workflows/refine/tests/made_chain.h"

namespace pleat::refine {

namespace {

using pleat::test::error_text;
using pleat::test::TemporaryFolder;
using test::add_peptide;
using test::MadeChain;
using Json = nlohmann::ordered_json;

/// [i, j]: a small error within residues of the same positive number, else a large one.
Json errors_of(const std::vector<int>& domains) {
    Json rows = Json::array();
    for (const int row : domains) {
        Json values = Json::array();
        for (const int column : domains) values.push_back(row > 0 && row == column ? 2 : 20);
        rows.push_back(values);
    }
    return rows;
}

struct Case {
    TemporaryFolder folder;
    MadeChain made;

    /// pLDDT 90 in residues of positive numbers, 50 elsewhere.
    void set_confidence(const std::vector<int>& domains) {
        for (Topology::Atom& atom : made.topology->atoms)
            atom.b_factor = domains[static_cast<std::size_t>(atom.residue)] > 0 ? 90 : 50;
    }
    PredictedDomains find(const Json& json) {
        const auto path = folder / "pae.json";
        std::ofstream(path) << json.dump();
        return predicted_domains(*made.topology, path, {});
    }
    std::string refusal(const Json& json) {
        return error_text<InputError>([&] { find(json); });
    }
};

std::vector<int> domains(const std::vector<std::pair<int, int>>& blocks) {
    std::vector<int> all;
    for (const auto& [count, domain] : blocks)
        all.insert(all.end(), static_cast<std::size_t>(count), domain);
    return all;
}

TEST(PredictedDomains, FindsLinkersInEachFormat) {
    Case one;
    add_peptide(one.made, std::string(60, 'A'), "A");
    const std::vector<int> truth = domains({{3, 0}, {20, 1}, {7, 0}, {22, 2}, {8, 2}});
    one.set_confidence(truth);
    const Json errors = errors_of(truth);
    const std::string expected = "--linkers A:1-3,A:24-30";
    EXPECT_EQ(one.find(Json::array({{{"predicted_aligned_error", errors},
                                     {"max_predicted_aligned_error", 20}}}))
                  .options(),
              expected);
    EXPECT_EQ(one.find({{"plddt", {1, 2}}, {"pae", errors}}).options(), expected);
    // AlphaFold 3 has tokens of a ligand behind the residues.
    std::vector<int> tokens = truth, numbers;
    std::vector<std::string> chains(60, "A");
    tokens.insert(tokens.begin(), {0, 0});
    for (int n = 1; n <= 60; ++n) numbers.push_back(n);
    numbers.insert(numbers.begin(), {1, 1});
    chains.insert(chains.begin(), {"B", "B"});
    EXPECT_EQ(one.find({{"pae", errors_of(tokens)},
                        {"token_chain_ids", chains},
                        {"token_res_ids", numbers}})
                  .options(),
              expected);
}

TEST(PredictedDomains, BlocksOfFewResiduesAreLinkers) {
    Case one;
    add_peptide(one.made, std::string(50, 'A'), "A");
    const std::vector<int> truth = domains({{15, 1}, {5, 0}, {9, 3}, {4, 0}, {17, 2}});
    one.set_confidence(truth);
    EXPECT_EQ(one.find({{"pae", errors_of(truth)}}).options(), "--linkers A:16-33");
}

TEST(PredictedDomains, LowConfidenceAloneMakesLinkers) {
    Case one;
    add_peptide(one.made, std::string(50, 'A'), "A");
    one.set_confidence(domains({{20, 1}, {10, 0}, {20, 1}}));
    // Errors within a domain that has a loop: the loop would close, so it stays rigid.
    EXPECT_NE(
        one.refusal({{"pae", errors_of(std::vector<int>(50, 1))}}).find("found one rigid domain"),
        std::string::npos);
    one.set_confidence(domains({{20, 1}, {3, 0}, {20, 1}, {7, 0}}));
    const PredictedDomains found = one.find({{"pae", errors_of(std::vector<int>(50, 1))}});
    EXPECT_EQ(found.options(), "--linkers A:44-50");
    ASSERT_EQ(found.notes.size(), 2u);
    EXPECT_EQ(found.notes[0].text,
              "A:21-23 has pLDDT below 70 and stays rigid: A:1-43 is on both sides of it");
}

TEST(PredictedDomains, DomainsOfSeveralChainsAreAGroup) {
    Case one;
    add_peptide(one.made, std::string(30, 'A'), "A");
    add_peptide(one.made, std::string(25, 'A'), "B", -120, 130, {40, 0, 0});
    const std::vector<int> truth = domains({{6, 0}, {24, 1}, {5, 0}, {20, 1}});
    one.set_confidence(truth);
    EXPECT_EQ(one.find({{"pae", errors_of(truth)}}).options(),
              "--linkers A:1-6,B:1-5 --group A:7-30,B:6-25");
}

TEST(PredictedDomains, RefusesOtherFilesAndStructures) {
    Case one;
    add_peptide(one.made, std::string(30, 'A'), "A");
    const std::vector<int> truth = domains({{12, 1}, {6, 0}, {12, 2}});
    EXPECT_NE(one.refusal({{"pae", errors_of(truth)}})
                  .find("expected pLDDT from 0 to 100 as B factors, found at most 0"),
              std::string::npos);
    one.set_confidence(truth);
    EXPECT_EQ(one.find({{"pae", errors_of(truth)}}).options(), "--linkers A:13-18");
    EXPECT_NE(one.refusal({{"pae", errors_of(std::vector<int>(29, 1))}})
                  .find("expected errors of the 30 residues of"),
              std::string::npos);
    EXPECT_NE(one.refusal({{"plddt", {1}}}).find("expected JSON with a matrix"), std::string::npos);
    EXPECT_NE(one.refusal(Json::array({1, 2})).find("expected JSON with a matrix"),
              std::string::npos);
    Json ragged = errors_of(truth);
    ragged[3].erase(0);
    EXPECT_NE(one.refusal({{"pae", ragged}}).find("expected a square matrix of 30 rows"),
              std::string::npos);
    Json words = errors_of(truth);
    words[1][5] = "x";
    EXPECT_NE(
        one.refusal({{"pae", words}}).find("expected errors in angstrom, found \"x\" in row "),
        std::string::npos);
    EXPECT_NE(one.refusal({{"pae", errors_of(truth)},
                           {"token_chain_ids", std::vector<std::string>(30, "C")},
                           {"token_res_ids", std::vector<int>(30, 1)}})
                  .find("found none of A:1"),
              std::string::npos);
    EXPECT_NE(
        one.refusal({{"pae", {{0}}}, {"token_chain_ids", {"A"}}, {"token_res_ids", {{"first", 1}}}})
            .find("expected lists of the tokens' chains and numbers, found array and object"),
        std::string::npos);
    one.set_confidence(std::vector<int>(30, 0));
    EXPECT_NE(one.refusal({{"pae", errors_of(truth)}}).find("expected 10 or more consecutive"),
              std::string::npos);
}

}  // namespace

}  // namespace pleat::refine
