// The main function of a test program with ranks: as the program's own, without a command line.
#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "process/process.h"

namespace pleat::program {

/// Runs `work` on every rank and returns the exit code; the one failure is told as "told: TEXT".
inline int rank_main(const std::function<void(Ranks&)>& work) {
    const auto tell = [](const std::string& text) {
        std::fprintf(stderr, "told: %s\n", text.c_str());
    };
    std::optional<Ranks> ranks;
    Failure failure;
    try {
        ranks.emplace();
        work(*ranks);
    } catch (const std::exception&) {
        failure = current_failure();
    }
    if (ranks) return ranks->end(failure, tell);
    if (!failure.text.empty()) tell(failure.text);
    return failure.exit_code;
}

}  // namespace pleat::program
