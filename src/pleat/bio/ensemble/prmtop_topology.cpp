// PRMTOP topology: sections of fields of fixed width.
//
// A section consists of "%FLAG NAME", lines of "%COMMENT", "%FORMAT(20a4)" and lines of fields of
// this width (https://ambermd.org/FileFormats.php). POINTERS gives the number of fields.
#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "pleat/bio/ensemble/frame_formats.h"
#include "pleat/bio/structure/missing_names.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

/// Positions in POINTERS.
enum Pointer : std::size_t {
    kAtoms = 0,
    kBondsWithHydrogen = 2,
    kResidues = 11,
    kBondsWithoutHydrogen = 12
};

struct Section {
    Index line = 0;  // of %FLAG
    std::size_t per_line = 0, width = 0;
    bool may_be_blank = false;
    std::vector<std::string> fields;  // without blanks at their ends
};

/// Parses "%FORMAT(20a4)" into fields per line and field width; returns false for other text.
bool parse_format(std::string_view line, Section& section) {
    const std::size_t begin = line.find('('), end = line.find_first_of(".)");
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
        return false;
    const std::string_view text = trimmed(line.substr(begin + 1, end - begin - 1));
    const std::size_t letter = text.find_first_of("aAiIeEfF");
    if (letter == std::string_view::npos) return false;
    constexpr std::size_t kMaxWidth = 1000;
    return parse_number(text.substr(0, letter), section.per_line) &&
           parse_number(text.substr(letter + 1), section.width) && section.per_line > 0 &&
           section.width > 0 && section.per_line <= kMaxWidth && section.width <= kMaxWidth;
}

class PrmtopReader {
public:
    explicit PrmtopReader(ByteSource& source) : source_(source), name_(source.name()) {}

    Topology read() {
        read_sections();
        const std::vector<Index> pointers = integers("POINTERS", kNone);
        if (pointers.size() <= kBondsWithoutHydrogen || pointers[kAtoms] < 1 ||
            pointers[kResidues] < 1)
            fail("POINTERS", "expected the numbers of atoms and residues in POINTERS, found none");
        for (const Index number : pointers)
            if (number < 0 || number > kMaxNumber)
                fail("POINTERS", fmt::format("expected numbers from 0 to {} in POINTERS, found {}",
                                             kMaxNumber, number));
        atoms_ = pointers[kAtoms];
        residues_ = pointers[kResidues];
        topology_.source = name_;
        add_residues();
        add_atoms();
        add_bonds("BONDS_INC_HYDROGEN", pointers[kBondsWithHydrogen]);
        add_bonds("BONDS_WITHOUT_HYDROGEN", pointers[kBondsWithoutHydrogen]);
        topology_.has_all_bonds =
            has("BONDS_INC_HYDROGEN") && has("BONDS_WITHOUT_HYDROGEN") && !topology_.bonds.empty();
        add_elements();
        add_chains();
        return std::move(topology_);
    }

private:
    static constexpr Index kNone = -1, kMaxNumber = 10'000'000'000;

    [[noreturn]] void fail(const std::string& flag, const std::string& text) const {
        const auto at = sections_.find(flag);
        throw InputError(name_, at == sections_.end() ? 0 : at->second.line, text);
    }

    static bool is_wanted(std::string_view flag) {
        static const std::set<std::string_view> kFlags = {"POINTERS",
                                                          "ATOM_NAME",
                                                          "MASS",
                                                          "ATOMIC_NUMBER",
                                                          "RESIDUE_LABEL",
                                                          "RESIDUE_POINTER",
                                                          "RESIDUE_NUMBER",
                                                          "RESIDUE_CHAINID",
                                                          "RESIDUE_ICODE",
                                                          "BONDS_INC_HYDROGEN",
                                                          "BONDS_WITHOUT_HYDROGEN"};
        return kFlags.contains(flag);
    }

    void read_sections() {
        Section* section = nullptr;
        std::string_view line;
        while (source_.next(line)) {
            if (line.starts_with("%FLAG")) {
                const std::vector<std::string_view> all = words(line);
                section = nullptr;
                if (all.size() < 2 || !is_wanted(all[1])) continue;
                section = &sections_[std::string(all[1])];
                if (section->line > 0)
                    throw InputError(
                        name_, source_.line(),
                        fmt::format("expected each section once, found a second {}", all[1]));
                section->line = source_.line();
                section->may_be_blank = all[1] == "RESIDUE_CHAINID" || all[1] == "RESIDUE_ICODE";
            } else if (section != nullptr && line.starts_with("%FORMAT")) {
                if (!parse_format(line, *section))
                    throw InputError(
                        name_, source_.line(),
                        fmt::format("expected a format such as %FORMAT(20a4), found {}",
                                    in_quotes(line)));
            } else if (section != nullptr && !line.starts_with('%')) {
                add_fields(line, *section);
            }
        }
    }

    /// Chain names and insertion codes may be blank, so missing fields of a short line are blank.
    void add_fields(std::string_view line, Section& section) {
        if (section.width == 0)
            throw InputError(
                name_, source_.line(),
                fmt::format("expected %FORMAT before the values, found {}", in_quotes(line)));
        if (!is_printable_ascii(line))
            throw InputError(name_, source_.line(),
                             "expected printable ASCII, found other characters");
        source_.limit_pipe(std::ssize(section.fields), 5'000'000, "sections of at most {} values");
        const std::size_t filled =
            section.may_be_blank ? sections_["RESIDUE_LABEL"].fields.size() : 0;
        for (std::size_t n = 0; n < section.per_line; ++n) {
            const std::size_t at = n * section.width;
            if (at >= line.size() && section.fields.size() >= filled) break;
            section.fields.emplace_back(at < line.size() ? trimmed(line.substr(at, section.width))
                                                         : "");
        }
    }

    bool has(const std::string& flag) const { return sections_.count(flag) > 0; }

    /// Returns the fields of a section: the first `count`, including blank ones; with `count` kNone
    /// all that are not blank.
    const std::vector<std::string>& fields(const std::string& flag, Index count) {
        Section& section = sections_[flag];
        if (section.line == 0)
            throw InputError(name_, 0, fmt::format("expected a section {}, found none", flag));
        std::vector<std::string>& all = section.fields;
        if (count == kNone || std::ssize(all) < count) {
            while (!all.empty() && all.back().empty()) all.pop_back();
        } else {
            while (std::ssize(all) > count && all.back().empty()) all.pop_back();
        }
        if (count != kNone && std::ssize(all) != count)
            fail(flag, fmt::format("expected {} values in {}, found {}", count, flag, all.size()));
        return all;
    }

    template <class Number>
    std::vector<Number> numbers(const std::string& flag, Index count) {
        std::vector<Number> all;
        for (const std::string& field : fields(flag, count)) {
            Number value{};
            if (!parse_number(field, value))
                fail(flag, fmt::format("expected numbers in {}, found {} as value {}", flag,
                                       in_quotes(field), all.size() + 1));
            all.push_back(value);
        }
        return all;
    }

    std::vector<Index> integers(const std::string& flag, Index count) {
        return numbers<Index>(flag, count);
    }

    void add_residues() {
        const std::vector<std::string>& names = fields("RESIDUE_LABEL", residues_);
        const bool has_numbers = has("RESIDUE_NUMBER");
        const std::vector<int> given =
            has_numbers ? numbers<int>("RESIDUE_NUMBER", residues_) : std::vector<int>();
        const bool has_codes = has("RESIDUE_ICODE");
        for (Index r = 0; r < residues_; ++r) {
            const int number = has_numbers ? given[r] : static_cast<int>(r + 1);
            Topology::Residue residue{names[r], number, ' ', {}};
            if (has_codes)
                if (const std::string& code = fields("RESIDUE_ICODE", residues_)[r]; !code.empty())
                    residue.insertion = code[0];
            topology_.residues.push_back(std::move(residue));
        }
    }

    void add_atoms() {
        std::vector<Index> starts = integers("RESIDUE_POINTER", residues_);
        starts.push_back(atoms_ + 1);
        for (std::size_t r = 0; r + 1 < starts.size(); ++r)
            if (starts[r] >= starts[r + 1] || starts.front() != 1)
                fail("RESIDUE_POINTER",
                     fmt::format("expected first atoms of residues that rise from 1 to at most {}, "
                                 "found {} and {}",
                                 atoms_, starts[r], starts[r + 1]));
        Index residue = 0;
        for (const std::string& name : fields("ATOM_NAME", atoms_)) {
            const Index number = topology_.atom_count() + 1;
            if (name.empty())
                fail("ATOM_NAME", fmt::format("expected a name for each atom, found none for atom "
                                              "{}",
                                              number));
            if (number >= starts[residue + 1]) ++residue;
            topology_.atoms.push_back({name, "X", 0, residue});
        }
    }

    /// A bond is three numbers: two atoms, each as three times its index, and the bond type.
    void add_bonds(const std::string& flag, Index count) {
        if (!has(flag)) return;
        const std::vector<Index> values = integers(flag, 3 * count);
        for (std::size_t n = 0; n < values.size(); n += 3) {
            const Index a = values[n], b = values[n + 1];
            for (const Index value : {a, b})
                if (value < 0 || value % 3 != 0 || value / 3 >= atoms_)
                    fail(flag, fmt::format("expected multiples of 3 below {} in {}, found {}",
                                           3 * atoms_, flag, value));
            if (a != b) topology_.bonds.push_back({a / 3, b / 3});
        }
    }

    void add_elements() {
        const std::vector<double> masses =
            has("MASS") ? numbers<double>("MASS", atoms_) : std::vector<double>();
        for (const double mass : masses)
            if (!(mass >= 0 && mass < 1e6))
                fail("MASS", fmt::format("expected masses of at least 0, found {}", mass));
        guess_elements(topology_, masses);
        if (!has("ATOMIC_NUMBER")) return;
        const std::vector<int> known = numbers<int>("ATOMIC_NUMBER", atoms_);
        for (std::size_t i = 0; i < known.size(); ++i) {
            Topology::Atom& atom = topology_.atoms[i];
            if (known[i] < 0) continue;  // not known
            atom.element = element_symbol(known[i]);
            atom.mass = atom.element != "X" ? element_mass(atom.element)
                        : masses.empty()    ? 0
                                            : masses[i];
        }
    }

    void add_chains() {
        bool has_names = false;
        if (has("RESIDUE_CHAINID")) {
            const std::vector<std::string>& chains = fields("RESIDUE_CHAINID", residues_);
            for (std::size_t r = 0; r < chains.size(); ++r) {
                if (chains[r] == "*") continue;  // of residues that were added to the structure
                topology_.residues[r].chain = chains[r];
                has_names |= !chains[r].empty();
            }
        }
        if (!has_names) name_chains(topology_);
    }

    ByteSource& source_;
    const std::string name_;
    std::map<std::string, Section> sections_;
    Index atoms_ = 0, residues_ = 0;
    Topology topology_;
};

}  // namespace

/// The atoms and the bonds of a PRMTOP file of AMBER 7 or later. Residues have the numbers,
/// chains and insertion codes of RESIDUE_NUMBER, RESIDUE_CHAINID and RESIDUE_ICODE if the file has
/// them; otherwise they count from 1, and chains are made up (missing_names.h). Throws InputError
/// that names the file and, if possible, the line.
FrameFormat prmtop_format() {
    return {"PRMTOP", "",
            [](ByteReader& bytes) {
                return has_magic(bytes, 0, "%VERSION") || has_magic(bytes, 0, "%FLAG");
            },
            nullptr, [](ByteSource& source) { return PrmtopReader(source).read(); }};
}

}  // namespace pleat
