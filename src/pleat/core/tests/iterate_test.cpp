// Tests of the step loop: resuming, refusing, cancelling, damaged checkpoints, kills.
#include "pleat/core/loops/iterate.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

using test::error_text;
using test::TemporaryFolder;

/// A chaotic sequence: any state that is not restored to the bit shows in the end.
struct Logistic : State {
    std::string name = "logistic";
    std::vector<double> x = {0.1, 0.2, 0.3};
    int loads = 0;

    std::string problem() const override { return name; }
    void save(NpzWriter& writer) const override {
        writer.add("x", x.data(), {static_cast<Index>(x.size())});
    }
    void load(const NpzReader& reader) override {
        x = reader.get("x").as<double>(reader.label("x"));
        ++loads;
    }
    Step step(std::int64_t k, std::int64_t last = -1) {
        for (double& value : x) value = (3.9 + 1e-6 * static_cast<double>(k)) * value * (1 - value);
        return {k == last, "x"};
    }
};

struct Recorder : Progress {
    std::int64_t stop_after = -1;
    std::vector<std::int64_t> done;
    std::string note;
    void update(std::string_view, std::int64_t n, std::int64_t, std::string_view text) override {
        done.push_back(n);
        note = text;
    }
    bool cancelled() override { return !done.empty() && done.back() == stop_after; }
    void message(std::string_view) override {}
};

std::vector<double> uninterrupted(std::int64_t steps) {
    Logistic state;
    for (std::int64_t k = 0; k < steps; ++k) state.step(k);
    return state.x;
}

TEST(Iterate, RunsToTheLimitOrUntilFinished) {
    for (const std::int64_t last : {-1, 0, 6, 9, 20}) {
        Logistic state;
        Recorder recorder;
        Context context;
        context.progress = &recorder;
        const std::int64_t expected = last >= 0 && last < 10 ? last + 1 : 10;
        const auto steps =
            iterate(context, "run", state, 10, [&](std::int64_t k) { return state.step(k, last); });
        EXPECT_EQ(steps, expected);
        EXPECT_EQ(state.x, uninterrupted(expected));
        ASSERT_EQ(recorder.done.size(), static_cast<std::size_t>(expected));
        EXPECT_EQ(recorder.done.back(), expected);
    }
    Logistic state;
    EXPECT_EQ(iterate({}, "run", state, 0, [&](std::int64_t k) { return state.step(k); }), 0);
}

TEST(Iterate, ResumedEqualsUninterrupted) {
    for (std::int64_t stop = 1; stop < 30; stop += 4) {
        TemporaryFolder folder;
        Recorder recorder;
        recorder.stop_after = stop;
        Context context;
        context.progress = &recorder;
        context.checkpoint = folder / "state.npz";
        context.checkpoint_seconds = 1e9;
        Logistic first;
        const std::string text = error_text<Cancelled>([&] {
            iterate(context, "run", first, 30, [&](std::int64_t k) { return first.step(k); });
        });
        EXPECT_NE(text.find("the state is saved in " + context.checkpoint.string()),
                  std::string::npos)
            << text;
        Logistic second;
        Recorder resumed;
        context.progress = &resumed;
        EXPECT_EQ(
            iterate(context, "run", second, 30, [&](std::int64_t k) { return second.step(k); }),
            30);
        EXPECT_EQ(second.loads, 1);
        EXPECT_EQ(resumed.done.front(), stop);
        EXPECT_EQ(second.x, uninterrupted(30));
        EXPECT_EQ(folder.names(), std::vector<std::string>{"state.npz"});
    }
}

TEST(Iterate, AKillLosesOnlyWhatCameAfterTheLastSave) {
    TemporaryFolder folder;
    Context context;
    context.checkpoint = folder / "state.npz";
    context.checkpoint_seconds = 0.0;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        Logistic state;
        iterate(context, "run", state, 1'000'000'000, [&](std::int64_t k) {
            if (k >= 50 && std::filesystem::exists(context.checkpoint)) ::_exit(0);
            return state.step(k);
        });
        ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    Logistic state;
    std::int64_t first = -1;
    EXPECT_EQ(iterate(context, "run", state, 100'000,
                      [&](std::int64_t k) {
                          if (first < 0) first = k;
                          return state.step(k);
                      }),
              100'000);
    EXPECT_GT(first, 0);
    EXPECT_EQ(state.x, uninterrupted(100'000));
}

TEST(Iterate, SavesNoMoreOftenThanAsked) {
    TemporaryFolder folder;
    Context context;
    context.checkpoint = folder / "state.npz";
    context.checkpoint_seconds = 1e9;
    Logistic state;
    iterate(context, "run", state, 100, [&](std::int64_t k) { return state.step(k); });
    EXPECT_TRUE(folder.names().empty());
}

// A full disk costs the saves, not the work; a stop stays a stop and says that nothing is saved.
TEST(Iterate, GoesOnWhereItCannotSave) {
    struct Large : Logistic {
        std::int64_t bytes() const override { return std::int64_t{1} << 60; }
    };
    struct Listener : Recorder {
        std::vector<std::string> told;
        void message(std::string_view text) override { told.emplace_back(text); }
    };
    const TemporaryFolder folder;
    Large state;
    Listener listener;
    Context context;
    context.progress = &listener;
    context.checkpoint = folder.path() / "state.npz";
    context.checkpoint_seconds = 0;
    EXPECT_EQ(iterate(context, "steps", state, 5, [&](std::int64_t k) { return state.step(k); }),
              5);
    EXPECT_EQ(state.x, uninterrupted(5));
    ASSERT_EQ(listener.told.size(), 1u);
    EXPECT_NE(listener.told[0].find("expected 1.0 EiB of free space, found "), std::string::npos)
        << listener.told[0];
    EXPECT_FALSE(std::filesystem::exists(context.checkpoint));

    for (const double seconds : {0.0, 1e9}) {  // with a save that failed before the stop, without
        Large stopped;
        listener.stop_after = 3;
        listener.done.clear();
        listener.told.clear();
        context.checkpoint_seconds = seconds;
        const std::string text = error_text<Cancelled>([&] {
            iterate(context, "steps", stopped, 5, [&](std::int64_t k) { return stopped.step(k); });
        });
        EXPECT_NE(text.find("stopped after 3 steps; the state could not be saved: "),
                  std::string::npos)
            << text;
        EXPECT_NE(text.find("expected 1.0 EiB of free space"), std::string::npos) << text;
        EXPECT_EQ(listener.told.size(), seconds == 0 ? 1u : 0u);
    }
}

TEST(Iterate, AStopTriesNoSaveThatFailedBefore) {
    struct Counted : Logistic {
        mutable int saves = 0;
        void save(NpzWriter&) const override {
            ++saves;
            throw OutputError("disk: full");
        }
    };
    const TemporaryFolder folder;
    Counted state;
    Recorder recorder;
    recorder.stop_after = 3;
    Context context;
    context.progress = &recorder;
    context.checkpoint = folder.path() / "state.npz";
    context.checkpoint_seconds = 0;
    error_text<Cancelled>([&] {
        iterate(context, "steps", state, 5, [&](std::int64_t k) { return state.step(k); });
    });
    EXPECT_EQ(state.saves, 1);
}

TEST(Iterate, AFinishedCheckpointIsNotContinued) {
    TemporaryFolder folder;
    Context context;
    context.checkpoint = folder / "state.npz";
    context.checkpoint_seconds = 0.0;
    Logistic state;
    EXPECT_EQ(iterate(context, "run", state, 9,
                      [&](std::int64_t) {
                          // The only save is after this step, which ends the loop.
                          return Step{true, ""};
                      }),
              1);
    ASSERT_TRUE(std::filesystem::exists(context.checkpoint));
    Logistic again;
    EXPECT_EQ(iterate(context, "run", again, 9, [&](std::int64_t k) { return again.step(k); }), 1);
    EXPECT_EQ(again.x, uninterrupted(0));
}

TEST(Iterate, CancelWithoutACheckpointSaysSo) {
    Recorder recorder;
    recorder.stop_after = 2;
    Context context;
    context.progress = &recorder;
    Logistic state;
    const std::string text = error_text<Cancelled>(
        [&] { iterate(context, "fit", state, 5, [&](std::int64_t k) { return state.step(k); }); });
    EXPECT_NE(text.find("fit: stopped after 2 steps; the state was not saved"), std::string::npos);
    // The last step's work is done: there is nothing left to cancel.
    recorder.done.clear();
    recorder.stop_after = 5;
    EXPECT_EQ(iterate(context, "fit", state, 5, [&](std::int64_t k) { return state.step(k); }), 5);
}

TEST(Iterate, RefusesForeignAndDamagedCheckpoints) {
    TemporaryFolder folder;
    Context context;
    context.checkpoint = folder / "state.npz";
    context.checkpoint_seconds = 0.0;
    Logistic state;
    const auto run = [&](std::string_view stage) {
        return iterate(context, stage, state, 1, [&](std::int64_t k) { return state.step(k); });
    };
    run("run");
    state.name = "another";
    const std::string text = error_text<InputError>([&] { run("run"); });
    EXPECT_NE(text.find("state.npz: expected the state of the same input and options, found "
                        "another's; remove this checkpoint, or give --force, to start again"),
              std::string::npos)
        << text;
    state.name = "logistic";
    error_text<InputError>([&] { run("another stage"); });
    EXPECT_EQ(run("run"), 1);
    const std::string whole = test::slurp(context.checkpoint);
    for (std::size_t n = 0; n < whole.size(); ++n) {
        test::spill(context.checkpoint, whole.substr(0, n));
        const std::string cut = error_text<InputError>([&] { run("run"); });
        ASSERT_NE(cut.find("remove this checkpoint"), std::string::npos) << n;
    }
    test::spill(context.checkpoint, std::string(1000, 'x'));
    error_text<InputError>([&] { run("run"); });
    // A member that the state needs is missing.
    NpzWriter writer(context.checkpoint);
    writer.add_text("loop_problem", "logistic");
    writer.add_text("loop_stage", "run");
    writer.add_scalar("loop_steps", 1);
    writer.add_scalar("loop_finished", 0);
    writer.close();
    const std::string missing = error_text<InputError>([&] { run("run"); });
    EXPECT_NE(missing.find("expected an array 'x'"), std::string::npos) << missing;
}

TEST(Iterate, AnErrorInAStepKeepsTheLastSave) {
    TemporaryFolder folder;
    Context context;
    context.checkpoint = folder / "state.npz";
    context.checkpoint_seconds = 0.0;
    Logistic state;
    error_text<DeviceError>([&] {
        iterate(context, "run", state, 9, [&](std::int64_t k) {
            if (k == 1) throw DeviceError("lost");
            return state.step(k);
        });
    });
    EXPECT_EQ(NpzReader(context.checkpoint).integer("loop_steps"), 1);
}

}  // namespace
}  // namespace pleat
