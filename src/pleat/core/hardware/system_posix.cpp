// System, where only POSIX can be asked.
#include <locale.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <thread>

#ifdef __APPLE__
#include <xlocale.h>
#endif

#include "pleat/core/hardware/memory.h"
#include "pleat/core/hardware/system.h"

namespace pleat::system {

namespace {

constexpr std::string_view kInNumbers = "+-.0123456789aAeEfFiInNtTyY";

// macOS counts the peak in bytes, and has its own name for a file's time of change.
#ifdef __APPLE__
constexpr std::int64_t kPeakUnit = 1;
constexpr auto kChanged = &stat::st_mtimespec;
#else
constexpr std::int64_t kPeakUnit = 1024;
constexpr auto kChanged = &stat::st_mtim;
#endif

/// `parse`: the C library's function for this type.
template <class Real, class Parse>
std::from_chars_result read_by(Parse parse, std::string_view text, Real& value) {
    static const locale_t kPlain = ::newlocale(LC_ALL_MASK, "C", nullptr);
    // The C library would also take blanks and a plus before the number, and hexadecimal digits. Of
    // "nan(abc)", which std::from_chars reads wholly, this reads "nan".
    const std::string number(text.substr(0, text.find_first_not_of(kInNumbers)));
    char* end = nullptr;
    errno = 0;
    const Real parsed = parse(number.c_str(), &end, kPlain);
    if (end == number.c_str() || number.starts_with('+'))
        return {text.data(), std::errc::invalid_argument};
    const std::from_chars_result result{text.data() + (end - number.c_str()), std::errc()};
    // An exponent is out of range; the smallest numbers set errno, too, but are not 0.
    if (errno == ERANGE && (parsed == 0 || std::isinf(parsed)))
        return {result.ptr, std::errc::result_out_of_range};
    value = parsed;
    return result;
}

}  // namespace

std::int64_t usable_cpus() { return std::max(1u, std::thread::hardware_concurrency()); }

std::int64_t machine_memory() {
    const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? pages * ::sysconf(_SC_PAGESIZE) : kUnlimited;
}

OwnMemory own_memory() { return {peak_memory(), peak_memory()}; }

std::int64_t peak_memory() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * kPeakUnit;
}

void prefer_large_pages(void*, std::int64_t) {}

void return_freed_blocks(int) {}

std::string boot_id() { return "unknown"; }

timespec change_time(const struct stat& about) { return about.*kChanged; }

void begin_flush(int, std::uint64_t, std::uint64_t) {}

bool flush_data(int descriptor) { return ::fsync(descriptor) == 0; }

std::from_chars_result read_real(std::string_view text, double& value) {
    return read_by(::strtod_l, text, value);
}
std::from_chars_result read_real(std::string_view text, float& value) {
    return read_by(::strtof_l, text, value);
}

bool exchange_paths(const std::filesystem::path&, const std::filesystem::path&) {
    errno = ENOTSUP;
    return false;
}

}  // namespace pleat::system
