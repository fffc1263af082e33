// Headline: the title of a run, one sentence about its results, and up to three of its numbers, as
// the program's summary prints them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "pleat/report/sections.h"

namespace pleat::report {

namespace {

struct Tile {
    std::string value, label;
};

/// `about`: what the run computed, for its title.
struct Headline {
    std::string about, sentence;
    std::vector<Tile> tiles;
};

/// The results in a manifest. A missing name gives NaN as number.
class Results {
public:
    explicit Results(const RunFolder& run) : results_(run.manifest().value("results", Json())) {}

    bool has(std::initializer_list<const char*> names) const {
        return results_.is_object() && std::all_of(names.begin(), names.end(), [&](auto name) {
                   return results_.contains(name);
               });
    }
    double number(const char* name) const {
        const auto at = results_.find(name);
        return at != results_.end() && at->is_number() ? at->get<double>()
                                                       : std::numeric_limits<double>::quiet_NaN();
    }
    /// A number without decimals.
    std::string count(const char* name) const { return fmt::format("{:.0f}", number(name)); }
    /// "1 cluster", "2 clusters"
    std::string count(const char* name, const char* noun) const {
        return fmt::format("{} {}{}", count(name), noun, number(name) == 1 ? "" : "s");
    }

private:
    Json results_;
};

/// The first rows of a table of the run; nothing if it lacks the table or one of the columns.
std::optional<Table> first_rows(const RunFolder& run, const char* file,
                                std::initializer_list<std::string_view> columns, Index rows = 1) {
    if (!run.has(file)) return std::nullopt;
    Table table = read_table(run.file(file), rows);
    if (table.rows.empty() || !table.has(columns)) return std::nullopt;
    return table;
}

/// A cell of the first row with that many decimals; nothing for "NA" and missing columns.
std::optional<std::string> cell(const Table& table, const char* column, int decimals) {
    const auto at = table.find(column);
    if (!at) return std::nullopt;
    const std::optional<double> value = cell_number(table.rows[0][*at]);
    if (!value || std::isnan(*value)) return std::nullopt;
    return fmt::format("{:.{}f}", *value, decimals);
}

/// "GLY 44 and ILE 106": the residues of the first row, else its columns, "84 (G)".
std::string pair_of(const Table& table) {
    std::string text;
    for (const std::string side : {"i", "j"}) {
        const auto at = [&](const std::string& name) -> std::string {
            const auto column = table.find(name + side);
            return column ? table.rows[0][*column] : "NA";
        };
        const std::string letter = at("letter_");
        text += (text.empty() ? "" : " and ") +
                (at("number_") != "NA"
                     ? at("residue_") + " " + at("number_")
                     : fmt::format("{} ({})", at(""), letter == "-" ? "gap" : letter));
    }
    return text;
}

/// Adds the precision of the best L pairs, from the summary's row "all".
void add_precision(const RunFolder& run, Headline& headline) {
    constexpr Index kRows = 100;
    const auto table = first_rows(run, "evaluation.tsv",
                                  {"range", "depth", "pairs", "correct", "precision"}, kRows);
    if (!table) return;
    for (const auto& row : table->rows) {
        const auto text = [&](const char* column) { return row[*table->find(column)]; };
        const std::optional<double> precision = cell_number(text("precision"));
        if (text("range") != "all" || text("depth") != "L" || !precision || std::isnan(*precision))
            continue;
        headline.sentence = fmt::format("{} of the {} best pairs are in contact ({:.0f} %).",
                                        text("correct"), text("pairs"), 100 * *precision);
        headline.tiles.push_back(
            {fmt::format("{:.3f}", *precision),
             fmt::format("precision of the best L = {} pairs", text("pairs"))});
    }
}

/// The pairs that null alignments along a tree leave significant, as a sentence and the first
/// tiles.
void add_tree_null(const Table& best, const Results& results, Headline& headline) {
    if (!results.has({"tree_significant"})) return;
    const bool is_one = results.number("tree_significant") == 1;
    std::string sentence =
        fmt::format("{} {} an E below 0.05 along the tree of the sequences",
                    results.count("tree_significant", "pair"), is_one ? "has" : "have");
    if (results.has({"annotated_found", "annotated_pairs"}))
        sentence += fmt::format(", {} of {} annotated pairs among them",
                                results.count("annotated_found"), results.count("annotated_pairs"));
    headline.sentence = sentence + ".";
    headline.tiles = {{results.count("tree_significant"), "pairs with an E below 0.05"}};
    const auto e = best.find("tree_e");
    const std::optional<double> value = e ? cell_number(best.rows[0][*e]) : std::nullopt;
    if (value) headline.tiles.push_back({fmt::format("{:.2g}", *value), "E of " + pair_of(best)});
}

/// How many pairs are contacts more likely than not.
std::string probable_pairs(const RunFolder& run) {
    const std::string_view names[] = {"probability"};
    const std::vector<double> all = read_columns(run.file("contacts.tsv"), names)[0];
    const auto count = std::count_if(all.begin(), all.end(), [](double p) { return p > 0.5; });
    return fmt::format("{} {} a probability of a contact above one half.", count,
                       count == 1 ? "pair has" : "pairs have");
}

Headline couplings_headline(const RunFolder& run, const Results& results) {
    Headline headline{.about = "direct coupling analysis", .sentence = {}, .tiles = {}};
    add_precision(run, headline);
    if (const auto best = first_rows(run, "contacts.tsv", {"i", "j", "corrected", "z"})) {
        const std::string pair = pair_of(*best);
        const auto probability = cell(*best, "probability", 3);
        if (headline.sentence.empty() && probability) headline.sentence = probable_pairs(run);
        if (headline.sentence.empty())
            headline.sentence = fmt::format("{} are coupled most strongly: score {}.", pair,
                                            cell(*best, "corrected", 4).value_or("unknown"));
        else
            headline.sentence += fmt::format(" {} are coupled most strongly.", pair);
        if (const auto z = cell(*best, "z", 2))
            headline.tiles.push_back({*z, "Z of the strongest pair, " + pair});
        if (probability) headline.tiles.push_back({*probability, "its probability of a contact"});
        add_tree_null(*best, results, headline);
    }
    headline.tiles.resize(std::min<std::size_t>(headline.tiles.size(), 2));
    headline.tiles.push_back({fmt::format("{:.1f}", results.number("effective_sequences")),
                              fmt::format("effective sequences of {}, {} columns",
                                          results.count("sequences"), results.count("columns"))});
    return headline;
}

Headline information_headline(const RunFolder& run, const Results& results) {
    Headline headline{.about = "mutual information", .sentence = {}, .tiles = {}};
    const std::string size = fmt::format("{} sequences, {} columns", results.count("sequences"),
                                         results.count("columns"));
    if (const auto best = first_rows(run, "pairs.tsv", {"i", "j", "mi"})) {
        const std::string pair = pair_of(*best);
        const std::string bits = cell(*best, "mi", 4).value_or("unknown");
        auto z = cell(*best, "z", 2);
        const bool is_exact = z.has_value();
        if (!z) z = cell(*best, "sampled_z", 2);
        headline.sentence =
            fmt::format("{} are the strongest pair: {} bits{}.", pair, bits, z ? ", Z " + *z : "");
        headline.tiles.push_back({bits + " bits", "mutual information of " + pair});
        if (z)
            headline.tiles.push_back(
                {*z, is_exact ? "Z of that pair, exact"
                              : "Z of that pair, by " + results.count("shuffles") + " shuffles"});
        add_tree_null(*best, results, headline);
    } else {
        headline.sentence = "No pair reaches --min-z.";
    }
    if (results.has({"triples", "cliques"}))
        headline.tiles.push_back({results.count("cliques") + " of " + results.count("triples"),
                                  "triples in the clique set by percentiles; " + size});
    else if (results.has({"triples", "cliques_by_z"}))
        headline.tiles.push_back({results.count("cliques_by_z") + " of " + results.count("triples"),
                                  "triples in the clique set by exact Z; " + size});
    else
        headline.tiles.push_back(
            {results.count("columns"), "columns of " + results.count("sequences") + " sequences"});
    return headline;
}

Headline distances_headline(const RunFolder& run, const Results& results) {
    const std::string metric = run.parameter("metric");
    const bool is_score = metric == "tm" || metric == "gdt_ts" || metric == "lddt";
    const std::string label = metric == "tm"       ? "TM-score"
                              : metric == "gdt_ts" ? "GDT_TS"
                              : metric == "lddt"   ? "lDDT"
                              : metric == "drmsd"  ? "dRMSD"
                                                   : "RMSD";
    const std::string unit = is_score ? "" : " Å";
    const auto number = [&](const char* name) {
        return fmt::format("{:.4f}", results.number(name));
    };
    const bool has_reference = run.has("reference.tsv"), has_others = results.has({"others"});
    const std::string pairs = has_reference ? "from the reference"
                              : has_others  ? "from the other frames"
                                            : "of all pairs";
    return {.about = label + " of frames",
            .sentence = fmt::format("{} frames: {} {} {}{} on average.", results.count("frames"),
                                    label, pairs, number("mean"), unit),
            .tiles = {{results.count("frames"), "frames of " + results.count("atoms") + " atoms"},
                      {number("mean") + unit, "mean " + label + " " + pairs},
                      {number("min") + " to " + number("max") + unit, "range"}}};
}

Headline clusters_headline(const RunFolder& run, const Results& results) {
    const double items = results.number("items"), share = results.number("largest") / items;
    const bool has_assign = !run.parameter("assign").empty();
    const std::string made =
        has_assign ? fmt::format("were given to {}", results.count("clusters", "medoid"))
                   : fmt::format("form {} by {}", results.count("clusters", "cluster"),
                                 run.parameter("method"));
    Headline headline{
        .about = "clusters",
        .sentence =
            fmt::format("{} items {}; the largest{} has {} ({:.0f} %).", results.count("items"),
                        made, has_assign ? " cluster" : "", results.count("largest"), 100 * share),
        .tiles = {{results.count("clusters"), "clusters of " + results.count("items") + " items"},
                  {fmt::format("{:.4f}", share), "share of the largest cluster"}}};
    if (results.has({"silhouette"}))
        headline.tiles.push_back(
            {fmt::format("{:.4f}", results.number("silhouette")), "mean silhouette"});
    else if (results.has({"cutoff"}))
        headline.tiles.push_back({fmt::format("{:g} Å", results.number("cutoff")), "cutoff"});
    return headline;
}

Headline scattering_headline(const RunFolder&, const Results& results) {
    Headline headline{.about = "small-angle scattering", .sentence = {}, .tiles = {}};
    const bool one = results.number("frames") == 1, has_rg = !std::isnan(results.number("rg"));
    const std::string rg = has_rg ? fmt::format("{:.2f} Å", results.number("rg")) : "NA";
    const std::string shape =
        one ? "Rg " + rg : results.count("frames") + " frames, root mean square Rg " + rg;
    if (results.has({"chi2", "curve_points"})) {
        const std::string chi2 = fmt::format("{:.3f}", results.number("chi2"));
        headline.sentence = fmt::format(
            "Between the computed and the measured curve chi^2 is {} per point; {}.", chi2, shape);
        headline.tiles.push_back(
            {chi2, "chi^2 per point, of " + results.count("curve_points") + " points"});
    } else {
        headline.sentence = shape + ".";
    }
    headline.tiles.push_back({rg, one ? "Rg" : "root mean square Rg of the frames"});
    headline.tiles.push_back({fmt::format("{:.1f} Å", results.number("dmax")), "Dmax"});
    return headline;
}

/// A curve without a structure. Without P(r) its Rg is that of Guinier's law.
Headline curve_headline(const RunFolder& run, const Results& results) {
    const bool has_pairs = !std::isnan(results.number("rg"));
    const char* const rg = has_pairs ? "rg" : "guinier_rg";
    const auto angstrom = [&](const char* name, int digits) {
        return std::isnan(results.number(name))
                   ? std::string("not determined")
                   : fmt::format("{:.{}f} Å", results.number(name), digits);
    };
    const std::string size = angstrom(rg, 2), dmax = angstrom("dmax", 1);
    Headline headline{.about = run.has("elution.tsv") ? "frames of an elution" : "scattering curve",
                      .sentence = "Rg is " + size,
                      .tiles = {}};
    const double error = results.number(has_pairs ? "rg_error" : "guinier_rg_error");
    if (!std::isnan(error))
        headline.sentence = fmt::format("Rg is {:.2f} ± {:.2f} Å", results.number(rg), error);
    if (has_pairs)
        headline.sentence += fmt::format(", Dmax {} (90 %: {:.0f} to {:.0f})", dmax,
                                         results.number("dmax_low"), results.number("dmax_high"));
    if (results.number("error_scale") > 3)
        headline.sentence += fmt::format("; P(r) fits with errors {:.0f} times as large as given",
                                         results.number("error_scale"));
    headline.sentence += ".";
    headline.tiles = {{size, "Rg"}, {dmax, "Dmax"}};
    const double mass = results.number("mass_vc");
    if (!std::isnan(mass))
        headline.tiles.push_back(
            {fmt::format("{:.0f} kDa", mass), "mass of a protein, by its volume of correlation"});
    return headline;
}

Headline selection_headline(const RunFolder& run, const Results& results) {
    Headline headline{
        .about = "ranked conformations",
        .sentence = fmt::format("Frame {} is the best of {}; {} of {} selected.",
                                results.count("best_frame"), results.count("frames"),
                                results.count("selected"), results.count("clusters", "cluster")),
        .tiles = {{results.count("frames"), "frames in " + results.count("clusters", "cluster")},
                  {results.count("best_frame"), "best frame"}}};
    if (const auto best = first_rows(run, "clusters.tsv", {"selected", "cluster"})) {
        const auto contacts = cell(*best, "contacts", 4), chi2 = cell(*best, "chi2", 4);
        if (contacts)
            headline.tiles.push_back({*contacts, "contacts that the first cluster satisfies"});
        else if (chi2)
            headline.tiles.push_back({*chi2, "chi^2 of the first cluster"});
    }
    return headline;
}

Headline refinement_headline(const RunFolder& run, const Results& results) {
    const std::string_view names[] = {"rg"};
    std::vector<double> rg = read_columns(run.file("frames.tsv"), names)[0];
    std::sort(rg.begin(), rg.end());
    const bool converged = run.manifest()["results"].value("converged", Json()) == "yes";
    Headline headline{.about = "conformations of linkers",
                      .sentence = fmt::format("{} frames, {}.", results.count("frames"),
                                              converged ? "converged" : "not converged"),
                      .tiles = {{results.count("frames"), "frames"}}};
    if (results.has({"effective_size"}))
        headline.tiles[0].label = fmt::format("frames, worth at least {:.0f} independent ones",
                                              results.number("effective_size"));
    if (const Json symmetry = run.manifest()["results"].value("symmetry", Json());
        symmetry.is_string())
        headline.sentence += fmt::format(" Symmetry {}: all copies have the same angles.",
                                         symmetry.get<std::string>());
    if (run.has("saxs/fit.json"))
        headline.sentence += " A curve tells distances between domains, not their orientations.";
    const auto at = [&](double share) {
        return rg[static_cast<std::size_t>(share * static_cast<double>(rg.size() - 1))];
    };
    if (!rg.empty()) {
        const std::string spread = fmt::format("{:.2f} to {:.2f} Å", at(0.05), at(0.95));
        headline.sentence =
            fmt::format("90 % of the frames have an Rg of {}; ", spread) + headline.sentence;
        headline.tiles.push_back({fmt::format("{:.2f} Å", at(0.5)), "median Rg"});
        headline.tiles.push_back({spread, "Rg of 90 % of the frames"});
    }
    return headline;
}

Headline mutants_headline(const RunFolder& run, const Results& results) {
    Headline headline{.about = "effects of mutations",
                      .sentence = fmt::format("{} single mutants of {} residues.",
                                              results.count("singles"), results.count("residues")),
                      .tiles = {}};
    constexpr Index kRows = 1'000'000;
    if (const auto table =
            first_rows(run, "positions.tsv", {"pos", "wt", "mean_epistatic"}, kRows)) {
        const std::vector<double> means = table->numbers("mean_epistatic");
        const auto less = [](double a, double b) {
            return a < b || (std::isnan(b) && !std::isnan(a));
        };
        const auto row = static_cast<std::size_t>(
            std::min_element(means.begin(), means.end(), less) - means.begin());
        const std::string residue =
            table->rows[row][*table->find("wt")] + table->rows[row][*table->find("pos")];
        if (!std::isnan(means[row])) {
            headline.sentence = fmt::format(
                "{} tolerates mutations least: their mean effect is {:.2f}.", residue, means[row]);
            headline.tiles.push_back(
                {fmt::format("{:.2f}", means[row]), "mean effect of the mutations of " + residue});
        }
    }
    const auto measured = first_rows(run, "correlations.tsv",
                                     {"column", "spearman_epistatic", "spearman_independent"});
    if (const auto spearman = measured ? cell(*measured, "spearman_epistatic", 3) : std::nullopt) {
        const std::string& column = measured->rows[0][*measured->find("column")];
        headline.sentence += fmt::format(
            " The rank correlation of the effects with the measured {} is {}.", column, *spearman);
        headline.tiles.push_back(
            {*spearman,
             fmt::format("rank correlation with {}; independent model {}", column,
                         cell(*measured, "spearman_independent", 3).value_or("unknown"))});
    } else if (results.has({"effective_sequences"}))
        headline.tiles.push_back(
            {fmt::format("{:.1f}", results.number("effective_sequences")), "effective sequences"});
    headline.tiles.push_back(
        {results.count("singles"), "single mutants of " + results.count("residues") + " residues"});
    return headline;
}

/// Finds the headline by the names of the results; nothing for other results.
std::optional<Headline> headline_of(const RunFolder& run) {
    const Results results(run);
    if (results.has({"objective", "effective_sequences", "sequences", "columns"}))
        return couplings_headline(run, results);
    if (results.has({"low_entropy_columns", "sequences", "columns"}))
        return information_headline(run, results);
    if (results.has({"singles", "residues", "first_number"})) return mutants_headline(run, results);
    if (results.has({"scatterers", "frames", "dmax"})) return scattering_headline(run, results);
    if (results.has({"guinier_rg", "dmax", "points"})) return curve_headline(run, results);
    if (results.has({"selected", "frames", "clusters", "best_frame"}))
        return selection_headline(run, results);
    if (results.has({"items", "clusters", "largest"})) return clusters_headline(run, results);
    if (results.has({"angles", "domains", "converged"}) && run.has("frames.tsv"))
        return refinement_headline(run, results);
    if (results.has({"frames", "atoms", "mean", "min", "max"}))
        return distances_headline(run, results);
    return std::nullopt;
}

/// The subject of a run: "trypsin" for the first input "data/trypsin.a2m.gz" that is not an array
/// of another run, a file of given medoids or a file beside a model; else the run's name.
std::string subject_of(const RunFolder& run) {
    const std::string assign = run.parameter("assign");
    const auto folder = [](const std::filesystem::path& path) {
        return (path / "").lexically_normal();
    };
    for (const Json& input : run.inputs()) {
        if (!input.is_object() || !input.value("path", Json()).is_string()) continue;
        std::filesystem::path path = input["path"].get<std::string>();
        if (!assign.empty() && (path == assign || folder(path.parent_path()) == folder(assign)))
            continue;
        if (path == run.parameter("target") || path == run.parameter("mutants") ||
            path == run.parameter("sequences"))
            continue;
        if (path.extension() == ".gz" || path.extension() == ".zst") path.replace_extension();
        if (path.extension() == ".npy" || path.extension() == ".npz") continue;
        return path.stem().string();
    }
    return run.name();
}

}  // namespace

void add_headline(const RunFolder& run, const RunFolder& named_after, Json& shown) {
    const std::optional<Headline> headline = headline_of(run);
    if (!headline) return;
    shown["subject"] = subject_of(named_after);
    shown["title"] = subject_of(named_after) + ": " + headline->about;
    Json tiles = Json::array();
    for (const Tile& tile : headline->tiles)
        tiles.push_back({{"value", tile.value}, {"label", tile.label}});
    shown["headline"] = {{"sentence", headline->sentence}, {"tiles", tiles}};
}

}  // namespace pleat::report
