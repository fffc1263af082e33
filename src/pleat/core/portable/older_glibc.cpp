// Functions that this machine's static libraries and headers call and glibc 2.28 lacks. Archives
// and wheels contain them (docs/decisions/0045); all are hidden, so that other libraries of a
// process never meet them.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#pragma GCC visibility push(hidden)
extern "C" {

// Libraries count references with atomic operations when this is 0.
char __libc_single_threaded = 0;

std::uint32_t arc4random() {
    std::uint32_t number = 0;
    ssize_t got = 0;
    do {
        got = getrandom(&number, sizeof number, 0);
    } while (got < 0 && errno == EINTR);
    if (got != sizeof number) {
        std::abort();  // as glibc does: it must not return what can be guessed
    }
    return number;
}

// Since 2.33; before it the headers called __xstat() and others of its kind.
int fstatat(int folder, const char* path, struct stat* found, int flags) {
    return static_cast<int>(syscall(SYS_newfstatat, folder, path, found, flags));
}
int stat(const char* path, struct stat* found) { return fstatat(AT_FDCWD, path, found, 0); }
int lstat(const char* path, struct stat* found) {
    return fstatat(AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW);
}
int fstat(int file, struct stat* found) {
    return static_cast<int>(syscall(SYS_fstat, file, found));
}
int fstat64(int file, struct stat64* found) {
    return static_cast<int>(syscall(SYS_fstat, file, found));
}

// glibc 2.28 waits on the wall clock alone, which may be set; so the wait is cut into tenths of a
// second, after each of which it ends as if woken for no reason. Callers wait in loops.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
    constexpr std::int64_t second = 1'000'000'000;
    const auto now = [](clockid_t of) {
        timespec time{};
        clock_gettime(of, &time);
        return time.tv_sec * second + time.tv_nsec;
    };
    const std::int64_t left = until->tv_sec * second + until->tv_nsec - now(clock);
    if (left <= 0) {
        return ETIMEDOUT;
    }
    const std::int64_t wake = now(CLOCK_REALTIME) + (left < second / 10 ? left : second / 10);
    const timespec at{.tv_sec = wake / second, .tv_nsec = wake % second};
    const int status = pthread_cond_timedwait(condition, mutex, &at);
    return status == ETIMEDOUT && left > second / 10 ? 0 : status;
}

// The unwinder of exceptions asks which loaded file contains an instruction.
int _dl_find_object(void* address, dl_find_object* found) {
    struct Search {
        ElfW(Addr) address;
        dl_find_object* found;
    } search{reinterpret_cast<ElfW(Addr)>(address), found};
    const auto look = [](dl_phdr_info* file, std::size_t, void* data) {
        const auto& [wanted, result] = *static_cast<Search*>(data);
        const ElfW(Phdr)* frames = nullptr;
        const ElfW(Phdr)* around = nullptr;
        for (const ElfW(Phdr)* part = file->dlpi_phdr; part != file->dlpi_phdr + file->dlpi_phnum;
             ++part) {
            if (part->p_type == PT_GNU_EH_FRAME) {
                frames = part;
            } else if (part->p_type == PT_LOAD &&
                       wanted - (file->dlpi_addr + part->p_vaddr) < part->p_memsz) {
                around = part;
            }
        }
        if (around == nullptr || frames == nullptr) {
            return 0;
        }
        *result = {};
        result->dlfo_map_start = reinterpret_cast<void*>(file->dlpi_addr + around->p_vaddr);
        result->dlfo_map_end =
            reinterpret_cast<void*>(file->dlpi_addr + around->p_vaddr + around->p_memsz);
        result->dlfo_eh_frame = reinterpret_cast<void*>(file->dlpi_addr + frames->p_vaddr);
        return 1;
    };
    return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}

}  // extern "C"
#pragma GCC visibility pop
