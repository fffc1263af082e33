// Bytes and lines: undoing gzip and Zstandard, buffering, and cutting decoded bytes into lines.
#include "pleat/bio/input/byte_source.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "pleat/core/files/input_file.h"

namespace pleat {

namespace {

constexpr std::size_t kChunk = std::size_t{1} << 17;

enum class Packing { plain, gzip, zstd };

bool is_zstd(std::string_view bytes) {
    // A skippable frame may come first (parallel compressors write one): 0x184D2A50 to 0x184D2A5F.
    return bytes.starts_with("\x28\xb5\x2f\xfd") ||
           (bytes.size() >= 4 && (bytes[0] & 0xf0) == 0x50 && bytes.substr(1, 3) == "\x2a\x4d\x18");
}

/// The name of an unsupported compression format; empty if there is none.
std::string_view foreign_packing(std::string_view bytes) {
    if (bytes.starts_with("BZh") && bytes.size() > 4 && bytes.substr(4).starts_with("1AY&SY"))
        return "bzip2";
    if (bytes.starts_with(std::string_view("\xfd"
                                           "7zXZ\0",
                                           6)))
        return "xz";
    if (bytes.starts_with("PK\x03\x04")) return "zip";
    if (bytes.starts_with("7z\xbc\xaf\x27\x1c")) return "7z";
    return {};
}

/// A larger compression factor is refused after kMaxTrustedBytes of output, so that a small file
/// cannot fill the memory. Text and coordinates reach factors of 2 to 50.
constexpr std::size_t kMaxFactor = 200, kMaxTrustedBytes = std::size_t{64} << 20;

/// Undoes compression piece by piece. Problems are given as text (`expected X, found Y`), because
/// only the caller knows the file and the line.
struct Decoder {
    InputFile* file;  // null: the stored bytes are `memory`
    std::string_view memory;
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

    Decoder(InputFile* stored, std::string_view in_memory) : file(stored), memory(in_memory) {
        start();
    }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    ~Decoder() {
        if (gzip_ready) inflateEnd(&gzip);
        ZSTD_freeDCtx(zstd);
    }

    bool is_plain() const { return packing == Packing::plain; }

    /// Writes at most `size` bytes to `out` and returns how many; 0 at the end or when `problem` is
    /// not empty. Bytes that come before a problem are given first.
    std::size_t read(char* out, std::size_t size) {
        if (!problem.empty()) return 0;
        if (is_plain()) return read_plain(out, size);
        const std::size_t given =
            packing == Packing::gzip ? read_gzip(out, size) : read_zstd(out, size);
        given_bytes += given;
        check_factor();
        return given;
    }

    std::size_t left() const { return last - first; }

    /// Reads compressed bytes; returns 0 at their end or if reading fails.
    std::size_t fetch(char* out, std::size_t size) {
        if (file == nullptr) {
            const std::size_t n = std::min(size, memory.size());
            std::copy_n(memory.data(), n, out);
            memory.remove_prefix(n);
            at_end = n == 0;
            stored_bytes += n;
            return n;
        }
        const ssize_t n = file->read(out, size);
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
        if (bytes.starts_with("\x1f\x8b")) {
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

constexpr std::size_t kMaxPeek = 4096, kBuffer = 1 << 16;

}  // namespace

struct ByteReader::Implementation {
    std::string name;
    std::optional<InputFile> file;
    Decoder decoder;
    std::array<char, kBuffer> ahead;
    std::size_t first = 0;  // the unused part of `ahead`: [first, last)
    std::size_t last = 0;
    Index position = 0;
    Index known_size = -1;  // of what is not packed

    explicit Implementation(const std::filesystem::path& path)
        : name(path == "-" ? "stdin" : path.string()), file(path), decoder(&*file, {}) {
        if (decoder.is_plain()) known_size = file->regular_bytes();
    }
    Implementation(std::string called, std::string_view memory)
        : name(std::move(called)), decoder(nullptr, memory) {
        if (decoder.is_plain()) known_size = std::ssize(memory);
    }

    /// Fills the empty buffer and copies bytes from it; returns 0 only at the end.
    std::size_t refill(char* out, std::size_t size) {
        first = last = 0;
        last = decode(ahead.data(), ahead.size());
        first = std::min(size, last);
        std::copy_n(ahead.data(), first, out);
        return first;
    }

    /// Decoded bytes; 0 at the end only.
    std::size_t decode(char* out, std::size_t size) {
        const std::size_t n = size > 0 ? decoder.read(out, size) : 0;
        if (n > 0 || decoder.problem.empty()) return n;
        if (decoder.cut_short) throw CutShort(name, 0, decoder.problem);
        throw InputError(name, 0, decoder.problem);
    }
};

ByteReader::ByteReader(const std::filesystem::path& path)
    : implementation_(std::make_unique<Implementation>(path)) {}
ByteReader::ByteReader(std::string name, std::string_view bytes)
    : implementation_(std::make_unique<Implementation>(std::move(name), bytes)) {}
ByteReader::~ByteReader() = default;

std::string_view ByteReader::peek(std::size_t size) {
    Implementation& my = *implementation_;
    size = std::min(size, kMaxPeek);
    if (my.first > 0 && my.last - my.first < size) {
        std::copy(my.ahead.begin() + static_cast<std::ptrdiff_t>(my.first),
                  my.ahead.begin() + static_cast<std::ptrdiff_t>(my.last), my.ahead.begin());
        my.last -= my.first;
        my.first = 0;
    }
    while (my.last - my.first < size) {
        const std::size_t n = my.decode(my.ahead.data() + my.last, size - (my.last - my.first));
        if (n == 0) break;
        my.last += n;
    }
    return {my.ahead.data() + my.first, std::min(size, my.last - my.first)};
}

std::size_t ByteReader::read(void* out, std::size_t size) {
    Implementation& my = *implementation_;
    char* to = static_cast<char*>(out);
    std::size_t done = std::min(size, my.last - my.first);
    std::copy_n(my.ahead.data() + my.first, done, to);
    my.first += done;
    while (done < size) {
        const bool is_small = size - done < kBuffer / 4;
        const std::size_t n =
            is_small ? my.refill(to + done, size - done) : my.decode(to + done, size - done);
        if (n == 0) break;
        done += n;
    }
    my.position += static_cast<Index>(done);
    return done;
}

std::size_t ByteReader::read_some(char* out, std::size_t size) {
    Implementation& my = *implementation_;
    std::size_t done = std::min(size, my.last - my.first);
    std::copy_n(my.ahead.data() + my.first, done, out);
    my.first += done;
    if (done == 0 && size > 0) done = my.decoder.read(out, size);
    my.position += static_cast<Index>(done);
    return done;
}

const std::string& ByteReader::problem() const { return implementation_->decoder.problem; }
bool ByteReader::is_cut_short() const { return implementation_->decoder.cut_short; }

Index ByteReader::left() const {
    const Implementation& my = *implementation_;
    return my.known_size < 0 ? -1 : std::max<Index>(0, my.known_size - my.position);
}

bool ByteReader::is_from_pipe() const {
    const auto& file = implementation_->file;
    return file && file->regular_bytes() < 0;
}

std::size_t ByteReader::read(std::vector<char>& out, std::size_t size) {
    std::size_t done = 0;
    out.clear();
    if (size > kMaxStep) {
        const Index there = left();
        if (there < 0 && size > kMaxUnseen)
            throw InputError(
                name(), 0,
                fmt::format(
                    "expected pieces of at most {} bytes in packed data or a pipe, found one "
                    "of {}; unpack it, or save it to a file, first",
                    kMaxUnseen, size));
        if (there >= 0 && static_cast<std::size_t>(there) < size)
            return skip(static_cast<std::size_t>(there));
    }
    // Nothing is touched before it is read.
    out.reserve(size);
    while (done < size) {
        const std::size_t step = std::min(kMaxStep, size - done);
        out.resize(done + step);
        const std::size_t n = read(out.data() + done, step);
        done += n;
        if (n < step) break;
    }
    out.resize(done);
    return done;
}

std::size_t ByteReader::skip(std::size_t size) {
    std::array<char, 65536> passed;
    std::size_t done = 0;
    while (done < size) {
        const std::size_t n = read(passed.data(), std::min(passed.size(), size - done));
        if (n == 0) break;
        done += n;
    }
    return done;
}

Index ByteReader::position() const { return implementation_->position; }
const std::string& ByteReader::name() const { return implementation_->name; }

struct ByteSource::Implementation {
    static constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);

    std::unique_ptr<ByteReader> bytes;
    std::string name;
    Index max_bytes;
    static constexpr std::size_t kChunk = std::size_t{1} << 18;
    std::vector<char> buffer = std::vector<char>(kChunk);
    std::size_t first = 0;  // the unused part of `buffer`: [first, last)
    std::size_t last = 0;
    std::size_t newline = kUnknown;  // the first LF at or after `first`, `last` when there is none
    Index total = 0;
    Index line = 0;
    std::string_view current;
    bool held = false;
    Index record = 0;
    bool record_ended = false, ends_record = false;  // before the next line; after this one
    bool allows_records = false;
    bool after_return = false;  // the line before ended in CR: an LF that follows belongs to it

    Implementation(std::unique_ptr<ByteReader> from, Index max_text)
        : bytes(std::move(from)), name(bytes->name()), max_bytes(max_text) {
        open();
    }

    void open() {
        while (last < 3 && refill()) {
        }
        const std::string_view start(buffer.data(), last);
        if (start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff"))
            fail("expected ASCII or UTF-8 text, found UTF-16");
        if (start.starts_with("\xef\xbb\xbf")) first = 3;
    }

    [[noreturn]] void fail(std::string_view text) const { throw InputError(name, line + 1, text); }

    /// Appends decoded bytes to the buffer; false at the end.
    bool refill() {
        if (first > 0) {
            std::memmove(buffer.data(), buffer.data() + first, last - first);
            last -= first;
            first = 0;
        }
        newline = kUnknown;
        // Stays below the maximum length of a line.
        if (last == buffer.size()) buffer.resize(std::min(last * 2, kMaxLine + kChunk));
        const std::size_t read = bytes->read_some(buffer.data() + last, buffer.size() - last);
        if (read == 0 && bytes->is_cut_short()) throw CutShort(name, line + 1, bytes->problem());
        if (read == 0 && !bytes->problem().empty()) fail(bytes->problem());
        last += read;
        total += static_cast<Index>(read);
        if (total > max_bytes)
            fail(fmt::format("expected at most {} bytes of text, found more", max_bytes));
        return read > 0;
    }

    /// Position of the first `c` in [from, to), or `to`.
    std::size_t find(char c, std::size_t from, std::size_t to) const {
        const void* at = std::memchr(buffer.data() + from, c, to - from);
        if (at == nullptr) return to;
        return static_cast<std::size_t>(static_cast<const char*>(at) - buffer.data());
    }

    void take(std::size_t end, std::size_t next_first) {
        current = {buffer.data() + first, end - first};
        first = next_first;
        if (std::memchr(current.data(), '\0', current.size()) != nullptr) take_record_ends();
        if (!current.empty()) {
            record += record == 0 || record_ended;
            record_ended = ends_record;
            ends_record = false;
        }
        if (record > 1 && !allows_records) fail_at_nul();
        ++line;
    }

    [[noreturn]] void fail_at_nul() const {
        fail("expected text, found a NUL byte (binary data or UTF-16)");
    }

    /// Removes a NUL byte from each end of the line, where they end records.
    void take_record_ends() {
        if (current.front() == '\0') {
            record_ended = record > 0;
            current.remove_prefix(1);
        }
        if (!current.empty() && current.back() == '\0') {
            ends_record = true;
            current.remove_suffix(1);
        }
        if (current.find('\0') != std::string_view::npos) fail_at_nul();
    }

    bool next() {
        if (after_return) {
            if (first == last) refill();
            if (first < last && buffer[first] == '\n') ++first;
            after_return = false;
        }
        std::size_t scanned = 0;
        for (;;) {
            const std::size_t from = first + scanned;
            // Remembered, so that a file whose lines end in CR only is not searched for LF once per
            // line.
            if (newline == kUnknown || newline < from) newline = find('\n', from, last);
            const std::size_t carriage_return = find('\r', from, newline);
            if (carriage_return < newline) {
                take(carriage_return, carriage_return + 1);
                after_return = true;
                return true;
            }
            if (newline < last) {
                take(newline, newline + 1);
                return true;
            }
            scanned = last - first;
            if (static_cast<Index>(scanned) > kMaxLine) {
                fail(fmt::format("expected lines of at most {} bytes, found a longer one",
                                 kMaxLine));
            }
            if (refill()) continue;
            if (scanned == 0) return false;
            take(last, last);
            return true;
        }
    }
};

ByteSource::ByteSource(const std::filesystem::path& path, Index max_bytes)
    : ByteSource(std::make_unique<ByteReader>(path), max_bytes) {}

ByteSource::ByteSource(std::string name, std::string_view bytes, Index max_bytes)
    : ByteSource(std::make_unique<ByteReader>(std::move(name), bytes), max_bytes) {}

ByteSource::ByteSource(std::unique_ptr<ByteReader> bytes, Index max_bytes)
    : implementation_(std::make_unique<Implementation>(std::move(bytes), max_bytes)) {}

ByteSource::~ByteSource() = default;

bool ByteSource::next(std::string_view& line) {
    Implementation& my = *implementation_;
    if (my.held) {
        my.held = false;
    } else if (!my.next()) {
        return false;
    }
    line = my.current;
    return true;
}

void ByteSource::hold() { implementation_->held = true; }
Index ByteSource::line() const { return implementation_->line; }
Index ByteSource::record() const { return implementation_->record; }
void ByteSource::allow_records() { implementation_->allows_records = true; }
void ByteSource::limit_pipe(Index count, Index max, std::string_view expected,
                            std::string_view found) const {
    if (count <= max || !is_from_pipe()) return;
    throw InputError(name(), line(),
                     fmt::format("expected {} from a pipe, found {}; save it to a file first",
                                 fmt::format(fmt::runtime(expected), max), found));
}

bool ByteSource::is_from_pipe() const { return implementation_->bytes->is_from_pipe(); }
const std::string& ByteSource::name() const { return implementation_->name; }

}  // namespace pleat
