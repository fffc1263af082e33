// Write DCD: frames of an ensemble as a binary trajectory.
#pragma once

#include <filesystem>

#include "pleat/core/files/output_file.h"
#include "pleat/core/view.h"

namespace pleat {

/// Writes frames one by one in CHARMM's format as VMD, MDAnalysis and mdtraj read it: little-endian
/// float32, angstrom, without unit cells. The file appears complete at close() or not at all.
class DcdWriter {
public:
    /// Throws OutputError for more than 536,870,911 atoms, the limit of the format.
    DcdWriter(std::filesystem::path path, Index atoms);
    /// Writes a frame [axis, atom].
    void add(View<const float, 2> frame);
    /// Writes the number of frames into the header.
    void close();

private:
    void record(const void* data, std::size_t bytes);

    OutputFile file_;
    Index atoms_ = 0, frames_ = 0;
};

}  // namespace pleat
