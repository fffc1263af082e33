// ProcessWatch: one file descriptor per process, readable once the process has ended.
#include "pleat/core/run/process_watch.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pleat {

ProcessIdentity ProcessIdentity::of_this_process() {
    struct stat ids {};
    const bool is_known = ::stat("/proc/self/ns/pid", &ids) == 0;
    return {::getpid(), is_known ? ids.st_ino : 0};
}

ProcessWatch::ProcessWatch(std::span<const ProcessIdentity> processes) {
    const ProcessIdentity own = ProcessIdentity::of_this_process();
    files_.reserve(processes.size());
    for (const ProcessIdentity& other : processes) {
        const bool is_visible = own.process_ids != 0 && other.process_ids == own.process_ids;
        const bool is_own = other.process == own.process;
        files_.push_back(is_visible && !is_own
                             ? static_cast<int>(::syscall(SYS_pidfd_open, other.process, 0))
                             : -1);
    }
}

ProcessWatch::~ProcessWatch() {
    for (const int file : files_)
        if (file >= 0) ::close(file);
}

bool ProcessWatch::has_ended(std::size_t index) const {
    pollfd file{files_[index], POLLIN, 0};
    return file.fd >= 0 && ::poll(&file, 1, 0) == 1;
}

std::optional<std::size_t> ProcessWatch::find_ended() const {
    for (std::size_t i = 0; i < files_.size(); ++i)
        if (has_ended(i)) return i;
    return {};
}

bool ProcessWatch::is_lowest_running(std::size_t index) const {
    for (std::size_t i = 0; i < index; ++i)
        if (!has_ended(i)) return false;
    return true;
}

bool ProcessWatch::any_running() const {
    for (std::size_t i = 0; i < files_.size(); ++i)
        if (files_[i] >= 0 && !has_ended(i)) return true;
    return false;
}

}  // namespace pleat
