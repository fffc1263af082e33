// Job claims: files with locks, owners and times.
#include "pleat/core/jobs/job_claims.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <sstream>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/hardware/system.h"

namespace pleat {

namespace {

constexpr std::chrono::seconds kRenewal{30};
constexpr std::int64_t kMaxAge = 300;  // seconds

/// Who claims: host, boot, process.
struct Owner {
    std::string host, boot;
    std::int64_t process = 0;

    static Owner of_this_process() {
        char host[256] = {};
        ::gethostname(host, sizeof host - 1);
        return {host, system::boot_id(), ::getpid()};
    }
    static Owner parse(const std::string& text) {
        Owner owner;
        std::istringstream words(text);
        words >> owner.host >> owner.boot >> owner.process;
        return owner;
    }
    std::string text() const { return fmt::format("{} {} {}\n", host, boot, process); }
};

[[noreturn]] void fail(const std::filesystem::path& path) {
    throw OutputError(
        fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
}

/// Calls open(), recreating the folder if another process has just removed it at its end.
int create(const std::filesystem::path& path, int flags) {
    constexpr int kTries = 100;
    int descriptor = ::open(path.c_str(), flags, 0666);
    for (int n = 0; n < kTries && descriptor < 0 && errno == ENOENT; ++n) {
        const std::filesystem::path folder = path.parent_path();
        if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return -1;
        descriptor = ::open(path.c_str(), flags, 0666);
    }
    return descriptor;
}

}  // namespace

JobClaims::Lock::Lock(const std::filesystem::path& path)
    : descriptor_(create(path, O_RDWR | O_CREAT | O_CLOEXEC)) {
    if (descriptor_ < 0) fail(path);
    lock_file(descriptor_, LOCK_EX);
}

JobClaims::Lock::~Lock() { ::close(descriptor_); }

JobClaims::JobClaims(const std::filesystem::path& folder, bool forgets)
    : folder_(folder / ".pleat-jobs") {
    if (::mkdir(folder_.c_str(), 0777) != 0 && errno != EEXIST) fail(folder_);
    if (forgets) {
        std::error_code ignored;
        for (const auto& entry : std::filesystem::directory_iterator(folder_))
            if (entry.path().extension() == ".failed")
                std::filesystem::remove(entry.path(), ignored);
    }
    renewing_ = std::jthread([this](const std::stop_token& stop) { renew_claims(stop); });
}

JobClaims::~JobClaims() {
    renewing_.request_stop();
    renewing_.join();
    while (!descriptors_.empty()) release(std::string(descriptors_.begin()->first));
}

void JobClaims::renew_claims(const std::stop_token& stop) {
    std::unique_lock guard(mutex_);
    while (!stop.stop_requested()) {
        renewal_condition_.wait_for(guard, stop, kRenewal, [] { return false; });
        for (const auto& [job, descriptor] : descriptors_) ::futimens(descriptor, nullptr);
    }
}

std::filesystem::path JobClaims::file(const std::string& job, const char* ending) const {
    return folder_ / (Sha256().field(std::string_view(job)).hex().substr(0, 24) + ending);
}

bool JobClaims::is_void(int descriptor) const {
    char text[512] = {};
    if (::pread(descriptor, text, sizeof text - 1, 0) <= 0) return true;
    const Owner owner = Owner::parse(text), own = Owner::of_this_process();
    const bool is_gone = owner.process == own.process ||
                         (::kill(static_cast<pid_t>(owner.process), 0) != 0 && errno == ESRCH);
    if (owner.host == own.host && owner.boot == own.boot && owner.process > 0 && is_gone)
        return true;
    // Both times come from the clock of the file system.
    const Lock clock(folder_ / "clock");
    const std::filesystem::path now = folder_ / "clock";
    struct stat claimed {
    }, touched{};
    ::utimensat(AT_FDCWD, now.c_str(), nullptr, 0);
    return ::fstat(descriptor, &claimed) == 0 && ::stat(now.c_str(), &touched) == 0 &&
           system::change_time(touched).tv_sec - system::change_time(claimed).tv_sec > kMaxAge;
}

bool JobClaims::claim(const std::string& job) {
    const std::filesystem::path path = file(job, ".claim");
    int descriptor = create(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC);
    const bool is_new = descriptor >= 0;
    if (!is_new) {
        if (errno != EEXIST) fail(path);
        descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        if (descriptor < 0 && errno == ENOENT) return false;  // released at this moment
        if (descriptor < 0) fail(path);
    }
    if (!lock_file(descriptor, LOCK_EX | LOCK_NB) || !is_open_file(descriptor, path) ||
        (!is_new && !is_void(descriptor))) {
        ::close(descriptor);
        return false;
    }
    const std::string text = Owner::of_this_process().text();
    if (::ftruncate(descriptor, 0) != 0 || !write_fully(descriptor, 0, text.data(), text.size())) {
        ::close(descriptor);
        fail(path);
    }
    const std::lock_guard guard(mutex_);
    descriptors_[job] = descriptor;
    return true;
}

void JobClaims::release(const std::string& job) {
    const std::lock_guard guard(mutex_);
    const auto found = descriptors_.find(job);
    if (found == descriptors_.end()) return;
    const std::filesystem::path path = file(job, ".claim");
    // Removed while locked, so that a process that has opened it can see that it is gone.
    if (is_open_file(found->second, path)) ::unlink(path.c_str());
    ::close(found->second);
    descriptors_.erase(found);
}

void JobClaims::record_failure(const std::string& job, const Failure& failure) {
    const std::filesystem::path path = file(job, ".failed");
    { const Lock makes_the_file(path); }  // in a folder that is not removed any more
    write_text(path, fmt::format("{}\n{}\n", failure.exit_code, failure.text));
}

std::optional<Failure> JobClaims::failure(const std::string& job) const {
    const std::filesystem::path path = file(job, ".failed");
    if (!is_file(path)) return std::nullopt;
    const std::vector<std::uint8_t> bytes = read_file(path);
    if (bytes.empty()) return std::nullopt;  // being written
    std::string text(bytes.begin(), bytes.end());
    Failure failure;
    std::from_chars(text.data(), text.data() + text.size(), failure.exit_code);
    text.erase(0, text.find('\n') + 1);
    if (text.ends_with('\n')) text.pop_back();
    failure.text = text;
    return failure;
}

/// If a process was killed after its job had ended, it leaves a claim that nobody needs.
bool JobClaims::remove_void(const std::filesystem::path& claim) const {
    const int descriptor = ::open(claim.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return errno == ENOENT;
    struct stat info {};
    // An empty claim is being created; its owner is about to lock it.
    const bool is_left = ::fstat(descriptor, &info) == 0 && info.st_size > 0 &&
                         lock_file(descriptor, LOCK_EX | LOCK_NB) &&
                         is_open_file(descriptor, claim) && is_void(descriptor);
    if (is_left) ::unlink(claim.c_str());
    ::close(descriptor);
    return is_left;
}

void JobClaims::tidy() const {
    std::error_code ignored;
    bool is_used = false;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
        const std::filesystem::path ending = entry.path().extension();
        if (ending == ".failed" || (ending == ".claim" && !remove_void(entry.path())))
            is_used = true;
    }
    if (is_used) return;
    for (const char* name : {"clock", "table.lock"})
        std::filesystem::remove(folder_ / name, ignored);
    std::filesystem::remove(folder_,
                            ignored);  // not if another process has claimed a job meanwhile
}

}  // namespace pleat
