// The device that is taken when none was named.
#include "pleat/core/hardware/device_choice.h"

#include <fmt/format.h>

#include "pleat/core/hardware/memory.h"

namespace pleat {

DeviceChoice device_with_room(const CudaDevices& found, std::int64_t needed) {
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

GpuLookup machine_gpus() {
    return {
        .choose =
            [](std::int64_t bytes) { return device_with_room(find_cuda_devices(bytes), bytes); },
        .free_bytes = [](int index) { return use_cuda_device(index).free_bytes; }};
}

std::string choose_device(bool is_named, std::int64_t gpu_bytes, Context& context,
                          const GpuLookup& gpus) {
    if (is_named) return fmt::format("device {}, as asked for", context.device.name());
    const DeviceChoice choice = gpus.choose(gpu_bytes);
    context.device = choice.device;
    return fmt::format("device {}: {}", context.device.name(), choice.reason);
}

}  // namespace pleat
