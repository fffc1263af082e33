// Finished run: comparing a manifest with the command at hand.
#include "pleat/core/run/finished_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "pleat/core/files/hash.h"
#include "pleat/core/run/manifest.h"
#include "pleat/core/version.h"

namespace pleat {

namespace {

/// The first option that differs, or nothing.
std::string other_option(const EarlierRun& run, const std::vector<Field>& fields) {
    for (const Field& field : fields) {
        const std::string now = json_text(manifest_value(field));
        const auto before = run.parameters.find(field.name);
        if (before == run.parameters.end())
            return fmt::format("an option '{}' not known to it", field.name);
        if (before->second != now)
            return fmt::format("'{}' {} (now {})", field.name, before->second, now);
    }
    return {};
}

/// The first result file that is missing or has another size than the manifest says, or nothing.
std::string lost_output(const std::filesystem::path& folder, const EarlierRun& run) {
    if (run.outputs.empty()) return "no list of its results";
    for (std::size_t k = 0; k < run.outputs.size(); ++k) {
        std::error_code error;
        const auto bytes = std::filesystem::file_size(folder / run.outputs[k], error);
        if (error || static_cast<std::int64_t>(bytes) != run.output_bytes[k])
            return fmt::format("a {} that is missing or was changed", run.outputs[k]);
    }
    return {};
}

/// Compares everything except the inputs.
std::string other_command(const std::filesystem::path& folder, const EarlierRun& run,
                          std::string_view command, const std::vector<Field>& fields) {
    if (run.command != command) return fmt::format("the command '{}'", run.command);
    // Another version of pleat may compute other numbers or write other files.
    if (run.version != kVersion)
        return fmt::format("version '{}' (now '{}')", run.version, kVersion);
    if (std::string other = other_option(run, fields); !other.empty()) return other;
    return lost_output(folder, run);
}

bool has_inputs(const EarlierRun& run, const std::vector<std::filesystem::path>& inputs) {
    return std::equal(inputs.begin(), inputs.end(), run.input_hashes.begin(),
                      run.input_hashes.end(),
                      [](const std::filesystem::path& input, const std::string& hash) {
                          return hash_input(input).sha256 == hash;
                      });
}

template <class HasInputs>
std::optional<FinishedRun> compare(const std::filesystem::path& folder, std::string_view command,
                                   const std::vector<Field>& fields, const HasInputs& has) {
    const EarlierRun run = read_earlier_run(folder / "manifest.json");
    if (!run.is_ours || run.status != "finished") return std::nullopt;
    FinishedRun found{.difference = other_command(folder, run, command, fields),
                      .results = run.results,
                      .seconds = run.seconds};
    if (found.difference.empty() && !has(run)) found.difference = "other content of its input";
    return found;
}

}  // namespace

std::string InputHashes::of(const std::filesystem::path& file) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = known_.find(file); found != known_.end()) return found->second;
    }
    std::string hash = hash_input(file).sha256;
    const std::lock_guard lock(mutex_);
    return known_[file] = std::move(hash);
}

std::optional<FinishedRun> find_finished_run(
    const std::filesystem::path& folder, std::string_view command, const std::vector<Field>& fields,
    const std::vector<std::string>& files, std::optional<std::uint64_t> seed, InputHashes& hashes) {
    std::uint64_t earlier_seed = 0;
    std::optional<FinishedRun> found = compare(folder, command, fields, [&](const EarlierRun& run) {
        earlier_seed = run.seed;
        for (const std::string& file : files) {
            const auto& listed = run.input_hashes;
            if (std::find(listed.begin(), listed.end(), hashes.of(file)) == listed.end())
                return false;
        }
        for (std::size_t n = 0; n < run.input_paths.size(); ++n) {
            std::error_code ignored;
            const std::filesystem::path path = run.input_paths[n];
            if (std::filesystem::is_regular_file(path, ignored) &&
                hashes.of(path) != run.input_hashes[n])
                return false;
        }
        return true;
    });
    if (found && found->difference.empty() && seed && *seed != earlier_seed)
        found->difference = fmt::format("seed {} (now {})", earlier_seed, *seed);
    return found;
}

std::optional<FinishedRun> find_finished_run(const std::filesystem::path& folder,
                                             std::string_view command,
                                             const std::vector<Field>& fields,
                                             const std::vector<std::filesystem::path>& inputs) {
    return compare(folder, command, fields,
                   [&](const EarlierRun& run) { return has_inputs(run, inputs); });
}

}  // namespace pleat
