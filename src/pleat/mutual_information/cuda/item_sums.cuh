// Item sums: the observed T and the sums of pairs or triples on a GPU, and the largest z of each
// shuffle.
#pragma once

#include <bit>
#include <vector>

#include "pleat/core/cuda/grow.h"
#include "pleat/mutual_information/cuda/null_steps.cuh"
#include "pleat/mutual_information/kernel/null_sums.h"

namespace pleat::mutual_information::cuda {

using pleat::cuda::grow;

/// `Gpu` as in gpu_kernel.cuh.
template <class Gpu>
struct ItemSums {
    template <class T>
    using Array = typename Gpu::template Array<T>;

    Array<long long> observed;         ///< [item]
    Array<Wide> sums;                  ///< [item][kSums]
    Array<double> z_centre, z_factor;  ///< [item]
    Array<long long> max_z;            ///< [shuffle], ordered()

    std::int64_t bytes() const { return 8 * (observed.size() + sums.size()); }

    /// Uploads the observed T of the items, and clears their sums.
    void begin(const Gpu& gpu, View<const std::int64_t, 1> t, Index items) {
        grow(observed, items);
        observed.upload(reinterpret_cast<const long long*>(t.data), 0, items);
        grow(sums, items * kSums);
        gpu.clear(sums, items * kSums);
    }

    void add_to(NullSums& to) const {
        std::vector<Wide> found(static_cast<std::size_t>(to.items() * kSums));
        sums.download(found.data(), 0, to.items() * kSums);
        for (Index item = 0; item < to.items(); ++item) {
            const Wide* of = found.data() + item * kSums;
            to.less_count[item] += static_cast<std::uint32_t>(of[0]);
            to.equal_count[item] += static_cast<std::uint32_t>(of[1]);
            to.first[item] += static_cast<std::int64_t>(of[2]);
            to.second[item] += static_cast<std::int64_t>(of[3]);
            to.third_low[item] += static_cast<std::int64_t>(of[4]);
            to.third_high[item] += static_cast<std::int64_t>(of[5]);
        }
    }

    void upload(const LargestZ& from, Index items, Index shuffles) {
        grow(z_centre, items);
        grow(z_factor, items);
        z_centre.upload(from.z_centre.data, 0, items);
        z_factor.upload(from.z_factor.data, 0, items);
        std::vector<long long> numbers(static_cast<std::size_t>(shuffles));
        for (Index s = 0; s < shuffles; ++s)
            numbers[s] = ordered(std::bit_cast<long long>(from.max_z[s]));
        grow(max_z, shuffles);
        max_z.upload(numbers.data(), 0, shuffles);
    }

    void download(const LargestZ& to, Index shuffles) const {
        std::vector<long long> numbers(static_cast<std::size_t>(shuffles));
        max_z.download(numbers.data(), 0, shuffles);
        for (Index s = 0; s < shuffles; ++s)
            to.max_z[s] = std::bit_cast<double>(ordered(numbers[s]));
    }
};

}  // namespace pleat::mutual_information::cuda
