// Frame store: the coordinates of an ensemble, in memory or in a file that is read in blocks.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "pleat/core/array.h"

#pragma GCC visibility push(default)

namespace pleat {

/// Coordinates [frame, atom, axis], angstrom, float32. Copies share the file. May be read from
/// several threads at a time.
class FrameStore {
public:
    FrameStore() = default;
    /// `xyz` must outlive this object and its copies.
    FrameStore(View<const float, 3> xyz) : shape_(xyz) {}
    FrameStore(View<float, 3> xyz)
        : shape_(xyz.data, xyz.extent(0), xyz.extent(1), xyz.extent(2)) {}
    FrameStore(const Array<float, 3>& xyz) : shape_(xyz.view()) {}
    /// Opens a file that contains only the numbers. Throws InputError if it cannot be read or has
    /// another length.
    FrameStore(const std::filesystem::path& file, Index frames, Index atoms);

    Index frame_count() const { return shape_.extent(0); }
    Index atom_count() const { return shape_.extent(1); }
    Index extent(int axis) const { return shape_.extent(axis); }
    Index size() const { return shape_.size(); }
    bool is_on_disk() const { return file_ != nullptr; }
    /// Whether both are the same data.
    bool is_same(const FrameStore& other) const {
        return file_ == other.file_ && shape_.data == other.shape_.data &&
               frame_count() == other.frame_count();
    }
    /// The coordinates in memory; `data` is null if they are on disk.
    View<const float, 3> in_memory() const { return shape_; }

    /// Copies `count` numbers, from index `first` on. Throws InputError if the file cannot be read.
    void read(Index first, Index count, float* to) const;
    /// [atom, axis]
    Array<float, 2> frame(Index frame) const;

private:
    class File;
    View<const float, 3> shape_;
    std::shared_ptr<const File> file_;
};

/// Where to store frames that do not fit in memory.
struct FrameOverflow {
    /// Whether this many frames of this many atoms may be kept in memory.
    std::function<bool(Index frames, Index atoms)> fits;
    std::filesystem::path file;  ///< where all frames go once they do not fit
};

}  // namespace pleat

#pragma GCC visibility pop
