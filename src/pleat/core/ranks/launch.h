// Launch: whether a launcher such as mpirun started this process, read from the environment.
#pragma once

#include <string>

namespace pleat {

/// Describes this process if mpirun, mpiexec or srun started it as one of several.
struct Launch {
    bool is_launched = false;
    int rank = 0, processes = 1;
    bool is_separate = false;  ///< srun without --mpi: the processes cannot find each other
};

/// Reads the environment variables of Open MPI, PMI (MPICH and related) and PMIx under Slurm.
Launch find_launch();

/// Calls refuse_launch() if srun started the processes separately.
void refuse_separate_processes(const Launch& launch);

/// Throws on every process of a launch that cannot become ranks: UsageError with the text on the
/// first, OtherRankFailed on the others, so that it is reported once.
[[noreturn]] void refuse_launch(const Launch& launch, const std::string& text);

}  // namespace pleat
