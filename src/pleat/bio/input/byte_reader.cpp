// Byte reader: a buffer before the decoder, for peeking and for small reads.
#include "pleat/bio/input/byte_reader.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "pleat/bio/input/decoder.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

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
        : name(path == "-" ? "stdin" : path.string()),
          file(path),
          decoder(StoredBytes{&*file, {}}) {
        if (decoder.is_plain()) known_size = file->regular_bytes();
    }
    Implementation(std::string called, std::string_view memory)
        : name(std::move(called)), decoder(StoredBytes{nullptr, memory}) {
        if (decoder.is_plain()) known_size = static_cast<Index>(memory.size());
    }

    /// Fills the buffer, which is empty, and takes bytes from it; 0 at the end only.
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
        if (n > 0 || decoder.problem().empty()) return n;
        if (decoder.is_cut_short()) throw CutShort(name, 0, decoder.problem());
        throw InputError(name, 0, decoder.problem());
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

const std::string& ByteReader::problem() const { return implementation_->decoder.problem(); }
bool ByteReader::is_cut_short() const { return implementation_->decoder.is_cut_short(); }

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

}  // namespace pleat
