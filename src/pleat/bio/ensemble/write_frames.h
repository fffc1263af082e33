// Write frames: frames of an ensemble as the models of one PDB or mmCIF file, or as a binary
// trajectory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pleat/bio/periodic/periodic_cell.h"
#include "pleat/bio/structure/topology.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/view.h"

namespace pleat {

/// Writes models one by one; the file appears, complete, only at close(). The file ending decides
/// the format: .pdb and .ent, or .cif and .mmcif; other endings throw UsageError.
///
/// PDB (format 3.3, fixed columns) holds atom names of 4 characters, residue names of 3 (4 without
/// a chain), chain names of 1 (2 in columns 21-22; 3 and 4 as the segment), numbers beyond the
/// columns in hybrid-36, and coordinates from -999.999 to 9999.999 angstrom. Throws OutputError if
/// a topology or a frame does not fit.
class StructureWriter {
public:
    StructureWriter(const std::filesystem::path& path, const Topology& topology);
    /// Writes a model, `frame` [axis, atom], angstrom, with 3 decimals. Throws OutputError for
    /// coordinates that are not finite or do not fit.
    void add(View<const float, 2> frame);
    void close();

private:
    void add_atom(Index atom, const double (&xyz)[3]);

    OutputFile file_;
    bool is_pdb_ = true;
    Index models_ = 0;
    std::vector<std::string> before_, behind_;  ///< each atom's line without its coordinates
    std::vector<bool> ends_chain_;
    std::string text_;  ///< of the current model
};

/// Whether PDB can hold these atoms; mmCIF can hold all.
bool fits_pdb(const Topology& topology);

/// Writes frames one by one in CHARMM's format as VMD, MDAnalysis and mdtraj read it: little-endian
/// float32, angstrom. The file appears complete at close() or not at all.
class DcdWriter {
public:
    /// Throws OutputError for more than 536,870,911 atoms, the limit of the format.
    DcdWriter(std::filesystem::path path, Index atoms, bool has_cells = false);
    /// Writes a frame [axis, atom]. A file with cells has one in each frame: lengths and cosines of
    /// angles, which hold the frame's cell if its first vector lies along x and the second in the
    /// plane of x and y. Frames that were rotated have no cell.
    void add(View<const float, 2> frame, const PeriodicCell& cell = {});
    /// Writes the number of frames into the header.
    void close();

private:
    void record(const void* data, std::size_t bytes);

    OutputFile file_;
    Index atoms_ = 0, frames_ = 0;
    bool has_cells_ = false;
};

}  // namespace pleat
