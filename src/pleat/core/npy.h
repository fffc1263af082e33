// NPY and NPZ: arrays in NumPy's own file formats, written whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <type_traits>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/view.h"

namespace pleat {

/// An array read from a file: shape, element type as in NumPy ("<f8", "<f4", "<i8", "|u1", ...),
/// and the raw little-endian bytes in C order.
struct NpyArray {
    std::vector<Index> shape;
    std::string dtype;
    std::vector<std::uint8_t> bytes;

    Index size() const;
    /// The elements converted to T (float, double, int32, int64, uint8); `what` names the array in errors.
    template <class T>
    std::vector<T> as(std::string_view what) const;
};

/// Reads one .npy file (any byte order, C or Fortran order); InputError on anything else.
NpyArray read_npy(const std::filesystem::path& path);

/// Writes one .npy file: beside `path` first, then renamed.
template <class T>
void write_npy(const std::filesystem::path& path, const T* data, const std::vector<Index>& shape);

/// Collects arrays into one .npz (a zip of stored or deflated .npy members); `close()` writes the
/// directory, flushes, and renames the finished file into place. Destroyed without close: nothing stays.
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
    void add_scalar(std::string_view name, double value) { add(name, &value, {}); }
    void add_scalar(std::string_view name, std::int64_t value) { add(name, &value, {}); }
    void add_text(std::string_view name, std::string_view text);  ///< stored as a 1-D uint8 array
    void close();

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

/// Reads an .npz written by NumPy or by NpzWriter. Members are checked against their CRC.
class NpzReader {
public:
    explicit NpzReader(const std::filesystem::path& path);
    bool has(std::string_view name) const;
    std::vector<std::string> names() const;
    /// InputError when the member is missing or damaged.
    NpyArray get(std::string_view name) const;
    double scalar(std::string_view name) const;
    std::int64_t integer(std::string_view name) const;
    std::string text(std::string_view name) const;

private:
    std::filesystem::path path_;
    std::map<std::string, NpyArray, std::less<>> members_;
};

}  // namespace pleat
