// Model joining: topologies repeated, coordinates side by side.
#include "pleat/saxs/model/model_joining.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {

namespace {

/// Centre (x, y, z) and radius of gyration of all atoms.
std::array<double, 4> moments(View<const float, 2> xyz) {
    std::array<double, 4> result{};
    const auto count = static_cast<double>(xyz.extent(1));
    for (Index axis = 0; axis < 3; ++axis) {
        double sum = 0, squares = 0;
        for (const float x : xyz[axis]) {
            sum += static_cast<double>(x);
            squares += static_cast<double>(x) * static_cast<double>(x);
        }
        result[axis] = sum / count;
        result[3] += squares / count - (sum / count) * (sum / count);
    }
    result[3] = std::sqrt(std::max(0.0, result[3]));
    return result;
}

/// Topology of `copies` of one molecule; chains and residues with equal names stay separate.
Topology repeat(const Topology& one, Index copies) {
    Topology all = one;
    for (Index copy = 1; copy < copies; ++copy) {
        const auto residues = std::ssize(all.residues);
        for (Topology::Atom atom : one.atoms) {
            atom.residue += residues;
            all.atoms.push_back(std::move(atom));
        }
        all.residues.insert(all.residues.end(), one.residues.begin(), one.residues.end());
    }
    return all;
}

}  // namespace

bool are_copies(View<const float, 3> xyz) {
    constexpr double kSame = 0.05;
    const Index frames = xyz.extent(0), atoms = xyz.extent(2);
    if (frames < 2 || atoms < 2) return false;
    const std::array<double, 4> first = moments(xyz[0]);
    for (Index frame = 1; frame < frames; ++frame) {
        for (Index i = 0; i < atoms; ++i) {
            const Index j = (i + atoms / 2 + i % 7) % atoms;
            if (std::abs(distance(xyz[frame], i, j) - distance(xyz[0], i, j)) > kSame) return false;
        }
        for (Index before = 0; before < frame; ++before) {
            const std::array<double, 4> a = moments(xyz[before]), b = moments(xyz[frame]);
            const double apart = std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
            if (apart < first[3]) return false;
        }
        // Many frames of one rigid molecule are a trajectory, not an assembly.
        if (frame > 200) return false;
    }
    return true;
}

Ensemble join_models(const Ensemble& ensemble) {
    const auto files = std::ssize(ensemble.files);
    const Index frames = ensemble.frame_count(), atoms = ensemble.atom_count();
    std::vector<Index> counts(files, 0);
    for (const FrameOrigin& origin : ensemble.origins) ++counts[origin.file];
    const Index copies = counts.front();
    for (std::size_t file = 0; file < counts.size(); ++file) {
        if (counts[file] != copies)
            throw InputError(ensemble.files[file], 0,
                             fmt::format("expected {} models as in {}, found {}", copies,
                                         ensemble.files.front(), counts[file]));
    }
    Ensemble joined;
    joined.topology = std::make_shared<const Topology>(repeat(*ensemble.topology, copies));
    joined.files = ensemble.files;
    joined.xyz = Array<float, 3>(files, 3, copies * atoms);
    for (Index frame = 0; frame < frames; ++frame) {
        const Index file = frame / copies, copy = frame % copies;
        for (Index axis = 0; axis < 3; ++axis)
            std::copy_n(ensemble.xyz[frame][axis].data, atoms,
                        joined.xyz[file][axis].data + copy * atoms);
    }
    for (Index file = 0; file < files; ++file) joined.origins.push_back({file, 0});
    return joined;
}

std::span<const std::string_view> names_of(ModelsAre) {
    static constexpr std::string_view kNames[] = {"auto", "states", "parts"};
    return kNames;
}

Field models_are_field(ModelsAre& models_are) {
    return {.name = "models-are",
            .target = &models_are,
            .help =
                "What the models and frames of files are: states of an ensemble, or parts of "
                "one structure per file; auto: parts if the models of a single file are copies "
                "of one another at different positions, else states"};
}

std::string interpret_models(ModelsAre models_are, Ensemble& ensemble) {
    const Index models = ensemble.frame_count();
    if (models_are == ModelsAre::states || models < 2) return {};
    const bool is_detected = models_are == ModelsAre::automatic;
    if (is_detected && (ensemble.files.size() > 1 || !are_copies(ensemble.xyz))) return {};
    ensemble = join_models(ensemble);
    if (!is_detected) return {};
    return fmt::format(
        "{} models are copies of one another at different positions: treated as parts of one "
        "structure (--models-are states keeps them apart)",
        models);
}

}  // namespace pleat::saxs
