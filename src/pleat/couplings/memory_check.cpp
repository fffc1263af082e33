// Memory of a fit: what each device needs, and refusing in time.
#include "pleat/couplings/memory_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "pleat/core/cuda_device.h"
#include "pleat/core/memory.h"
#include "pleat/core/minimise.h"
#include "pleat/core/parallel.h"
#include "pleat/couplings/column_work.h"
#include "pleat/couplings/cuda_layout.h"

namespace pleat::couplings {

namespace {

// Models in the host's memory: where the fit starts, what it gives back, and those that the
// compatible minimiser multiplies, with its table of terms.
std::int64_t model_bytes(Index columns, int letters, const Parameters& parameters) {
    const bool compatible = !parameters.compatible.empty();
    const std::int64_t count =
        !parameters.initial.empty() + std::max<int>(parameters.models, 2 * compatible);
    const std::int64_t pairs = columns * (columns - 1) / 2;
    const std::int64_t terms = compatible ? columns * letters * columns * letters : 0;
    return 4 * (count * pairs * letters * letters + terms);
}

std::int64_t host_memory_needed(Index sequences, Index columns, int letters,
                                const Parameters& parameters, const Device& device, int threads) {
    const std::int64_t models = model_bytes(columns, letters, parameters);
    if (device.kind != Device::Kind::cuda) {
        return models + memory_needed(sequences, columns, letters, device, threads);
    }
    return models + 8 * sequences;
}

// `needed` tells the bytes for a number of columns.
void require(const std::string& where, std::int64_t available, const Alignment& alignment,
             const Context& context, const std::function<std::int64_t(Index)>& needed) {
    const Index columns = alignment.column_count();
    context.message(fmt::format("{} sequences, {} columns: needs {} of {} available{}",
                                alignment.sequence_count(), columns, human_bytes(needed(columns)),
                                human_bytes(available), where));
    Index fits = columns;
    while (fits > 1 && needed(fits) > available) fits = fits * 15 / 16;
    require_memory(needed(columns), fmt::format("the couplings of {} columns", columns),
                   fmt::format("up to {} columns of these sequences would fit; leave out columns "
                               "with many gaps (--max-gaps)",
                               fits),
                   available, where);
}

}  // namespace

void check_memory(const Alignment& alignment, const Parameters& parameters,
                  const Context& context) {
    const int letters = alignment.alphabet->size(), threads = resolve_threads(context);
    const Index sequences = alignment.sequence_count();
    const bool on_gpu = context.device.kind == Device::Kind::cuda;
    require(on_gpu ? " on the host" : "", available_memory(), alignment, context,
            [&](Index columns) {
                return host_memory_needed(sequences, columns, letters, parameters, context.device,
                                          threads);
            });
    if (!on_gpu) return;
    const CudaDevice gpu = use_cuda_device(context.device.index);
    const int slots = Lbfgs::slots_needed({.history = kHistory});
    require(fmt::format(" on {} ({})", context.device.name(), gpu.name), gpu.free_bytes, alignment,
            context, [&](Index columns) {
                const cuda::Layout layout{sequences, columns, letters};
                return cuda::bytes_needed(cuda::fit_layout(layout, slots, gpu.free_bytes), slots);
            });
}

MemoryDemand memory_demand(const Alignment& alignment, const Parameters& parameters,
                           const Context& context) {
    const Index sequences = alignment.sequence_count(), columns = alignment.column_count();
    const int letters = alignment.alphabet->size(), threads = resolve_threads(context);
    MemoryDemand demand;
    demand.host =
        host_memory_needed(sequences, columns, letters, parameters, context.device, threads);
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
    if (device.kind == Device::Kind::cuda) {
        const cuda::Layout layout{sequences, columns, letters};
        return cuda::bytes_needed(cuda::fit_layout(layout, slots, 0), slots);
    }
    const bool reference = device.kind == Device::Kind::reference;
    const std::int64_t number = reference ? 8 : 4;
    const std::int64_t row = reference ? letters : row_stride(letters);
    const std::int64_t pairs = columns * (columns - 1) / 2;
    const std::int64_t vectors = slots * number * (pairs * letters * row + columns * row);
    const std::int64_t tree = sequences * columns * 11;
    const std::int64_t work = std::int64_t{threads} * 8 * row * (columns * letters + sequences);
    return vectors + tree + work;
}

}  // namespace pleat::couplings
