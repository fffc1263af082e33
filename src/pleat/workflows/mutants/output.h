// Output: writes the result of mutants to files of a run directory.
#pragma once

#include <string_view>
#include <vector>

#include "pleat/core/files/output_file.h"
#include "pleat/core/run/result_columns.h"
#include "pleat/workflows/mutants/mutants.h"

namespace pleat::mutants {

/// The results to write to files. Everything that it refers to must outlive it.
struct Report {
    const Result& result;
    const couplings::ModelDescription& about;  ///< of the model
    const MutantTable* table = nullptr;
};

/// Describes each value of a result once; see ResultColumn. `about`: of the model.
ResultColumns columns(const Result& result, const couplings::ModelDescription& about);

/// Writes singles.tsv, positions.tsv and logo.tsv; with a table listed.csv and correlations.tsv,
/// with sequences sequences.tsv, with doubles epistasis.npz. README.md of this folder describes
/// each. Throws OutputError.
void write_results(RunDirectory& run, const Report& report, int threads);

/// The original table, with predictions appended to each row.
TextPieces listed_table(const MutantTable& table, const std::vector<Listed>& listed, int threads);

/// The names of the columns that listed.csv has more than the table.
std::vector<std::string> added_column_names(const MutantTable& table);

/// Keys (core/run/citations.bib) of the papers that describe the predictions.
std::vector<std::string_view> citations();

}  // namespace pleat::mutants
