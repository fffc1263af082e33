// CUDA devices: asks the runtime, which is linked in and starts without a driver.
#include "pleat/core/cuda/cuda_device.h"

#include <cuda_runtime.h>

#include <cstdlib>
#include <system_error>

#include "pleat/core/cuda/cuda_gpu.cuh"

namespace pleat {

namespace {

constexpr int kMinMajor = 8;

CudaDevice describe(int index) {
    cudaDeviceProp properties{};
    cuda::check(cudaGetDeviceProperties(&properties, index), "cannot read its properties");
    return {.index = index,
            .name = properties.name,
            .major = properties.major,
            .minor = properties.minor,
            .total_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
            .usable = properties.major >= kMinMajor};
}

void read_free_memory(CudaDevice& gpu) {
    std::size_t free = 0, total = 0;
    cuda::check(cudaSetDevice(gpu.index), "cannot be used");
    cuda::check(cudaMemGetInfo(&free, &total), "cannot read its free memory");
    gpu.free_bytes = static_cast<std::int64_t>(free);
}

// Number of GPUs; if it is 0, `absence` says why.
int count_devices(std::string& absence) {
    int driver = 0, count = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
        absence = "no NVIDIA driver";
        return 0;
    }
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) {
        absence = cudaGetErrorString(status);
        cudaGetLastError();  // it is reported once, here
        return 0;
    }
    if (count == 0) absence = "no GPU";
    return count;
}

}  // namespace

std::jthread start_cuda_early(int index, bool one_queue) {
    if (one_queue) ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 0);
    // An error here occurs again when the GPU is used, and is reported there.
    try {
        return std::jthread([index] {
            if (cudaSetDevice(index) == cudaSuccess) cudaFree(nullptr);
            cudaGetLastError();
        });
    } catch (const std::system_error&) {
        return {};
    }
}

CudaDevices find_cuda_devices(std::int64_t enough) {
    CudaDevices found;
    const int count = count_devices(found.absence);
    try {
        for (int index = 0; index < count; ++index) {
            CudaDevice gpu = describe(index);
            if (gpu.usable) read_free_memory(gpu);
            found.devices.push_back(std::move(gpu));
            const CudaDevice& latest = found.devices.back();
            if (latest.usable && latest.free_bytes >= enough) break;
        }
    } catch (const DeviceError& error) {
        return {{}, error.what()};
    }
    return found;
}

int count_cuda_devices() {
    std::string absence;
    return count_devices(absence);
}

CudaDevice use_cuda_device(int index) {
    const std::string name = Device{Device::Kind::cuda, index}.name();
    const std::string advice = "; leave --device out to use what there is";
    std::string absence;
    const int count = count_devices(absence);
    if (count == 0) throw DeviceError("CUDA device " + name + ": " + absence + advice);
    if (index >= count) {
        throw DeviceError("CUDA device " + name + ": no such GPU, this machine has " +
                          std::to_string(count) + " (from cuda:0)" + advice);
    }
    CudaDevice gpu = describe(index);
    if (!gpu.usable) {
        throw DeviceError("CUDA device " + name +
                          ": expected compute capability 8.0 or newer, found " +
                          std::to_string(gpu.major) + "." + std::to_string(gpu.minor) + " (" +
                          gpu.name + ")" + advice);
    }
    read_free_memory(gpu);
    return gpu;
}

bool can_read_each_other(std::span<const Device> gpus) {
    for (const Device& gpu : gpus) {
        for (const Device& other : gpus) {
            int can = 0;
            if (gpu.index == other.index) continue;
            if (cudaDeviceCanAccessPeer(&can, gpu.index, other.index) != cudaSuccess) {
                cudaGetLastError();  // a GPU that is missing is reported when it is used
                return false;
            }
            if (can == 0) return false;
        }
    }
    return true;
}

}  // namespace pleat
