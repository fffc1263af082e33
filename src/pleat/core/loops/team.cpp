// Team: OpenMP's parallel region, with errors carried out.
#include "pleat/core/loops/team.h"

#include <omp.h>

#include <exception>
#include <limits>

#include "pleat/core/loops/thread_budget.h"

namespace pleat {

void run_team(int threads, const std::function<void(int, int)>& body) {
    if (threads <= 1 || omp_in_parallel()) return body(0, 1);
    const ThreadBudget::Extra extra(threads - 1);
    int first_failed = std::numeric_limits<int>::max();
    std::exception_ptr error;
#pragma omp parallel num_threads(extra.count() + 1)
    {
        const int member = omp_get_thread_num();
        try {
            body(member, omp_get_num_threads());
        } catch (...) {
#pragma omp critical(pleat_run_team_error)
            if (member < first_failed) {
                first_failed = member;
                error = std::current_exception();
            }
        }
    }
    if (error) std::rethrow_exception(error);
}

}  // namespace pleat
