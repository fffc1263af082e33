// SAXS estimate: sizes of the components of a run, counted frame by frame.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "pleat/bio/ensemble/ensemble_reader.h"
#include "pleat/core/error.h"
#include "pleat/saxs/memory_estimate.h"
#include "saxs/saxs_run.h"

namespace pleat::program {

namespace {

/// The smallest box around all frames so far.
struct Box {
    std::array<float, 3> min, max;

    Box() {
        min.fill(std::numeric_limits<float>::max());
        max.fill(std::numeric_limits<float>::lowest());
    }
    void add(View<const float, 2> frame) {
        for (Index axis = 0; axis < 3; ++axis) {
            const auto n = static_cast<std::size_t>(axis);
            for (const float x : frame[axis]) {
                min[n] = std::min(min[n], x);
                max[n] = std::max(max[n], x);
            }
        }
    }
    double diagonal() const {
        double square = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double side = static_cast<double>(max[axis]) - static_cast<double>(min[axis]);
            square += side * side;
        }
        return std::sqrt(square);
    }
};

/// Parts of one structure are joined as interpret_models() does. More models than that are a
/// trajectory; up to it they are kept to be compared.
constexpr Index kMaxParts = 202;

/// Sets `gyration` to the Rg of the structure, or of its first frame, unless it is set.
saxs::ComponentSize measure(const SaxsOptions& options, const std::vector<std::string>& sources,
                            std::optional<double>& gyration) {
    EnsembleSource source = options.ensemble;
    source.sources = sources;
    const std::size_t files = files_of(source).size();
    saxs::ComponentSize size;
    Box all;
    std::vector<float> parts;
    std::shared_ptr<const Topology> topology;
    const EnsembleSize counted =
        measure_ensemble(source, [&](const EnsembleReader& reader, View<const float, 2> frame) {
            topology = reader.topology();
            Box own;
            own.add(frame);
            all.add(frame);
            size.diameter = std::max(size.diameter, own.diagonal());
            if (++size.frames == 1 || (size.frames <= kMaxParts && files == 1))
                parts.insert(parts.end(), frame.begin(), frame.end());
        });
    size.atoms = counted.atoms;
    const bool is_detected =
        files == 1 && size.frames > 1 && size.frames <= kMaxParts &&
        options.models_are == saxs::ModelsAre::automatic &&
        saxs::are_copies(View<const float, 3>(parts.data(), size.frames, 3, size.atoms));
    const bool is_parts = is_detected || options.models_are == saxs::ModelsAre::parts;
    if (is_parts) {
        const auto structures = static_cast<Index>(files);
        size.atoms *= size.frames / structures;
        size.frames = structures;
        size.diameter = all.diagonal();
    }
    const Index kept = is_parts ? static_cast<Index>(parts.size()) / (3 * counted.atoms) : 1;
    if (!gyration && !options.data.empty())
        gyration = saxs::gyration_of_structure(
            *topology, View<const float, 3>(parts.data(), kept, 3, counted.atoms),
            options.parameters);
    return size;
}

}  // namespace

RunEstimate estimate_profiles(SaxsOptions& options) {
    check_job(options);
    std::vector<saxs::ComponentSize> sizes;
    ProfileOptions reading = options.curve;
    if (!options.mixture)
        sizes.push_back(measure(options, options.ensemble.sources, reading.structure_gyration));
    else
        for (const std::string& file : files_of(options.ensemble))
            sizes.push_back(measure(options, {file}, reading.structure_gyration));
    Index points = 0, frames = 0, atoms = 0;
    if (!options.data.empty())
        points = static_cast<Index>(read_profile(options.data, reading).profile.size());
    for (const saxs::ComponentSize& size : sizes) {
        frames += size.frames;
        atoms = std::max(atoms, size.atoms);
    }
    std::string input = fmt::format("{} frames, {} atoms", frames, atoms);
    if (points > 0) input += fmt::format(", a curve of {} points", points);
    std::vector<saxs::FurtherCurve> further;
    for (const SeriesFile& one : parse_series(options.series))
        further.push_back({read_profile(one.path, reading).profile, one.d2o});
    const bool is_for_gpus = options.parameters.method != saxs::Method::multipole ||
                             options.parameters.precision != saxs::Precision::float64;
    return {.input = input,
            .may_use_gpu = is_for_gpus,
            .on = [=, parameters = options.parameters](const Context& context) {
                return saxs::estimate(sizes, points, parameters, context, further);
            }};
}

}  // namespace pleat::program
