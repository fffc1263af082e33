// pleat table, report and info: commands that compute nothing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "help/help.h"
#include "options/options.h"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/error.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/jobs/job_runner.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/terminal/progress_terminal.h"
#include "pleat/report/report.h"
#include "process/process.h"
#include "version/version_line.h"

namespace pleat::program {

namespace {

constexpr const char* kTableHelp =
    "Write the table of a list of jobs again, from the manifests of their runs.";

constexpr const char* kTableExamples =
    "Examples:\n"
    "  pleat table runs\n\n"
    "FOLDER/jobs.tsv lists the jobs of 'pleat couplings --list' and the like, with status and "
    "main\n"
    "results. While jobs run, or after a kill, the table is behind; this command reads what they\n"
    "have written. Jobs that failed keep their error until the list is run again.";

constexpr const char* kReportHelp = "Draw runs into one HTML page that works without a network.";

constexpr const char* kReportExamples =
    "Examples:\n"
    "  pleat report run -o page.html\n"
    "  pleat report couplings-run mi-run rmsd-run -o page.html --title 'Dihydrofolate reductase'\n"
    "  pleat report run -o page.html --structure 1rx2.cif.gz:A\n\n"
    "Runs of all commands can be combined. The page shows contact maps, matrices, molecules, "
    "curves,\n"
    "trees and tables; a selection in one panel is shown in all others. An existing page made by\n"
    "pleat is replaced, other files only with --force.";

struct ReportOptions {
    std::vector<std::string> runs;
    std::string output;
    bool force = false, quiet = false;
    report::Parameters parameters;
};

void check_output(const ReportOptions& options) {
    std::error_code ignored;
    const auto status = std::filesystem::status(options.output, ignored);
    if (std::filesystem::is_directory(status))
        throw UsageError(
            fmt::format("cannot write the page to {}: it is a folder", options.output));
    if (!options.force && std::filesystem::is_regular_file(status) &&
        !report::is_page(options.output))
        throw UsageError(fmt::format(
            "{} exists and is not a page made by pleat; --force replaces it", options.output));
}

void run_report(const ReportOptions& options) {
    check_output(options);
    const report::Page page =
        report::draw({options.runs.begin(), options.runs.end()}, options.parameters);
    // After the first signal the page is still written completely; a second signal of the same kind
    // ends the process.
    install_interrupt_handler();
    write_text(options.output, page.html);
    if (options.quiet) return;
    const std::unique_ptr<Progress> shown = make_progress(stderr, options.quiet);
    for (const std::string& note : page.notes) shown->message(note);
    print(fmt::format("{}: {} of {} {}, {}\n", printable(options.output),
                      page.sections == 1 ? "1 panel" : fmt::format("{} panels", page.sections),
                      page.runs, page.runs == 1 ? "run" : "runs",
                      human_bytes(static_cast<std::int64_t>(page.html.size()))));
}

void print_devices() {
    const CudaDevices found = find_cuda_devices();
    std::string usable, gpus;
    for (const CudaDevice& gpu : found.devices) {
        const std::string name = Device{Device::Kind::cuda, gpu.index}.name();
        const std::string heading = gpus.empty() ? "GPUs" : "";
        if (gpu.usable) {
            usable += ", " + name;
            gpus += fmt::format("{:<17}{}: {}, {} of {} free\n", heading, name, gpu.name,
                                human_bytes(gpu.free_bytes), human_bytes(gpu.total_bytes));
        } else {
            gpus += fmt::format(
                "{:<17}{}: {}, older than this build's kernels (compute capability "
                "{}.{}, 8.0 needed)\n",
                heading, name, gpu.name, gpu.major, gpu.minor);
        }
    }
    print("devices          cpu, reference" + usable + "\n");
    print(gpus.empty() ? "GPUs             none: " + found.absence + "\n" : gpus);
}

void print_info() {
    restrict_instruction_set_by_environment();
    print(version_line() + "\n");
    print_devices();
    print(fmt::format("instruction sets {}\n", fmt::join(instruction_sets(), ", ")));
    print(fmt::format("in use           {}\n", instruction_set()));
    print(fmt::format("threads          {}\n", available_threads()));
    print(fmt::format("memory           {} available\n", human_bytes(available_memory())));
}

}  // namespace

Command table_command(CLI::App& program) {
    CLI::App* parser = add_command(program, "table", kTableHelp, kTableExamples);
    const auto folder = std::make_shared<std::string>();
    add_text(*parser, "FOLDER", *folder, "Folder of the jobs");
    require(*parser, "FOLDER");
    return {.parser = parser, .run = [folder](const std::vector<std::string>&) {
                const JobTable table = renew_job_table(*folder);
                print(fmt::format("{}/{}: {} jobs, {}\n", printable(*folder), kJobTable,
                                  table.rows.size(), table.counts()));
            }};
}

Command report_command(CLI::App& program) {
    CLI::App* parser = add_command(program, "report", kReportHelp, kReportExamples);
    const auto options = std::make_shared<ReportOptions>();
    add_texts(*parser, "RUN", options->runs,
              "Folders of runs, in the order in which the page shows them");
    require(*parser, "RUN");
    add_output(*parser, options->output, "FILE", "File for the page");
    add_fields(*parser, "Run",
               {{.name = "force",
                 .target = &options->force,
                 .help = "Replace any existing file",
                 .letter = 'f'},
                {.name = "quiet",
                 .target = &options->quiet,
                 .help = "Print nothing but errors",
                 .letter = 'q'}});
    add_fields(*parser, "Page", report::fields(options->parameters));
    return {.parser = parser,
            .run = [options](const std::vector<std::string>&) { run_report(*options); }};
}

Command info_command(CLI::App& program) {
    CLI::App* parser =
        add_command(program, "info", "Show version, devices, instruction sets, threads, memory",
                    "Example:\n  pleat info");
    return {parser, [](const std::vector<std::string>&) { print_info(); }};
}

}  // namespace pleat::program
