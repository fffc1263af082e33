// Without messages: progress of work that repeats earlier work, whose messages would repeat too.
#pragma once

#include "pleat/core/loops/progress.h"

namespace pleat {

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

}  // namespace pleat
