// Frame ranges: which frames of an ensemble are read.
#pragma once

#include <limits>
#include <string_view>

#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat {

/// Frames as a Python slice counts them: from 0, without `last`; negative numbers count from the
/// end (docs/decisions/0024).
struct FrameRange {
    static constexpr Index kEnd = std::numeric_limits<Index>::max();

    Index first = 0;
    Index last = kEnd;  ///< the first frame after the range
    Index step = 1;

    /// Whether the number of frames must be known before the range is.
    bool counts_from_end() const { return first < 0 || last < 0; }
    /// The same range of `count` frames, without negative numbers.
    FrameRange resolved(Index count) const;
    /// Whether the range has this frame (from 0). For ranges without negative numbers.
    bool has(Index frame) const {
        return frame >= first && frame < last && (frame - first) % step == 0;
    }
};

/// Reads `first:last:step`, each part optional: `100:` leaves out the first hundred frames, `:100`
/// keeps them, `-10:` keeps the last ten, `::10` keeps every tenth, and `7` is frame 7 alone.
/// Throws UsageError for any other text, and for a range that can have no frame (`5:5`).
FrameRange parse_frame_range(std::string_view text);

}  // namespace pleat

#pragma GCC visibility pop
