// Columns: the sections of runs about pairs and triples of an alignment's columns.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "pleat/bio/structure/secondary_structure.h"
#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/report/run_structure.h"
#include "pleat/report/sections.h"

namespace pleat::report {

namespace {

/// One quantity of all pairs of columns, such as MI or Z.
struct Layer {
    std::string name;
    std::vector<double> upper;  ///< pairs i < j, row by row
};

/// Arrays of pairs by name in files, with their names on the page; the first is shown initially.
constexpr std::pair<const char*, const char*> kLayers[] = {
    {"corrected", "score (APC)"}, {"z", "Z"},          {"sampled_z", "Z of shuffles"},
    {"apc", "MI - APC (bits)"},   {"mi", "MI (bits)"}, {"raw", "score (raw)"}};

/// With more columns, fewer layers are shown, because the page would grow too large for a browser.
constexpr Index kManyColumns = 600, kVeryManyColumns = 1200;

/// The page's name for the entropy of each column.
constexpr const char* kEntropy = "entropy (bits)";

struct PairFile {
    std::string array_file, list_file;
    std::vector<Index> numbers;  ///< each column's number in the source, from 1
    std::vector<Layer> layers;
    Json significant;  ///< {"e", "i", "j"}: pairs with a smaller tree_e; null without a tree null
    Index size() const { return static_cast<Index>(numbers.size()); }
};

/// The pairs above the diagonal of a square matrix, or the array itself if it contains only these.
std::vector<double> upper_of(const NpyArray& array, Index size, const std::string& label) {
    std::vector<double> values = array.as<double>(label);
    const auto pairs = static_cast<std::size_t>(size * (size - 1) / 2);
    if (array.shape == std::vector<Index>{static_cast<Index>(pairs)}) return values;
    if (array.shape != std::vector<Index>{size, size})
        throw InputError(
            label, 0,
            fmt::format("expected numbers of all pairs of {} columns, found others", size));
    std::vector<double> upper;
    upper.reserve(pairs);
    for (Index i = 0; i < size; ++i)
        for (Index j = i + 1; j < size; ++j) upper.push_back(values[i * size + j]);
    return upper;
}

/// Adds -log10 of the expected numbers of pairs as the first layer, and the significant pairs.
void add_significance(const std::vector<double>& e, PairFile& pairs) {
    constexpr double kSignificantE = 0.05;
    Layer layer{"-log10 E (tree null)", {}};
    Json i = Json::array(), j = Json::array();
    std::size_t pair = 0;
    for (Index a = 0; a < pairs.size(); ++a)
        for (Index b = a + 1; b < pairs.size(); ++b, ++pair) {
            layer.upper.push_back(-std::log10(e[pair]));
            if (!(e[pair] < kSignificantE)) continue;
            i.push_back(a);
            j.push_back(b);
        }
    pairs.layers.push_back(std::move(layer));
    pairs.significant = {{"e", kSignificantE}, {"i", i}, {"j", j}};
}

PairFile read_pairs(const RunFolder& run, const std::string& arrays, const std::string& list) {
    PairFile pairs{
        .array_file = arrays, .list_file = list, .numbers = {}, .layers = {}, .significant = {}};
    constexpr std::int64_t kWide = 8;  // packed, as read, and its part above the diagonal
    require_room(run.file(arrays), kWide);
    const NpzReader reader(run.file(arrays));
    for (const std::int64_t column :
         reader.get("columns").as<std::int64_t>(reader.label("columns")))
        pairs.numbers.push_back(column + 1);
    const std::size_t max_layers = pairs.size() > kVeryManyColumns ? 1
                                   : pairs.size() > kManyColumns   ? 2
                                                                   : 3;
    if (reader.has("tree_e"))
        add_significance(upper_of(reader.get("tree_e"), pairs.size(), reader.label("tree_e")),
                         pairs);
    for (const auto& [array, name] : kLayers)
        if (pairs.layers.size() < max_layers && reader.has(array))
            pairs.layers.push_back(
                {name, upper_of(reader.get(array), pairs.size(), reader.label(array))});
    return pairs;
}

/// Fills the labels of columns from table rows, each from the first row that contains the column.
class LabelReader {
public:
    explicit LabelReader(std::vector<ColumnLabel>& labels) {
        for (ColumnLabel& label : labels)
            by_number_.emplace(std::to_string(label.number_in_source), &label);
    }
    void add(std::string_view column, std::string_view letter, std::string_view residue,
             std::string_view number) {
        const auto entry = by_number_.find(column);
        if (entry == by_number_.end() || !entry->second->letter.empty()) return;
        entry->second->letter = letter;
        if (number.empty() || number == "NA") return;
        entry->second->residue = residue;
        entry->second->number = number;
    }

private:
    std::map<std::string, ColumnLabel*, std::less<>> by_number_;
};

struct PairTables {  // NOLINT(bugprone-exception-escape): moving JSON throws nothing
    std::vector<ColumnLabel> labels;  ///< of each column
    Table pairs;                      ///< its first rows
    Json contacts;  ///< as true_contacts(), from the distances in the list of pairs; null if that
                    ///< does not have the distances of all pairs
};

void label_by_columns(const Table& columns, LabelReader& labels) {
    const auto cell = [&](const std::vector<std::string>& row,
                          const char* name) -> std::string_view {
        const auto at = columns.find(name);
        return at ? std::string_view(row[*at]) : std::string_view();
    };
    for (const auto& row : columns.rows)
        labels.add(cell(row, "column"), cell(row, "letter"), cell(row, "residue"),
                   cell(row, "number"));
}

double contact_cutoff(const RunFolder& run, const ContactDefinition& usual) {
    const std::optional<double> given = cell_number(run.parameter("contact-cutoff"));
    return given && std::isfinite(*given) ? *given : usual.cutoff;
}

/// Contacts among listed pairs, if the list has a distance for every pair of columns that are at
/// least the run's --min-separation apart.
class ListedContacts {
public:
    ListedContacts(const RunFolder& run, const PairFile& pairs, const Table& head)
        : at_i_(head.find("i")),
          at_j_(head.find("j")),
          at_distance_(head.find("distance")),
          cutoff_(contact_cutoff(run, ContactDefinition())) {
        separation_ = static_cast<Index>(cell_number(run.parameter("min-separation")).value_or(0));
        for (Index n = 0; n < pairs.size(); ++n)
            column_of_.emplace(std::to_string(pairs.numbers[n]), n);
        for (Index i = 0; i < pairs.size(); ++i)
            for (Index j = i + 1; j < pairs.size(); ++j)
                all_ += pairs.numbers[j] - pairs.numbers[i] >= separation_;
    }
    void add(std::span<const std::string_view> cells) {
        if (!at_distance_ || separation_ == 0) return;
        const double distance = cell_number(cells[*at_distance_]).value_or(NAN);
        ++listed_;
        known_ += !std::isnan(distance);
        const auto i = column_of_.find(cells[*at_i_]), j = column_of_.find(cells[*at_j_]);
        if (!(distance < cutoff_) || i == column_of_.end() || j == column_of_.end()) return;
        for (const auto& [name, value] : {std::pair("i", Json(i->second)),
                                          {"j", Json(j->second)},
                                          {"distance", Json(distance)}})
            contacts_[name].push_back(value);
    }
    Json result() const {
        if (known_ == 0 || listed_ != all_) return nullptr;
        Json contacts = {{"cutoff", cutoff_}, {"separation", separation_}};
        contacts.update(contacts_);
        return contacts;
    }

private:
    std::optional<std::size_t> at_i_, at_j_, at_distance_;
    double cutoff_;
    Index separation_ = 0, all_ = 0, listed_ = 0, known_ = 0;
    std::map<std::string, Index, std::less<>> column_of_;
    Json contacts_ = {{"i", Json::array()}, {"j", Json::array()}, {"distance", Json::array()}};
};

PairTables read_tables(Drawing& drawing, const PairFile& pairs,
                       const std::optional<Table>& columns) {
    PairTables tables;
    for (const Index number : pairs.numbers)
        tables.labels.push_back(
            {.number_in_source = number, .letter = {}, .residue = {}, .number = {}});
    LabelReader labels(tables.labels);
    if (columns) label_by_columns(*columns, labels);
    const std::filesystem::path path = drawing.run.file(pairs.list_file);
    // Parses the header first, because it names the columns.
    const Table head = read_table(path, 0);
    if (!head.has({"i", "j", "letter_i", "letter_j"}))
        throw InputError(path.string(), 1,
                         "expected the columns i, j, letter_i and letter_j, found others");
    ListedContacts contacts(drawing.run, pairs, head);
    const bool residues = head.has({"residue_i", "number_i", "residue_j", "number_j"});
    tables.pairs =
        read_table(path, drawing.limits.rows, [&](Index, std::span<const std::string_view> cells) {
            contacts.add(cells);
            for (const char* side : {"i", "j"}) {
                const std::string suffix = fmt::format("_{}", side);
                const auto text = [&](const std::string& name) { return cells[*head.find(name)]; };
                labels.add(text(side), text("letter" + suffix),
                           residues ? text("residue" + suffix) : "",
                           residues ? text("number" + suffix) : "");
            }
        });
    tables.contacts = contacts.result();
    return tables;
}

/// {"cutoff", "separation", "i", "j", "distance"}: pairs of columns in contact in the structure.
/// Pairs nearer along the chain than `separation` are not known.
Json true_contacts(const RunFolder& run, const AlignedChain& known) {
    ContactDefinition definition = ContactDefinition::standard(known.chain.kind);
    if (const std::string atoms = run.parameter("contact"); !atoms.empty())
        definition =
            ContactDefinition::with_default_cutoff(parse_contact_atoms(atoms), known.chain.kind);
    definition.cutoff = contact_cutoff(run, definition);
    const Array<double, 2> distances =
        column_distances(known.chain, known.residues, definition.atoms);
    Json contacts = {{"cutoff", definition.cutoff},
                     {"separation", 1},
                     {"i", Json::array()},
                     {"j", Json::array()},
                     {"distance", Json::array()}};
    for (Index i = 0; i < distances.extent(0); ++i)
        for (Index j = i + 1; j < distances.extent(1); ++j) {
            if (!(distances(i, j) < definition.cutoff)) continue;
            contacts["i"].push_back(i);
            contacts["j"].push_back(j);
            contacts["distance"].push_back(std::round(distances(i, j) * 100) / 100);
        }
    return contacts;
}

/// "ALA 52A" for each column; empty if it has no residue.
Json residues_of(const std::vector<ColumnLabel>& labels) {
    Json residues = Json::array();
    for (const ColumnLabel& label : labels)
        residues.push_back(label.number.empty() ? "" : label.residue + " " + label.number);
    return residues;
}

/// A column's rank in a table of pairs or triples: identifiers first, then what ranks them.
std::size_t place_of(const std::string& name) {
    constexpr std::string_view kFirst[] = {
        "i",  "j", "k",           "tree_e",   "extrapolated", "annotation", "corrected",
        "mi", "z", "probability", "distance", "apc",          "p",          "fdr"};
    if (name == "rank") return 0;
    if (name.starts_with("residue_") || name.starts_with("number_")) return 1;
    const auto* at = std::find(std::begin(kFirst), std::end(kFirst), name);
    return 2 + static_cast<std::size_t>(at - std::begin(kFirst));
}

/// Reorders a table of pairs or triples so that the important columns come first.
Table important_first(Table table) {
    std::vector<std::size_t> order(table.columns.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return place_of(table.columns[a]) < place_of(table.columns[b]);
    });
    const auto reorder = [&](std::vector<std::string>& cells) {
        std::vector<std::string> ordered;
        ordered.reserve(order.size());
        for (const std::size_t at : order) ordered.push_back(std::move(cells[at]));
        cells = std::move(ordered);
    };
    reorder(table.columns);
    for (std::vector<std::string>& row : table.rows) reorder(row);
    return table;
}

/// A letter for each column: of secondary_structure(), or ' ' for columns without a residue. Null
/// if the chain has none.
Json column_structure(const AlignedChain& known) {
    const std::string letters = secondary_structure(known.chain);
    if (letters.empty()) return nullptr;
    std::string of_columns;
    for (const Index residue : known.residues) of_columns += residue >= 0 ? letters[residue] : ' ';
    return of_columns;
}

/// The values with this name in column_values(); null if there are none.
Json values_of(const Json& values, std::string_view name) {
    const auto at = std::find_if(values.begin(), values.end(),
                                 [&](const Json& one) { return one["name"] == name; });
    return at == values.end() ? Json() : (*at)["values"];
}

/// "A 55" for each column of a run with parts: its part and its position there. Null without parts.
Json parts_of_columns(const RunFolder& run, const PairFile& pairs) {
    if (!run.has("contacts_inter.tsv")) return nullptr;
    const std::filesystem::path path = run.file("contacts_inter.tsv");
    const Table head = read_table(path, 0);
    if (!head.has({"i", "j", "part_i", "part_j", "position_i", "position_j"})) return nullptr;
    std::map<std::string, std::string, std::less<>> part_of;
    read_table(path, 0, [&](Index, std::span<const std::string_view> cells) {
        for (const char* end : {"i", "j"}) {
            const auto cell = [&](const std::string& name) {
                return cells[*head.find(name + end)];
            };
            part_of.emplace(cell(""), fmt::format("{} {}", cell("part_"), cell("position_")));
        }
    });
    Json parts = Json::array();
    for (const Index number : pairs.numbers) {
        const auto found = part_of.find(std::to_string(number));
        if (found == part_of.end()) return nullptr;
        parts.push_back(found->second);
    }
    return parts;
}

Json map_section(const PairFile& pairs, const std::vector<ColumnLabel>& labels,
                 const Json& contacts, const Json& values, const AlignedChain* known) {
    Json layers = Json::array();
    for (const Layer& layer : pairs.layers)
        layers.push_back(
            {{"name", layer.name}, {"matrix", encode_symmetric(layer.upper, pairs.size(), false)}});
    Json letters = Json::array(), has_residue = Json::array();
    for (std::size_t n = 0; n < labels.size(); ++n) {
        const ColumnLabel& label = labels[n];
        letters.push_back(label.letter);
        has_residue.push_back(known != nullptr ? known->residues[n] >= 0 : !label.number.empty());
    }
    Json map = {{"kind", "contact_map"},
                {"title", contacts.is_null() ? "Scores of pairs" : "Contact map"},
                {"places", pairs.numbers},
                {"letters", letters},
                {"residues", residues_of(labels)},
                {"placed", has_residue},
                {"structure", known != nullptr ? column_structure(*known) : Json()},
                {"entropy", values_of(values, kEntropy)},
                {"contacts", contacts},
                {"layers", layers}};
    if (!pairs.significant.is_null()) map["significant"] = pairs.significant;
    return map;
}

/// Values per column, for colouring the molecule and for a curve.
Json column_values(const Table& columns) {
    Json values = Json::array();
    // Entropy comes first, because a page initially shows the first values.
    std::vector<std::string> names = columns.columns;
    std::stable_partition(names.begin(), names.end(),
                          [](const std::string& name) { return name == "mi"; });
    for (const std::string& name : names) {
        if (name == "column" || name == "letter" || name == "residue" || name == "number" ||
            name == "low_entropy")
            continue;
        const std::vector<double> numbers = columns.numbers(name);
        if (std::none_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); }))
            continue;
        const std::string shown = name == "mi"             ? kEntropy
                                  : name == "cliques"      ? "members of the clique set"
                                  : name == "cliques_by_z" ? "members of the clique set by Z"
                                                           : name;
        values.push_back({{"name", shown}, {"values", finite(numbers)}});
    }
    return values;
}

/// A curve of values along the columns; its axis shows residue numbers if columns have residues.
Json values_section(const PairFile& pairs, const std::vector<ColumnLabel>& labels,
                    const Json& values) {
    const Json residues = residues_of(labels);
    const bool any = std::any_of(residues.begin(), residues.end(),
                                 [](const Json& residue) { return residue != ""; });
    Json section = {{"kind", "curve"},
                    {"title", any ? "By residue" : "By column"},
                    {"x", {{"label", any ? "residue number" : "column"}}},
                    {"y", {{"label", ""}}},
                    {"choose", true},
                    {"style", "bars"},
                    {"position", "column"},
                    {"positions", pairs.numbers},
                    {"series", values}};
    if (any) section["residues"] = residues;
    return section;
}

void draw_pairs(Drawing& drawing, const PairFile& pairs) {
    std::optional<Table> columns;
    if (drawing.run.has("columns.tsv")) {
        Table table = read_table(drawing.run.file("columns.tsv"), kEveryRow);
        if (table.has({"column", "letter"}) && table.total == pairs.size())
            columns = std::move(table);
    }
    const PairTables tables = read_tables(drawing, pairs, columns);
    const std::optional<AlignedChain> known =
        find_aligned_chain(drawing.run, tables.labels, drawing.structure, drawing.notes);
    const Json contacts = known ? true_contacts(drawing.run, *known) : tables.contacts;
    const Json values = columns ? column_values(*columns) : Json::array();
    Json map = map_section(pairs, tables.labels, contacts, values, known ? &*known : nullptr);
    map["parts"] = parts_of_columns(drawing.run, pairs);
    drawing.add(std::move(map));
    if (known) drawing.add(molecule_section(*known, values));
    drawing.add(table_section("Pairs", important_first(tables.pairs)));
    if (!values.empty()) drawing.add(values_section(pairs, tables.labels, values));
}

}  // namespace

void draw_columns(Drawing& drawing) {
    constexpr std::pair<const char*, const char*> kFiles[] = {{"scores.npz", "contacts.tsv"},
                                                              {"pairs.npz", "pairs.tsv"}};
    for (const auto& [arrays, list] : kFiles) {
        if (!drawing.run.has(arrays) || !drawing.run.has(list)) continue;
        const PairFile pairs = read_pairs(drawing.run, arrays, list);
        if (pairs.size() < 2 || pairs.layers.empty()) continue;
        draw_pairs(drawing, pairs);
        for (const char* file : {arrays, list}) drawing.claim_file(file);
    }
    if (drawing.claim_file("triples.tsv"))
        drawing.add(table_section(
            "Triples",
            important_first(read_table(drawing.run.file("triples.tsv"), drawing.limits.rows))));
    draw_triples(drawing);
    if (drawing.claim_file("contacts_inter.tsv"))
        drawing.add(table_section("Pairs between parts",
                                  important_first(read_table(drawing.run.file("contacts_inter.tsv"),
                                                             drawing.limits.rows))));
    drawing.add_table("evaluation.tsv", "Precision of the best pairs");
    drawing.claim_file("evaluation.json");  // the same numbers
    drawing.claim_file("columns.tsv");
    drawing.claim_file("weights.npy");
}

}  // namespace pleat::report
