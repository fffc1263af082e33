// Byte reader: binary data of a file or of memory in order, decompressed on the way.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/view.h"

namespace pleat {

/// The data end before what their header, or the frames before, announce.
class CutShort : public InputError {
public:
    using InputError::InputError;
};

/// Gives bytes front to back; plain, gzip and Zstandard are told apart by their first bytes. Every
/// function may throw InputError that names the file: it cannot be opened or read, or compressed
/// data are damaged or cut short.
class ByteReader {
public:
    explicit ByteReader(const std::filesystem::path& path);
    ByteReader(std::string name, std::string_view bytes);
    ~ByteReader();
    ByteReader(const ByteReader&) = delete;
    ByteReader& operator=(const ByteReader&) = delete;

    /// As many of the next `size` bytes as there are; the position stays. At most 4096.
    std::string_view peek(std::size_t size);
    /// Fills `out` as far as the bytes go; how many.
    std::size_t read(void* out, std::size_t size);
    /// Reads up to `size` bytes, as many as come at once; 0 at the end or if there is a problem,
    /// which is not thrown.
    std::size_t read_some(char* out, std::size_t size);
    const std::string& problem() const;
    /// Whether the problem is that packed data end too early.
    bool is_cut_short() const;
    /// Sets `out` to the next `size` bytes, as far as they go; memory grows with what is there, not
    /// with what a header claims. Of more than kMaxStep bytes that are not all there, `out` gets
    /// none. Throws InputError for more than kMaxUnseen bytes if it is not known whether they are
    /// there.
    std::size_t read(std::vector<char>& out, std::size_t size);
    static constexpr std::size_t kMaxStep = std::size_t{16} << 20;
    static constexpr std::size_t kMaxUnseen = std::size_t{64} << 20;
    /// How many bytes are left; -1 if that is not known, as of packed data and of a pipe.
    Index left() const;
    /// Whether the bytes come from a pipe or a device.
    bool is_from_pipe() const;
    /// Passes over bytes as far as they go; how many.
    std::size_t skip(std::size_t size);
    bool at_end() { return peek(1).empty(); }
    /// Bytes given or passed over so far.
    Index position() const;
    const std::string& name() const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

/// Reads a number of type T at `bytes`, stored with the most significant byte first or last.
template <class T>
T stored_number(const char* bytes, bool big_endian) {
    std::array<char, sizeof(T)> copy;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        // The machines that are supported store the least significant byte first.
        copy[i] = bytes[big_endian ? sizeof(T) - 1 - i : i];
    }
    T value;
    std::memcpy(&value, copy.data(), sizeof(T));
    return value;
}

}  // namespace pleat
