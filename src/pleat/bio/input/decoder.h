// Decoder: bytes of a file or of memory, decompressed if their first bytes are those of gzip or
// Zstandard.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "pleat/core/files/input_file.h"

namespace pleat {

/// Where the stored bytes come from: an open file, or memory if `file` is null.
struct StoredBytes {
    InputFile* file = nullptr;
    std::string_view memory;
};

/// Undoes compression piece by piece. Problems are given as text (`expected X, found Y`), because
/// only the caller knows the file and the line.
class Decoder {
public:
    explicit Decoder(StoredBytes stored);
    ~Decoder();
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    /// Data packed by a factor of more than this are refused once they have given
    /// kMaxTrustedBytes: a small file must not fill the memory. Text and coordinates pack 2 to 50
    /// times.
    static constexpr std::size_t kMaxFactor = 200;
    static constexpr std::size_t kMaxTrustedBytes = std::size_t{64} << 20;

    /// Writes at most `size` bytes to `out` and returns how many; 0 at the end or when `problem()`
    /// is not empty. Bytes that come before a problem are given first.
    std::size_t read(char* out, std::size_t size);
    const std::string& problem() const;
    /// Whether the problem is that the data end too early.
    bool is_cut_short() const;
    /// Whether the stored bytes are given as they are.
    bool is_plain() const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace pleat
