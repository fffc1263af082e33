// Family progress: one count of all families, shown through a Progress of the library.
#include "families/family_progress.h"

#include <fmt/format.h>

#include <cstdio>

#include "pleat/core/files/printable.h"

namespace pleat::program {

/// The progress of one family: redraws the bar, and shows messages with --verbose only, since they
/// are in the family's log.txt.
class FamilyProgress::Watch : public Progress {
public:
    Watch(FamilyProgress& all, std::string name) : all_(all), name_(std::move(name)) {}
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {
        const std::lock_guard lock(all_.mutex_);
        all_.draw();
    }
    bool cancelled() override { return all_.is_stopped(); }
    void message(std::string_view text) override {
        if (all_.verbose_) all_.message(fmt::format("{}: {}", name_, text));
    }

private:
    FamilyProgress& all_;
    std::string name_;
};

FamilyProgress::FamilyProgress(Index total, bool quiet, bool verbose)
    : shown_(make_progress(stderr, quiet)),
      bar_(dynamic_cast<TerminalProgress*>(shown_.get())),
      total_(total),
      quiet_(quiet),
      verbose_(verbose) {}

std::unique_ptr<Progress> FamilyProgress::watch(const std::string& name) {
    return std::make_unique<Watch>(*this, name);
}

void FamilyProgress::draw() {
    if (bar_ == nullptr) return;
    const double share = all_work_ > 0 ? done_work_ / all_work_ : 0.0;
    bar_->update("families", ended_, total_, fmt::format("{} running", running_), share);
}

void FamilyProgress::start(Index ended, double work) {
    const std::lock_guard lock(mutex_);
    all_work_ = work;
    ended_ = ended;
    draw();
}

void FamilyProgress::family_begins() {
    const std::lock_guard lock(mutex_);
    ++running_;
    draw();
}

void FamilyProgress::family_ends(const std::string& line, double work) {
    const std::lock_guard lock(mutex_);
    --running_;
    ++ended_;
    done_work_ += work;
    // On a terminal the bar shows the count.
    if (bar_ == nullptr || verbose_)
        shown_->message(fmt::format("[{}/{}] {}", ended_, total_, line));
    draw();
}

void FamilyProgress::family_fails(const std::string& name, const std::string& error, double work) {
    const std::lock_guard lock(mutex_);
    --running_;
    ++ended_;
    done_work_ += work;
    const std::string line = fmt::format("pleat: {}: {}", name, error);
    if (quiet_) {
        // If this cannot be printed, the other families go on; the table has the error, too.
        std::fputs((printable(line) + '\n').c_str(), stderr);
    } else {
        shown_->message(line);
    }
    draw();
}

void FamilyProgress::family_stops() {
    const std::lock_guard lock(mutex_);
    --running_;
}

void FamilyProgress::message(const std::string& text) {
    const std::lock_guard lock(mutex_);
    shown_->message(text);
}

bool FamilyProgress::is_stopped() {
    const std::lock_guard lock(mutex_);
    return shown_->cancelled();
}

}  // namespace pleat::program
