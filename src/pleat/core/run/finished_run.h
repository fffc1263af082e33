// Finished run: whether a folder holds the finished run of the same command.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/fields.h"

namespace pleat {

/// A finished run in a folder.
struct FinishedRun {
    /// Why the same command would give another result: another command, version, input or option,
    /// or results that are missing. Empty: it would give the same. Device, threads and seed are not
    /// compared.
    std::string difference;
    std::map<std::string, std::string> results;  ///< under "results", as text
    double seconds = 0;
};

/// The finished run in the folder, compared with `command` with these options and this input;
/// nothing if there is none. Throws InputError if the input cannot be read.
std::optional<FinishedRun> find_finished_run(const std::filesystem::path& folder,
                                             std::string_view command,
                                             const std::vector<Field>& fields,
                                             const std::filesystem::path& input);
/// Like find_finished_run() for one input, for a run whose inputs must be these files in this
/// order.
std::optional<FinishedRun> find_finished_run(const std::filesystem::path& folder,
                                             std::string_view command,
                                             const std::vector<Field>& fields,
                                             const std::vector<std::filesystem::path>& inputs);

}  // namespace pleat
