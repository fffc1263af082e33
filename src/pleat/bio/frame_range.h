// Frame ranges: which frames of an ensemble are taken.
#pragma once

#include <limits>
#include <string_view>

#include "pleat/core/view.h"

namespace pleat {

/// Frames counted from 1, both ends included, as models of PDB files are.
struct FrameRange {
    Index first = 1;
    Index last = std::numeric_limits<Index>::max();
    Index stride = 1;

    /// Whether the frame of this number (from 1) is taken.
    bool has(Index number) const {
        return number >= first && number <= last && (number - first) % stride == 0;
    }
};

/// Reads `first:last:stride`; what is left out stands for the first frame, the last one and 1, so
/// that `101:` leaves out a hundred, `:100` takes a hundred, `::10` every tenth, and `7` one.
/// UsageError for anything else, a last before the first included.
FrameRange parse_frame_range(std::string_view text);

}  // namespace pleat
