// NPY header: the magic number, version and dictionary in front of an array's bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/view.h"

namespace pleat {

constexpr std::size_t kMaxAxes = 32;  ///< as many as NumPy 1 allows

/// What an .npy header says (NumPy Enhancement Proposal 1).
struct NpyHeader {
    std::string dtype;  ///< as in the file: '<', '>' or '|', a kind letter, bytes per element
    std::vector<Index> shape;
    bool fortran_order = false;
    std::size_t element_bytes = 0;
    std::size_t data_bytes = 0;  ///< of all elements
    std::size_t bytes = 0;       ///< length of the header itself
};

/// Reads and checks the header at the start of `bytes`. Throws InputError; `name` is the file's.
NpyHeader read_npy_header(const std::vector<std::uint8_t>& bytes, std::string_view name);

/// The header of a C-ordered array, padded so that the data start at a multiple of 64 bytes.
std::string npy_header(std::string_view dtype, const std::vector<Index>& shape);

}  // namespace pleat
