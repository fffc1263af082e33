// Hydrogens: tables of amino acids and nucleotides, and valences for all else.
#include "pleat/saxs/model/hydrogens.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "pleat/bio/scattering/scattering_factors.h"
#include "pleat/bio/selection/residue_kinds.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {

namespace {

using AtomCounts = std::map<std::string, int, std::less<>>;

/// Parses "CB3 CG1.2": names with numbers of hydrogens; a dot follows names that end in a digit.
AtomCounts parse_counts(std::string_view text) {
    AtomCounts counts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        std::string name(text.substr(0, end - 1));
        if (name.ends_with('.')) name.pop_back();
        counts[name] = text[end - 1] - '0';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return counts;
}

constexpr std::string_view kSugar = " C5'2 C4'1 C3'1 C2'1 O2'1 C1'1";
constexpr std::string_view kDeoxySugar = " C5'2 C4'1 C3'1 C2'2 C1'1";

/// The hydrogens on atoms of amino acids and nucleotides; all other atoms of these residues have
/// none.
const std::map<std::string, AtomCounts, std::less<>>& standard_residues() {
    static const auto kTable = [] {
        const std::array<std::pair<const char*, const char*>, 21> amino = {{
            {"ALA", "CB3"},
            {"ARG", "CB2 CG2 CD2 NE1 NH1.2 NH2.2"},
            {"ASN", "CB2 ND2.2"},
            {"ASP", "CB2"},
            {"CYS", "CB2 SG1"},
            {"GLN", "CB2 CG2 NE2.2"},
            {"GLU", "CB2 CG2"},
            {"GLY", "CA2"},
            {"HIS", "CB2 ND1.1 CD2.1 CE1.1"},
            {"ILE", "CB1 CG1.2 CG2.3 CD1.3 CD3"},
            {"LEU", "CB2 CG1 CD1.3 CD2.3"},
            {"LYS", "CB2 CG2 CD2 CE2 NZ3"},
            {"MET", "CB2 CG2 CE3"},
            {"MSE", "CB2 CG2 CE3"},
            {"PHE", "CB2 CD1.1 CD2.1 CE1.1 CE2.1 CZ1"},
            {"PRO", "N0 CB2 CG2 CD2"},
            {"SER", "CB2 OG1"},
            {"THR", "CB1 OG1.1 CG2.3"},
            {"TRP", "CB2 CD1.1 NE1.1 CE3.1 CZ2.1 CZ3.1 CH2.1"},
            {"TYR", "CB2 CD1.1 CD2.1 CE1.1 CE2.1 OH1"},
            {"VAL", "CB1 CG1.3 CG2.3"},
        }};
        const std::array<std::pair<const char*, const char*>, 5> bases = {{
            {"A", "C8.1 C2.1 N6.2"},
            {"G", "C8.1 N1.1 N2.2"},
            {"C", "N4.2 C5.1 C6.1"},
            {"U", "N3.1 C5.1 C6.1"},
            {"T", "N3.1 C7.3 C5M3 C6.1"},
        }};
        std::map<std::string, AtomCounts, std::less<>> table;
        for (const auto& [name, text] : amino) {
            table[name] = parse_counts(text);
            table[name].insert({"N", 1});
            table[name].insert({"CA", 1});
        }
        for (const auto& [name, text] : bases) {
            table[name] = parse_counts(std::string(text) + std::string(kSugar));
            table["D" + std::string(name)] =
                parse_counts(std::string(text) + std::string(kDeoxySugar));
        }
        table["HOH"] = {{"O", 2}, {"OW", 2}, {"OH2", 2}};
        return table;
    }();
    return kTable;
}

/// Converts the atom names of older files: C5* becomes C5'.
std::string primed(std::string name) {
    std::replace(name.begin(), name.end(), '*', '\'');
    return name;
}

/// Order of a bond by its length in angstrom: 1, 1.5 (aromatic and delocalised), 2 or 3. Lengths
/// are those half-way between the usual ones (Allen et al., J. Chem. Soc. Perkin Trans. 2, S1,
/// 1987).
double bond_order(const std::string& a, const std::string& b, double length) {
    struct Limits {
        const char* pair;
        double triple, twofold, aromatic;
    };
    static constexpr Limits kLimits[] = {{"CC", 1.25, 1.36, 1.44}, {"CN", 1.20, 1.30, 1.40},
                                         {"CO", 1.10, 1.24, 1.29}, {"NN", 1.15, 1.28, 1.36},
                                         {"NO", 1.05, 1.25, 1.30}, {"OP", 0.00, 1.55, 0.00},
                                         {"OS", 0.00, 1.50, 0.00}, {"CS", 0.00, 1.68, 1.74}};
    const std::string pair = a < b ? a + b : b + a;
    for (const Limits& limits : kLimits) {
        if (pair != limits.pair) continue;
        if (length < limits.triple) return 3;
        if (length < limits.twofold) return 2;
        if (length < limits.aromatic) return 1.5;
    }
    return 1;
}

int valence(const std::string& element) {
    if (element == "C" || element == "Si") return 4;
    if (element == "N") return 3;
    if (element == "O" || element == "S" || element == "Se") return 2;
    return 0;
}

/// A residue that is in no table: atoms [first, last) of a structure, to which neighbouring
/// residues may bond.
class OtherResidue {
public:
    OtherResidue(const Topology& topology, View<const float, 2> xyz, Index first, Index last)
        : topology_(topology), xyz_(xyz), first_(first), last_(last) {}

    void count(std::vector<int>& hydrogens) const {
        bool any = false;
        for (Index i = first_; i < last_; ++i) any = any || is_hydrogen(element(i));
        for (Index i = first_; i < last_; ++i) {
            if (any && is_hydrogen(element(i))) {
                const Index owner = nearest_heavy_atom(topology_, xyz_, i, first_, last_);
                if (owner >= 0) ++hydrogens[owner];
            } else if (!any) {
                hydrogens[i] = by_valence(i);
            }
        }
    }

private:
    const std::string& element(Index atom) const { return topology_.atoms[atom].element; }
    int by_valence(Index atom) const {
        const int all = valence(element(atom));
        if (all == 0) return 0;
        double used = 0;
        int bonds = 0;
        // A ligand may be linked to any atom of the structure (a glycan to its protein), so all are
        // searched; ligands have few atoms.
        for (Index j = 0; j < topology_.atom_count(); ++j) {
            constexpr float kLongest = 4;  // angstrom, of any bond
            if (std::abs(xyz_(0, j) - xyz_(0, atom)) > kLongest) continue;
            if (j == atom || is_hydrogen(element(j))) continue;
            const double length = distance(xyz_, atom, j);
            if (length > covalent_radius(element(atom)) + covalent_radius(element(j)) + 0.25)
                continue;
            ++bonds;
            // Metals are bound by lone pairs, which need no valence.
            const bool bonds_covalently = valence(element(j)) > 0 || element(j) == "P";
            used += bonds_covalently ? bond_order(element(atom), element(j), length) : 0;
        }
        if (bonds == 0 && element(atom) != "O") return 0;  // an ion, not methane
        // The nitrogen of an amide shares half of the double bond and keeps its hydrogen.
        if (element(atom) == "N") used = std::floor(used);
        return std::max(0, static_cast<int>(std::lround(all - used - 0.25)));
    }

    const Topology& topology_;
    const View<const float, 2> xyz_;
    const Index first_, last_;
};

void free_disulfides(const Topology& topology, View<const float, 2> xyz,
                     std::vector<int>& hydrogens) {
    constexpr double kMaxLength = 2.5;
    std::vector<Index> sulfurs;
    for (Index i = 0; i < topology.atom_count(); ++i) {
        if (topology.atoms[i].name == "SG") sulfurs.push_back(i);
    }
    for (const Index i : sulfurs) {
        for (const Index j : sulfurs) {
            if (i != j && distance(xyz, i, j) < kMaxLength) hydrogens[i] = 0;
        }
    }
}

/// Adds the hydrogens at the ends of chains.
class ChainEnds {
public:
    ChainEnds(const Topology& topology, View<const float, 2> xyz, std::vector<int>& hydrogens)
        : topology_(topology),
          xyz_(xyz),
          kinds_(selection::residue_kinds(topology)),
          hydrogens_(hydrogens) {}

    void add() {
        using selection::ResidueKind;
        for (Index i = 0; i < topology_.atom_count(); ++i) {
            const Topology::Atom& one = atom(i);
            const Index r = one.residue;
            const std::string name = primed(one.name);
            if (kind(r) == ResidueKind::protein && name == "N" && follows(r, r - 1) &&
                is_in_tables(r) && !has_bond(i, "C"))
                set(i, hydrogens_[i] + 2);
            if (kind(r) == ResidueKind::nucleic && !has_bond(i, "P") &&
                ((name == "O5'" && follows(r, r - 1)) || (name == "O3'" && follows(r + 1, r))))
                set(i, 1);
        }
    }

private:
    const Topology::Atom& atom(Index i) const { return topology_.atoms[i]; }
    bool is_in_tables(Index r) const {
        const std::string& name = topology_.residues[r].name;
        return standard_residues().contains(common_residue_name(name));
    }
    selection::ResidueKind kind(Index r) const { return kinds_[r]; }
    /// Whether another chain begins with residue `r`, behind residue `before`.
    bool follows(Index r, Index before) const {
        if (before < 0 || r == std::ssize(kinds_) || kind(r) != kind(before)) return true;
        const auto& one = topology_.residues[r];
        const auto& last = topology_.residues[before];
        return one.chain != last.chain || one.number < last.number;
    }
    /// Whether an atom of this element in another residue is bonded to this one.
    bool has_bond(Index i, std::string_view element) const {
        constexpr double kLongest = 2.0;
        for (Index j = 0; j < topology_.atom_count(); ++j)
            if (atom(j).residue != atom(i).residue && atom(j).element == element &&
                std::abs(xyz_(0, i) - xyz_(0, j)) < kLongest && distance(xyz_, i, j) < kLongest)
                return true;
        // A nucleotide's phosphate belongs to its own residue.
        for (Index j = i; j-- > 0 && atom(j).residue == atom(i).residue;)
            if (element == "P" && atom(j).element == "P" && distance(xyz_, i, j) < kLongest)
                return true;
        return false;
    }
    /// Uses the file's number of hydrogens at this atom, if it lists any in the residue.
    void set(Index i, int usual) {
        int listed = 0;
        bool any = false;
        for (const int step : {-1, 1})
            for (Index j = i + step;
                 j >= 0 && j < topology_.atom_count() && atom(j).residue == atom(i).residue;
                 j += step) {
                if (!is_hydrogen(atom(j).element)) continue;
                any = true;
                listed += distance(xyz_, i, j) < 1.3;
            }
        hydrogens_[i] = any ? listed : usual;
    }

    const Topology& topology_;
    const View<const float, 2> xyz_;
    const std::vector<selection::ResidueKind> kinds_;
    std::vector<int>& hydrogens_;
};

/// The hydrogen table of a residue; null if there is none.
const AtomCounts* counts_of(const std::string& name, bool is_deoxy) {
    if (selection::is_water(name)) return &standard_residues().at("HOH");
    std::string common(common_residue_name(name));
    static const std::string_view kBases = "ACGUT";
    if (common.size() == 2 && common[0] == 'D') common.erase(0, 1);
    const bool is_base = common.size() == 1 && kBases.find(common) != std::string_view::npos;
    const auto known = standard_residues().find(is_base && is_deoxy ? "D" + common : common);
    return known == standard_residues().end() ? nullptr : &known->second;
}

}  // namespace

Index nearest_heavy_atom(const Topology& topology, View<const float, 2> xyz, Index hydrogen,
                         Index first, Index last) {
    double smallest = 1.3;
    Index match = -1;
    for (Index j = first; j < last; ++j) {
        if (is_hydrogen(topology.atoms[j].element)) continue;
        const double length = distance(xyz, hydrogen, j);
        if (length >= smallest) continue;
        smallest = length;
        match = j;
    }
    return match;
}

std::string_view common_residue_name(std::string_view name) {
    static const std::map<std::string_view, std::string_view> kNames = {
        {"HSD", "HIS"}, {"HSE", "HIS"}, {"HSP", "HIS"}, {"HID", "HIS"}, {"HIE", "HIS"},
        {"HIP", "HIS"}, {"CYX", "CYS"}, {"CYM", "CYS"}, {"ASH", "ASP"}, {"GLH", "GLU"},
        {"LYN", "LYS"}, {"ADE", "A"},   {"GUA", "G"},   {"CYT", "C"},   {"URA", "U"},
        {"URI", "U"},   {"THY", "DT"},  {"RA", "A"},    {"RG", "G"},    {"RC", "C"},
        {"RU", "U"},    {"DA5", "DA"},  {"DA3", "DA"},  {"DG5", "DG"},  {"DG3", "DG"},
        {"DC5", "DC"},  {"DC3", "DC"},  {"DT5", "DT"},  {"DT3", "DT"},  {"A5", "A"},
        {"A3", "A"},    {"G5", "G"},    {"G3", "G"},    {"C5", "C"},    {"C3", "C"},
        {"U5", "U"},    {"U3", "U"},    {"RA5", "A"},   {"RA3", "A"},   {"RG5", "G"},
        {"RG3", "G"},   {"RC5", "C"},   {"RC3", "C"},   {"RU5", "U"},   {"RU3", "U"}};
    const auto match = kNames.find(name);
    return match != kNames.end() ? match->second : name;
}

std::vector<int> implicit_hydrogens(const Topology& topology, View<const float, 2> xyz,
                                    bool with_chain_ends) {
    const Index count = topology.atom_count();
    std::vector<int> hydrogens(count, 0);
    const std::vector<std::uint8_t> deoxy = selection::are_deoxy(topology);
    Index first = 0;
    while (first < count) {
        const Index residue = topology.atoms[first].residue;
        Index last = first;
        while (last < count && topology.atoms[last].residue == residue) ++last;
        const AtomCounts* const known =
            counts_of(topology.residues[residue].name, deoxy[residue] != 0);
        if (known == nullptr) {
            OtherResidue(topology, xyz, first, last).count(hydrogens);
        } else {
            for (Index i = first; i < last; ++i) {
                const auto& atom = topology.atoms[i];
                const auto match = known->find(primed(atom.name));
                if (match != known->end() && !is_hydrogen(atom.element))
                    hydrogens[i] = match->second;
            }
        }
        first = last;
    }
    free_disulfides(topology, xyz, hydrogens);
    if (with_chain_ends) ChainEnds(topology, xyz, hydrogens).add();
    return hydrogens;
}

}  // namespace pleat::saxs
