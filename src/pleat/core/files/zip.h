// Zip: archives of stored or deflated members, with the Zip64 fields that large ones need.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/files/output_file.h"

namespace pleat {

/// Where an archive's member begins and how it is stored (PKWARE APPNOTE 6.3.10, section 4.4).
struct ZipMember {
    std::string name;
    std::uint64_t header_offset = 0;
    std::uint64_t packed_bytes = 0;
    std::uint64_t bytes = 0;
    std::uint32_t crc = 0;
    std::uint16_t method = 0;  ///< 0 stored, 8 deflated
};

/// Writes an archive member by member. Members carry no times, so equal content gives equal bytes.
class ZipWriter {
public:
    /// Offsets and lengths of at least `zip64_from` use Zip64 fields; only tests lower this limit.
    ZipWriter(std::filesystem::path path, bool compress, std::uint64_t zip64_from = 0xFFFFFFFFu);
    ~ZipWriter();
    ZipWriter(const ZipWriter&) = delete;
    ZipWriter& operator=(const ZipWriter&) = delete;

    /// Starts a member of exactly `bytes` bytes, to be given by append() and closed by end().
    void begin(std::string_view name, std::uint64_t bytes);
    void append(const void* data, std::size_t bytes);
    void end();
    /// Writes the directory and renames the archive into place.
    void close();

private:
    struct Deflater;
    bool needs_zip64(std::uint64_t number) const { return number >= zip64_from_; }
    std::string local_header(const ZipMember& member) const;
    std::string directory_entry(const ZipMember& member) const;

    OutputFile file_;
    bool compress_;
    std::uint64_t zip64_from_;
    std::unique_ptr<Deflater> deflater_;
    std::vector<ZipMember> members_;
};

/// Reads members of an archive and checks length and CRC. Throws InputError for damage.
class ZipReader {
public:
    explicit ZipReader(const std::filesystem::path& path);
    const std::map<std::string, ZipMember, std::less<>>& members() const { return members_; }
    std::vector<std::uint8_t> read(const ZipMember& member) const;
    /// The first bytes of a member, at most `max_bytes`, not checked against its CRC.
    std::vector<std::uint8_t> read_start(const ZipMember& member, std::size_t max_bytes) const;

private:
    struct File;
    void read_directory();
    void read_entries(const std::vector<std::uint8_t>& directory, std::uint64_t count);
    std::uint64_t data_offset_of(const ZipMember& member) const;
    std::vector<std::uint8_t> read_bytes(std::uint64_t offset, std::uint64_t bytes) const;
    [[noreturn]] void damaged(std::string_view text) const;

    std::shared_ptr<const File> file_;
    std::uint64_t directory_offset_ = 0;
    std::map<std::string, ZipMember, std::less<>> members_;
};

}  // namespace pleat
