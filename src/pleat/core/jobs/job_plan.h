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

/// All combinations of `sweeps`, the last varying fastest; without sweeps, one empty combination. A
/// sweep is `option=value,value`; for numbers, and options with several numbers, also
/// `option=first:last:step`, with the last value included; or `@FILE`, a table with options as
/// columns and settings as rows. Changes the values of `options`. Throws UsageError for an unknown
/// or repeated option, an invalid or repeated value, and more than kMaxJobs combinations;
/// InputError for an invalid table.
std::vector<JobSettings> parse_sweeps(const std::vector<std::string>& sweeps,
                                      std::vector<Field>& options);

/// One input of a list: a file, or several that are one ensemble.
struct JobInput {
    std::string name;  ///< unique in a plan, and the name of its folder
    std::vector<std::string> files;
    JobSettings settings = {};  ///< from further columns of a list
};

/// Makes a job's name from a file name: without its folder, a compression ending (.gz, .zst, .zstd)
/// and the ending of an alignment, structure, trajectory or array in any case. Other endings stay;
/// the @ of a list is removed.
std::string job_name(const std::filesystem::path& file);

/// Parses a list of inputs, called `name` in errors, one per line: a path; or `NAME<tab>path`, and
/// if `several_files` further paths separated by blanks. Double quotes enclose a path with blanks.
/// The first line is a table header if all its cells, or any cell if none is a path, are `name`,
/// `input`, `input_column` or an option. A table needs `input` or `input_column`; `name` is
/// optional; an empty cell of an option sets nothing. A table with `input_option`, an option, needs
/// no input: its paths are the option's value and further inputs. Blank lines and lines beginning
/// with # are skipped. Changes the values of `options`. Throws InputError with the line.
std::vector<JobInput> parse_job_list(std::string_view name, std::string_view text,
                                     const std::string& input_column, bool several_files,
                                     std::vector<Field>& options,
                                     const std::string& input_option = {});

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

/// Combines every input with every setting. Folders of settings are named by their values; if a
/// name would exceed 120 bytes, all are numbered (s0001). Throws UsageError if two inputs have the
/// same name, a name is not a valid folder name, a sweep has a value with '/' or a control
/// character, list and sweep set the same option, or there are more than kMaxJobs jobs.
JobPlan plan_jobs(const std::vector<JobInput>& inputs, const std::vector<JobSettings>& sweep);

/// Files in the folder of all jobs.
inline constexpr const char* kJobTable = "jobs.tsv";
inline constexpr const char* kSettingsTable = "settings.tsv";

}  // namespace pleat
