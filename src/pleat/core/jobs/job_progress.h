// Job progress: one bar or one log for jobs that run side by side.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "pleat/core/terminal/progress_terminal.h"
#include "pleat/core/view.h"

namespace pleat {

/// Shows how many jobs have ended: a bar on a terminal, one line per job in a log. Thread-safe.
class JobProgress {
public:
    /// `shown`: as make_progress() makes it. `is_verbose`: messages of jobs are shown, too.
    /// `shows_count`: `shown` gets the count though it is no bar.
    JobProgress(std::unique_ptr<Progress> shown, Index total, bool is_verbose,
                bool shows_count = false);

    /// Starts the count with the jobs that have ended before. `work`: of all others together, in
    /// any unit, for the time left.
    void start(Index ended, double work);
    void job_begins();
    void job_ends(const std::string& line, double work);
    /// A job that neither ended nor failed: it was stopped.
    void job_stops();
    /// A job that another process has ended, with its line or an empty one.
    void job_ended_elsewhere(const std::string& line, double work);
    void message(const std::string& text);
    /// Whether the user asked to stop, or stop() was called.
    bool is_stopped();
    void stop();

    /// The progress of one job, for its engine; outlived by this object.
    std::unique_ptr<Progress> watch(const std::string& name);

private:
    class Watch;
    void draw();
    void count_ended(const std::string& line, double work);

    std::mutex mutex_;
    std::unique_ptr<Progress> shown_;
    TerminalProgress* bar_ = nullptr;  ///< shown_ if that is one, else null
    double all_work_ = 0, done_work_ = 0;
    Index total_, ended_ = 0, running_ = 0;
    bool is_verbose_, shows_count_, is_stopped_ = false;
};

}  // namespace pleat
