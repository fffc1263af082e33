// Topology texts for tests: the same two small chains and a water as GRO, PSF and PRMTOP.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <vector>

namespace pleat::testing {

struct NamedAtom {
    const char *segment, *residue, *name, *element;
    int number;
    double mass;
};

/// Two residues, one residue and a water.
inline const std::vector<NamedAtom>& small_system() {
    static const std::vector<NamedAtom> kAtoms = {
        {"P1", "ALA", "N", "N", 1, 14.007},   {"P1", "ALA", "CA", "C", 1, 12.011},
        {"P1", "ALA", "C", "C", 1, 12.011},   {"P1", "HSE", "N", "N", 2, 14.007},
        {"P1", "HSE", "CA", "C", 2, 12.011},  {"P1", "HSE", "HA", "H", 2, 1.008},
        {"P1", "HSE", "C", "C", 2, 12.011},   {"P2", "LYS", "N", "N", 1, 14.007},
        {"P2", "LYS", "CA", "C", 1, 12.011},  {"P2", "LYS", "C", "C", 1, 12.011},
        {"W", "TIP3", "OH2", "O", 3, 15.999}, {"W", "TIP3", "H1", "H", 3, 1.008},
        {"W", "TIP3", "H2", "H", 3, 1.008}};
    return kAtoms;
}

/// Pairs of its bonded atoms, from 0.
inline const std::vector<std::array<int, 2>>& small_bonds() {
    static const std::vector<std::array<int, 2>> kBonds = {
        {0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {4, 6}, {7, 8}, {8, 9}, {10, 11}, {10, 12}};
    return kBonds;
}

template <class... Values>
std::string printed(const char* format, Values... values) {
    char line[256];
    std::snprintf(line, sizeof line, format, values...);
    return line;
}

/// A frame whose atom n stands at (n, n / 10, shift) in nanometre.
inline std::string gro_frame(double shift = 0, int decimals = 3, const char* box = "5 5 5") {
    std::string text = printed("made, t= 0.0\n%5zu\n", small_system().size());
    for (std::size_t n = 0; n < small_system().size(); ++n) {
        const NamedAtom& atom = small_system()[n];
        const double x = static_cast<double>(n);
        text += printed("%5d%-5s%5s%5zu%*.*f%*.*f%*.*f\n", atom.number, atom.residue, atom.name,
                        n + 1, decimals + 5, decimals, x, decimals + 5, decimals, x / 10,
                        decimals + 5, decimals, shift);
    }
    return text + box + "\n";
}

/// `layout`: the flags behind PSF; `line` prints number, segment, residue number, residue name,
/// name, type, charge and mass.
inline std::string psf_text(
    const std::string& layout = "",
    const char* line = "%8d %-4s %-4d %-4s %-4s %4s %10.6f     %9.4f           0\n") {
    std::string text = "PSF" + layout + "\n\n       1 !NTITLE\n REMARKS 2 !NATOM\n\n";
    text += printed("%8zu !NATOM\n", small_system().size());
    for (std::size_t n = 0; n < small_system().size(); ++n) {
        const NamedAtom& atom = small_system()[n];
        text += printed(line, static_cast<int>(n) + 1, atom.segment, atom.number, atom.residue,
                        atom.name, "T1", -0.5, atom.mass);
    }
    text += printed("\n%8zu !NBOND: bonds\n", small_bonds().size());
    for (std::size_t n = 0; n < small_bonds().size(); ++n) {
        text += printed("%8d%8d", small_bonds()[n][0] + 1, small_bonds()[n][1] + 1);
        if (n % 4 == 3) text += "\n";
    }
    return text + "\n\n       0 !NTHETA: angles\n\n";
}

/// `more`: sections behind the others.
inline std::string prmtop_text(const std::string& more = "") {
    std::string names, labels, first, masses, with_hydrogen, without;
    int residues = 0, hydrogens = 0, others = 0;
    const NamedAtom* previous = nullptr;
    for (std::size_t n = 0; n < small_system().size(); ++n) {
        const NamedAtom& atom = small_system()[n];
        names += printed("%-4s", atom.name);
        if (n % 20 == 19) names += "\n";
        masses += printed("%16.8E%s", atom.mass, n % 5 == 4 ? "\n" : "");
        if (previous == nullptr || std::string(previous->residue) != atom.residue) {
            ++residues;
            labels += printed("%-4s", atom.residue);
            first += printed("%8zu", n + 1);
        }
        previous = &atom;
    }
    for (const auto& [a, b] : small_bonds()) {
        const bool has_hydrogen = small_system()[static_cast<std::size_t>(b)].element[0] == 'H';
        int& count = has_hydrogen ? hydrogens : others;
        std::string& text = has_hydrogen ? with_hydrogen : without;
        for (const int value : {3 * a, 3 * b, 1}) {
            text += printed("%8d", value);
            if (text.size() % 81 == 80) text += "\n";
        }
        ++count;
    }
    std::string pointers;
    for (int n = 0; n < 31; ++n) {
        const int value = n == 0    ? static_cast<int>(small_system().size())
                          : n == 2  ? hydrogens
                          : n == 11 ? residues
                          : n == 12 ? others
                                    : 0;
        pointers += printed("%8d", value);
        if (n % 10 == 9) pointers += "\n";
    }
    const auto section = [](const char* flag, const char* format, const std::string& values) {
        return printed("%%FLAG %-74s\n%%FORMAT(%s)\n", flag, format) + values + "\n";
    };
    return "%VERSION  VERSION_STAMP = V0001.000  DATE = 01/01/26  00:00:00\n" +
           section("TITLE", "20a4", "made") + section("POINTERS", "10I8", pointers) +
           section("ATOM_NAME", "20a4", names) + section("MASS", "5E16.8", masses) +
           section("RESIDUE_LABEL", "20a4", labels) + section("RESIDUE_POINTER", "10I8", first) +
           section("BONDS_INC_HYDROGEN", "10I8", with_hydrogen) +
           section("BONDS_WITHOUT_HYDROGEN", "10I8", without) + more;
}

}  // namespace pleat::testing
