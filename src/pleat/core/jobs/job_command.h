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

/// Keeps what was read as long as a job uses it, and the last `kept` of them longer. Thread-safe: a
/// job that wants what another one is reading waits for it.
class SharedInputs {
public:
    explicit SharedInputs(std::size_t kept) : kept_(kept) {}

    /// What `read()` returned for this key, which names the files and how they are read. Calls it
    /// if nobody has; throws what it throws.
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

/// The same without a store if `inputs` is null.
template <class T, class Read>
std::shared_ptr<const T> shared_input(SharedInputs* inputs, const std::string& key,
                                      const Read& read) {
    return inputs != nullptr ? inputs->get<T>(key, read) : std::make_shared<const T>(read());
}

class SharedInputs;

/// Resources that a computation asks for once its input has been read.
struct JobDemand {
    /// Bytes without which a GPU cannot compute it; not set: it needs no GPU.
    std::optional<std::int64_t> gpu_bytes = {};
    /// For the context's device and threads.
    std::function<Estimate(const Context&)> estimate;
};

/// How one job is run. The defaults are those of a job that has the process to itself.
struct JobTask {
    std::vector<std::string> arguments = {};  ///< the words behind `pleat`, for the manifest
    Progress* shown = nullptr;                ///< may be null
    bool shares_process = false;              ///< other jobs run at the same time
    SharedInputs* inputs = nullptr;           ///< input that other jobs read, too; or null
    /// Waits until there is room for the computation, and sets the context's device and threads;
    /// returns both in one line. Empty: the command chooses.
    std::function<std::string(const JobDemand&, Context&)> choose_device = {};
    /// Called when the computation has ended and only writing is left; may be empty.
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
    /// The arguments of a single call of `pleat` that makes the same run.
    virtual std::vector<std::string> call() = 0;
    /// Writes the run's folder. Throws every kind of Error.
    virtual void run(const JobTask& task) = 0;
};

/// A command that takes lists. Functions are called from several threads at a time.
struct JobCommand {
    std::string name;                  ///< "couplings"
    std::vector<std::string> numbers;  ///< main results in a manifest, for the table
    /// The job in this folder.
    std::function<std::unique_ptr<JobRun>(const Job& job, const std::filesystem::path& folder)>
        make;
};

}  // namespace pleat
