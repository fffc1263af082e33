// Missing segments: backbones of ideal geometry for residues that a structure lacks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pleat/workflows/refine/chain/geometry.h"
#include "pleat/workflows/refine/moves/random.h"

namespace pleat::refine {

/// The backbone of a residue.
struct Backbone {
    Vector n, ca, c;

    /// The transform that takes N to the origin, CA onto the x axis and C into the xy plane, back.
    Transform frame() const;
};

struct BuiltResidue {
    std::string name;
    Backbone backbone;
    Vector o;
    bool is_cis = false;  ///< its bond to the residue in front
};

/// The residue next to missing ones, as the structure has it.
struct SegmentEnd {
    std::string name;
    Backbone backbone;
    std::optional<Vector> o;
};

/// Neighbouring residues that the structure lacks, in the frame of what is in front of them.
struct BuiltSegment {
    std::vector<BuiltResidue> residues;
    /// Takes given positions of what is behind to that frame.
    Transform behind;
    bool is_cis_behind = false;
};

/// Builds residues of these names with ideal bonds and angles, trans peptide bonds (5 % of those in
/// front of prolines cis), and phi and psi drawn from the prior; -65 degrees for phi of prolines.
/// An end is not set at a terminus.
BuiltSegment build_segment(const std::vector<std::string>& names,
                           const std::optional<SegmentEnd>& before,
                           const std::optional<SegmentEnd>& behind, Random& random);

/// CB of a residue in ideal geometry.
Vector ideal_cb(const Backbone& backbone);

}  // namespace pleat::refine
