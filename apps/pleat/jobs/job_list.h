// Job lists: a command that makes one run or a list of them, and the runs that are stages of
// another.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "help/help.h"
#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "options/options.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/jobs/job_command.h"
#include "pleat/core/jobs/job_table.h"
#include "pleat/core/run/manifest.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/core/terminal/progress_terminal.h"
#include "process/process.h"

namespace pleat::program {

struct JobListOptions {
    std::string list;                 ///< file with an input per line; empty: none
    std::vector<std::string> sweeps;  ///< see parse_sweeps()
    bool each = false;                ///< every file is a job
    bool share = false;               ///< other processes work on the same jobs
    std::optional<std::int64_t> jobs;

    bool is_used() const { return !list.empty() || !sweeps.empty() || each || share; }
};
/// The options of the run, its estimate and of lists. `uses_seed`: see add_run_options();
/// `joins_files`: whether several files on the command line are one input, so that --each exists.
void add_job_options(CLI::App& command, RunOptions& run, JobListOptions& options, bool uses_seed,
                     bool joins_files);

/// The help text on jobs, below the examples.
inline constexpr const char* kJobsHelp =
    "\n\nSeveral inputs, or settings of --sweep, are jobs: each gets its own folder\n"
    "FOLDER/NAME or FOLDER/NAME/OPTION=VALUE, where NAME is the name of the file without\n"
    "extensions; FOLDER/jobs.tsv lists them with their main results. The same command skips\n"
    "finished jobs. A failed job does not stop the others; the exit code is then that of the\n"
    "first failed one. 'pleat report FOLDER' draws the table.";

/// A started run: the context of each rank, and the run folder, which the first rank writes.
struct OpenRun {
    /// `fields`: options that affect results. `checkpoint`: the file's name; empty: none. `ranks`:
    /// null for a command of one rank. A collective call.
    OpenRun(const std::string& command, const RunOptions& options, const std::vector<Field>& fields,
            const JobTask& task, Ranks* ranks, std::string_view checkpoint = {});
    Context context;
    RunDirectory folder;
};

/// Sets the device of a computation, as a job or on all ranks; returns why in one line. `demand`:
/// not set: it has nothing for a GPU, for the reason `without`. A collective call.
std::string choose_device(const RunOptions& options, const JobTask& task,
                          const std::optional<GpuDemand>& demand,
                          const std::function<Estimate(const Context&)>& estimate,
                          const std::string& without, Ranks& ranks, Context& context);

/// Throw InputError if a file of a job is missing or cannot be read twice.
void check_alignment_job(const AlignmentOptions& options);
void check_ensemble_job(const EnsembleSource& options);

/// A command with these options: a member `run`, `jobs`, and `ensemble` or `alignment`.
template <class Options>
struct JobFunctions {
    std::string command;  ///< "couplings"
    std::string description, examples;
    std::string wanted;             ///< "a STRUCTURE or a --list of structures"
    std::string input_column;       ///< of a list: "alignment"
    std::string input_option = {};  ///< whose file needs no other input: "data"; empty: none
    std::string input_flag = {};    ///< in front of the files on the command line; empty: none
    bool joins_files = false;
    bool uses_seed = false;
    std::vector<std::string> numbers;         ///< main results in the manifest
    std::vector<std::string> per_input = {};  ///< options that belong to one input
    /// Name of the work that several ranks cannot share ("couplings of one alignment"); null if
    /// they can.
    const char* single_rank_work = nullptr;
    void (*add_options)(CLI::App&, Options&);
    std::vector<Field> (*fields)(Options&);
    /// Called first, to check or complete the options of a call; may be null.
    void (*begin)(Options&, Ranks&) = nullptr;
    /// Returns whether several inputs of a call are one run; null: as `joins_files` says.
    bool (*joins)(const Options&) = nullptr;
    /// Returns whether the inputs are one sample, which --each cannot divide; null: never.
    bool (*is_one_sample)(const Options&) = nullptr;
    /// Sets defaults that depend on the input, before a finished run is compared; or null.
    void (*prepare)(Options&) = nullptr;
    void (*check)(const Options&);  ///< options together, and that files exist
    /// Returns the input files; null: the files of the ensemble or the alignment.
    std::vector<std::string> (*input_files)(const Options&) = nullptr;
    /// Runs one job; returns the text that a call for this job alone would print.
    std::string (*run)(Options&, const JobTask&, Ranks&);
    /// Returns text below the counts of a list; null: none.
    std::string (*summary)(const JobTable&) = nullptr;
    /// Estimates memory and time of a run; `inputs` keeps data that the next job can reuse.
    RunEstimate (*estimate)(Options&, SharedInputs& inputs);
};

template <class Options>
auto& inputs_of(Options& options) {
    if constexpr (requires { options.ensemble.sources; })
        return options.ensemble.sources;
    else
        return options.alignment.paths;
}
template <class Options>
void set_input_files(Options& options, const std::vector<std::string>& files) {
    inputs_of(options) = files;
    if constexpr (!requires { options.ensemble.sources; })
        options.alignment.path = files.empty() ? std::string() : files.front();
}

/// The value of the field with this name; empty without one.
std::string value_of(const std::vector<Field>& fields, const std::string& name);

/// A job of a command: its own copy of the options.
template <class Options>
class CommandJob final : public JobRun {
public:
    CommandJob(const Options& options, const JobFunctions<Options>& functions, Ranks& ranks,
               const Job& job, const std::filesystem::path& folder)
        : own_(options), functions_(functions), ranks_(ranks), files_(job.files) {
        own_.run.output = folder.string();
        set_input_files(own_, job.files);
        std::vector<Field> fields = settable_fields();
        apply_settings(job.settings, fields);
    }

    /// The options that lists and sweeps may set.
    std::vector<Field> settable_fields() {
        std::vector<Field> fields = functions_.fields(own_);
        if (functions_.uses_seed) fields.push_back(seed_field(own_.run));
        return fields;
    }
    std::vector<Field> options() override {
        if (functions_.prepare) functions_.prepare(own_);
        return functions_.fields(own_);
    }
    std::optional<std::uint64_t> seed() const override {
        return functions_.uses_seed ? std::optional(static_cast<std::uint64_t>(own_.run.seed))
                                    : std::nullopt;
    }
    void check() override { functions_.check(own_); }
    std::vector<std::string> input_files() const override {
        if (functions_.input_files) return functions_.input_files(own_);
        if constexpr (requires { own_.ensemble.sources; })
            return files_of(own_.ensemble);
        else
            return {own_.alignment.path};
    }
    std::vector<std::string> call() override {
        Options defaults;
        RunOptions run = own_.run;
        run.threads.reset();  // those of all jobs
        std::vector<std::string> inputs = files_;
        if (!functions_.input_flag.empty()) inputs.insert(inputs.begin(), functions_.input_flag);
        return call_words(functions_.command, inputs, functions_.fields(own_),
                          functions_.fields(defaults), run, own_.run.output);
    }
    void run(const JobTask& task) override { functions_.run(own_, task, ranks_); }
    RunEstimate estimate(SharedInputs& inputs) {
        if (functions_.prepare) functions_.prepare(own_);
        return functions_.estimate(own_, inputs);
    }

private:
    Options own_;
    const JobFunctions<Options>& functions_;
    Ranks& ranks_;
    const std::vector<std::string> files_;
};

/// Arguments of run_job_list() besides the command.
struct JobListCall {
    std::string input_column, input_option;
    std::string input_option_value;  ///< the file of `input_option`; empty: none
    bool joins_files = false;
    std::vector<std::string> inputs;     ///< on the command line
    std::vector<std::string> arguments;  ///< the words behind `pleat`
    std::vector<std::string> per_input;
    std::vector<Field> fields;  ///< of options that lists and sweeps may set, with scratch values
    std::function<RunEstimate(const Job&, SharedInputs&)> estimate;
    std::string (*summary)(const JobTable&) = nullptr;  ///< see JobFunctions
};

/// Plans and runs the jobs that the command line asks for, and prints how many ended how. Throws
/// what pleat::run_job_list() throws, and at the end the error of the first job that failed.
void run_job_list(const CLI::App& parser, const JobListOptions& options, const RunOptions& run,
                  JobListCall call, const JobCommand& command, Ranks& ranks);

/// Runs the jobs of a call, or a single run of its inputs on all ranks, and prints the results or
/// the estimate.
template <class Options>
void run_jobs_or_one(const CLI::App& parser, Options& options,
                     const std::vector<std::string>& arguments,
                     const JobFunctions<Options>& functions, Ranks& ranks) {
    if (functions.begin) functions.begin(options, ranks);
    const std::vector<std::string> inputs = inputs_of(options);
    const bool joins = functions.joins ? functions.joins(options) : functions.joins_files;
    if (options.jobs.each && functions.is_one_sample && functions.is_one_sample(options))
        throw UsageError("leave --each out: --list takes curves, one per line below a line 'data'");
    if (options.jobs.is_used() || ranks.caller() != nullptr || (inputs.size() > 1 && !joins)) {
        const auto job_in = [&](const Job& job, const std::filesystem::path& folder) {
            return std::make_unique<CommandJob<Options>>(options, functions, ranks.alone(), job,
                                                         folder);
        };
        const auto scratch = job_in({}, {});
        return run_job_list(
            parser, options.jobs, options.run,
            {.input_column = functions.input_column,
             .input_option = functions.input_option,
             .input_option_value = value_of(functions.fields(options), functions.input_option),
             .joins_files = functions.joins_files,
             .inputs = inputs,
             .arguments = arguments,
             .per_input = functions.per_input,
             .fields = scratch->settable_fields(),
             .estimate =
                 [&](const Job& job, SharedInputs& read) {
                     const auto own = job_in(job, {});
                     own->check();
                     return own->estimate(read);
                 },
             .summary = functions.summary},
            {.name = functions.command, .numbers = functions.numbers, .make = job_in}, ranks);
    }
    const std::string alone = value_of(functions.fields(options), functions.input_option);
    if (inputs.empty() && alone.empty())
        throw UsageError(
            fmt::format("give {}; see 'pleat help {}'", functions.wanted, functions.command));
    if (functions.single_rank_work != nullptr) ranks.require_one_rank(functions.single_rank_work);
    restrict_instruction_set_by_environment();
    install_interrupt_handler();
    set_input_files(options, inputs);
    if (options.run.estimate) {
        SharedInputs none(0);
        return print_estimate(inputs.empty() ? alone : inputs.front(),
                              functions.estimate(options, none), options.run, ranks);
    }
    const std::unique_ptr<Progress> shown = ranks.progress(options.run.quiet);
    const std::string text =
        functions.run(options, {.arguments = arguments, .shown = shown.get()}, ranks);
    if (!options.run.quiet && !text.empty()) print(text);
}

/// The command; `functions` must outlive the program's parser.
template <class Options>
Command job_command(CLI::App& program, Ranks& ranks, const JobFunctions<Options>& functions) {
    CLI::App* parser = add_command(program, functions.command, functions.description,
                                   functions.examples + kJobsHelp);
    const auto options = std::make_shared<Options>();
    functions.add_options(*parser, *options);
    return {.parser = parser,
            .run =
                [=, &functions, &ranks](const std::vector<std::string>& arguments) {
                    run_jobs_or_one(*parser, *options, arguments, functions, ranks);
                },
            .knows_ranks = true};
}

/// One stage of a run: its command, options and inputs.
struct Stage {
    std::string name;     ///< name of its folder
    std::string command;  ///< "couplings"
    std::vector<Field> fields;
    std::vector<Field> defaults;         ///< the same options with the defaults of the command
    std::vector<std::string> arguments;  ///< the command's arguments without a flag
    std::vector<std::filesystem::path> inputs = {};  ///< in the order of its manifest
};

/// Runs other commands as stages of a run, in subfolders of its folder. Reuses a stage's finished
/// run if command, version, options and inputs are the same. As long as an unfinished run has a
/// stage, its folder is kept, so that the same command resumes it. References must outlive this
/// object.
class RunStages {
public:
    /// `task`: the run as a job.
    RunStages(const RunOptions& options, const JobTask& task, RunDirectory& run)
        : options_(options), task_(task), run_(run) {}

    struct StageRun {
        std::filesystem::path folder;
        bool is_kept = false;  ///< it has a finished run of the same command, options and inputs
    };
    /// Runs the stage, or reuses its finished run, and reports to `context` which. Adds the stage's
    /// citations to the run. `work` computes into the folder that make() sets in `own`, the options
    /// of the stage; it replaces a run of other options there.
    StageRun make(const Stage& stage, RunOptions& own, const Context& context,
                  const std::function<void(const JobTask& task)>& work);
    JobTask task_of(const Stage& stage, const Context& context) const;

private:
    /// Calls `work`, or copies the run of the same stage from another job of the list; returns
    /// whether it worked.
    bool run_or_copy_stage(const Stage& stage, const std::filesystem::path& folder,
                           const std::function<void()>& work);
    /// The finished run in the stage's folder, which a forced run copies from the one that it
    /// replaces.
    std::optional<FinishedRun> find(const Stage& stage, const std::filesystem::path& folder) const;
    /// Adds the stage's citations to the run; if it was reused, repeats its notes to `kept`.
    void add_notes_and_citations(const std::filesystem::path& folder, const Context* kept);

    const RunOptions& options_;
    const JobTask& task_;
    RunDirectory& run_;
};

}  // namespace pleat::program
