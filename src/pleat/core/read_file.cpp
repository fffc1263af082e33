// Reading a whole file, regular or not, until its end.
#include "pleat/core/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "pleat/core/error.h"

namespace pleat {

std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const auto fail = [&] {
        const std::string reason = std::strerror(errno);
        if (descriptor >= 0) ::close(descriptor);
        throw InputError(path.string(), 0, fmt::format("cannot be read: {}", reason));
    };
    if (descriptor < 0) fail();
    struct stat info {};
    if (::fstat(descriptor, &info) != 0) fail();
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(std::max<off_t>(info.st_size, 0)) + 1);
    std::size_t done = 0;
    while (true) {
        if (done == bytes.size()) bytes.resize(2 * bytes.size());
        const ssize_t n = ::read(descriptor, bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail();
        if (n == 0) break;
        done += static_cast<std::size_t>(n);
    }
    ::close(descriptor);
    bytes.resize(done);
    return bytes;
}

}  // namespace pleat
