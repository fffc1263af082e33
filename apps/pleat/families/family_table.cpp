// Family table: texts of records.
#include "families/family_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "pleat/core/files/printable.h"
#include "process/failure.h"

namespace pleat::program {

namespace {

constexpr const char* kHeader =
    "name\tstatus\tsequences\tcolumns\teffective_sequences\tevaluations\trelative_gap\tseconds\t"
    "result\n";

const char* status_name(FamilyStatus status) {
    switch (status) {
        case FamilyStatus::waiting: return "waiting";
        case FamilyStatus::unfinished: return "unfinished";
        case FamilyStatus::done: return "done";
        case FamilyStatus::skipped: return "skipped";
        case FamilyStatus::failed: return "failed";
    }
    return "";
}

std::string effective_text(double value) { return fmt::format("{:.1f}", value); }
std::string gap_text(double value) { return fmt::format("{:.1e}", value); }
std::string seconds_text(double value) { return fmt::format("{:.2f}", value); }

/// A number of the manifest in the format of this table; empty if there is none.
template <class Format>
std::string reworded(const FinishedRun& run, const char* name, Format format) {
    const auto found = run.results.find(name);
    if (found == run.results.end()) return {};
    const std::string& text = found->second;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} ? format(value) : std::string();
}

}  // namespace

void FamilyRecord::set_done(const CouplingsOutcome& outcome, double seconds_taken) {
    status = FamilyStatus::done;
    sequences = fmt::format("{}", outcome.sequences);
    columns = fmt::format("{}", outcome.columns);
    effective_sequences = effective_text(outcome.effective_sequences);
    evaluations = fmt::format("{}", outcome.evaluations);
    relative_gap = gap_text(outcome.relative_gap);
    seconds = seconds_text(seconds_taken);
    const bool is_early = outcome.stop_reason == couplings::StopReason::iteration_limit ||
                          outcome.stop_reason == couplings::StopReason::stalled;
    if (is_early) remark = fmt::format("ended early ({})", name_of(outcome.stop_reason));
}

void FamilyRecord::set_skipped(const FinishedRun& run) {
    status = FamilyStatus::skipped;
    const auto whole = [](double value) { return fmt::format("{:.0f}", value); };
    sequences = reworded(run, "sequences", whole);
    columns = reworded(run, "columns", whole);
    effective_sequences = reworded(run, "effective_sequences", effective_text);
    evaluations = reworded(run, "evaluations", whole);
    relative_gap = reworded(run, "relative_gap", gap_text);
    seconds = seconds_text(run.seconds);
}

void FamilyRecord::set_failed(const std::string& text, int code) {
    status = FamilyStatus::failed;
    error = first_line(text);
    exit_code = code;
}

std::string record_line(const FamilyRecord& record) {
    return fmt::format(
        "{}: {} sequences ({} effective), {} columns, {} evaluations, gap {}{}, {} s",
        record.family.name, record.sequences, record.effective_sequences, record.columns,
        record.evaluations, record.relative_gap, record.remark.empty() ? "" : ", " + record.remark,
        record.seconds);
}

std::string table_text(const std::vector<FamilyRecord>& records) {
    std::string text = kHeader;
    for (const FamilyRecord& record : records) {
        const bool has_folder =
            record.status != FamilyStatus::failed && record.status != FamilyStatus::waiting;
        const std::string result = has_folder ? record.folder.string() : record.error;
        text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", table_cell(record.family.name),
                            status_name(record.status), table_cell(record.sequences),
                            table_cell(record.columns), table_cell(record.effective_sequences),
                            table_cell(record.evaluations), table_cell(record.relative_gap),
                            table_cell(record.seconds), table_cell(result));
    }
    return text;
}

std::string counts_text(const std::vector<FamilyRecord>& records) {
    std::vector<std::string> counts;
    for (const FamilyStatus status :
         {FamilyStatus::done, FamilyStatus::skipped, FamilyStatus::failed, FamilyStatus::unfinished,
          FamilyStatus::waiting}) {
        const auto same = [&](const FamilyRecord& record) { return record.status == status; };
        const auto count = std::count_if(records.begin(), records.end(), same);
        if (count > 0 || status == FamilyStatus::done)
            counts.push_back(fmt::format("{} {}", count, status_name(status)));
    }
    return fmt::format("{}", fmt::join(counts, ", "));
}

}  // namespace pleat::program
