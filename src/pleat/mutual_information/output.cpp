// Output: arrays of all pairs and kept triples, and tables of the best.
#include "pleat/mutual_information/output.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"

namespace pleat::mutual_information {

namespace {

using Column = std::pair<std::string, std::vector<double>>;

/// The number as text; "NA" for NaN.
void append_cell(std::string& text, double value) {
    text += '\t';
    if (std::isnan(value)) {
        text += "NA";
        return;
    }
    append_number(text, value, std::chars_format::general, 9);
}

template <class Member>
std::vector<double> member(const std::vector<SampledNull>& sampled, Member SampledNull::*which) {
    std::vector<double> values;
    values.reserve(sampled.size());
    for (const SampledNull& null : sampled) values.push_back(null.*which);
    return values;
}

/// The numbers of pairs by their names in pairs.npz, without counts and empty arrays.
std::vector<Column> pair_columns(const PairStatistics& pairs) {
    std::vector<Column> columns = {
        {"mi", pairs.mi},
        {"joint_entropy", pairs.joint_entropy},
        {"normalised", pairs.normalised},
        {"apc", pairs.apc},
        {"asc", pairs.asc},
        {"mean", pairs.mean},
        {"variance", pairs.variance},
        {"z", pairs.z},
        {"sampled_mean", member(pairs.sampled, &SampledNull::mean)},
        {"sampled_variance", member(pairs.sampled, &SampledNull::variance)},
        {"sampled_skewness", member(pairs.sampled, &SampledNull::skewness)},
        {"sampled_z", member(pairs.sampled, &SampledNull::z)},
        {"percentile", member(pairs.sampled, &SampledNull::percentile)},
        {"p", member(pairs.sampled, &SampledNull::p)},
        {"p_strict", member(pairs.sampled, &SampledNull::p_strict)},
        {"exact_p", pairs.exact_p},
        {"tail_p", pairs.tail_p},
        {"fdr", pairs.fdr},
        {"family_p", pairs.family_p}};
    std::erase_if(columns, [](const Column& column) { return column.second.empty(); });
    return columns;
}

void add_vector(NpzWriter& writer, std::string_view name, const auto& values) {
    writer.add(name, values.data(), {static_cast<Index>(values.size())});
}

void write_pair_arrays(const std::filesystem::path& path, const Report& report) {
    const Result& result = report.result;
    const Index columns = result.column_count();
    std::vector<std::int32_t> i, j;
    for (const auto& [a, b] : all_pairs(columns)) {
        i.push_back(static_cast<std::int32_t>(a));
        j.push_back(static_cast<std::int32_t>(b));
    }
    NpzWriter writer(path);
    add_vector(writer, "i", i);
    add_vector(writer, "j", j);
    for (const auto& [name, values] : pair_columns(result.pairs)) add_vector(writer, name, values);
    if (!result.pairs.less_count.empty()) {
        add_vector(writer, "n_less", result.pairs.less_count);
        add_vector(writer, "n_equal", result.pairs.equal_count);
    }
    if (!result.pair_rows.empty()) add_vector(writer, "rows", result.pair_rows);
    // The diagonal: the MI of a column with itself is its entropy, in every shuffle, so Z is 0/0.
    add_vector(writer, "diagonal_mi", result.entropy);
    add_vector(writer, "diagonal_z",
               std::vector<double>(columns, std::numeric_limits<double>::quiet_NaN()));
    add_vector(writer, "columns", shown_columns(report.alignment, report.reference));
    writer.close();
}

/// "i\tletter" and, with a structure, its residue, for each of some columns.
class ColumnCells {
public:
    explicit ColumnCells(const Report& report) : report_(report) {}

    std::string head(std::initializer_list<const char*> names) const {
        std::string text = "rank";
        for (const char* name : names) text += fmt::format("\t{}", name);
        for (const char* name : names) text += fmt::format("\tletter_{}", name);
        if (report_.structure != nullptr)
            for (const char* name : names) text += fmt::format("\tresidue_{0}\tnumber_{0}", name);
        return text;
    }
    void append(std::string& text, std::span<const Index> columns) const {
        for (const Index column : columns) text += fmt::format("\t{}", number(column));
        for (const Index column : columns) {
            text += '\t';
            text += report_.reference.letters[static_cast<std::size_t>(source(column))];
        }
        if (report_.structure != nullptr)
            for (const Index column : columns) append_residue(text, column);
    }
    /// The residue's name and number in two cells, or "NA" twice.
    void append_residue(std::string& text, Index column) const {
        const Index residue = report_.structure->residues[static_cast<std::size_t>(column)];
        if (residue < 0) {
            text += "\tNA\tNA";
            return;
        }
        const Residue& found =
            report_.structure->chain().residues[static_cast<std::size_t>(residue)];
        text += fmt::format("\t{}\t{}", table_cell(found.name), table_cell(found.id()));
    }
    /// The number that tables show.
    Index number(Index column) const { return report_.reference.shown_number(source(column)); }
    Index source(Index column) const {
        return report_.alignment.columns[static_cast<std::size_t>(column)];
    }

private:
    const Report& report_;
};

TextPieces pair_table(const Report& report, const std::vector<Index>& ranked, int threads) {
    const Index columns = report.result.column_count();
    const std::vector<std::array<Index, 2>> pairs = all_pairs(columns);
    const ColumnCells cells(report);
    const std::vector<Column> numbers = pair_columns(report.result.pairs);
    const KnownStructure* const known = report.structure;
    std::string head = cells.head({"i", "j"}) + (known != nullptr ? "\tdistance" : "");
    for (const auto& [name, values] : numbers) head += "\t" + name;
    if (!report.result.pairs.less_count.empty()) head += "\tn_less\tn_equal";
    TextPieces lines =
        make_lines(threads, static_cast<Index>(ranked.size()), [&](Index rank, std::string& text) {
            const Index pair = ranked[static_cast<std::size_t>(rank)];
            const auto at = static_cast<std::size_t>(pair);
            append_integer(text, rank + 1);
            cells.append(text, pairs[at]);
            if (known != nullptr) append_cell(text, known->distances(pairs[at][0], pairs[at][1]));
            for (const auto& [name, values] : numbers) append_cell(text, values[at]);
            if (!report.result.pairs.less_count.empty())
                text += fmt::format("\t{}\t{}", report.result.pairs.less_count[at],
                                    report.result.pairs.equal_count[at]);
            text += '\n';
        });
    lines.insert(lines.begin(), head + "\n");
    return lines;
}

/// One row per column. mi is the column's entropy; z has no value.
TextPieces column_table(const Report& report) {
    const Result& result = report.result;
    const ColumnCells cells(report);
    std::vector<std::pair<std::string, const std::vector<Index>*>> members;
    if (result.triples) {
        const auto add = [&](const char* name, const std::optional<TripleSet>& set) {
            if (!set) return;
            members.emplace_back(name, &set->triples_per_column);
        };
        add("cliques", result.triples->cliques);
        add("cliques_by_z", result.triples->cliques_by_z);
    }
    std::string text = "column\tletter";
    if (report.structure != nullptr) text += "\tresidue\tnumber";
    text += "\tsymbols\tmi\tz\tlow_entropy";
    for (const auto& [name, values] : members) text += "\t" + name;
    text += '\n';
    for (Index column = 0; column < result.column_count(); ++column) {
        append_integer(text, cells.number(column));
        text += '\t';
        text += report.reference.letters[static_cast<std::size_t>(cells.source(column))];
        if (report.structure != nullptr) cells.append_residue(text, column);
        const double bits = result.entropy[static_cast<std::size_t>(column)];
        text += fmt::format("\t{}", result.symbol_counts[static_cast<std::size_t>(column)]);
        append_cell(text, bits);
        text += fmt::format("\tNA\t{}", bits < report.parameters.min_entropy ? "yes" : "no");
        for (const auto& [name, values] : members)
            text += fmt::format("\t{}", (*values)[static_cast<std::size_t>(column)]);
        text += '\n';
    }
    return {text};
}

void add_records(NpzWriter& writer, const TripleResult& triples, const TripleRecords& records,
                 const std::vector<double>& fdr, const std::vector<double>* excess, Index columns) {
    std::array<std::vector<std::int32_t>, 3> sides_of;
    for (const Index triple : records.triples) {
        const std::array<Index, 3> at = triple_at(triple, columns);
        for (std::size_t side = 0; side < 3; ++side)
            sides_of[side].push_back(static_cast<std::int32_t>(at[side]));
    }
    const char* const sides[] = {"i", "j", "k"};
    for (std::size_t side = 0; side < 3; ++side) add_vector(writer, sides[side], sides_of[side]);
    const Index count = records.numbers.extent(0);
    for (std::size_t number = 0; number < triples.names.size(); ++number) {
        std::vector<double> values(count);
        for (Index record = 0; record < count; ++record)
            values[record] = records.numbers(record, static_cast<Index>(number));
        add_vector(writer, triples.names[number], values);
    }
    if (!fdr.empty()) add_vector(writer, "fdr", fdr);
    if (excess != nullptr) add_vector(writer, "excess", *excess);
}

void write_triple_arrays(const std::filesystem::path& path, const Report& report) {
    const TripleResult& triples = *report.result.triples;
    const Index columns = report.result.column_count();
    NpzWriter writer(path);
    const bool has_excess = std::count(triples.names.begin(), triples.names.end(), "excess") > 0;
    if (triples.kept_triples)
        add_records(writer, triples, *triples.kept_triples, triples.kept_fdr, nullptr, columns);
    else
        add_records(writer, triples, triples.best_triples, triples.best_fdr,
                    has_excess ? nullptr : &triples.best_excess, columns);
    add_vector(writer, "columns", shown_columns(report.alignment, report.reference));
    writer.close();
}

TextPieces triple_table(const Report& report, int threads) {
    const TripleResult& triples = *report.result.triples;
    const ColumnCells cells(report);
    std::string head = cells.head({"i", "j", "k"});
    for (const std::string& name : triples.names) head += "\t" + name;
    const bool has_excess = std::count(triples.names.begin(), triples.names.end(), "excess") > 0;
    if (!triples.best_fdr.empty()) head += "\tfdr";
    if (!has_excess) head += "\texcess";
    const auto count = static_cast<Index>(triples.best_triples.triples.size());
    TextPieces lines = make_lines(threads, count, [&](Index rank, std::string& text) {
        append_integer(text, rank + 1);
        const auto at = static_cast<std::size_t>(rank);
        cells.append(text,
                     triple_at(triples.best_triples.triples[at], report.result.column_count()));
        for (const double value : triples.best_triples.numbers[rank]) append_cell(text, value);
        if (!triples.best_fdr.empty()) append_cell(text, triples.best_fdr[at]);
        if (!has_excess) append_cell(text, triples.best_excess[at]);
        text += '\n';
    });
    lines.insert(lines.begin(), head + "\n");
    return lines;
}

}  // namespace

std::vector<std::array<Index, 2>> all_pairs(Index columns) {
    std::vector<std::array<Index, 2>> pairs;
    for (Index i = 0; i < columns; ++i)
        for (Index j = i + 1; j < columns; ++j) pairs.push_back({i, j});
    return pairs;
}

std::vector<Index> ranked_pairs(const Result& result, const Parameters& parameters) {
    const PairStatistics& pairs = result.pairs;
    const std::vector<double> key = !pairs.z.empty() ? pairs.z
                                    : !pairs.sampled.empty()
                                        ? member(pairs.sampled, &SampledNull::z)
                                        : pairs.apc;
    std::vector<Index> ranked(pairs.mi.size());
    std::iota(ranked.begin(), ranked.end(), Index{0});
    // A pair above all of its shuffles, if these are equal, has no sampled Z, yet the smallest p.
    const auto value = [&](Index pair) {
        const auto at = static_cast<std::size_t>(pair);
        if (!std::isnan(key[at])) return key[at];
        const bool above_all =
            pairs.z.empty() && !pairs.less_count.empty() && pairs.less_count[at] > 0;
        const double infinity = std::numeric_limits<double>::infinity();
        return above_all && pairs.equal_count[at] == 0 ? infinity : -infinity;
    };
    if (parameters.order == 2 && parameters.min_z)
        std::erase_if(ranked, [&](Index pair) { return value(pair) < *parameters.min_z; });
    const auto before = [&](Index a, Index b) {
        return value(a) > value(b) || (value(a) == value(b) && a < b);
    };
    const auto top = std::min(static_cast<std::size_t>(parameters.top), ranked.size());
    std::partial_sort(ranked.begin(), ranked.begin() + static_cast<Index>(top), ranked.end(),
                      before);
    ranked.resize(top);
    return ranked;
}

void write_results(RunDirectory& run, const Report& report, int threads) {
    write_pair_arrays(run.output("pairs.npz"), report);
    write_text(run.output("pairs.tsv"),
               pair_table(report, ranked_pairs(report.result, report.parameters), threads));
    write_text(run.output("columns.tsv"), column_table(report));
    if (!report.result.weights.empty())
        write_npy(run.output("weights.npy"), report.result.weights.data(),
                  {static_cast<Index>(report.result.weights.size())});
    if (!report.result.triples) return;
    write_triple_arrays(run.output("triples.npz"), report);
    write_text(run.output("triples.tsv"), triple_table(report, threads));
    const auto write_set = [&](const char* name, const std::optional<TripleSet>& set) {
        if (set)
            write_npy(run.output(name), set->words.data(), {static_cast<Index>(set->words.size())});
    };
    write_set("cliques.npy", report.result.triples->cliques);
    write_set("cliques_by_z.npy", report.result.triples->cliques_by_z);
}

std::vector<std::string_view> citations(const Parameters& parameters) {
    std::vector<std::string_view> keys = {"Waechter2014", "Dunn2008"};
    if (parameters.has_exact()) keys.insert(keys.end(), {"Vinh2010", "Romano2014"});
    if (parameters.has_sampled()) keys.push_back("Benjamini1995");
    if (parameters.order == 3) keys.push_back("Schneidman2003");
    return keys;
}

}  // namespace pleat::mutual_information
