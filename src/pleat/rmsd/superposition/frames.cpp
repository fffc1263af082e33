// Frames: centring in float64 once, the mean of turned frames, and subsets of frames.
#include "pleat/rmsd/superposition/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

namespace {

constexpr double kMaxCoordinate = 1e15;  // squares of larger ones, summed and multiplied, overflow

/// All axes in one loop, as each sum waits for its last addition.
void centre_axes(View<const float, 2> from, std::span<const double> weights, double total,
                 double* to) {
    const Index atoms = from.extent(0);
    // Subtracting one coordinate first keeps all digits of the mean of the differences.
    const double guess[3] = {from(0, 0), from(0, 1), from(0, 2)};
    double sums[3] = {};
    for (Index k = 0; k < atoms; ++k) {
        const double weight = weights.empty() ? 1.0 : weights[k];
        for (int axis = 0; axis < 3; ++axis) sums[axis] += weight * (from(k, axis) - guess[axis]);
    }
    for (double& sum : sums) sum /= total;
    for (Index k = 0; k < atoms; ++k) {
        const double root = weights.empty() ? 1.0 : std::sqrt(weights[k]);
        for (int axis = 0; axis < 3; ++axis)
            to[axis * atoms + k] = root * (from(k, axis) - guess[axis] - sums[axis]);
    }
}

void check_finite(View<const float, 2> frame, std::string_view what, Index index) {
    for (const float value : frame)
        if (!(std::fabs(value) <= kMaxCoordinate))
            throw InputError(
                fmt::format("{} {}: expected coordinates between -1e15 and 1e15, found {}", what,
                            index, value));
}

}  // namespace

double rmsd_in_float64(const Frames& frames, Index i, Index j) {
    const double sum = superposed_residual(frames.frame(i), frames.frame(j), frames.atom_count());
    return std::sqrt(sum / frames.weight);
}

void check_coordinates(View<const float, 3> xyz, std::string_view what) {
    for (Index i = 0; i < xyz.extent(0); ++i) check_finite(xyz[i], what, i);
}

Frames unset_frames(Index frames, Index atoms, double weight) {
    Frames some;
    some.xyz = Array<double, 3>::unset(frames, Index{3}, atoms);
    some.square_sum = Array<double, 1>(frames);
    some.weight = weight;
    return some;
}

double total_weight(std::span<const double> weights, Index atoms) {
    if (weights.empty()) return static_cast<double>(atoms);
    double total = 0.0;
    for (const double weight : weights) total += weight;
    return total;
}

double centre_frame(View<const float, 2> xyz, Index index, std::span<const double> weights,
                    double total, double* to) {
    const Index atoms = xyz.extent(0);
    check_finite(xyz, "frame", index);
    centre_axes(xyz, weights, total, to);
    double sum = 0.0;
    for (Index k = 0; k < 3 * atoms; ++k) sum += to[k] * to[k];
    return sum;
}

Frames centre(View<const float, 3> xyz, std::span<const double> weights, int threads) {
    Frames frames =
        unset_frames(xyz.extent(0), xyz.extent(1), total_weight(weights, xyz.extent(1)));
    parallel_for(threads, xyz.extent(0), [&](Index i, int) {
        frames.square_sum[i] = centre_frame(xyz[i], i, weights, frames.weight, frames.frame(i));
    });
    return frames;
}

namespace {

constexpr Index kMaxAveraged = 1000, kSummed = 32;

}  // namespace

void rotate_onto(const double* frame, const double* target, Index atoms, double* turned) {
    double m[9];
    best_rotation(frame, target, atoms, m);
    for (int axis = 0; axis < 3; ++axis)
        for (Index k = 0; k < atoms; ++k)
            turned[axis * atoms + k] = m[3 * axis] * frame[k] + m[3 * axis + 1] * frame[atoms + k] +
                                       m[3 * axis + 2] * frame[2 * atoms + k];
}

std::vector<Index> averaged_frames(Index count) {
    const Index used = std::min(count, kMaxAveraged);
    std::vector<Index> frames;
    for (Index n = 0; n < used; ++n) frames.push_back(n * count / used);
    return frames;
}

std::vector<double> common_structure(const Frames& frames, int threads) {
    if (!frames.common.empty()) return frames.common;
    const Index atoms = frames.atom_count();
    const std::vector<Index> averaged = averaged_frames(frames.frame_count());
    const auto used = std::ssize(averaged);
    // Sums blocks and adds their sums in order, so the bits do not depend on the number of threads.
    Array<double, 2> sums((used + kSummed - 1) / kSummed, 3 * atoms);
    parallel_for(threads, sums.extent(0), [&](Index block, int) {
        std::vector<double> turned(3 * atoms);
        for (Index n = block * kSummed; n < std::min(used, (block + 1) * kSummed); ++n) {
            rotate_onto(frames.frame(averaged[n]), frames.frame(0), atoms, turned.data());
            for (Index k = 0; k < 3 * atoms; ++k) sums(block, k) += turned[k];
        }
    });
    std::vector<double> mean(3 * atoms);
    for (Index block = 0; block < sums.extent(0); ++block)
        for (Index k = 0; k < 3 * atoms; ++k) mean[k] += sums(block, k) / static_cast<double>(used);
    return mean;
}

namespace {

class MemorySource final : public FrameSource {
public:
    explicit MemorySource(FrameSet frames) : frames_(std::move(frames)) {}
    Index frame_count() const override { return frames_->frame_count(); }
    Index atom_count() const override { return frames_->atom_count(); }
    const Frames* in_memory() const override { return frames_.get(); }
    Frames subset(std::span<const Index> items, int threads) const override {
        const auto count = std::ssize(items);
        Frames some = unset_frames(count, atom_count(), frames_->weight);
        parallel_for(threads, count, [&](Index n, int) {
            std::copy_n(frames_->frame(items[n]), 3 * atom_count(), some.frame(n));
            some.square_sum[n] = frames_->square_sum[items[n]];
        });
        return some;
    }
    std::shared_ptr<const FrameSource> subset_source(std::span<const Index> items,
                                                     int threads) const override {
        return memory_source(owned(subset(items, threads)));
    }

private:
    FrameSet frames_;
};

class BlockSource final : public FrameSource {
public:
    /// `items`: the frames; empty: all.
    BlockSource(FrameStore store, std::vector<double> weights, std::vector<Index> items,
                int threads, Index block)
        : store_(std::move(store)),
          weights_(std::move(weights)),
          items_(std::move(items)),
          block_(block) {
        common_ = common_structure(subset(averaged_frames(frame_count()), threads), threads);
    }
    Index frame_count() const override {
        return items_.empty() ? store_.frame_count() : std::ssize(items_);
    }
    Index atom_count() const override { return store_.atom_count(); }
    Index block() const override { return block_; }
    Frames subset(std::span<const Index> items, int threads) const override {
        const auto count = std::ssize(items);
        Frames some = unset_frames(count, atom_count(), total_weight(weights_, atom_count()));
        some.common = common_;
        std::vector<Array<float, 2>> read(std::max(threads, 1));
        parallel_for(threads, count, [&](Index n, int thread) {
            const Index item = number_of(items[n]);
            Array<float, 2>& xyz = read[thread];
            if (xyz.size() == 0) xyz = Array<float, 2>::unset(atom_count(), Index{3});
            store_.read(item * xyz.size(), xyz.size(), xyz.data());
            some.square_sum[n] = centre_frame(xyz, item, weights_, some.weight, some.frame(n));
        });
        return some;
    }
    std::shared_ptr<const FrameSource> subset_source(std::span<const Index> items,
                                                     int threads) const override {
        if (std::ssize(items) > block_) {
            std::vector<Index> numbers;
            for (const Index item : items) numbers.push_back(number_of(item));
            return std::make_shared<const BlockSource>(store_, weights_, std::move(numbers),
                                                       threads, block_);
        }
        Frames some = subset(items, threads);
        some.common.clear();
        return memory_source(owned(std::move(some)));
    }

private:
    Index number_of(Index item) const { return items_.empty() ? item : items_[item]; }

    FrameStore store_;
    std::vector<double> weights_;
    std::vector<Index> items_;
    Index block_;
    std::vector<double> common_;
};

}  // namespace

std::shared_ptr<const FrameSource> memory_source(FrameSet frames) {
    return std::make_shared<const MemorySource>(std::move(frames));
}

std::shared_ptr<const FrameSource> block_source(FrameStore store, std::vector<double> weights,
                                                int threads, Index block) {
    if (!store.is_on_disk()) check_coordinates(store.in_memory());
    if (block == 0) block = block_frames(store.atom_count());
    return std::make_shared<const BlockSource>(std::move(store), std::move(weights),
                                               std::vector<Index>(), threads, block);
}

Index block_frames(Index atoms) {
    constexpr Index kBytes = Index{256} << 20, kStep = 256;  // columns of the CPU kernel's blocks
    return std::max(kStep, kBytes / (72 * atoms) / kStep * kStep);
}

}  // namespace pleat::rmsd
