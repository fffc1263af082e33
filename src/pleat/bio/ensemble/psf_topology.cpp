// PSF topology: fixed columns or words of atoms, and pairs of bonded atoms.
//
// The first line begins with PSF and names the layout: EXT has wider columns, NAMD has words.
// Sections follow, each behind a line such as "  3341 !NATOM". CHARMM's documentation (struct.info)
// has the columns; programs other than CHARMM keep them up to the atom's name only, so that words
// are read behind it.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/frame_formats.h"
#include "pleat/bio/structure/missing_names.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

/// First columns of segment, residue number, residue name, atom name and the remaining fields, each
/// after a blank.
using Columns = std::array<std::size_t, 5>;
constexpr Columns kStandard = {9, 14, 19, 24, 29}, kExtended = {11, 20, 29, 38, 47};

struct PsfAtom {
    std::string segment, residue_name, name;
    int number = 0;
    char insertion = ' ';
    double mass = 0;
};

/// 52A is residue 52 with insertion code A.
bool parse_residue(std::string_view text, PsfAtom& atom) {
    if (text.empty()) return false;
    const char last = text.back();
    const bool has_code = (last >= 'A' && last <= 'Z') || (last >= 'a' && last <= 'z');
    atom.insertion = has_code ? last : ' ';
    if (has_code) text.remove_suffix(1);
    return parse_number(text, atom.number);
}

bool parse_names(std::string_view segment, std::string_view number, std::string_view residue,
                 std::string_view name, PsfAtom& atom) {
    atom.segment = std::string(segment);
    atom.residue_name = std::string(residue);
    atom.name = std::string(name);
    return !name.empty() && parse_residue(number, atom);
}

bool parse_mass(const std::vector<std::string_view>& from_type, PsfAtom& atom) {
    double charge = 0;
    return from_type.size() >= 3 && parse_number(from_type[1], charge) &&
           parse_number(from_type[2], atom.mass) && std::isfinite(charge) &&
           std::isfinite(atom.mass) && atom.mass >= 0;
}

bool parse_columns(std::string_view line, const Columns& first, PsfAtom& atom) {
    if (line.size() <= first[4]) return false;
    for (const std::size_t column : first)
        if (line[column - 1] != ' ') return false;
    const auto field = [&](std::size_t n) {
        return trimmed(line.substr(first[n], first[n + 1] - first[n]));
    };
    Index serial = 0;
    return parse_number(trimmed(line.substr(0, first[0])), serial) &&
           parse_names(field(0), field(1), field(2), field(3), atom) &&
           parse_mass(words(line.substr(first[4])), atom);
}

/// Number, segment, residue number, residue name, name, type, charge, mass.
bool parse_words(std::string_view line, PsfAtom& atom) {
    const std::vector<std::string_view> all = words(line);
    return all.size() >= 8 && parse_names(all[1], all[2], all[3], all[4], atom) &&
           parse_mass({all.begin() + 5, all.end()}, atom);
}

constexpr Index kMaxCount = 10'000'000'000;  // of the lines of a section

class PsfReader {
public:
    explicit PsfReader(ByteSource& source) : source_(source), complaints_(source.name()) {}

    Topology read() {
        read_layout();
        topology_.source = source_.name();
        topology_.has_chain_names = false;
        read_atoms();
        guess_elements(topology_, masses_);
        read_bonds();
        return std::move(topology_);
    }

private:
    void read_layout() {
        next_line("a PSF header");
        for (const std::string_view word : words(line_)) {
            if (word == "EXT") columns_ = kExtended;
            if (word == "NAMD") has_words_ = true;
        }
    }

    void next_line(const std::string& expected) {
        if (source_.next(line_)) return;
        throw InputError(
            source_.name(), source_.line(),
            fmt::format("expected {}, found the end of the file (cut short)", expected));
    }

    /// Moves to the line after the heading of a section; returns false at the end of the file.
    bool find_section(std::string_view name, Index& count) {
        while (source_.next(line_)) {
            const std::vector<std::string_view> all = words(line_, " \t:");
            if (all.size() < 2 || all[1].front() != '!') continue;
            if (!parse_number(all[0], count) || count < 0 || count > kMaxCount)
                throw InputError(source_.name(), source_.line(),
                                 fmt::format("expected a number before {}, found {}",
                                             in_quotes(all[1]), in_quotes(all[0])));
            if (all[1] == name) return true;
            if (all[1] != "!NTITLE") continue;
            for (Index n = 0; n < count; ++n) next_line("titles");
        }
        return false;
    }

    void read_atoms() {
        Index count = 0;
        if (!find_section("!NATOM", count) || count == 0)
            throw InputError(source_.name(), 0, "expected a section NATOM with atoms, found none");
        source_.limit_pipe(count, 500'000, "at most {} atoms", std::to_string(count));
        const std::string expected = fmt::format("{} atoms", count);
        for (Index n = 0; n < count; ++n) {
            next_line(expected);
            PsfAtom atom;
            if (!is_printable_ascii(line_) ||
                !((!has_words_ && parse_columns(line_, columns_, atom)) ||
                  parse_words(line_, atom))) {
                complaints_.add(source_.line(),
                                fmt::format("expected an atom (number, segment, residue number, "
                                            "residue name, name, type, charge, mass), found {}",
                                            in_quotes(line_)));
                continue;
            }
            add(atom);
        }
        complaints_.throw_if_any();
    }

    void add(const PsfAtom& atom) {
        std::vector<Topology::Residue>& residues = topology_.residues;
        if (residues.empty() || residues.back().number != atom.number ||
            residues.back().insertion != atom.insertion ||
            residues.back().name != atom.residue_name || residues.back().chain != atom.segment)
            residues.push_back(
                {atom.residue_name, atom.number, atom.insertion, atom.segment, atom.segment});
        topology_.atoms.push_back({atom.name, "X", 0, std::ssize(residues) - 1});
        masses_.push_back(atom.mass);
    }

    void read_bonds() {
        Index count = 0;
        if (!find_section("!NBOND", count)) return;
        const std::string expected = fmt::format("{} bonds", count);
        std::vector<Index> atoms;
        while (std::ssize(atoms) < 2 * count) {
            next_line(expected);
            for (const std::string_view word : words(line_)) {
                Index atom = 0;
                if (!parse_number(word, atom) || atom < 1 || atom > topology_.atom_count())
                    throw InputError(source_.name(), source_.line(),
                                     fmt::format("expected atoms from 1 to {} in the {} bonds, "
                                                 "found {}",
                                                 topology_.atom_count(), count, in_quotes(word)));
                atoms.push_back(atom - 1);
            }
        }
        if (std::ssize(atoms) > 2 * count)
            throw InputError(source_.name(), source_.line(),
                             fmt::format("expected {} bonds, found more", count));
        for (std::size_t n = 0; n < atoms.size(); n += 2)
            if (atoms[n] != atoms[n + 1]) topology_.bonds.push_back({atoms[n], atoms[n + 1]});
        topology_.has_all_bonds = !topology_.bonds.empty();
    }

    ByteSource& source_;
    Complaints complaints_;
    std::string_view line_;
    Columns columns_ = kStandard;
    bool has_words_ = false;
    Topology topology_;
    std::vector<double> masses_;  // [atom]
};

}  // namespace

/// The atoms and the bonds of a PSF file: standard columns, EXT, both also with types in
/// letters (XPLOR), and the words of NAMD. Chains are the segments. Elements are guessed from names
/// and masses. Throws InputError that names file and line.
FrameFormat psf_format() {
    return {"PSF", "",
            [](ByteReader& bytes) {
                return has_magic(bytes, 0, "PSF") && bytes.peek(4).size() > 3 &&
                       static_cast<unsigned char>(bytes.peek(4)[3]) <= ' ';
            },
            nullptr, [](ByteSource& source) { return PsfReader(source).read(); }};
}

}  // namespace pleat
