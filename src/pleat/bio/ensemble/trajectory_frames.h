// Trajectory frames: the common code of the readers of binary coordinate files, and opening them.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/input/byte_reader.h"
#include "pleat/bio/input/byte_source.h"

namespace pleat {

/// A reader of bytes that counts its frames and names them in errors. Each format says how a frame
/// begins and how its coordinates are read and skipped.
class TrajectoryFrames : public FrameReader {
public:
    Index atom_count() const override { return atoms_; }
    bool is_trajectory() const override { return true; }
    void choose_assembly(const std::string& name) override;
    bool next(View<float, 2> frame) final;
    bool skip() final;

protected:
    /// Reads what is in front of a frame's coordinates; false after the last frame.
    virtual bool begin_frame() = 0;
    /// Reads the coordinates, and what is behind them in the frame.
    virtual void read_coordinates(View<float, 2> frame) = 0;
    /// Skips what read_coordinates() reads; by default reads it.
    virtual void skip_coordinates();

    /// Numbers of 4 or 8 bytes as a frame stores them: x, y and z of each atom.
    struct StoredAtoms {
        const char* bytes = nullptr;
        std::size_t width = 4;
        bool big_endian = true;
    };
    /// Sets the frame to `scale` times the stored numbers, less `shift`.
    static void set_frame(View<float, 2> frame, const StoredAtoms& stored, double scale,
                          const std::array<double, 3>& shift = {});

    explicit TrajectoryFrames(std::unique_ptr<ByteReader> bytes) : bytes_(std::move(bytes)) {}

    /// InputError about the file as a whole, or about the frame that is being read.
    [[noreturn]] void fail(std::string_view text) const;
    [[noreturn]] void fail_in_frame(std::string_view text) const;
    /// CutShort about the frame that is being read.
    [[noreturn]] void fail_at_end(std::size_t wanted, std::size_t found) const;
    /// Skips bytes of a frame, or throws CutShort.
    void skip_in_frame(std::size_t size);
    /// Reads the next `size` bytes of a frame, or throws CutShort.
    const std::vector<char>& frame_bytes(std::size_t size);
    /// Notes, once, that the header announces another number of frames than there are.
    void compare_announced(Index announced);

    std::unique_ptr<ByteReader> bytes_;
    std::vector<char> buffer_;
    Index atoms_ = 0;
    Index frames_ = 0;  // read so far

private:
    bool compared_ = false;
};

/// Each takes over bytes whose magic number was seen, and reads the header of the file.
std::unique_ptr<FrameReader> open_npy_frames(std::unique_ptr<ByteReader> bytes);
std::unique_ptr<FrameReader> open_dcd_frames(std::unique_ptr<ByteReader> bytes);
std::unique_ptr<FrameReader> open_xtc_frames(std::unique_ptr<ByteReader> bytes);
std::unique_ptr<FrameReader> open_trr_frames(std::unique_ptr<ByteReader> bytes);
std::unique_ptr<FrameReader> open_netcdf_frames(std::unique_ptr<ByteReader> bytes);
/// The text of an XYZ file.
std::unique_ptr<FrameReader> open_xyz_frames(std::unique_ptr<ByteSource> source);

}  // namespace pleat
