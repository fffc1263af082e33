// Run estimate: memory and time of a run on each device that its options allow.
#include "options/run_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "options/options.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "process/standard_output.h"

namespace pleat::program {

namespace {

// Memory of the host that CUDA takes, and the time until a GPU computes (an H200: decision 0028).
constexpr std::int64_t kCudaHostBytes = std::int64_t{512} << 20;
constexpr double kGpuStartSeconds = 0.4;

std::string time_text(double seconds) {
    if (!(seconds > 0)) return "time not known";
    if (seconds < 100) return fmt::format("about {:.2g} s", seconds);
    if (seconds < 6000) return fmt::format("about {:.0f} min", seconds / 60);
    return fmt::format("about {:.2g} h", seconds / 3600);
}

}  // namespace

EstimateTable::EstimateTable(const RunOptions& options, bool is_list)
    : is_named_(options.names_device()), is_list_(is_list), folder_(options.output) {
    Context context = make_context(options);
    // Each job of a list has one device.
    if (is_list) context.lanes.clear();
    const auto add = [&](const Device& device) {
        context.device = device;
        std::string name = device_names(context);
        if (device.kind == Device::Kind::cpu && context.lanes.empty())
            name += fmt::format(" ({} threads)", resolve_threads(context));
        rows_.push_back({.device = name, .context = context});
    };
    if (is_named_) {
        add(context.device);
        return;
    }
    add({Device::Kind::cpu, 0});
    add({Device::Kind::cuda, 0});
    rows_.back().device = "cuda";
}

std::string EstimateTable::line(const Row& row, const Estimate& needed) const {
    std::string text =
        fmt::format("  {}: up to {} of memory", row.device, human_bytes(needed.host_bytes));
    if (needed.gpu_bytes > 0) {
        text += fmt::format(" and {} of GPU memory", human_bytes(needed.gpu_bytes));
        if (needed.min_gpu_bytes < needed.gpu_bytes)
            text += fmt::format(" (at least {})", human_bytes(needed.min_gpu_bytes));
    }
    const bool has_gpu = row.context.device.kind == Device::Kind::cuda;
    return fmt::format("{}, {}{}\n", text, time_text(needed.seconds), has_gpu ? " on an H200" : "");
}

std::string EstimateTable::add(const std::string& name, const RunEstimate& run) {
    std::string text = fmt::format("{}: {}\n", printable(name), run.input);
    std::int64_t written = 0;
    for (Row& row : rows_) {
        const bool has_gpu = row.context.device.kind == Device::Kind::cuda;
        if (has_gpu && !is_named_ && !run.may_use_gpu) continue;
        Estimate needed = run.on(row.context);
        // Lanes share what was read; what else they need each has.
        const auto lanes = std::max<std::int64_t>(1, std::ssize(row.context.lanes));
        needed.host_bytes *= lanes;
        needed.seconds /= static_cast<double>(lanes);
        if (has_gpu) {
            needed.host_bytes += kCudaHostBytes;
            needed.seconds += kGpuStartSeconds;
        }
        text += line(row, needed);
        written = needed.disk_bytes;
        Estimate& sum = row.sum;
        sum = {.host_bytes = std::max(sum.host_bytes, needed.host_bytes),
               .gpu_bytes = std::max(sum.gpu_bytes, needed.gpu_bytes),
               .min_gpu_bytes = std::max(sum.min_gpu_bytes, needed.min_gpu_bytes),
               .seconds = sum.seconds + needed.seconds,
               .disk_bytes = sum.disk_bytes + needed.disk_bytes};
        // The GPU starts once for all jobs.
        if (has_gpu && row.jobs++ > 0) sum.seconds -= kGpuStartSeconds;
    }
    if (written > 0) text += fmt::format("  files: about {} to be written\n", human_bytes(written));
    return text;
}

std::string EstimateTable::end() const {
    std::string text;
    if (is_list_) {
        text = "All jobs one after another, with the memory of the largest:\n";
        for (const Row& row : rows_)
            if (row.sum.host_bytes > 0) text += line(row, row.sum);
    }
    text += fmt::format("{} of memory is available here\n", human_bytes(available_memory()));
    std::int64_t written = 0;
    for (const Row& row : rows_) written = std::max(written, row.sum.disk_bytes);
    if (written > 0)
        text += fmt::format("{} of disk space is available for {}\n",
                            human_bytes(free_disk_space(folder_)), human_bytes(written));
    return text;
}

void EstimateTable::require_disk() const {
    for (const Row& row : rows_) require_disk_space(folder_, row.sum.disk_bytes);
}

void add_estimate_option(CLI::App& command, RunOptions& options) {
    add_fields(command, "Run",
               {{.name = "estimate",
                 .target = &options.estimate,
                 .help = "Print the memory and time that the run would need, and write nothing"}});
    CLI::Option* const output = command.get_option("--output");
    command.get_option("--estimate")->each([output](const std::string&) {
        output->required(false);
    });
}

void print_estimate(const std::string& name, const RunEstimate& run, const RunOptions& options,
                    const Ranks& ranks) {
    ranks.require_one("--estimate");
    EstimateTable table(options, false);
    const std::string text = table.add(name, run);
    print(text + table.end());
    table.require_disk();
}

}  // namespace pleat::program
