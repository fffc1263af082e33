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

/// A sequence with its name, as a file has it.
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
    /// The residue with this number; kNone if the sequence does not reach there.
    Index residue(Index number) const {
        const Index at = number - first_number;
        return at >= 0 && at < static_cast<Index>(sequence.size()) ? at : kNone;
    }
};

/// The reference row of a model as the target; with `sequence` that sequence, aligned to the row
/// (or, if the model has no reference row, to the profile of the family). Its numbers start at
/// `first_number`. Throws InputError if there is neither, or if less than half of the row's
/// residues are identical to those of the sequence.
Target make_target(const couplings::ModelDescription& about,
                   const std::optional<NamedSequence>& sequence, Index first_number);

/// The numbers with which the first residue of the target may have been counted, the most likely
/// first: what the model's file records; else START of a name NAME/START-END, and 1.
std::vector<Index> first_numbers(const couplings::ModelDescription& about,
                                 const std::optional<NamedSequence>& sequence);

/// A wild-type letter of a list at a number.
struct ListedLetter {
    Index number = 0;
    char letter = 0;

    bool operator==(const ListedLetter&) const = default;
};

/// Agreement of the letters of a list with the target's residues of these numbers.
struct Agreement {
    Index compared = 0;  ///< letters at residues that are known
    Index differing = 0;
    Index outside = 0;  ///< letters at numbers that the sequence does not reach
};
/// `listed`: letters, and how often each is listed.
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
