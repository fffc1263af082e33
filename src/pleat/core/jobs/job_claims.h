// Job claims: who works on which job, for processes that know nothing of each other.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "pleat/core/failure.h"

namespace pleat {

/// The claims of one process on jobs of a list, in a hidden folder beside them. A claim is a locked
/// file (flock) that contains host, process and boot of its owner; its time is renewed every 30
/// seconds. A claim is void if its owner had this host and boot and no longer runs, or if it was
/// not renewed for 5 minutes by the file system's clock. On file systems without locks two
/// processes may claim a job at the same time; they compute identical results.
class JobClaims {
public:
    /// `folder`: the folder of all jobs. `forgets`: no other process shares the jobs, so recorded
    /// failures of earlier processes are removed. Throws OutputError.
    JobClaims(const std::filesystem::path& folder, bool forgets);
    ~JobClaims();
    JobClaims(const JobClaims&) = delete;
    JobClaims& operator=(const JobClaims&) = delete;

    /// Claims a job, named by its folder, for this process; false if another process has it. Throws
    /// OutputError.
    bool claim(const std::string& job);
    void release(const std::string& job);

    /// Keeps the error of a job for all processes. Throws OutputError.
    void record_failure(const std::string& job, const Failure& failure);
    std::optional<Failure> failure(const std::string& job) const;

    /// Calls `work` while no other process does.
    template <class Work>
    void run_exclusively(const Work& work) {
        const Lock lock(folder_ / "table.lock");
        work();
    }
    /// Removes void claims, and the hidden folder if it has neither other claims nor failures.
    void tidy() const;

private:
    class Lock {
    public:
        explicit Lock(const std::filesystem::path& path);
        ~Lock();
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;

    private:
        int descriptor_ = -1;
    };
    std::filesystem::path file(const std::string& job, const char* ending) const;
    bool is_void(int descriptor) const;
    bool remove_void(const std::filesystem::path& claim) const;
    void renew_claims(const std::stop_token& stop);

    const std::filesystem::path folder_;
    std::mutex mutex_;
    std::condition_variable_any renewal_condition_;
    std::map<std::string, int> descriptors_;  ///< of the claims that this process has
    std::jthread renewing_;
};

}  // namespace pleat
