// Symmetry options: chains and atoms that may change places when frames are compared, and whether
// frames are superposed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "pleat/core/fields.h"
#include "pleat/rmsd/rmsd.h"
#include "pleat/rmsd/symmetry/symmetry.h"

namespace pleat::program {

using rmsd::Symmetry;

/// What --fit says instead of atoms: frames are measured where they are.
inline constexpr std::string_view kNoFit = "none";

struct SymmetryOptions {
    Symmetry symmetry = Symmetry::none;
    bool relabel = false;
    std::string fit;  ///< atoms to superpose, kNoFit, or empty

    bool has_chains() const { return symmetry == Symmetry::chains; }
    /// Whether permutations are tried for each pair of frames.
    bool is_of_pairs() const { return symmetry != Symmetry::none && !relabel; }
};
std::vector<Field> fields(SymmetryOptions& options);

/// The selections that frames are superposed by and measured with.
struct ComparedAtoms {
    std::string superposed, measured;
    bool in_place = false;  ///< frames are not superposed

    /// Whether the superposed atoms are not those that are measured.
    bool differ() const { return in_place || superposed != measured; }
};
/// What --select, --measure (may be empty) and --fit say. Without --fit ligands are measured in
/// place unless --measure names other atoms. Throws UsageError if --fit and --measure name atoms
/// besides another --select.
ComparedAtoms compared_atoms(const SymmetryOptions& options, const std::string& select,
                             const std::string& measure);

/// Throws UsageError for --relabel without symmetry.
void check_options(const SymmetryOptions& options);

using AtomGroups = std::vector<std::vector<std::vector<Index>>>;  ///< as in rmsd::AtomSets

/// As rmsd::find_symmetry(), with a message about what was found.
rmsd::FoundSymmetry find_symmetry(const SymmetryOptions& options, const Topology& all,
                                  const std::vector<Index>& read, const rmsd::AtomSets& sets,
                                  const Context& context);

/// With --relabel: lets the equal chains of each frame take the places that bring it closest to
/// `reference` [atom, axis], which `name` names in a message.
void relabel(const SymmetryOptions& options, View<float, 3> xyz, View<const float, 2> reference,
             const std::string& name, const rmsd::AtomSets& sets, const Context& context);

/// Lines of the summary, `symmetry: exact, 24 permutations`, and that frames were not superposed;
/// empty without symmetry. `sets`: with their equal chains or orders; `unproven`: how many values
/// of `count` are not proven to be the least.
std::string symmetry_lines(const SymmetryOptions& options, const rmsd::AtomSets& sets,
                           Index unproven = 0, Index count = 0);

/// Copies groups of atoms from the leading rank to the others.
void share(AtomGroups& groups, Ranks& ranks);

}  // namespace pleat::program
