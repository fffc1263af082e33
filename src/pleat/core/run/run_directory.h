// Run directory: the folder a command writes: results, manifest.json, log.txt, cite.bib.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/files/hash.h"

namespace pleat {

/// One run of one command in one folder. In a command:
///
///     RunDirectory run({.path = options.output, .command = "couplings", .comm = context.comm,
///                       .arguments = arguments, .force = options.force});
///     context.progress = run.watch(context.progress);
///     context.checkpoint = run.checkpoint();
///     run.input(alignment_path);
///     run.parameters(fields(parameters));
///     run.context(context);
///     ... compute ...
///     write_npy(run.output("scores.npy"), ...);
///     run.fact("columns", column_count);
///     run.finish();
///
/// If destroyed without finish() (an error, a cancel), it keeps the folder, marked "unfinished" in
/// the manifest, if there is a result or a checkpoint to resume from; otherwise it removes
/// everything that it made, including parent folders. While it exists no other process can use the
/// folder for a run.
///
/// A forced run works in a hidden folder inside. The earlier content stays until finish() replaces
/// it by the new run; the user's own files always stay. The same command, with or without `force`,
/// resumes a stopped forced run.
///
/// Of several ranks the first one has the folder. The others make the same object and may call the
/// same functions: they get the same paths, and all else does nothing.
class RunDirectory {
public:
    struct Request {
        std::filesystem::path path = {};
        std::string command = {};                 ///< subcommand, "couplings"
        Comm* comm = nullptr;                     ///< the ranks of the run; null: one
        std::vector<std::string> arguments = {};  ///< as given, without the program's name
        bool force = false;                       ///< replace a finished run; use a foreign folder
        /// Whether this process has other runs at the same time: CPU time and peak memory are then
        /// null in the manifest, as they are not those of this run.
        bool shares_process = false;
    };

    /// Creates the folder, or uses one that is empty or has an unfinished run of the same command,
    /// which the checkpoint then resumes. Throws UsageError with advice if it has other content and
    /// `force` is not set; OutputError if the folder cannot be made. A collective call.
    explicit RunDirectory(const Request& request);
    ~RunDirectory();
    RunDirectory(const RunDirectory&) = delete;
    RunDirectory& operator=(const RunDirectory&) = delete;

    /// The folder of the finished run.
    const std::filesystem::path& path() const { return path_; }
    /// Whether this is the rank that has the folder.
    bool is_here() const { return implementation_ != nullptr; }
    /// Whether the folder has an unfinished run that the same command resumes.
    static bool has_state(const std::filesystem::path& folder);
    /// For a folder whose finished run will be used: completes the end of the run if a kill
    /// interrupted it. Throws UsageError if another process works there.
    static void tidy(const std::filesystem::path& folder);
    /// Whether this run resumes an unfinished one.
    bool resumed() const;

    /// Path of a result file of this plain name, listed in the manifest if it exists at the end.
    /// Write it through OutputFile or a function that uses it, so that it is complete or absent.
    std::filesystem::path output(std::string_view name);
    /// The path of a folder for another run that is a stage of this one; the manifest lists it.
    std::filesystem::path stage_folder(const std::string& name);
    /// The folder whose content this forced run will replace; empty for other runs.
    std::filesystem::path replaced() const;
    /// Path of a file that exists while the run is unfinished. finish() removes it and the files
    /// that ranks keep next to it (rank_file()).
    std::filesystem::path checkpoint(std::string_view name = "checkpoint.npz");

    /// Throws OutputError if the disk has less room than `bytes`, the disk_bytes of the estimate; a
    /// resumed run has already written some. Every command calls it before its work.
    void require_space(std::int64_t bytes) const;

    /// Lists an input, once, under the path as given, and hashes it in the background; finish()
    /// throws InputError if it could not be read.
    void input(const std::filesystem::path& path);
    /// Lists an input that was hashed while it was read (a pipe).
    void input(std::string_view name, const FileHash& hash);
    /// Lists the files that make up the input, in order and with repeats. Each is also an input.
    void sources(const std::vector<std::string>& paths);
    void parameters(const std::vector<Field>& fields);
    /// Records device, instruction set, threads, ranks and seed.
    void context(const Context& context);
    /// Records a number or word of the result under "results".
    void fact(std::string_view name, double value);
    void fact(std::string_view name, std::int64_t value);
    void fact(std::string_view name, std::string_view value);
    /// Cites the paper with this key (citations.bib), once.
    void cite(std::string_view key);
    void cite(const std::vector<std::string_view>& keys) {
        for (const std::string_view key : keys) cite(key);
    }

    /// Starts a stage with this name; the manifest lists its time. Stages of a watched progress
    /// start automatically.
    void stage(std::string_view name);
    /// A progress that passes everything on to `shown` (may be null; not owned) and records stages,
    /// their times and messages. The first message says that a run is resumed. Valid while this
    /// object exists; call it once. Other ranks than the first get `shown`.
    Progress* watch(Progress* shown);

    /// Writes cite.bib and the manifest with status "finished", and removes the checkpoints.
    void finish();

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;  ///< null on other ranks than the first
    std::filesystem::path path_, path_in_use_;        ///< the second: of a forced run a hidden one
};

}  // namespace pleat
