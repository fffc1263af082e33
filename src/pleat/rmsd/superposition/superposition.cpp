// Superposition: rigid motions by fitted atoms, sums over frames in a fixed order.
#include "pleat/rmsd/superposition/superposition.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/steps.h"
#include "pleat/rmsd/superposition/frames.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd {

namespace {

constexpr int kMaxRounds = 100;
constexpr Index kBlock = 64;     // frames summed together
constexpr Index kBlocks = 1024;  // whose sums are in memory

/// Sums over frames that do not depend on the number of threads: `add(frame, sums)` adds the frames
/// of a block one after another; then the sums of the blocks are added. Throws Cancelled.
std::vector<double> sum_frames(const FrameStore& xyz, Index size, const Context& context,
                               const std::function<void(View<const float, 2>, double*)>& add) {
    const Index frames = xyz.frame_count(), blocks = (frames + kBlock - 1) / kBlock;
    std::vector<double> sums(size);
    for (Index first = 0; first < blocks; first += kBlocks) {
        throw_if_cancelled(context, "superpose");
        const Index count = std::min(kBlocks, blocks - first);
        Array<double, 2> block_sums(count, size);
        parallel_for(resolve_threads(context), count, [&](Index block, int) {
            const Index from = (first + block) * kBlock;
            for (Index i = from; i < std::min(frames, from + kBlock); ++i)
                add(xyz.frame(i), block_sums[block].data);
        });
        for (Index block = 0; block < count; ++block)
            for (Index n = 0; n < size; ++n) sums[n] += block_sums(block, n);
    }
    return sums;
}

/// Frames on disk were checked when they were read.
void check_frames(const FrameStore& xyz) {
    if (!xyz.is_on_disk()) check_coordinates(xyz.in_memory());
}

}  // namespace

Superposer::Superposer(View<const double, 2> target, const AtomSets& sets) : fit_(sets.fit) {
    if (fit_.empty()) {
        fit_.resize(target.extent(0));
        std::iota(fit_.begin(), fit_.end(), Index{0});
    }
    for (const Index atom : fit_) {
        const double weight = sets.weights.empty() ? 1.0 : sets.weights[atom];
        roots_.push_back(std::sqrt(weight));
        weight_ += weight;
    }
    target_ = centred(target, target_mean_);
}

template <class T>
std::vector<double> Superposer::centred(View<const T, 2> structure, double (&mean)[3]) const {
    const std::size_t atoms = fit_.size();
    std::vector<double> to(3 * atoms);
    for (int axis = 0; axis < 3; ++axis) {
        // Subtracting one coordinate first keeps all digits of the mean of the differences.
        const double guess = structure(fit_[0], axis);
        double sum = 0.0;
        for (std::size_t k = 0; k < atoms; ++k)
            sum += roots_[k] * roots_[k] * (structure(fit_[k], axis) - guess);
        mean[axis] = guess + sum / weight_;
        for (std::size_t k = 0; k < atoms; ++k)
            to[axis * atoms + k] = roots_[k] * (structure(fit_[k], axis) - guess - sum / weight_);
    }
    return to;
}

RigidMotion Superposer::motion(View<const float, 2> frame) const {
    RigidMotion motion;
    double covariance[9];
    const std::vector<double> own = centred(frame, motion.from);
    covariance_of(own.data(), target_.data(), std::ssize(fit_), covariance);
    rotation_of_covariance(covariance, motion.rotation);
    std::copy(target_mean_, target_mean_ + 3, motion.to);
    return motion;
}

void Superposer::operator()(View<const float, 2> frame, View<double, 2> to) const {
    const RigidMotion best = motion(frame);
    for (Index k = 0; k < frame.extent(0); ++k) {
        double x[3] = {frame(k, 0), frame(k, 1), frame(k, 2)};
        best.move(x);
        for (int axis = 0; axis < 3; ++axis) to(k, axis) = x[axis];
    }
}

Array<double, 2> to_double(View<const float, 2> structure) {
    auto wide = Array<double, 2>::unset(structure.extent(0), structure.extent(1));
    std::ranges::copy(structure, wide.begin());
    return wide;
}

MeanStructure mean_structure(const FrameStore& xyz, const AtomSets& sets, const Context& context) {
    check_frames(xyz);
    const Index frames = xyz.frame_count(), atoms = xyz.atom_count();
    MeanStructure mean;
    mean.xyz = to_double(xyz.frame(0));
    const Array<double, 2> first = mean.xyz;
    double size = 0.0;
    for (Index k = 0; k < atoms; ++k)
        for (int axis = 0; axis < 3; ++axis)
            size = std::max(size, std::fabs(first(k, axis) - first(0, axis)));
    const double limit = std::max(1e-6, 1e-7 * size);
    StageProgress progress(context, "mean", kMaxRounds);
    for (mean.rounds = 0; mean.rounds < kMaxRounds;) {
        const Superposer superposer(mean.xyz, sets);
        const std::vector<double> sums =
            sum_frames(xyz, 3 * atoms, context, [&](View<const float, 2> frame, double* to) {
                Array<double, 2> moved(atoms, Index{3});
                superposer(frame, moved);
                for (Index n = 0; n < 3 * atoms; ++n) to[n] += moved.data()[n];
            });
        double change = 0.0, weight = 0.0;
        Array<double, 2> next(atoms, Index{3});
        for (Index n = 0; n < 3 * atoms; ++n)
            next.data()[n] = sums[n] / static_cast<double>(frames);
        const auto add_change = [&](Index k) {
            const double own = sets.weights.empty() ? 1.0 : sets.weights[k];
            weight += own;
            for (int axis = 0; axis < 3; ++axis)
                change += own * std::pow(next(k, axis) - mean.xyz(k, axis), 2);
        };
        if (sets.fit.empty())
            for (Index k = 0; k < atoms; ++k) add_change(k);
        for (const Index k : sets.fit) add_change(k);
        mean.change = std::sqrt(change / weight);
        mean.xyz = next;
        const bool is_done = mean.change < limit;
        ++mean.rounds;
        progress.advance_to(is_done ? kMaxRounds : mean.rounds);
        if (is_done) break;
    }
    return mean;
}

Fluctuations fluctuations(const FrameStore& xyz, View<const double, 2> target, const AtomSets& sets,
                          const Context& context) {
    check_frames(xyz);
    const Index frames = xyz.frame_count(), atoms = xyz.atom_count();
    const Superposer superposer(target, sets);
    // Four sums per atom: the squared distance, and its three components.
    const std::vector<double> sums =
        sum_frames(xyz, 4 * atoms, context, [&](View<const float, 2> frame, double* to) {
            Array<double, 2> moved(atoms, Index{3});
            superposer(frame, moved);
            for (Index k = 0; k < atoms; ++k, to += 4)
                for (int axis = 0; axis < 3; ++axis) {
                    const double apart = moved(k, axis) - target(k, axis);
                    to[0] += apart * apart;
                    to[1 + axis] += apart;
                }
        });
    Fluctuations found;
    for (Index k = 0; k < atoms; ++k) {
        const double* const own = sums.data() + 4 * k;
        const auto count = static_cast<double>(frames);
        double of_mean = 0.0;
        for (int axis = 0; axis < 3; ++axis) of_mean += std::pow(own[1 + axis] / count, 2);
        found.distance.push_back(std::sqrt(own[0] / count));
        found.rmsf.push_back(std::sqrt(std::max(0.0, own[0] / count - of_mean)));
    }
    throw_if_cancelled(context, "rmsf");
    return found;
}

}  // namespace pleat::rmsd
