// Job command: what a list of jobs needs to know of the command that it runs, and input that its
// jobs share.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/estimate.h"
#include "pleat/core/fields.h"
#include "pleat/core/jobs/job_plan.h"
#include "pleat/core/loops/threads.h"

namespace pleat {

/// Shares input data between jobs: keeps each as long as a job uses it, and the last `kept` of them
/// longer. Thread-safe: a job waits for data that another job is reading.
class SharedInputs {
public:
    explicit SharedInputs(std::size_t kept) : kept_(kept) {}

    /// Returns the data with this key, which identifies the files and how they are read. Calls
    /// `read()` unless it is stored, and throws what that throws.
    template <class T, class Read>
    std::shared_ptr<const T> get(const std::string& key, const Read& read) {
        const std::shared_ptr<Entry> entry = find(key);
        std::unique_lock lock(entry->mutex, std::defer_lock);
        {
            const ThreadBudget::Pause waiting;
            lock.lock();
        }
        std::shared_ptr<const void> value = entry->value.lock();
        if (value == nullptr) {
            value = std::make_shared<const T>(read());
            entry->value = value;
        }
        keep(value);
        return std::static_pointer_cast<const T>(value);
    }

private:
    struct Entry {
        std::mutex mutex;
        std::weak_ptr<const void> value;
    };
    std::shared_ptr<Entry> find(const std::string& key) {
        const std::lock_guard lock(mutex_);
        std::shared_ptr<Entry>& entry = entries_[key];
        if (entry == nullptr) entry = std::make_shared<Entry>();
        return entry;
    }
    void keep(const std::shared_ptr<const void>& value) {
        const std::lock_guard lock(mutex_);
        std::erase(last_, value);
        last_.push_back(value);
        if (last_.size() > kept_) last_.pop_front();
    }

    const std::size_t kept_;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Entry>> entries_;
    std::deque<std::shared_ptr<const void>> last_;
};

/// Like get(), but always reads if `inputs` is null.
template <class T, class Read>
std::shared_ptr<const T> shared_input(SharedInputs* inputs, const std::string& key,
                                      const Read& read) {
    return inputs != nullptr ? inputs->get<T>(key, read) : std::make_shared<const T>(read());
}

class SharedInputs;

/// Resources that a computation asks for once its input has been read.
struct JobDemand {
    /// Bytes of GPU memory required to compute on a GPU; not set: it does not use a GPU.
    std::optional<std::int64_t> gpu_bytes = {};
    /// For the context's device and threads.
    std::function<Estimate(const Context&)> estimate;
};

/// How a job is run. The defaults suit a job that has the process to itself.
struct JobTask {
    std::vector<std::string> arguments = {};  ///< the words behind `pleat`, for the manifest
    Progress* shown = nullptr;                ///< may be null
    bool shares_process = false;              ///< other jobs run at the same time
    SharedInputs* inputs = nullptr;           ///< input that other jobs read, too; or null
    /// Waits until resources are free, and sets the context's device and threads; describes both in
    /// one line. Empty: the command chooses.
    std::function<std::string(const JobDemand&, Context&)> choose_device = {};
    /// Called when only writing is left; may be empty.
    std::function<void()> computed = {};
    /// Called when a stage of the job has been written and its memory is free; may be empty.
    std::function<void()> stage_ended = {};
};

/// One job, with options of its own.
class JobRun {
public:
    virtual ~JobRun() = default;
    /// The options that affect results.
    virtual std::vector<Field> options() = 0;
    /// The seed, if results depend on it.
    virtual std::optional<std::uint64_t> seed() const = 0;
    /// Throws if options exclude each other or a file is missing.
    virtual void check() = 0;
    virtual std::vector<std::string> input_files() const = 0;
    /// The command line of a single `pleat` call that makes the same run.
    virtual std::vector<std::string> call() = 0;
    /// Writes the run's folder. Throws every kind of Error.
    virtual void run(const JobTask& task) = 0;
};

/// A command that supports job lists. Several threads may call its functions at a time.
struct JobCommand {
    std::string name;                  ///< "couplings"
    std::vector<std::string> numbers;  ///< main results in a manifest, for the table
    /// The job in this folder.
    std::function<std::unique_ptr<JobRun>(const Job& job, const std::filesystem::path& folder)>
        make;
};

}  // namespace pleat
