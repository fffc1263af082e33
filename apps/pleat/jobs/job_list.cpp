// Job lists: from options to a plan, and the report at the end.
#include "jobs/job_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "jobs/job_caller.h"
#include "options/options.h"
#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/jobs/job_runner.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/terminal/progress_terminal.h"
#include "process/standard_output.h"

namespace pleat::program {

namespace {

constexpr const char* kGroup = "Many jobs";

/// The inputs of the command line, then those of the list.
std::vector<JobInput> read_inputs(const JobListOptions& options, JobListCall& call, Ranks& ranks) {
    std::vector<JobInput> inputs;
    std::vector<std::string> files = call.inputs;
    const bool is_each = options.each || !call.joins_files;
    if (options.each) files = ensemble_files(files);
    if (!is_each && !files.empty())
        inputs.push_back({.name = job_name(files.front()), .files = files});
    for (const std::string& file : files)
        if (is_each) inputs.push_back({.name = job_name(file), .files = {file}});
    if (options.list.empty()) return inputs;
    std::vector<std::uint8_t> bytes;
    ranks.lead([&] { bytes = read_file(options.list, kMaxListBytes); });
    ranks.share(bytes);
    const std::vector<JobInput> listed =
        parse_job_list(options.list == "-" ? "stdin" : options.list,
                       {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                       call.input_column, call.joins_files, call.fields);
    inputs.insert(inputs.end(), listed.begin(), listed.end());
    return inputs;
}

/// Throws UsageError for options that contradict lists and sweeps.
void check_options(const CLI::App& parser, const JobListOptions& options, const RunOptions& run,
                   const JobListCall& call, const std::vector<JobInput>& inputs,
                   const JobPlan& plan) {
    const auto is_given = [&](const std::string& option) {
        for (const std::string& flag : {"--" + option, "--no-" + option})
            if (const CLI::Option* found = parser.get_option_no_throw(flag))
                if (found->count() > 0) return true;
        return false;
    };
    if (options.share && run.force)
        throw UsageError(
            "give either --share or --force: each process would replace what the others have "
            "finished");
    for (const std::string& option : plan.swept)
        if (is_given(option))
            throw UsageError(
                fmt::format("give either --{} or --sweep {}=..., not both", option, option));
    for (const std::string& option : call.per_input)
        if (inputs.size() > 1 && is_given(option))
            throw UsageError(
                fmt::format("--{}: expected one input, as it belongs to one, found {}; run that "
                            "input by itself, or make '{}' a column of --list",
                            option, inputs.size(), option));
    for (const JobInput& input : inputs)
        for (const std::string& file : input.files)
            if (file == "-")
                throw UsageError(
                    "expected files where there are several jobs, found '-'; save standard input "
                    "to a file, or run that job by itself");
}

/// Prints what each job needs, and all of them. A job whose input cannot be read ends it.
void print_estimates(const JobPlan& plan, const JobListCall& call, const RunOptions& run) {
    EstimateTable table(run, true);
    SharedInputs inputs(1);  // the jobs of an input are neighbours
    for (const Job& job : plan.jobs)
        print(table.add(job.folder.string(), call.estimate(job, inputs)));
    print(table.end());
    table.require_disk();
}

/// Throws InputError on a rank that found other jobs than the first one.
void check_same_plan(const JobPlan& plan, Ranks& ranks) {
    Sha256 hash;
    for (const Job& job : plan.jobs) {
        hash.field(job.folder.string());
        for (const std::string& file : job.files) hash.field(file);
        for (const auto& [option, value] : job.settings) hash.field(option).field(value);
    }
    const std::string own = hash.hex();
    std::string first = own;
    ranks.share(first);
    if (first != own)
        throw InputError(
            "expected the same inputs on all ranks, found others here than on the "
            "first rank; give files that all machines see");
}

}  // namespace

RunDirectory::Request run_request(const std::string& command, const RunOptions& run,
                                  const JobTask& task) {
    return {.path = run.output,
            .command = command,
            .arguments = task.arguments,
            .force = run.force,
            .shares_process = task.shares_process};
}

void check_alignment_job(const AlignmentOptions& options) {
    refuse_pipes({options.path}, "a job may be run again");
    check_readable({options.path});
}

void check_ensemble_job(const EnsembleSource& options) {
    refuse_ensemble_pipes(options.sources, "a job may be run again");
    check_ensemble_files(options.sources);
    check_readable({options.topology});
    check_readable(score_files(options));
}

void add_job_options(CLI::App& command, JobListOptions& options, bool joins_files) {
    std::vector<Field> fields = {
        {.name = "list",
         .target = &options.list,
         .help = fmt::format(
             "File with one input per line, in addition to those on the command line; - for "
             "standard input. A line is a path, or a name, a tab and {}. A first line of column "
             "names makes it a table whose further columns are options of each job",
             joins_files ? "the paths of one ensemble" : "a path"),
         .value_name = "FILE"}};
    if (joins_files)
        fields.push_back(
            {.name = "each",
             .target = &options.each,
             .help = "Every file is an input of its own, not all of them one ensemble"});
    add_fields(command, kGroup, fields);
    command
        .add_option("--sweep", options.sweeps,
                    "Run every input with each of these values: OPTION=VALUE,VALUE; for numbers "
                    "OPTION=FIRST:LAST:STEP; @FILE for a table of settings. Several sweeps are "
                    "combined")
        ->type_name("OPTION=VALUES")
        ->allow_extra_args(false)
        ->group(kGroup);
    add_fields(command, kGroup,
               {{.name = "share",
                 .target = &options.share,
                 .help = "Other processes with the same command work on the same jobs"},
                {.name = "jobs",
                 .target = &options.jobs,
                 .help = "Jobs in progress at the same time; fewer if memory is short",
                 .letter = 'j',
                 .min = 1,
                 .max = 1024,
                 .automatic = "one per thread; at most 8 with a GPU"}});
}

void run_job_list(const CLI::App& parser, const JobListOptions& options, const RunOptions& run,
                  JobListCall call, const JobCommand& command, Ranks& ranks) {
    if (options.share && ranks.size() > 1)
        throw UsageError(
            fmt::format("--share: the {} ranks of one call share its jobs already; omit it, or set "
                        "PLEAT_RANKS=off where every process is a call of its own",
                        ranks.size()));
    const std::vector<JobInput> inputs = read_inputs(options, call, ranks);
    if (inputs.empty())
        throw UsageError(
            fmt::format("give an input or a --list of inputs; see 'pleat help {}'", command.name));
    const JobPlan plan = plan_jobs(inputs, parse_sweeps(options.sweeps, call.fields));
    check_options(parser, options, run, call, inputs, plan);
    if (run.estimate) {
        ranks.require_one("--estimate");
        return print_estimates(plan, call, run);
    }
    check_same_plan(plan, ranks);
    const Context context = make_context(run, ranks);
    restrict_instruction_set_by_environment();
    JobCaller* const caller = ranks.caller();
    if (caller == nullptr) {
        install_interrupt_handler();
        return_freed_memory();
    }
    std::vector<Device> devices = context.lanes;
    if (devices.empty() && run.names_device()) devices = {context.device};
    JobListRequest request{
        .folder = run.output,
        .call = std::move(call.arguments),
        .devices = std::move(devices),
        .threads = resolve_threads(context),
        .workers = options.jobs,
        .force = run.force,
        .share = options.share,
        .comm = &ranks.comm(),
        .ranks_per_gpu = ranks_per_gpu(run, ranks),
        .verbose = run.verbose,
        .shown = caller != nullptr ? std::move(caller->shown) : ranks.progress(run.quiet),
        .shows_count = caller != nullptr};
    if (run.quiet)
        // If this cannot be printed, the other jobs go on; the table has the error, too.
        request.report_failure = [](const std::string& line) {
            std::fputs((printable(line) + '\n').c_str(), stderr);
        };
    JobListResult result = pleat::run_job_list(plan, command, std::move(request));
    if (caller != nullptr) {
        caller->result = std::move(result);
        return;
    }
    if (!ranks.is_leader()) return;
    const std::string table = (std::filesystem::path(run.output) / kJobTable).string();
    const std::string skipped =
        result.skipped > 0 ? fmt::format(" ({} skipped)", result.skipped) : "";
    const std::string counts = result.table.counts() + skipped;
    const std::size_t jobs = result.table.rows.size();
    const std::string count = fmt::format("{} job{}", jobs, jobs == 1 ? "" : "s");
    if (!run.quiet)
        print(fmt::format("{} in {:.1f} s: {}\nThe runs are in {}, a folder each; {} lists them\n",
                          count, result.seconds, counts, printable(run.output), kJobTable));
    if (result.exit_code != 0)
        throw Error(fmt::format("of {} {}; {} says why", count, counts, table), result.exit_code);
}

}  // namespace pleat::program
