// Steps: loops on one rank that report progress and can be cancelled.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "pleat/core/context.h"
#include "pleat/core/loops/progress.h"
#include "pleat/core/view.h"

namespace pleat {

/// Progress and cancelling of one stage, for loops that for_each_block() does not fit. Must not
/// outlive the context.
class StageProgress {
public:
    /// `total`: units of work; `unit`: their name beside the progress ("frames").
    /// `kept`: what a cancelled stage leaves behind, for the message.
    StageProgress(const Context& context, std::string_view stage, std::int64_t total,
                  std::string_view unit = {}, std::string_view kept = "nothing of it was kept");

    /// Reports `done` finished units. Throws Cancelled if the user asked to stop and done < total.
    void advance_to(std::int64_t done) { advance_to(done, unit_); }
    void advance_to(std::int64_t done, std::string_view note);
    /// Throws Cancelled if the user asked to stop. May be called from several threads at a time.
    void check() const;

private:
    const Context& context_;
    std::string stage_, unit_, kept_;
    std::int64_t total_;
};

/// Calls `body(first, count)` for consecutive blocks [first, first + count) of [0, total), in
/// order, each of up to `block` units, and reports progress after each. Throws Cancelled if the
/// user asked to stop before the last block.
void for_each_block(const Context& context, std::string_view stage, Index total, Index block,
                    const std::function<void(Index first, Index count)>& body,
                    std::string_view unit = {});

/// for_each_block() with one frame per block: calls `body(frame)` for each frame in [0, count).
void for_each_frame(const Context& context, std::string_view stage, Index count,
                    const std::function<void(Index frame)>& body);

/// Throws Cancelled, with the stage's name, if the user asked to stop; for inner loops that only
/// one stage uses.
void throw_if_cancelled(const Context& context, std::string_view stage,
                        std::string_view kept = "nothing of it was kept");

/// parallel_for() over [0, count) in chunks of `chunk` indices, between which it throws Cancelled
/// if the user asked to stop.
void parallel_for_chunks(const Context& context, std::string_view stage, int threads, Index count,
                         Index chunk, const std::function<void(Index, int)>& body);

/// Passes on everything but messages. `shown` may be null and must outlive it.
class WithoutMessages final : public Progress {
public:
    explicit WithoutMessages(Progress* shown) : shown_(shown) {}
    void update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view note) override {
        if (shown_ != nullptr) shown_->update(stage, done, total, note);
    }
    bool cancelled() override { return shown_ != nullptr && shown_->cancelled(); }
    void message(std::string_view) override {}
    void note(const Note&) override {}

private:
    Progress* shown_;
};

/// Passes on that the user asked to stop, and nothing else, for parts that run at the same time.
/// `shown` may be null and must outlive it.
class CancelOnly final : public Progress {
public:
    explicit CancelOnly(Progress* shown) : shown_(shown) {}
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
    bool cancelled() override {
        const std::lock_guard lock(mutex_);
        return shown_ != nullptr && shown_->cancelled();
    }
    void message(std::string_view) override {}
    void note(const Note&) override {}

private:
    Progress* shown_;
    std::mutex mutex_;
};

}  // namespace pleat
