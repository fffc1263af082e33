// Predictor: effects of mutants with any number of substitutions, from the table of single ones,
// and the ranks of effects.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "pleat/core/array.h"
#include "pleat/core/view.h"
#include "pleat/workflows/mutants/energies.h"
#include "pleat/workflows/mutants/mutants.h"
#include "pleat/workflows/mutants/target.h"

namespace pleat::mutants {

/// The distribution of the effects of all single mutants. Effects that are equal to four decimals
/// count as equal: letters that no sequence of the family has differ by rounding alone.
class EffectRanks {
public:
    explicit EffectRanks(const std::vector<double>& effects);

    /// From 0 to 100: the share of smaller effects, and half of the equal ones.
    double percentile(double effect) const;
    /// (effect - median) / (1.4826 median absolute deviation); NaN if that is 0.
    double z(double effect) const;

private:
    std::vector<long long> sorted_;  // in units of the last decimal
    double median_effect_ = 0, deviation_ = 0;
};

/// Spearman's correlation of two columns over rows where neither is NaN; NaN for fewer than 3 such
/// rows, or if all values of a column are equal. `count` receives the number of rows.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b, Index& count);

/// One substitution as a list names it.
struct Substitution {
    char wild_type = 0, letter = 0;  ///< upper case
    Index number = 0;

    bool operator==(const Substitution&) const = default;
};

/// Reads "A24G", "A24G:K30R" or "A24G,K30R", and these as HGVS writes them ("p.Ala24Gly",
/// "p.[Ala24Gly;Lys30Arg]", "p.="); "wild", "wt", "WT", "wildtype" and an empty text have
/// no substitution. Returns false for any other text.
bool parse_mutant(std::string_view text, std::vector<Substitution>& substitutions);

/// The input of predictions. Everything referred to must outlive it.
struct MutantPredictor {
    const EnergyModel& model;
    const Alphabet& alphabet;
    const Target& target;
    const Array<double, 2>& independent;  ///< fields, [column, letter without the gap]
    const EffectRanks& ranks;             ///< of the effects of single mutants
    /// [column]: weights of conservation and of burial; the second is empty without a structure.
    std::span<const double> conservation_weights, burial_weights;

    /// A mutant by its substitutions, or by its whole sequence.
    Listed predict(const std::vector<Substitution>& substitutions) const;
    Listed predict_sequence(std::string_view sequence) const;
};

/// The wild-type letters of a table, with the number of times each is listed.
ListedLetters listed_letters(const MutantTable& table);

/// Of these targets, which differ in their first number alone, the one whose letters agree best
/// with the table. Throws InputError if more than 5 % of the letters disagree even so, or if no
/// listed residue lies within its sequence.
const Target& best_target(const std::vector<Target>& targets, const MutantTable& table);

/// Predicts all rows, on several threads.
std::vector<Listed> predict_rows(const MutantPredictor& predictor, const MutantTable& table,
                                 int threads);

/// Rank correlations of the predictions with each column of numbers.
std::vector<Correlation> correlations(const MutantTable& table, const std::vector<Listed>& listed);

}  // namespace pleat::mutants
