// Job progress: one count of all jobs, shown through one Progress.
#include "pleat/core/jobs/job_progress.h"

#include <fmt/format.h>

namespace pleat {

/// The progress of one job: redraws the bar, and shows messages if the user wants more of them,
/// since they are in the job's log.txt.
class JobProgress::Watch : public Progress {
public:
    Watch(JobProgress& all, std::string name) : all_(all), name_(std::move(name)) {}
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {
        const std::lock_guard lock(all_.mutex_);
        all_.draw();
    }
    bool cancelled() override { return all_.is_stopped(); }
    void message(std::string_view text) override {
        if (all_.is_verbose_) all_.message(fmt::format("{}: {}", name_, text));
    }

private:
    JobProgress& all_;
    std::string name_;
};

JobProgress::JobProgress(std::unique_ptr<Progress> shown, Index total, bool is_verbose,
                         bool shows_count)
    : shown_(std::move(shown)),
      bar_(dynamic_cast<TerminalProgress*>(shown_.get())),
      total_(total),
      is_verbose_(is_verbose),
      shows_count_(shows_count) {}

std::unique_ptr<Progress> JobProgress::watch(const std::string& name) {
    return std::make_unique<Watch>(*this, name);
}

void JobProgress::draw() {
    if (bar_ == nullptr && !shows_count_) return;
    const std::string note = fmt::format("{} running", running_);
    if (bar_ == nullptr) return shown_->update("jobs", ended_, total_, note);
    const double share = all_work_ > 0 ? done_work_ / all_work_ : 0.0;
    bar_->update("jobs", ended_, total_, note, share);
}

void JobProgress::start(Index ended, double work) {
    const std::lock_guard lock(mutex_);
    all_work_ = work;
    ended_ = ended;
    draw();
}

void JobProgress::job_begins() {
    const std::lock_guard lock(mutex_);
    ++running_;
    draw();
}

void JobProgress::job_ends(const std::string& line, double work) {
    const std::lock_guard lock(mutex_);
    --running_;
    count_ended(line, work);
}

/// The caller must hold the lock.
void JobProgress::count_ended(const std::string& line, double work) {
    ++ended_;
    done_work_ += work;
    // On a terminal the bar shows the count.
    if (!line.empty() && (bar_ == nullptr || is_verbose_))
        shown_->message(fmt::format("[{}/{}] {}", ended_, total_, line));
    draw();
}

void JobProgress::job_stops() {
    const std::lock_guard lock(mutex_);
    --running_;
}

void JobProgress::job_ended_elsewhere(const std::string& line, double work) {
    const std::lock_guard lock(mutex_);
    count_ended(line, work);
}

void JobProgress::message(const std::string& text) {
    const std::lock_guard lock(mutex_);
    shown_->message(text);
}

bool JobProgress::is_stopped() {
    const std::lock_guard lock(mutex_);
    return is_stopped_ || shown_->cancelled();
}

void JobProgress::stop() {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
}

}  // namespace pleat
