// Scatterer positions: exposed points of each frame, found by the CPU or by a GPU, and the layer of
// water that they make.
#include "pleat/saxs/model/scatterer_positions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "pleat/core/loops/steps.h"
#include "pleat/core/ranks/gather_rows.h"
#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {

namespace {

// A water molecule has a radius of 1.4 angstrom; sites are two of these beyond the surface.
constexpr double kProbe = 1.4, kBeyond = 2 * kProbe, kAtomRadius = 1.9;
// An atom that is exposed on all sides, such as an ion, has no direction.
constexpr double kMinDirection = 0.05;

/// The amount of water that touches an atom, and its position relative to the atom's centre.
struct WaterSite {
    double amount = 0;
    double from[3] = {};
};

WaterSite water_site(const Exposure& exposure, double radius) {
    const double ratio = (radius + kProbe) / (kAtomRadius + kProbe);
    WaterSite water;
    water.amount = static_cast<double>(exposure.fraction) * ratio * ratio;
    const double length =
        std::hypot(exposure.direction[0], exposure.direction[1], exposure.direction[2]);
    if (length < kMinDirection) return water;
    for (int axis = 0; axis < 3; ++axis)
        water.from[axis] =
            (radius + kBeyond) * static_cast<double>(exposure.direction[axis]) / length;
    return water;
}

/// The positions [axis, member] of the scatterers' atoms in a frame.
Array<float, 2> member_positions(const Scatterers& scatterers, View<const float, 2> frame) {
    const auto members = std::ssize(scatterers.members);
    Array<float, 2> centres(3, members);
    for (Index axis = 0; axis < 3; ++axis) {
        for (Index m = 0; m < members; ++m) centres(axis, m) = frame(axis, scatterers.members[m]);
    }
    return centres;
}

/// Sets the layer [amount and site, scatterer] of a frame. `exposure_of_member(m)`: that of the
/// m-th atom, at `centres`.
template <class ExposureOfMember>
void set_layer(const Scatterers& scatterers, View<const float, 2> frame,
               View<const float, 2> centres, const ExposureOfMember& exposure_of_member,
               View<float, 2> layer) {
    const Index count = scatterers.count();
    const View<float, 2> sites(layer[1].data, 3, count);
    std::fill_n(layer.data, count, 0.0f);
    set_centres_of_mass(scatterers, frame, sites);
    for (Index s = 0; s < count; ++s) {
        double amount = 0, sum[3] = {};
        for (Index m = scatterers.starts[s]; m < scatterers.starts[s + 1]; ++m) {
            const WaterSite water = water_site(exposure_of_member(m), scatterers.radii[m]);
            amount += water.amount;
            for (Index axis = 0; axis < 3; ++axis)
                sum[axis] +=
                    water.amount * (static_cast<double>(centres(axis, m)) + water.from[axis]);
        }
        if (amount == 0) continue;
        layer(0, s) = static_cast<float>(amount);
        for (Index axis = 0; axis < 3; ++axis)
            sites(axis, s) = static_cast<float>(sum[axis] / amount);
    }
}

void find_layers_on_cpu(View<const float, 3> xyz, const Scatterers& scatterers,
                        const Context& context, View<float, 3> layers) {
    const RankRows rows(context);
    const Index frames = rows.count_of(xyz.extent(0));
    const Index block = frames < resolve_threads(context) ? 1 : 64;
    const auto compute = [&](Index first, Index count) {
        parallel_for_frames(context, count, [&](Index n, const Context& of_frame) {
            const Index frame = rows.row(first + n);
            const Array<float, 2> centres = member_positions(scatterers, xyz[frame]);
            const std::vector<Exposure> all =
                exposures(centres, scatterers.radii, kProbe, of_frame);
            const auto of_member = [&](Index m) { return all[m]; };
            set_layer(scatterers, xyz[frame], centres, of_member, layers[frame]);
        });
    };
    for_each_block(context, "hydration", frames, block, compute, "frames");
}

}  // namespace

std::vector<double> radii_with_probe(const Scatterers& scatterers) {
    std::vector<double> reach = scatterers.radii;
    for (double& one : reach) one += kProbe;
    return reach;
}

void set_hydration_layers(SurfaceKernel& kernel, View<const float, 3> xyz,
                          const Scatterers& scatterers, const Context& context,
                          View<float, 3> layers) {
    const RankRows rows(context);
    const Index frames = rows.count_of(xyz.extent(0)), at_once = kernel.max_frames();
    const int threads = resolve_threads(context);
    const std::vector<double> reach = radii_with_probe(scatterers);
    const Array<double, 2> points = surface_points();
    StageProgress progress(context, "hydration", frames, "frames");
    progress.check();
    const auto prepare = [&](Index first, Index count, const SurfaceBlock& block) {
        cancellable_parallel_for(context, threads, count, [&](Index n, int) {
            block.set_frame(n, member_positions(scatterers, xyz[rows.row(first + n)]), reach);
        });
    };
    const auto keep = [&](Index first, Index count, const SurfaceBlock& block) {
        cancellable_parallel_for(context, threads, count, [&](Index n, int) {
            const Index frame = rows.row(first + n);
            const auto of_member = [&](Index m) {
                return exposure_of(block.exposed(n, m), points);
            };
            set_layer(scatterers, xyz[frame], member_positions(scatterers, xyz[frame]), of_member,
                      layers[frame]);
        });
        progress.advance_to(first + count);
    };
    // The GPU computes one block while the host stores the previous one and prepares the next.
    const auto count_from = [&](Index first) { return std::min(at_once, frames - first); };
    for (Index first = 0, which = 0; first < frames + at_once;
         first += at_once, which = 1 - which) {
        const Index before = first - at_once;
        if (first < frames) prepare(first, count_from(first), kernel.block(which));
        if (before >= 0) kernel.finish();
        if (first < frames) kernel.start(which, count_from(first));
        if (before >= 0) keep(before, count_from(before), kernel.block(1 - which));
    }
}

bool finds_surfaces_on_gpu(Index frames, const Context& context) {
    return context.device.kind == Device::Kind::cuda && frames / context.ranks() >= kMinFramesOnGpu;
}

Array<float, 3> hydration_layers(View<const float, 3> xyz, const Scatterers& scatterers,
                                 const Context& context) {
    const Index frames = xyz.extent(0);
    auto layers = Array<float, 3>::unset(frames, 4, scatterers.count());
    if (finds_surfaces_on_gpu(frames, context) && !scatterers.members.empty()) {
        const std::unique_ptr<SurfaceKernel> kernel = make_cuda_surface_kernel(
            radii_with_probe(scatterers), RankRows(context).count_of(frames), context.device.index);
        set_hydration_layers(*kernel, xyz, scatterers, context, layers);
    } else {
        find_layers_on_cpu(xyz, scatterers, context, layers);
    }
    all_gather_rows(context, View<float, 2>(layers.data(), frames, 4 * scatterers.count()));
    return layers;
}

namespace {

/// The scatterers that touch water in any frame; `layers` as of hydration_layers().
std::vector<Index> wet_scatterers(View<const float, 3> layers, const Context& context) {
    constexpr Index kScatterers = 256;  // that a thread looks at in one frame after another
    const Index count = layers.extent(2);
    std::vector<std::uint8_t> touches(count);
    cancellable_parallel_blocks(context, resolve_threads(context), count, kScatterers,
                                [&](Index first, Index last, int) {
                                    for (Index frame = 0; frame < layers.extent(0); ++frame)
                                        for (Index s = first; s < last; ++s)
                                            touches[s] |= layers(frame, 0, s) > 0;
                                });
    std::vector<Index> wet;
    for (Index s = 0; s < count; ++s)
        if (touches[s] != 0) wet.push_back(s);
    return wet;
}

/// Rg^2 of members of these weights over all frames; not above 0 or NaN if the weights cancel.
double weighted_gyration2(const Scatterers& scatterers, View<const float, 3> frames,
                          const std::vector<double>& weights) {
    double sum = 0, first[3] = {}, second = 0;
    for (Index frame = 0; frame < frames.extent(0); ++frame)
        for (std::size_t m = 0; m < weights.size(); ++m) {
            sum += weights[m];
            for (Index axis = 0; axis < 3; ++axis) {
                const double x = static_cast<double>(frames(frame, axis, scatterers.members[m])) -
                                 static_cast<double>(frames(0, axis, scatterers.members[0]));
                first[axis] += weights[m] * x;
                second += weights[m] * x * x;
            }
        }
    for (const double moment : first) second -= moment * moment / sum;
    return second / sum;
}

}  // namespace

ScattererPositions scatterer_positions(View<const float, 3> xyz, const Scatterers& scatterers,
                                       bool with_hydration, const Context& context) {
    const Index frames = xyz.extent(0), count = scatterers.count();
    Array<float, 3> layers;
    if (with_hydration) layers = hydration_layers(xyz, scatterers, context);
    std::vector<Index> wet;
    if (with_hydration) wet = wet_scatterers(layers, context);
    ScattererPositions positions;
    positions.sites = std::ssize(wet);
    positions.xyz = Array<float, 3>::unset(frames, 3, count + positions.sites);
    if (with_hydration)
        positions.scales = Array<float, 3>::unset(frames, 1, count + positions.sites);
    cancellable_parallel_for(context, resolve_threads(context), frames, [&](Index frame, int) {
        set_centres_of_mass(scatterers, xyz[frame], positions.xyz[frame]);
        if (!with_hydration) return;
        std::fill_n(positions.scales[frame].data, count, 0.0f);
        for (Index w = 0; w < positions.sites; ++w) {
            const Index scatterer = wet[w];
            positions.scales(frame, 0, count + w) = layers(frame, 0, scatterer);
            for (Index axis = 0; axis < 3; ++axis)
                positions.xyz(frame, axis, count + w) = layers(frame, 1 + axis, scatterer);
        }
    });
    StageProgress(context, "scatterers", frames, "frames").advance_to(frames);
    positions.scatterer_of_site = std::move(wet);
    return positions;
}

double gyration_of_structure(const Topology& topology, View<const float, 3> frames,
                             const Parameters& parameters) {
    const Scatterers scatterers =
        make_scatterers(topology, frames[0],
                        {.includes_water = parameters.includes_water,
                         .ions = parameters.ions,
                         .explicit_hydrogens = parameters.hydrogens == Hydrogens::listed});
    std::vector<double> net, all;  // [member]: each atom is a scatterer
    double sum_net = 0, sum_all = 0;
    for (const std::int32_t type : scatterers.types) {
        const UnitedAtom& atom = scatterers.atom_types[type];
        net.push_back(net_electrons(atom));
        all.push_back(vacuum_factor(atom, 0));
        sum_net += net.back();
        sum_all += all.back();
    }
    constexpr double kMinContrast = 0.1;  // of proteins 0.24, of lipids about 0
    const double square = std::abs(sum_net) > kMinContrast * sum_all
                              ? weighted_gyration2(scatterers, frames, net)
                              : 0;
    return std::sqrt(square > 0 ? square : weighted_gyration2(scatterers, frames, all));
}

double gyration_of_structure(const Ensemble& ensemble, const Parameters& parameters) {
    return gyration_of_structure(
        *ensemble.topology, View<const float, 3>(ensemble.xyz[0].data, 1, 3, ensemble.atom_count()),
        parameters);
}

double box_diagonal(View<const float, 2> frame) {
    double square = 0;
    for (Index axis = 0; axis < 3; ++axis) {
        const auto [min, max] = std::minmax_element(frame[axis].begin(), frame[axis].end());
        const double side = static_cast<double>(*max) - static_cast<double>(*min);
        square += side * side;
    }
    return std::sqrt(square);
}

double max_diameter(View<const float, 3> xyz, int threads) {
    std::vector<double> diameters(xyz.extent(0));
    parallel_for(threads, xyz.extent(0),
                 [&](Index frame, int) { diameters[frame] = box_diagonal(xyz[frame]); });
    return diameters.empty() ? 0 : std::ranges::max(diameters);
}

}  // namespace pleat::saxs
