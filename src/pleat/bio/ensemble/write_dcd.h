// Write DCD: frames of an ensemble as a binary trajectory.
#pragma once

#include <filesystem>

#include "pleat/core/files/output_file.h"
#include "pleat/core/view.h"

namespace pleat {

/// Writes frames one by one in CHARMM's format as VMD, MDAnalysis and mdtraj read it: little-endian
/// float32, angstrom, without unit cells. The file appears whole at close() or not at all.
class DcdWriter {
public:
    /// OutputError for more atoms than a record's length can tell (536,870,911).
    DcdWriter(std::filesystem::path path, Index atoms);
    /// One more frame, [axis, atom].
    void add(View<const float, 2> frame);
    /// Puts the number of frames into the header.
    void close();

private:
    void record(const void* data, std::size_t bytes);

    OutputFile file_;
    Index atoms_ = 0, frames_ = 0;
};

}  // namespace pleat
