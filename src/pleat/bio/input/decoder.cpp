// Decoder: reading stored bytes, and the gzip and Zstandard streams within them.
#include "pleat/bio/input/decoder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

namespace pleat {

namespace {

constexpr std::size_t kChunk = std::size_t{1} << 17;

enum class Packing { plain, gzip, zstd };

bool begins(std::string_view bytes, std::string_view magic) { return bytes.starts_with(magic); }

bool is_gzip(std::string_view bytes) { return begins(bytes, "\x1f\x8b"); }

bool is_zstd(std::string_view bytes) {
    // A skippable frame may come first (parallel compressors write one): 0x184D2A50 to 0x184D2A5F.
    return begins(bytes, "\x28\xb5\x2f\xfd") ||
           (bytes.size() >= 4 && (bytes[0] & 0xf0) == 0x50 && bytes.substr(1, 3) == "\x2a\x4d\x18");
}

/// Name of a packing that is not read, or empty.
std::string_view foreign_packing(std::string_view bytes) {
    if (begins(bytes, "BZh") && bytes.size() > 4 && begins(bytes.substr(4), "1AY&SY"))
        return "bzip2";
    if (begins(bytes, std::string_view("\xfd"
                                       "7zXZ\0",
                                       6)))
        return "xz";
    if (begins(bytes, "PK\x03\x04")) return "zip";
    if (begins(bytes, "7z\xbc\xaf\x27\x1c")) return "7z";
    return {};
}

}  // namespace

struct Decoder::Implementation {
    StoredBytes stored;
    std::vector<char> chunk = std::vector<char>(kChunk);
    std::size_t first = 0;  // the unused part of `chunk`: [first, last)
    std::size_t last = 0;
    bool at_end = false;  // nothing stored is left beyond `chunk`
    Packing packing = Packing::plain;
    bool open = false;     // inside a gzip member or a Zstandard frame
    bool earlier = false;  // a member or frame has ended before
    z_stream gzip = {};
    bool gzip_ready = false;
    ZSTD_DCtx* zstd = nullptr;
    std::string problem;
    bool cut_short = false;
    std::size_t stored_bytes = 0, given_bytes = 0;

    ~Implementation() {
        if (gzip_ready) inflateEnd(&gzip);
        ZSTD_freeDCtx(zstd);
    }

    std::size_t left() const { return last - first; }

    /// Reads stored bytes; 0 at their end or at a failure to read.
    std::size_t fetch(char* out, std::size_t size) {
        if (stored.file == nullptr) {
            const std::size_t n = std::min(size, stored.memory.size());
            std::copy_n(stored.memory.data(), n, out);
            stored.memory.remove_prefix(n);
            at_end = n == 0;
            stored_bytes += n;
            return n;
        }
        const ssize_t n = stored.file->read(out, size);
        if (n < 0) problem = fmt::format("expected readable data, found: {}", std::strerror(errno));
        at_end = n <= 0;
        stored_bytes += static_cast<std::size_t>(n > 0 ? n : 0);
        return n > 0 ? static_cast<std::size_t>(n) : 0;
    }

    /// Refills an empty chunk; leaves it empty at the end.
    void refill() {
        if (left() > 0 || at_end) return;
        first = 0;
        last = fetch(chunk.data(), chunk.size());
    }

    void start() {
        constexpr std::size_t kLongestMagic = 10;
        while (!at_end && last < kLongestMagic) last += fetch(chunk.data() + last, kChunk - last);
        const std::string_view bytes(chunk.data(), last);
        if (is_gzip(bytes)) {
            packing = Packing::gzip;
            constexpr int kGzipOnly = 16;
            gzip_ready = inflateInit2(&gzip, MAX_WBITS + kGzipOnly) == Z_OK;
            if (!gzip_ready) throw std::bad_alloc();
            open = true;
        } else if (is_zstd(bytes)) {
            packing = Packing::zstd;
            zstd = ZSTD_createDCtx();
            if (zstd == nullptr) throw std::bad_alloc();
        } else if (const std::string_view name = foreign_packing(bytes); !name.empty()) {
            problem = fmt::format(
                "expected text, gzip or Zstandard, found {} data: unpack it first", name);
        }
    }

    void check_factor() {
        if (given_bytes <= kMaxTrustedBytes || given_bytes / kMaxFactor <= stored_bytes) return;
        problem = fmt::format(
            "expected data packed by a factor of at most {}, found more; unpack the file first if "
            "it "
            "is what it should be",
            kMaxFactor);
    }

    std::size_t read_plain(char* out, std::size_t size) {
        if (left() == 0) return at_end ? 0 : fetch(out, size);
        const std::size_t n = std::min(size, left());
        std::copy_n(chunk.data() + first, n, out);
        first += n;
        return n;
    }

    std::size_t read_gzip(char* out, std::size_t size) {
        for (;;) {
            refill();
            if (!problem.empty()) return 0;
            if (!open) {
                if (left() == 0) return 0;
                inflateReset(&gzip);
                open = true;
            }
            gzip.next_in = reinterpret_cast<Bytef*>(chunk.data() + first);
            gzip.avail_in = static_cast<uInt>(left());
            gzip.next_out = reinterpret_cast<Bytef*>(out);
            gzip.avail_out = static_cast<uInt>(std::min<std::size_t>(size, 1u << 30));
            const uInt room = gzip.avail_out;
            const int status = inflate(&gzip, Z_NO_FLUSH);
            first = last - gzip.avail_in;
            const std::size_t made = room - gzip.avail_out;
            if (status == Z_STREAM_END) {
                open = false;
                earlier = true;
            } else if (status != Z_OK && status != Z_BUF_ERROR) {
                const bool between = earlier && gzip.total_out == 0;
                problem =
                    between ? "expected the end of the file after the gzip data, found other bytes"
                            : fmt::format("expected whole gzip data, found damage ({})",
                                          gzip.msg != nullptr ? gzip.msg : "unknown");
            } else if (made == 0 && left() == 0 && at_end) {
                problem =
                    "expected the end of the gzip data, found the end of the file (cut short)";
                cut_short = true;
            }
            if (made > 0 || !problem.empty()) return made;
        }
    }

    std::size_t read_zstd(char* out, std::size_t size) {
        for (;;) {
            refill();
            if (!problem.empty()) return 0;
            if (!open && left() == 0) return 0;
            ZSTD_inBuffer in{chunk.data() + first, left(), 0};
            ZSTD_outBuffer to{out, size, 0};
            const std::size_t status = ZSTD_decompressStream(zstd, &to, &in);
            const bool starting = !open;
            first += in.pos;
            if (ZSTD_isError(status)) {
                const bool between = earlier && starting;
                problem =
                    between
                        ? "expected the end of the file after the Zstandard data, found other bytes"
                        : fmt::format("expected whole Zstandard data, found damage ({})",
                                      ZSTD_getErrorName(status));
            } else {
                open = status != 0;
                earlier = earlier || !open;
                if (open && to.pos == 0 && left() == 0 && at_end) {
                    problem =
                        "expected the end of the Zstandard data, found the end of the file (cut "
                        "short)";
                    cut_short = true;
                }
            }
            if (to.pos > 0 || !problem.empty()) return to.pos;
        }
    }
};

Decoder::Decoder(StoredBytes stored) : implementation_(std::make_unique<Implementation>()) {
    implementation_->stored = stored;
    implementation_->start();
}

Decoder::~Decoder() = default;

std::size_t Decoder::read(char* out, std::size_t size) {
    Implementation& my = *implementation_;
    if (!my.problem.empty()) return 0;
    if (my.packing == Packing::plain) return my.read_plain(out, size);
    const std::size_t given =
        my.packing == Packing::gzip ? my.read_gzip(out, size) : my.read_zstd(out, size);
    my.given_bytes += given;
    my.check_factor();
    return given;
}

bool Decoder::is_cut_short() const { return implementation_->cut_short; }

bool Decoder::is_plain() const { return implementation_->packing == Packing::plain; }

const std::string& Decoder::problem() const { return implementation_->problem; }

}  // namespace pleat
