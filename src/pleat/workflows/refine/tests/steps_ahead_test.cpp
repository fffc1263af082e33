// Steps ahead: the bits of one thread for any threads and steps, after a stop, and errors.
#include "pleat/workflows/refine/sampling/steps_ahead.h"

#include <atomic>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/workflows/refine/tests/pools_ahead.h"

namespace pleat::refine {

namespace {

using pleat::test::TemporaryFolder;
using test::expect_same_pools;
using test::MadePool;
using test::on_threads;

// Burn-in adapts widths, from which all later moves follow.
const PoolOptions kPools[] = {
    {.chains = 1, .moves = 23, .burn_in = 5, .kept = 6},
    {.chains = 2, .moves = 12, .burn_in = 3, .kept = 3},
    {.chains = 1, .rungs = 3, .moves = 12, .burn_in = 6, .kept = 4},
    {.chains = 1, .replicas = 4, .moves = 9, .burn_in = 3, .kept = 3},
    {.chains = 2, .rungs = 2, .replicas = 3, .moves = 5, .burn_in = 3, .kept = 2},
};

TEST(StepsAhead, HaveTheBitsOfOneThread) {
    const MadePool made;
    for (PoolOptions options : kPools) {
        SCOPED_TRACE(testing::Message() << options.chains << " chains, " << options.rungs
                                        << " rungs, " << options.replicas << " replicas");
        const Pool expected = made.sample(options, on_threads(1));
        EXPECT_EQ(expected.dropped, 0);
        for (const std::int64_t proposed : expected.proposed) EXPECT_GT(proposed, 0);
        for (const auto& [threads, ahead] :
             {std::pair{1, 8}, {2, 8}, {3, 2}, {5, 8}, {9, 8}, {16, 16}}) {
            options.ahead = ahead;
            options.few_moves = threads % 2 == 1;
            const Pool pool = made.sample(options, on_threads(threads));
            expect_same_pools(pool, expected);
            EXPECT_EQ(pool.dropped > 0, threads >= 2 * options.chains * options.rungs) << threads;
        }
    }
}

TEST(StepsAhead, ResumeWithTheSameBits) {
    const MadePool made;
    PoolOptions options{
        .chains = 1, .rungs = 2, .replicas = 2, .moves = 8, .burn_in = 5, .kept = 4};
    const Pool expected = made.sample(options, on_threads(1));
    options.ahead = 8;
    for (const int rounds : {3, 7}) {  // in burn-in, and later
        const TemporaryFolder folder;
        Context context = on_threads(6);
        context.checkpoint = folder / "checkpoint.npz";
        test::StopAfter stop(rounds);
        context.progress = &stop;
        EXPECT_THROW(made.sample(options, context), Cancelled);
        context.progress = nullptr;
        context.threads = 7;
        expect_same_pools(made.sample(options, context), expected);
    }
}

/// Counts the overlaps that it finds, and fails at one of them.
class FailingTarget final : public SamplingTarget {
public:
    FailingTarget(const ChainModel& model, std::atomic<int>& left, int& early)
        : sterics_(model), left_(left), early_(early) {}
    void begin_early() override { ++early_; }
    void start(const Conformation& at) override { sterics_.start(at); }
    bool prepare(const Conformation& proposed) override {
        if (--left_ == 0) throw DeviceError("the device was lost");
        return sterics_.prepare(proposed);
    }
    double prepared_log_weight() override { return sterics_.prepared_log_weight(); }
    void accept() override { sterics_.accept(); }
    void adopt(const SamplingTarget& from) override {
        sterics_.adopt(dynamic_cast<const FailingTarget&>(from).sterics_);
    }
    double accepted_log_weight() override { return sterics_.accepted_log_weight(); }

private:
    StericTarget sterics_;
    std::atomic<int>& left_;
    int& early_;
};

TEST(StepsAhead, EndOnEveryThreadIfOneFails) {
    const MadePool made;
    for (const int calls : {1, 2, 40, 61}) {
        std::atomic<int> left = calls;
        int early = 0;
        const auto make_targets = [&](Index walkers, Index replicas) {
            TargetBatch targets;
            for (Index n = 0; n < walkers * replicas; ++n)
                targets.push_back(std::make_unique<FailingTarget>(made.chain, left, early));
            return targets;
        };
        const bool few_moves = calls > 1;
        const PoolOptions options{
            .chains = 1, .ahead = 5, .few_moves = few_moves, .moves = 50, .burn_in = 1, .kept = 2};
        EXPECT_THROW(
            sample_pool(made.chain, made.moves, make_targets, options, "fails", on_threads(5)),
            DeviceError);
        EXPECT_EQ(early, few_moves ? 5 : 0);
    }
}

TEST(StepsAhead, NeedCopiesAndTargetsThatCanBeAdopted) {
    EXPECT_THROW(StepsAhead({}), std::logic_error);
    EXPECT_THROW(StepsAhead(std::vector<std::span<Sampler>>(257)), std::logic_error);
    class Plain final : public SamplingTarget {
        void start(const Conformation&) override {}
        bool prepare(const Conformation&) override { return false; }
        double prepared_log_weight() override { return 0; }
        double accepted_log_weight() override { return 0; }
    } one, other;
    SamplingTarget& target = one;
    EXPECT_THROW(target.adopt(other), std::logic_error);
}

}  // namespace

}  // namespace pleat::refine
