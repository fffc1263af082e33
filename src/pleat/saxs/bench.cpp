// Times the hot loops of saxs at named sizes, on made globules, beside a plain loop over sinf.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "pleat/core/tests/cuda_absence.h"
#include "pleat/saxs/kernel/kernel.h"
#include "pleat/saxs/session/profile_session.h"
#include "pleat/saxs/tests/globule.h"
#include "pleat/saxs/tests/turns.h"

namespace {

using namespace pleat;
using namespace pleat::saxs;
using saxs::test::RandomScatterers;

Context context_of(Device::Kind kind, int threads) {
    Context context;
    context.device = {kind, 0};
    context.threads = threads;
    return context;
}

/// The plain loop over pairs, for comparison.
void plain_loop(benchmark::State& state, const RandomScatterers& given) {
    const Model& model = given.model;
    const auto count = static_cast<std::size_t>(model.scatterer_count());
    const std::size_t q_count = model.q.size();
    std::vector<float> q(model.q.begin(), model.q.end());
    for (auto _ : state) {
        std::vector<double> profile(q_count);
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t j = i + 1; j < count; ++j) {
                float squared = 0.0f;
                for (Index axis = 0; axis < 3; ++axis) {
                    const float d = given.xyz(0, axis, static_cast<Index>(i)) -
                                    given.xyz(0, axis, static_cast<Index>(j));
                    squared += d * d;
                }
                const float r = std::sqrt(squared);
                const double* const f = &model.factors(0, model.types[i], 0);
                const double* const g = &model.factors(0, model.types[j], 0);
                for (std::size_t k = 0; k < q_count; ++k) {
                    const float x = q[k] * r;
                    profile[k] += 2.0 * f[k] * g[k] * (x > 0.0f ? std::sin(x) / x : 1.0f);
                }
            }
        }
        benchmark::DoNotOptimize(profile.data());
    }
}

void time_profiles(benchmark::State& state, const RandomScatterers& given, Options options,
                   Device::Kind kind, int threads) {
    const auto kernel = make_kernel(given.model, options, context_of(kind, threads));
    Array<double, 3> partial(given.xyz.extent(0), given.model.pair_count(), given.model.q_count());
    for (auto _ : state) kernel->profiles(given.xyz, given.scales, partial);
    const double scatterers = static_cast<double>(given.model.scatterer_count());
    state.counters["pairs and q a second"] = benchmark::Counter(
        0.5 * scatterers * scatterers * static_cast<double>(given.model.q_count()) *
            static_cast<double>(given.xyz.extent(0)),
        benchmark::Counter::kIsIterationInvariantRate);
}

void time_gradient(benchmark::State& state, const RandomScatterers& given, int threads) {
    const auto kernel = make_kernel(given.model, {}, context_of(Device::Kind::cpu, threads));
    Array<double, 2> weight(given.model.pair_count(), given.model.q_count());
    weight.fill(1e-3);
    Array<double, 2> gradient(Index{3}, given.model.scatterer_count());
    for (auto _ : state) kernel->gradient(given.xyz[0], {}, weight, gradient);
}

/// Times rigid moves of two of five bodies, of which every second is accepted.
void time_moves(benchmark::State& state, const RandomScatterers& given, Device::Kind kind) {
    const std::vector<std::int32_t> bodies = saxs::test::two_parts(given.model.scatterer_count());
    ProfileSession session(given.model, given.xyz, {}, bodies, {.refresh = 0}, context_of(kind, 1));
    saxs::test::Sampler sampler(bodies, 1);
    std::vector<Index> moved;
    for (Index i = 0; i < 2 * given.model.scatterer_count() / 5; ++i) moved.push_back(i);
    const Array<float, 2> xyz = sampler.turned(session.positions(0), moved);
    const Move move{0, moved, xyz};
    for (auto _ : state) {
        session.propose({&move, 1});
        session.reject(0);
    }
}

template <class Body>
void add(const std::string& name, const Body& body) {
    benchmark::RegisterBenchmark(name.c_str(), body)->Unit(benchmark::kMillisecond)->UseRealTime();
}

void add_profiles(const std::string& name, const RandomScatterers& given, Options options,
                  Device::Kind kind, int threads) {
    add(name, [&given, options, kind, threads](benchmark::State& state) {
        time_profiles(state, given, options, kind, threads);
    });
}

}  // namespace

int main(int count, char** values) {
    benchmark::Initialize(&count, values);
    const auto cpu = Device::Kind::cpu, cuda = Device::Kind::cuda;
    const RandomScatterers paper = saxs::test::paper_size(), fine = saxs::test::paper_size(501);
    RandomScatterers uneven = saxs::test::paper_size();
    uneven.model.q[1] *= 1.01;
    const RandomScatterers atoms = saxs::test::globule(
        {.scatterers = 12204, .types = 15, .channels = 3, .scaled = 1, .q = 501, .step = 0.001},
        15.0);
    const RandomScatterers one_channel =
        saxs::test::globule({.scatterers = 12204, .types = 15, .q = 501, .step = 0.001}, 15.0);
    const Options pairs{.method = Method::debye}, multipole{.method = Method::multipole};
    add("plain_loop/1888x51", [&](benchmark::State& state) { plain_loop(state, paper); });
    add_profiles("pairs/1888x51", paper, pairs, cpu, 1);
    add_profiles("pairs_2_threads/1888x51", paper, pairs, cpu, 2);
    add_profiles("pairs_float64/1888x51", paper, {Precision::float64, Method::debye}, cpu, 1);
    add_profiles("pairs_uneven/1888x51", uneven, pairs, cpu, 1);
    add_profiles("pairs/1888x501", fine, pairs, cpu, 1);
    add("rigid_move/1888x51", [&](benchmark::State& state) { time_moves(state, paper, cpu); });
    add("gradient/1888x51", [&](benchmark::State& state) { time_gradient(state, paper, 1); });
    add_profiles("multipole/1888x501", fine, multipole, cpu, 1);
    add_profiles("multipole/12204x501x3_channels", atoms, multipole, cpu, 1);
    add_profiles("multipole/12204x501", one_channel, multipole, cpu, 1);
    add_profiles("pairs/12204x501", one_channel, pairs, cpu, 1);
    if (pleat::test::cuda_absence().empty()) {
        add_profiles("gpu/1888x51", paper, pairs, cuda, 1);
        add_profiles("gpu/12204x501", one_channel, pairs, cuda, 1);
        add("gpu_rigid_move/1888x51",
            [&](benchmark::State& state) { time_moves(state, paper, cuda); });
    }
    benchmark::RunSpecifiedBenchmarks();
}
