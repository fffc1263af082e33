// Grow: makes an array of a GPU, or of one that a test plays, long enough.
#pragma once

#include "pleat/core/view.h"

namespace pleat::cuda {

/// Makes room for `count` elements. If the array was shorter, its elements are lost.
template <class Array>
void grow(Array& array, Index count) {
    if (array.size() >= count) return;
    array = Array();  // frees the memory before more is allocated
    array = Array(count);
}

}  // namespace pleat::cuda
