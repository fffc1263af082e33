// pleat info: what this build and this machine offer.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands.h"
#include "help/help_format.h"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/hardware/instruction_set.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "process/standard_output.h"
#include "version/version_line.h"

namespace pleat::program {

namespace {

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

Command info_command(CLI::App& program) {
    CLI::App* parser =
        program.add_subcommand("info", "Show version, devices, instruction sets, threads, memory");
    parser->footer(help_footer("Example:\n  pleat info"));
    return {parser, [](const std::vector<std::string>&) { print_info(); }};
}

}  // namespace pleat::program
