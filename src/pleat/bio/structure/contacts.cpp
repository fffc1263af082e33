// Contacts: picking the atoms of each residue and measuring between them.
#include "pleat/bio/structure/contacts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pleat/core/error.h"

namespace pleat {

namespace {

bool is_hydrogen(const Atom& atom) { return atom.element == "H" || atom.element == "D"; }

std::vector<Atom> measured_atoms(const Residue& residue, ContactAtoms atoms) {
    std::vector<Atom> picked;
    if (atoms == ContactAtoms::heavy) {
        std::copy_if(residue.atoms.begin(), residue.atoms.end(), std::back_inserter(picked),
                     [](const Atom& atom) { return !is_hydrogen(atom); });
        return picked;
    }
    const Atom* atom = nullptr;
    if (atoms == ContactAtoms::beta) {
        atom = residue.letter == 'G' ? nullptr : residue.find("CB");
        if (atom == nullptr) atom = residue.find("CA");
    } else {
        atom = residue.find("C1'");
        if (atom == nullptr) atom = residue.find("C1*");  // the name before 2007
    }
    if (atom != nullptr) picked.push_back(*atom);
    return picked;
}

double min_distance(const std::vector<Atom>& a, const std::vector<Atom>& b) {
    double squared = std::numeric_limits<double>::infinity();
    for (const Atom& p : a) {
        for (const Atom& q : b) {
            const double x = p.x - q.x;
            const double y = p.y - q.y;
            const double z = p.z - q.z;
            squared = std::min(squared, x * x + y * y + z * z);
        }
    }
    return std::sqrt(squared);
}

void check_kind(const Chain& chain, ContactAtoms atoms) {
    const bool protein = chain.kind == Chain::Kind::protein;
    if (atoms == ContactAtoms::beta && !protein) {
        throw UsageError(
            "expected contact atoms 'heavy' or 'sugar' for a nucleic acid, found 'cb'");
    }
    if (atoms == ContactAtoms::sugar && protein) {
        throw UsageError("expected contact atoms 'cb' or 'heavy' for a protein, found 'sugar'");
    }
}

}  // namespace

ContactDefinition ContactDefinition::standard(Chain::Kind kind) {
    return usual(kind == Chain::Kind::protein ? ContactAtoms::beta : ContactAtoms::heavy, kind);
}

ContactDefinition ContactDefinition::usual(ContactAtoms atoms, Chain::Kind kind) {
    switch (atoms) {
        case ContactAtoms::beta: return {atoms, 8.0};
        case ContactAtoms::sugar: return {atoms, 12.0};
        case ContactAtoms::heavy: break;
    }
    return {atoms, kind == Chain::Kind::protein ? 5.0 : 8.0};
}

std::span<const std::string_view> names_of(ContactAtoms) {
    static constexpr std::string_view kNames[] = {"cb", "heavy", "sugar"};
    return kNames;
}

std::string_view name_of(ContactAtoms atoms) {
    return names_of(atoms)[static_cast<std::size_t>(atoms)];
}

ContactAtoms parse_contact_atoms(std::string_view name) {
    for (const ContactAtoms atoms : {ContactAtoms::beta, ContactAtoms::heavy, ContactAtoms::sugar})
        if (name_of(atoms) == name) return atoms;
    throw UsageError(
        fmt::format("expected contact atoms 'cb', 'heavy' or 'sugar', found '{}'", name));
}

Array<double, 2> column_distances(const Chain& chain, const std::vector<Index>& residues,
                                  ContactAtoms atoms) {
    check_kind(chain, atoms);
    const auto columns = static_cast<Index>(residues.size());
    std::vector<std::vector<Atom>> picked(residues.size());
    for (std::size_t column = 0; column < residues.size(); ++column) {
        if (residues[column] < 0) continue;
        picked[column] =
            measured_atoms(chain.residues.at(static_cast<std::size_t>(residues[column])), atoms);
    }
    Array<double, 2> distances(columns, columns);
    distances.fill(std::numeric_limits<double>::quiet_NaN());
    for (Index i = 0; i < columns; ++i) {
        const std::vector<Atom>& a = picked[static_cast<std::size_t>(i)];
        if (a.empty()) continue;
        distances(i, i) = 0.0;
        for (Index j = i + 1; j < columns; ++j) {
            const std::vector<Atom>& b = picked[static_cast<std::size_t>(j)];
            if (b.empty()) continue;
            distances(i, j) = distances(j, i) = min_distance(a, b);
        }
    }
    return distances;
}

}  // namespace pleat
