// Alignments: letters by sequence and column, and the alphabet that names them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/notes.h"

#pragma GCC visibility push(default)

namespace pleat {

/// Maps the letters of an alignment to codes. Code `gap()` is the gap and always the last. Protein:
/// "ARNDCQEGHILKMFPSTWYV-" (21 codes, the order of the couplings literature); RNA: "ACGU-", DNA:
/// "ACGT-" (5 codes). with_unknown() adds a code for letters that name no single residue; without
/// it they are gaps.
class Alphabet {
public:
    enum class Kind { protein, rna, dna };

    static const Alphabet& protein();
    static const Alphabet& rna();
    static const Alphabet& dna();
    /// By name ("protein", "rna", "dna"); throws UsageError otherwise.
    static const Alphabet& named(std::string_view name);

    /// The same letters with one more before the gap: X for proteins, N for nucleic acids (22 or 6
    /// codes). It is the code of all letters that name no single residue, which otherwise are gaps.
    const Alphabet& with_unknown() const;
    /// The alphabet without the code for unknown letters; reverses with_unknown().
    const Alphabet& without_unknown() const;

    Kind kind() const { return kind_; }
    std::string_view name() const { return name_; }
    /// All letters in code order, the gap last.
    std::string_view letters() const { return letters_; }
    int size() const { return static_cast<int>(letters_.size()); }
    std::uint8_t gap() const { return static_cast<std::uint8_t>(letters_.size() - 1); }
    char letter(std::uint8_t code) const { return letters_[code]; }
    /// Code of a character. Lower case counts as upper case. Gaps are '-', '.', '~', '_', '?' and
    /// the letters that name no single residue (protein: B J O U X Z and '*'; nucleic acids: the
    /// IUPAC ambiguity codes and X). RNA reads T as U, DNA reads U as T. Returns `invalid` for
    /// anything else. Whether a character belongs to a column depends on the format: see README.md.
    std::uint8_t code(char c) const { return codes_[static_cast<unsigned char>(c)]; }
    static constexpr std::uint8_t invalid = 255;

private:
    Alphabet(Kind kind, std::string_view name, std::string_view letters, std::string_view unknown,
             bool unknown_is_gap);
    static const Alphabet& of(Kind kind, bool unknown_is_gap);
    Kind kind_;
    std::string name_;
    std::string letters_;
    std::uint8_t codes_[256];
};

/// A multiple sequence alignment after reading (and filtering): every row has the same columns.
struct Alignment {
    std::vector<std::string>
        names;  ///< one a sequence; "sequence 1", ... where the format has none
    Array<std::uint8_t, 2> letters;  ///< codes of `alphabet`, [sequence, column]
    const Alphabet* alphabet = nullptr;
    std::filesystem::path source;  ///< file it was read from; "-" for stdin
    /// For each kept column, its 0-based index in the source alignment (A2M and A3M: among the
    /// match columns).
    std::vector<Index> columns;
    Notes notes = {};        ///< what the reader decided
    std::string format;      ///< what the file was read as: "a3m", "clustal", ...
    std::string parts = {};  ///< "218,310": lengths of the chains that the file states; or empty
    /// With ReadOptions::keep_full_rows: per sequence, its A3M row if `letters` lacks some of its
    /// residues (insertions, letters that name no single residue), else an empty text. Upper case
    /// or '-' for each column of the source, lower case for inserted residues. Empty if `letters`
    /// lacks no residue of any row, and in filtered copies.
    std::vector<std::string> full_rows = {};

    bool has_full_row(Index row) const { return !full_rows.empty() && !full_rows[row].empty(); }
    Index sequence_count() const { return letters.extent(0); }
    Index column_count() const { return letters.extent(1); }
};

/// A copy in which unknown letters are gaps, with the alphabet that has no code for them.
Alignment without_unknown(const Alignment& alignment);

}  // namespace pleat

#pragma GCC visibility pop
