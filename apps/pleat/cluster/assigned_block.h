// Assigned block: frames that one rank compared with medoids, on their way to the leading rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/rmsd/assign/assignment.h"

namespace pleat::program {

/// Consecutive frames of an ensemble.
struct AssignedBlock {
    std::vector<FrameOrigin> origins;     ///< [frame]
    rmsd::Assignment::Compared compared;  ///< empty without frames

    Index frames() const { return static_cast<Index>(origins.size()); }
};

std::vector<std::uint8_t> pack(const AssignedBlock& block);
AssignedBlock unpack_block(std::span<const std::uint8_t> bytes);

}  // namespace pleat::program
