// Progress for tests: stops a stage after some of its work, or notes where a stage begins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pleat/core/loops/progress.h"

namespace pleat::mutual_information::test {

/// Asks to stop once `done` units of a stage are finished, and it was asked `times` more often.
class StopAfter final : public Progress {
public:
    StopAfter(std::string stage, std::int64_t done, int times = 0)
        : stage_(std::move(stage)), done_(done), times_(times) {}
    void update(std::string_view stage, std::int64_t done, std::int64_t,
                std::string_view) override {
        is_reached_ |= stage == stage_ && done >= done_;
    }
    bool cancelled() override { return is_reached_ && times_-- <= 0; }
    void message(std::string_view) override {}

private:
    std::string stage_;
    std::int64_t done_;
    int times_;
    bool is_reached_ = false;
};

/// Notes the first count that a stage reports: what an earlier run had finished.
class FirstCount final : public Progress {
public:
    explicit FirstCount(std::string stage) : stage_(std::move(stage)) {}
    void update(std::string_view stage, std::int64_t finished, std::int64_t,
                std::string_view) override {
        if (stage == stage_ && done < 0) done = finished;
    }
    bool cancelled() override { return false; }
    void message(std::string_view) override {}

    std::int64_t done = -1;

private:
    std::string stage_;
};

}  // namespace pleat::mutual_information::test
