// Output: arrays of all pairs and kept triples, and tables of the best.
#include "pleat/mutual_information/output.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/phylogeny/output.h"

namespace pleat::mutual_information {

namespace {

/// The number as the next cell.
void append_next(std::string& text, double value) {
    text += '\t';
    append_cell(text, value, {.digits = 9});
}

template <class Member>
std::vector<double> member(const std::vector<SampledNull>& sampled, Member SampledNull::*which) {
    std::vector<double> values;
    values.reserve(sampled.size());
    for (const SampledNull& null : sampled) values.push_back(null.*which);
    return values;
}

std::vector<RecordField> sampled_fields() {
    using Null = SampledNull;
    return {record_field("mean", &Null::mean, {.name = "sampled_mean"}),
            record_field("variance", &Null::variance, {.name = "sampled_variance"}),
            record_field("skewness", &Null::skewness, {.name = "sampled_skewness"}),
            record_field("z", &Null::z, {.name = "sampled_z"}),
            record_field("percentile", &Null::percentile),
            record_field("p", &Null::p),
            record_field("p_strict", &Null::p_strict)};
}

const TreeResult* tree_of(const Result& result) { return result.tree ? &*result.tree : nullptr; }

bool has_power(const Report& report) {
    return report.annotated != nullptr && report.result.tree &&
           report.parameters.statistic == PairScore::gtp;
}

/// Probability that a base pair of these columns has an E below kSignificantE, by the substitutions
/// of the column that has fewer; see "Power" in tree/README.md.
double power(const Report& report, Index i, Index j) {
    const std::vector<Index>& changes = report.result.tree->substitutions;
    const auto fewer = static_cast<double>(std::min(changes[i], changes[j]));
    const bool is_markov = report.parameters.tree.kind == phylogeny::TreeNullKind::markov;
    const double limit = is_markov ? 0.700 : 0.789, half = is_markov ? 15.23 : 7.60;
    return limit / (1 + std::pow(half / fewer, is_markov ? 1.16 : 1.93));  // fewer = 0: 0
}

/// The values of pairs, in the order of pairs.npz and pairs.tsv.
ResultColumns pair_columns(const PairInformation& pairs) {
    constexpr const char* kFile = "pairs.npz";
    const auto asked_for = [](const std::vector<double>& values) {
        return ColumnValue(values).or_none(!values.empty());
    };
    ResultColumns all = {
        {"mi", "float64 [pair], bits", pairs.mi, kFile},
        {"joint_entropy", "float64 [pair], bits", asked_for(pairs.joint_entropy), kFile},
        {"normalised", "float64 [pair], mi / joint_entropy", asked_for(pairs.normalised), kFile},
        {"apc", "float64 [pair], mi minus the average product", asked_for(pairs.apc), kFile},
        {"asc", "float64 [pair], mi minus the average sum", asked_for(pairs.asc), kFile},
        {"mean", "float64 [pair], of the exact null model", asked_for(pairs.mean), kFile},
        {"variance", "float64 [pair], of the exact null model", asked_for(pairs.variance), kFile},
        {"z", "float64 [pair], standard deviations above the mean of the exact null model",
         asked_for(pairs.z), kFile}};
    for (const RecordField& field : sampled_fields())
        all.push_back({{},
                       "float64 [pair], of the shuffles",
                       ColumnValue(pairs.sampled, field).or_none(!pairs.sampled.empty()),
                       kFile,
                       field.shown.name.empty() ? field.name : field.shown.name});
    const ResultColumns more = {
        {"exact_p", "float64 [pair], probability of mi or more in the exact null model",
         asked_for(pairs.exact_p), kFile},
        {"tail_p", "float64 [pair]; see the README of the engine", asked_for(pairs.tail_p), kFile},
        {"fdr", "float64 [pair], false discovery rate; see the README of the engine",
         asked_for(pairs.fdr), kFile},
        {"family_p", "float64 [pair]; see the README of the engine", asked_for(pairs.family_p),
         kFile},
        {"less", "uint32 [pair], number of shuffles with a smaller mi",
         ColumnValue(pairs.less_count).or_none(!pairs.less_count.empty()), kFile, "n_less"},
        {"equal", "uint32 [pair], number of shuffles with an equal mi",
         ColumnValue(pairs.equal_count).or_none(!pairs.equal_count.empty()), kFile, "n_equal"}};
    return joined({all, more});
}

/// Table cells of some columns: "i\tletter" and, with a structure, the residue.
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
            text += report_.reference.letters[source(column)];
        }
        if (report_.structure != nullptr)
            for (const Index column : columns) append_residue(text, column);
    }
    /// The residue's name and number in two cells, or "NA" twice.
    void append_residue(std::string& text, Index column) const {
        const Index residue = report_.structure->residues[column];
        if (residue < 0) {
            text += "\tNA\tNA";
            return;
        }
        const Residue& found = report_.structure->chain().residues[residue];
        text += fmt::format("\t{}\t{}", table_cell(found.name), table_cell(found.id()));
    }
    /// The number that tables show.
    Index number(Index column) const { return report_.reference.shown_number(source(column)); }
    Index source(Index column) const { return report_.alignment.columns[column]; }

private:
    const Report& report_;
};

TextPieces pair_table(const Report& report, const std::vector<Index>& ranked, int threads) {
    const Index columns = report.result.column_count();
    const std::vector<std::array<Index, 2>> pairs = all_pairs(columns);
    const ColumnCells cells(report);
    std::vector<TableColumn> numbers;
    for (const ResultColumn& column :
         joined({pair_columns(report.result.pairs),
                 phylogeny::pair_columns(tree_of(report.result), "pairs.npz")}))
        if (column.value.is_there())
            for (TableColumn& one : table_columns(column.key.empty() ? column.name : column.key,
                                                  column.value, {.digits = 9}))
                numbers.push_back(std::move(one));
    if (report.result.tree)
        for (const std::size_t end : {0, 1})
            numbers.push_back(
                table_column(end == 0 ? "substitutions_i" : "substitutions_j",
                             [&report, &pairs, end](std::size_t pair) {
                                 return report.result.tree->substitutions[pairs[pair][end]];
                             }));
    if (report.annotated != nullptr) {
        const auto relation = std::make_shared<std::vector<Annotation>>(annotations(report));
        numbers.push_back(table_column("annotation", [relation](std::size_t pair) {
            return names_of(Annotation{})[static_cast<std::size_t>((*relation)[pair])];
        }));
        if (has_power(report))
            numbers.push_back(table_column("power", [&report, &pairs, relation](std::size_t pair) {
                const auto [i, j] = pairs[pair];
                return (*relation)[pair] == Annotation::pair ? power(report, i, j) : std::nan("");
            }));
    }
    const KnownStructure* const known = report.structure;
    std::string head = cells.head({"i", "j"}) + (known != nullptr ? "\tdistance" : "");
    for (const TableColumn& one : numbers) head += "\t" + one.name;
    TextPieces lines =
        make_lines(threads, static_cast<Index>(ranked.size()), [&](Index rank, std::string& text) {
            const Index pair = ranked[rank];
            const auto at = static_cast<std::size_t>(pair);
            append_integer(text, rank + 1);
            cells.append(text, pairs[at]);
            if (known != nullptr) append_next(text, known->distances(pairs[at][0], pairs[at][1]));
            for (const TableColumn& one : numbers) {
                text += '\t';
                one.append(at, text);
            }
            text += '\n';
        });
    lines.insert(lines.begin(), head + "\n");
    return lines;
}

/// One row per column. mi is the entropy of the column; z has no value.
TextPieces column_table(const Report& report) {
    const Result& result = report.result;
    const ColumnCells cells(report);
    std::vector<std::pair<std::string, const std::vector<Index>*>> members;
    if (result.tree) members.emplace_back("substitutions", &result.tree->substitutions);
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
        text += report.reference.letters[cells.source(column)];
        if (report.structure != nullptr) cells.append_residue(text, column);
        const double bits = result.entropy[column];
        text += fmt::format("\t{}", result.symbol_counts[column]);
        append_next(text, bits);
        text += fmt::format("\tNA\t{}", bits < report.parameters.min_entropy ? "yes" : "no");
        for (const auto& [name, values] : members) text += fmt::format("\t{}", (*values)[column]);
        text += '\n';
    }
    return {text};
}

void add_vector(NpzWriter& writer, std::string_view name, const auto& values) {
    writer.add(name, values.data(), {static_cast<Index>(values.size())});
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
        cells.append(text,
                     triple_at(triples.best_triples.triples[rank], report.result.column_count()));
        for (const double value : triples.best_triples.numbers[rank]) append_next(text, value);
        if (!triples.best_fdr.empty()) append_next(text, triples.best_fdr[rank]);
        if (!has_excess) append_next(text, triples.best_excess[rank]);
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
    const PairInformation& pairs = result.pairs;
    const std::vector<double> key = result.tree        ? result.tree->score
                                    : !pairs.z.empty() ? pairs.z
                                    : !pairs.sampled.empty()
                                        ? member(pairs.sampled, &SampledNull::z)
                                        : pairs.apc;
    std::vector<Index> ranked(pairs.mi.size());
    std::iota(ranked.begin(), ranked.end(), Index{0});
    // If all shuffles of a pair are equal and below the observed MI, it has no sampled Z but the
    // minimum p.
    const auto value = [&](Index pair) {
        if (!std::isnan(key[pair])) return key[pair];
        const bool above_all =
            pairs.z.empty() && !pairs.less_count.empty() && pairs.less_count[pair] > 0;
        const double infinity = std::numeric_limits<double>::infinity();
        return above_all && pairs.equal_count[pair] == 0 ? infinity : -infinity;
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

std::span<const std::string_view> names_of(Annotation) {
    static constexpr std::string_view names[] = {"pair", "compatible", "other"};
    return names;
}

std::vector<Annotation> annotations(const Report& report) {
    const Index columns = report.result.column_count();
    std::vector<bool> is_paired(static_cast<std::size_t>(columns));
    for (const auto& [i, j] : *report.annotated) is_paired[i] = is_paired[j] = true;
    std::vector<Annotation> all;
    for (const auto& [i, j] : all_pairs(columns))
        all.push_back(is_paired[i] || is_paired[j] ? Annotation::other : Annotation::compatible);
    for (const auto& [i, j] : *report.annotated) all[pair_index(i, j, columns)] = Annotation::pair;
    return all;
}

std::array<Index, 3> significant_pairs(const Report& report) {
    std::array<Index, 3> counts{};
    const std::vector<Annotation> relation = annotations(report);
    for (std::size_t pair = 0; pair < relation.size(); ++pair)
        counts[static_cast<std::size_t>(relation[pair])] +=
            report.result.tree->e[pair] < kSignificantE;
    return counts;
}

std::optional<double> expected_pairs(const Report& report) {
    if (!has_power(report)) return std::nullopt;
    double sum = 0;
    for (const auto& [i, j] : *report.annotated) sum += power(report, i, j);
    return sum;
}

namespace {

/// A part of the clique sets, if they exist.
template <class Part>
ColumnValue of_cliques(const Result& result, const std::optional<TripleSet> TripleResult::*set,
                       Part TripleSet::*part) {
    static const Part none{};
    const bool is_there = result.triples && *result.triples.*set;
    return ColumnValue(is_there ? (*(*result.triples.*set)).*part : none).or_none(is_there);
}

/// The values that the manifest records about the family and the statistics.
ResultColumns facts(const Report& report) {
    const Result& result = report.result;
    const TripleResult* const triples = result.triples ? &*result.triples : nullptr;
    const std::string ranked_by = triples != nullptr ? triples->names[triples->key] : "";
    const bool is_annotated = report.annotated != nullptr;
    const std::array<Index, 3> found =
        is_annotated && result.tree ? significant_pairs(report) : std::array<Index, 3>{};
    const std::optional<double> expected = expected_pairs(report);
    const auto annotated_fact = [&](const char* name, Index number, const char* help) {
        return fact(name, ColumnValue(number).or_none(is_annotated && result.tree), help);
    };
    return {
        fact("alphabet",
             report.alignment.alphabet != nullptr ? report.alignment.alphabet->name() : "",
             "the kind of the letters"),
        fact("format", report.alignment.format, "that of the alignment"),
        {"sequences", "number of sequences that were counted", report.alignment.sequence_count(),
         "results"},
        {"column_count", "L", result.column_count(), "results", "columns"},
        fact("pairs", std::ssize(result.pairs.mi), "number of pairs"),
        fact("low_entropy_columns", std::ssize(result.low_entropy), "columns below --min-entropy"),
        fact("null_model",
             names_of(NullModel{})[static_cast<std::size_t>(report.parameters.null_model())],
             "what mi is compared with"),
        {"shuffles", "number of shuffles", result.shuffles},
        fact("shuffles", ColumnValue(result.shuffles).or_none(result.shuffles > 0),
             "number of shuffles"),
        {"effective_sequences", "the sum of the weights", result.effective_sequences},
        fact("effective_sequences",
             ColumnValue(result.effective_sequences).or_none(!result.weights.empty()),
             "the sum of the weights"),
        {"related_identity",
         "mean pairwise identity of the sequences, where permutations ignore their tree",
         ColumnValue(result.related_identity.value_or(0))
             .or_none(result.related_identity.has_value()),
         "results"},
        fact("reference_row", report.reference.name, "the row that tables show"),
        fact("annotated_pairs",
             ColumnValue(is_annotated ? std::ssize(*report.annotated) : 0).or_none(is_annotated),
             "pairs of --secondary among the columns"),
        annotated_fact("annotated_found", found[0], "of these, with tree_e below 0.05"),
        fact("annotated_expected", ColumnValue(expected.value_or(0)).or_none(expected.has_value()),
             "annotated pairs that one expects to find, by the substitutions of their columns"),
        annotated_fact("compatible_found", found[1],
                       "pairs with tree_e below 0.05 of columns in no annotated pair"),
        annotated_fact("other_found", found[2],
                       "pairs with tree_e below 0.05 that an annotated pair contradicts"),
        fact("triples",
             ColumnValue(triples != nullptr ? triples->count : 0).or_none(triples != nullptr),
             "number of triples"),
        {"triples_ranked_by", "the array by which triples are ranked",
         ColumnValue(ranked_by).or_none(triples != nullptr), "results"},
        fact("cliques", of_cliques(result, &TripleResult::cliques, &TripleSet::size),
             "triples of the clique set"),
        fact("cliques_by_z", of_cliques(result, &TripleResult::cliques_by_z, &TripleSet::size),
             "triples of the clique set by Z"),
    };
}

}  // namespace

ResultColumns columns(const Report& report) {
    const Result& result = report.result;
    std::vector<Index> low;
    for (const Index column : result.low_entropy) low.push_back(report.alignment.columns[column]);
    const bool has_low = !low.empty();
    std::vector<std::int32_t> i, j;
    for (const auto& [a, b] : all_pairs(result.column_count())) {
        i.push_back(static_cast<std::int32_t>(a));
        j.push_back(static_cast<std::int32_t>(b));
    }
    std::vector<double> no_z(result.entropy.size(), std::numeric_limits<double>::quiet_NaN());
    const ResultColumns indices = {
        {{}, "int32 [pair], columns from 0", ColumnValue::owned(std::move(i)), "pairs.npz", "i"},
        {{}, "int32 [pair], columns from 0", ColumnValue::owned(std::move(j)), "pairs.npz", "j"}};
    const ResultColumns others = {
        {"pair_rows", "int64 [pair], rows counted if gaps are omitted",
         ColumnValue(result.pair_rows).or_none(!result.pair_rows.empty()), "pairs.npz", "rows"},
        // The diagonal: the MI of a column with itself is its entropy, in every shuffle, so Z is
        // 0/0.
        {"entropy", "float64 [L], bits", result.entropy, "pairs.npz", "diagonal_mi"},
        {{},
         "float64 [L], not a number",
         ColumnValue::owned(std::move(no_z)),
         "pairs.npz",
         "diagonal_z"},
        {"columns", "int64 [L], the number of each column in the source alignment, from 0",
         ColumnValue::owned(shown_columns(report.alignment, report.reference)), "pairs.npz"},
        {"letters", "str [L], of the first sequence of the alignment in these columns",
         ColumnValue::kept("str")},
        {"sampled",
         "records [pair] (mean, variance, skewness, z, percentile, p, p_strict) of the shuffles",
         ColumnValue(result.pairs.sampled, sampled_fields())
             .or_none(!result.pairs.sampled.empty())},
        {"low_entropy", "int64, columns of the source",
         ColumnValue::owned(std::move(low)).or_none(has_low)},
        {"weights", "float64 [sequence]",
         ColumnValue(result.weights).or_none(!result.weights.empty())},
        {"triples",
         "with order=3, dictionary of arrays with `columns` int64 [n, 3], columns of the source",
         ColumnValue::kept("dict[str, NDArray[Any]] | None")},
        {"kept_triples", "the same of the triples that were kept",
         ColumnValue::kept("dict[str, NDArray[Any]] | None")},
        {"cliques", "int64 [L], number of triples of the clique set that contain each column",
         of_cliques(result, &TripleResult::cliques, &TripleSet::triples_per_column), "columns.tsv"},
        {"cliques_by_z", "the same of the clique set by Z",
         of_cliques(result, &TripleResult::cliques_by_z, &TripleSet::triples_per_column),
         "columns.tsv"},
        {"device", "the device that computed", ColumnValue::kept("str"), "manifest"},
    };
    return joined({indices, pair_columns(result.pairs),
                   phylogeny::pair_columns(tree_of(result), "pairs.npz"), others, facts(report),
                   phylogeny::facts(tree_of(result), "columns.tsv")});
}

void write_results(RunDirectory& run, const Report& report, int threads) {
    const ResultColumns all = columns(report);
    write_arrays(run, all, "pairs.npz");
    write_text(run.output("pairs.tsv"),
               pair_table(report, ranked_pairs(report.result, report.parameters), threads));
    write_text(run.output("columns.tsv"), column_table(report));
    if (!report.result.weights.empty())
        write_npy(run.output("weights.npy"), report.result.weights.data(),
                  {static_cast<Index>(report.result.weights.size())});
    if (report.result.tree) phylogeny::write_tree(run, *report.result.tree);
    record(run, all);
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
    if (parameters.has_tree()) keys.push_back("Rivas2017");
    return keys;
}

}  // namespace pleat::mutual_information
