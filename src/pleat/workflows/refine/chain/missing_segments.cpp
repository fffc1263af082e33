// Missing segments: one residue after another, and the transform of what follows.
#include "pleat/workflows/refine/chain/missing_segments.h"

#include <cstddef>
#include <numbers>
#include <string_view>

#include "pleat/workflows/refine/prior/prior.h"

namespace pleat::refine {

namespace {

constexpr double kDegree = std::numbers::pi / 180;
// Engh and Huber, Acta Cryst. A47:392 (1991).
constexpr double kCaC = 1.525, kCN = 1.329, kNCa = 1.458, kCO = 1.231;
constexpr double kNCaC = 111.0 * kDegree, kCaCN = 116.6 * kDegree, kCNCa = 121.7 * kDegree,
                 kCaCO = 120.5 * kDegree;
// Means of a trypsin's residues (1ql9).
constexpr double kCaCb = 1.53, kNCaCb = 110.1 * kDegree, kCNCaCb = -121.7 * kDegree;
constexpr double kProlinePhi = -65 * kDegree;
constexpr double kCisShare = 0.05;

/// The residue behind one with this psi.
Backbone next_backbone(const Backbone& from, double psi, bool is_cis, double phi) {
    Backbone next;
    next.n = attach(from.n, from.ca, from.c, kCN, kCaCN, psi);
    next.ca = attach(from.ca, from.c, next.n, kNCa, kCNCa, is_cis ? 0 : std::numbers::pi);
    next.c = attach(from.c, next.n, next.ca, kCaC, kNCaC, phi);
    return next;
}

/// A first residue anywhere.
Backbone first_backbone() {
    const Vector n, ca{kNCa, 0, 0};
    return {n, ca, ca + kCaC * Vector{-std::cos(kNCaC), std::sin(kNCaC), 0}};
}

std::pair<double, double> draw(std::string_view name, std::string_view next, Random& random) {
    std::pair<double, double> drawn = draw_torsions(residue_class(name, next), random);
    if (name == "PRO") drawn.first = kProlinePhi;
    return drawn;
}

}  // namespace

Transform Backbone::frame() const {
    const Vector x = unit(ca - n), z = unit(cross(x, c - n)), y = cross(z, x);
    Transform frame;
    frame.rotation = {x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z};
    frame.shift = n;
    return frame;
}

Vector ideal_cb(const Backbone& backbone) {
    return attach(backbone.c, backbone.n, backbone.ca, kCaCb, kNCaCb, kCNCaCb);
}

BuiltSegment build_segment(const std::vector<std::string>& names,
                           const std::optional<SegmentEnd>& before,
                           const std::optional<SegmentEnd>& behind, Random& random) {
    BuiltSegment built;
    const auto next_name = [&](std::size_t n) -> std::string_view {
        if (n + 1 < names.size()) return names[n + 1];
        return behind ? std::string_view(behind->name) : std::string_view();
    };
    const auto is_cis = [&](std::string_view name) {
        return name == "PRO" && random.uniform() < kCisShare;
    };
    std::optional<Backbone> last;
    double psi = 0;
    if (before) {
        last = before->backbone;
        // O lies opposite to the next N.
        psi = before->o ? dihedral_angle(last->n, last->ca, last->c, *before->o) + std::numbers::pi
                        : draw(before->name, names.front(), random).second;
    }
    for (std::size_t n = 0; n < names.size(); ++n) {
        const bool cis = last && is_cis(names[n]);
        const auto [phi, next_psi] = draw(names[n], next_name(n), random);
        const Backbone at = last ? next_backbone(*last, psi, cis, phi) : first_backbone();
        built.residues.push_back(
            {names[n], at, attach(at.n, at.ca, at.c, kCO, kCaCO, next_psi + std::numbers::pi),
             cis});
        last = at;
        psi = next_psi;
    }
    if (behind) {
        built.is_cis_behind = is_cis(behind->name);
        const double phi = draw(behind->name, {}, random).first;
        built.behind = next_backbone(*last, psi, built.is_cis_behind, phi).frame() *
                       inverse(behind->backbone.frame());
    }
    return built;
}

}  // namespace pleat::refine
