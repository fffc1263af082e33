// Job plan: inputs times settings, each with a name and a folder of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/fields.h"
#include "pleat/core/files/text.h"

namespace pleat {

/// The maximum number of jobs of one list.
inline constexpr std::int64_t kMaxJobs = 10'000;

/// The value of one option, as the user wrote it.
struct JobSetting {
    std::string option, value;
    bool operator==(const JobSetting&) const = default;
};
/// Values of several options, in the order of the command's options.
using JobSettings = std::vector<JobSetting>;

/// The option with this name. Throws UsageError, which begins
/// with `where`, if there is none.
Field& find_option(std::vector<Field>& options, const std::string& name, std::string_view where);

/// Sets each option and appends the text of its value, which is the same for "0.10" and "0.1".
/// Throws UsageError as Field::set().
std::string apply_settings(const JobSettings& settings, std::vector<Field>& options);

/// All combinations of `sweeps`, the last one varying fastest; one without settings if there are no
/// sweeps. A sweep is `option=value,value`; for numbers, and options that take several of them,
/// also `option=first:last:step`, where the last value belongs to the range; or `@FILE`, a table
/// whose columns are options and whose rows are settings. `options` are scratch: their values
/// change. Throws UsageError for an unknown or repeated option, a value that the option refuses, a
/// repeated value and more than kMaxJobs combinations; InputError for a bad table.
std::vector<JobSettings> parse_sweeps(const std::vector<std::string>& sweeps,
                                      std::vector<Field>& options);

/// One input of a list: a file, or several that are one ensemble.
struct JobInput {
    std::string name;  ///< unique in a plan, and the name of its folder
    std::vector<std::string> files;
    JobSettings settings = {};  ///< from further columns of a list
};

/// The file's name without its folder, the ending of a packed file (.gz, .zst, .zstd) and one of an
/// alignment, structure, trajectory or array, in any case of letters. Other endings stay, and an @
/// in front of a list's name goes.
std::string job_name(const std::filesystem::path& file);

/// The inputs of a text that calls itself `name`, one per line: a path; or `NAME<tab>path`, with
/// further paths, separated by blanks, if `several_files`. A path with blanks is written in double
/// quotes. A first line in which all cells, or a cell if none is a path, are `name`, `input`,
/// `input_column` or an option, names the columns of a table: `name` (may be missing), `input` or
/// `input_column`, and options, of which an empty cell sets nothing. Blank lines and lines that
/// begin with # are skipped. `options` are scratch. Throws InputError, with the line.
std::vector<JobInput> parse_job_list(std::string_view name, std::string_view text,
                                     const std::string& input_column, bool several_files,
                                     std::vector<Field>& options);

struct Job {
    std::string name;
    std::vector<std::string> files;
    JobSettings settings;          ///< of the list, then of the sweep
    std::filesystem::path folder;  ///< below that of all jobs: NAME, or NAME/lambda-pair=0.1
};

struct JobPlan {
    std::vector<std::string> options;        ///< that differ between jobs: columns of the table
    std::vector<std::string> swept_options;  ///< those of them that --sweep names
    std::vector<Job> jobs;                   ///< input by input
    std::string settings_table;  ///< what settings.tsv says of numbered folders, or empty
};

/// Plans every input with every setting. The folder of a setting is named after its values; where
/// one would have more than 120 bytes, all are numbered (s0001). Throws UsageError if two inputs
/// have the same name, if a name cannot be that of a folder, for a value with a '/' or a control
/// character in a sweep, for an option that both a list and a sweep set, and for more than kMaxJobs
/// jobs.
JobPlan plan_jobs(const std::vector<JobInput>& inputs, const std::vector<JobSettings>& sweep);

/// Files in the folder of all jobs.
inline constexpr const char* kJobTable = "jobs.tsv";
inline constexpr const char* kSettingsTable = "settings.tsv";

}  // namespace pleat
