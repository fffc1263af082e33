// Target: the sequence whose mutants are computed, and the numbers of its residues.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pleat/couplings/files/model_file.h"
#include "pleat/workflows/mutants/sequence_file.h"

#pragma GCC visibility push(default)

namespace pleat::mutants {

/// A named sequence from a file.
struct NamedSequence {
    std::string file;  ///< for messages
    std::string name;
    std::string letters;  ///< upper case
};

/// The only sequence of a file, without gaps. Throws InputError if there are more.
NamedSequence only_sequence(const SequenceFile& file);

/// The sequence whose mutants are computed.
struct Target {
    static constexpr Index kNone = -1;

    const Alphabet* alphabet = nullptr;
    std::string name;
    std::string sequence;  ///< all its residues
    Index first_number = 1;
    std::vector<Index> columns;   ///< [residue]: column of the model, or kNone
    std::vector<Index> residues;  ///< [column]: index into `sequence`, or kNone
    std::vector<std::uint8_t>
        codes;  ///< [column]: letter of the model; the alphabet's gap for none

    Index number(Index residue) const { return first_number + residue; }
    /// Whether the alphabet has a code for this residue.
    bool is_known(Index residue) const {
        return alphabet->code(sequence[residue]) < alphabet->gap();
    }
    /// The residue with this number; kNone if it is outside the sequence.
    Index residue(Index number) const {
        const Index at = number - first_number;
        return at >= 0 && at < static_cast<Index>(sequence.size()) ? at : kNone;
    }
};

/// Makes the target from the reference row of a model or, if given, from `sequence`, aligned to
/// this row (or, if the model has no reference row, to the family's profile). Numbers start at
/// `first_number`. Throws InputError if there is neither, or if less than half of the row's
/// residues are identical to the sequence.
Target make_target(const couplings::ModelDescription& about,
                   const std::optional<NamedSequence>& sequence, Index first_number);

/// Possible numbers of the target's first residue, most likely first: the one recorded in the
/// model's file; else START of a name NAME/START-END, and 1.
std::vector<Index> first_numbers(const couplings::ModelDescription& about,
                                 const std::optional<NamedSequence>& sequence);

/// A wild-type letter and its residue number in a list.
struct ListedLetter {
    Index number = 0;
    char letter = 0;

    bool operator==(const ListedLetter&) const = default;
};

/// How well the letters of a list agree with the target's residues at these numbers.
struct Agreement {
    Index compared = 0;  ///< letters at residues that are known
    Index differing = 0;
    Index outside = 0;  ///< letters at numbers that the sequence does not reach
};
/// `listed`: letters, and the number of times each is listed.
using ListedLetters = std::vector<std::pair<ListedLetter, Index>>;
Agreement agreement(const Target& target, const ListedLetters& listed);

/// The number to add to the numbers of a list so that most of its letters agree with the target,
/// and how many then do.
struct Shift {
    Index shift = 0, agreeing = 0;
};
Shift best_shift(const Target& target, const ListedLetters& listed);

}  // namespace pleat::mutants

#pragma GCC visibility pop
