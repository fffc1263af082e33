// Job lists: from options or a library's call to a plan, the report at the end, and runs that are
// kept.
#include "jobs/job_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "commands.h"
#include "help/help.h"
#include "jobs/job_caller.h"
#include "options/ensemble_options.h"
#include "options/options.h"
#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/jobs/job_command.h"
#include "pleat/core/jobs/job_runner.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/terminal/progress_terminal.h"
#include "process/process.h"

namespace pleat::program {

namespace {

constexpr const char* kGroup = "Many jobs";

/// Returns the inputs of the command line, followed by those of the list.
std::vector<JobInput> read_inputs(const JobListOptions& options, JobListCall& call, Ranks& ranks) {
    std::vector<JobInput> inputs;
    std::vector<std::string> files = call.inputs;
    const bool is_each = options.each || !call.joins_files;
    if (options.each) files = ensemble_files(files);
    if (!is_each && !files.empty())
        inputs.push_back({.name = job_name(files.front()), .files = files});
    for (const std::string& file : files)
        if (is_each) inputs.push_back({.name = job_name(file), .files = {file}});
    if (options.list.empty() && inputs.empty() && !call.input_option_value.empty())
        inputs.push_back({.name = job_name(call.input_option_value), .files = {}});
    if (options.list.empty()) return inputs;
    std::vector<std::uint8_t> bytes;
    if (ranks.is_leader()) bytes = read_file(options.list, kMaxListBytes);
    ranks.share(bytes);
    const std::vector<JobInput> listed =
        parse_job_list(options.list == "-" ? "stdin" : options.list,
                       {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                       call.input_column, call.joins_files, call.fields, call.input_option);
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
    for (const std::string& option : plan.swept_options)
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

/// Prints the estimated time, memory and disk space of each job and of all. Throws for a job whose
/// input cannot be read, and OutputError if the files would not fit on the disk.
void print_estimates(const JobPlan& plan, const JobListCall& call, const RunOptions& run) {
    EstimateTable table(run, true);
    SharedInputs inputs(1);  // the jobs of an input are neighbours
    for (const Job& job : plan.jobs)
        print(table.add(job.folder.string(), call.estimate(job, inputs)));
    print(table.end());
    table.require_disk();
}

/// Throws InputError on a rank whose jobs differ from those of the first rank.
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

/// Copies the folder of a finished run, using hard links to its files if possible.
void copy_run(const std::filesystem::path& from, const std::filesystem::path& to) {
    namespace fs = std::filesystem;
    const fs::path partial = to.parent_path() / ".pleat-stage";
    const auto copy = [&](fs::copy_options how, std::error_code& error) {
        std::error_code ignored;
        fs::remove_all(partial, ignored);
        fs::copy(from, partial, fs::copy_options::recursive | how, error);
    };
    std::error_code error;
    copy(fs::copy_options::create_hard_links, error);
    if (error) copy(fs::copy_options::copy_symlinks, error);
    if (!error) fs::rename(partial, to, error);
    if (error)
        throw OutputError(fmt::format("{}: cannot be copied to {}: {}", from.string(), to.string(),
                                      error.message()));
}

/// Formats a flag with this value; some flags are named --no-NAME.
std::string flag_word(const CLI::App& parser, const std::string& name, bool value) {
    const bool is_negated = parser.get_option_no_throw("--" + name) == nullptr &&
                            parser.get_option_no_throw("--no-" + name) != nullptr;
    if (value == is_negated && (is_negated || parser.get_option_no_throw("--" + name) != nullptr))
        return {};
    return (is_negated ? "--no-" : "--") + name;
}

std::vector<std::string> words_of(const JobCall& call, const CLI::App& parser) {
    std::vector<std::string> words = {call.command};
    // A name that begins with a dash would be an option.
    const auto path = [](const std::string& file) {
        return file.starts_with('-') ? "./" + file : file;
    };
    const bool has_flag = parser.get_option_no_throw("--ensemble") != nullptr;
    if (has_flag && !call.inputs.empty()) words.emplace_back("--ensemble");
    for (const std::string& input : call.inputs) words.push_back(path(input));
    const bool joins_files = parser.get_option_no_throw("--each") != nullptr;
    if (joins_files && !call.inputs.empty()) words.emplace_back("--each");
    for (const auto& [name, value] : call.options) {
        if (const bool* flag = std::get_if<bool>(&value)) {
            const std::string word = flag_word(parser, name, *flag);
            if (!word.empty()) words.push_back(word);
        } else {
            words.push_back(fmt::format("--{}={}", name, std::get<std::string>(value)));
        }
    }
    return words;
}

}  // namespace

std::string value_of(const std::vector<Field>& fields, const std::string& name) {
    for (const Field& field : fields)
        if (field.name == name) return field.text();
    return {};
}

OpenRun::OpenRun(const std::string& command, const RunOptions& options,
                 const std::vector<Field>& fields, const JobTask& task, Ranks* ranks,
                 std::string_view checkpoint)
    : context(ranks != nullptr ? make_context(options, *ranks) : make_context(options)),
      folder({.path = options.output,
              .command = command,
              .comm = context.comm,
              .arguments = task.arguments,
              .force = options.force,
              .shares_process = task.shares_process}) {
    folder.parameters(fields);
    if (!checkpoint.empty()) context.checkpoint = folder.checkpoint(checkpoint);
    context.progress = folder.watch(task.shown);
    if (ranks != nullptr && !ranks->advice().empty()) context.message(ranks->advice());
}

std::string choose_device(const RunOptions& options, const JobTask& task,
                          const std::optional<GpuDemand>& demand,
                          const std::function<Estimate(const Context&)>& estimate,
                          const std::string& without, Ranks& ranks, Context& context) {
    if (task.choose_device)
        return task.choose_device(
            {.gpu_bytes = demand ? std::optional(demand->bytes) : std::nullopt,
             .estimate = estimate},
            context);
    if (!demand && !options.names_device()) {
        context.device = {Device::Kind::cpu, 0};
        return without;
    }
    return choose_device(options, demand.value_or(GpuDemand{}), ranks, context);
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

void add_job_options(CLI::App& command, RunOptions& run, JobListOptions& options, bool uses_seed,
                     bool joins_files) {
    add_run_options(command, run, uses_seed);
    add_estimate_option(command, run);
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
             .help = "Treat every file as an input of its own, instead of all files as one "
                     "ensemble"});
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
                 .help = "Share the jobs with other processes that run the same command"},
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
        ranks.require_one_rank("--estimate");
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
        .shows_job_count = caller != nullptr};
    if (run.quiet)
        // If printing fails, the other jobs continue; the job table records the error.
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
    if (!run.quiet && call.summary != nullptr) print(call.summary(result.table));
    if (result.exit_code != 0)
        throw Error(fmt::format("of {} {}; {} says why", count, counts, table), result.exit_code);
}

JobTask RunStages::task_of(const Stage& stage, const Context& context) const {
    return {.arguments = call_words(stage.command, stage.arguments, stage.fields, stage.defaults,
                                    options_, (run_.path() / stage.name).string()),
            .shown = context.progress,
            .shares_process = task_.shares_process,
            .choose_device = task_.choose_device};
}

std::optional<FinishedRun> RunStages::find(const Stage& stage,
                                           const std::filesystem::path& folder) const {
    const auto look = [&](const std::filesystem::path& in) {
        return find_finished_run(in, stage.command, stage.fields, stage.inputs);
    };
    const std::filesystem::path earlier = run_.replaced() / stage.name;
    std::error_code none;
    if (run_.replaced().empty() || std::filesystem::exists(folder, none)) return look(folder);
    std::optional<FinishedRun> run = look(earlier);
    if (run && run->difference.empty()) copy_run(earlier, folder);
    return run;
}

bool RunStages::run_or_copy_stage(const Stage& stage, const std::filesystem::path& folder,
                                  const std::function<void()>& work) {
    std::string key = stage.command;
    for (const Field& field : stage.fields) key += '\n' + field.text();
    for (const std::filesystem::path& input : stage.inputs) key += '\n' + input.string();
    bool is_own = false;
    const auto first = shared_input<std::filesystem::path>(task_.inputs, key, [&] {
        work();
        is_own = true;
        return folder;
    });
    std::error_code gone;
    if (!is_own && std::filesystem::exists(*first / "manifest.json", gone) &&
        !std::filesystem::exists(folder, gone)) {
        copy_run(*first, folder);
        return false;
    }
    if (!is_own) work();
    return true;
}

RunStages::StageRun RunStages::make(const Stage& stage, RunOptions& own, const Context& context,
                                    const std::function<void(const JobTask& task)>& work) {
    const std::filesystem::path folder = run_.stage_folder(stage.name);
    const std::string shown = (run_.path() / stage.name).string();
    run_.stage(stage.name);
    RunDirectory::tidy(folder);
    const std::optional<FinishedRun> run = find(stage, folder);
    bool is_kept = run && run->difference.empty();
    if (is_kept) {
        context.message(fmt::format("{}: unchanged, using the existing results", shown));
    } else {
        if (run) context.message(fmt::format("{}: replaced, it has {}", shown, run->difference));
        own.output = folder.string();
        own.force = run.has_value();
        is_kept = !run_or_copy_stage(stage, folder, [&] { work(task_of(stage, context)); });
        if (task_.stage_ended) task_.stage_ended();
    }
    add_notes_and_citations(folder, is_kept ? &context : nullptr);
    return {folder, is_kept};
}

void RunStages::add_notes_and_citations(const std::filesystem::path& folder, const Context* kept) {
    const std::vector<std::uint8_t> bytes = read_file(folder / "manifest.json");
    const nlohmann::json manifest = nlohmann::json::parse(bytes, nullptr, false);
    if (!manifest.is_object() || !manifest.contains("citations")) return;
    for (const nlohmann::json& paper : manifest["citations"])
        if (paper.is_object()) run_.cite(paper.value("key", ""));
    if (kept == nullptr || !manifest.contains("notes")) return;
    for (const nlohmann::json& note : manifest["notes"])
        for (int n = 0; n <= static_cast<int>(NoteKind::assumption); ++n)
            if (const auto kind = static_cast<NoteKind>(n); name_of(kind) == note.value("kind", ""))
                kept->note({kind, note.value("text", ""), note.value("option", ""),
                            note.value("warning", false)});
}

JobListResult run_jobs(const JobCall& call, std::unique_ptr<Progress> shown) {
    JobCaller caller{.shown = std::move(shown)};
    Ranks ranks(caller);
    CLI::App program("", "pleat");
    program.require_subcommand(1, 1);
    const std::vector<Command> commands = {
        couplings_command(program, ranks), mi_command(program, ranks),
        rmsd_command(program, ranks),      cluster_command(program, ranks),
        saxs_command(program, ranks),      select_command(program, ranks),
        refine_command(program, ranks),    mutants_command(program, ranks)};
    std::vector<std::string> names;
    names.reserve(commands.size());
    for (const Command& command : commands) names.push_back(command.parser->get_name());
    const auto named = std::find(names.begin(), names.end(), call.command);
    if (named == names.end())
        throw UsageError(fmt::format("expected one of the commands {}, found '{}'",
                                     fmt::join(names, ", "), call.command));
    const Command& command = commands[named - names.begin()];
    const std::vector<std::string> words = words_of(call, *command.parser);
    try {
        program.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
        throw UsageError(usage_hint(program, error));
    }
    command.run(words);
    if (!caller.result) throw std::logic_error("a list of jobs has no result");
    return std::move(*caller.result);
}

}  // namespace pleat::program
