// Tests of citations: entries of citations.bib are found whole, by their keys.
#include "pleat/core/run/manifest.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

namespace pleat {
namespace {

TEST(Citations, FindsAnEntryWithItsText) {
    const Citation paper = find_citation("Debye1915");
    EXPECT_EQ(paper.key, "Debye1915");
    EXPECT_EQ(paper.text,
              "Debye: Zerstreuung von Röntgenstrahlen. Annalen der Physik 351:809 (1915), "
              "doi:10.1002/andp.19153510606");
    EXPECT_EQ(paper.bibtex,
              "@article{Debye1915,\n"
              "  author  = {Debye, P.},\n"
              "  title   = {Zerstreuung von {R}öntgenstrahlen},\n"
              "  journal = {Annalen der Physik},\n"
              "  volume  = {351},\n"
              "  number  = {6},\n"
              "  pages   = {809--823},\n"
              "  year    = {1915},\n"
              "  doi     = {10.1002/andp.19153510606}\n"
              "}\n");
}

TEST(Citations, FindsTheFirstAndTheLastEntry) {
    EXPECT_EQ(find_citation("Antonov2012").text.substr(0, 8), "Antonov,");
    EXPECT_EQ(find_citation("Zhang2004").bibtex.substr(0, 20), "@article{Zhang2004,\n");
    EXPECT_TRUE(find_citation("Zhang2004").bibtex.ends_with("}\n}\n"));
}

TEST(Citations, NamesAreUtf8WithoutTeX) {
    for (const auto& [key, name] : {std::pair("Ekeberg2013", "Lövkvist"),
                                    {"Muellner2011", "Müllner"},
                                    {"Rozycki2011", "Różycki"},
                                    {"Seemayer2014", "Söding"}}) {
        const Citation paper = find_citation(key);
        EXPECT_NE(paper.bibtex.find(name), std::string::npos) << paper.bibtex;
        EXPECT_NE(paper.text.find(name), std::string::npos) << paper.text;
        EXPECT_EQ(paper.bibtex.find('\\'), std::string::npos) << paper.bibtex;
    }
    EXPECT_NE(find_citation("Ester1996").bibtex.find("Jörg"), std::string::npos);
}

TEST(Citations, RefusesUnknownKeys) {
    for (const char* key : {"", "Debye", "Debye1916", "author"})
        EXPECT_THROW(find_citation(key), std::logic_error) << key;
}

}  // namespace
}  // namespace pleat
