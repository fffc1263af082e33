// Mutant table: a list of mutants with columns of measurements, kept as it was written.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat::mutants {

struct MutantRow {
    std::string mutant;     ///< "A24G:K30R"; empty if the table has no such column
    std::string sequence;   ///< of the mutant, if the table has no column of mutants
    std::string_view text;  ///< as written, without the line's end
    std::string_view line_end;
    Index line = 0;         ///< in the file, from 1
    bool is_blank = false;  ///< no cells: only kept
};

/// A table of ProteinGym, EVcouplings, EVE, MaveDB or alike: a header, and a row per mutant in a
/// column `mutant`, `mutants`, `mutations`, `mutation` or `hgvs_pro` ("A24G", "A24G:K30R",
/// "A24G,K30R", "p.Ala24Gly", "p.[Ala24Gly;Lys30Arg]", a whole sequence; "wild", "wt" or empty: the
/// target), or in three columns `wt_aa`, `position`, `mt_aa` (EVE), `wildtype`, `site`, `mutant` or
/// `mutation` (letters), or `wt`, `pos`, `subs`; or without these in `mutated_sequence` or
/// `mutant_sequence`, else in `variant` or `protein_variant`. Lines with # above the header are
/// comments; the first column may have no name. Cells are separated by commas, semicolons or tabs,
/// and may be in quotes.
struct MutantTable {
    std::string source;
    std::string bytes;  ///< the whole file, to which `text` of the rows refers
    char separator = ',';
    std::vector<std::string> names;  ///< of the columns
    std::string_view header, header_end;
    std::vector<MutantRow> rows;
    bool has_mutants = true;  ///< a column of mutants; else of sequences
    /// [column of numbers][row], scores first, no numbers of residues; NaN if a row has no number.
    std::vector<std::string> number_names;
    std::vector<std::vector<double>> numbers;

    MutantTable() = default;
    MutantTable(MutantTable&&) = default;
    MutantTable& operator=(MutantTable&&) = default;
};

/// Reads a table, plain or compressed. Throws InputError, with file and line, for an empty file or
/// header, duplicate column names, a table without a column of mutants or sequences, and a row with
/// a different number of cells.
MutantTable read_mutant_table(const std::filesystem::path& path);
MutantTable parse_mutant_table(std::string name, std::string bytes);

/// Whether the first line of a text that is no comment is the header of such a table.
bool is_mutant_table(std::string_view text);

}  // namespace pleat::mutants

#pragma GCC visibility pop
