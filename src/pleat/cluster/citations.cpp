// Citations: one paper a method, after which it was written.
#include "pleat/cluster/citations.h"

#include <fmt/format.h>

#include <string>

namespace pleat::cluster {

namespace {

struct Work {
    const char* key;
    const char* authors;        // BibTeX
    const char* short_authors;  // of the line for people
    const char* title;
    const char* journal;
    const char* volume;
    const char* pages;
    const char* year;
    const char* doi;  // may be empty
};

const Work kDaura{"Daura1999",
                  "Daura, Xavier and Gademann, Karl and Jaun, Bernhard and Seebach, Dieter and van "
                  "Gunsteren, Wilfred F. and Mark, Alan E.",
                  "Daura, Gademann, Jaun, Seebach, van Gunsteren, Mark",
                  "Peptide folding: when simulation meets experiment",
                  "Angewandte Chemie International Edition",
                  "38",
                  "236--240",
                  "1999",
                  "10.1002/(SICI)1521-3773(19990115)38:1/2<236::AID-ANIE236>3.0.CO;2-M"};
const Work kChains{"Muellner2011",
                   "M{\\\"u}llner, Daniel",
                   "Muellner",
                   "Modern hierarchical, agglomerative clustering algorithms",
                   "arXiv",
                   "1109.2378",
                   "",
                   "2011",
                   "10.48550/arXiv.1109.2378"};
const Work kPrim{"Prim1957",
                 "Prim, R. C.",
                 "Prim",
                 "Shortest connection networks and some generalizations",
                 "Bell System Technical Journal",
                 "36",
                 "1389--1401",
                 "1957",
                 "10.1002/j.1538-7305.1957.tb01515.x"};
const Work kWard{"Ward1963",
                 "Ward, Joe H.",
                 "Ward",
                 "Hierarchical grouping to optimize an objective function",
                 "Journal of the American Statistical Association",
                 "58",
                 "236--244",
                 "1963",
                 "10.1080/01621459.1963.10500845"};
const Work kMedoids{"Schubert2021",
                    "Schubert, Erich and Rousseeuw, Peter J.",
                    "Schubert, Rousseeuw",
                    "Fast and eager k-medoids clustering: {O}(k) runtime improvement of the {PAM}, "
                    "{CLARA}, and {CLARANS} algorithms",
                    "Information Systems",
                    "101",
                    "101804",
                    "2021",
                    "10.1016/j.is.2021.101804"};
const Work kDbscan{
    "Ester1996",
    "Ester, Martin and Kriegel, Hans-Peter and Sander, J{\\\"o}rg and Xu, Xiaowei",
    "Ester, Kriegel, Sander, Xu",
    "A density-based algorithm for discovering clusters in large spatial databases with "
    "noise",
    "Proceedings of KDD-96",
    "",
    "226--231",
    "1996",
    ""};
const Work kPeaks{"Rodriguez2014",
                  "Rodriguez, Alex and Laio, Alessandro",
                  "Rodriguez, Laio",
                  "Clustering by fast search and find of density peaks",
                  "Science",
                  "344",
                  "1492--1496",
                  "2014",
                  "10.1126/science.1242072"};
const Work kSilhouettes{
    "Rousseeuw1987",
    "Rousseeuw, Peter J.",
    "Rousseeuw",
    "Silhouettes: a graphical aid to the interpretation and validation of cluster "
    "analysis",
    "Journal of Computational and Applied Mathematics",
    "20",
    "53--65",
    "1987",
    "10.1016/0377-0427(87)90125-7"};

std::string plain(std::string text) {
    std::erase(text, '{');
    std::erase(text, '}');
    return text;
}

Citation citation_of(const Work& work) {
    const std::string doi = work.doi, volume = work.volume, pages = work.pages;
    std::string text =
        fmt::format("{}: {}. {}{}{} ({})", work.short_authors, plain(work.title), work.journal,
                    volume.empty() ? "" : " " + volume,
                    pages.empty() ? "" : ":" + pages.substr(0, pages.find('-')), work.year);
    if (!doi.empty()) text += ", doi:" + doi;
    std::string bibtex = fmt::format(
        "@article{{{},\n  author  = {{{}}},\n  title   = {{{}}},\n"
        "  journal = {{{}}},\n",
        work.key, work.authors, work.title, work.journal);
    if (!volume.empty()) bibtex += fmt::format("  volume  = {{{}}},\n", volume);
    if (!pages.empty()) bibtex += fmt::format("  pages   = {{{}}},\n", pages);
    bibtex += fmt::format("  year    = {{{}}}", work.year);
    if (!doi.empty()) bibtex += fmt::format(",\n  doi     = {{{}}}", doi);
    return {work.key, text, bibtex + "\n}\n"};
}

}  // namespace

std::vector<Citation> citations(Method method, bool silhouettes) {
    const auto works = [&]() -> std::vector<const Work*> {
        switch (method) {
            case Method::gromos:
            case Method::gmx: return {&kDaura};
            case Method::single: return {&kPrim};
            case Method::complete:
            case Method::average: return {&kChains};
            case Method::ward: return {&kWard, &kChains};
            case Method::kmedoids: return {&kMedoids};
            case Method::dbscan: return {&kDbscan};
            case Method::density_peaks: break;
        }
        return {&kPeaks};
    }();
    std::vector<Citation> all;
    for (const Work* const work : works) all.push_back(citation_of(*work));
    if (silhouettes) all.push_back(citation_of(kSilhouettes));
    return all;
}

}  // namespace pleat::cluster
