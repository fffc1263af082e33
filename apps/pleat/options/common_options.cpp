// Common options: flags for runs and alignments, reading by them, and memory and time of a run.
#include "options/common_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "options/options.h"
#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/device_choice.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/sweep.h"
#include "process/process.h"

namespace pleat::program {

namespace {

constexpr const char *kInput = "Input", *kRun = "Run";

/// The device that stands for any GPU.
constexpr const char* kAnyGpu = "cuda";

// Host memory for CUDA, and seconds until a GPU computes (measured on an H200: decision 0028).
constexpr std::int64_t kCudaHostBytes = std::int64_t{512} << 20;

constexpr double kGpuStartSeconds = 0.4;

/// "--NAME VALUE" as the command line reads it.
void append_option(std::vector<std::string>& words, const Field& field) {
    if (const auto* target = std::get_if<bool*>(&field.target)) {
        words.push_back((**target ? "--" : "--no-") + field.name);
        return;
    }
    const std::string text = field.text();
    const std::string value = !field.automatic.empty() && text == field.automatic ? "auto" : text;
    // A value that begins like a flag must be in the same word (--option=-value).
    if (value.empty() || value.starts_with('-')) {
        words.push_back("--" + field.name + "=" + value);
        return;
    }
    words.push_back("--" + field.name);
    words.push_back(value);
}

/// Whether a GPU may be used because the user named no device.
bool leaves_gpu_open(const RunOptions& options) {
    return !options.names_device() || options.device == kAnyGpu;
}

/// The GPU of this rank if it has enough memory for all ranks that share it, else the CPU.
DeviceChoice choose_own_gpu(const Context& context, std::int64_t gpu_bytes) {
    const int gpus = std::max(1, count_cuda_devices());
    const int sharers = (context.local_ranks() + gpus - 1) / gpus;
    try {
        return device_with_room({{use_cuda_device(context.device.index)}, ""}, gpu_bytes * sharers);
    } catch (const DeviceError& error) {
        return {{Device::Kind::cpu, 0}, error.what()};
    }
}

/// Gives each rank of this machine its part of the devices that the user listed.
void deal_lanes(Context& context) {
    const std::vector<Device> all = std::move(context.lanes);
    const int count = std::max(1, static_cast<int>(all.size()));
    context.lanes.clear();
    for (int n = context.local_rank(); n < count; n += context.local_ranks())
        context.lanes.push_back(all[n]);
    if (context.lanes.empty()) context.lanes.push_back(all[context.local_rank() % count]);
    context.device = context.lanes.front();
}

std::string time_text(double seconds) {
    if (!(seconds > 0)) return "time not known";
    if (seconds < 100) return fmt::format("about {:.2g} s", seconds);
    if (seconds < 6000) return fmt::format("about {:.0f} min", seconds / 60);
    return fmt::format("about {:.2g} h", seconds / 3600);
}

}  // namespace

void add_run_options(CLI::App& command, RunOptions& options, bool uses_seed) {
    add_output(command, options.output, "FOLDER",
               "Folder for the results; created if it is missing");
    add_fields(
        command, kRun,
        {{.name = "force",
          .target = &options.force,
          .help = "Replace a finished run in the folder",
          .letter = 'f'},
         {.name = "device",
          .target = &options.device,
          .help = "Where to compute: auto, cpu, reference (slow, double precision), cuda, cuda:N, "
                  "or several GPUs: cuda:0,2 or cuda:all",
          .letter = 'd',
          .value_name = "NAME"},
         {.name = "threads",
          .target = &options.threads,
          .help = "Threads",
          .letter = 't',
          .min = 1,
          .max = 1024,
          .automatic = "all that this process may use"},
         {.name = "memory",
          .target = &options.memory,
          .help = "Memory that this process may use, in GiB. cluster, and rmsd of all pairs, read "
                  "frames from disk if they need more than half of it; other work that does not "
                  "fit is refused",
          .min = 0.01,
          .max = 1e6,
          .automatic = "what is free",
          .value_name = "GIB"},
         seed_field(options),
         {.name = "quiet", .target = &options.quiet, .help = "Print only errors", .letter = 'q'},
         {.name = "verbose",
          .target = &options.verbose,
          .help = "Print more on standard error",
          .letter = 'v'}});
    // Commands whose results depend on no random numbers accept the option but do not show it.
    if (!uses_seed) hide(command, "--seed");
    suggest_values(command, "--device", {"auto", "cpu", "reference", "cuda", "cuda:all"});
    add_environment(command, "--device", "PLEAT_DEVICE");
    add_environment(command, "--threads", "PLEAT_THREADS");
}

Field seed_field(RunOptions& options) {
    return {
        .name = "seed", .target = &options.seed, .help = "Seed of the random numbers", .min = 0};
}

std::vector<std::string> call_words(const std::string& command,
                                    const std::vector<std::string>& inputs,
                                    const std::vector<Field>& fields,
                                    const std::vector<Field>& defaults, const RunOptions& run,
                                    const std::string& folder) {
    std::vector<std::string> words = {command};
    words.insert(words.end(), inputs.begin(), inputs.end());
    words.insert(words.end(), {"-o", folder});
    for (std::size_t n = 0; n < fields.size(); ++n)
        if (fields[n].text() != defaults.at(n).text()) append_option(words, fields[n]);
    const RunOptions default_run;
    if (run.device != default_run.device) words.insert(words.end(), {"--device", run.device});
    if (run.threads != default_run.threads)
        words.insert(words.end(), {"--threads", std::to_string(run.threads.value_or(1))});
    if (run.memory) words.insert(words.end(), {"--memory", fmt::format("{}", *run.memory)});
    if (run.seed != default_run.seed)
        words.insert(words.end(), {"--seed", std::to_string(run.seed)});
    return words;
}

Context make_context(const RunOptions& options) {
    Context context;
    if (options.names_device()) name_devices(options.device, context);
    context.threads = static_cast<int>(options.threads.value_or(0));
    if (options.memory) limit_memory(std::llround(*options.memory * 0x1p30));
    context.seed = static_cast<std::uint64_t>(options.seed);
    if (const char* seconds = std::getenv("PLEAT_CHECKPOINT_SECONDS")) {
        Field field{.name = "PLEAT_CHECKPOINT_SECONDS",
                    .target = &context.checkpoint_seconds,
                    .help = "Shortest time between two saves of a fit",
                    .unit = "s",
                    .min = 0};
        field.set(seconds);
        field.check();
    }
    return context;
}

Context make_context(const RunOptions& options, Ranks& ranks) {
    Context context = make_context(options);
    context.comm = &ranks.comm();
    if (leaves_gpu_open(options) && context.local_ranks() > 1)
        context.device.index = context.local_rank() % std::max(1, count_cuda_devices());
    if (!context.lanes.empty() && context.local_ranks() > 1) deal_lanes(context);
    return context;
}

int ranks_per_gpu(const RunOptions& options, const Ranks& ranks) {
    const int sharers = ranks.local_size();
    if (sharers == 1 || !may_use_gpu(options)) return 1;
    int gpus = count_cuda_devices();
    if (!leaves_gpu_open(options)) {
        const Context named = make_context(options);
        gpus = static_cast<int>(named.lanes.size());
    }
    gpus = std::max(1, gpus);
    return (sharers + gpus - 1) / gpus;
}

bool may_use_gpu(const RunOptions& options) {
    return !options.names_device() || options.device.starts_with(kAnyGpu);
}

std::jthread start_device(const RunOptions& options, const Context& context, bool one_queue) {
    return may_use_gpu(options) ? start_cuda_early(context.device.index, one_queue)
                                : std::jthread();
}

std::string choose_device(const RunOptions& options, std::int64_t gpu_bytes, Context& context) {
    return pleat::choose_device(options.names_device(), gpu_bytes, context);
}

std::string choose_device(const RunOptions& options, const GpuDemand& demand, Ranks& ranks,
                          Context& context) {
    if (options.names_device()) return choose_device(options, demand.bytes, context);
    if (ranks.size() == 1) {
        const std::string reason = choose_device(options, demand.bytes, context);
        const std::string more = add_gpus(demand, context);
        return more.empty() ? reason : fmt::format("{}; {}", reason, more);
    }
    DeviceChoice choice = choose_own_gpu(context, demand.bytes);
    const bool is_cpu = choice.device.kind == Device::Kind::cpu;
    if (max_over_ranks(context, is_cpu ? 1.0 : 0.0) > 0.0 && !is_cpu)
        choice = {{Device::Kind::cpu, 0}, "another rank has no GPU that holds it"};
    context.device = choice.device;
    return fmt::format("device {}: {}", context.device.name(), choice.reason);
}

std::vector<Field> fields(AlignmentOptions& options) {
    return concatenated(
        {fields(options.reading),
         {{.name = "max-gaps",
           .target = &options.max_gaps,
           .help = "Leave out columns with a greater fraction of gaps",
           .min = 0,
           .max = 1},
          {.name = "min-coverage",
           .target = &options.min_coverage,
           .help = "Leave out sequences with a smaller fraction of residues in the columns kept",
           .min = 0,
           .max = 1}}});
}

void add_alignment_options(CLI::App& command, AlignmentOptions& options) {
    add_texts(command, "ALIGNMENT", options.paths,
              "FASTA, A2M, A3M, Stockholm, CLUSTAL, PHYLIP or one row per line; plain, "
              ".gz or .zst; - for standard input. Several files are several jobs");
    add_fields(command, kInput, fields(options));
}

std::shared_ptr<const Alignment> read_input(const AlignmentOptions& options, RunDirectory* run,
                                            Ranks* ranks) {
    std::shared_ptr<const Alignment> input;
    if (ranks != nullptr && ranks->size() > 1 && is_read_once(options.path)) {
        std::string bytes;
        if (ranks->is_leader()) {
            const std::vector<std::uint8_t> all =
                read_file(options.path, options.reading.max_kept_bytes);
            bytes.assign(all.begin(), all.end());
        }
        ranks->share(bytes);
        const std::string name = options.path == "-" ? "stdin" : options.path;
        input = std::make_shared<const Alignment>(
            read_alignment_from_memory(name, bytes, options.reading));
    } else {
        ReadOptions reading = options.reading;
        std::string key =
            fmt::format("{}\n{}{}", options.path, reading.keep_unknown, reading.keep_full_rows);
        for (const Field& field : fields(reading)) key += '\n' + field.text();
        input = shared_input<Alignment>(
            options.inputs, key, [&] { return read_alignment(options.path, options.reading); });
    }
    if (run != nullptr) record_input(options.path, *run);
    return input;
}

void record_input(const std::filesystem::path& path, RunDirectory& run) {
    std::error_code none;
    if (const auto hash = InputLedger::hash_of(path))
        run.input(path == "-" ? "stdin" : path.string(), *hash);
    else if (std::filesystem::is_regular_file(path, none))
        run.input(path);
}

void record_lists(const std::vector<std::string>& sources, RunDirectory& run) {
    for (const std::string& source : sources)
        if (source.size() > 1 && source.front() == '@') record_input(source.substr(1), run);
}

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
        // Lanes share the input; each lane has its own copy of everything else.
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
    require_unless(command, "--output", "--estimate");
}

void print_estimate(const std::string& name, const RunEstimate& run, const RunOptions& options,
                    const Ranks& ranks) {
    ranks.require_one_rank("--estimate");
    EstimateTable table(options, false);
    const std::string text = table.add(name, run);
    print(text + table.end());
    table.require_disk();
}

}  // namespace pleat::program
