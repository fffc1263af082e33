// Views: a pointer and its extents, row-major and contiguous, usable on host and device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#pragma GCC visibility push(default)

namespace pleat {

/// Signed index and extent type used everywhere; 64 bits, so that L^2 * 441 never overflows.
using Index = std::int64_t;

/// Non-owning, contiguous, row-major array of `Rank` dimensions. Copying it copies the pointer.
template <class T, int Rank>
struct View {
    static_assert(Rank >= 1);
    T* data = nullptr;
    Index extents[Rank] = {};

    constexpr View() = default;
    template <class... Extents>
    requires(sizeof...(Extents) == Rank) constexpr View(T* pointer, Extents... n)
        : data(pointer), extents{static_cast<Index>(n)...} {}

    constexpr Index extent(int axis) const { return extents[axis]; }

    constexpr Index size() const {
        Index n = 1;
        for (int axis = 0; axis < Rank; ++axis) n *= extents[axis];
        return n;
    }

    template <class... Indices>
    requires(sizeof...(Indices) == Rank) constexpr T& operator()(Indices... index) const {
        const Index at[Rank] = {static_cast<Index>(index)...};
        Index offset = 0;
        for (int axis = 0; axis < Rank; ++axis) offset = offset * extents[axis] + at[axis];
        return data[offset];
    }

    /// The sub-view at `i` of the first axis (an element reference for rank 1).
    constexpr decltype(auto) operator[](Index i) const {
        if constexpr (Rank == 1) {
            return (data[i]);
        } else {
            View<T, Rank - 1> sub;
            Index stride = 1;
            for (int axis = 1; axis < Rank; ++axis) {
                sub.extents[axis - 1] = extents[axis];
                stride *= extents[axis];
            }
            sub.data = data + i * stride;
            return sub;
        }
    }

    constexpr T* begin() const { return data; }
    constexpr T* end() const { return data + size(); }

    constexpr operator View<const T, Rank>() const requires(!std::is_const_v<T>) {
        View<const T, Rank> view;
        view.data = data;
        for (int axis = 0; axis < Rank; ++axis) view.extents[axis] = extents[axis];
        return view;
    }
};

}  // namespace pleat

#pragma GCC visibility pop
