// Frame store: reading blocks of a file of coordinates.
#include "pleat/bio/ensemble/frame_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "pleat/core/error.h"

namespace pleat {

/// An open file.
class FrameStore::File {
public:
    File(const std::filesystem::path& path, Index bytes)
        : path_(path.string()), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (descriptor_ < 0) fail(std::strerror(errno));
        struct stat info {};
        const bool has_size = ::fstat(descriptor_, &info) == 0;
        if (has_size && info.st_size == bytes) return;
        ::close(descriptor_);
        throw InputError(path_, 0, fmt::format("expected {} bytes, found {}", bytes, info.st_size));
    }
    ~File() { ::close(descriptor_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void read(Index offset, Index bytes, void* to) const {
        auto* at = static_cast<std::uint8_t*>(to);
        while (bytes > 0) {
            const ssize_t n = ::pread(descriptor_, at, static_cast<std::size_t>(bytes), offset);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) fail(n < 0 ? std::strerror(errno) : "it was cut short");
            at += n;
            offset += n;
            bytes -= n;
        }
    }

private:
    [[noreturn]] void fail(const char* reason) const {
        throw InputError(path_, 0, fmt::format("cannot read: {}", reason));
    }
    std::string path_;
    int descriptor_;
};

FrameStore::FrameStore(const std::filesystem::path& file, Index frames, Index atoms)
    : shape_(nullptr, frames, atoms, Index{3}),
      file_(std::make_shared<const File>(file, 12 * frames * atoms)) {}

void FrameStore::read(Index first, Index count, float* to) const {
    if (is_on_disk())
        file_->read(4 * first, 4 * count, to);
    else
        std::copy_n(shape_.data + first, count, to);
}

Array<float, 2> FrameStore::frame(Index frame) const {
    auto xyz = Array<float, 2>::unset(atom_count(), Index{3});
    read(frame * xyz.size(), xyz.size(), xyz.data());
    return xyz;
}

}  // namespace pleat
