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

/// Throws UsageError if options for measuring distances are given without a structure.
void check_structure_options(const StructureOptions& options);

/// Throws InputError if the structure's file does not exist or may not be read.
void check_structure_file(const StructureOptions& options);

/// Aligns a structure to the columns of an alignment; may add a chain to the structure.
using ResidueMapper =
    std::function<ResidueMap(const Alignment&, Structure&, const ResidueMapOptions&)>;

/// Reads the structure, maps it to the columns of `source` (the alignment before filtering) by
/// `mapper` (empty: map_residues()) and lists the file among the run's inputs. Returns nothing if
/// --structure is not given.
std::optional<KnownStructure> read_known_structure(const StructureOptions& options,
                                                   const Alignment& source, RunDirectory& run,
                                                   const ResidueMapper& mapper = {});

/// Warns if the structure may belong to another family.
void warn_of_other_structure(const StructureOptions& options, const KnownStructure& known,
                             const Context& context);

/// Sets the residues and distances of `known` for the columns of `filtered`, the alignment after
/// filtering.
void measure(KnownStructure& known, const Alignment& filtered);

/// The --focus option for commands without a structure.
Field focus_field(std::string& focus);

/// Returns which columns and sequences of `source` to keep. Throws UsageError if no row has the
/// name that --focus gives, or if --row names another row.
FilterOptions filter_options(const AlignmentOptions& options, const StructureOptions& structure,
                             const Alignment& source);

/// The row whose letters the lists show: the structure's row if there is a structure, else the row
/// of --row or --focus, else the first. With --focus, lists show residue numbers; a message warns
/// if these are doubtful.
ReferenceRow reference_row(const StructureOptions& options, const Alignment& source,
                           const std::optional<KnownStructure>& known, const Context& context);

}  // namespace pleat::program
