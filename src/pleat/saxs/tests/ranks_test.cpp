// Profiles of frames dealt over ranks: the same bits on every rank as of one, and cancelling.
#include <gtest/gtest.h>

#include <thread>

#include "pleat/core/error.h"
#include "pleat/core/tests/thread_comm.h"
#include "pleat/saxs/debye.h"
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
        pleat::test::ThreadComm::Shared shared(ranks);
        std::vector<Array<double, 3>> found(static_cast<std::size_t>(ranks));
        {
            std::vector<std::jthread> threads;
            for (int rank = 0; rank < ranks; ++rank)
                threads.emplace_back([&, rank] {
                    pleat::test::ThreadComm comm(shared, rank);
                    Context context = one_thread();
                    context.comm = &comm;
                    found[static_cast<std::size_t>(rank)] =
                        profiles(given.model, given.xyz, given.scales, {}, context);
                });
        }
        for (const Array<double, 3>& own : found) {
            ASSERT_EQ(own.size(), expected.size());
            for (Index n = 0; n < own.size(); ++n) ASSERT_EQ(own.data()[n], expected.data()[n]) << n;
        }
    }
}

struct StopAfterOne final : Progress {
    void update(std::string_view, std::int64_t done, std::int64_t total, std::string_view) override {
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
