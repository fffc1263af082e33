// Memory that profiles need, before any of it is taken.
#include <algorithm>

#include "pleat/core/loops/parallel.h"
#include "pleat/saxs/debye/debye.h"

namespace pleat::saxs {

std::int64_t memory_needed(const Model& model, const Options& options, const Device& device) {
    constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
    const std::int64_t scatterers = model.scatterer_count();
    const std::int64_t coordinates = scatterers * (3 + 2 * model.scale_count());
    if (device.kind == Device::Kind::cuda) return 64 * coordinates + 256 * kMebibyte;
    const std::int64_t profile = 8 * model.pair_count() * model.q_count();
    // Batches of frames take 64 MiB at the most; a frame has a profile for each 128 rows.
    // Waves and bins of distances take 32 MiB at the most.
    const std::int64_t rows =
        scatterers / 128 + std::min<std::int64_t>(scatterers, model.type_count());
    const std::int64_t pairs =
        std::max(64 * kMebibyte, profile * (rows + 1)) + 16 * coordinates + 32 * kMebibyte;
    if (options.method == Method::debye) return pairs;
    return pairs + 32 * coordinates + 512 * kMebibyte;
}

}  // namespace pleat::saxs
