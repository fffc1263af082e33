// Bead types: atoms of the amino acids, divided into backbone and side chain.
#include "pleat/saxs/model/bead_types.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "pleat/saxs/model/form_factors.h"

namespace pleat::saxs {

namespace {

/// The atoms of a residue within a chain at pH 7.
struct AminoAcid {
    std::string_view name;
    int carbons, hydrogens, nitrogens, oxygens, sulfurs;
    /// Hydrogens of N, CA and CB; fewer if there is none at N (PRO), or one at CB.
    int backbone_hydrogens = 4;

    double electrons() const {
        return carbons * net_electrons({"C", 0}) + hydrogens * net_electrons({"H", 0}) +
               nitrogens * net_electrons({"N", 0}) + oxygens * net_electrons({"O", 0}) +
               sulfurs * net_electrons({"S", 0});
    }
};

constexpr std::array<AminoAcid, 20> kAminoAcids = {{
    {"ALA", 3, 5, 1, 1, 0},     {"ARG", 6, 13, 4, 1, 0},   {"ASN", 4, 6, 2, 2, 0},
    {"ASP", 4, 4, 1, 3, 0},     {"CYS", 3, 5, 1, 1, 1},    {"GLN", 5, 8, 2, 2, 0},
    {"GLU", 5, 6, 1, 3, 0},     {"GLY", 2, 3, 1, 1, 0},    {"HIS", 6, 7, 3, 1, 0},
    {"ILE", 6, 11, 1, 1, 0, 3}, {"LEU", 6, 11, 1, 1, 0},   {"LYS", 6, 13, 2, 1, 0},
    {"MET", 5, 9, 1, 1, 1},     {"PHE", 9, 9, 1, 1, 0},    {"PRO", 5, 7, 1, 1, 0, 3},
    {"SER", 3, 5, 1, 2, 0},     {"THR", 4, 7, 1, 2, 0, 3}, {"TRP", 11, 10, 2, 1, 0},
    {"TYR", 9, 9, 1, 2, 0},     {"VAL", 5, 9, 1, 1, 0, 3},
}};

/// N, CA, C, O and CB.
double backbone_electrons(int hydrogens) {
    return AminoAcid{"BB", 3, hydrogens, 1, 1, 0}.electrons();
}

}  // namespace

std::vector<std::string> bead_types(Resolution resolution) {
    std::vector<std::string> types;
    if (resolution == Resolution::two_bead) types.emplace_back("BB");
    for (const AminoAcid& residue : kAminoAcids) types.emplace_back(residue.name);
    return types;
}

std::vector<double> complete_bead_electrons(Resolution resolution) {
    std::vector<double> electrons;
    const bool is_divided = resolution == Resolution::two_bead;
    if (is_divided) electrons.push_back(backbone_electrons(4));
    for (const AminoAcid& residue : kAminoAcids) {
        const bool has_side_chain = is_divided && residue.name != "ALA" && residue.name != "GLY";
        electrons.push_back(residue.electrons() -
                            (has_side_chain ? backbone_electrons(residue.backbone_hydrogens) : 0));
    }
    return electrons;
}

Index complete_residue_atoms(std::string_view residue_name) {
    const auto residue = std::find_if(kAminoAcids.begin(), kAminoAcids.end(),
                                      [&](const AminoAcid& a) { return a.name == residue_name; });
    if (residue == kAminoAcids.end())
        throw std::logic_error("not an amino acid: " + std::string(residue_name));
    return residue->carbons + residue->nitrogens + residue->oxygens + residue->sulfurs;
}

}  // namespace pleat::saxs
