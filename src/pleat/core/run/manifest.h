// Manifest: the command, inputs, options, results and papers of a run, and what an earlier run
// left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pleat/core/fields.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/notes.h"

namespace pleat {

/// A value of a parameter or of a result, kept with its type.
using ManifestValue = std::variant<bool, std::int64_t, double, std::string>;
using ManifestValues = std::vector<std::pair<std::string, ManifestValue>>;

struct Manifest {
    struct Input {
        std::string path;
        FileHash hash;
    };
    struct Timing {
        std::string stage;
        double seconds = 0.0, cpu_seconds = 0.0;
    };
    struct Output {
        std::string file;
        std::int64_t bytes = 0;
    };

    std::string command;
    std::vector<std::string> arguments;
    std::string status = "running";  ///< then "finished" or "unfinished"
    bool resumed = false;
    std::string started, finished;  ///< UTC, ISO 8601
    ManifestValues parameters, results;
    std::uint64_t seed = 0;
    std::string device, instruction_set;
    int threads = 0;  ///< of each rank
    int ranks = 1;
    /// Whether this process runs other jobs at the same time, so that its CPU time and memory are
    /// not those of this run.
    bool shares_process = false;
    std::vector<Input> inputs;
    std::vector<std::string> sources;  ///< inputs in their order, with repeats
    std::vector<Timing> timings;
    double seconds = 0.0, cpu_seconds = 0.0;
    std::int64_t peak_memory = 0;
    std::vector<Output> outputs;
    std::vector<std::string> stages;  ///< folders in this one that are runs
    std::vector<std::pair<std::string, std::string>> citations;  ///< key, text
    Notes notes;                                                 ///< what readers decided
    std::vector<std::string> messages;                           ///< other remarks
};

/// The manifest as indented JSON. Bytes that are not UTF-8 are replaced; NaN becomes text.
std::string to_json(const Manifest& manifest);

/// A parameter's value in the manifest; an automatic one is its description.
ManifestValue manifest_value(const Field& field);
std::string json_text(const ManifestValue& value);

/// The manifest of an earlier run; empty if the file is not a manifest of pleat.
struct EarlierRun {
    bool is_ours = false;
    std::string version, command, status, device;
    std::uint64_t seed = 0;
    std::vector<std::string> arguments;
    std::vector<std::string> stages;         ///< plain names of folders only
    std::vector<std::string> outputs;        ///< plain file names only
    std::vector<std::int64_t> output_bytes;  ///< of each output
    std::vector<std::string> input_hashes;
    std::vector<std::string> input_paths;  ///< of each hash, as the command was given them
    std::vector<std::string> sources;      ///< of these, in their order and with repeats
    /// Values as JSON text; texts of `results` without their quotes.
    std::map<std::string, std::string> parameters, results;
    double seconds = 0;
};
/// A text parameter of an earlier run, without JSON's quotes; empty if it is missing or no text.
std::string text_parameter(const EarlierRun& run, const std::string& name);
EarlierRun read_earlier_run(const std::filesystem::path& manifest);
/// Whether the name is that of an entry in a folder: not a path, not empty, neither "." nor "..".
bool is_plain_name(const std::string& name);

/// A finished run in a folder.
struct FinishedRun {
    /// Why the same command would give a different result: another command, version, input or
    /// option, or missing results. Empty if it would not. Device, threads and seed are not
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
    std::map<std::filesystem::path, std::string> known_hashes_;
};

/// Finds the finished run in the folder and compares it with `command` and these options; nothing
/// if there is none. It must have read these files, and all its inputs that still exist must be
/// unchanged. `seed`: if results depend on it. Throws InputError if a file cannot be read.
std::optional<FinishedRun> find_finished_run(
    const std::filesystem::path& folder, std::string_view command, const std::vector<Field>& fields,
    const std::vector<std::string>& files, std::optional<std::uint64_t> seed, InputHashes& hashes);
/// The same, but the run must have read exactly these files in this order; the seed is ignored.
std::optional<FinishedRun> find_finished_run(const std::filesystem::path& folder,
                                             std::string_view command,
                                             const std::vector<Field>& fields,
                                             const std::vector<std::filesystem::path>& inputs);

/// A paper on which a result is based.
struct Citation {
    std::string key;     ///< BibTeX key
    std::string text;    ///< one line for people
    std::string bibtex;  ///< whole entry for cite.bib
};

/// The paper with this key in citations.bib. Throws std::logic_error if there is none.
Citation find_citation(std::string_view key);

}  // namespace pleat
