// pleat table: the table of a list of jobs, made again from their manifests.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands.h"
#include "help/help_format.h"
#include "pleat/core/files/text.h"
#include "pleat/core/jobs/job_runner.h"
#include "process/standard_output.h"

namespace pleat::program {

namespace {

constexpr const char* kDescription =
    "Write the table of a list of jobs again, from the manifests of their runs.";

constexpr const char* kExamples =
    "Examples:\n"
    "  pleat table runs\n\n"
    "FOLDER/jobs.tsv lists the jobs of 'pleat couplings --list' and the like, with status and "
    "main\n"
    "results. While jobs run, or after a kill, the table is behind; this command reads what they\n"
    "have written. Jobs that failed keep their error until the list is run again.";

}  // namespace

Command table_command(CLI::App& program) {
    CLI::App* parser = program.add_subcommand("table", kDescription);
    const auto folder = std::make_shared<std::string>();
    parser->add_option("FOLDER", *folder, "Folder of the jobs")->required();
    parser->footer(help_footer(kExamples));
    return {.parser = parser, .run = [folder](const std::vector<std::string>&) {
                const JobTable table = renew_job_table(*folder);
                print(fmt::format("{}/{}: {} jobs, {}\n", printable(*folder), kJobTable,
                                  table.rows.size(), table.counts()));
            }};
}

}  // namespace pleat::program
