// Zip writer: local headers, deflate, the directory and its Zip64 records.
#include <zlib.h>

#include <algorithm>
#include <stdexcept>

#include "pleat/core/error.h"
#include "pleat/core/files/zip.h"

namespace pleat {

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

    /// Compresses bytes and writes the compressed ones; returns how many bytes were written.
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
    // The packed length is not known yet; deflate can grow data by 5 bytes in 16 KiB at the most.
    const bool large = is_large(member.bytes + member.bytes / 1024 + 64);
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
    const bool large =
        is_large(member.bytes) || is_large(member.packed_bytes) || is_large(member.header_offset);
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
    const bool large = count >= 0xFFFF || is_large(offset) || is_large(bytes);
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
