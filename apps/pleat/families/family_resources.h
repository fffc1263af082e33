// Family resources: memory, threads and a GPU that the families in progress share.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "couplings/couplings_fit.h"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/loops/semaphore.h"

namespace pleat::program {

/// Decides how many families are in progress, and makes each fit wait until there is memory for
/// it.
class FamilyResources {
public:
    /// `paths`: the families' files. Throws DeviceError if a GPU that the user named is missing.
    FamilyResources(const CouplingsOptions& options, const std::vector<std::string>& paths);

    /// The GPU that the families share, in one line; empty if there is none.
    std::string gpu_line() const;
    /// Families that are in progress at the same time.
    int workers() const { return workers_; }
    /// Threads of a family before its fit, for reading and weighting.
    int threads_before_fit() const;

    /// What a fit has acquired; released by the destructor.
    struct Share {
        Semaphore::Units host_bytes, gpu_bytes, threads;
        /// The fit has ended and its results are written: others may have its device and threads.
        void keep_host_memory_only();
    };
    /// Waits until there is room for the family's fit, and sets the context's device and threads.
    /// If the user named no device, it is the GPU that all families share if that could hold this
    /// fit when it was free, else the CPU. `work`: the size of the family's file in bytes.
    /// `is_alone`: no other family is in progress. Throws Cancelled if `is_cancelled()` while it
    /// waits.
    Share acquire(const Alignment& alignment, const couplings::Parameters& parameters, double work,
                  bool is_alone, const std::function<bool()>& is_cancelled, Context& context);
    /// The family's work is done, one way or the other.
    void end_family(double work);

private:
    struct FileSizes {
        double work = 0;                       ///< bytes of all files
        std::vector<std::int64_t> read_bytes;  ///< memory to read each, largest first
        std::int64_t largest(int count) const;
    };
    static FileSizes sizes_of(const std::vector<std::string>& paths);
    int choose_workers(const CouplingsOptions& options, std::int64_t usable_bytes) const;
    Device device_for(const Alignment& alignment) const;
    int threads_for(double work, std::int64_t host_bytes);

    const std::optional<Device> named_;  ///< the device that the user named
    const int all_threads_;
    /// The GPU to use, as it was before any family: the one named, or that with the most free
    /// memory.
    const std::optional<CudaDevice> gpu_;
    const FileSizes sizes_;
    const int workers_;
    // Acquired in this order, so that no fit waits for one that waits for it.
    Semaphore host_bytes_, gpu_bytes_, threads_;
    std::mutex mutex_;
    double work_left_;
};

}  // namespace pleat::program
