// Job lists: the options of commands that take many inputs and settings, and running them.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "options/run_estimate.h"
#include "pleat/core/error.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/jobs/job_command.h"
#include "pleat/core/terminal/progress_terminal.h"
#include "process/ranks.h"
#include "process/standard_output.h"

namespace pleat::program {

struct JobListOptions {
    std::string list;                 ///< file with an input per line; empty: none
    std::vector<std::string> sweeps;  ///< see parse_sweeps()
    bool each = false;                ///< every file is a job
    bool share = false;               ///< other processes work on the same jobs
    std::optional<std::int64_t> jobs;

    bool is_used() const { return !list.empty() || !sweeps.empty() || each || share; }
};
/// `joins_files`: whether several files on the command line are one input, so that --each exists.
void add_job_options(CLI::App& command, JobListOptions& options, bool joins_files);

/// What help says of jobs, below the examples.
inline constexpr const char* kJobsHelp =
    "\n\nSeveral inputs, or settings of --sweep, are jobs: each gets its own folder\n"
    "FOLDER/NAME or FOLDER/NAME/OPTION=VALUE, where NAME is the name of the file without\n"
    "extensions; FOLDER/jobs.tsv lists them with their main results. The same command skips\n"
    "finished jobs. A failed job does not stop the others; the exit code is then that of the\n"
    "first failed one. 'pleat report FOLDER' draws the table.";

/// The folder of a run of `command`.
RunDirectory::Request run_request(const std::string& command, const RunOptions& run,
                                  const JobTask& task);

/// Parts of JobFunctions for commands that read an alignment.
template <class Options>
void set_input(Options& options, const std::vector<std::string>& files) {
    options.alignment.path = files.empty() ? std::string() : files.front();
    options.alignment.paths = files;
}
template <class Options>
std::vector<std::string> alignment_files(const Options& options) {
    return {options.alignment.path};
}
void check_alignment_job(const AlignmentOptions& options);

/// Parts of JobFunctions for commands that read an ensemble.
template <class Options>
void set_ensemble(Options& options, const std::vector<std::string>& files) {
    options.ensemble.sources = files;
}
template <class Options>
std::vector<std::string> files_of_ensemble(const Options& options) {
    return files_of(options.ensemble);
}
/// Throws InputError if a file is missing or cannot be read twice.
void check_ensemble_job(const EnsembleSource& options);

/// How a command with these options runs one job.
template <class Options>
struct JobFunctions {
    std::string command;          ///< "couplings"
    std::string input_column;     ///< of a list: "alignment"
    std::string input_flag = {};  ///< in front of the files on the command line; empty: none
    bool joins_files = false;
    bool uses_seed = false;
    std::vector<std::string> numbers;         ///< main results in the manifest
    std::vector<std::string> per_input = {};  ///< options that belong to one input
    /// What several ranks cannot share: "couplings of one alignment"; null: they can.
    const char* of_one_rank = nullptr;
    std::function<std::vector<Field>(Options&)> fields;
    std::function<void(Options&, const std::vector<std::string>& files)> set_input;
    /// Sets defaults that depend on the input before it is compared with a finished run; or empty.
    std::function<void(Options&)> prepare = {};
    std::function<void(const Options&)> check;  ///< options together, and that files exist
    std::function<std::vector<std::string>(const Options&)> input_files;
    /// Returns what a call for this run alone prints.
    std::function<std::string(Options&, const JobTask&)> run;
    /// What the run needs; `inputs` keeps what was read for the next job.
    std::function<RunEstimate(Options&, SharedInputs& inputs)> estimate;
};

/// A job of a command: its own copy of the options.
template <class Options>
class CommandJob final : public JobRun {
public:
    CommandJob(const Options& options, const JobFunctions<Options>& functions, const Job& job,
               const std::filesystem::path& folder)
        : own_(options), functions_(functions), files_(job.files) {
        own_.run.output = folder.string();
        functions_.set_input(own_, job.files);
        std::vector<Field> fields = settable();
        apply_settings(job.settings, fields);
    }

    /// The options that lists and sweeps may set.
    std::vector<Field> settable() {
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
    std::vector<std::string> input_files() const override { return functions_.input_files(own_); }
    std::vector<std::string> call() override {
        Options usual;
        RunOptions run = own_.run;
        run.threads.reset();  // those of all jobs
        std::vector<std::string> inputs = files_;
        if (!functions_.input_flag.empty()) inputs.insert(inputs.begin(), functions_.input_flag);
        return call_words(functions_.command, inputs, functions_.fields(own_),
                          functions_.fields(usual), run, own_.run.output);
    }
    void run(const JobTask& task) override { functions_.run(own_, task); }
    RunEstimate estimate(SharedInputs& inputs) {
        if (functions_.prepare) functions_.prepare(own_);
        return functions_.estimate(own_, inputs);
    }

private:
    Options own_;
    const JobFunctions<Options>& functions_;
    const std::vector<std::string> files_;
};

/// What run_job_list() needs besides the command.
struct JobListCall {
    std::string input_column;
    bool joins_files = false;
    std::vector<std::string> inputs;     ///< on the command line
    std::vector<std::string> arguments;  ///< the words behind `pleat`
    std::vector<std::string> per_input;
    std::vector<Field> fields;  ///< of options that lists and sweeps may set, with scratch values
    std::function<RunEstimate(const Job&, SharedInputs&)> estimate;
};

/// Plans and runs the jobs that the command line asks for, and prints how many ended how. Throws
/// what pleat::run_job_list() throws, and at the end the error of the first job that failed.
void run_job_list(const CLI::App& parser, const JobListOptions& options, const RunOptions& run,
                  JobListCall call, const JobCommand& command, Ranks& ranks);

/// The same for a command's options and functions, which must outlive the call.
template <class Options>
void run_job_list(const CLI::App& parser, const Options& options,
                  const std::vector<std::string>& inputs, const std::vector<std::string>& arguments,
                  const JobFunctions<Options>& functions, Ranks& ranks) {
    const auto make = [&](const Job& job, const std::filesystem::path& folder) {
        return std::make_unique<CommandJob<Options>>(options, functions, job, folder);
    };
    CommandJob<Options> scratch(options, functions, {}, {});
    run_job_list(parser, options.jobs, options.run,
                 {.input_column = functions.input_column,
                  .joins_files = functions.joins_files,
                  .inputs = inputs,
                  .arguments = arguments,
                  .per_input = functions.per_input,
                  .fields = scratch.settable(),
                  .estimate =
                      [&](const Job& job, SharedInputs& read) {
                          CommandJob<Options> own(options, functions, job, {});
                          own.check();
                          return own.estimate(read);
                      }},
                 {.name = functions.command, .numbers = functions.numbers, .make = make}, ranks);
}

/// Prints what a run of these options needs.
template <class Options>
void print_estimate(Options& options, const std::string& name,
                    const JobFunctions<Options>& functions, const Ranks& ranks) {
    SharedInputs none(0);
    print_estimate(name, functions.estimate(options, none), options.run, ranks);
}

/// Runs the jobs that a call asks for, or one run of its inputs on all ranks, and prints what that
/// run found or its estimate. `functions` gives those for these ranks; `joins_inputs`: whether
/// several inputs are one run; `wanted`: what to give for an input, "a STRUCTURE or a --list of
/// structures".
template <class Options>
void run_jobs_or_one(const CLI::App& parser, Options& options,
                     const std::vector<std::string>& inputs,
                     const std::vector<std::string>& arguments,
                     JobFunctions<Options> (*functions)(Ranks&), bool joins_inputs,
                     const char* wanted, Ranks& ranks) {
    if (options.jobs.is_used() || ranks.caller() != nullptr || (inputs.size() > 1 && !joins_inputs))
        return run_job_list(parser, options, inputs, arguments, functions(ranks.alone()), ranks);
    const JobFunctions<Options> one = functions(ranks);
    if (inputs.empty())
        throw UsageError(fmt::format("give {}; see 'pleat help {}'", wanted, one.command));
    if (one.of_one_rank != nullptr) ranks.require_one(one.of_one_rank);
    restrict_instruction_set_by_environment();
    install_interrupt_handler();
    one.set_input(options, inputs);
    if (options.run.estimate) return print_estimate(options, inputs.front(), one, ranks);
    const std::unique_ptr<Progress> shown = ranks.progress(options.run.quiet);
    const std::string text = one.run(options, {.arguments = arguments, .shown = shown.get()});
    if (!options.run.quiet && !text.empty()) print(text);
}

}  // namespace pleat::program
