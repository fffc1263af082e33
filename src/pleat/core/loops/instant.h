// Instant: a moment of a run, in wall time and in CPU time of the process.
#pragma once

#include <sys/resource.h>

#include <chrono>

namespace pleat {

/// Now, by two clocks in seconds.
struct Instant {
    std::chrono::steady_clock::time_point wall = std::chrono::steady_clock::now();
    double cpu = cpu_now();

    static double cpu_now() {
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        const auto seconds = [](timeval t) {
            return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
        };
        return seconds(usage.ru_utime) + seconds(usage.ru_stime);
    }
    double seconds_until(const Instant& end) const {
        return std::chrono::duration<double>(end.wall - wall).count();
    }
};

}  // namespace pleat
