// Made hinge: a domain with a made linker, and curves of its conformations.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/workflows/refine/fit/curve_fit.h"

namespace pleat::refine::test {

/// The second domain of HIV's capsid protein, with a made linker between its helices.
inline Ensemble structure() {
    return read_ensemble({(pleat::test::data_folder() / "1a8o.pdb.gz").string()},
                         {.topology = {}, .select = "heavy and protein", .range = {}});
}

inline std::vector<double> grid(Index points, double last) {
    std::vector<double> q;
    for (Index n = 0; n < points; ++n)
        q.push_back(last * static_cast<double>(n) / static_cast<double>(points - 1));
    return q;
}

/// It between its two domains, with curves of its conformations.
struct Hinge174 {
    Ensemble ensemble = structure();
    ChainModel chain =
        make_chain_model(ensemble.topology, ensemble.xyz.view()[0],
                         {.linkers = parse_ranges("A:174-179", "--linkers"), .groups = {}});
    Prior prior{chain, coil_tables()};
    Moves moves{chain, prior};
    std::vector<double> q = grid(41, 0.3);

    Conformation draw(Index chain_number) const {
        Conformation conformation(chain);
        conformation.set_angles(find_start(chain, moves, {}, 1, chain_number));
        return conformation;
    }
    /// The partial profiles [channel pair, q] of a conformation.
    Array<double, 3> partial_of(const Conformation& at, const ProfileModel& model) const {
        Array<float, 3> xyz(Index{1}, Index{3}, model.model.scatterer_count()),
            scales(Index{1}, model.scales.extent(0), model.scales.extent(1));
        model.write(at, xyz.view()[0]);
        std::copy(model.scales.begin(), model.scales.end(), scales.begin());
        return saxs::profiles(model.model, xyz.view(), scales.view(),
                              {.precision = saxs::Precision::float64}, {});
    }
    /// A curve with relative errors, of a mixture of conformations with these weights.
    Profile curve_of(const std::vector<std::pair<double, Conformation>>& mixture,
                     const ProfileModel& model, double error, bool noise,
                     std::uint64_t seed = 3) const {
        std::vector<double> intensity(q.size());
        for (const auto& [weight, at] : mixture) {
            const Array<double, 3> partial = partial_of(at, model);
            for (Index k = 0; k < partial.extent(2); ++k) {
                const double c2 = 1;
                intensity[static_cast<std::size_t>(k)] +=
                    weight *
                    (partial(0, 0, k) + c2 * partial(0, 1, k) + c2 * c2 * partial(0, 2, k));
            }
        }
        std::mt19937_64 random(seed);
        std::normal_distribution<double> normal;
        Profile curve;
        curve.q = q;
        for (const double value : intensity) {
            curve.sigma.push_back(error * value);
            curve.intensity.push_back(value + (noise ? error * value * normal(random) : 0));
        }
        return curve;
    }
    /// That of one conformation, with errors of 2 %.
    Profile curve_of(const Conformation& truth, const ProfileModel& model, bool noise) const {
        return curve_of({{1.0, truth}}, model, 0.02, noise);
    }
};

/// Stops a run after some rounds of sampling.
struct StopAfter final : Progress {
    explicit StopAfter(int count) : left(count) {}
    void update(std::string_view stage, std::int64_t, std::int64_t, std::string_view) override {
        left -= stage == "sample";
    }
    bool cancelled() override { return left <= 0; }
    void message(std::string_view) override {}
    int left;
};

}  // namespace pleat::refine::test
