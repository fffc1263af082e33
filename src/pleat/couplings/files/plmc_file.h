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

/// [column, letter]: the fraction of the sequence weight with this letter, without pseudocounts.
Array<double, 2> letter_frequencies(const Alignment& alignment, const std::vector<double>& weights);

/// For column i and all j > i, [j - i - 1, a, b]: the fraction of the sequence weight with letter a
/// at i and b at j, without pseudocounts.
Array<double, 3> pair_frequencies(const Alignment& alignment, const std::vector<double>& weights,
                                  Index i);

/// The reference sequence of a model, for each fitted column.
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

/// Reads a model in plmc's layout, written by pleat or plmc, in float32 or float64, with the gap as
/// a letter or without (plmc -g). Column numbers are residue numbers of the reference, unless it
/// consists of gaps only. Throws InputError if the file is too short or too long, or has letters of
/// no pleat alphabet.
SavedModel read_plmc_model(ByteReader& reader);

}  // namespace pleat::couplings
