// What a build without MPI links in place of comm_mpi.cpp: one process, or a refusal.
#include <fmt/format.h>

#include "pleat/core/ranks/comm.h"
#include "pleat/core/ranks/launch.h"

namespace pleat {

std::unique_ptr<Comm> world() {
    const Launch launch = find_launch();
    refuse_separate_processes(launch);
    if (launch.processes > 1)
        refuse_launch(launch,
                      fmt::format("expected a build with MPI (scripts/build mpi) for the {} "
                                  "processes of this launch, found one without; where each is a "
                                  "run of its own, set PLEAT_RANKS=off",
                                  launch.processes));
    return std::make_unique<Comm>();
}

}  // namespace pleat
