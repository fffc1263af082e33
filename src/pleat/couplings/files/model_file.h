// Model files: fields and couplings as .npz, written and read back.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/couplings/couplings.h"

#pragma GCC visibility push(default)

namespace pleat {
struct ReferenceRow;
}

namespace pleat::couplings {

/// Data of a model's family that `mutants` needs. Letters are those of the alphabet.
struct ModelDescription {
    const Alphabet* alphabet = nullptr;
    Array<double, 2> frequencies;     ///< [column, letter]: share of the sequences' weight
    double effective_sequences = 0;   ///< sum of the weights
    std::vector<Index> columns = {};  ///< for each column its number in the source, from 0
    Index source_columns = 0;         ///< of the source; 0: not known
    std::string reference_name = {};  ///< of the reference row; may be empty
    std::string reference = {};       ///< its letter in each column; '-' for a gap
    std::string sequence = {};        ///< all its residues, insertions included
    /// For each column the position of its residue in `sequence`, from 1; 0 for a gap.
    std::vector<Index> numbers = {};
    Index first_number = 1;           ///< number of the first residue of `sequence`
    bool number_is_recorded = false;  ///< whether the file says what `first_number` is
};

/// `reference`: has entries for all source columns.
ModelDescription describe(const Alignment& alignment, const std::vector<double>& weights,
                          const ReferenceRow& reference);

/// A model read from a file. If it has no gap state, its letters are those before the gap.
struct SavedModel {
    Model model;
    ModelDescription about;
};

/// Writes couplings.npz: `fields` (L x q, float32), `pairs` (L(L-1)/2 x q x q, float32: i < j in
/// row order, letter at i, letter at j), `letters` (the q letters in code order, as bytes) and
/// `columns` (L, int64: numbers in the source, from 0); and of the description `frequencies` (L x
/// q), `effective_sequences`, `source_columns`, and the texts and numbers of the reference row.
void write_model(const std::filesystem::path& path, const Model& model,
                 const ModelDescription& about);

/// Reads the couplings.npz of an earlier run. Throws InputError, with the file, if columns or
/// alphabet are not those of the alignment or a number is not finite.
Model read_model(const std::filesystem::path& path, const Alignment& alignment);

/// Whether a file begins like a model: an .npz archive, or plmc's binary layout.
bool is_model_file(const std::filesystem::path& path);

/// Reads a couplings.npz, or a binary model of plmc or pleat. Throws InputError, with the file, if
/// it is neither, is cut short, has letters that are no alphabet of pleat, or lacks the description
/// (a run of version 0.1).
SavedModel read_saved_model(const std::filesystem::path& path);

}  // namespace pleat::couplings

#pragma GCC visibility pop
