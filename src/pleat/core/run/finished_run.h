// Finished run: whether a folder holds the finished run of the same command.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
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

/// Hashes of input files, each computed once. Thread-safe.
class InputHashes {
public:
    /// The SHA-256 of hash_input(). Throws InputError if the file cannot be read.
    std::string of(const std::filesystem::path& file);

private:
    std::mutex mutex_;
    std::map<std::filesystem::path, std::string> known_;
};

/// The finished run in the folder, compared with `command` with these options; nothing if there is
/// none. It must have read these files, and all others that it read and that are still there must
/// be as they were. `seed`: if results depend on it. Throws InputError if one of the files cannot
/// be read.
std::optional<FinishedRun> find_finished_run(
    const std::filesystem::path& folder, std::string_view command, const std::vector<Field>& fields,
    const std::vector<std::string>& files, std::optional<std::uint64_t> seed, InputHashes& hashes);
/// The same for a run that read these files alone and in this order, with any seed.
std::optional<FinishedRun> find_finished_run(const std::filesystem::path& folder,
                                             std::string_view command,
                                             const std::vector<Field>& fields,
                                             const std::vector<std::filesystem::path>& inputs);

}  // namespace pleat
