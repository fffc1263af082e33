// Device choice: shuffles with plain counts are what a GPU is for.
#include "pleat/mutual_information/device_choice.h"

namespace pleat::mutual_information {

bool has_gpu_work(const Parameters& parameters) {
    return parameters.has_sampled() && !parameters.counts_on_cpu();
}

std::optional<std::int64_t> gpu_demand(const Alignment& alignment, const Parameters& parameters,
                                       int threads) {
    if (!has_gpu_work(parameters)) return std::nullopt;
    return memory_needed(alignment, parameters, {Device::Kind::cuda, 0}, threads);
}

}  // namespace pleat::mutual_information
