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
#include "pleat/core/hash.h"

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
    /// command (which it continues through its checkpoint). UsageError with advice when it holds
    /// something else, unless forced: then the earlier run's own files are removed and foreign ones
    /// are left alone. OutputError when the folder cannot be made.
    explicit RunDirectory(const Request& request);
    ~RunDirectory();
    RunDirectory(const RunDirectory&) = delete;
    RunDirectory& operator=(const RunDirectory&) = delete;

    const std::filesystem::path& path() const;
    /// True when an unfinished run was found here.
    bool resumed() const;

    /// Path of a result file of this plain name, listed in the manifest if it exists at the end.
    /// Write it through OutputFile (or what stands on it), so that it is whole or absent.
    std::filesystem::path output(std::string_view name);
    /// Path of a file that lives while the run is unfinished and is removed by finish(), with the
    /// files that ranks keep beside it (rank_file()).
    std::filesystem::path checkpoint(std::string_view name = "checkpoint.npz");

    /// Lists an input under the path as given, once, and hashes it behind the work that goes on; finish()
    /// throws InputError when it could not be read.
    void input(const std::filesystem::path& path);
    /// Lists an input that was hashed while it was read (stdin).
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
    /// their times and messages here. Lives as long as this object; call it once.
    Progress& watch(Progress* shown);

    /// Writes cite.bib and the manifest with status "finished", and removes the checkpoints.
    void finish();

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace pleat
