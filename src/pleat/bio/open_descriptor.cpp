// Open descriptor: opening a file and telling why it cannot be.
#include "pleat/bio/open_descriptor.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "pleat/core/error.h"

namespace pleat {

OpenDescriptor::OpenDescriptor(const std::filesystem::path& path) {
    if (path == "-") {
        number_ = STDIN_FILENO;
        return;
    }
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const int reason = errno;
    struct stat about = {};
    if (file >= 0 && ::fstat(file, &about) == 0 && S_ISDIR(about.st_mode)) {
        ::close(file);
        throw InputError(path.string(), 0, "expected a file, found a directory");
    }
    if (file < 0 && reason == ENOENT) {
        throw InputError(path.string(), 0, "expected a file, found nothing of that name");
    }
    if (file < 0) {
        throw InputError(path.string(), 0,
                         fmt::format("expected a readable file, found: {}", std::strerror(reason)));
    }
    number_ = file;
}

OpenDescriptor::~OpenDescriptor() {
    if (number_ > STDIN_FILENO) ::close(number_);
}

}  // namespace pleat
