// Profiles of frames dealt over ranks: the same bits on every rank as of one, and cancelling.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/core/tests/thread_comm.h"
#include "pleat/saxs/debye/debye.h"
#include "pleat/saxs/saxs.h"
#include "random_model.h"

namespace pleat::saxs {
namespace {

using test::random_scatterers;
using test::RandomScatterers;

Context one_thread() {
    Context context;
    context.threads = 1;
    return context;
}

TEST(Ranks, GetTheProfilesOfOne) {
    const RandomScatterers given = random_scatterers(
        {.scatterers = 6, .types = 2, .channels = 2, .scaled = 1, .q = 20, .frames = 700});
    const Array<double, 3> expected =
        profiles(given.model, given.xyz, given.scales, {}, one_thread());
    for (const int ranks : {1, 2, 4}) {  // of the four one has no tile
        std::vector<Array<double, 3>> found(static_cast<std::size_t>(ranks));
        pleat::test::on_ranks(ranks, [&](Comm& comm) {
            Context context = one_thread();
            context.comm = &comm;
            found[static_cast<std::size_t>(comm.rank())] =
                profiles(given.model, given.xyz, given.scales, {}, context);
        });
        for (const Array<double, 3>& own : found) {
            ASSERT_EQ(own.size(), expected.size());
            for (Index n = 0; n < own.size(); ++n)
                ASSERT_EQ(own.data()[n], expected.data()[n]) << n;
        }
    }
}

TEST(Ranks, LanesOfAProcessShareTheProfiles) {
    const RandomScatterers given = random_scatterers(
        {.scatterers = 6, .types = 2, .channels = 2, .scaled = 1, .q = 20, .frames = 700});
    const Array<double, 3> expected =
        profiles(given.model, given.xyz, given.scales, {}, one_thread());
    for (const std::size_t lanes : {1, 2, 4}) {  // of the four one has no tile
        Context context = one_thread();
        context.device = {Device::Kind::cpu, 0};
        context.lanes.assign(lanes, context.device);
        const Array<double, 3> found = profiles(given.model, given.xyz, given.scales, {}, context);
        EXPECT_TRUE(std::ranges::equal(found, expected)) << lanes;
    }
}

/// Frames of a small protein whose atoms are shaken.
Ensemble shaken(Index frames) {
    Ensemble ensemble = read_ensemble({(pleat::test::data_folder() / "1a8o.pdb.gz").string()},
                                      {.topology = {}, .select = "not (MSE)", .range = {}});
    const Array<float, 3> still = ensemble.xyz;
    ensemble.xyz = Array<float, 3>(frames, Index{3}, still.extent(2));
    ensemble.origins.assign(static_cast<std::size_t>(frames), ensemble.origins.front());
    std::mt19937_64 random(2);
    std::normal_distribution<float> normal(0, 0.3f);
    for (Index frame = 0; frame < frames; ++frame)
        for (Index n = 0; n < still[0].size(); ++n)
            ensemble.xyz[frame].data[n] = still[0].data[n] + normal(random);
    return ensemble;
}

/// What a run finds, as one list of numbers.
std::vector<double> numbers_of(const Result& result) {
    std::vector<double> all(result.intensity.begin(), result.intensity.end());
    all.insert(all.end(), result.pairs.begin(), result.pairs.end());
    for (const Shape& shape : result.frame_shapes)
        all.insert(all.end(), {shape.gyration_radius, shape.forward_intensity, shape.diameter});
    return all;
}

TEST(Ranks, ShareLayersAndShapes) {
    const Ensemble ensemble = shaken(7);
    Parameters parameters;
    parameters.c2 = 1;
    parameters.q_points = 20;
    const std::vector<double> expected =
        numbers_of(run({&ensemble, 1}, nullptr, nullptr, parameters, one_thread()));
    for (const int ranks : {2, 3, 8}) {  // of the eight one has no frame
        std::vector<std::vector<double>> found(static_cast<std::size_t>(ranks));
        pleat::test::on_ranks(ranks, [&](Comm& comm) {
            Context context = one_thread();
            context.comm = &comm;
            found[static_cast<std::size_t>(comm.rank())] =
                numbers_of(run({&ensemble, 1}, nullptr, nullptr, parameters, context));
        });
        for (const std::vector<double>& own : found) EXPECT_EQ(own, expected) << ranks;
    }
}

struct StopAfterOne final : Progress {
    void update(std::string_view, std::int64_t done, std::int64_t total,
                std::string_view) override {
        last = done;
        all = total;
    }
    void message(std::string_view) override {}
    bool cancelled() override { return last >= 1; }
    std::int64_t last = 0, all = 0;
};

TEST(Ranks, ProfilesTellTheirProgressAndStop) {
    const RandomScatterers given = random_scatterers({.scatterers = 6, .frames = 700});
    StopAfterOne progress;
    Context context = one_thread();
    context.progress = &progress;
    EXPECT_THROW(profiles(given.model, given.xyz, {}, {}, context), Cancelled);
    EXPECT_EQ(progress.last, 1);
    EXPECT_EQ(progress.all, 3);
}

}  // namespace
}  // namespace pleat::saxs
