// The device that is taken when none was named.
#include <fmt/format.h>

#include "pleat/core/cuda_device.h"
#include "pleat/core/memory.h"

namespace pleat {

DeviceChoice choose_device(const CudaDevices& found, std::int64_t needed) {
    std::string reason = found.absence;
    for (const CudaDevice& gpu : found.devices) {
        const Device device{Device::Kind::cuda, gpu.index};
        if (!gpu.usable) {
            reason = fmt::format("{} has compute capability {}.{}, older than 8.0", device.name(),
                                 gpu.major, gpu.minor);
        } else if (gpu.free_bytes < needed) {
            reason = fmt::format("{} has {} free, {} needed", device.name(),
                                 human_bytes(gpu.free_bytes), human_bytes(needed));
        } else {
            return {device, fmt::format("{} with {} free, {} needed", gpu.name,
                                        human_bytes(gpu.free_bytes), human_bytes(needed))};
        }
    }
    return {{Device::Kind::cpu, 0}, reason};
}

}  // namespace pleat
