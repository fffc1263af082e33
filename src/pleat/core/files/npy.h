// NPY and NPZ: arrays in NumPy's own file formats, written whole or not at all.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat {

class ZipReader;
struct ZipMember;

/// An array read from a file: shape (empty for a scalar), element type as in NumPy ("<f8", "<f4",
/// "<i8", "|u1", "|b1", ...; integers of 1 to 8 bytes and floats of 4 or 8), and the raw
/// little-endian bytes in C order, also if the file had another byte or axis order.
struct NpyArray {
    std::vector<Index> shape;
    std::string dtype;
    std::vector<std::uint8_t> bytes;

    Index size() const;
    /// The elements converted to T (float, double, int8, uint8, int32, uint32, int64, uint64);
    /// `what` names the array in errors. Throws InputError if a value does not
    /// fit: out of an integer's range, or a fraction for an integer.
    template <class T>
    std::vector<T> as(std::string_view what) const;
};

/// Reads one .npy file (format 1, 2 or 3, any byte order, C or Fortran order) of at most
/// `max_bytes`. Throws InputError for anything else: strings, objects, complex numbers, missing or
/// extra bytes.
NpyArray read_npy(const std::filesystem::path& path,
                  std::int64_t max_bytes = std::int64_t{1} << 40);

/// Reads the bytes of one .npy file; errors call the file `name`.
NpyArray parse_npy(std::vector<std::uint8_t> bytes, std::string_view name);

/// Writes one .npy file: first under another name, then renamed. T as in NpyArray::as.
template <class T>
void write_npy(const std::filesystem::path& path, const T* data, const std::vector<Index>& shape);

/// Writes arrays to one .npz (a zip of stored or deflated .npy members). close() writes the zip
/// directory, flushes, and renames the file; without close() the destructor removes it.
class NpzWriter {
public:
    explicit NpzWriter(std::filesystem::path path, bool compress = false);
    ~NpzWriter();
    NpzWriter(const NpzWriter&) = delete;
    NpzWriter& operator=(const NpzWriter&) = delete;

    template <class T>
    void add(std::string_view name, const T* data, const std::vector<Index>& shape);
    template <class T, int Rank>
    void add(std::string_view name, View<T, Rank> view) {
        add(name, static_cast<const std::remove_const_t<T>*>(view.data),
            std::vector<Index>(view.extents, view.extents + Rank));
    }
    /// A 0-dimensional array: int64 of an integer, float64 of a real number.
    template <class T>
    requires std::is_arithmetic_v<T>
    void add_scalar(std::string_view name, T value) {
        const std::conditional_t<std::integral<T>, std::int64_t, double> number = value;
        add(name, &number, {});
    }
    void add_text(std::string_view name, std::string_view text);  ///< stored as a 1-D uint8 array
    void close();

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

/// Reads an .npz written by NumPy or NpzWriter. Opening reads only the zip directory; each `get`
/// reads a member from the open file and checks its CRC.
class NpzReader {
public:
    explicit NpzReader(const std::filesystem::path& path);
    bool has(std::string_view name) const;
    std::vector<std::string> names() const;
    /// Throws InputError if the member is missing or damaged. Its length is compared with its
    /// header's before memory is allocated.
    NpyArray get(std::string_view name) const;
    /// The shape in the member's header; the elements are not read.
    std::vector<Index> shape(std::string_view name) const;
    double scalar(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    std::string text(std::string_view name) const;
    /// How errors name a member: "FILE: array 'NAME'".
    std::string label(std::string_view name) const;

private:
    const ZipMember& member(std::string_view name) const;
    template <class T>
    T only(std::string_view name) const;

    std::filesystem::path path_;
    std::shared_ptr<const ZipReader> archive_;
};

}  // namespace pleat

#pragma GCC visibility pop
