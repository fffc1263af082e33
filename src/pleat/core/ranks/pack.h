// Pack: values as bytes, on their way to other ranks.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/ranks/comm.h"

namespace pleat {

using Bytes = std::vector<std::uint8_t>;

/// Writes values or reads them back in the same order: numbers, texts, paths, arrays, lists and
/// optionals of these, and structs with a function `members(Packer&, T&)` that packs their members.
class Packer {
public:
    Packer() = default;
    /// Reads values from `from`, which must outlive this object.
    explicit Packer(std::span<const std::uint8_t> from) : left_(from), reads_(true) {}

    template <class... T>
    Packer& operator()(T&... values) {
        (pack(values), ...);
        return *this;
    }
    bool reads() const { return reads_; }
    bool has_more() const { return !left_.empty(); }
    Bytes bytes;  ///< what was written

private:
    void copy(void* values, std::size_t size) {
        if (size == 0) return;
        if (reads_) {
            std::memcpy(values, left_.data(), size);
            left_ = left_.subspan(size);
        } else {
            bytes.resize(bytes.size() + size);
            std::memcpy(bytes.data() + bytes.size() - size, values, size);
        }
    }
    std::size_t count(std::size_t own) {
        pack(own);
        return own;
    }
    template <class T>
    void pack(T& value) {
        if constexpr (std::is_trivially_copyable_v<T>)
            copy(&value, sizeof value);
        else
            members(*this, value);
    }
    void pack(std::string& text) {
        text.resize(count(text.size()));
        copy(text.data(), text.size());
    }
    void pack(std::filesystem::path& path) {
        std::string text = path.string();
        pack(text);
        path = text;
    }
    template <class T>
    void pack(std::vector<T>& values) {
        values.resize(count(values.size()));
        if constexpr (std::is_trivially_copyable_v<T>)
            copy(values.data(), values.size() * sizeof(T));
        else
            for (T& value : values) pack(value);
    }
    template <class T>
    requires(!std::is_trivially_copyable_v<T>) void pack(std::optional<T>& value) {
        const bool is_set = count(value.has_value()) != 0;
        if (is_set && !value) value.emplace();
        if (is_set) pack(*value);
    }
    template <class T, int Rank>
    void pack(Array<T, Rank>& values) {
        std::array<Index, Rank> shape;
        for (int axis = 0; axis < Rank; ++axis) shape[axis] = values.extent(axis);
        pack(shape);
        if (reads_)
            values = std::apply([](auto... n) { return Array<T, Rank>::unset(n...); }, shape);
        copy(values.data(), values.bytes());
    }

    std::span<const std::uint8_t> left_;
    bool reads_ = false;
};

/// Copies the first rank's values to every rank. A collective call.
template <class... T>
void share(Comm& comm, T&... values) {
    if (comm.size() == 1) return;
    Packer written;
    if (comm.rank() == 0) written(values...);
    comm.broadcast(written.bytes, 0);
    if (comm.rank() != 0) Packer{written.bytes}(values...);
}

}  // namespace pleat
