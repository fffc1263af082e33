// Arrays: owning, 64-byte aligned storage behind a View.
#pragma once

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat {

/// Owning row-major array of trivially copyable elements, zeroed at construction,
/// aligned for the widest vector loads (64 bytes).
template <class T, int Rank>
class Array {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Array() = default;

    template <class... Extents>
    requires(sizeof...(Extents) == Rank) explicit Array(Extents... n) : view_(nullptr, n...) {
        allocate();
        if (view_.data != nullptr) std::memset(view_.data, 0, bytes());
    }

    /// An array with uninitialised elements, to be filled by several threads.
    template <class... Extents>
    requires(sizeof...(Extents) == Rank) static Array unset(Extents... n) {
        Array array;
        array.view_ = View<T, Rank>(nullptr, n...);
        array.allocate();
        return array;
    }

    Array(const Array& other) : view_(other.view_) {
        allocate();
        if (view_.data != nullptr) std::memcpy(view_.data, other.view_.data, bytes());
    }
    Array(Array&& other) noexcept : view_(std::exchange(other.view_, {})) {}
    Array& operator=(Array other) noexcept {
        std::swap(view_, other.view_);
        return *this;
    }
    ~Array() { ::operator delete(view_.data, kAlignment); }

    Index extent(int axis) const { return view_.extents[axis]; }
    Index size() const { return view_.size(); }
    std::size_t bytes() const { return static_cast<std::size_t>(size()) * sizeof(T); }

    T* data() { return view_.data; }
    const T* data() const { return view_.data; }
    T* begin() { return view_.data; }
    T* end() { return view_.data + size(); }
    const T* begin() const { return view_.data; }
    const T* end() const { return view_.data + size(); }

    View<T, Rank> view() { return view_; }
    View<const T, Rank> view() const { return view_; }
    operator View<T, Rank>() { return view_; }
    operator View<const T, Rank>() const { return view_; }

    template <class... Indices>
    requires(sizeof...(Indices) == Rank) T& operator()(Indices... index) { return view_(index...); }
    template <class... Indices>
    requires(sizeof...(Indices) == Rank) const T& operator()(Indices... index) const {
        return view_(index...);
    }
    decltype(auto) operator[](Index i) { return view_[i]; }
    decltype(auto) operator[](Index i) const { return view()[i]; }

    void fill(T value) { std::fill(begin(), end(), value); }

private:
    static constexpr std::align_val_t kAlignment{64};

    void allocate() {
        view_.data = size() > 0 ? static_cast<T*>(::operator new(bytes(), kAlignment)) : nullptr;
    }

    View<T, Rank> view_;
};

}  // namespace pleat

#pragma GCC visibility pop
