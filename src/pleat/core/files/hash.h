// Hashes: SHA-256, as `sha256sum` prints it, of input files and of whole problems.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>

#include "pleat/core/view.h"

namespace pleat {

/// Streaming SHA-256 (FIPS 180-4).
class Sha256 {
public:
    Sha256& add(const void* data, std::size_t bytes);

    /// Adds a text with its length, so that ("ab", "c") and ("a", "bc") differ.
    Sha256& field(std::string_view text);
    /// Adds a number: integers as 64 bits, floating-point numbers by their bits.
    template <class T>
    requires std::is_arithmetic_v<T> Sha256& field(T value) {
        const std::conditional_t<std::is_integral_v<T>, std::int64_t, double> wide =
            static_cast<std::conditional_t<std::is_integral_v<T>, std::int64_t, double>>(value);
        return add(&wide, sizeof wide);
    }
    /// Adds an array's extents and elements.
    template <class T, int Rank>
    Sha256& field(View<T, Rank> view) {
        for (const Index extent : view.extents) field(extent);
        return add(view.data, static_cast<std::size_t>(view.size()) * sizeof(T));
    }

    /// The hash of all data so far as 64 lower-case hexadecimal digits; more data may follow.
    std::string hex() const;

private:
    void process(const std::uint8_t* block);

    std::uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::uint8_t block_[64] = {};
    std::uint64_t bytes_ = 0;
};

/// A file's SHA-256 and length in bytes.
struct FileHash {
    std::string sha256;
    std::int64_t bytes = 0;
    std::string of;  ///< what was hashed; empty: all bytes of the file, as sha256sum does
};

/// Hashes all bytes of a file. Throws InputError if it cannot be read.
FileHash hash_file(const std::filesystem::path& path);

/// Larger inputs are hashed by size, time, and first and last bytes.
inline constexpr std::int64_t kMaxHashedBytes = std::int64_t{256} << 20;

/// Hashes an input of a run: all bytes of a file up to `max_bytes`; for a larger file its size,
/// modification time in nanoseconds, and first and last MiB, so that large trajectories need not be
/// read for it. Throws InputError if the file cannot be read.
FileHash hash_input(const std::filesystem::path& path, std::int64_t max_bytes = kMaxHashedBytes);

}  // namespace pleat
