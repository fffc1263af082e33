// Threads: counting them, and the OpenMP loop behind parallel_for.
#include "pleat/core/loops/parallel.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>

#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/hardware/system.h"
#include "pleat/core/loops/threads.h"

namespace pleat {

namespace {

constexpr double kRounding =
    1e-6;  // tolerance for a sum of fractions of CPUs that should be an integer

/// The leading number of an environment variable ("4" or "4,2"), kUnlimited when there is none.
std::int64_t environment_threads(const char* name) {
    const char* const text = std::getenv(name);
    if (text == nullptr) return kUnlimited;
    std::string_view rest = text;
    std::int64_t number = 0;
    return take_number_from(rest, number) && number > 0 ? number : kUnlimited;
}

}  // namespace

int available_threads(const Comm& comm) {
    std::int64_t affinity = system::usable_cpus(), group = cgroup_cpus();
    // If the launcher bound this rank to its own CPUs, they are not shared with other ranks.
    if (comm.cpu_share() > 0.0)
        affinity = std::min(affinity, static_cast<std::int64_t>(comm.cpu_share() + kRounding));
    if (group != kUnlimited) group /= comm.local_size();
    const std::int64_t allowed =
        std::min({affinity, group, environment_threads("SLURM_CPUS_PER_TASK"),
                  environment_threads("OMP_NUM_THREADS")});
    return static_cast<int>(std::max<std::int64_t>(1, allowed));
}

int available_threads() { return available_threads(Comm()); }

int resolve_threads(const Context& context) {
    if (context.threads < 0)
        throw UsageError(
            fmt::format("--threads: expected a whole number >= 0, found '{}'", context.threads));
    if (context.device.kind == Device::Kind::reference) return 1;
    if (context.threads > 0) return context.threads;
    return context.comm != nullptr ? available_threads(*context.comm) : available_threads();
}

void parallel_for(int threads, Index count, const std::function<void(Index, int)>& body) {
    const auto work_alone = [&] {
        for (Index i = 0; i < count; ++i) body(i, 0);
    };
    if (threads <= 1 || count <= 1 || omp_in_parallel()) return work_alone();
    const ThreadBudget::Extra extra(static_cast<int>(std::min<Index>(threads, count)) - 1);
    if (extra.count() == 0) return work_alone();
    std::atomic<bool> failed = false;
    Index first_failed = count;
    std::exception_ptr error;
#pragma omp parallel for num_threads(extra.count() + 1) schedule(dynamic, 1)
    for (Index i = 0; i < count; ++i) {
        if (failed.load(std::memory_order_relaxed)) continue;
        try {
            body(i, omp_get_thread_num());
        } catch (...) {
            failed = true;
#pragma omp critical(pleat_parallel_for_error)
            if (i < first_failed) {
                first_failed = i;
                error = std::current_exception();
            }
        }
    }
    if (error) std::rethrow_exception(error);
}

}  // namespace pleat
