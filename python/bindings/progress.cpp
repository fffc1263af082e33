// Progress: taking Python's lock for the callback, for signals and for remarks.
#include "progress.h"

namespace pleat::python {

void PythonProgress::update(std::string_view stage, std::int64_t done, std::int64_t total,
                            std::string_view note) {
    constexpr std::chrono::milliseconds kBetween{50};
    if (raised_ || callback_.is_none()) return;
    const auto now = Clock::now();
    const bool is_end = stage != stage_ || done == total;
    if (!is_end && now - told_ < kBetween) return;
    stage_ = stage;
    told_ = now;
    const py::gil_scoped_acquire locked;
    try {
        callback_(std::string(stage), done, total, std::string(note));
    } catch (py::error_already_set&) {
        raised_ = std::current_exception();
    }
}

bool PythonProgress::cancelled() {
    constexpr std::chrono::milliseconds kBetween{20};
    if (raised_) return true;
    const auto now = Clock::now();
    if (now - asked_ < kBetween) return false;
    asked_ = now;
    const py::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() == 0) return false;
    try {
        throw py::error_already_set();
    } catch (py::error_already_set&) {
        raised_ = std::current_exception();
    }
    return true;
}

void PythonProgress::message(std::string_view text) {
    const py::gil_scoped_acquire locked;
    py::module_::import("logging").attr("getLogger")("pleat").attr("info")("%s", std::string(text));
}

}  // namespace pleat::python
