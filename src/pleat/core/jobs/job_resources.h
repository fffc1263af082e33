// Job resources: memory, threads and GPUs that the jobs in progress share.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/jobs/job_command.h"
#include "pleat/core/loops/threads.h"

namespace pleat {

/// Decides how many jobs run at the same time, and makes each computation wait for memory.
class JobResources {
public:
    struct Request {
        std::vector<Device> devices = {};          ///< that the user named
        int threads = 1;                           ///< for all jobs
        std::optional<std::int64_t> workers = {};  ///< jobs in progress; not set: chosen
        int local_rank = 0, local_ranks = 1;       ///< of this machine
        int ranks_per_gpu = 1;                     ///< that share the memory of each GPU
    };
    /// `inputs`: the files of each job. Throws DeviceError if a GPU that the user named is missing.
    JobResources(const Request& request, const std::vector<std::vector<std::string>>& inputs);

    /// The GPUs that the jobs share, in one line; empty if there is none.
    std::string gpu_line() const;
    /// Jobs that are in progress at the same time.
    int workers() const { return worker_count_; }

    /// Resources that a computation has acquired; released by the destructor.
    struct Share {
        Semaphore::Units host_bytes, gpu_bytes;
        std::shared_ptr<void> place;  ///< among the jobs of its GPU
    };
    /// Waits until resources are free, and sets the context's device and threads. If the user named
    /// no device, uses a GPU that can hold this computation when idle (the one with the fewest
    /// jobs), else the CPU. `is_alone`: no other job is in progress. Throws Cancelled if
    /// `is_cancelled()` while it waits.
    Share acquire(const JobDemand& demand, bool is_alone, const std::function<bool()>& is_cancelled,
                  Context& context);

private:
    struct FileSizes {
        std::vector<std::int64_t> read_bytes;  ///< memory to read each job's input, largest first
        std::int64_t largest(int count) const;
    };
    static FileSizes sizes_of(const std::vector<std::vector<std::string>>& inputs);
    /// A GPU as it was before any job, its memory, and the number of jobs that compute on it.
    struct Gpu {
        Gpu(const CudaDevice& found, int sharers);
        CudaDevice device;
        std::int64_t free_bytes;  ///< for this rank
        Semaphore bytes;
        int jobs = 0;
    };
    static std::vector<std::unique_ptr<Gpu>> gpus_to_use(const Request& request, std::size_t jobs);
    int choose_workers(const Request& request, std::int64_t usable_bytes) const;
    /// The GPU for this computation; null if there is none.
    Gpu* gpu_for(const JobDemand& demand);

    const std::vector<Device> named_;
    const int threads_;
    const std::vector<std::unique_ptr<Gpu>> gpus_;
    std::mutex mutex_;  ///< of the numbers of jobs
    const FileSizes sizes_;
    const int worker_count_;
    ThreadBudget budget_;
    // Acquired before GPU memory, so that two jobs never wait for each other.
    Semaphore host_bytes_;
};

/// Total bytes of these files; missing files count 0.
double file_bytes(const std::vector<std::string>& files);

}  // namespace pleat
