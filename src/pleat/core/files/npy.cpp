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
#include "pleat/core/files/npy_header.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/read_file.h"
#include "pleat/core/files/zip.h"

namespace pleat {

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
        std::memcpy(&out[to], &bytes[static_cast<std::size_t>(from) * element_bytes],
                    element_bytes);
        for (std::size_t axis = rank; axis-- > 0;) {
            if (++index[axis] < shape[axis]) break;
            index[axis] = 0;
        }
    }
    return out;
}

/// True when `value` is exactly representable where T is an integer, always where T is a float.
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
    std::vector<T> out(static_cast<std::size_t>(array.size()));
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
    add(name, reinterpret_cast<const std::uint8_t*>(text.data()),
        {static_cast<Index>(text.size())});
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

double NpzReader::scalar(std::string_view name) const {
    const NpyArray array = get(name);
    if (array.size() != 1)
        throw InputError(label(name), 0,
                         fmt::format("expected one number, found {}", array.size()));
    return array.as<double>(label(name))[0];
}

std::int64_t NpzReader::integer(std::string_view name) const {
    const NpyArray array = get(name);
    if (array.size() != 1)
        throw InputError(label(name), 0,
                         fmt::format("expected one number, found {}", array.size()));
    return array.as<std::int64_t>(label(name))[0];
}

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
