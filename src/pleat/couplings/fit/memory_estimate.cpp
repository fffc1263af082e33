// Memory estimate: sums of the sizes of a fit's arrays, compared with what is available.
#include "pleat/couplings/fit/memory_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>

#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/math/minimise.h"
#include "pleat/couplings/cuda/cuda_layout.h"
#include "pleat/couplings/kernel/column_work.h"
#include "pleat/couplings/kernel/sequence_tree.h"

namespace pleat::couplings {

namespace {

int vectors_of(const Parameters& parameters, int history) {
    return parameters.compatible == CompatibleProgram::none
               ? Lbfgs::vectors_needed({.history = history})
               : ConjugateGradients::kVectorsNeeded;
}

// Memory of the CPU kernel or the reference kernel.
std::int64_t kernel_bytes(const CpuLayout& layout, const Device& device, int threads, int vectors) {
    const Index sequences = layout.sequences, columns = layout.columns, letters = layout.letters;
    if (device.kind == Device::Kind::reference)
        return 8 * (vectors * (columns * letters + layout.pair_count() * letters * letters) +
                    sequences * (letters + 8));
    // The tree, the letters by column, the weights, and three tables by column and letter.
    return layout.bytes(vectors, threads) + tree_bytes(sequences, columns, layout.letters) +
           sequences * (columns + 4) + 3 * 8 * columns * layout.stride();
}

// The alignment with its names, weights and scores, and the program itself with its libraries.
std::int64_t shared_bytes(Index sequences, Index columns) {
    constexpr std::int64_t kProgram = std::int64_t{20} << 20;
    constexpr std::int64_t kPerSequence =
        128;  // name, weight, and memory that reading leaves allocated
    return kProgram + sequences * (2 * columns + kPerSequence) + 16 * columns * columns;
}

// Models in host memory: the starting model; then the larger of the returned models or those of the
// compatible minimiser, and a copy of a vector that is saved or loaded.
std::int64_t model_bytes(const CpuLayout& layout, const Parameters& parameters,
                         const Context& context) {
    const bool is_compatible = parameters.compatible != CompatibleProgram::none;
    const Index letters = layout.letters, row = layout.columns * letters;
    const std::int64_t model = 4 * (layout.pair_count() * letters * letters + row);
    const std::int64_t terms = is_compatible ? 4 * row * row : 0;
    const bool on_cpu = context.device.kind == Device::Kind::cpu && !is_compatible;
    std::error_code none;
    const bool copies = on_cpu
                            ? std::filesystem::exists(context.checkpoint, none)  // to resume from
                            : !context.checkpoint.empty();
    const std::int64_t vector =
        context.device.kind == Device::Kind::cpu ? 4 * layout.vector_size() : model;
    // Norms with the gap are computed on the host, from the model.
    const bool on_host = parameters.models || parameters.norm == NormLetters::all;
    const std::int64_t returned = std::max<int>(on_host, 2 * is_compatible) * model;
    return !parameters.initial.empty() * model +
           std::max(returned + terms, copies ? vector : std::int64_t{0});
}

std::int64_t host_bytes(const CpuLayout& layout, const Parameters& parameters,
                        const Context& context, int history) {
    const std::int64_t beside =
        shared_bytes(layout.sequences, layout.columns) + model_bytes(layout, parameters, context);
    if (context.device.kind == Device::Kind::cuda) return beside;
    return beside + kernel_bytes(layout, context.device, resolve_threads(context),
                                 vectors_of(parameters, history));
}

Estimate memory_of(const CpuLayout& layout, const Parameters& parameters, const Context& context) {
    Estimate demand;
    demand.host_bytes = host_bytes(layout, parameters, context, kHistory);
    if (context.device.kind == Device::Kind::cuda) {
        const int vectors = Lbfgs::vectors_needed({.history = kHistory});
        const cuda::Layout on_device{layout.sequences, layout.columns, layout.letters};
        demand.gpu_bytes = cuda::bytes_needed(on_device, vectors);
        demand.min_gpu_bytes = cuda::bytes_needed(cuda::fit_layout(on_device, vectors, 0), vectors);
    }
    return demand;
}

CpuLayout layout_of(const Alignment& alignment) {
    return {alignment.sequence_count(), alignment.column_count(), alignment.alphabet->size()};
}

/// The bytes needed for a number of columns and a history.
using BytesNeeded = std::function<std::int64_t(Index columns, int history)>;

// Returns the longest history that fits in memory; see check_memory(). `where`: such as " on
// cuda:0".
int longest_history(const std::string& where, std::int64_t available, const Alignment& alignment,
                    const Context& context, int longest, const BytesNeeded& needed) {
    const Index columns = alignment.column_count();
    int history = longest;
    while (history > 1 && needed(columns, history) > available) --history;
    const std::int64_t bytes = needed(columns, history);
    context.message(fmt::format("{} sequences, {} columns: needs {} of {} available{}",
                                alignment.sequence_count(), columns, human_bytes(bytes),
                                human_bytes(available), where));
    Index fits = columns;
    while (fits > 1 && needed(fits, 1) > available) fits = fits * 15 / 16;
    require_memory(bytes, fmt::format("the couplings of {} columns", columns),
                   fmt::format("up to {} columns of these sequences would fit; leave out columns "
                               "with many gaps (--max-gaps)",
                               fits),
                   available, where);
    return history;
}

}  // namespace

int check_memory(const Alignment& alignment, const Parameters& parameters, const Context& context) {
    const CpuLayout layout = layout_of(alignment);
    const bool on_gpu = context.device.kind == Device::Kind::cuda;
    // Checks for a missing GPU before memory is estimated.
    const CudaDevice gpu = on_gpu ? use_cuda_device(context.device.index) : CudaDevice{};
    const int longest = parameters.compatible == CompatibleProgram::none ? kHistory : 1;
    int history = longest_history(on_gpu ? " on the host" : "", available_memory(), alignment,
                                  context, longest, [&](Index columns, int length) {
                                      return host_bytes({layout.sequences, columns, layout.letters},
                                                        parameters, context, length);
                                  });
    if (on_gpu) {
        // The kernel lays out its arrays for the longest history, in the smallest blocks if that
        // does not fit.
        const int vectors = Lbfgs::vectors_needed({.history = kHistory});
        history = longest_history(
            fmt::format(" on {} ({})", context.device.name(), gpu.name), gpu.free_bytes, alignment,
            context, longest, [&](Index columns, int length) {
                const cuda::Layout on_device{layout.sequences, columns, layout.letters};
                return cuda::bytes_needed(cuda::fit_layout(on_device, vectors, gpu.free_bytes),
                                          vectors_of(parameters, length));
            });
    }
    if (history < longest)
        context.message(
            fmt::format("memory is short: L-BFGS keeps {} of its latest steps instead of {}, so "
                        "the fit may take more iterations, and its last digits may differ from "
                        "those with enough memory",
                        history, longest));
    return history;
}

Estimate estimate(Index sequences, Index columns, int letters, const Parameters& parameters,
                  const Context& context) {
    // Bytes per ordered pair of columns: two scores (16), their text (27), pairs, their order and
    // their lines; about 130 exist at the same time while results are written.
    constexpr std::int64_t kScoreBytes = 140;
    const CpuLayout layout{sequences, columns, letters};
    Estimate all = memory_of(layout, parameters, context);
    all.host_bytes += kScoreBytes * columns * columns + sequences * columns;
    // CPU seconds per row and pair of columns, and per pair of columns; on a GPU also per letter.
    // Measured with made families of 200 to 10,000 rows and 60 to 800 columns (AVX-512, 2.0 GHz),
    // and on an H200 with families of 49 to 419 columns, 5000 x 500 and 5000 x 3000.
    constexpr double kPerRow = 5e-8, kPerPair = 1.5e-5, kPerRowOnGpu = 1.3e-10, kPerLetter = 2e-8;
    const auto rows = static_cast<double>(sequences), width = static_cast<double>(columns);
    const double pairs = width * width;
    switch (context.device.kind) {
        case Device::Kind::reference: break;
        case Device::Kind::cuda:
            all.seconds = 0.03 + kPerRowOnGpu * rows * pairs + kPerLetter * rows * width;
            break;
        case Device::Kind::cpu:
            all.seconds = 0.1 + pairs * static_cast<double>(layout.stride()) / 24 *
                                    (kPerRow * rows + kPerPair * letters / 21) /
                                    resolve_threads(context);
    }
    return all;
}

std::int64_t gpu_memory_needed(const Alignment& alignment) {
    const int vectors = Lbfgs::vectors_needed({.history = kHistory});
    const cuda::Layout layout{alignment.sequence_count(), alignment.column_count(),
                              alignment.alphabet->size()};
    return cuda::bytes_needed(cuda::fit_layout(layout, vectors, 0), vectors);
}

}  // namespace pleat::couplings
