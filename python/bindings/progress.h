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

/// Calls `callback(stage, done, total, note)` at most twenty times a second and at the end of each
/// stage; messages go to the logger "pleat". Checks for Python signals. An exception from the
/// callback or a signal handler stops the computation and is kept for rethrow().
class PythonProgress final : public Progress {
public:
    /// `callback`: a function, or None.
    explicit PythonProgress(py::object callback) : callback_(std::move(callback)) {}

    void update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view note) override;
    bool cancelled() override;
    void message(std::string_view text) override;
    /// Throws the exception that was kept, if any. The GIL must be held.
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

/// Runs `work()` without the GIL. Rethrows an exception of the callback or of a signal handler
/// afterwards, even if the work finished or failed for another reason.
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
