// Peers: asks the CUDA runtime for each pair of GPUs.
#include "pleat/core/cuda/peers.h"

#include <cuda_runtime.h>

namespace pleat {

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
