// Zip reader: finds the directory, checks every offset, inflates members and checks their CRC.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/zip.h"

namespace pleat {

namespace {

constexpr std::uint64_t kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56;
constexpr std::uint64_t kLocalBytes = 30, kEntryBytes = 46, kMaxComment = 0xFFFF;

std::uint64_t number(const std::uint8_t* at, int bytes) {
    std::uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; --i) value = value << 8 | at[i];
    return value;
}

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

/// Replaces the lengths and the offset that say 0xFFFFFFFF by those of the Zip64 extra field, which
/// holds only the replaced ones, in this order; false when the field is missing or too short.
bool apply_zip64(ZipMember& member, const std::uint8_t* extra, std::uint64_t extra_bytes) {
    std::uint64_t* const wanted[] = {&member.bytes, &member.packed_bytes, &member.header_offset};
    const auto is_replaced = [](const std::uint64_t* n) { return *n == 0xFFFFFFFFu; };
    if (std::none_of(std::begin(wanted), std::end(wanted), is_replaced)) return true;
    std::uint64_t at = 0;
    while (at + 4 <= extra_bytes) {
        const std::uint64_t tag = number(extra + at, 2), length = number(extra + at + 2, 2);
        at += 4;
        if (at + length > extra_bytes) return false;
        if (tag != 1) {
            at += length;
            continue;
        }
        std::uint64_t field = at;
        for (std::uint64_t* target : wanted) {
            if (!is_replaced(target)) continue;
            if (field + 8 > at + length) return false;
            *target = number(extra + field, 8);
            field += 8;
        }
        return true;
    }
    return false;
}

/// Inflates a raw deflate stream that must give exactly `bytes` bytes; false when it does not.
bool inflate_exactly(const std::vector<std::uint8_t>& packed, std::vector<std::uint8_t>& out) {
    z_stream stream{};
    if (inflateInit2(&stream, -15) != Z_OK) throw std::bad_alloc();
    constexpr std::size_t kPiece = std::size_t{1} << 30;  // zlib counts in 32 bits
    std::size_t in_done = 0, out_done = 0;
    std::uint8_t spare = 0;  // zlib needs a valid pointer even for an empty result
    int status = Z_OK;
    while (status == Z_OK) {
        const std::size_t in = std::min(kPiece, packed.size() - in_done);
        const std::size_t room = std::min(kPiece, out.size() - out_done);
        stream.next_in = const_cast<Bytef*>(packed.data() + in_done);
        stream.avail_in = static_cast<uInt>(in);
        stream.next_out = room > 0 ? out.data() + out_done : &spare;
        stream.avail_out = static_cast<uInt>(room);
        status = inflate(&stream, Z_NO_FLUSH);
        const std::size_t used = in - stream.avail_in, made = room - stream.avail_out;
        in_done += used;
        out_done += made;
        if (status == Z_OK && used == 0 && made == 0) break;
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END && out_done == out.size();
}

}  // namespace

struct ZipReader::File {
    std::string name;
    int descriptor = -1;
    std::uint64_t bytes = 0;
    ~File() {
        if (descriptor >= 0) ::close(descriptor);
    }
};

ZipReader::ZipReader(const std::filesystem::path& path) {
    auto file = std::make_shared<File>();
    file->name = path.string();
    // O_NONBLOCK: without it, opening a pipe that has no writer would block.
    file->descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info {};
    if (file->descriptor < 0) refuse_too_many_open_files(path, errno);
    if (file->descriptor < 0 || ::fstat(file->descriptor, &info) != 0)
        throw InputError(file->name, 0, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (!S_ISREG(info.st_mode))
        throw InputError(file->name, 0, "expected a regular file, found a folder, device or pipe");
    file->bytes = static_cast<std::uint64_t>(info.st_size);
    file_ = std::move(file);
    read_directory();
}

void ZipReader::damaged(std::string_view text) const {
    throw InputError(file_->name, 0, fmt::format("expected a zip archive (.npz), found {}", text));
}

std::vector<std::uint8_t> ZipReader::read_bytes(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > file_->bytes || bytes > file_->bytes - offset)
        damaged("an offset beyond its end: the file is truncated or damaged");
    std::vector<std::uint8_t> data(bytes);
    std::uint64_t done = 0;
    while (done < bytes) {
        const ssize_t n = ::pread(file_->descriptor, data.data() + done, bytes - done,
                                  static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            throw InputError(file_->name, 0,
                             fmt::format("cannot be read: {}", std::strerror(errno)));
        if (n == 0) damaged("a file that shrinks while it is read");
        done += static_cast<std::uint64_t>(n);
    }
    return data;
}

void ZipReader::read_directory() {
    const std::uint64_t tail_bytes =
        std::min(file_->bytes, kEndBytes + kMaxComment + kLocatorBytes);
    const std::uint64_t tail_offset = file_->bytes - tail_bytes;
    const std::vector<std::uint8_t> tail = read_bytes(tail_offset, tail_bytes);
    std::int64_t at = static_cast<std::int64_t>(tail_bytes) - static_cast<std::int64_t>(kEndBytes);
    const auto is_end = [&](std::int64_t i) {
        return number(&tail[i], 4) == 0x06054b50 && number(&tail[i + 20], 2) == tail_bytes - i - 22;
    };
    while (at >= 0 && !is_end(at)) --at;
    if (at < 0) damaged("no directory at its end: the file is truncated or of another kind");
    std::uint64_t count = number(&tail[at + 10], 2), bytes = number(&tail[at + 12], 4);
    directory_offset_ = number(&tail[at + 16], 4);
    const std::int64_t locator = at - static_cast<std::int64_t>(kLocatorBytes);
    if (locator >= 0 && number(&tail[locator], 4) == 0x07064b50) {
        const auto end64 = read_bytes(number(&tail[locator + 8], 8), kEnd64Bytes);
        if (number(end64.data(), 4) != 0x06064b50) damaged("a broken Zip64 directory record");
        count = number(&end64[32], 8);
        bytes = number(&end64[40], 8);
        directory_offset_ = number(&end64[48], 8);
    }
    const std::uint64_t limit = tail_offset + static_cast<std::uint64_t>(at);
    if (directory_offset_ > limit || bytes > limit - directory_offset_)
        damaged("a directory that overlaps its own end");
    read_entries(read_bytes(directory_offset_, bytes), count);
}

void ZipReader::read_entries(const std::vector<std::uint8_t>& directory, std::uint64_t count) {
    std::uint64_t at = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (at + kEntryBytes > directory.size() || number(&directory[at], 4) != 0x02014b50)
            damaged("a broken directory entry");
        const std::uint8_t* entry = &directory[at];
        const std::uint64_t name_bytes = number(entry + 28, 2), extra_bytes = number(entry + 30, 2);
        const std::uint64_t length = kEntryBytes + name_bytes + extra_bytes + number(entry + 32, 2);
        if (at + length > directory.size()) damaged("a directory entry cut short");
        ZipMember member;
        member.method = static_cast<std::uint16_t>(number(entry + 10, 2));
        member.crc = static_cast<std::uint32_t>(number(entry + 16, 4));
        member.packed_bytes = number(entry + 20, 4);
        member.bytes = number(entry + 24, 4);
        member.header_offset = number(entry + 42, 4);
        member.name.assign(reinterpret_cast<const char*>(entry + kEntryBytes), name_bytes);
        // A zero byte would cut short every message that names the member.
        if (std::any_of(member.name.begin(), member.name.end(), is_control))
            damaged("a member's name with control characters");
        if (!apply_zip64(member, entry + kEntryBytes + name_bytes, extra_bytes))
            damaged(fmt::format("a broken Zip64 field of member '{}'", member.name));
        if ((number(entry + 8, 2) & 1) != 0)
            damaged(fmt::format("the encrypted member '{}'", member.name));
        if (member.method != 0 && member.method != 8)
            damaged(
                fmt::format("member '{}' packed by method {}; only stored and deflated members "
                            "are read",
                            member.name, member.method));
        if (!members_.emplace(member.name, member).second)
            damaged(fmt::format("member '{}' twice", member.name));
        at += length;
    }
    if (at != directory.size()) damaged("a directory longer than its entries");
}

/// The offset in the file at which the bytes of a member begin.
std::uint64_t ZipReader::offset_of(const ZipMember& member) const {
    const auto header = read_bytes(member.header_offset, kLocalBytes);
    if (number(header.data(), 4) != 0x04034b50)
        damaged(fmt::format("no member where the directory places '{}'", member.name));
    const std::uint64_t offset =
        member.header_offset + kLocalBytes + number(&header[26], 2) + number(&header[28], 2);
    if (offset > directory_offset_ || member.packed_bytes > directory_offset_ - offset)
        damaged(fmt::format("member '{}' reaching into the directory", member.name));
    // Deflate packs by a factor of 1032 at the most: a larger claim is damage, not a reason to
    // allocate.
    const bool plausible = member.method == 0 ? member.bytes == member.packed_bytes
                                              : member.bytes / 1032 <= member.packed_bytes;
    if (!plausible) damaged(fmt::format("an impossible length of member '{}'", member.name));
    return offset;
}

std::vector<std::uint8_t> ZipReader::read_start(const ZipMember& member,
                                                std::size_t max_bytes) const {
    const std::uint64_t offset = offset_of(member);
    const auto data = read_bytes(offset, std::min<std::uint64_t>(member.packed_bytes, max_bytes));
    if (member.method == 0) return data;
    std::vector<std::uint8_t> out(std::min<std::uint64_t>(member.bytes, max_bytes));
    z_stream stream{};
    if (inflateInit2(&stream, -15) != Z_OK) throw std::bad_alloc();
    stream.next_in = const_cast<Bytef*>(data.data());
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    const int status = out.empty() ? Z_OK : inflate(&stream, Z_SYNC_FLUSH);
    out.resize(out.size() - stream.avail_out);
    inflateEnd(&stream);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        damaged(fmt::format("broken deflated data in member '{}'", member.name));
    return out;
}

std::vector<std::uint8_t> ZipReader::read(const ZipMember& member) const {
    const std::uint64_t offset = offset_of(member);
    auto data = read_bytes(offset, member.packed_bytes);
    if (member.method != 0) {
        std::vector<std::uint8_t> out(member.bytes);
        if (!inflate_exactly(data, out))
            damaged(fmt::format("broken deflated data in member '{}'", member.name));
        data = std::move(out);
    }
    if (crc32_z(0, data.data(), data.size()) != member.crc)
        damaged(fmt::format("member '{}' with a wrong checksum: the file is damaged", member.name));
    return data;
}

}  // namespace pleat
