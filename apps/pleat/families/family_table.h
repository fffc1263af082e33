// Family table: the status and results of each family, for families.tsv and the log.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "couplings/couplings_fit.h"
#include "pleat/bio/alignment/family_list.h"
#include "pleat/core/run/finished_run.h"

namespace pleat::program {

enum class FamilyStatus { waiting, unfinished, done, skipped, failed };

struct FamilyRecord {
    Family family;
    std::filesystem::path folder;
    double work = 0;  ///< expected: the file's bytes
    FamilyStatus status = FamilyStatus::waiting;
    /// Columns of the table, empty if not known.
    std::string sequences, columns, effective_sequences, evaluations, relative_gap, seconds;
    std::string remark;  ///< why the fit ended early
    std::string error;   ///< one line
    int exit_code = 0;

    void set_done(const CouplingsOutcome& outcome, double seconds_taken);
    void set_skipped(const FinishedRun& run);
    void set_failed(const std::string& text, int code);
};

/// "PF00072: 3068 sequences (812.3 effective), 117 columns, 14 evaluations, gap 8.8e-05, 1.2 s".
std::string record_line(const FamilyRecord& record);

/// families.tsv: a header and one line per family, in the order given.
std::string table_text(const std::vector<FamilyRecord>& records);

/// "40 done, 3 skipped, 1 failed"; without those of which there are none, except "done".
std::string counts_text(const std::vector<FamilyRecord>& records);

}  // namespace pleat::program
