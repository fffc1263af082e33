// Shared inputs: input that several jobs use, read once.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

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

}  // namespace pleat
