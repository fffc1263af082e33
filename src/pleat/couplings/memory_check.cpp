// Memory of a fit: what each device needs, and refusing in time.
#include "pleat/couplings/memory_check.h"

#include <fmt/format.h>

#include <functional>

#include "pleat/core/cuda_device.h"
#include "pleat/core/memory.h"
#include "pleat/core/minimise.h"
#include "pleat/core/parallel.h"
#include "pleat/couplings/column_work.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/cuda_layout.h"

namespace pleat::couplings {

namespace {

// With `cuda`, what stays on the host: the first model, the last one, and the alignment by columns.
std::int64_t host_memory_needed(Index sequences, Index columns, int letters, const Device& device,
                                int threads) {
    if (device.kind != Device::Kind::cuda) {
        return memory_needed(sequences, columns, letters, device, threads);
    }
    const cuda::Layout layout{sequences, columns, letters};
    return 2 * 4 * layout.pairs() + 3 * layout.padded_sequences() * layout.padded_columns();
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

void check_memory(const Alignment& alignment, const Context& context) {
    const int letters = alignment.alphabet->size(), threads = resolve_threads(context);
    const Index sequences = alignment.sequence_count();
    const bool on_gpu = context.device.kind == Device::Kind::cuda;
    require(on_gpu ? " on the host" : "", available_memory(), alignment, context,
            [&](Index columns) {
                return host_memory_needed(sequences, columns, letters, context.device, threads);
            });
    if (!on_gpu) return;
    const CudaDevice gpu = use_cuda_device(context.device.index);
    require(fmt::format(" on {} ({})", context.device.name(), gpu.name), gpu.free_bytes, alignment,
            context, [&](Index columns) {
                return memory_needed(sequences, columns, letters, context.device, threads);
            });
}

std::int64_t memory_needed(Index sequences, Index columns, int letters, const Device& device,
                           int threads) {
    const int slots = Lbfgs::slots_needed({.history = kHistory});
    if (device.kind == Device::Kind::cuda) {
        return cuda::Layout{sequences, columns, letters}.bytes(slots);
    }
    const bool reference = device.kind == Device::Kind::reference;
    const std::int64_t number = reference ? 8 : 4;
    const std::int64_t row = reference ? letters : row_stride(letters);
    const std::int64_t pairs = columns * (columns - 1) / 2;
    const std::int64_t vectors = slots * number * (pairs * letters * row + columns * row);
    const std::int64_t model = 4 * pairs * letters * letters;
    const std::int64_t tree = sequences * columns * 11;
    const std::int64_t work = std::int64_t{threads} * 8 * row * (columns * letters + sequences);
    return vectors + model + tree + work;
}

}  // namespace pleat::couplings
