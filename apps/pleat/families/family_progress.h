// Family progress: one bar or one log for families that run side by side.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "pleat/core/terminal/progress_terminal.h"
#include "pleat/core/view.h"

namespace pleat::program {

/// Shows on standard error how many families have ended: a bar on a terminal, one line per family
/// in a log, only failures with --quiet. Thread-safe.
class FamilyProgress {
public:
    FamilyProgress(Index total, bool quiet, bool verbose);

    /// Starts the count with the families that have ended before. `work`: of all others together,
    /// in any unit, for the time left.
    void start(Index ended, double work);
    void family_begins();
    void family_ends(const std::string& line, double work);
    void family_fails(const std::string& name, const std::string& error, double work);
    /// A family that neither ended nor failed: it was stopped.
    void family_stops();
    void message(const std::string& text);
    /// Whether the user asked to stop.
    bool is_stopped();

    /// The progress of one family, for its engine; outlived by this object.
    std::unique_ptr<Progress> watch(const std::string& name);

private:
    class Watch;
    void draw();

    std::mutex mutex_;
    std::unique_ptr<Progress> shown_;
    TerminalProgress* bar_ = nullptr;  ///< shown_ if that is one, else null
    double all_work_ = 0, done_work_ = 0;
    Index total_, ended_ = 0, running_ = 0;
    bool quiet_, verbose_;
};

}  // namespace pleat::program
