// XTC packing: coordinates as integers with as few bits as their range needs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "pleat/core/view.h"

namespace pleat {

/// The numbers in front of the packed bits of a frame.
struct XtcPacking {
    float precision = 0;                ///< integers per nanometre
    std::array<std::int32_t, 3> min{};  ///< smallest integer of each axis
    std::array<std::int32_t, 3> max{};  ///< largest integer of each axis
    std::int32_t small = 0;             ///< index of the range of small differences at the start
    std::size_t packed_bytes = 0;
};

/// Unpacks one frame into `frame` [axis, atom], in angstrom. Returns the complaint (`expected X,
/// found Y`), empty if there is none.
///
/// An atom is three integers above `min`, mixed into one number with the ranges as its bases (or
/// three numbers if a range needs more than 24 bits). A bit says whether five more change the
/// length of the run that follows and the range of its differences; each atom of the run is its
/// difference from the atom before, in a range of the table of small ranges. The first two atoms of
/// a run are stored in exchanged order (oxygen and hydrogen of waters).
std::string unpack_xtc(const XtcPacking& packing, std::string_view bits, View<float, 2> frame);

}  // namespace pleat
