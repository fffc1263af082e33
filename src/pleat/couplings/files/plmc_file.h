// plmc file: a model with its letter frequencies in plmc's binary layout, which EVcouplings opens.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/core/array.h"
#include "pleat/couplings/couplings.h"
#include "pleat/couplings/files/model_file.h"

namespace pleat::couplings {

/// Weighted frequencies of letters, [column, letter]: the fraction of the weight, without
/// pseudocounts.
Array<double, 2> letter_frequencies(const Alignment& alignment, const std::vector<double>& weights);

/// Weighted frequencies of pairs of letters for one column i and all j > i, [j - i - 1, a, b]: the
/// fraction of the weight of sequences with letter a at i and b at j, without pseudocounts.
Array<double, 3> pair_frequencies(const Alignment& alignment, const std::vector<double>& weights,
                                  Index i);

/// The reference of a model, for each column that was fitted.
struct PlmcReference {
    std::string letters;         ///< letters of the alphabet
    std::vector<Index> columns;  ///< numbers, from 0
};

/// Writes the little-endian layout that plmc's OutputParametersFull writes and EVcouplings reads as
/// "plmc_v2" in float32: the int32 L, q, N, 0 (sequences left out), iterations; the floats theta
/// (1 - identity; -1 without weights), lambda of fields, lambda of couplings, 0 (group lambda),
/// effective sequences; the letters; the number of near copies of each sequence, itself included
/// (1 / weight); the reference's letters; the columns' numbers from 1 (int32); frequencies and
/// fields (L x q each); then for all i < j in row order the q x q pair frequencies, and after all
/// of them the q x q couplings. Letters are in plmc's order: the gap first, the others in
/// alphabetical order.
void write_plmc_model(const std::filesystem::path& path, const Alignment& alignment,
                      const Parameters& parameters, const Result& result,
                      const PlmcReference& reference, int threads);

/// Reads that layout, of pleat or of plmc, in float32 or float64, with the gap as a letter or
/// without it (plmc -g). The numbers of the columns are those of the reference's residues, if it is
/// no row of gaps alone. Throws InputError if the file is cut short or longer, or has letters that
/// are no alphabet of pleat.
SavedModel read_plmc_model(ByteReader& reader);

}  // namespace pleat::couplings
