// pleat report: draws runs into one page for a browser.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "help/help_format.h"
#include "options/option_checks.h"
#include "options/options.h"
#include "pleat/core/error.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/terminal/progress_terminal.h"
#include "pleat/report/report.h"
#include "process/standard_output.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription = "Draw runs into one HTML page that works without a network.";

constexpr const char* kExamples =
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
    // The first signal lets the page be written completely; a second one of its kind ends the
    // process.
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

}  // namespace

Command report_command(CLI::App& program) {
    CLI::App* parser = program.add_subcommand("report", kDescription);
    const auto options = std::make_shared<ReportOptions>();
    parser
        ->add_option("RUN", options->runs,
                     "Folders of runs, in the order in which the page shows them")
        ->required();
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
    parser->footer(help_footer(kExamples));
    return {.parser = parser,
            .run = [options](const std::vector<std::string>&) { run_report(*options); }};
}

}  // namespace pleat::program
