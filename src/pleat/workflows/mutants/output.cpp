// Output: tables of single mutants, positions, the logo, listed mutants and sequences.
#include "pleat/workflows/mutants/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/name_of.h"

namespace pleat::mutants {

namespace {

constexpr int kDecimals = 5;
constexpr std::string_view kSegment = "A_1";  // EVcouplings' name of a model's only segment

Shown fixed(int digits = kDecimals, std::string name = {}) {
    return {.name = std::move(name), .format = std::chars_format::fixed, .digits = digits};
}
const Shown kFromOne{.first = 1};

std::vector<RecordField> single_fields() {
    return {record_field("pos", &Single::number),
            record_field("wt", &Single::wild_type),
            record_field("subs", &Single::letter),
            record_field("frequency", &Single::frequency, fixed(6)),
            record_field("conservation", &Single::conservation, fixed(6, "column_conservation")),
            record_field("epistatic", &Single::epistatic, fixed(5, "prediction_epistatic")),
            record_field("independent", &Single::independent, fixed(5, "prediction_independent")),
            record_field("column", &Single::column, kFromOne),
            record_field("couplings", &Single::couplings, fixed(5, "epistatic_couplings")),
            record_field("fields", &Single::fields, fixed(5, "epistatic_fields")),
            record_field("percentile", &Single::percentile, fixed(2)),
            record_field("z", &Single::z, fixed(3)),
            record_field("independent_percentile", &Single::independent_percentile, fixed(2)),
            record_field("independent_z", &Single::independent_z, fixed(3)),
            record_field("conserved", &Single::conserved, fixed(5, "prediction_conservation")),
            record_field("weighted", &Single::weighted, fixed(5, "prediction_weighted"))};
}

std::vector<RecordField> position_fields() {
    return {record_field("pos", &Position::number),
            record_field("wt", &Position::wild_type),
            record_field("column", &Position::column, kFromOne),
            record_field("conservation", &Position::conservation, fixed(6, "column_conservation")),
            record_field("epistatic", &Position::epistatic, fixed(5, "mean_epistatic")),
            record_field("independent", &Position::independent, fixed(5, "mean_independent")),
            record_field("min_epistatic", &Position::min_epistatic, fixed()),
            record_field("max_epistatic", &Position::max_epistatic, fixed()),
            record_field("accessibility", &Position::accessibility, fixed(4)),
            record_field("burial_weight", &Position::burial_weight, fixed(4))};
}

std::vector<RecordField> logo_fields() {
    return {record_field("column", &LogoLetter::column, kFromOne),
            record_field("letter", &LogoLetter::letter),
            record_field("frequency", &LogoLetter::frequency, fixed(6)),
            record_field("information", &LogoLetter::information, fixed()),
            record_field("height", &LogoLetter::height, fixed()),
            record_field("independent", &LogoLetter::independent, fixed())};
}

std::vector<RecordField> listed_fields() {
    return {record_field("epistatic", &Listed::epistatic),
            record_field("independent", &Listed::independent),
            record_field("percentile", &Listed::percentile),
            record_field("z", &Listed::z),
            record_field("conserved", &Listed::conserved),
            record_field("weighted", &Listed::weighted)};
}

std::vector<RecordField> sequence_fields() {
    const auto energy = [](const char* name, double Energy::*part, Shown shown) {
        RecordField field = record_field(name, part, std::move(shown));
        field.offset += record_field("", &SequenceEnergy::energy).offset;
        return field;
    };
    return {
        energy("energy", &Energy::full, fixed()),
        energy("couplings", &Energy::couplings, fixed(5, "energy_couplings")),
        energy("fields", &Energy::fields, fixed(5, "energy_fields")),
        record_field("independent", &SequenceEnergy::independent, fixed(5, "energy_independent")),
        record_field("effect", &SequenceEnergy::effect, fixed(5, "prediction_epistatic")),
        record_field("independent_effect", &SequenceEnergy::independent_effect,
                     fixed(5, "prediction_independent")),
        record_field("residues", &SequenceEnergy::residues),
        record_field("gaps", &SequenceEnergy::gaps),
        record_field("inserted", &SequenceEnergy::inserted),
        record_field("coverage", &SequenceEnergy::coverage, fixed(4))};
}

template <class Records>
std::vector<std::string> problem_names(const Records& records) {
    std::vector<std::string> names;
    names.reserve(records.size());
    for (const auto& one : records) names.emplace_back(name_of(one.problem));
    return names;
}

void append_listed(const MutantRow& row, const Listed& listed, char separator, std::string& text) {
    text += row.text;
    if (!row.is_blank) {
        const std::pair<double, int> cells[] = {
            {listed.epistatic, kDecimals}, {listed.independent, kDecimals},
            {listed.percentile, 2},        {listed.z, 3},
            {listed.conserved, kDecimals}, {listed.weighted, kDecimals}};
        for (const auto& [value, digits] : cells) {
            text += separator;
            append_cell(text, value, fixed(digits));
        }
        text += separator;
        text += name_of(listed.problem);
    }
    text += row.line_end;
}

void write_correlations(const std::filesystem::path& path,
                        const std::vector<Correlation>& correlations) {
    const auto number = [&](const char* name, double Correlation::*value) {
        return TableColumn{name, [&correlations, value](std::size_t row, std::string& text) {
                               append_cell(text, correlations[row].*value, fixed());
                           }};
    };
    write_table(path, correlations.size(),
                {table_column("column",
                              [&](std::size_t row) { return table_cell(correlations[row].name); }),
                 table_column("count", [&](std::size_t row) { return correlations[row].count; }),
                 number("spearman_epistatic", &Correlation::epistatic),
                 number("spearman_independent", &Correlation::independent),
                 number("spearman_conservation", &Correlation::conserved),
                 number("spearman_weighted", &Correlation::weighted)});
}

/// The numbers and letters of the residues of Result::doubles.
std::pair<std::vector<Index>, std::string> double_residues(const Result& result,
                                                           const Alphabet& alphabet) {
    std::pair<std::vector<Index>, std::string> found;
    for (const Index column : result.doubles.columns) {
        found.first.push_back(result.target.number(result.target.residues[column]));
        found.second += alphabet.letter(result.target.codes[column]);
    }
    return found;
}

ResultColumns facts(const Result& result, const couplings::ModelDescription& about) {
    ResultColumns all = {
        fact("alphabet", about.alphabet != nullptr ? about.alphabet->name() : "",
             "the kind of the letters"),
        {"effective_sequences", "of the family", about.effective_sequences, "results"},
        {"target", "the target's name", result.target.name, "results"},
        {"first_number", "the number of the first of them", result.target.first_number, "results"},
        fact("residues", std::ssize(result.positions), "of the target in the model"),
        fact("gaps", result.target_gaps, "columns without a residue of the target"),
        fact("energy", result.energy.full, "of the target"),
        fact("energy_couplings", result.energy.couplings, "its part of the couplings"),
        fact("energy_fields", result.energy.fields, "its part of the fields"),
        {"independent_energy", "of the target", result.independent_energy, "results",
         "energy_independent"},
        fact("singles", std::ssize(result.singles), "number of single mutants")};
    if (!result.listed.empty()) {
        all.push_back(fact("listed", std::ssize(result.listed), "rows of --mutants"));
        all.push_back(fact("predicted", result.listed_with(Problem::none), "rows of these"));
        for (std::size_t n = 1; n < names_of(Problem()).size(); ++n)
            if (const Index count = result.listed_with(static_cast<Problem>(n)); count > 0)
                all.push_back(fact(fmt::format("without prediction: {}", names_of(Problem())[n]),
                                   count, "other rows"));
    }
    for (const Correlation& one : result.correlations)
        all.push_back(fact(fmt::format("spearman {}", one.name), one.epistatic,
                           "rank correlation with this column"));
    if (!result.correlations.empty()) {
        const Correlation& first = result.correlations.front();
        all.push_back(fact("measure", first.name,
                           "DMS_score, score, fitness or the first column of numbers"));
        all.push_back(fact("spearman_epistatic", first.epistatic, "rank correlations with it"));
        all.push_back(fact("spearman_independent", first.independent, "the same"));
        all.push_back(fact("spearman_conservation", first.conserved, "the same"));
        if (result.burial)
            all.push_back(fact("spearman_weighted", first.weighted, "the same, with a structure"));
    }
    if (result.burial) {
        for (const Correlation& one : result.correlations)
            all.push_back(fact(fmt::format("spearman weighted {}", one.name), one.weighted,
                               "the same of the weighted effects"));
        const Index known =
            std::count_if(result.positions.begin(), result.positions.end(),
                          [](const Position& p) { return !std::isnan(p.accessibility); });
        all.push_back(fact("structure_chain", result.burial->chain, "of --structure"));
        all.push_back(fact("structure_identity", result.burial->identity, "to the target"));
        all.push_back(fact("residues with accessibility", known, "in the model's columns"));
        all.push_back(fact("residues without accessibility", std::ssize(result.positions) - known,
                           "these take the mean burial"));
    }
    if (!result.sequences.empty())
        all.push_back(fact("sequences", std::ssize(result.sequences), "of --sequences"));
    if (!result.doubles.columns.empty())
        all.push_back(
            fact("double_residues", std::ssize(result.doubles.columns), "residues of --doubles"));
    return all;
}

}  // namespace

std::vector<std::string> added_column_names(const MutantTable& table) {
    std::vector<std::string> names = {"prediction_epistatic",    "prediction_independent",
                                      "prediction_percentile",   "prediction_z",
                                      "prediction_conservation", "prediction_weighted",
                                      "prediction_problem"};
    for (std::string& name : names)
        while (std::find(table.names.begin(), table.names.end(), name) != table.names.end())
            name.insert(0, "pleat_");
    return names;
}

TextPieces listed_table(const MutantTable& table, const std::vector<Listed>& listed, int threads) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    std::string head(table.bytes.starts_with(kByteOrderMark) ? kByteOrderMark : "");
    head += table.header;
    for (const std::string& name : added_column_names(table)) head += table.separator + name;
    head += table.header_end;
    TextPieces pieces =
        make_lines(threads, static_cast<Index>(table.rows.size()), [&](Index n, std::string& text) {
            append_listed(table.rows[n], listed[n], table.separator, text);
        });
    pieces.insert(pieces.begin(), head);
    return pieces;
}

ResultColumns columns(const Result& result, const couplings::ModelDescription& about) {
    const Alphabet& alphabet = about.alphabet != nullptr ? *about.alphabet : Alphabet::protein();
    std::vector<std::string> sequence_names;
    for (const SequenceEnergy& one : result.sequences) sequence_names.push_back(one.name);
    auto [numbers, wild_type] = double_residues(result, alphabet);
    constexpr const char* kDoubles = "epistasis.npz";
    const std::string_view letters = alphabet.letters().substr(0, alphabet.gap());
    ResultColumns all = {
        {"singles",
         "records [mutant] (pos, column, wt, subs, frequency, conservation, epistatic, "
         "couplings, fields, independent, percentile, z, independent_percentile, "
         "independent_z, conserved, weighted) of all single mutants: pos is the residue's number, "
         "column that of "
         "the source from 0; couplings and fields are the parts of epistatic in the "
         "zero-sum gauge; percentile and z place it among all single mutants; conserved and "
         "weighted are the effect times the weights of conservation, and of burial and "
         "conservation (NaN without a structure)",
         {result.singles, single_fields()},
         "singles.tsv"},
        {"positions",
         "records [residue] (pos, column, wt, conservation, epistatic, independent, "
         "min_epistatic, max_epistatic, accessibility, burial_weight), means over the single "
         "mutants; accessibility is relative, NaN where it is not known",
         {result.positions, position_fields()},
         "positions.tsv"},
        {"logo",
         "records [letter] (column, letter, frequency, information, height, independent) "
         "of all columns; bits",
         {result.logo, logo_fields()},
         "logo.tsv"},
        {"listed",
         "records [row] (epistatic, independent, percentile, z, conserved, weighted) of "
         "`mutants`, in its order; NaN: none",
         {result.listed, listed_fields()}},
        {"problems", "list of str [row], why there is none; else ''", problem_names(result.listed)},
        {"listed_text",
         "`mutants` as it was given, with the predictions appended to each row, as the "
         "program's listed.csv; '' without",
         ColumnValue::kept("str")},
        {"correlations",
         "dict of each column of numbers: (rows, Spearman with epistatic, with independent, with "
         "conserved, with weighted)",
         ColumnValue::kept("dict[str, tuple[int, float, float, float, float]]")},
        {"sequences",
         "records [sequence] (energy, couplings, fields, independent, effect, "
         "independent_effect, residues, gaps, inserted, coverage)",
         {result.sequences, sequence_fields()},
         "sequences.tsv"},
        {"sequence_names", "list of str [sequence]", std::move(sequence_names)},
        {"sequence_problems", "list of str [sequence], why there is no energy; else ''",
         problem_names(result.sequences)},
        {"double_positions", "int64 [residue], their numbers",
         ColumnValue::owned(std::move(numbers)), kDoubles, "positions"},
        {"", "the target's letters", std::move(wild_type), kDoubles, "wild_type"},
        {"letters", "the letters in the order of `epistasis`", letters},
        {{}, "the letters in the order of `epistasis`", letters, kDoubles, "letters"},
        {"double_singles", "float64 [residue, letter], their single effects",
         result.doubles.singles, kDoubles, "singles"},
        {"epistasis", "float32 [pair, letter, letter] of `doubles`, i < j in row order",
         result.doubles.epistasis, kDoubles},
        {"energy", "(full, couplings, fields) of the target, in the zero-sum gauge",
         ColumnValue::kept("tuple[float, float, float]")},
        {"sequence", "the target's residues", result.target.sequence, "results"},
        {"notes", "list of str, what was decided", ColumnValue::kept("list[Note]")},
    };
    return joined({all, facts(result, about)});
}

void write_results(RunDirectory& run, const Report& report, int threads) {
    const Result& result = report.result;
    const ResultColumns all = columns(result, report.about);
    const auto segment = table_column("segment", [](std::size_t) { return kSegment; });
    const auto mutant = table_column("mutant", [&](std::size_t row) {
        const Single& one = result.singles[row];
        return fmt::format("{}{}{}", one.wild_type, one.number, one.letter);
    });
    write_table(run.output("singles.tsv"), result.singles.size(),
                with_columns(table_columns(all, "singles.tsv"), "pos", {segment, mutant}), threads);
    write_table(run.output("positions.tsv"), result.positions.size(),
                with_columns(table_columns(all, "positions.tsv"), "pos", {segment}), threads);
    const auto number = table_column("pos", [&](std::size_t row) {
        const std::optional<Index>& one = result.logo[row].number;
        return one ? std::to_string(*one) : "NA";
    });
    const auto wild_type = table_column(
        "wt", [&](std::size_t row) { return std::string_view(&result.logo[row].wild_type, 1); });
    write_table(run.output("logo.tsv"), result.logo.size(),
                with_columns(table_columns(all, "logo.tsv"), "letter", {number, wild_type}),
                threads);
    if (report.table != nullptr) {
        write_text(run.output("listed.csv"), listed_table(*report.table, result.listed, threads));
        write_correlations(run.output("correlations.tsv"), result.correlations);
    }
    const auto name = table_column(
        "name", [&](std::size_t row) { return table_cell(result.sequences[row].name); });
    const auto problem = table_column("problem", [&](std::size_t row) {
        const Problem one = result.sequences[row].problem;
        return table_cell(name_of(one));
    });
    if (!result.sequences.empty())
        write_table(
            run.output("sequences.tsv"), result.sequences.size(),
            with_columns(with_columns(table_columns(all, "sequences.tsv"), "energy", {name}), "",
                         {problem}),
            threads);
    if (!result.doubles.columns.empty()) write_arrays(run, all, "epistasis.npz");
    record(run, all);
}

std::vector<std::string_view> citations() { return {"Hopf2017"}; }

}  // namespace pleat::mutants
