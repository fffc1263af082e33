// Sequence energies: sequences in the columns of a model, aligned as they are or by the profile.
#pragma once

#include <vector>

#include "pleat/workflows/mutants/mutants.h"

namespace pleat::mutants {

/// A sequence in the columns of a model.
struct ColumnSequence {
    std::vector<std::uint8_t> codes;  ///< [column]; the alphabet's gap for none
    Index inserted = 0;               ///< residues outside the columns
};

/// Throws InputError for a letter that is none of the alphabet's, and, without `align`, for rows
/// that are not as wide as the model, its source or its match columns.
void check_sequences(const SequenceFile& file, const couplings::ModelDescription& about,
                     bool align);

/// The sequences of a file in the model's columns. Rows that all have the width of the model or of
/// its source, or as many match columns (A2M, A3M), are aligned already. Others are aligned to the
/// family's profile if `align` is set, which sets `is_aligned_here`. Throws as check_sequences().
std::vector<ColumnSequence> sequences_in_columns(const SequenceFile& file,
                                                 const couplings::ModelDescription& about,
                                                 bool align, const Context& context,
                                                 bool& is_aligned_here);

}  // namespace pleat::mutants
