// The GPU's kernels of rmsd on the host: its instructions, one thread after the other.
#pragma once

#include "pleat/core/tests/host_gpu.h"  // before the kernels

#include <array>

#include "pleat/rmsd/cuda/gpu_gromos.cuh"
#include "pleat/rmsd/cuda/gpu_kernel.cuh"
#include "pleat/rmsd/cuda/half_float.h"
#include "pleat/rmsd/cuda/pair_kernel.cuh"

namespace pleat::rmsd::test {

using pleat::test::HostGpu;
using pleat::test::HostGpuState;

/// What the kernels ask of a GPU's instructions. Copies end at once.
struct HostMachine {
    template <class T>
    static T* shared() {
        alignas(16) static unsigned char memory[227 << 10];
        return reinterpret_cast<T*>(memory);
    }
    static void copy(cuda::Words* to, const cuda::Words* from) { *to = *from; }
    static void end_group() {}
    template <int kLeft>
    static void wait_for_groups() {}

    /// mma.m16n8k16 by the layout of its fragments, with sums rounded once.
    static void multiply_add(float& c0, float& c1, float& c2, float& c3, const cuda::Words& a,
                             std::uint32_t b0, std::uint32_t b1) {
        // A lane is at most one product ahead of another, so two sets of operands are enough.
        static Operands all[kTileThreads];
        Operands& own = all[threadIdx.x];
        own.next ^= 1;
        own.words[own.next] = {a.x, a.y, a.z, a.w, b0, b1};
        const int now = own.next, lane = static_cast<int>(threadIdx.x % 32), g = lane / 4,
                  t = lane % 4;
        pleat::test::Machine::only().exchange(0);
        const Operands* const warp = all + threadIdx.x / 32 * 32;
        const auto half = [&](int of_lane, int word, int at) {
            return static_cast<double>(
                from_half(static_cast<std::uint16_t>(warp[of_lane].words[now][word] >> 16 * at)));
        };
        float* const sums[4] = {&c0, &c1, &c2, &c3};
        for (int n = 0; n < 4; ++n) {
            const int row = n / 2, column = 2 * t + n % 2;
            double sum = *sums[n];
            for (int k = 0; k < 16; ++k)
                sum += half(4 * g + k % 8 / 2, k / 8 * 2 + row, k % 2) *
                       half(4 * column + k % 8 / 2, 4 + k / 8, k % 2);
            *sums[n] = static_cast<float>(sum);
        }
    }

private:
    struct Operands {
        std::array<std::uint32_t, 6> words[2];
        int next = 0;
    };
};

using KernelOnHost = cuda::GpuKernel<HostGpu, HostMachine>;
using GromosOnHost = cuda::GpuGromos<HostGpu, HostMachine>;

}  // namespace pleat::rmsd::test
