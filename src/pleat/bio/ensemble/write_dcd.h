// Write DCD: frames of an ensemble as a binary trajectory.
#pragma once

#include <filesystem>

#include "pleat/bio/periodic/periodic_cell.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/view.h"

namespace pleat {

/// Writes frames one by one in CHARMM's format as VMD, MDAnalysis and mdtraj read it: little-endian
/// float32, angstrom. The file appears complete at close() or not at all.
class DcdWriter {
public:
    /// Throws OutputError for more than 536,870,911 atoms, the limit of the format.
    DcdWriter(std::filesystem::path path, Index atoms, bool has_cells = false);
    /// Writes a frame [axis, atom]. A file with cells has one in each frame: lengths and cosines of
    /// angles, which hold the frame's cell if its first vector lies along x and the second in the
    /// plane of x and y. Frames that were turned have none.
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
