// Output: tables of single mutants, positions, the logo, listed mutants and sequences.
#include "pleat/workflows/mutants/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"

namespace pleat::mutants {

namespace {

constexpr int kDecimals = 5;
constexpr std::string_view kSegment = "A_1";  // EVcouplings' name of a model's only segment

/// The number with so many decimals, "NA" for NaN.
void append(std::string& text, double value, int decimals = kDecimals) {
    if (std::isnan(value))
        text += "NA";
    else
        append_number(text, value, std::chars_format::fixed, decimals);
}

/// Cells of a row of a table, with a tab before each but the first.
class Cells {
public:
    explicit Cells(std::string& text) : text_(text) {}
    Cells& integer(Index value) {
        separate();
        append_integer(text_, value);
        return *this;
    }
    Cells& number(double value, int decimals = kDecimals) {
        separate();
        append(text_, value, decimals);
        return *this;
    }
    Cells& word(std::string_view value) {
        separate();
        text_ += value;
        return *this;
    }
    Cells& letter(char value) { return word({&value, 1}); }
    void end() { text_ += '\n'; }

private:
    void separate() {
        if (!is_first_) text_ += '\t';
        is_first_ = false;
    }
    std::string& text_;
    bool is_first_ = true;
};

template <class Row>
void write_table(const std::filesystem::path& path, const char* header, Index rows, int threads,
                 const Row& row) {
    TextPieces pieces = make_lines(threads, rows, row);
    pieces.insert(pieces.begin(), std::string(header) + "\n");
    write_text(path, pieces);
}

void append_single(const Single& one, std::string& text) {
    std::string mutant(1, one.wild_type);
    append_integer(mutant, one.number);
    mutant += one.letter;
    Cells(text)
        .word(kSegment)
        .word(mutant)
        .integer(one.number)
        .letter(one.wild_type)
        .letter(one.letter)
        .number(one.frequency, 6)
        .number(one.conservation, 6)
        .number(one.epistatic)
        .number(one.independent)
        .integer(one.column + 1)
        .number(one.couplings)
        .number(one.fields)
        .number(one.percentile, 2)
        .number(one.z, 3)
        .number(one.independent_percentile, 2)
        .number(one.independent_z, 3)
        .end();
}

void append_position(const Position& one, std::string& text) {
    Cells(text)
        .word(kSegment)
        .integer(one.number)
        .letter(one.wild_type)
        .integer(one.column + 1)
        .number(one.conservation, 6)
        .number(one.epistatic)
        .number(one.independent)
        .number(one.min_epistatic)
        .number(one.max_epistatic)
        .end();
}

void append_logo(const LogoLetter& one, std::string& text) {
    Cells cells(text);
    cells.integer(one.column + 1);
    if (one.number)
        cells.integer(*one.number);
    else
        cells.word("NA");
    cells.letter(one.wild_type)
        .letter(one.letter)
        .number(one.frequency, 6)
        .number(one.information)
        .number(one.height)
        .number(one.independent)
        .end();
}

void append_sequence(const SequenceEnergy& one, std::string& text) {
    Cells(text)
        .word(table_cell(one.name))
        .number(one.energy.full)
        .number(one.energy.couplings)
        .number(one.energy.fields)
        .number(one.independent)
        .number(one.effect)
        .number(one.independent_effect)
        .integer(one.residues)
        .integer(one.gaps)
        .integer(one.inserted)
        .number(one.coverage, 4)
        .word(table_cell(names_of(one.problem)[static_cast<std::size_t>(one.problem)]))
        .end();
}

void append_listed(const MutantRow& row, const Listed& listed, char separator, std::string& text) {
    text += row.text;
    if (!row.is_blank) {
        text += separator;
        append(text, listed.epistatic);
        text += separator;
        append(text, listed.independent);
        text += separator;
        append(text, listed.percentile, 2);
        text += separator;
        append(text, listed.z, 3);
        text += separator;
        text += names_of(listed.problem)[static_cast<std::size_t>(listed.problem)];
    }
    text += row.line_end;
}

void write_correlations(const std::filesystem::path& path,
                        const std::vector<Correlation>& correlations) {
    std::string text = "column\tcount\tspearman_epistatic\tspearman_independent\n";
    for (const Correlation& one : correlations)
        Cells(text)
            .word(table_cell(one.name))
            .integer(one.count)
            .number(one.epistatic)
            .number(one.independent)
            .end();
    write_text(path, text);
}

void write_doubles(const std::filesystem::path& path, const Report& report) {
    const Doubles& doubles = report.result.doubles;
    const Target& target = report.result.target;
    std::vector<Index> numbers;
    std::string wild_type;
    for (const Index column : doubles.columns) {
        const auto at = static_cast<std::size_t>(column);
        numbers.push_back(target.number(target.residues[at]));
        wild_type += report.alphabet.letter(target.codes[at]);
    }
    NpzWriter writer(path);
    writer.add("positions", numbers.data(), {static_cast<Index>(numbers.size())});
    writer.add_text("wild_type", wild_type);
    writer.add_text("letters", report.alphabet.letters().substr(0, report.alphabet.gap()));
    writer.add("singles", doubles.singles.view());
    writer.add("epistasis", doubles.epistasis.view());
    writer.close();
}

}  // namespace

std::vector<std::string> added_names(const MutantTable& table) {
    std::vector<std::string> names = {"prediction_epistatic", "prediction_independent",
                                      "prediction_percentile", "prediction_z",
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
    for (const std::string& name : added_names(table)) head += table.separator + name;
    head += table.header_end;
    TextPieces pieces =
        make_lines(threads, static_cast<Index>(table.rows.size()), [&](Index n, std::string& text) {
            const auto at = static_cast<std::size_t>(n);
            append_listed(table.rows[at], listed[at], table.separator, text);
        });
    pieces.insert(pieces.begin(), head);
    return pieces;
}

void write_results(RunDirectory& run, const Report& report, int threads) {
    const Result& result = report.result;
    write_table(run.output("singles.tsv"),
                "segment\tmutant\tpos\twt\tsubs\tfrequency\tcolumn_conservation\t"
                "prediction_epistatic\tprediction_independent\tcolumn\tepistatic_couplings\t"
                "epistatic_fields\tpercentile\tz\tindependent_percentile\tindependent_z",
                static_cast<Index>(result.singles.size()), threads,
                [&](Index n, std::string& text) {
                    append_single(result.singles[static_cast<std::size_t>(n)], text);
                });
    write_table(run.output("positions.tsv"),
                "segment\tpos\twt\tcolumn\tcolumn_conservation\tmean_epistatic\tmean_independent\t"
                "min_epistatic\tmax_epistatic",
                static_cast<Index>(result.positions.size()), threads,
                [&](Index n, std::string& text) {
                    append_position(result.positions[static_cast<std::size_t>(n)], text);
                });
    write_table(run.output("logo.tsv"),
                "column\tpos\twt\tletter\tfrequency\tinformation\theight\tindependent",
                static_cast<Index>(result.logo.size()), threads, [&](Index n, std::string& text) {
                    append_logo(result.logo[static_cast<std::size_t>(n)], text);
                });
    if (report.table != nullptr) {
        write_text(run.output("listed.csv"), listed_table(*report.table, result.listed, threads));
        write_correlations(run.output("correlations.tsv"), result.correlations);
    }
    if (!result.sequences.empty())
        write_table(run.output("sequences.tsv"),
                    "name\tenergy\tenergy_couplings\tenergy_fields\tenergy_independent\t"
                    "prediction_epistatic\tprediction_independent\tresidues\tgaps\tinserted\t"
                    "coverage\tproblem",
                    static_cast<Index>(result.sequences.size()), threads,
                    [&](Index n, std::string& text) {
                        append_sequence(result.sequences[static_cast<std::size_t>(n)], text);
                    });
    if (!result.doubles.columns.empty()) write_doubles(run.output("epistasis.npz"), report);
}

std::vector<std::string_view> citations() { return {"Hopf2017"}; }

}  // namespace pleat::mutants
