// MOL2 records: molecules of Tripos' format as their records of sections.
//
// A record begins with "@<TRIPOS>MOLECULE", a name and a line with the numbers of atoms and bonds;
// the sections ATOM (number, name, x, y, z, SYBYL type, number and name of the residue) and BOND
// (number, two atoms, type) follow. Others are passed over.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/ensemble/sdf_frames.h"
#include "pleat/bio/input/byte_reader.h"
#include "pleat/bio/input/text_fields.h"
#include "pleat/bio/structure/topology_gemmi.h"

namespace pleat {

namespace {

constexpr std::string_view kMark = "@<TRIPOS>";

/// The element of a SYBYL type ("C.ar", "Cl"); a lone pair (LP) or a dummy (Du) is none. AMBER's
/// types begin with the letter of their element ("OS", "ca").
std::string element_of_type(std::string_view type) {
    type = type.substr(0, type.find('.'));
    std::string element = element_symbol(std::string(type));
    if (element == type || type == "Du" || type == "LP") return element == type ? element : "X";
    element = type.substr(0, 2);
    for (char& c : element) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    element[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(element[0])));
    if (element == "Cl" || element == "Br") return element;
    constexpr std::string_view kLetters = "HCNOPSFI";
    return kLetters.find(element[0]) != std::string_view::npos ? element.substr(0, 1) : "X";
}

class Mol2Reader {
public:
    Mol2Reader(ByteSource& source, Index number) : source_(source), number_(number) {}

    bool read(MoleculeRecord& record) {
        record = {};
        std::string_view line;
        do {
            if (!source_.next(line)) return false;
        } while (!line.starts_with("@<TRIPOS>MOLECULE"));
        if (!source_.next(line)) refuse_end("the name of a molecule");
        const std::vector<std::string_view> counts = words(next_line("numbers of atoms and bonds"));
        Index atoms = 0, bonds = 0;
        if (counts.empty() || !parse_number(counts[0], atoms) || atoms < 1 ||
            (counts.size() > 1 && !parse_number(counts[1], bonds)) || bonds < 0)
            refuse(
                "expected the numbers of atoms and bonds in the second line of a molecule, "
                "found others");
        while (source_.next(line)) {
            const std::string_view text = trimmed(line);
            if (text == "@<TRIPOS>MOLECULE") {
                source_.hold();
                break;
            }
            if (text == "@<TRIPOS>ATOM" && record.elements.empty())
                for (Index n = 0; n < atoms; ++n) read_atom(record);
            if (text == "@<TRIPOS>BOND" && record.bonds.empty())
                for (Index n = 0; n < bonds; ++n) read_bond(record, atoms);
        }
        if (record.elements.empty()) refuse_end("atoms");
        return true;
    }

private:
    [[noreturn]] void refuse(const std::string& text) const {
        const std::string in_frame = fmt::format("frame {}: {}", number_, text);
        throw InputError(source_.name(), source_.line(), in_frame);
    }

    [[noreturn]] void refuse_end(std::string_view expected) const {
        throw CutShort(source_.name(), source_.line(),
                       fmt::format("frame {}: expected {}, found the end of the molecule (cut "
                                   "short)",
                                   number_, expected));
    }

    /// The next line with text, which belongs to the section.
    std::string_view next_line(std::string_view expected) {
        std::string_view line;
        do {
            if (!source_.next(line) || line.starts_with(kMark)) refuse_end(expected);
        } while (is_blank(line) || line.starts_with('#'));
        return line;
    }

    void read_atom(MoleculeRecord& record) {
        const std::string_view line = next_line("an atom");
        const std::vector<std::string_view> fields = words(line);
        std::array<float, 3> xyz{};
        bool is_read = fields.size() >= 6 && is_printable_ascii(fields[1]);
        for (std::size_t axis = 0; axis < 3 && is_read; ++axis)
            is_read = parse_number(fields[axis + 2], xyz[axis]);
        if (!is_read)
            refuse(fmt::format("expected an atom (number, name, x, y, z, type), found {}",
                               in_quotes(line)));
        record.names.emplace_back(fields[1]);
        record.elements.push_back(element_of_type(fields[5]));
        record.xyz.push_back(xyz);
        Topology::Residue residue{"LIG", 1, ' ', ""};
        if (fields.size() > 6) parse_number(fields[6], residue.number);
        if (fields.size() > 7) set_residue_name(fields[7], residue);
        record.residues.push_back(std::move(residue));
    }

    /// "ALA12" is residue 12, ALA; other programs write names alone.
    static void set_residue_name(std::string_view text, Topology::Residue& residue) {
        const std::size_t end = text.find_last_not_of("0123456789") + 1;
        const bool has_number = end >= 2 && end < text.size();
        if (has_number && parse_number(text.substr(end), residue.number))
            text = text.substr(0, end);
        if (is_printable_ascii(text) && !text.empty() && text.front() != '<') residue.name = text;
    }

    void read_bond(MoleculeRecord& record, Index atoms) {
        static const std::map<std::string_view, std::uint8_t> kOrders = {
            {"1", 1}, {"2", 2}, {"3", 3}, {"ar", 4}, {"am", 1}, {"du", 1}, {"un", 1}, {"nc", 0}};
        const std::string_view line = next_line("a bond");
        const std::vector<std::string_view> fields = words(line);
        Index first = 0, second = 0;
        const auto order = fields.size() < 4 ? kOrders.end() : kOrders.find(fields[3]);
        if (order == kOrders.end() || !parse_number(fields[1], first) ||
            !parse_number(fields[2], second) || std::min(first, second) < 1 ||
            std::max(first, second) > atoms || first == second)
            refuse(fmt::format("expected a bond (number, two atoms from 1 to {}, type), found {}",
                               atoms, in_quotes(line)));
        if (order->second == 0) return;  // not connected
        record.bonds.push_back({first - 1, second - 1});
        record.orders.push_back(order->second);
    }

    ByteSource& source_;
    Index number_;
};

}  // namespace

bool read_mol2_record(ByteSource& source, Index number, MoleculeRecord& record) {
    return Mol2Reader(source, number).read(record);
}

}  // namespace pleat
