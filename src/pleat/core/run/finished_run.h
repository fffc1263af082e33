// Finished run: what a folder's manifest tells of it, and whether the same command made it.
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
    /// Why it is not what the same command would make: another command, version, input or option,
    /// or results that are not told or no longer there. Empty: it is the same. Device, threads and
    /// seed are not compared.
    std::string difference;
    std::map<std::string, std::string> results;  ///< under "results", as text
    double seconds = 0;
};

/// The finished run that the folder holds, compared with `command` over these options and the bytes
/// of `input`; nothing where there is none. InputError when the input cannot be read.
std::optional<FinishedRun> find_finished_run(const std::filesystem::path& folder,
                                             std::string_view command,
                                             const std::vector<Field>& fields,
                                             const std::filesystem::path& input);
/// The same of a run of several inputs: those that it lists must be these, in their order.
std::optional<FinishedRun> find_finished_run(const std::filesystem::path& folder,
                                             std::string_view command,
                                             const std::vector<Field>& fields,
                                             const std::vector<std::filesystem::path>& inputs);

}  // namespace pleat
