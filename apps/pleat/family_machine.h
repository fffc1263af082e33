// Family machine: memory, threads and GPUs that families share.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "couplings_fit.h"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/loops/job_gate.h"

namespace pleat::program {

/// Decides where a family is computed and on how many threads, and makes it wait until there is
/// room.
class FamilyMachine {
public:
    /// `works`: expected work of each family, in any unit. DeviceError when a GPU that was named is
    /// absent.
    FamilyMachine(const CouplingsOptions& options, const std::vector<double>& works);

    /// Which GPU families share, in one line; nothing where they share none.
    std::string remark() const;
    /// Families that are in work at the same time.
    int workers() const { return workers_; }
    /// Threads of a family that waits for its place.
    int threads_before() const { return std::max(1, threads_ / workers_); }

    /// Waits for room to read, filter and weight an alignment of this file. Cancelled.
    JobGate::Pass enter_to_read(const std::string& path, const std::function<bool()>& cancelled);
    /// Waits for room in exchange for that to read, and settles device and threads: where no device
    /// was named, the GPU that all families share if it could hold this one at the start, else the
    /// CPU. `alone`: nothing runs beside it. `why` gets one line. Cancelled.
    JobGate::Pass enter(JobGate::Pass reading, const Alignment& alignment,
                        const couplings::Parameters& parameters, double work, bool alone,
                        const std::function<bool()>& cancelled, Context& context, std::string& why);
    /// The fit has ended: device and threads are free for others while the results are written.
    void fitted(JobGate::Pass& pass) const;
    /// A family's work is done, one way or the other.
    void ended(double work);

private:
    Amounts capacity() const;
    /// A device and a number of threads on it.
    struct Place {
        Device device;
        int threads = 1;
    };
    /// In the order of preference.
    std::vector<Place> places_for(const Alignment& alignment,
                                  const couplings::Parameters& parameters, double work);
    Device device_for(const Alignment& alignment) const;
    /// Threads that a family should have.
    int threads_for(double work, std::int64_t host_bytes);
    Amounts amounts(const Alignment& alignment, const couplings::Parameters& parameters,
                    const Place& place) const;

    const bool is_automatic_;
    const Device named_;  ///< where not automatic
    const int threads_;
    /// The one to use, as it was before any family: named, or with the most free memory of all.
    const std::optional<CudaDevice> gpu_;
    int workers_ = 1;
    JobGate gate_;
    std::mutex mutex_;
    double work_left_ = 0;
};

}  // namespace pleat::program
