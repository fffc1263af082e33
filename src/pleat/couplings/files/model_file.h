// Model files: fields and couplings as .npz, written and read back.
#pragma once

#include <filesystem>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {

/// Writes couplings.npz: `fields` (L x q, float32), `pairs` (L(L-1)/2 x q x q, float32: i < j in
/// row order, letter at i, letter at j), `letters` (the q letters in code order, as bytes) and
/// `columns` (L, int64: numbers in the source, from 0).
void write_model(const std::filesystem::path& path, const Model& model, const Alignment& alignment);

/// Reads the couplings.npz of an earlier run. Throws InputError, with the file, if columns or
/// alphabet are not those of the alignment or a number is not finite.
Model read_model(const std::filesystem::path& path, const Alignment& alignment);

}  // namespace pleat::couplings
