// Launch: reading the launcher's variables.
#include "pleat/core/ranks/launch.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "pleat/core/error.h"

namespace pleat {

namespace {

std::optional<int> number(const char* name) {
    const char* const text = std::getenv(name);
    if (text == nullptr) return {};
    const std::string_view digits(text);
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 0) return {};
    return value;
}

bool is_switched_off() {
    const char* const text = std::getenv("PLEAT_RANKS");
    return text != nullptr && std::string_view(text) == "off";
}

}  // namespace

Launch find_launch() {
    if (is_switched_off()) return {};
    // PMIx has no variable for the number of processes, so Slurm's variable is used.
    struct Variables {
        const char *rank, *processes;
    };
    for (const Variables& names :
         {Variables{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
          Variables{"PMI_RANK", "PMI_SIZE"}, Variables{"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}}) {
        const std::optional<int> rank = number(names.rank), processes = number(names.processes);
        if (rank && processes) return {true, *rank, *processes};
    }
    const std::optional<int> task = number("SLURM_PROCID"), tasks = number("SLURM_STEP_NUM_TASKS");
    if (task && tasks && *tasks > 1) return {true, *task, *tasks, true};
    return {};
}

void refuse_separate_processes(const Launch& launch) {
    if (!launch.is_separate) return;
    refuse_launch(launch,
                  fmt::format("srun started {} programs that do not know of each other: for ranks "
                              "of one run use 'srun --mpi=pmix' with a build with MPI; where each "
                              "is a run of its own, set PLEAT_RANKS=off",
                              launch.processes));
}

void refuse_launch(const Launch& launch, const std::string& text) {
    if (launch.rank == 0) throw UsageError(text);
    throw OtherRankFailed(UsageError(text).exit_code());
}

}  // namespace pleat
