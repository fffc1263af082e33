// Mutants: the effects of mutations of one sequence, by a Potts model of its family.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/notes.h"
#include "pleat/couplings/files/model_file.h"
#include "pleat/workflows/mutants/burial.h"
#include "pleat/workflows/mutants/energies.h"
#include "pleat/workflows/mutants/mutant_table.h"
#include "pleat/workflows/mutants/sequence_file.h"
#include "pleat/workflows/mutants/target.h"

#pragma GCC visibility push(default)

namespace pleat::mutants {

/// The options of the computation.
struct Parameters {
    std::optional<std::int64_t> first_number;  ///< of the target; not set: see first_numbers()
    std::string doubles;  ///< residues whose double mutants are computed: "20-45,50", "all"; empty:
                          ///< none
    Surroundings accessibility = Surroundings::chain;  ///< what covers residues of a structure
    std::string parts;   ///< of a complex: see couplings::parse_parts(); empty: one chain
    bool align = false;  ///< sequences that are not aligned are aligned to the family's profile
};
std::vector<Field> fields(Parameters& parameters);

/// The input of a call. The pointers must outlive it, and may be null.
struct Input {
    couplings::SavedModel model;
    std::optional<NamedSequence> target = {};  ///< instead of the model's reference row
    const MutantTable* table = nullptr;
    const SequenceFile* sequences = nullptr;
    const TargetStructure* structure = nullptr;
};

/// A single mutant. Effects are E(mutant) - E(target): negative ones are harmful.
struct Single {
    Index number = 0;  ///< of the residue
    Index column = 0;  ///< of the source, from 0
    char wild_type = 0, letter = 0;
    double frequency = 0;     ///< of the letter among the residues of the column
    double conservation = 0;  ///< of the column: 1 - entropy / log2(letters)
    double epistatic = 0, couplings = 0, fields = 0;
    double independent = 0;
    double percentile = 0;  ///< of the effect among all single mutants, equal ones in the middle
    double z = 0;           ///< (effect - median) / (1.4826 median absolute deviation) among them
    double independent_percentile = 0, independent_z = 0;
    double conserved = 0;  ///< the effect times 1 + conservation
    double weighted = 0;   ///< the effect times Position::burial_weight; NaN without a structure
};

/// A residue of the target that is in the model: the means over its single mutants.
struct Position {
    Index number = 0, column = 0;
    char wild_type = 0;
    double conservation = 0, epistatic = 0, independent = 0;
    double min_epistatic = 0, max_epistatic = 0;
    double accessibility = 0;  ///< relative; NaN: not known
    double burial_weight = 0;  ///< 0.25 + burial + conservation; NaN without a structure
};

/// A letter in a column: all columns of the model, all letters but the gap.
struct LogoLetter {
    Index column = 0;
    std::optional<Index> number = {};  ///< of the target's residue there
    char wild_type = '-', letter = 0;
    double frequency = 0;
    double information = 0;  ///< of the column, bits: log2(letters) - entropy
    double height = 0;       ///< information times frequency
    double independent = 0;  ///< field of the independent model, in the zero-sum gauge
};

/// The reason why a listed mutant or a sequence has no energy.
enum class Problem {
    none,
    not_a_mutant,
    unknown_letter,
    outside,
    other_wild_type,
    repeated,
    other_length,
    low_coverage
};
std::span<const std::string_view> names_of(Problem);

/// The prediction for a row of the table.
struct Listed {
    Problem problem = Problem::none;
    bool is_target = false;  ///< no letter differs from the target's
    double epistatic = 0, independent = 0, percentile = 0, z = 0;  ///< NaN with a problem
    /// By the weights of conservation and of burial; the second NaN without a structure.
    double conserved = 0, weighted = 0;
};

/// Spearman's rank correlation of the predictions with a column of the table. Rows of the target
/// itself are left out, because mutational scans repeat it for every residue.
struct Correlation {
    std::string name;
    Index count = 0;
    /// NaN: fewer than 3 rows, or all are equal.
    double epistatic = 0, independent = 0, conserved = 0, weighted = 0;
};

struct SequenceEnergy {
    std::string name;
    Energy energy;
    double independent = 0;         ///< energy in the independent model
    double effect = 0;              ///< energy minus that of the target
    double independent_effect = 0;  ///< minus that of the target
    Index residues = 0;             ///< in columns of the model
    Index gaps = 0, inserted = 0;   ///< inserted: residues outside the columns
    double coverage = 0;            ///< fraction of columns with a residue
    Problem problem = Problem::none;
};

/// Epistasis of double mutants of some residues.
struct Doubles {
    std::vector<Index> columns;  ///< of the model, ascending
    Array<float, 3> epistasis;   ///< [pair i < j in row order, letter at i, letter at j]
    Array<double, 2> singles;    ///< [residue, letter]: effects of single mutants
};

struct Result {
    Target target;
    Energy energy;  ///< of the target, in the zero-sum gauge
    double independent_energy = 0;
    Index target_gaps = 0;            ///< columns without a residue of the target
    std::vector<Single> singles;      ///< by residue and letter, the letters in alphabetical order
    std::vector<Position> positions;  ///< by residue
    std::vector<LogoLetter> logo;     ///< by column and letter
    std::vector<Listed> listed;       ///< [row of the table]
    std::vector<Correlation> correlations;
    std::vector<SequenceEnergy> sequences;
    bool sequences_are_aligned = false;  ///< by --align
    Doubles doubles;
    std::optional<Burial> burial;  ///< of the structure
    Notes notes;                   ///< what a person should know

    /// The number of table rows, or sequences, with this problem.
    Index listed_with(Problem problem) const;
};

/// Throws as run() does for numbers, letters and lengths that are not those of the target and the
/// family. Of the model only the description is read, so that a fit may follow.
void check_input(const Input& input, const Parameters& parameters);
/// The same for a model that is yet to be fitted, to this alignment with this reference row.
/// `input.model` is not used.
void check_input(Input input, const Alignment& alignment, const ReferenceRow& reference,
                 const Parameters& parameters);

/// Computes all single mutants of the target, and what else the input and the options ask for.
/// README.md has the formulas. Throws UsageError (options), InputError (numbers or letters of a
/// table that are not those of the target, sequences that are not aligned), Cancelled.
Result run(Input input, const Parameters& parameters, const Context& context);

}  // namespace pleat::mutants

#pragma GCC visibility pop
