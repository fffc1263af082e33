// Zip: writing members and the directory with its Zip64 records; reading them, every offset and CRC
// checked.
#include "pleat/core/files/zip.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"

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

/// Inflates a raw deflate stream into `out` as far as both go. Returns zlib's last answer, and sets
/// `out_done` to the number of bytes.
int inflate_into(std::vector<std::uint8_t>& out, const std::vector<std::uint8_t>& packed,
                 std::size_t& out_done) {
    z_stream stream{};
    if (inflateInit2(&stream, -15) != Z_OK) throw std::bad_alloc();
    constexpr std::size_t kPiece = std::size_t{1} << 30;  // zlib counts in 32 bits
    std::size_t in_done = 0;
    out_done = 0;
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
    return status;
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
    const ssize_t n =
        read_at(file_->descriptor, static_cast<std::int64_t>(offset), data.data(), bytes);
    if (n < 0)
        throw InputError(file_->name, 0, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (static_cast<std::uint64_t>(n) < bytes) damaged("a file that shrinks while it is read");
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
        if (std::ranges::any_of(member.name, is_control))
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

/// The file offset of a member's data.
std::uint64_t ZipReader::data_offset_of(const ZipMember& member) const {
    const auto header = read_bytes(member.header_offset, kLocalBytes);
    if (number(header.data(), 4) != 0x04034b50)
        damaged(fmt::format("no member where the directory places '{}'", member.name));
    const std::uint64_t offset =
        member.header_offset + kLocalBytes + number(&header[26], 2) + number(&header[28], 2);
    if (offset > directory_offset_ || member.packed_bytes > directory_offset_ - offset)
        damaged(fmt::format("member '{}' reaching into the directory", member.name));
    // Deflate compresses by a factor of at most 1032; a larger claim is damage and must not cause
    // an allocation.
    const bool plausible = member.method == 0 ? member.bytes == member.packed_bytes
                                              : member.bytes / 1032 <= member.packed_bytes;
    if (!plausible) damaged(fmt::format("an impossible length of member '{}'", member.name));
    return offset;
}

std::vector<std::uint8_t> ZipReader::read_start(const ZipMember& member,
                                                std::size_t max_bytes) const {
    const std::uint64_t offset = data_offset_of(member);
    const auto data = read_bytes(offset, std::min<std::uint64_t>(member.packed_bytes, max_bytes));
    if (member.method == 0) return data;
    std::vector<std::uint8_t> out(std::min<std::uint64_t>(member.bytes, max_bytes));
    std::size_t made = 0;
    const int status = inflate_into(out, data, made);
    out.resize(made);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        damaged(fmt::format("broken deflated data in member '{}'", member.name));
    return out;
}

std::vector<std::uint8_t> ZipReader::read(const ZipMember& member) const {
    const std::uint64_t offset = data_offset_of(member);
    auto data = read_bytes(offset, member.packed_bytes);
    if (member.method != 0) {
        std::vector<std::uint8_t> out(member.bytes);
        std::size_t made = 0;
        if (inflate_into(out, data, made) != Z_STREAM_END || made != out.size())
            damaged(fmt::format("broken deflated data in member '{}'", member.name));
        data = std::move(out);
    }
    if (crc32_z(0, data.data(), data.size()) != member.crc)
        damaged(fmt::format("member '{}' with a wrong checksum: the file is damaged", member.name));
    return data;
}

namespace {

constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint16_t kVersion = 20, kVersionZip64 = 45;
constexpr std::uint16_t kUtf8Names = 1 << 11;
constexpr std::uint16_t kEarliestDate =
    (0 << 9) | (1 << 5) | 1;  // the earliest date that the format can store, 1980-01-01

/// Little-endian fields one after another.
struct Record {
    std::string bytes;

    template <class T>
    Record& put(T value) {
        for (std::size_t i = 0; i < sizeof(T); ++i)
            bytes.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i)));
        return *this;
    }
    Record& u16(std::uint64_t value) { return put(static_cast<std::uint16_t>(value)); }
    Record& u32(std::uint64_t value) { return put(static_cast<std::uint32_t>(value)); }
    Record& u64(std::uint64_t value) { return put(value); }
};

}  // namespace

struct ZipWriter::Deflater {
    z_stream stream{};
    std::vector<std::uint8_t> out = std::vector<std::uint8_t>(std::size_t{1} << 16);

    // Raw deflate (negative window bits), as zip members hold it.
    Deflater() {
        if (deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            throw std::bad_alloc();
    }
    ~Deflater() { deflateEnd(&stream); }

    /// Compresses and writes bytes; returns the number of bytes written.
    std::uint64_t run(const void* data, std::size_t bytes, int flush, OutputFile& file) {
        stream.next_in = static_cast<Bytef*>(const_cast<void*>(data));
        stream.avail_in = static_cast<uInt>(bytes);
        std::uint64_t written = 0;
        do {
            stream.next_out = out.data();
            stream.avail_out = static_cast<uInt>(out.size());
            deflate(&stream, flush);
            const std::size_t n = out.size() - stream.avail_out;
            file.write(out.data(), n);
            written += n;
        } while (stream.avail_out == 0);
        return written;
    }
};

ZipWriter::ZipWriter(std::filesystem::path path, bool compress, std::uint64_t zip64_from)
    : file_(std::move(path)), compress_(compress), zip64_from_(zip64_from) {}

ZipWriter::~ZipWriter() = default;

std::string ZipWriter::local_header(const ZipMember& member) const {
    // The compressed length is not known yet; deflate adds at most 5 bytes per 16 KiB.
    const bool large = needs_zip64(member.bytes + member.bytes / 1024 + 64);
    Record record;
    record.u32(0x04034b50).u16(large ? kVersionZip64 : kVersion).u16(kUtf8Names);
    record.u16(member.method).u16(0).u16(kEarliestDate).u32(member.crc);
    record.u32(large ? 0xFFFFFFFFu : member.packed_bytes).u32(large ? 0xFFFFFFFFu : member.bytes);
    record.u16(member.name.size()).u16(large ? 20 : 0);
    record.bytes += member.name;
    if (large) record.u16(1).u16(16).u64(member.bytes).u64(member.packed_bytes);
    return record.bytes;
}

std::string ZipWriter::directory_entry(const ZipMember& member) const {
    const bool large = needs_zip64(member.bytes) || needs_zip64(member.packed_bytes) ||
                       needs_zip64(member.header_offset);
    Record record;
    record.u32(0x02014b50).u16(large ? kVersionZip64 : kVersion);
    record.u16(large ? kVersionZip64 : kVersion).u16(kUtf8Names).u16(member.method);
    record.u16(0).u16(kEarliestDate).u32(member.crc);
    record.u32(large ? 0xFFFFFFFFu : member.packed_bytes).u32(large ? 0xFFFFFFFFu : member.bytes);
    record.u16(member.name.size()).u16(large ? 28 : 0).u16(0).u16(0).u16(0).u32(0);
    record.u32(large ? 0xFFFFFFFFu : member.header_offset);
    record.bytes += member.name;
    if (large)
        record.u16(1).u16(24).u64(member.bytes).u64(member.packed_bytes).u64(member.header_offset);
    return record.bytes;
}

void ZipWriter::begin(std::string_view name, std::uint64_t bytes) {
    for (const ZipMember& member : members_)
        if (member.name == name)
            throw std::logic_error("zip member '" + member.name + "' written twice");
    ZipMember member;
    member.name = name;
    member.header_offset = file_.position();
    member.bytes = bytes;
    member.method = compress_ ? kDeflated : kStored;
    member.crc = static_cast<std::uint32_t>(crc32_z(0, nullptr, 0));
    file_.write(local_header(member));
    if (compress_) deflater_ = std::make_unique<Deflater>();
    members_.push_back(std::move(member));
}

void ZipWriter::append(const void* data, std::size_t bytes) {
    ZipMember& member = members_.back();
    constexpr std::size_t kPiece = std::size_t{1} << 24;  // zlib counts in 32 bits
    for (std::size_t at = 0; at < bytes; at += kPiece) {
        const auto* piece = static_cast<const std::uint8_t*>(data) + at;
        const std::size_t n = std::min(kPiece, bytes - at);
        member.crc = static_cast<std::uint32_t>(crc32_z(member.crc, piece, n));
        if (compress_) {
            member.packed_bytes += deflater_->run(piece, n, Z_NO_FLUSH, file_);
        } else {
            file_.write(piece, n);
            member.packed_bytes += n;
        }
    }
}

void ZipWriter::end() {
    ZipMember& member = members_.back();
    if (compress_) {
        member.packed_bytes += deflater_->run(nullptr, 0, Z_FINISH, file_);
        deflater_.reset();
    }
    const std::string header = local_header(member);
    file_.write_at(member.header_offset, header.data(), header.size());
}

void ZipWriter::close() {
    const std::uint64_t offset = file_.position();
    for (const ZipMember& member : members_) file_.write(directory_entry(member));
    const std::uint64_t bytes = file_.position() - offset;
    const std::uint64_t count = members_.size();
    const bool large = count >= 0xFFFF || needs_zip64(offset) || needs_zip64(bytes);
    Record record;
    if (large) {
        record.u32(0x06064b50).u64(44).u16(kVersionZip64).u16(kVersionZip64).u32(0).u32(0);
        record.u64(count).u64(count).u64(bytes).u64(offset);
        record.u32(0x07064b50).u32(0).u64(offset + bytes).u32(1);
    }
    record.u32(0x06054b50).u16(0).u16(0).u16(large ? 0xFFFF : count).u16(large ? 0xFFFF : count);
    record.u32(large ? 0xFFFFFFFFu : bytes).u32(large ? 0xFFFFFFFFu : offset).u16(0);
    file_.write(record.bytes);
    file_.close();
}

}  // namespace pleat
