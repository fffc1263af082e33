// Mutants: the sections of `pleat mutants`: effects of single mutants, residues, logo,
// measurements.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"
#include "pleat/report/run_structure.h"
#include "pleat/report/sections.h"

namespace pleat::report {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
struct MutantLayer {
    const char* column;
    const char* name;
    bool is_effect = false;  ///< 0 is the wild type
};
constexpr std::array<MutantLayer, 9> kMutantLayers = {
    {{"prediction_epistatic", "effect", true},
     {"prediction_weighted", "effect weighted by burial and conservation", true},
     {"prediction_conservation", "effect weighted by conservation", true},
     {"prediction_independent", "independent effect", true},
     {"percentile", "percentile"},
     {"independent_percentile", "independent percentile"},
     {"z", "Z"},
     {"independent_z", "independent Z"},
     {"frequency", "frequency"}}};

/// Amino acids grouped by properties; nucleotides form one group.
struct LetterGroup {
    const char* name;
    const char* letters;
};
constexpr std::array<LetterGroup, 6> kGroups = {{{"aliphatic and small", "GAVILMC"},
                                                 {"aromatic", "FYW"},
                                                 {"proline", "P"},
                                                 {"polar", "STNQ"},
                                                 {"positive", "HKR"},
                                                 {"negative", "DE"}}};

/// [{"name", "letters"}] of these letters.
Json letter_groups(std::string letters) {
    std::sort(letters.begin(), letters.end());
    if (letters.find_first_not_of("ACGTU") == std::string::npos)
        return Json::array({{{"name", ""}, {"letters", letters}}});
    Json groups = Json::array();
    for (const LetterGroup& group : kGroups) {
        std::string own;
        for (const char* letter = group.letters; *letter != 0; ++letter) {
            const std::size_t at = letters.find(*letter);
            if (at == std::string::npos) continue;
            own += *letter;
            letters.erase(at, 1);
        }
        if (!own.empty()) groups.push_back({{"name", group.name}, {"letters", own}});
    }
    if (!letters.empty()) groups.push_back({{"name", "other"}, {"letters", letters}});
    return groups;
}

/// The target's residues and the family's letters, in the order of the page.
struct Substitutions {  // NOLINT(bugprone-exception-escape): moving JSON throws nothing
    std::vector<std::string> numbers;
    std::vector<double> columns;
    std::string wild_type;
    Json groups;
    std::string letters;  ///< of all groups
};

/// The only character of a text.
char letter_of(std::string_view text) { return text.size() == 1 ? text.front() : '?'; }

/// The place of each residue by its number.
using Places = std::map<std::string, Index, std::less<>>;

Substitutions list_substitutions(const Table& table, Places& places) {
    Substitutions found;
    const std::size_t pos = *table.find("pos"), wt = *table.find("wt"), subs = *table.find("subs");
    const std::vector<double> columns = table.numbers("column");
    std::string letters;
    for (std::size_t n = 0; n < table.rows.size(); ++n) {
        const std::vector<std::string>& row = table.rows[n];
        for (const std::size_t at : {wt, subs})
            if (letters.find(letter_of(row[at])) == std::string::npos)
                letters += letter_of(row[at]);
        if (!places.emplace(row[pos], static_cast<Index>(found.numbers.size())).second) continue;
        found.numbers.push_back(row[pos]);
        found.columns.push_back(columns[n]);
        found.wild_type += letter_of(row[wt]);
    }
    found.groups = letter_groups(letters);
    for (const Json& group : found.groups) found.letters += group["letters"].get<std::string>();
    return found;
}

/// The values of a table column as a matrix [letter, residue].
Json layer_matrix(const Table& table, const char* column, const Substitutions& all,
                  const Places& places) {
    const auto width = all.numbers.size();
    const std::size_t pos = *table.find("pos"), subs = *table.find("subs");
    const std::vector<double> numbers = table.numbers(column);
    std::vector<double> values(all.letters.size() * width, kNone);
    for (std::size_t n = 0; n < numbers.size(); ++n) {
        const std::size_t row = all.letters.find(letter_of(table.rows[n][subs]));
        if (row == std::string::npos) continue;
        const auto at = static_cast<std::size_t>(places.at(table.rows[n][pos]));
        values[row * width + at] = numbers[n];
    }
    return encode_rectangle(values, static_cast<Index>(all.letters.size()),
                            static_cast<Index>(width));
}

/// Whether a table has a column with a number.
bool has_numbers(const Table& table, const char* column) {
    if (!table.find(column)) return false;
    const std::vector<double> numbers = table.numbers(column);
    return !std::all_of(numbers.begin(), numbers.end(), [](double n) { return std::isnan(n); });
}

void add_substitutions(Drawing& drawing, const Table& table, const Substitutions& all,
                       const Places& places) {
    Json layers = Json::array();
    for (const MutantLayer& layer : kMutantLayers) {
        if (!has_numbers(table, layer.column)) continue;
        layers.push_back({{"name", layer.name},
                          {"effect", layer.is_effect},
                          {"matrix", layer_matrix(table, layer.column, all, places)}});
    }
    if (layers.empty()) return;
    drawing.add({{"kind", "substitutions"},
                 {"title", "Effects of single mutants"},
                 {"numbers", all.numbers},
                 {"places", all.columns},
                 {"wild_type", all.wild_type},
                 {"groups", all.groups},
                 {"layers", layers}});
}

/// Means by residue, in the order of `places`; empty without positions.tsv.
Json residue_values(const Drawing& drawing, const Places& places) {
    constexpr std::array<std::pair<const char*, const char*>, 7> kNames = {
        {{"mean_epistatic", "mean effect"},
         {"mean_independent", "mean independent effect"},
         {"min_epistatic", "most harmful effect"},
         {"max_epistatic", "least harmful effect"},
         {"column_conservation", "conservation"},
         {"accessibility", "relative accessibility"},
         {"burial_weight", "weight of burial and conservation"}}};
    Json found = Json::array();
    if (!drawing.run.has("positions.tsv")) return found;
    const Table table = read_table(drawing.run.file("positions.tsv"), kEveryRow);
    const auto pos = table.find("pos");
    if (!pos) return found;
    for (const auto& [column, name] : kNames) {
        if (!has_numbers(table, column)) continue;
        const std::vector<double> numbers = table.numbers(column);
        std::vector<double> values(places.size(), kNone);
        for (std::size_t n = 0; n < numbers.size(); ++n)
            if (const auto place = places.find(table.rows[n][*pos]); place != places.end())
                values[place->second] = numbers[n];
        found.push_back({{"name", name}, {"values", finite(values)}});
    }
    return found;
}

const Alphabet& alphabet_of(const std::string& letters) {
    if (letters.find_first_not_of("ACGTU") != std::string::npos) return Alphabet::protein();
    return letters.find('T') == std::string::npos ? Alphabet::rna() : Alphabet::dna();
}

/// The target's whole sequence as the manifest has it, and the place of each residue in it; of runs
/// without it the residues themselves.
std::pair<std::string, std::vector<std::size_t>> whole_target(const RunFolder& run,
                                                              const Substitutions& all) {
    std::vector<std::size_t> places;
    const Json results = run.manifest().value("results", Json::object());
    const Json sequence = results.value("sequence", Json());
    const Json first = results.value("first_number", Json());
    if (sequence.is_string() && first.is_number_integer()) {
        const auto letters = sequence.get<std::string>();
        for (std::size_t n = 0; n < all.numbers.size(); ++n) {
            const double place = cell_number(all.numbers[n]).value_or(kNone) - first.get<double>();
            if (place >= 0 && place < static_cast<double>(letters.size()) &&
                letters[static_cast<std::size_t>(place)] == all.wild_type[n])
                places.push_back(static_cast<std::size_t>(place));
        }
        if (places.size() == all.numbers.size()) return {letters, places};
    }
    places.resize(all.wild_type.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    return {all.wild_type, places};
}

/// Series of numbers by residue.
Json residue_curve(const char* title, const Json& residues, Json series) {
    Json positions = Json::array();
    for (std::size_t n = 1; n <= residues.size(); ++n) positions.push_back(n);
    return {{"kind", "curve"},
            {"title", title},
            {"x", {{"label", "residue number"}}},
            {"y", {{"label", ""}}},
            {"choose", series.size() > 1},
            {"style", "bars"},
            {"positions", positions},
            {"residues", residues},
            {"series", std::move(series)}};
}

void add_residues(Drawing& drawing, const Substitutions& all, const Json& values) {
    Json residues = Json::array();
    for (std::size_t n = 0; n < all.numbers.size(); ++n)
        residues.push_back(fmt::format("{} {}", all.wild_type[n], all.numbers[n]));
    drawing.add(residue_curve("Mean effect by residue", residues, values));
    for (const Json& one : values)
        if (one["name"] == "relative accessibility")
            drawing.add(
                residue_curve("Relative accessibility by residue", residues, Json::array({one})));
    const auto [letters, places] = whole_target(drawing.run, all);
    std::optional<AlignedChain> known = find_chain_of_sequence(
        drawing.run, letters, alphabet_of(all.letters), drawing.structure, drawing.notes);
    if (!known) return;
    std::vector<Index> drawn;
    for (const std::size_t place : places) drawn.push_back(known->residues[place]);
    known->residues = std::move(drawn);
    Json molecule = molecule_section(*known, values);
    molecule["pairs"] = false;
    drawing.add(std::move(molecule));
}

/// Draws the letters of each column and their heights, from one row per letter.
void add_logo(Drawing& drawing) {
    if (!drawing.claim_file("logo.tsv")) return;
    const Table table = read_table(drawing.run.file("logo.tsv"), kEveryRow);
    if (!table.has({"column", "pos", "wt", "letter", "height"}) || table.rows.empty()) return;
    const auto cell = [&](std::size_t row, const char* name) -> const std::string& {
        return table.rows[row][*table.find(name)];
    };
    const std::vector<double> heights = table.numbers("height");
    Json columns = Json::array();
    std::string letters;
    for (std::size_t n = 0; n < heights.size(); ++n) {
        if (n == 0 || cell(n, "column") != cell(n - 1, "column"))
            columns.push_back({{"column", cell(n, "column")},
                               {"number", cell(n, "pos") == "NA" ? "" : cell(n, "pos")},
                               {"letter", cell(n, "wt")},
                               {"stack", Json::array()}});
        if (letters.find(letter_of(cell(n, "letter"))) == std::string::npos)
            letters += letter_of(cell(n, "letter"));
        // Lower letters are not seen.
        constexpr double kLowest = 0.02;
        if (heights[n] >= kLowest)
            columns.back()["stack"].push_back(
                {cell(n, "letter"), std::round(heights[n] * 1000) / 1000});
    }
    drawing.add({{"kind", "logo"},
                 {"title", "Sequence logo"},
                 {"most", std::log2(std::max(2.0, static_cast<double>(letters.size())))},
                 {"groups", letter_groups(letters)},
                 {"columns", columns}});
}

/// Reads the table of mutants with predictions, which has the separator of the user's table.
Table read_listed(const std::filesystem::path& path) {
    require_room(path, 20);
    const std::vector<std::uint8_t> bytes = read_file(path);
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    RecordReader records(text);
    Table table{.path = path, .columns = {}, .rows = {}};
    std::string_view record, end;
    Index line = 0;
    if (!records.next(record, end, line)) return table;
    // Columns added by pleat come last, and their names contain no separator.
    const std::size_t last = record.find_last_of(",;\t");
    if (last == std::string_view::npos) return table;
    const char separator = record[last];
    std::vector<std::string_view> cells;
    split_record(record, separator, cells);
    const auto texts = [&] {
        std::vector<std::string> all;
        all.reserve(cells.size());
        for (const std::string_view cell : cells) all.push_back(cell_text(cell));
        return all;
    };
    table.columns = texts();
    while (records.next(record, end, line)) {
        split_record(record, separator, cells);
        if (cells.size() == table.columns.size()) table.rows.push_back(texts());
    }
    table.total = static_cast<Index>(table.rows.size());
    return table;
}

/// The rows with predictions, at most kMaxDots, without rows of the target itself.
struct Dots {
    static constexpr std::size_t kMaxDots = 20000;
    std::vector<std::size_t> rows;
    std::size_t every = 1;

    Dots(const Table& table, std::size_t epistatic, std::size_t independent) {
        for (std::size_t n = 0; n < table.rows.size(); ++n) {
            const std::optional<double> value = cell_number(table.rows[n][epistatic]);
            const std::optional<double> other = cell_number(table.rows[n][independent]);
            const bool is_target = value == 0.0 && other == 0.0;
            if (value && !std::isnan(*value) && !is_target) rows.push_back(n);
        }
        every = std::max<std::size_t>(1, (rows.size() + kMaxDots - 1) / kMaxDots);
        std::size_t kept = 0;
        for (std::size_t n = 0; n < rows.size(); n += every) rows[kept++] = rows[n];
        rows.resize(kept);
    }
    Json numbers(const Table& table, std::size_t column) const {
        Json values = Json::array();
        for (const std::size_t n : rows)
            values.push_back(finite(cell_number(table.rows[n][column]).value_or(kNone)));
        return values;
    }
};

/// The columns whose cells together name a mutant, as `pleat mutants` reads them.
std::vector<std::size_t> mutant_columns(const Table& table) {
    using Names = std::vector<std::string_view>;
    static const std::vector<Names> kColumns = {{"wildtype", "site", "mutant"},
                                                {"wildtype", "site", "mutation"},
                                                {"mutant"},
                                                {"mutants"},
                                                {"mutations"},
                                                {"mutation"},
                                                {"hgvs_pro"},
                                                {"wt_aa", "position", "mt_aa"},
                                                {"wt", "pos", "subs"},
                                                {"mutated_sequence"},
                                                {"mutant_sequence"},
                                                {"variant"},
                                                {"protein_variant"}};
    for (const Names& names : kColumns) {
        std::vector<std::size_t> found;
        for (const std::string_view name : names)
            if (const auto column = table.find(name)) found.push_back(*column);
        const auto is_whole = [&](const auto& row) {
            return row[found.back()].find_first_of("0123456789") != std::string::npos;
        };
        if (found.size() != names.size() ||
            (names.front() == "wildtype" && std::ranges::any_of(table.rows, is_whole)))
            continue;
        return found;
    }
    return {};
}

/// The mutant of each dot, and whether it has one mutation or several.
struct DotNames {
    Json labels = Json::array(), mutations = Json::array(), shown = Json::array();

    DotNames(const Table& table, const Dots& dots) {
        const std::vector<std::size_t> columns = mutant_columns(table);
        bool found[3] = {};
        for (const std::size_t n : dots.rows) {
            std::string text = columns.empty() ? fmt::format("row {}", n + 1) : "";
            for (const std::size_t column : columns) text += table.rows[n][column];
            const int count = text.find_first_of(":,;") == std::string::npos ? 1 : 2;
            found[count] = true;
            labels.push_back(text);
            mutations.push_back(count);
        }
        if (columns.empty() || !found[2]) return;
        if (found[1]) shown.push_back({{"value", 1}, {"name", "single mutants"}});
        shown.push_back({{"value", 2}, {"name", "several mutations"}});
    }
};

/// The last column with this end of its name: one that pleat has added, as those come last.
std::optional<std::size_t> added_column(const Table& listed, std::string_view end) {
    for (std::size_t at = listed.columns.size(); at-- > 0;)
        if (listed.columns[at].ends_with(end)) return at;
    return std::nullopt;
}

/// Plots predictions over the measured columns that correlations.tsv names.
void add_scatter(Drawing& drawing, const Table& listed) {
    if (!drawing.run.has("correlations.tsv")) return;
    const Table correlations = read_table(drawing.run.file("correlations.tsv"), kEveryRow);
    if (!correlations.has({"column", "count", "spearman_epistatic", "spearman_independent"}))
        return;
    const std::size_t epistatic = *added_column(listed, "prediction_epistatic");
    const std::size_t independent = *added_column(listed, "prediction_independent");
    const Dots dots(listed, epistatic, independent);
    const DotNames names(listed, dots);
    Json measured = Json::array();
    for (const auto& row : correlations.rows)
        for (std::size_t at = 0; at < epistatic; ++at)
            if (table_cell(listed.columns[at]) == row[*correlations.find("column")])
                measured.push_back({{"name", listed.columns[at]},
                                    {"label", listed.columns[at]},
                                    {"values", dots.numbers(listed, at)}});
    if (measured.empty()) return;
    struct Kind {
        const char *title, *name, *label, *spearman;
    };
    constexpr std::array<Kind, 3> kKinds = {
        {{"Predicted effects against measurements", "epistatic", "predicted effect",
          "spearman_epistatic"},
         {"Weighted effects against measurements", "weighted",
          "effect weighted by burial and conservation", "spearman_weighted"},
         {"Effects in the independent model against measurements", "independent",
          "effect in the independent model", "spearman_independent"}}};
    for (const Kind& own : kKinds) {
        const auto column = added_column(listed, std::string("prediction_") + own.name);
        if (!column || *column < epistatic || !correlations.find(own.spearman) ||
            !has_numbers(listed, listed.columns[*column].c_str()))
            continue;
        Json columns = measured, told = Json::array();
        columns.push_back(
            {{"name", own.name}, {"label", own.label}, {"values", dots.numbers(listed, *column)}});
        for (const auto& row : correlations.rows) {
            const double spearman =
                cell_number(row[*correlations.find(own.spearman)]).value_or(kNone);
            if (std::isnan(spearman)) continue;
            told.push_back({{"x", row[*correlations.find("column")]},
                            {"y", own.name},
                            {"text", fmt::format("Spearman's rank correlation {:.3f} ({} mutants)",
                                                 spearman, row[*correlations.find("count")])}});
        }
        drawing.add(
            {{"kind", "scatter"},
             {"title", own.title},
             {"note", dots.every > 1 ? fmt::format("Every {}th mutant is drawn.", dots.every) : ""},
             {"item", "mutant"},
             {"numbers", dots.rows},
             {"columns", columns},
             {"x", measured[0]["name"]},
             {"y", own.name},
             {"group",
              {{"label", "mutations"}, {"values", names.mutations}, {"shown", names.shown}}},
             {"labels", names.labels},
             {"correlations", told}});
    }
}

/// The table with predictions in its last columns; nothing if it does not exist.
std::optional<Table> claim_listed(Drawing& drawing) {
    if (!drawing.claim_file("listed.csv")) return std::nullopt;
    Table listed = read_listed(drawing.run.file("listed.csv"));
    const auto epistatic = added_column(listed, "prediction_epistatic");
    const auto independent = added_column(listed, "prediction_independent");
    if (!epistatic || *epistatic == 0 || !independent || *independent < *epistatic)
        return std::nullopt;
    const auto first = listed.columns.begin() + static_cast<std::ptrdiff_t>(*epistatic);
    const bool are_last = std::all_of(first, listed.columns.end(), [](const std::string& name) {
        return name.find("prediction_") != std::string::npos;
    });
    return are_last ? std::optional(std::move(listed)) : std::nullopt;
}

}  // namespace

void draw_mutants(Drawing& drawing) {
    if (!drawing.run.has("singles.tsv")) return;
    const Table table = read_table(drawing.run.file("singles.tsv"), kEveryRow);
    if (!table.has({"pos", "wt", "subs", "column", "prediction_epistatic"}) || table.rows.empty())
        return;
    drawing.claim_file("singles.tsv");
    Places places;
    const Substitutions all = list_substitutions(table, places);
    add_substitutions(drawing, table, all, places);
    add_logo(drawing);
    const std::optional<Table> listed = claim_listed(drawing);
    if (listed) add_scatter(drawing, *listed);
    const Json values = residue_values(drawing, places);
    if (!values.empty()) add_residues(drawing, all, values);
    drawing.add_table("correlations.tsv", "Rank correlations with measurements");
    if (listed) {
        Table shown = *listed;
        shown.rows.resize(
            std::min(shown.rows.size(), static_cast<std::size_t>(drawing.limits.rows)));
        drawing.add(table_section("Listed mutants", shown));
    }
    drawing.add_table("positions.tsv", "Residues");
    drawing.add_table("sequences.tsv", "Energies of sequences");
    Table shown = table;
    shown.rows.resize(std::min(shown.rows.size(), static_cast<std::size_t>(drawing.limits.rows)));
    drawing.add(table_section("Single mutants", shown));
}

}  // namespace pleat::report
