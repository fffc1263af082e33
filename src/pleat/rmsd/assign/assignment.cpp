// Assignment: two nearest medoids of each frame of a block, and sums over their clusters.
#include "pleat/rmsd/assign/assignment.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace pleat::rmsd {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Assignment::Assignment(View<const float, 3> medoids, std::vector<double> weights,
                       std::optional<double> cutoff, double bin_width, const Context& context)
    : medoids_(medoids), context_(context) {
    sets_.weights = std::move(weights);
    parameters_.precision = FitPrecision::float64;
    parameters_.matrix = MatrixLayout::none;
    parameters_.cutoff = cutoff;
    parameters_.nearest = 2;
    parameters_.bin_width = bin_width;
    // Blocks are processed one after another, without their own progress or checkpoint.
    context_.progress = nullptr;
    context_.checkpoint.clear();
    context_.comm = nullptr;
    result_.statistics = PairStatistics(1, bin_width);
    result_.silhouette = kNone;
    result_.cutoff = cutoff.value_or(kNone);
    const auto count = static_cast<std::size_t>(medoids.extent(0));
    result_.clusters.resize(count);
    for (cluster::ClusterDescription& one : result_.clusters) one.medoid = -1;
    nearest_distances_.assign(count, std::numeric_limits<float>::infinity());
}

Index Assignment::block_frames() const {
    constexpr Index kBytes = Index{8} << 20, kMin = 64, kMax = 4096;
    const Index fitting = kBytes / (3 * static_cast<Index>(sizeof(float)) * medoids_.extent(1));
    return std::clamp(std::max(fitting, medoids_.extent(0)), kMin, kMax);
}

Assignment::Compared Assignment::compare(View<const float, 3> frames) const {
    Result compared = run_against(frames, medoids_, sets_, parameters_, context_, {});
    return {std::move(compared.nearest), std::move(compared.statistics)};
}

void Assignment::collect(const Compared& compared) {
    result_.statistics.add(0, compared.statistics);
    std::vector<std::int32_t>& assignment = result_.clustering.assignment;
    for (Index frame = 0; frame < compared.nearest.indices.extent(0); ++frame) {
        const float distance = compared.nearest.values(frame, 0);
        const bool is_near =
            !parameters_.cutoff || distance < static_cast<float>(*parameters_.cutoff);
        const std::int32_t nearest = compared.nearest.indices(frame, 0);
        const auto number = std::ssize(assignment);
        assignment.push_back(is_near ? nearest : cluster::kNoise);
        if (!is_near) continue;
        cluster::ClusterDescription& one = result_.clusters[nearest];
        ++one.size;
        one.mean += distance;  // a sum until finish()
        one.radius = std::max<double>(one.radius, distance);
        if (distance < nearest_distances_[nearest]) {
            nearest_distances_[nearest] = distance;
            one.medoid = number;
        }
    }
}

Nearest Assignment::add(View<const float, 3> frames) {
    Compared compared = compare(frames);
    collect(compared);
    return std::move(compared.nearest);
}

cluster::Result Assignment::finish() {
    for (cluster::ClusterDescription& one : result_.clusters)
        if (one.size > 0)
            one.mean /= static_cast<double>(one.size);
        else
            one.mean = one.radius = kNone;
    result_.statistics.trim();
    return std::move(result_);
}

}  // namespace pleat::rmsd
