// Common options: flags of every command that computes and of alignments, and what --estimate
// prints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/context.h"
#include "pleat/core/estimate.h"
#include "pleat/core/fields.h"
#include "pleat/core/hardware/device_choice.h"
#include "pleat/core/jobs/job_command.h"
#include "pleat/core/run/run_directory.h"
#include "process/process.h"

namespace CLI {
class App;
}

namespace pleat::program {

/// Options of every command that computes: output folder, device, threads, seed, verbosity.
struct RunOptions {
    std::string output;
    std::string device = "auto";
    std::optional<std::int64_t> threads;  ///< not set: all that this process may use
    std::optional<double> memory;         ///< GiB; not set: what is free
    std::int64_t seed = 1;
    bool force = false, quiet = false, verbose = false;
    bool estimate = false;  ///< nothing is computed: see run_estimate.h

    /// Whether the user named a device; else it is chosen by the memory that the work needs.
    bool names_device() const { return device != kAutomaticDevice; }
    static constexpr const char* kAutomaticDevice = "auto";
};
/// `uses_seed`: whether the command draws random numbers; other commands accept --seed unseen.
void add_run_options(CLI::App& command, RunOptions& options, bool uses_seed = false);

Field seed_field(RunOptions& options);

/// Returns the command line that repeats this run: command, inputs, folder, and every option whose
/// value differs from its default. `defaults`: the same options with their default values.
std::vector<std::string> call_words(const std::string& command,
                                    const std::vector<std::string>& inputs,
                                    const std::vector<Field>& fields,
                                    const std::vector<Field>& defaults, const RunOptions& run,
                                    const std::string& folder);

/// The context that the options ask for, without progress and checkpoint; limits the memory of this
/// process to what they allow. Throws UsageError for an unknown device.
Context make_context(const RunOptions& options);
/// Makes the context of one of several ranks. Unless the user named a GPU by number, the GPUs of a
/// machine are assigned to its ranks in turn.
Context make_context(const RunOptions& options, Ranks& ranks);
/// The number of ranks of this machine that share each GPU which make_context() assigns.
int ranks_per_gpu(const RunOptions& options, const Ranks& ranks);
bool may_use_gpu(const RunOptions& options);
/// Starts the GPU that the options may need: see start_cuda_early().
[[nodiscard]] std::jthread start_device(const RunOptions& options, const Context& context,
                                        bool one_queue);
/// If the user named no device: chooses a GPU with `gpu_bytes` of free memory, else the CPU.
/// Returns the device and the reason in one line.
std::string choose_device(const RunOptions& options, std::int64_t gpu_bytes, Context& context);
/// Chooses for several ranks: each gets its GPU, or all get the CPU; one rank gets more GPUs if
/// each saves more time than it takes to start. A collective call.
std::string choose_device(const RunOptions& options, const GpuDemand& demand, Ranks& ranks,
                          Context& context);

/// How an alignment is read and filtered.
struct AlignmentOptions {
    std::string path;                ///< the one to read
    std::vector<std::string> paths;  ///< all that the command line names
    ReadOptions reading;
    double max_gaps = 1.0, min_coverage = 0.0;
    SharedInputs* inputs = nullptr;  ///< what other jobs have read; or null
};
std::vector<Field> fields(AlignmentOptions& options);
void add_alignment_options(CLI::App& command, AlignmentOptions& options);

/// Reads the alignment, "-" from standard input, and lists it among the inputs of `run`, which may
/// be null. With `ranks` a collective call; only the leading rank reads standard input.
std::shared_ptr<const Alignment> read_input(const AlignmentOptions& options, RunDirectory* run,
                                            Ranks* ranks = nullptr);

/// Lists a file among the run's inputs; a pipe with the hash of the bytes that were read from it.
void record_input(const std::filesystem::path& path, RunDirectory& run);
/// Lists the list files (@LIST) among `sources` as inputs of the run.
void record_lists(const std::vector<std::string>& sources, RunDirectory& run);

/// What a run needs.
struct RunEstimate {
    std::string input;         ///< its size: "3629 sequences, 159 columns"
    bool may_use_gpu = false;  ///< whether --device auto may choose a GPU
    /// Returns the estimate for the context's device and threads. Throws UsageError for an
    /// unsupported device.
    std::function<Estimate(const Context&)> on;
};

/// Sums over the jobs of a list.
class EstimateTable {
public:
    explicit EstimateTable(const RunOptions& options, bool is_list);
    /// The lines of one run, called `name`.
    std::string add(const std::string& name, const RunEstimate& run);
    /// The last lines: the total of a list on each device; the available memory and disk space.
    std::string end() const;
    /// Throws OutputError if the files would not fit on the disk of --output.
    void require_disk() const;

private:
    struct Row {
        std::string device;
        Context context;
        std::int64_t jobs = 0;
        Estimate sum = {};  ///< the maximum of memory, and the sum of seconds
    };
    std::string line(const Row& row, const Estimate& needed) const;

    bool is_named_, is_list_;
    std::string folder_;
    std::vector<Row> rows_;
};

/// Adds --estimate; with it --output is not required.
void add_estimate_option(CLI::App& command, RunOptions& options);
/// Prints the estimate of one run. Throws UsageError on several ranks.
void print_estimate(const std::string& name, const RunEstimate& run, const RunOptions& options,
                    const Ranks& ranks);

}  // namespace pleat::program
