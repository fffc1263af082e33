// Reading a whole file, regular or not, until its end.
#include "pleat/core/files/read_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"

namespace pleat {

namespace {

std::filesystem::file_type type_of(const std::filesystem::path& path) {
    std::error_code reason;
    const std::filesystem::file_type type = std::filesystem::status(path, reason).type();
    if (type == std::filesystem::file_type::none)
        throw InputError(path.string(), 0, fmt::format("cannot be read: {}", reason.message()));
    return type;
}

}  // namespace

bool is_file(const std::filesystem::path& path) {
    return type_of(path) == std::filesystem::file_type::regular;
}

bool is_folder(const std::filesystem::path& path) {
    return type_of(path) == std::filesystem::file_type::directory;
}

std::vector<std::uint8_t> read_file(const std::filesystem::path& path, std::int64_t max_bytes) {
    constexpr std::int64_t kStep = 1 << 16;
    InputFile file(path);
    const std::string name = path == "-" ? "stdin" : path.string();
    const auto refuse_larger = [&] {
        throw InputError(name, 0, fmt::format("expected at most {} bytes, found more", max_bytes));
    };
    if (file.regular_bytes() > max_bytes) refuse_larger();
    std::vector<std::uint8_t> bytes;
    // Asks for one byte more than the file's size, so that the first call also finds the end of the
    // file.
    std::size_t step = static_cast<std::size_t>(std::max(file.regular_bytes() + 1, kStep));
    std::size_t done = 0;
    for (;;) {
        bytes.resize(done + step);
        const ssize_t n = file.read(bytes.data() + done, step);
        if (n < 0)
            throw InputError(name, 0, fmt::format("cannot be read: {}", std::strerror(errno)));
        done += static_cast<std::size_t>(n);
        if (static_cast<std::int64_t>(done) > max_bytes) refuse_larger();
        if (static_cast<std::size_t>(n) < step) break;
        step = std::max<std::size_t>(done / 2, kStep);
    }
    bytes.resize(done);
    return bytes;
}

}  // namespace pleat
