// The CUDA kernels' steps, lane by lane on the host, against float64 sums over pairs of bodies.
#include <gtest/gtest.h>

#include <cmath>

#include "lanes_on_host.h"
#include "pleat/saxs/cuda/pair_kernel.cuh"
#include "pleat/saxs/debye/body_pairs.h"
#include "pleat/saxs/debye/pair_sums.h"
#include "random_model.h"

namespace pleat::saxs {
namespace {

using test::Lanes;
using test::random_scatterers;
using test::RandomScatterers;
using test::RandomShape;

struct Bodies {
    RandomScatterers given;
    SortedScatterers sorted;
    std::vector<PairJob> jobs;
    Array<float, 3> xyz, scales;  ///< in sorted order
};

Bodies bodies_of(const RandomShape& shape, Index count) {
    Bodies result{random_scatterers(shape), {}, {}, {}, {}};
    std::vector<std::int32_t> bodies;
    for (Index i = 0; i < shape.scatterers; ++i)
        bodies.push_back(static_cast<std::int32_t>(i * count / shape.scatterers));
    result.sorted = sort_by_body(result.given.model, bodies, count);
    for (std::int32_t set = 0; set < shape.frames; ++set)
        for (std::int32_t a = 0; a < count; ++a)
            for (std::int32_t b = a; b < count; ++b) result.jobs.push_back({set, a, b});
    const auto arrange = [&](const Array<float, 3>& from) {
        Array<float, 3> to(from.extent(0), from.extent(1), from.extent(2));
        for (Index frame = 0; frame < from.extent(0); ++frame)
            for (Index row = 0; row < from.extent(1); ++row)
                for (Index n = 0; n < from.extent(2); ++n)
                    to(frame, row, n) =
                        from(frame, row, result.sorted.order[static_cast<std::size_t>(n)]);
        return to;
    };
    result.xyz = arrange(result.given.xyz);
    result.scales = arrange(result.given.scales);
    return result;
}

/// Everything that the GPU's memory would hold, and both kernels in their order.
class HostDevice {
public:
    HostDevice(const Bodies& bodies, Index fewest)
        : bodies_(bodies), table_(bodies.sorted, fewest), grid_(bodies.given.model.q) {
        const Model& model = bodies.given.model;
        const ScaleClasses classes(model);
        for (const double q : model.q) {
            inverse_q_.push_back(q > 0 ? 1 / q : 0.0);
            turns_.push_back(SineGrid::turns<float>(q));
        }
        passes_ = (model.q_count() + cuda::kPassSums - 1) / cuda::kPassSums;
        turns_.resize(static_cast<std::size_t>(passes_ * cuda::kPassSums));
        for (Index n = 0; n < passes_; ++n) {
            const double centre = static_cast<double>(n * cuda::kPassSums + kMaxOffset);
            pass_.push_back({SineGrid::turns<float>(grid_.step),
                             SineGrid::turns<float>(grid_.first + centre * grid_.step),
                             turns_.data() + n * cuda::kPassSums});
        }
        class_of_.assign(classes.class_of_channel.begin(), classes.class_of_channel.end());
        const auto small = [](Index n) { return static_cast<std::int32_t>(n); };
        from_ = {table_.tasks.data(),
                 table_.first.data(),
                 pass_.data(),
                 model.factors.data(),
                 inverse_q_.data(),
                 class_of_.data(),
                 small(table_.bodies),
                 small(passes_),
                 small(classes.count),
                 classes.has_unscaled_class ? 1 : 0,
                 small(model.channel_count()),
                 small(model.type_count()),
                 small(model.q_count()),
                 grid_.starts_at_zero ? 1 : 0};
        job_count_ = small(static_cast<Index>(bodies.jobs.size()));
    }

    /// Tasks `batch_size` at a time.
    Array<double, 3> evaluate(Index batch_size) {
        const Model& model = bodies_.given.model;
        const Index weightings = Index{from_.classes} * from_.classes;
        Array<double, 3> partial(job_count_, model.pair_count(), model.q_count());
        sums_.assign(static_cast<std::size_t>(job_count_ * weightings * passes_ * batch_size *
                                              cuda::kTaskSums),
                     std::numeric_limits<float>::quiet_NaN());
        for (Index first = 0; first == 0 || first < table_.max_tasks; first += batch_size) {
            const cuda::Work work{bodies_.jobs.data(),
                                  bodies_.xyz.data(),
                                  bodies_.scales.data(),
                                  model.scatterer_count(),
                                  static_cast<std::int32_t>(model.scale_count()),
                                  static_cast<std::int32_t>(first),
                                  static_cast<std::int32_t>(batch_size),
                                  sums_.data(),
                                  partial.data(),
                                  first > 0 ? 1 : 0,
                                  3,
                                  nullptr,
                                  nullptr};
            sum(work, weightings);
            reduce(work, partial);
        }
        return partial;
    }

private:
    void sum(const cuda::Work& work, Index weightings) {
        Lanes lanes;
        lanes.run([&](int lane) {
            const test::HostWarp warp{lanes, lane};
            for (Index job = 0; job < job_count_; ++job)
                for (int weighting = 0; weighting < weightings; ++weighting)
                    for (int pass = 0; pass < passes_; ++pass)
                        for (Index task = 0; task < work.task_count; ++task) {
                            const auto sum = [&]<bool kEven, bool kScaled>() {
                                cuda::sum_task<kEven, kScaled>(from_, work, job, task, weighting,
                                                               pass, lane, held_, warp);
                            };
                            const bool scaled = work.scale_count > 0;
                            if (!grid_.even)
                                sum.operator()<false, true>();
                            else if (scaled)
                                sum.operator()<true, true>();
                            else
                                sum.operator()<true, false>();
                        }
        });
    }

    void reduce(const cuda::Work& work, Array<double, 3>& partial) {
        for (Index job = 0; job < job_count_; ++job) {
            for (int pair = 0; pair < partial.extent(1); ++pair) {
                int a, b;
                cuda::channels_of(pair, from_.channels, a, b);
                EXPECT_EQ(channel_pair(a, b, from_.channels), pair);
                for (int k = 0; k < from_.q_count; ++k)
                    for (int part = 0; part < kAllParts; ++part)
                        partial(job, pair, k) +=
                            cuda::sum_part(from_, work, job, a, b, k, part, kAllParts);
            }
        }
    }

    static constexpr int kAllParts = 3 * cuda::kParts;  // of three slices

    const Bodies& bodies_;
    cuda::TaskTable table_;
    cuda::KeptScatterers held_{};
    SineGrid grid_;
    Index passes_ = 0;
    std::int32_t job_count_ = 0;
    std::vector<double> inverse_q_;
    std::vector<SplitNumber<float>> turns_;
    std::vector<cuda::Pass> pass_;
    std::vector<std::int32_t> class_of_;
    std::vector<float> sums_;
    cuda::Scattering from_{};
};

void expect_sums(const RandomShape& shape, Index count, Index batch_size, Index fewest = 1) {
    const Bodies bodies = bodies_of(shape, count);
    const Model& model = bodies.given.model;
    Array<double, 3> expected(static_cast<Index>(bodies.jobs.size()), model.pair_count(),
                              model.q_count());
    make_cpu_body_pairs(model, bodies.sorted, Precision::float64, {})
        ->evaluate(bodies.xyz, bodies.scales, bodies.jobs, expected);
    Array<double, 3> found = HostDevice(bodies, fewest).evaluate(batch_size);
    for (std::size_t n = 0; n < bodies.jobs.size() && model.q.front() == 0.0; ++n)
        set_zero_angle_profile(
            zero_angle_sums(
                model, bodies.sorted,
                shape.scaled > 0 ? bodies.scales.view()[bodies.jobs[n].set] : View<float, 2>{}),
            bodies.jobs[n], found.view()[static_cast<Index>(n)]);
    for (Index job = 0; job < found.extent(0); ++job) {
        for (Index pair = 0; pair < found.extent(1); ++pair) {
            // Of the largest value: sums of a few pairs may vanish at some q.
            double largest = 0.0;
            for (Index k = 0; k < found.extent(2); ++k)
                largest = std::max(largest, std::fabs(expected(job, pair, k)));
            for (Index k = 0; k < found.extent(2); ++k) {
                ASSERT_NEAR(found(job, pair, k), expected(job, pair, k), 2e-6 * largest)
                    << "job " << job << " pair " << pair << " q " << k;
            }
        }
    }
}

TEST(GpuSteps, SumOverPairsOfBodies) {
    expect_sums({.scatterers = 1, .types = 1}, 1, 4);
    expect_sums({.scatterers = 2, .types = 1}, 2, 4);
    expect_sums({.scatterers = 31, .types = 2, .q = 20, .frames = 2}, 1, 64);
    expect_sums({.scatterers = 40, .types = 3, .q = 52, .first = 0.01}, 3, 16);
    expect_sums({.scatterers = 70, .types = 1, .q = 51}, 1, 2);
    expect_sums({.scatterers = 45, .types = 4, .q = 103, .step = 0.007}, 2, 100);
    expect_sums({.scatterers = 300, .types = 1, .q = 51}, 1, 100, 8);
    expect_sums({.scatterers = 30, .types = 2, .q = 55, .even = false}, 2, 8);
}

TEST(GpuSteps, SumOverScaledChannels) {
    expect_sums({.scatterers = 30, .types = 2, .channels = 3, .scaled = 1, .q = 20}, 2, 8);
    expect_sums({.scatterers = 24, .types = 2, .channels = 2, .scaled = 2, .q = 20}, 1, 8);
}

// Half turns are told right up to the largest phase, whose last bits are quarters of a turn.
TEST(GpuSteps, ReduceEveryPhase) {
    for (const float r : {0.0f, 0.125f, 0.25f, 0.375f, 0.625f, 0.75f, 0.875f, 1.125f, 12345.375f,
                          1048575.875f, 1048576.375f, 2097150.75f, 2097151.25f, 2097151.5f}) {
        const cuda::Wave wave = cuda::wave_of(r, {1.0f, 0.0f});
        const double angle = kTurn * (double{r} - std::floor(double{r}));
        EXPECT_NEAR(wave.sine, std::sin(angle), 3e-7) << r;
        EXPECT_NEAR(wave.cosine, std::cos(angle), 3e-7) << r;
    }
}

// Every pair of a task is met once, whatever its shape and wherever a warp stops to hold more.
TEST(GpuSteps, MeetEveryPairOnce) {
    for (const int rows : {1, 2, 3, 31, 32}) {
        for (const int columns : {1, 2, 5, 32, 33, 64, 100, 128}) {
            for (const int same_segment : {0, 1}) {
                if (same_segment != 0 && rows != columns) continue;
                const cuda::Task task{
                    100, same_segment != 0 ? 100 : 1000, rows, columns, 0, 0, same_segment};
                std::vector<int> met(static_cast<std::size_t>(rows * columns));
                for (int lane = 0; lane < cuda::kLanes; ++lane)
                    cuda::for_pairs(task, columns, lane, [&](int a, int b) {
                        int row = same_segment != 0 ? b % columns : b - cuda::kKeptColumns,
                            column = a;
                        if (same_segment != 0 && row > column) std::swap(row, column);
                        ++met.at(static_cast<std::size_t>(row * columns + column));
                    });
                for (int n = 0; n < rows * columns; ++n)
                    EXPECT_EQ(met[static_cast<std::size_t>(n)],
                              same_segment != 0 ? n % columns > n / columns : 1);
            }
        }
    }
}

}  // namespace
}  // namespace pleat::saxs
