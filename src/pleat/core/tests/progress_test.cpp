// Tests of progress lines, on a terminal and in a log, and of the interrupt flag.
#include "pleat/core/terminal/progress_terminal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace pleat {
namespace {

struct FakeClock {
    double now = 100.0;
    SecondsClock function() {
        return [this] { return now; };
    }
};

TEST(ProgressMeter, ReportsRateAndTimeLeft) {
    FakeClock clock;
    ProgressMeter meter(clock.function());
    clock.now += 2;
    EXPECT_TRUE(meter.update("fit", 1, 300, ""));
    EXPECT_EQ(meter.line(), "fit: 1/300 (0 %)");
    clock.now += 61;
    EXPECT_FALSE(meter.update("fit", 123, 300, "gap 3e-4"));
    EXPECT_EQ(meter.line(), "fit: 123/300 (41 %), 2/s, 1 min 29 s left, gap 3e-4");
    clock.now += 30;
    meter.update("fit", 300, 300, "");
    EXPECT_TRUE(meter.is_complete());
    EXPECT_EQ(meter.end_line(), "fit: 300/300 in 1 min 33 s");
    clock.now += 5;
    EXPECT_TRUE(meter.update("scores", 7, 0, ""));
    EXPECT_EQ(meter.line(), "scores: 7");
    EXPECT_EQ(meter.end_line(), "scores: 7 in 5.0 s");
}

TEST(ProgressMeter, WorkBeforeAResumeDoesNotRaiseTheRate) {
    FakeClock clock;
    ProgressMeter meter(clock.function());
    meter.update("fit", 1000, 1100, "resumed");
    clock.now += 10;
    meter.update("fit", 1010, 1100, "");
    EXPECT_EQ(meter.line(), "fit: 1010/1100 (91 %), 1/s, 1 min 30 s left");
}

TEST(ProgressMeter, UnevenUnitsTellTheirShareOfTheWork) {
    FakeClock clock;
    ProgressMeter meter(clock.function());
    meter.update("families", 2, 12, "", 0.0);
    clock.now += 30;
    meter.update("families", 3, 12, "1 running", 0.75);
    EXPECT_EQ(meter.line(), "families: 3/12 (25 %), 0.0333/s, 10 s left, 1 running");
    meter.update("families", 4, 12, "", 0.0);  // work that nobody could estimate
    EXPECT_EQ(meter.line(), "families: 4/12 (33 %), 0.0667/s");
}

TEST(LogProgress, WritesEveryTenSecondsAndAtStageEnds) {
    FakeClock clock;
    std::vector<std::string> lines;
    {
        LogProgress log([&](std::string_view line) { lines.emplace_back(line); }, clock.function());
        for (int i = 1; i <= 250; ++i) {
            clock.now += 0.1;
            log.update("fit", i, 300, "");
        }
        EXPECT_EQ(lines.size(), 2u);
        clock.now += 1;
        log.update("scores", 1, 1, "");
        ASSERT_EQ(lines.size(), 3u);
        EXPECT_EQ(lines.back(), "fit: 250/300 in 25 s");
        log.message("a remark");
    }
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(lines[3], "a remark");
    EXPECT_EQ(lines[4], "scores: 1/1 in 1.0 s");
}

/// What a terminal shows after `text`: carriage return and "erase to the end of line" obeyed.
std::vector<std::string> screen(const std::string& text) {
    std::vector<std::string> lines(1);
    std::size_t column = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\r') {
            column = 0;
        } else if (text[i] == '\n') {
            lines.emplace_back();
            column = 0;
        } else if (text.compare(i, 3, "\x1b[K") == 0) {
            lines.back().resize(column);
            i += 2;
        } else {
            lines.back().resize(std::max(lines.back().size(), column + 1), ' ');
            lines.back()[column++] = text[i];
        }
    }
    return lines;
}

TEST(TerminalProgress, RewritesOneLineAndLeavesNothing) {
    FakeClock clock;
    char* buffer = nullptr;
    std::size_t size = 0;
    std::FILE* const out = ::open_memstream(&buffer, &size);
    int draws = 0;
    {
        TerminalProgress progress(out, clock.function());
        for (int i = 1; i <= 1000; ++i) {
            clock.now += 0.001;
            progress.update("fit", i, 2000, std::string(200, 'n'));
        }
        const std::string drawn(buffer, size);
        for (const char c : drawn) draws += c == '\r';
        EXPECT_GE(draws, 9);
        EXPECT_LE(draws, 12);
        ASSERT_EQ(screen(drawn).size(), 1u);
        EXPECT_EQ(screen(drawn)[0].substr(0, 8), "fit: 901");
        EXPECT_EQ(screen(drawn)[0].size(), 79u);
        progress.message("a remark");
        progress.update("scores", 1, 2, "");
    }
    std::fclose(out);
    EXPECT_EQ(screen(std::string(buffer, size)), (std::vector<std::string>{"a remark", ""}));
    std::free(buffer);
}

TEST(Interrupt, TheFirstSignalSetsTheFlagAndTheSecondKills) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            install_interrupt_handler();
            if (interrupted()) ::_exit(1);
            ::raise(signal);
            std::FILE* const out = std::fopen("/dev/null", "w");
            for (const bool quiet : {false, true})
                if (!make_progress(out, quiet)->cancelled()) ::_exit(2);
            if (!interrupted()) ::_exit(3);
            ::raise(signal);
            ::_exit(4);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status)) << status;
        EXPECT_EQ(WTERMSIG(status), signal);
    }
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGINT, SIG_IGN);
        install_interrupt_handler();
        ::raise(SIGINT);
        ::_exit(interrupted() ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(MakeProgress, IsSilentWhenQuiet) {
    std::FILE* const out = std::tmpfile();
    {
        const auto progress = make_progress(out, true);
        progress->update("fit", 1, 1, "");
        progress->message("x");
        EXPECT_FALSE(progress->cancelled());
    }
    EXPECT_EQ(std::ftell(out), 0);
    {
        const auto progress = make_progress(out, false);
        progress->update("fit", 1, 1, "");
    }
    EXPECT_GT(std::ftell(out), 0);
    std::fclose(out);
}

}  // namespace
}  // namespace pleat
