// NPY header: reading the Python dictionary literal, and writing it.
#include "pleat/core/files/npy_header.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "pleat/core/error.h"

namespace pleat {

namespace {

/// A file's text for a message of one line: its beginning, without bytes that cannot be printed.
std::string shown(std::string_view text) {
    constexpr std::size_t kMaxBytes = 40;
    std::string begun(text.substr(0, kMaxBytes));
    for (char& c : begun) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < ' ' || byte >= 0x7f) c = '?';
    }
    return begun;
}

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kPrefixV1 = 10, kPrefixV2 = 12;
constexpr std::string_view kBlanks = " \t\r\n";

/// Reads the literal {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }, keys in any
/// order.
class DictionaryReader {
public:
    DictionaryReader(std::string_view text, std::string_view file) : rest_(text), file_(file) {}

    void read(NpyHeader& header) {
        bool has_dtype = false, has_order = false, has_shape = false;
        expect('{');
        while (!take('}')) {
            const std::string key = quoted();
            expect(':');
            if (key == "descr") {
                header.dtype = element_type();
                has_dtype = true;
            } else if (key == "fortran_order") {
                header.fortran_order = boolean();
                has_order = true;
            } else if (key == "shape") {
                header.shape = shape();
                has_shape = true;
            } else {
                fail(fmt::format("an unknown key '{}'", shown(key)));
            }
            if (!take(',')) {
                expect('}');
                break;
            }
        }
        skip_blanks();
        if (!rest_.empty()) fail("text after the dictionary");
        if (!has_dtype || !has_order || !has_shape) fail("a key missing");
    }

private:
    [[noreturn]] void fail(std::string_view found) const {
        throw InputError(file_, 0,
                         fmt::format("expected an .npy header with descr, fortran_order and shape, "
                                     "found {}",
                                     found));
    }
    void skip_blanks() {
        const std::size_t n = rest_.find_first_not_of(kBlanks);
        rest_.remove_prefix(n == std::string_view::npos ? rest_.size() : n);
    }
    bool take(char c) {
        skip_blanks();
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void expect(char c) {
        if (!take(c)) fail(fmt::format("no '{}' where one belongs", c));
    }
    bool take_word(std::string_view word) {
        skip_blanks();
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    std::string quoted() {
        const char quote = take('\'') ? '\'' : '"';
        if (quote == '"') expect('"');
        const std::size_t end = rest_.find(quote);
        if (end == std::string_view::npos) fail("an open quotation mark");
        const std::string text(rest_.substr(0, end));
        rest_.remove_prefix(end + 1);
        return text;
    }
    std::string element_type() {
        if (take('[')) fail("a structured array, which is not read");
        return quoted();
    }
    bool boolean() {
        if (take_word("True")) return true;
        if (!take_word("False")) fail("neither True nor False as fortran_order");
        return false;
    }
    std::vector<Index> shape() {
        std::vector<Index> extents;
        expect('(');
        while (!take(')')) {
            skip_blanks();
            Index extent = -1;
            const auto [end, error] =
                std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
            if (error != std::errc{} || extent < 0) fail("an extent that is no whole number");
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            (void)take_word("L");  // Python 2 wrote long integers with an L
            extents.push_back(extent);
            if (!take(',')) {
                expect(')');
                break;
            }
        }
        if (extents.size() > kMaxAxes) fail(fmt::format("more than {} axes", kMaxAxes));
        return extents;
    }

    std::string_view rest_;
    std::string_view file_;
};

std::size_t element_bytes(std::string_view dtype) {
    if (dtype.size() != 3) return 0;
    const char order = dtype[0], kind = dtype[1];
    const std::size_t bytes = static_cast<std::size_t>(dtype[2] - '0');
    const bool known_order = bytes == 1
                                 ? std::string_view("|<>=").find(order) != std::string_view::npos
                                 : order == '<' || order == '>';
    if (!known_order) return 0;
    if (kind == 'b') return bytes == 1 ? 1 : 0;
    if (kind == 'f') return bytes == 4 || bytes == 8 ? bytes : 0;
    if (kind != 'i' && kind != 'u') return 0;
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ? bytes : 0;
}

void check_element_type(NpyHeader& header, std::string_view name) {
    header.element_bytes = element_bytes(header.dtype);
    if (header.element_bytes == 0)
        throw InputError(name, 0,
                         fmt::format("expected integers or floats of 4 or 8 bytes, found element "
                                     "type '{}'",
                                     shown(header.dtype)));
    if (header.element_bytes == 1) header.dtype[0] = '|';
}

/// Multiplies out the shape; a header that claims more bytes than an Index counts is damage.
void count_bytes(NpyHeader& header, std::string_view name) {
    constexpr auto kMaxBytes = static_cast<std::size_t>(std::numeric_limits<Index>::max());
    std::size_t bytes = header.element_bytes;
    bool empty = false;
    for (const Index extent : header.shape) {
        if (extent == 0) empty = true;
        if (extent > 0 && bytes > kMaxBytes / static_cast<std::size_t>(extent))
            throw InputError(name, 0,
                             "expected an array that fits in memory, found a larger shape");
        if (extent > 0) bytes *= static_cast<std::size_t>(extent);
    }
    header.data_bytes = empty ? 0 : bytes;
}

}  // namespace

NpyHeader read_npy_header(const std::vector<std::uint8_t>& bytes, std::string_view name) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!text.starts_with(kMagic) || bytes.size() < kPrefixV1)
        throw InputError(name, 0, "expected an .npy file, found no NumPy header");
    const int version = bytes[6];
    if (version < 1 || version > 3)
        throw InputError(name, 0, fmt::format("expected .npy format 1, 2 or 3, found {}", version));
    const std::size_t prefix = version == 1 ? kPrefixV1 : kPrefixV2;
    std::size_t length = 0;
    for (std::size_t i = prefix; i-- > 8;) length = length << 8 | (i < bytes.size() ? bytes[i] : 0);
    if (bytes.size() < prefix || length > bytes.size() - prefix)
        throw InputError(name, 0, "expected a whole .npy header, found a truncated one");
    NpyHeader header;
    header.bytes = prefix + length;
    DictionaryReader(text.substr(prefix, length), name).read(header);
    check_element_type(header, name);
    count_bytes(header, name);
    return header;
}

std::string npy_header(std::string_view dtype, const std::vector<Index>& shape) {
    std::string extents;
    for (const Index extent : shape) extents += fmt::format("{}, ", extent);
    // A tuple of one needs its comma; of several, NumPy writes none at the end.
    if (shape.size() > 1) extents.resize(extents.size() - 2);
    if (shape.size() == 1) extents.resize(extents.size() - 1);
    std::string text =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", dtype, extents);
    const std::size_t unpadded = kPrefixV1 + text.size() + 1;
    text.append((64 - unpadded % 64) % 64, ' ');
    text += '\n';
    std::string header(kMagic);
    header += {'\x01', '\x00'};
    header += static_cast<char>(text.size() & 0xFF);
    header += static_cast<char>(text.size() >> 8);
    return header + text;
}

}  // namespace pleat
