// Progress on a terminal and in a log.
#include "pleat/core/terminal/progress_terminal.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>

#include "pleat/core/files/text.h"

namespace pleat {

namespace {

constexpr double kRedrawSeconds = 0.1, kLogSeconds = 10.0;
constexpr std::string_view kStopping = "stopping in good order; interrupt again to stop at once";

std::atomic<bool> interrupt_flag = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set only such a flag");

extern "C" void on_interrupt(int) { interrupt_flag.store(true); }

/// "0.4 s", "56 s", "12 min 30 s", "5 h 20 min".
std::string duration(double seconds) {
    if (seconds < 9.95) return fmt::format("{:.1f} s", std::max(0.0, seconds));
    const auto whole = static_cast<std::int64_t>(std::min(seconds, 1e15) + 0.5);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

/// The first `columns` characters of UTF-8 text, cut between characters.
std::string_view clipped(std::string_view text, std::size_t columns) {
    std::size_t at = 0;
    while (at < text.size()) {
        const bool starts = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
        if (starts && columns-- == 0) break;
        ++at;
    }
    return text.substr(0, at);
}

std::size_t terminal_columns(std::FILE* out) {
    winsize size{};
    if (::ioctl(::fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

/// A Progress that shows nothing but still reports interrupts.
struct QuietProgress : Progress {
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
    bool cancelled() override { return interrupted(); }
    void message(std::string_view) override {}
};

}  // namespace

void install_interrupt_handler() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
        struct sigaction old {};
        ::sigaction(signal, nullptr, &old);
        if (old.sa_handler == SIG_IGN) continue;
        struct sigaction action {};
        action.sa_handler = on_interrupt;
        // The first signal restores the default action, so a second one ends the process.
        action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
        ::sigemptyset(&action.sa_mask);
        ::sigaction(signal, &action, nullptr);
    }
}

bool interrupted() { return interrupt_flag.load(); }

SecondsClock steady_seconds() {
    return [] {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        return std::chrono::duration<double>(now).count();
    };
}

bool ProgressMeter::update(std::string_view stage, std::int64_t done, std::int64_t total,
                           std::string_view note, double share) {
    const double now = now_();
    const bool is_new = stage != stage_;
    share_ = share;
    if (is_new) {
        // The first update comes after some work of the stage, which began when the previous stage
        // ended.
        begin_ = last_event_;
        first_ = done;
        first_share_ = share_;
        first_time_ = now;
        stage_ = stage;
    }
    done_ = done;
    total_ = total;
    note_ = note;
    last_event_ = now;
    return is_new;
}

std::string ProgressMeter::count() const {
    return total_ > 0 ? fmt::format("{}/{}", done_, total_) : fmt::format("{}", done_);
}

std::string ProgressMeter::line() const {
    std::string text = fmt::format("{}: {}", stage_, count());
    if (total_ > 0) text += fmt::format(" ({} %)", 100 * done_ / total_);
    const double seconds = now_() - first_time_;
    const double rate = seconds > 0 ? static_cast<double>(done_ - first_) / seconds : 0.0;
    if (rate > 0) {
        text += fmt::format(", {:.3g}/s", rate);
        const double left = std::isnan(share_) ? static_cast<double>(total_ - done_) / rate
                                               : seconds * (1 - share_) / (share_ - first_share_);
        if (total_ > done_ && std::isfinite(left)) text += fmt::format(", {} left", duration(left));
    }
    if (!note_.empty()) text += fmt::format(", {}", note_);
    return text;
}

std::string ProgressMeter::end_line() const {
    std::string text = fmt::format("{}: {} in {}", stage_, count(), duration(last_event_ - begin_));
    if (!note_.empty()) text += fmt::format(", {}", note_);
    return text;
}

TerminalProgress::TerminalProgress(std::FILE* out, SecondsClock now)
    : out_(out), meter_(std::move(now)) {}

TerminalProgress::~TerminalProgress() { erase(); }

void TerminalProgress::erase() {
    if (!is_line_visible_) return;
    std::fputs("\r\x1b[K", out_);
    std::fflush(out_);
    is_line_visible_ = false;
}

void TerminalProgress::draw() {
    const std::string line = printable(meter_.line());
    const std::string_view shown = clipped(line, terminal_columns(out_) - 1);
    std::fputs("\r\x1b[K", out_);
    std::fwrite(shown.data(), 1, shown.size(), out_);
    std::fflush(out_);
    last_draw_time_ = meter_.now();
    is_line_visible_ = true;
}

void TerminalProgress::update(std::string_view stage, std::int64_t done, std::int64_t total,
                              std::string_view note, double share) {
    const bool is_new = meter_.update(stage, done, total, note, share);
    if (is_new || meter_.is_complete() || meter_.now() - last_draw_time_ >= kRedrawSeconds) draw();
}

bool TerminalProgress::cancelled() {
    if (interrupted() && !is_stop_reported_) {
        is_stop_reported_ = true;
        message(kStopping);
    }
    return interrupted();
}

void TerminalProgress::message(std::string_view text) {
    erase();
    const std::string line = printable(text);
    std::fwrite(line.data(), 1, line.size(), out_);
    std::fputc('\n', out_);
    std::fflush(out_);
}

LogProgress::LogProgress(std::function<void(std::string_view)> write, SecondsClock now)
    : write_([write = std::move(write)](std::string_view line) { write(printable(line)); }),
      meter_(std::move(now)),
      last_line_time_(meter_.now()) {}

LogProgress::~LogProgress() { end_stage(); }

void LogProgress::end_stage() {
    if (has_open_stage_) write_(meter_.end_line());
    has_open_stage_ = false;
}

void LogProgress::update(std::string_view stage, std::int64_t done, std::int64_t total,
                         std::string_view note) {
    const std::string before = has_open_stage_ ? meter_.end_line() : std::string();
    const bool is_new = meter_.update(stage, done, total, note);
    if (is_new && has_open_stage_) write_(before);
    has_open_stage_ = true;
    if (is_new) last_line_time_ = meter_.now();
    if (meter_.now() - last_line_time_ < kLogSeconds || meter_.is_complete()) return;
    write_(meter_.line());
    last_line_time_ = meter_.now();
}

bool LogProgress::cancelled() {
    if (interrupted() && !is_stop_reported_) {
        is_stop_reported_ = true;
        message(kStopping);
    }
    return interrupted();
}

void LogProgress::message(std::string_view text) { write_(text); }

std::unique_ptr<Progress> make_progress(std::FILE* out, bool quiet) {
    if (quiet) return std::make_unique<QuietProgress>();
    if (::isatty(::fileno(out)) != 0) return std::make_unique<TerminalProgress>(out);
    return std::make_unique<LogProgress>([out](std::string_view line) {
        std::fwrite(line.data(), 1, line.size(), out);
        std::fputc('\n', out);
        std::fflush(out);
    });
}

}  // namespace pleat
