// PDB dialect: names, numbers and chains that a line of a PDB file alone does not tell.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pleat/bio/input/text_fields.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"
#include "pleat/core/notes.h"

namespace pleat {

/// Completes the atoms of a file, model by model; the first model decides for all.
///
/// Digits in column 17 are the last of atom names that begin in column 14, where no other atoms
/// have them; else alternate locations. Column 21 is the fourth letter of residue names (TIP3,
/// LYSH), or the first of chain names of two characters where residues of such a chain have names
/// of three letters that are known. Residue numbers: decimal, hybrid-36, hexadecimal from 2710 on
/// behind 9999 (VMD), of four or five digits to column 27 unless the residue before or behind has
/// the first four (then an insertion code), and by order where there are stars. Segments (columns
/// 73-76) name the chains that the file leaves blank, if there are several, and those that several
/// segments share whose residues have the same numbers.
class PdbDialect {
public:
    /// Sets the residue names, numbers and chains of a model.
    void complete(std::vector<AtomRecord>& atoms, const std::vector<PdbFields>& fields,
                  Complaints& complaints);
    /// What was decided, without the name of the file.
    const Notes& notes() const { return notes_; }

private:
    struct Counter;
    void choose_names(const std::vector<PdbFields>& fields);
    void choose_locations(const std::vector<AtomRecord>& atoms,
                          const std::vector<PdbFields>& fields);
    void choose_segments(const std::vector<AtomRecord>& atoms,
                         const std::vector<PdbFields>& fields);
    void read_names(AtomRecord& atom, const PdbFields& fields);
    void read_numbers(std::vector<AtomRecord>& atoms, const std::vector<PdbFields>& fields,
                      Complaints& complaints);
    bool read_number(const std::string& text, const std::string& next, Counter& chain);
    void note(NoteKind kind, const std::string& text);

    bool is_chosen_ = false;
    std::set<std::string> pairs_;  // chains of two characters
    bool has_long_names_ = false;  // column 17 holds the last digits of atom names
    bool has_segments_ = false;    // columns 73-76 hold segments
    bool names_blank_ = false;     // segments name blank chains
    std::map<std::pair<std::string, std::string>, std::string> names_;  // [chain, segment]
    Notes notes_;
};

}  // namespace pleat
