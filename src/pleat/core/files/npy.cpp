// NPY and NPZ: the header dictionary, byte and axis order, conversions, and members in a zip
// archive.
#include "pleat/core/files/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/npy_header.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/files/zip.h"

namespace pleat {

namespace {

/// Formats text of a file for a one-line message: its beginning, without unprintable bytes.
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
            if (!take_number_from(rest_, extent) || extent < 0)
                fail("an extent that is no whole number");
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

/// Multiplies the dimensions; throws if the header claims more bytes than an Index can count.
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
    // A tuple of one element needs its comma; NumPy writes none at the end of longer ones.
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

static_assert(std::endian::native == std::endian::little, "the writers store native bytes as '<'");

namespace {

template <class T>
constexpr const char* dtype_of() {
    constexpr bool is_float = std::is_floating_point_v<T>;
    if constexpr (is_float) return sizeof(T) == 4 ? "<f4" : "<f8";
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1) return is_signed ? "|i1" : "|u1";
    if constexpr (sizeof(T) == 4) return is_signed ? "<i4" : "<u4";
    return is_signed ? "<i8" : "<u8";
}

std::size_t byte_count(const std::vector<Index>& shape, std::size_t element_bytes) {
    std::size_t n = element_bytes;
    for (const Index extent : shape) n *= static_cast<std::size_t>(extent);
    return n;
}

void swap_bytes(std::vector<std::uint8_t>& bytes, std::size_t element_bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += element_bytes)
        std::reverse(bytes.begin() + at, bytes.begin() + at + element_bytes);
}

/// Reorders a column-major array to row-major.
std::vector<std::uint8_t> row_major(const std::vector<std::uint8_t>& bytes,
                                    const std::vector<Index>& shape, std::size_t element_bytes) {
    std::vector<std::uint8_t> out(bytes.size());
    const std::size_t rank = shape.size();
    std::array<Index, kMaxAxes> index{}, stride{1};
    for (std::size_t axis = 1; axis < rank; ++axis)
        stride[axis] = stride[axis - 1] * shape[axis - 1];
    for (std::size_t to = 0; to < out.size(); to += element_bytes) {
        Index from = 0;
        for (std::size_t axis = 0; axis < rank; ++axis) from += index[axis] * stride[axis];
        std::memcpy(&out[to], &bytes[from * element_bytes], element_bytes);
        for (std::size_t axis = rank; axis-- > 0;) {
            if (++index[axis] < shape[axis]) break;
            index[axis] = 0;
        }
    }
    return out;
}

/// Whether T can represent `value` exactly; always true if T is a floating-point type.
template <class T, class From>
bool fits(From value) {
    if constexpr (std::is_floating_point_v<T>) {
        return true;
    } else if constexpr (std::is_floating_point_v<From>) {
        // Compares with 2^bits, which a double represents exactly, unlike the largest 64-bit
        // integer.
        const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
        const double min = std::is_signed_v<T> ? -limit : 0.0;
        return value >= min && value < limit && std::trunc(value) == value;
    } else {
        return std::in_range<T>(value);
    }
}

template <class T, class From>
std::vector<T> converted(const NpyArray& array, std::string_view what) {
    std::vector<T> out(array.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        From value;
        std::memcpy(&value, array.bytes.data() + i * sizeof(From), sizeof(From));
        if (!fits<T>(value))
            throw InputError(fmt::format("{}: expected values of type {}, found {} at position {}",
                                         what, dtype_of<T>(), value, i));
        out[i] = static_cast<T>(value);
    }
    return out;
}

}  // namespace

Index NpyArray::size() const {
    Index n = 1;
    for (const Index extent : shape) n *= extent;
    return n;
}

template <class T>
std::vector<T> NpyArray::as(std::string_view what) const {
    const std::string_view kind = std::string_view(dtype).substr(1);
    if (kind == "f8") return converted<T, double>(*this, what);
    if (kind == "f4") return converted<T, float>(*this, what);
    if (kind == "i1") return converted<T, std::int8_t>(*this, what);
    if (kind == "i2") return converted<T, std::int16_t>(*this, what);
    if (kind == "i4") return converted<T, std::int32_t>(*this, what);
    if (kind == "i8") return converted<T, std::int64_t>(*this, what);
    if (kind == "u1" || kind == "b1") return converted<T, std::uint8_t>(*this, what);
    if (kind == "u2") return converted<T, std::uint16_t>(*this, what);
    if (kind == "u4") return converted<T, std::uint32_t>(*this, what);
    return converted<T, std::uint64_t>(*this, what);
}

NpyArray parse_npy(std::vector<std::uint8_t> bytes, std::string_view name) {
    const NpyHeader header = read_npy_header(bytes, name);
    const std::size_t found = bytes.size() - header.bytes;
    if (found != header.data_bytes)
        throw InputError(
            name, 0,
            fmt::format("expected {} bytes of type {} and shape ({}), found {}", header.data_bytes,
                        header.dtype, fmt::join(header.shape, ", "), found));
    NpyArray array;
    array.shape = header.shape;
    array.dtype = header.dtype;
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header.bytes));
    array.bytes = std::move(bytes);
    if (header.dtype[0] == '>') {
        swap_bytes(array.bytes, header.element_bytes);
        array.dtype[0] = '<';
    }
    if (header.fortran_order && header.shape.size() > 1)
        array.bytes = row_major(array.bytes, array.shape, header.element_bytes);
    return array;
}

NpyArray read_npy(const std::filesystem::path& path, std::int64_t max_bytes) {
    return parse_npy(read_file(path, max_bytes), path.string());
}

template <class T>
void write_npy(const std::filesystem::path& path, const T* data, const std::vector<Index>& shape) {
    OutputFile file(path);
    file.write(npy_header(dtype_of<T>(), shape));
    file.write(data, byte_count(shape, sizeof(T)));
    file.close();
}

struct NpzWriter::Implementation {
    ZipWriter archive;
};

NpzWriter::NpzWriter(std::filesystem::path path, bool compress)
    : implementation_(new Implementation{ZipWriter(std::move(path), compress)}) {}

NpzWriter::~NpzWriter() = default;

template <class T>
void NpzWriter::add(std::string_view name, const T* data, const std::vector<Index>& shape) {
    const std::string header = npy_header(dtype_of<T>(), shape);
    const std::size_t bytes = byte_count(shape, sizeof(T));
    ZipWriter& archive = implementation_->archive;
    archive.begin(fmt::format("{}.npy", name), header.size() + bytes);
    archive.append(header.data(), header.size());
    archive.append(data, bytes);
    archive.end();
}

void NpzWriter::add_text(std::string_view name, std::string_view text) {
    add(name, reinterpret_cast<const std::uint8_t*>(text.data()), {std::ssize(text)});
}

void NpzWriter::close() { implementation_->archive.close(); }

NpzReader::NpzReader(const std::filesystem::path& path)
    : path_(path), archive_(std::make_shared<ZipReader>(path)) {}

std::string NpzReader::label(std::string_view name) const {
    return fmt::format("{}: array '{}'", path_.string(), name);
}

bool NpzReader::has(std::string_view name) const {
    return archive_->members().contains(fmt::format("{}.npy", name));
}

std::vector<std::string> NpzReader::names() const {
    constexpr std::string_view kEnding = ".npy";
    std::vector<std::string> names;
    for (const auto& [name, member] : archive_->members())
        if (name.ends_with(kEnding)) names.push_back(name.substr(0, name.size() - kEnding.size()));
    return names;
}

const ZipMember& NpzReader::member(std::string_view name) const {
    const auto found = archive_->members().find(fmt::format("{}.npy", name));
    if (found == archive_->members().end())
        throw InputError(path_.string(), 0,
                         fmt::format("expected an array '{}', found {}", name,
                                     names().empty() ? "none" : fmt::format("{}", names())));
    return found->second;
}

std::vector<Index> NpzReader::shape(std::string_view name) const {
    constexpr std::size_t kMaxHeader = 1 << 16;
    const ZipMember& stored = member(name);
    const NpyHeader header = read_npy_header(archive_->read_start(stored, kMaxHeader), label(name));
    if (header.bytes > stored.bytes || stored.bytes - header.bytes != header.data_bytes)
        throw InputError(label(name), 0,
                         fmt::format("expected {} bytes of type {} and shape ({}), found {}",
                                     header.data_bytes, header.dtype, fmt::join(header.shape, ", "),
                                     static_cast<std::int64_t>(stored.bytes - header.bytes)));
    return header.shape;
}

NpyArray NpzReader::get(std::string_view name) const {
    (void)shape(name);
    return parse_npy(archive_->read(member(name)), label(name));
}

template <class T>
T NpzReader::only(std::string_view name) const {
    const NpyArray array = get(name);
    if (array.size() != 1)
        throw InputError(label(name), 0,
                         fmt::format("expected one number, found {}", array.size()));
    return array.as<T>(label(name))[0];
}

double NpzReader::scalar(std::string_view name) const { return only<double>(name); }
std::int64_t NpzReader::integer(std::string_view name) const { return only<std::int64_t>(name); }

std::string NpzReader::text(std::string_view name) const {
    constexpr Index kMaxText = Index{16} << 20;
    for (const Index extent : shape(name))
        if (extent > kMaxText)
            throw InputError(
                label(name), 0,
                fmt::format("expected a text of at most {} bytes, found {}", kMaxText, extent));
    const NpyArray array = get(name);
    if (array.dtype != "|u1" || array.shape.size() != 1)
        throw InputError(label(name), 0,
                         fmt::format("expected text as bytes, found type {}", array.dtype));
    return {array.bytes.begin(), array.bytes.end()};
}

#define PLEAT_NPY_TYPE(T)                                                                          \
    template std::vector<T> NpyArray::as<T>(std::string_view) const;                               \
    template void write_npy<T>(const std::filesystem::path&, const T*, const std::vector<Index>&); \
    template void NpzWriter::add<T>(std::string_view, const T*, const std::vector<Index>&);
PLEAT_NPY_TYPE(float)
PLEAT_NPY_TYPE(double)
PLEAT_NPY_TYPE(std::int8_t)
PLEAT_NPY_TYPE(std::uint8_t)
PLEAT_NPY_TYPE(std::int32_t)
PLEAT_NPY_TYPE(std::uint32_t)
PLEAT_NPY_TYPE(std::int64_t)
PLEAT_NPY_TYPE(std::uint64_t)
#undef PLEAT_NPY_TYPE

}  // namespace pleat
