// Decoder: bytes of a file or of memory, with gzip or Zstandard undone where the first bytes say
// so.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace pleat {

/// Where the stored bytes come from: an open file descriptor, or memory when `file` is negative.
struct StoredBytes {
    int file = -1;
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

    /// Writes at most `size` bytes to `out` and returns how many; 0 at the end or when `problem()`
    /// is not empty. Bytes that come before a problem are given first.
    std::size_t read(char* out, std::size_t size);
    const std::string& problem() const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace pleat
