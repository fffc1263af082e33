// Progress: a Python function that hears of the work, Ctrl-C, and loops that leave Python's lock.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <exception>
#include <string>
#include <type_traits>

#include "pleat/core/loops/progress.h"

namespace pleat::python {

namespace py = pybind11;

/// Calls `callback(stage, done, total, note)` twenty times a second at the most, and at the ends of
/// a stage; remarks go to the logger "pleat". Asks Python for signals. What the callback or a
/// signal's handler raises stops the loop and is kept for rethrow().
class PythonProgress final : public Progress {
public:
    /// `callback`: a function, or None.
    explicit PythonProgress(py::object callback) : callback_(std::move(callback)) {}

    void update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view note) override;
    bool cancelled() override;
    void message(std::string_view text) override;
    /// Throws what was raised, if anything was. The lock must be held.
    void rethrow() const {
        if (raised_) std::rethrow_exception(raised_);
    }

private:
    using Clock = std::chrono::steady_clock;

    py::object callback_;
    std::string stage_;
    Clock::time_point told_{}, asked_{};
    std::exception_ptr raised_;
};

/// `work()` without Python's lock. What was raised meanwhile comes out, also where the work was
/// done before it could be stopped or failed for another reason.
template <class Work>
auto without_lock(const PythonProgress& progress, const Work& work) {
    const auto unlocked = [&] {
        const py::gil_scoped_release released;
        return work();
    };
    try {
        if constexpr (std::is_void_v<decltype(work())>) {
            unlocked();
            progress.rethrow();
        } else {
            auto result = unlocked();
            progress.rethrow();
            return result;
        }
    } catch (const std::exception&) {
        progress.rethrow();
        throw;
    }
}

}  // namespace pleat::python
