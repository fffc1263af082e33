// What a build without CUDA links in place of every .cu file: the same symbols, which refuse.
#include "pleat/core/cuda_device.h"
#include "pleat/core/error.h"
#include "pleat/couplings/kernel.h"

namespace pleat {

namespace {

constexpr const char* kAbsence = "this build has no CUDA kernels";

[[noreturn]] void refuse(int index) {
    throw DeviceError("CUDA device " + Device{Device::Kind::cuda, index}.name() + ": " + kAbsence +
                      "; leave --device out to use the CPU");
}

}  // namespace

CudaDevices find_cuda_devices() { return {{}, kAbsence}; }

CudaDevice use_cuda_device(int index) { refuse(index); }

std::unique_ptr<couplings::Kernel> couplings::make_cuda_kernel(const Problem&, int index) {
    refuse(index);
}

}  // namespace pleat
