// Tests of dealing: every index once on some rank, news, stopping, and errors.
#include "pleat/core/ranks/deal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/ranks/pack.h"
#include "pleat/core/tests/thread_comm.h"

namespace pleat {
namespace {

using test::on_ranks;

TEST(Packer, GivesEveryRankTheValuesOfTheFirstOne) {
    on_ranks(3, [](Comm& comm) {
        const bool is_first = comm.rank() == 0;
        std::vector<std::string> texts;
        std::optional<std::vector<int>> list, none;
        Array<float, 2> array(Index{1}, Index{1});
        std::filesystem::path path;
        double number = comm.rank();
        if (is_first) {
            texts = {"a", "", "b\tc"};
            list = {3, 4};
            array = Array<float, 2>(Index{2}, Index{3});
            array(1, 2) = 7;
            path = "x/y";
        } else {
            texts = {"other"};
        }
        share(comm, texts, list, none, array, path, number);
        EXPECT_EQ(texts, (std::vector<std::string>{"a", "", "b\tc"}));
        EXPECT_EQ(*list, (std::vector<int>{3, 4}));
        EXPECT_FALSE(none);
        EXPECT_EQ(array.size(), 6);
        EXPECT_EQ(array(1, 2), 7);
        EXPECT_EQ(path, "x/y");
        EXPECT_EQ(number, 0.0);
    });
}

TEST(Deal, CallsWorkOnceForEachIndexAndTellsTheFirstRank) {
    constexpr Index kCount = 40;
    for (const int ranks : {1, 2, 3}) {
        std::vector<std::atomic<int>> done(kCount);
        std::atomic<int> told = 0;
        std::vector<std::atomic<int>> own(static_cast<std::size_t>(ranks));
        on_ranks(ranks, [&](Comm& comm) {
            std::atomic<int> ended = 0;
            deal(comm, 1 + comm.rank(), kCount,
                 {.work =
                      [&](Index k) {
                          ++done[static_cast<std::size_t>(k)];
                          ++own[static_cast<std::size_t>(comm.rank())];
                          std::this_thread::sleep_for(std::chrono::milliseconds(2));
                          ++ended;
                      },
                  .news =
                      [&] { return std::string(static_cast<std::size_t>(ended.exchange(0)), 'x'); },
                  .hear =
                      [&](std::string_view news) {
                          EXPECT_EQ(comm.rank(), 0);
                          told += static_cast<int>(news.size());
                      },
                  .is_stopped = [] { return false; },
                  .stop = [] { FAIL(); }});
        });
        for (const auto& count : done) EXPECT_EQ(count, 1);
        for (const auto& count : own) EXPECT_GT(count, 0);
        EXPECT_EQ(told + own[0], kCount);
    }
}

TEST(Deal, WithoutWorkEndsAtOnce) {
    on_ranks(2, [](Comm& comm) {
        deal(comm, 2, 0,
             {.work = [](Index) { FAIL(); },
              .news = [] { return std::string(); },
              .hear = [](std::string_view) { FAIL(); },
              .is_stopped = [] { return false; },
              .stop = [] { FAIL(); }});
    });
}

/// Deals 1000 indices to three ranks; `work` gets the rank, and whether it was stopped.
template <class Work>
void deal_many(std::vector<std::atomic<bool>>& stopped, const Work& work) {
    on_ranks(3, [&](Comm& comm) {
        std::atomic<bool>& is_stopped = stopped[static_cast<std::size_t>(comm.rank())];
        deal(comm, 2, 1000,
             {.work = [&](Index) { work(comm.rank(), is_stopped); },
              .news = [] { return std::string(); },
              .hear = [](std::string_view) {},
              .is_stopped = [&] { return is_stopped.load(); },
              .stop = [&] { is_stopped = true; }});
    });
}

TEST(Deal, StopsAllRanksIfOneIsStopped) {
    std::vector<std::atomic<bool>> stopped(3);
    std::atomic<int> begun = 0;
    deal_many(stopped, [&](int rank, std::atomic<bool>& is_stopped) {
        if (++begun > 20 && rank == 2) is_stopped = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    for (const auto& one : stopped) EXPECT_TRUE(one);
    EXPECT_LT(begun, 1000);
}

TEST(Deal, ThrowsAnErrorAfterTheWorkOfAllRanksWasStopped) {
    std::vector<std::atomic<bool>> stopped(3);
    std::atomic<int> begun = 0, running = 0;
    const auto work = [&](int rank, std::atomic<bool>& is_stopped) {
        if (++begun > 20 && rank == 1) throw InputError("broken");
        ++running;
        while (rank == 0 && !is_stopped) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        --running;
    };
    EXPECT_THROW(deal_many(stopped, work), InputError);
    EXPECT_EQ(running, 0);
    EXPECT_TRUE(stopped[0]);
}

TEST(Lead, IsTheWorkOfTheFirstRankAndItsErrorIsThatOfAll) {
    std::set<int> ranks;
    on_ranks(3, [&](Comm& comm) { run_on_first_rank(comm, [&] { ranks.insert(comm.rank()); }); });
    EXPECT_EQ(ranks, std::set<int>{0});
    std::atomic<int> others = 0;
    EXPECT_THROW(on_ranks(3,
                          [&](Comm& comm) {
                              try {
                                  run_on_first_rank(comm, [] { throw InputError("broken"); });
                              } catch (const OtherRankFailed&) {
                                  ++others;
                                  throw;
                              }
                          }),
                 InputError);
    EXPECT_EQ(others, 2);
}

}  // namespace
}  // namespace pleat
