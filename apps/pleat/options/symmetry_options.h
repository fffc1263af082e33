// Symmetry options: equal chains that may change places when frames are compared.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/common_options.h"
#include "options/ensemble_options.h"
#include "pleat/core/fields.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::program {

/// Which parts of a structure count as the same.
enum class Symmetry { none, chains, atoms };
std::span<const std::string_view> names_of(Symmetry);

struct SymmetryOptions {
    Symmetry symmetry = Symmetry::none;
    bool relabel = false;

    bool has_chains() const { return symmetry == Symmetry::chains; }
    /// Whether permutations are tried for each pair of frames.
    bool is_of_pairs() const { return symmetry != Symmetry::none && !relabel; }
};
std::vector<Field> fields(SymmetryOptions& options);

/// Throws UsageError for --relabel without symmetry, and for a GPU that was named where pairs of
/// frames are compared over permutations.
void check_options(const SymmetryOptions& options, const RunOptions& run);

using AtomGroups = std::vector<std::vector<std::vector<Index>>>;  ///< as in rmsd::AtomSets

/// The atoms of the equal chains of `coordinates`, and a message that names them; nothing without
/// symmetry. Throws InputError if no chains are equal or their permutations are too many.
AtomGroups find_equal_chains(const SymmetryOptions& options, const Coordinates& coordinates,
                             const Context& context);
/// The groups of equivalent atoms that are measured, and a message about them; nothing without
/// --symmetry atoms. Groups with superposed atoms keep their places, which the message says. Throws
/// InputError if there are none.
AtomGroups find_equal_sides(const SymmetryOptions& options, const Topology& topology,
                            const rmsd::AtomSets& sets, const Context& context);

/// With --relabel: lets the equal chains of each frame take the places that bring it closest to
/// `reference` [atom, axis], which `name` names in a message.
void relabel(const SymmetryOptions& options, View<float, 3> xyz, View<const float, 2> reference,
             const std::string& name, const rmsd::AtomSets& sets, const Context& context);

/// A line of the summary, `symmetry: exact, 24 permutations`; empty without symmetry.
std::string symmetry_line(const SymmetryOptions& options, const AtomGroups& groups);

/// Copies groups of atoms from the leading rank to the others.
void share(AtomGroups& groups, Ranks& ranks);

}  // namespace pleat::program
