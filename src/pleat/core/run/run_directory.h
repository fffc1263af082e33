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

/// A work that a result rests on.
struct Citation {
    std::string key;     ///< BibTeX key
    std::string text;    ///< one line for people
    std::string bibtex;  ///< whole entry for cite.bib
};

/// One run of one command in one folder. In a command:
///
///     RunDirectory run({.path = options.output, .command = "couplings",
///                       .arguments = arguments, .force = options.force});
///     context.progress = &run.watch(context.progress);
///     context.checkpoint = run.checkpoint();
///     run.input(alignment_path);
///     run.parameters(fields(parameters));
///     run.context(context);
///     ... compute ...
///     write_npy(run.output("scores.npy"), ...);
///     run.fact("columns", column_count);
///     run.finish();
///
/// Destroyed without finish() (an error, a cancel), it keeps the folder when there is a result or a
/// checkpoint to go on from, marked "unfinished" in the manifest; otherwise everything that it made
/// is gone, parent folders included. While it lives no other process can use the folder for a run.
///
/// A forced run works in a hidden folder within. What the folder held before stands whole until
/// finish() puts the new run there; the user's own files stay. A forced run that was stopped is
/// resumed by the same command, with or without `force`.
class RunDirectory {
public:
    struct Request {
        std::filesystem::path path = {};
        std::string command = {};                 ///< subcommand, "couplings"
        std::vector<std::string> arguments = {};  ///< as given, without the program's name
        bool force = false;                       ///< replace a finished run; use a foreign folder
        /// Other runs work in this process at the same time: its CPU time and peak memory are no
        /// figures of this run, and null in the manifest.
        bool shares_process = false;
    };

    /// Creates the folder, or takes one that is empty or holds an unfinished run of the same
    /// command (which it continues through its checkpoint). Throws UsageError with advice if it
    /// holds something else and `force` is not set; OutputError if the folder cannot be made.
    explicit RunDirectory(const Request& request);
    ~RunDirectory();
    RunDirectory(const RunDirectory&) = delete;
    RunDirectory& operator=(const RunDirectory&) = delete;

    /// The folder where the run is once it has finished.
    const std::filesystem::path& path() const;
    /// Whether the folder has an unfinished run that the same command resumes.
    static bool has_state(const std::filesystem::path& folder);
    /// For a folder whose finished run is to be used as it is: does what a kill kept the run from
    /// doing in the end. Throws UsageError if another process works there.
    static void tidy(const std::filesystem::path& folder);
    /// True when an unfinished run was found here.
    bool resumed() const;

    /// Path of a result file of this plain name, listed in the manifest if it exists at the end.
    /// Write it through OutputFile (or what stands on it), so that it is whole or absent.
    std::filesystem::path output(std::string_view name);
    /// Path of a folder for a run of its own that belongs to this one, listed in the manifest.
    std::filesystem::path stage_folder(const std::string& name);
    /// The folder whose content this forced run will replace; empty for other runs.
    std::filesystem::path replaced() const;
    /// Path of a file that lives while the run is unfinished and is removed by finish(), with the
    /// files that ranks keep beside it (rank_file()).
    std::filesystem::path checkpoint(std::string_view name = "checkpoint.npz");

    /// Lists an input under the path as given, once, and hashes it behind the work that goes on;
    /// finish() throws InputError when it could not be read.
    void input(const std::filesystem::path& path);
    /// Lists an input that was hashed while it was read (a pipe).
    void input(std::string_view name, const FileHash& hash);
    /// Lists the files whose contents follow one another in what was computed, repeats among them.
    /// Each is an input too.
    void sources(const std::vector<std::string>& paths);
    void parameters(const std::vector<Field>& fields);
    /// Records device, instruction set, threads, ranks and seed.
    void context(const Context& context);
    /// A number or word that sums up the result, under "results".
    void fact(std::string_view name, double value);
    void fact(std::string_view name, std::int64_t value);
    void fact(std::string_view name, std::string_view value);
    void cite(const Citation& citation);

    /// A line in log.txt.
    void log(std::string_view line);
    /// Times what follows under this name. The stages of a watched progress time themselves.
    void stage(std::string_view name);
    /// A progress that passes everything on to `shown` (may be null; not owned) and records stages,
    /// their times and messages here. The first message says that a run is resumed. Lives as long
    /// as this object; call it once.
    Progress& watch(Progress* shown);

    /// Writes cite.bib and the manifest with status "finished", and removes the checkpoints.
    void finish();

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace pleat
