// Memory of a fit: what each device needs, and refusing in time.
#include "pleat/couplings/fit/memory_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>

#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/math/conjugate_gradients.h"
#include "pleat/core/math/minimise.h"
#include "pleat/couplings/cuda/cuda_layout.h"
#include "pleat/couplings/kernel/column_work.h"

namespace pleat::couplings {

namespace {

int slots_of(const Parameters& parameters, int history) {
    return parameters.compatible.empty() ? Lbfgs::slots_needed({.history = history})
                                         : ConjugateGradients::kSlotsNeeded;
}

// What the minimiser works in, on the CPU.
std::int64_t host_bytes(Index sequences, Index columns, int letters, const Device& device,
                        int threads, int slots) {
    const bool reference = device.kind == Device::Kind::reference;
    const std::int64_t number = reference ? 8 : 4;
    const std::int64_t row = reference ? letters : row_stride(letters);
    const std::int64_t pairs = columns * (columns - 1) / 2;
    const std::int64_t vectors = slots * number * (pairs * letters * row + columns * row);
    const std::int64_t tree = sequences * columns * 11;
    const std::int64_t work = std::int64_t{threads} * 8 * row * (columns * letters + sequences);
    return vectors + tree + work;
}

// A fit without its minimiser, in the host's memory: the model where it starts; then either a copy
// of a vector that is saved or loaded, or the models that it returns or that the compatible
// minimiser multiplies, with its table of terms.
std::int64_t model_bytes(Index columns, int letters, const Parameters& parameters,
                         const Context& context) {
    const bool is_compatible = !parameters.compatible.empty();
    const std::int64_t pairs = columns * (columns - 1) / 2;
    const std::int64_t model = 4 * pairs * letters * letters;
    const std::int64_t terms = is_compatible ? 4 * columns * letters * columns * letters : 0;
    const bool on_cpu = context.device.kind == Device::Kind::cpu && !is_compatible;
    std::error_code none;
    const bool copies = on_cpu
                            ? std::filesystem::exists(context.checkpoint, none)  // to resume from
                            : !context.checkpoint.empty();
    const std::int64_t row =
        context.device.kind == Device::Kind::cpu ? row_stride(letters) : letters;
    const std::int64_t copy = copies ? 4 * (pairs * letters + columns) * row : 0;
    const std::int64_t returned = std::max<int>(parameters.models, 2 * is_compatible) * model;
    return !parameters.initial.empty() * model + std::max(returned + terms, copy);
}

std::int64_t host_memory_needed(Index sequences, Index columns, const Alignment& alignment,
                                const Parameters& parameters, const Context& context, int history) {
    const int letters = alignment.alphabet->size();
    const std::int64_t models = model_bytes(columns, letters, parameters, context);
    if (context.device.kind == Device::Kind::cuda) return models + 8 * sequences;
    return models + host_bytes(sequences, columns, letters, context.device,
                               resolve_threads(context), slots_of(parameters, history));
}

/// What a device needs for a number of columns and a history.
using Needed = std::function<std::int64_t(Index columns, int history)>;

// The longest history that fits.
int require(const std::string& where, std::int64_t available, const Alignment& alignment,
            const Context& context, int longest, const Needed& needed) {
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
    const Index sequences = alignment.sequence_count();
    const bool on_gpu = context.device.kind == Device::Kind::cuda;
    // First whether there is such a GPU.
    const CudaDevice gpu = on_gpu ? use_cuda_device(context.device.index) : CudaDevice{};
    const int longest = parameters.compatible.empty() ? kHistory : 1;
    int history = require(on_gpu ? " on the host" : "", available_memory(), alignment, context,
                          longest, [&](Index columns, int length) {
                              return host_memory_needed(sequences, columns, alignment, parameters,
                                                        context, length);
                          });
    if (on_gpu) {
        // The kernel lays out its arrays for the longest history, in the smallest blocks where that
        // does not fit.
        const int slots = Lbfgs::slots_needed({.history = kHistory});
        history =
            require(fmt::format(" on {} ({})", context.device.name(), gpu.name), gpu.free_bytes,
                    alignment, context, longest, [&](Index columns, int length) {
                        const cuda::Layout layout{sequences, columns, alignment.alphabet->size()};
                        return cuda::bytes_needed(cuda::fit_layout(layout, slots, gpu.free_bytes),
                                                  slots_of(parameters, length));
                    });
    }
    if (history < longest)
        context.message(
            fmt::format("memory is short: L-BFGS keeps {} of its latest steps instead of "
                        "{}, so the fit may take more iterations, and other last digits "
                        "than with enough memory",
                        history, longest));
    return history;
}

MemoryDemand memory_demand(const Alignment& alignment, const Parameters& parameters,
                           const Context& context) {
    const Index sequences = alignment.sequence_count(), columns = alignment.column_count();
    const int letters = alignment.alphabet->size(), threads = resolve_threads(context);
    MemoryDemand demand;
    demand.host = host_memory_needed(sequences, columns, alignment, parameters, context, kHistory);
    if (context.device.kind == Device::Kind::cuda) {
        demand.gpu = cuda::bytes_needed({sequences, columns, letters},
                                        Lbfgs::slots_needed({.history = kHistory}));
        demand.least_gpu = memory_needed(sequences, columns, letters, context.device, threads);
    }
    return demand;
}

std::int64_t memory_needed(Index sequences, Index columns, int letters, const Device& device,
                           int threads) {
    const int slots = Lbfgs::slots_needed({.history = kHistory});
    if (device.kind != Device::Kind::cuda)
        return host_bytes(sequences, columns, letters, device, threads, slots);
    const cuda::Layout layout{sequences, columns, letters};
    return cuda::bytes_needed(cuda::fit_layout(layout, slots, 0), slots);
}

}  // namespace pleat::couplings
