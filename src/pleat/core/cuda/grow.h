// Grow: makes an array of a GPU, or of the host in its place, long enough.
#pragma once

#include <iterator>

#include "pleat/core/view.h"

namespace pleat::cuda {

/// Makes room for `count` elements. If the array was shorter, its elements are lost.
template <class Array>
void grow(Array& array, Index count) {
    if (array.size() >= count) return;
    array = Array();  // frees the memory before more is allocated
    array = Array(count);
}

/// Copies all `values` to the beginning of an array, which grows where it is too short.
template <class Array, class Values>
void upload(Array& to, const Values& values) {
    const auto count = static_cast<Index>(std::size(values));
    grow(to, count);
    if (count > 0) to.upload(std::data(values), 0, count);
}

}  // namespace pleat::cuda
