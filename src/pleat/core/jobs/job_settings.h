// Job settings: the combinations of option values that --sweep asks for.
#pragma once

#include <cstdint>
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

}  // namespace pleat
