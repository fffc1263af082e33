// Side chains: tables of internal coordinates and rotamers, and atoms placed one after the other.
#include "pleat/workflows/refine/chain/side_chains.h"

#include <algorithm>
#include <array>
#include <map>
#include <numbers>

namespace pleat::refine {

namespace {

/// An atom by its bond, the angle of that bond with the next one towards the backbone, and the
/// torsion about the latter, to which chi number `chi` is added (0: none). Angstrom, degrees.
struct PlacedAtom {
    std::string_view name, bonded_to;
    double bond, angle, torsion;
    std::size_t chi = 0;
};

struct Rotamer {
    double count;
    std::array<double, 5> chi;  ///< [number], of which 0 is none; degrees
};

struct SideChain {
    std::string_view residue;
    std::vector<Rotamer> rotamers;  ///< empty if there is one alone
    std::vector<PlacedAtom> atoms;  ///< behind CB, each behind the one that it is bonded to
};

// Bonds and angles: Engh and Huber, Acta Cryst. A47:392 (1991); CB by the means of a trypsin's
// residues (1ql9). Rotamers and their counts: the two or three most common of Lovell, Word,
// Richardson and Richardson, Proteins 40:389 (2000); proline's chi 2 closes its ring.
constexpr PlacedAtom kCb = {"CB", "CA", 1.53, 110.1, -121.7},
                     kProlineCb = {"CB", "CA", 1.53, 103.0, -118.0};

// clang-format off
const std::vector<SideChain>& side_chains() {
    static const std::vector<SideChain> kAll = {
        {"ALA", {}, {}},
        {"ARG", {{89, {0, -67, 180, 180, 180}}, {54, {0, -67, -167, -65, -85}}, {53, {0, -67, 180, 180, -85}}},
         {{"CG", "CB", 1.520, 114.1, 0, 1}, {"CD", "CG", 1.520, 111.3, 0, 2}, {"NE", "CD", 1.460, 112.0, 0, 3},
          {"CZ", "NE", 1.329, 124.2, 0, 4}, {"NH1", "CZ", 1.326, 120.0, 0}, {"NH2", "CZ", 1.326, 120.0, 180}}},
        {"ASN", {{580, {0, -65, -20}}, {228, {0, -177, 30}}, {177, {0, -174, -20}}},
         {{"CG", "CB", 1.516, 112.6, 0, 1}, {"OD1", "CG", 1.231, 120.8, 0, 2}, {"ND2", "CG", 1.328, 116.4, 180, 2}}},
        {"ASP", {{1088, {0, -70, -15}}, {438, {0, -177, 0}}, {203, {0, 62, -10}}},
         {{"CG", "CB", 1.516, 112.6, 0, 1}, {"OD1", "CG", 1.249, 118.4, 0, 2}, {"OD2", "CG", 1.249, 118.4, 180, 2}}},
        {"CYS", {{142, {0, -65}}, {74, {0, -177}}, {64, {0, 62}}}, {{"SG", "CB", 1.808, 114.4, 0, 1}}},
        {"GLN", {{304, {0, -67, 180, -25}}, {141, {0, -177, 180, 0}}, {127, {0, -65, -65, -40}}},
         {{"CG", "CB", 1.520, 114.1, 0, 1}, {"CD", "CG", 1.516, 112.6, 0, 2}, {"OE1", "CD", 1.231, 120.8, 0, 3},
          {"NE2", "CD", 1.328, 116.4, 180, 3}}},
        {"GLU", {{483, {0, -67, 180, -10}}, {351, {0, -177, 180, 0}}, {196, {0, -65, -65, -40}}},
         {{"CG", "CB", 1.520, 114.1, 0, 1}, {"CD", "CG", 1.516, 112.6, 0, 2}, {"OE1", "CD", 1.249, 118.4, 0, 3},
          {"OE2", "CD", 1.249, 118.4, 180, 3}}},
        {"HIS", {{174, {0, -65, -70}}, {94, {0, -177, 60}}, {78, {0, -65, 80}}},
         {{"CG", "CB", 1.497, 113.8, 0, 1}, {"ND1", "CG", 1.378, 122.7, 0, 2}, {"CD2", "CG", 1.354, 131.2, 180, 2},
          {"CE1", "ND1", 1.321, 109.0, 180}, {"NE2", "CD2", 1.374, 107.2, 180}}},
        {"ILE", {{993, {0, -65, 170}}, {242, {0, -57, -60}}, {216, {0, 62, 170}}},
         {{"CG1", "CB", 1.530, 110.4, 0, 1}, {"CG2", "CB", 1.521, 110.5, -122, 1}, {"CD1", "CG1", 1.513, 113.8, 0, 2}}},
        {"LEU", {{1548, {0, -65, 175}}, {750, {0, -177, 65}}},
         {{"CG", "CB", 1.530, 116.3, 0, 1}, {"CD1", "CG", 1.521, 110.7, 0, 2}, {"CD2", "CG", 1.521, 110.7, 122, 2}}},
        {"LYS", {{244, {0, -67, 180, 180, 180}}, {162, {0, -177, 180, 180, 180}}, {77, {0, -62, -68, 180, 180}}},
         {{"CG", "CB", 1.520, 114.1, 0, 1}, {"CD", "CG", 1.520, 111.3, 0, 2}, {"CE", "CD", 1.520, 111.3, 0, 3},
          {"NZ", "CE", 1.489, 111.9, 0, 4}}},
        {"MET", {{105, {0, -65, -65, -70}}, {92, {0, -67, 180, 75}}, {58, {0, -67, 180, -75}}},
         {{"CG", "CB", 1.520, 114.1, 0, 1}, {"SD", "CG", 1.803, 112.7, 0, 2}, {"CE", "SD", 1.791, 100.9, 0, 3}}},
        {"PHE", {{697, {0, -65, -85}}, {522, {0, -177, 80}}, {202, {0, 62, 90}}},
         {{"CG", "CB", 1.502, 113.8, 0, 1}, {"CD1", "CG", 1.384, 120.7, 0, 2}, {"CD2", "CG", 1.384, 120.7, 180, 2},
          {"CE1", "CD1", 1.382, 120.7, 180}, {"CE2", "CD2", 1.382, 120.7, 180}, {"CZ", "CE1", 1.382, 120.0, 0}}},
        {"PRO", {{379, {0, 28, -34}}, {372, {0, -28, 34}}},
         {{"CG", "CB", 1.492, 104.5, 0, 1}, {"CD", "CG", 1.503, 105.5, 0, 2}}},
        {"SER", {{1201, {0, 62}}, {714, {0, -65}}, {541, {0, -177}}}, {{"OG", "CB", 1.417, 111.1, 0, 1}}},
        {"THR", {{1200, {0, 62}}, {1062, {0, -65}}, {169, {0, -175}}},
         {{"OG1", "CB", 1.433, 109.6, 0, 1}, {"CG2", "CB", 1.521, 110.5, -120, 1}}},
        {"TRP", {{195, {0, -65, 95}}, {109, {0, -177, 90}}, {100, {0, -177, -105}}},
         {{"CG", "CB", 1.498, 113.6, 0, 1}, {"CD1", "CG", 1.365, 126.9, 0, 2}, {"CD2", "CG", 1.433, 126.8, 180, 2},
          {"NE1", "CD1", 1.374, 110.2, 180}, {"CE2", "CD2", 1.409, 107.2, 180}, {"CE3", "CD2", 1.398, 133.9, 0},
          {"CZ2", "CE2", 1.394, 122.4, 180}, {"CZ3", "CE3", 1.382, 118.6, 180}, {"CH2", "CZ2", 1.368, 117.5, 0}}},
        {"TYR", {{618, {0, -65, -85}}, {486, {0, -177, 80}}, {182, {0, 62, 90}}},
         {{"CG", "CB", 1.512, 113.9, 0, 1}, {"CD1", "CG", 1.389, 120.8, 0, 2}, {"CD2", "CG", 1.389, 120.8, 180, 2},
          {"CE1", "CD1", 1.382, 121.2, 180}, {"CE2", "CD2", 1.382, 121.2, 180}, {"CZ", "CE1", 1.378, 119.6, 0},
          {"OH", "CZ", 1.376, 119.9, 180}}},
        {"VAL", {{1931, {0, 175}}, {526, {0, -60}}, {169, {0, 63}}},
         {{"CG1", "CB", 1.521, 110.5, 0, 1}, {"CG2", "CB", 1.521, 110.5, 122, 1}}}};
    return kAll;
}
// clang-format on

std::array<double, 5> draw_rotamer(const std::vector<Rotamer>& rotamers, Random& random) {
    if (rotamers.empty()) return {};
    double sum = 0;
    for (const Rotamer& one : rotamers) sum += one.count;
    double left = random.uniform() * sum;
    std::size_t drawn = 0;
    while (drawn + 1 < rotamers.size() && left >= rotamers[drawn].count)
        left -= rotamers[drawn++].count;
    return rotamers[drawn].chi;
}

}  // namespace

Transform Backbone::frame() const {
    const Vector x = unit(ca - n), z = unit(cross(x, c - n)), y = cross(z, x);
    Transform frame;
    frame.rotation = {x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z};
    frame.shift = n;
    return frame;
}

std::vector<std::pair<std::string_view, Vector>> build_side_chain(std::string_view residue,
                                                                  const Backbone& backbone,
                                                                  Random& random) {
    constexpr double kDegree = std::numbers::pi / 180;
    const std::vector<SideChain>& known = side_chains();
    const auto of = std::find_if(known.begin(), known.end(),
                                 [&](const SideChain& one) { return one.residue == residue; });
    std::vector<std::pair<std::string_view, Vector>> built;
    if (of == known.end()) return built;
    const std::array<double, 5> chi = draw_rotamer(of->rotamers, random);
    // [atom]: the one that it is bonded to, and its position.
    std::map<std::string_view, std::pair<std::string_view, Vector>> placed = {
        {"CA", {"N", backbone.ca}}, {"N", {"C", backbone.n}}, {"C", {"", backbone.c}}};
    const auto place = [&](const PlacedAtom& atom) {
        const auto& [before, third] = placed.at(atom.bonded_to);
        const auto& [first_name, second] = placed.at(before);
        const Vector at =
            point_from_internal(placed.at(first_name).second, second, third, atom.bond,
                                atom.angle * kDegree, (atom.torsion + chi[atom.chi]) * kDegree);
        placed[atom.name] = {atom.bonded_to, at};
        built.emplace_back(atom.name, at);
    };
    place(residue == "PRO" ? kProlineCb : kCb);
    for (const PlacedAtom& atom : of->atoms) place(atom);
    return built;
}

}  // namespace pleat::refine
