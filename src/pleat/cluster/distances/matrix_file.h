// Matrix file: distances in a memory-mapped .npy or in memory, condensed or square, float32 or
// float64.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "pleat/cluster/distances/distances.h"

namespace pleat::cluster {

/// Opens and checks the whole file: a condensed array [M (M - 1) / 2] or a square [M, M] of float32
/// or float64, whose values are finite and not negative; a square one symmetric (to 1e-5 of its
/// larger value) with zeros in its diagonal. Comparisons with a cut-off are in the file's own
/// precision. InputError naming file, element, what was expected and found.
std::unique_ptr<Distances> open_matrix(const std::filesystem::path& path);

/// The same of a matrix in memory, which must outlive the result; `name` stands for it in errors.
std::unique_ptr<Distances> matrix_in_memory(const float* values, std::span<const Index> shape,
                                            const std::string& name);
std::unique_ptr<Distances> matrix_in_memory(const double* values, std::span<const Index> shape,
                                            const std::string& name);

/// Whether the file is an .npy of one or two axes, as matrices are.
bool is_matrix_file(const std::filesystem::path& path);

}  // namespace pleat::cluster
