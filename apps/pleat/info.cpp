// pleat info: what this build and this machine offer.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands.h"
#include "help_format.h"
#include "pleat/core/instruction_set.h"
#include "pleat/core/memory.h"
#include "pleat/core/parallel.h"
#include "pleat/core/version.h"
#include "standard_output.h"

namespace pleat::program {

namespace {

void print_info() {
    restrict_instruction_set_by_environment();
    print(fmt::format("pleat {}\n", kVersion));
    print("devices          cpu, reference\n");
    print(fmt::format("instruction sets {}\n", fmt::join(instruction_sets(), ", ")));
    print(fmt::format("in use           {}\n", instruction_set()));
    print(fmt::format("threads          {}\n", available_threads()));
    print(fmt::format("memory           {} available\n", human_bytes(available_memory())));
}

}  // namespace

Command info_command(CLI::App& program) {
    CLI::App* parser = program.add_subcommand("info", "Show version, devices, instruction sets, threads, memory");
    parser->footer(help_footer("Example:\n  pleat info"));
    return {parser, [](const std::vector<std::string>&) { print_info(); }};
}

}  // namespace pleat::program
