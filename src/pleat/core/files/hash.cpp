// SHA-256 as FIPS 180-4 states it.
#include "pleat/core/files/hash.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/hardware/system.h"

namespace pleat {

namespace {

/// First 32 bits of the fractional parts of the cube roots of the first 64 primes (section 4.2.2).
constexpr std::uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const std::uint8_t* at) {
    return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 |
           at[3];
}

}  // namespace

void Sha256::process(const std::uint8_t* block) {
    using std::rotr;
    std::uint32_t w[64];
    for (int t = 0; t < 16; ++t) w[t] = big_endian(block + 4 * t);
    for (int t = 16; t < 64; ++t) {
        const std::uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
        const std::uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (int t = 0; t < 64; ++t) {
        const std::uint32_t t1 =
            h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + kRound[t] + w[t];
        const std::uint32_t t2 =
            (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const std::uint32_t sums[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state_[i] += sums[i];
}

Sha256& Sha256::add(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const std::uint8_t*>(data);
    std::size_t filled = bytes_ % sizeof block_;
    bytes_ += bytes;
    while (bytes > 0) {
        if (filled == 0 && bytes >= sizeof block_) {
            process(from);
            from += sizeof block_;
            bytes -= sizeof block_;
            continue;
        }
        const std::size_t n = std::min(bytes, sizeof block_ - filled);
        std::memcpy(block_ + filled, from, n);
        from += n;
        bytes -= n;
        filled += n;
        if (filled == sizeof block_) {
            process(block_);
            filled = 0;
        }
    }
    return *this;
}

Sha256& Sha256::field(std::string_view text) {
    field(static_cast<std::int64_t>(text.size()));
    return add(text.data(), text.size());
}

std::string Sha256::hex() const {
    Sha256 end = *this;
    const std::uint64_t bits = bytes_ * 8;
    // The padding of SHA-256: a one bit, zeros up to the last eight bytes of a block, and the
    // length in bits.
    std::uint8_t padding[72] = {0x80};
    const std::size_t zeros = (119 - bytes_ % 64) % 64;
    for (int i = 0; i < 8; ++i)
        padding[1 + zeros + i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
    end.add(padding, zeros + 9);
    std::string text;
    for (const std::uint32_t word : end.state_) text += fmt::format("{:08x}", word);
    return text;
}

FileHash hash_input(const std::filesystem::path& path, std::int64_t max_bytes) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about = {};
    if (descriptor < 0 || ::fstat(descriptor, &about) != 0 || about.st_size <= max_bytes) {
        if (descriptor >= 0) ::close(descriptor);
        return hash_file(path);
    }
    constexpr std::int64_t kEnd = std::int64_t{1} << 20;
    Sha256 hash;
    hash.field(std::int64_t{about.st_size});
    const timespec changed = system::change_time(about);
    hash.field(std::int64_t{changed.tv_sec}).field(std::int64_t{changed.tv_nsec});
    std::vector<std::uint8_t> buffer(kEnd);
    bool failed = false;
    for (const std::int64_t offset : {std::int64_t{0}, about.st_size - kEnd}) {
        const ssize_t n = read_at(descriptor, offset, buffer.data(), buffer.size());
        failed = failed || n < 0;
        if (n > 0) hash.add(buffer.data(), static_cast<std::size_t>(n));
    }
    const int reason = errno;
    ::close(descriptor);
    if (failed)
        throw InputError(path.string(), 0,
                         fmt::format("cannot be read: {}", std::strerror(reason)));
    return {hash.hex(), about.st_size, "size, time of the last change, first and last MiB"};
}

FileHash hash_file(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) refuse_too_many_open_files(path, errno);
    Sha256 hash;
    FileHash result;
    std::vector<std::uint8_t> buffer(std::size_t{1} << 20);
    ssize_t n = descriptor < 0 ? -1 : 1;
    while (n > 0) {
        do n = ::read(descriptor, buffer.data(), buffer.size());
        while (n < 0 && errno == EINTR);
        if (n <= 0) break;
        hash.add(buffer.data(), static_cast<std::size_t>(n));
        result.bytes += n;
    }
    const int reason = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (n < 0)
        throw InputError(path.string(), 0,
                         fmt::format("cannot be read: {}", std::strerror(reason)));
    result.sha256 = hash.hex();
    return result;
}

}  // namespace pleat
