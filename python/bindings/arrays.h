// Arrays: NumPy arrays as views of the library, and results as NumPy arrays, both without copies.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <utility>
#include <vector>

#include "notes.h"
#include "pleat/core/array.h"
#include "pleat/core/error.h"

namespace pleat::python {

namespace py = pybind11;

/// An array argument: used in place if it is contiguous, aligned and of this type, else converted.
template <class T>
using Argument = py::array_t<T, py::array::c_style | py::array::forcecast |
                                    py::detail::npy_api::NPY_ARRAY_ALIGNED_>;

inline std::vector<Index> shape_of(const py::array& array) {
    return {array.shape(), array.shape() + array.ndim()};
}

/// "(3, 4)", as NumPy writes it.
inline std::string shape_text(const py::array& array) {
    return py::str(array.attr("shape")).cast<std::string>();
}

/// Returns coordinates [frame, atom, 3], angstrom, as a view; throws InputError for another shape.
/// The array must outlive the view.
inline View<const float, 3> coordinates(const Argument<float>& xyz) {
    if (xyz.ndim() != 3 || xyz.shape(2) != 3)
        throw InputError(
            fmt::format("expected coordinates [frame, atom, 3], found shape {}", shape_text(xyz)));
    return {xyz.data(), xyz.shape(0), xyz.shape(1), xyz.shape(2)};
}

template <class T>
std::vector<T> copy_array(const Argument<T>& array) {
    return {array.data(), array.data() + array.size()};
}

/// An array that views memory of `owner` and keeps it alive.
template <class T>
py::array_t<T> array_view(const T* data, std::vector<py::ssize_t> shape, py::handle owner) {
    return py::array_t<T>(std::move(shape), data, owner);
}
template <class T>
py::array_t<T> array_view(const std::vector<T>& values, py::handle owner) {
    return array_view(values.data(), {static_cast<py::ssize_t>(values.size())}, owner);
}
template <class T, int Rank>
py::array_t<T> array_view(const Array<T, Rank>& array, py::handle owner) {
    std::vector<py::ssize_t> shape;
    for (int axis = 0; axis < Rank; ++axis) shape.push_back(array.extent(axis));
    return array_view(array.data(), std::move(shape), owner);
}
/// An array that views `values` of `owner`, or None if they are empty.
template <class T>
py::object array_view_or_none(const std::vector<T>& values, py::handle owner) {
    if (values.empty()) return py::none();
    return array_view(values, owner);
}

/// An array that owns what `values` held.
template <class T>
py::array_t<T> owned_array(std::vector<T> values) {
    auto* const kept = new std::vector<T>(std::move(values));
    const py::capsule owner(kept, [](void* at) { delete static_cast<std::vector<T>*>(at); });
    return array_view(*kept, owner);
}
template <class T, int Rank>
py::array_t<T> owned_array(Array<T, Rank> array) {
    auto* const kept = new Array<T, Rank>(std::move(array));
    const py::capsule owner(kept, [](void* at) { delete static_cast<Array<T, Rank>*>(at); });
    return array_view(*kept, owner);
}

}  // namespace pleat::python
