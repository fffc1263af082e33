// Write frames: lines of atoms that differ between models in their coordinates alone, and records
// of DCD.
#include "pleat/bio/ensemble/write_frames.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr double kMinPdb = -999.9995, kMaxPdb = 9999.9995;
/// The last ones that hybrid-36 writes in 4 and 5 columns with capital letters.
constexpr int kMaxResidue = 1223055;
constexpr Index kMaxAtoms = 43770015;

bool names_pdb(const std::filesystem::path& path) {
    const std::string ending = path.extension().string();
    if (ending == ".pdb" || ending == ".ent") return true;
    if (ending == ".cif" || ending == ".mmcif") return false;
    throw UsageError(fmt::format(
        "expected a file name ending in .pdb, .ent, .cif or .mmcif, found '{}'", path.string()));
}

/// Formats a number in `width` columns; base 36 if it is too large for decimal digits.
std::string hybrid36(Index number, int width) {
    Index decimals = 1, first = 10;
    for (int n = 0; n < width; ++n) decimals *= 10;
    for (int n = 1; n < width; ++n) first *= 36;
    if (number < decimals) return fmt::format("{:>{}}", number, width);
    constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    Index rest = number - decimals + first;
    std::string text(static_cast<std::size_t>(width), '0');
    for (int n = width; n-- > 0; rest /= 36) text[n] = kDigits[rest % 36];
    return text;
}

/// Why an atom does not fit the PDB format; empty if it does.
std::string pdb_obstacle(const Topology& topology, Index at) {
    const Topology::Atom& atom = topology.atoms[at];
    const Topology::Residue& residue = topology.residue_of(at);
    const auto too_long = [&](const char* what, const std::string& name, std::size_t max_length) {
        return name.size() <= max_length
                   ? std::string()
                   : fmt::format("expected {} names of at most {} characters for PDB, found '{}'",
                                 what, max_length, name);
    };
    if (std::string text = too_long("atom", atom.name, 4); !text.empty()) return text;
    if (std::string text = too_long("chain", residue.chain, 4); !text.empty()) return text;
    const bool in_columns = residue.chain.size() == 1 || residue.chain.size() == 2;
    if (std::string text = too_long("residue", residue.name, in_columns ? 3 : 4); !text.empty())
        return text;
    if (residue.number < -999 || residue.number > kMaxResidue)
        return fmt::format("expected residue numbers from -999 to {} for PDB, found {}",
                           kMaxResidue, residue.number);
    if (topology.atom_count() > kMaxAtoms)
        return fmt::format("expected at most {} atoms for PDB, found {}", kMaxAtoms,
                           topology.atom_count());
    return {};
}

/// Columns 1 to 30: a name of fewer than 4 letters begins in the second column where its element
/// has one letter.
std::string pdb_before(const Topology& topology, Index at) {
    const Topology::Atom& atom = topology.atoms[at];
    const Topology::Residue& residue = topology.residue_of(at);
    const bool shifted = atom.name.size() < 4 && atom.element.size() < 2;
    const std::string chain = residue.chain.size() > 2 ? "" : residue.chain;
    return fmt::format(
        "{:<6}{} {:<4} {:<4}{}{}{}   ", is_heterogen(residue.name) ? "HETATM" : "ATOM",
        hybrid36(at + 1, 5), shifted ? " " + atom.name : atom.name,
        fmt::format("{:>3}", residue.name) + (chain.size() == 2 ? chain.substr(0, 1) : ""),
        chain.empty() ? ' ' : chain.back(), hybrid36(residue.number, 4), residue.insertion);
}

std::string pdb_behind(const Topology& topology, Index at) {
    const std::string& chain = topology.residue_of(at).chain;
    std::string element = topology.atoms[at].element;
    for (char& c : element)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return fmt::format("  1.00  0.00      {:<4}{:>2}  \n", chain.size() > 2 ? chain : "", element);
}

constexpr const char* kCifHead =
    "data_pleat\n#\nloop_\n_atom_site.group_PDB\n_atom_site.id\n_atom_site.type_symbol\n"
    "_atom_site.label_atom_id\n_atom_site.label_alt_id\n_atom_site.label_comp_id\n"
    "_atom_site.label_asym_id\n_atom_site.label_entity_id\n_atom_site.label_seq_id\n"
    "_atom_site.pdbx_PDB_ins_code\n_atom_site.auth_seq_id\n_atom_site.auth_comp_id\n"
    "_atom_site.auth_asym_id\n_atom_site.auth_atom_id\n_atom_site.occupancy\n"
    "_atom_site.B_iso_or_equiv\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n"
    "_atom_site.pdbx_PDB_model_num\n";

/// The mmCIF fields before the coordinates, except the first two, which hold the atom's number.
std::string cif_before(const Topology& topology, Index at) {
    const Topology::Atom& atom = topology.atoms[at];
    const Topology::Residue& residue = topology.residue_of(at);
    const auto quoted = [](const std::string& text) {
        return text.empty() ? "." : cif_quoted(text);
    };
    const std::string name = quoted(atom.name), chain = quoted(residue.chain),
                      residue_name = quoted(residue.name);
    const std::string insertion(1, residue.insertion == ' ' ? '?' : residue.insertion);
    return fmt::format(" {} {} . {} {} ? . {} {} {} {} {} 1.00 0.00", quoted(atom.element), name,
                       residue_name, chain, insertion, residue.number, residue_name, chain, name);
}

}  // namespace

bool fits_pdb(const Topology& topology) {
    for (Index at = 0; at < topology.atom_count(); ++at)
        if (!pdb_obstacle(topology, at).empty()) return false;
    return true;
}

StructureWriter::StructureWriter(const std::filesystem::path& path, const Topology& topology)
    : file_(path), is_pdb_(names_pdb(path)) {
    const Index atoms = topology.atom_count();
    for (Index at = 0; at < atoms; ++at) {
        if (is_pdb_) {
            if (const std::string text = pdb_obstacle(topology, at); !text.empty())
                throw OutputError(fmt::format("{}: {}; take .cif", path.string(), text));
            before_.push_back(pdb_before(topology, at));
            behind_.push_back(pdb_behind(topology, at));
        } else {
            before_.push_back(
                fmt::format("{} {}", is_heterogen(topology.residue_of(at).name) ? "HETATM" : "ATOM",
                            at + 1) +
                cif_before(topology, at));
        }
        ends_chain_.push_back(at + 1 == atoms ||
                              topology.residue_of(at).chain != topology.residue_of(at + 1).chain);
    }
    if (!is_pdb_) text_ = kCifHead;
}

void StructureWriter::add(View<const float, 2> frame) {
    const auto atoms = std::ssize(before_);
    if (frame.extent(0) != 3 || frame.extent(1) != atoms)
        throw std::logic_error(
            fmt::format("StructureWriter: expected a frame [3, {}], found [{}, {}]", atoms,
                        frame.extent(0), frame.extent(1)));
    ++models_;
    if (is_pdb_) text_ += fmt::format("MODEL     {:>4}\n", models_);
    for (Index at = 0; at < atoms; ++at) {
        double xyz[3];
        for (int axis = 0; axis < 3; ++axis) {
            // Rounded before formatting, without the sign of zero.
            xyz[axis] = std::round(frame(axis, at) * 1000.0) / 1000.0 + 0.0;
            const bool fits =
                is_pdb_ ? xyz[axis] > kMinPdb && xyz[axis] < kMaxPdb : std::isfinite(xyz[axis]);
            if (!fits)
                throw OutputError(fmt::format(
                    "{}: frame {}: expected {}, found {}{}", file_.path().string(), models_ - 1,
                    is_pdb_ ? "coordinates from -999.999 to 9999.999 angstrom for PDB"
                            : "finite coordinates",
                    frame(axis, at), is_pdb_ ? "; take .cif" : ""));
        }
        add_atom(at, xyz);
    }
    if (is_pdb_) text_ += "ENDMDL\n";
    file_.write(text_);
    text_.clear();
}

void StructureWriter::add_atom(Index atom, const double (&xyz)[3]) {
    text_ += before_[atom];
    if (is_pdb_) {
        fmt::format_to(std::back_inserter(text_), "{:8.3f}{:8.3f}{:8.3f}", xyz[0], xyz[1], xyz[2]);
        text_ += behind_[atom];
        if (ends_chain_[atom]) text_ += "TER\n";
    } else {
        fmt::format_to(std::back_inserter(text_), " {:.3f} {:.3f} {:.3f} {}\n", xyz[0], xyz[1],
                       xyz[2], models_);
    }
}

void StructureWriter::close() {
    text_ += is_pdb_ ? "END\n" : "#\n";
    file_.write(text_);
    file_.close();
}

namespace {

constexpr std::size_t kNumbers = 20;  // of the header, after its four letters
constexpr std::uint64_t kFrames = 8;  // where the number of frames stands in the file
constexpr std::uint64_t kSteps = kFrames + 4 * 3;
constexpr std::int32_t kCharmmVersion = 24;

}  // namespace

DcdWriter::DcdWriter(std::filesystem::path path, Index atoms, bool has_cells)
    : file_(std::move(path)), atoms_(atoms), has_cells_(has_cells) {
    constexpr Index kMaxDcdAtoms = std::numeric_limits<std::int32_t>::max() / 4;
    if (atoms > kMaxDcdAtoms)
        throw OutputError(fmt::format("{}: expected at most {} atoms for DCD, found {}",
                                      file_.path().string(), kMaxDcdAtoms, atoms));
    std::array<std::int32_t, kNumbers> numbers{};
    numbers[1] = numbers[2] = 1;  // the first step, and steps from frame to frame
    const float delta = 1.0f;
    std::memcpy(&numbers[9], &delta, sizeof(delta));
    numbers[10] = has_cells ? 1 : 0;
    numbers[19] = kCharmmVersion;
    std::string header = "CORD";
    header.append(reinterpret_cast<const char*>(numbers.data()), sizeof(numbers));
    record(header.data(), header.size());
    const std::int32_t one = 1;
    std::string title(reinterpret_cast<const char*>(&one), sizeof(one));
    title += fmt::format("{:<80}", "Written by pleat");
    record(title.data(), title.size());
    const auto count = static_cast<std::int32_t>(atoms);
    record(&count, sizeof(count));
}

void DcdWriter::add(View<const float, 2> frame, const PeriodicCell& cell) {
    if (has_cells_) {
        const auto& [a, b, c] = cell.vectors;
        const auto cosine = [](const Point& one, const Point& other) {
            const double lengths = std::sqrt(dot(one, one) * dot(other, other));
            return lengths > 0 ? dot(one, other) / lengths : 0.0;
        };
        const std::array<double, 6> numbers = {std::sqrt(dot(a, a)), cosine(a, b),
                                               std::sqrt(dot(b, b)), cosine(a, c),
                                               cosine(b, c),         std::sqrt(dot(c, c))};
        record(numbers.data(), sizeof(numbers));
    }
    for (Index axis = 0; axis < 3; ++axis)
        record(frame[axis].data, static_cast<std::size_t>(atoms_) * sizeof(float));
    ++frames_;
}

void DcdWriter::close() {
    const auto count = static_cast<std::int32_t>(
        std::min<Index>(frames_, std::numeric_limits<std::int32_t>::max()));
    file_.write_at(kFrames, &count, sizeof(count));
    file_.write_at(kSteps, &count, sizeof(count));
    file_.close();
}

void DcdWriter::record(const void* data, std::size_t bytes) {
    const auto length = static_cast<std::int32_t>(bytes);
    file_.write(&length, sizeof(length));
    file_.write(data, bytes);
    file_.write(&length, sizeof(length));
}

}  // namespace pleat
