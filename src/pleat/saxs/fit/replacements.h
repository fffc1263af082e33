// Replacements: frames that improve a set most in place of one of its members.
#pragma once

#include <span>
#include <vector>

#include "pleat/saxs/fit/profile_coordinates.h"

namespace pleat::saxs {

/// Up to `count` frames, ascending, with which a set of frames fits best when one of them replaces
/// one member, at the contrast of the coordinates, with weights of at least kMinWeight.
/// `members`: ascending. The same bits for any number of threads. Throws Cancelled.
std::vector<Index> best_replacements(const ProfileCoordinates& at, std::span<const Index> members,
                                     std::size_t count, int threads, const Context& context);

}  // namespace pleat::saxs
