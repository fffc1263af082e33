// Structure choice: options about a known structure to compare contacts with, and its alignment to
// the columns.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options/common_options.h"
#include "pleat/bio/alignment/filter.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/fields.h"
#include "pleat/core/run/run_directory.h"

namespace pleat::program {

/// Atoms between which distances are measured. automatic: by the kind of chain.
enum class ContactChoice { automatic, cb, heavy, sugar };
std::span<const std::string_view> names_of(ContactChoice);

/// A structure to compare contacts with.
struct StructureOptions {
    std::string structure;  ///< FILE[:CHAIN]; empty: none
    std::string row;        ///< name of the row of its sequence; empty: detected
    std::string focus;      ///< name of the row whose columns are kept; empty: all
    ContactChoice contact = ContactChoice::automatic;
    std::optional<double> contact_cutoff;  ///< angstrom; not set: by the atoms
};
std::vector<Field> fields(StructureOptions& options);

/// Throws UsageError if options say how to measure in a structure but no structure is given.
void check_structure_options(const StructureOptions& options);

/// Throws InputError if the structure's file does not exist or may not be read.
void check_structure_file(const StructureOptions& options);

/// Aligns a structure, to which it may add a chain, to the columns of an alignment.
using ResidueMapper =
    std::function<ResidueMap(const Alignment&, Structure&, const ResidueMapOptions&)>;

/// Reads the structure, maps it to the columns of `source` (the alignment before filtering) by
/// `mapper` (empty: map_residues()) and lists the file among the run's inputs. Returns nothing if
/// --structure is not given.
std::optional<KnownStructure> read_known_structure(const StructureOptions& options,
                                                   const Alignment& source, RunDirectory& run,
                                                   const ResidueMapper& mapper = {});

/// Warns of a structure that may be of another family.
void warn_of_other_structure(const StructureOptions& options, const KnownStructure& known,
                             const Context& context);

/// Sets the residues and distances of `known` for the columns of `filtered`, the alignment after
/// filtering.
void measure(KnownStructure& known, const Alignment& filtered);

/// The option of the focus, for commands that take no structure.
Field focus_field(std::string& focus);

/// The columns and sequences of `source` that the options keep. Throws UsageError if no row has the
/// name of the focus, or if --row names another.
FilterOptions filter_options(const AlignmentOptions& options, const StructureOptions& structure,
                             const Alignment& source);

/// The row whose letters the lists show: that of the structure if there is one, else the one that
/// --row or --focus names, else the first. A focus has its residues' numbers shown, with a message
/// if they are doubtful.
ReferenceRow reference_row(const StructureOptions& options, const Alignment& source,
                           const std::optional<KnownStructure>& known, const Context& context);

}  // namespace pleat::program
