// Byte reader: a small buffer for peeking before the decoder.
#include "pleat/bio/byte_reader.h"

#include <algorithm>

#include "pleat/bio/decoder.h"
#include "pleat/bio/open_descriptor.h"
#include "pleat/core/error.h"

namespace pleat {

struct ByteReader::Implementation {
    std::string name;
    OpenDescriptor descriptor;
    Decoder decoder;
    std::array<char, 4096> ahead;
    std::size_t first = 0;  // the unused part of `ahead`: [first, last)
    std::size_t last = 0;
    Index position = 0;

    explicit Implementation(const std::filesystem::path& path)
        : name(path == "-" ? "stdin" : path.string()),
          descriptor(path),
          decoder(StoredBytes{descriptor.number(), {}}) {}
    Implementation(std::string called, std::string_view memory)
        : name(std::move(called)), descriptor(-1), decoder(StoredBytes{-1, memory}) {}

    /// Decoded bytes; 0 at the end only.
    std::size_t decode(char* out, std::size_t size) {
        const std::size_t n = size > 0 ? decoder.read(out, size) : 0;
        if (n == 0 && !decoder.problem().empty()) throw InputError(name, 0, decoder.problem());
        return n;
    }
};

ByteReader::ByteReader(const std::filesystem::path& path)
    : implementation_(std::make_unique<Implementation>(path)) {}
ByteReader::ByteReader(std::string name, std::string_view bytes)
    : implementation_(std::make_unique<Implementation>(std::move(name), bytes)) {}
ByteReader::~ByteReader() = default;

std::string_view ByteReader::peek(std::size_t size) {
    Implementation& my = *implementation_;
    size = std::min(size, my.ahead.size());
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
        const std::size_t n = my.decode(to + done, size - done);
        if (n == 0) break;
        done += n;
    }
    my.position += static_cast<Index>(done);
    return done;
}

std::size_t ByteReader::read(std::vector<char>& out, std::size_t size) {
    constexpr std::size_t kStep = std::size_t{16} << 20;
    std::size_t done = 0;
    out.clear();
    while (done < size) {
        const std::size_t step = std::min(kStep, size - done);
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
