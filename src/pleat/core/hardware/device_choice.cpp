// The device that is taken when none was named.
#include "pleat/core/hardware/device_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "pleat/core/error.h"
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
        .free_bytes = [](int index) { return use_cuda_device(index).free_bytes; },
        .all = [] { return find_cuda_devices(); },
        .count = [] { return count_cuda_devices(); }};
}

namespace {

constexpr std::string_view kGpu = "cuda:";
/// Another GPU is worth its start if it saves twice the 0.15 s that a context takes on an H200.
constexpr double kMinSaved = 0.3;
/// A GPU with a smaller fraction of free memory is in use by another program.
constexpr double kMinFree = 0.9;

std::vector<Device> every_gpu(const GpuLookup& gpus) {
    const CudaDevices found = gpus.all();
    std::vector<Device> devices;
    for (const CudaDevice& gpu : found.devices)
        if (gpu.usable) devices.push_back({Device::Kind::cuda, gpu.index});
    if (devices.empty())
        throw DeviceError(fmt::format("--device cuda:all: found no usable GPU{}{}",
                                      found.absence.empty() ? "" : ": ", found.absence));
    return devices;
}

/// Parses a list of devices; after "cuda:0" a bare number is a GPU.
std::vector<Device> listed_devices(std::string_view text) {
    std::vector<Device> devices;
    const bool has_numbers = text.starts_with(kGpu);
    for (;;) {
        const std::size_t comma = std::min(text.find(','), text.size());
        std::string one(text.substr(0, comma));
        if (has_numbers && !devices.empty() && !one.empty() && one[0] >= '0' && one[0] <= '9')
            one = std::string(kGpu) + one;
        devices.push_back(Device::parse(one));
        if (comma == text.size()) return devices;
        text.remove_prefix(comma + 1);
    }
}

}  // namespace

void name_devices(std::string_view text, Context& context, const GpuLookup& gpus) {
    const std::vector<Device> devices = text == "cuda:all" ? every_gpu(gpus) : listed_devices(text);
    std::set<int> numbers;
    for (const Device& device : devices) {
        if (device.kind != devices.front().kind)
            throw UsageError(
                fmt::format("--device: expected devices of one kind, found '{}'", text));
        if (device.kind == Device::Kind::cuda && !numbers.insert(device.index).second)
            throw UsageError(fmt::format("--device: expected each GPU once, found {} twice in '{}'",
                                         device.name(), text));
    }
    context.device = devices.front();
    context.lanes = devices.size() > 1 ? devices : std::vector<Device>{};
}

std::string device_names(const Context& context) {
    if (context.lanes.empty()) return context.device.name();
    std::string names;
    for (const Device& device : context.lanes) names += (names.empty() ? "" : ",") + device.name();
    return names;
}

std::string add_gpus(const GpuDemand& demand, Context& context, const GpuLookup& gpus) {
    const auto saved = [&](std::size_t number) {
        const auto n = static_cast<double>(number);
        return demand.seconds / n - demand.seconds / (n + 1);
    };
    if (context.device.kind != Device::Kind::cuda || saved(1) <= kMinSaved || gpus.count() < 2)
        return {};
    std::vector<CudaDevice> idle;
    for (const CudaDevice& gpu : gpus.all().devices) {
        const bool is_idle =
            static_cast<double>(gpu.free_bytes) >= kMinFree * static_cast<double>(gpu.total_bytes);
        if (gpu.usable && is_idle && gpu.free_bytes >= demand.bytes &&
            gpu.index != context.device.index)
            idle.push_back(gpu);
    }
    std::vector<Device> lanes{context.device};
    for (const CudaDevice& gpu : idle) {
        if (saved(lanes.size()) <= kMinSaved) break;
        lanes.push_back({Device::Kind::cuda, gpu.index});
    }
    if (lanes.size() < 2) return {};
    context.lanes = lanes;
    return fmt::format("{} GPUs share about {:.2g} s of work: {}", lanes.size(), demand.seconds,
                       device_names(context));
}

std::string choose_device(bool is_named, std::int64_t gpu_bytes, Context& context,
                          const GpuLookup& gpus) {
    if (is_named) return fmt::format("device {}, as asked for", context.device.name());
    const DeviceChoice choice = gpus.choose(gpu_bytes);
    context.device = choice.device;
    return fmt::format("device {}: {}", context.device.name(), choice.reason);
}

}  // namespace pleat
