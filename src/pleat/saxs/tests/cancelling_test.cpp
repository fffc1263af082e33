// Tests of cancelling inside long work: sums of one frame, gradients, shapes, layers and fits.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>

#include "every_kernel.h"
#include "globule.h"
#include "pleat/bio/structure/surfaces.h"
#include "pleat/core/error.h"
#include "pleat/saxs/fit/ensemble_fit.h"
#include "pleat/saxs/fit/shape.h"
#include "pleat/saxs/model/form_factors.h"
#include "pleat/saxs/session/profile_session.h"

namespace pleat::saxs {
namespace {

/// Cancels after a number of questions, all of which must come from the thread that made it.
class CancelsAfter final : public Progress {
public:
    explicit CancelsAfter(int questions) : left_(questions) {}
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
    void message(std::string_view) override {}
    bool cancelled() override {
        is_alone_ &= std::this_thread::get_id() == owner_;
        ++asked_;
        return left_-- <= 0;
    }
    int asked() const { return asked_; }
    bool is_alone() const { return is_alone_; }

private:
    const std::thread::id owner_ = std::this_thread::get_id();
    int left_, asked_ = 0;
    bool is_alone_ = true;
};

/// The work must stop at the question that is answered with yes, be it the first or the third, and
/// ask no other thread's.
void expect_to_stop(const std::string& name, const std::function<void(const Context&)>& work) {
    for (const int threads : {1, 2}) {
        for (const int questions : {0, 2}) {
            SCOPED_TRACE(name + " on " + std::to_string(threads) + " threads, " +
                         std::to_string(questions));
            CancelsAfter progress(questions);
            Context context;
            context.threads = threads;
            context.progress = &progress;
            EXPECT_THROW(work(context), Cancelled);
            EXPECT_EQ(progress.asked(), questions + 1);
            EXPECT_TRUE(progress.is_alone());
        }
    }
}

using MakeKernel = std::function<std::unique_ptr<Kernel>(const Model&, const Context&)>;

TEST(Cancelling, StopsEveryKernelInsideAFrame) {
    const test::RandomScatterers given =
        test::globule({.scatterers = 3000, .types = 3, .q = 20}, 15.0);
    const auto expect = [&](const std::string& name, const MakeKernel& make) {
        expect_to_stop(name + ": a profile", [&](const Context& context) {
            test::profiles_of(*make(given.model, context), given.model, given.xyz);
        });
        expect_to_stop(name + ": a gradient", [&](const Context& context) {
            const Array<double, 2> weight(Index{1}, Index{20});
            Array<double, 2> gradient(Index{3}, Index{3000});
            make(given.model, context)->gradient(given.xyz.view()[0], {}, weight, gradient);
        });
    };
    expect("float32", [](const Model& model, const Context& context) {
        return make_cpu_kernel(model, Precision::float32, context);
    });
    expect("float64", [](const Model& model, const Context& context) {
        return make_cpu_kernel(model, Precision::float64, context);
    });
    expect("multipole", [](const Model& model, const Context& context) {
        return make_multipole_kernel(model, Precision::float32, context);
    });
    expect("reference", [](const Model& model, const Context& context) {
        return make_reference_kernel(model, context);
    });
}

TEST(Cancelling, StopsShapesAndHydrationLayers) {
    // So many that the thread that asks comes to ask before others have done all.
    constexpr Index kScatterers = 10000;
    const test::RandomScatterers given = test::globule({.scatterers = kScatterers}, 15.0);
    const std::vector<double> ones(kScatterers, 1.0);
    expect_to_stop("shape", [&](const Context& context) {
        measure_shape(given.xyz.view()[0], ones, kScatterers, 1.0, context);
    });
    expect_to_stop("layer", [&](const Context& context) {
        exposures(given.xyz.view()[0], ones, 1.8, context);
    });
}

/// Profiles of Gaussian spheres of all sizes, and a curve of one of them.
struct GaussianSpheres {
    Array<double, 3> partial{Index{60}, Index{6}, Index{40}};
    Profile curve;
    GaussianSpheres() {
        for (Index k = 0; k < 40; ++k) {
            curve.q.push_back(0.005 * static_cast<double>(k + 1));
            for (Index frame = 0; frame < 60; ++frame)
                for (Index pair = 0; pair < 6; ++pair)
                    partial(frame, pair, k) =
                        100 * std::exp(-std::pow(curve.q.back(), 2) *
                                       static_cast<double>(30 + 7 * frame + 11 * pair));
        }
        curve.intensity = intensity(partial[3], curve.q, 1.6, {1, 1});
        for (double& value : curve.intensity) curve.sigma.push_back(0.01 * value);
    }
    EnsembleProblem problem() const { return {&curve, partial, 1.6, {}}; }
};

TEST(Cancelling, StopsFits) {
    const GaussianSpheres spheres;
    expect_to_stop("fit", [&](const Context& context) {
        fit(spheres.curve, spheres.partial[0], 1.6, {}, nullptr, context);
    });
    const auto ask_often = [&](const std::string& name, const auto& work) {
        SCOPED_TRACE(name);
        CancelsAfter never(1 << 30), late(3000);
        Context context;
        context.progress = &never;
        work(context);
        EXPECT_GT(never.asked(), 4000);
        context.progress = &late;
        EXPECT_THROW(work(context), Cancelled);
        EXPECT_EQ(late.asked(), 3001);
    };
    ask_often("minimal ensembles",
              [&](const Context& context) { minimal_ensembles(spheres.problem(), 2, context); });
    ask_often("maximum entropy",
              [&](const Context& context) { maximum_entropy(spheres.problem(), context); });
}

TEST(Cancelling, IsNotCheckedByAFinishedSession) {
    const test::RandomScatterers given =
        test::random_scatterers({.scatterers = 60, .types = 3, .q = 40});
    CancelsAfter progress(1);
    Context context;
    context.progress = &progress;
    ProfileSession session(given.model, given.xyz, {}, {}, {}, context);
    EXPECT_EQ(progress.asked(), 1);
    const std::vector<Index> one{7};
    const Array<float, 2> xyz(Index{3}, Index{1});
    const Move move{0, one, xyz};
    EXPECT_NO_THROW(session.propose({&move, 1}));
    EXPECT_NO_THROW(session.refresh(0));
    EXPECT_EQ(progress.asked(), 1);
    EXPECT_THROW(ProfileSession(given.model, given.xyz, {}, {}, {}, context), Cancelled);
}

}  // namespace
}  // namespace pleat::saxs
