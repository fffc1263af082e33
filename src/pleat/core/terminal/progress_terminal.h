// Progress on a terminal or in a log, and the interrupt that stops a run in good order.
#pragma once

#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "pleat/core/loops/progress.h"

namespace pleat {

/// Makes SIGINT (Ctrl-C), SIGTERM, SIGHUP (a terminal that closes) and SIGUSR1 (a batch system's
/// warning, which mpirun passes on) set a flag that every Progress of this file reports as
/// cancelled. A second signal of the same kind ends the process at once.
/// Signals that were ignored at start (nohup) stay ignored. A library never calls this: programs
/// do.
void install_interrupt_handler();
/// Whether such a signal has come.
bool interrupted();

/// A monotonic clock in seconds; tests replace it.
using SecondsClock = std::function<double()>;
SecondsClock steady_seconds();

/// Follows the stages of a run and describes the current progress in one line.
class ProgressMeter {
public:
    explicit ProgressMeter(SecondsClock now) : now_(std::move(now)), last_event_(now_()) {}

    /// Records an update; returns true if it begins a new stage. `share`: the finished fraction of
    /// all work, for the remaining time if units differ much in length; NaN: done / total.
    bool update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view note, double share = std::numeric_limits<double>::quiet_NaN());
    /// Returns "fit: 123/300 (41 %), 3.2/s, 56 s left, gap 3e-4". The rate counts from the stage's
    /// first update, so it excludes work done before a resume.
    std::string line() const;
    /// "fit: 300/300 in 93 s, gap 9e-5".
    std::string end_line() const;
    bool is_complete() const { return total_ > 0 && done_ >= total_; }
    double now() const { return now_(); }

private:
    std::string count() const;
    SecondsClock now_;
    std::string stage_, note_;
    std::int64_t first_ = 0, done_ = 0, total_ = 0;
    double first_share_ = 0.0, share_ = 0.0;
    double begin_ = 0.0, first_time_ = 0.0, last_event_;
};

/// Shows one line on a terminal, rewritten at most ten times a second and erased at the end;
/// messages appear above it.
class TerminalProgress : public Progress {
public:
    explicit TerminalProgress(std::FILE* out, SecondsClock now = steady_seconds());
    ~TerminalProgress() override;
    void update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view note) override {
        update(stage, done, total, note, std::numeric_limits<double>::quiet_NaN());
    }
    /// Like update(), with the finished fraction of all work.
    void update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view note, double share);
    bool cancelled() override;
    void message(std::string_view text) override;

private:
    void erase();
    void draw();
    std::FILE* out_;
    ProgressMeter meter_;
    double last_draw_time_ = -1.0;
    bool is_line_visible_ = false, is_stop_reported_ = false;
};

/// Whole lines: one at the end of each stage and one every ten seconds within it.
class LogProgress : public Progress {
public:
    /// `write` gets lines without their end.
    explicit LogProgress(std::function<void(std::string_view)> write,
                         SecondsClock now = steady_seconds());
    ~LogProgress() override;
    void update(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view note) override;
    bool cancelled() override;
    void message(std::string_view text) override;
    /// Writes the final line of the current stage; the next update begins another stage.
    void end_stage();

private:
    std::function<void(std::string_view)> write_;
    ProgressMeter meter_;
    double last_line_time_ = 0.0;
    bool has_open_stage_ = false, is_stop_reported_ = false;
};

/// Makes the progress display on `out` (stderr): nothing if quiet, one line on a terminal, log
/// lines elsewhere. All kinds report an interrupt.
std::unique_ptr<Progress> make_progress(std::FILE* out, bool quiet);

}  // namespace pleat
