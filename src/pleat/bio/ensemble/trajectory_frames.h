// Trajectory frames: what the readers of binary coordinate files share, and how each is opened.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/input/byte_reader.h"

namespace pleat {

/// A reader over bytes that counts its frames and names them in errors.
class TrajectoryFrames : public FrameReader {
public:
    Index atom_count() const override { return atoms_; }
    void choose_assembly(const std::string& name) override;

protected:
    explicit TrajectoryFrames(std::unique_ptr<ByteReader> bytes) : bytes_(std::move(bytes)) {}

    /// InputError about the file as a whole, or about the frame that is being read.
    [[noreturn]] void fail(std::string_view text) const;
    [[noreturn]] void fail_in_frame(std::string_view text) const;
    /// CutShort about the frame that is being read.
    [[noreturn]] void fail_at_end(std::size_t wanted, std::size_t found) const;
    /// Passes over bytes of a frame, or throws CutShort.
    void skip_in_frame(std::size_t size);
    /// Reads the next `size` bytes of a frame, or throws CutShort.
    const std::vector<char>& frame_bytes(std::size_t size);
    /// Says so where a header announces another number of whole frames than there are.
    void compare_announced(Index announced);

    std::unique_ptr<ByteReader> bytes_;
    std::vector<char> buffer_;
    Index atoms_ = 0;
    Index frames_ = 0;  // read so far
};

/// Each takes over bytes whose magic number was seen, and reads the header of the file.
std::unique_ptr<FrameReader> open_npy_frames(std::unique_ptr<ByteReader> bytes);
std::unique_ptr<FrameReader> open_dcd_frames(std::unique_ptr<ByteReader> bytes);
std::unique_ptr<FrameReader> open_xtc_frames(std::unique_ptr<ByteReader> bytes);
std::unique_ptr<FrameReader> open_trr_frames(std::unique_ptr<ByteReader> bytes);
std::unique_ptr<FrameReader> open_netcdf_frames(std::unique_ptr<ByteReader> bytes);

}  // namespace pleat
