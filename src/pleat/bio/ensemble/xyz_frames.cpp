// XYZ frames: the number of atoms, a comment, and a line with element and coordinates per atom, in
// angstrom.
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <map>
#include <memory>
#include <utility>

#include "pleat/bio/ensemble/frame_formats.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/structure/topology_gemmi.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

/// Returns the element of a symbol, an atomic number or a name such as C12; "X" for other text.
std::string element_of(std::string_view text) {
    int number = 0;
    if (parse_number(text, number)) return element_symbol(number);
    std::size_t end = 0;
    while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end])) != 0) ++end;
    return element_symbol(std::string(text.substr(0, end)));
}

class XyzFrames : public FrameReader {
public:
    explicit XyzFrames(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {
        if (!read_frame())
            throw InputError(source_->name(), 0, "expected a number of atoms, found no frame");
        Topology topology;
        topology.source = source_->name();
        topology.residues.push_back({"UNK", 1, ' ', ""});
        std::map<std::string, int> counts;
        for (std::size_t n = 0; n < elements_.size(); ++n) {
            const std::string& element = elements_[n];
            topology.atoms.push_back(
                {element + std::to_string(++counts[element]), element, element_mass(element), 0});
            topology.positions.push_back({xyz_[n][0], xyz_[n][1], xyz_[n][2]});
        }
        own_ = std::make_shared<const Topology>(std::move(topology));
        wanted_ = own_;
    }

    std::string_view format() const override { return "XYZ"; }
    Index atom_count() const override { return own_->atom_count(); }
    std::shared_ptr<const Topology> atoms_by_order() const override { return own_; }
    void match(const std::shared_ptr<const Topology>& wanted, const std::vector<Index>&,
               const std::vector<Index>&) override {
        wanted_ = wanted;
    }
    void choose_assembly(const std::string& name) override {
        fail(fmt::format("cannot build biological assembly '{}': XYZ files describe none", name));
    }

    bool next(View<float, 2> frame) override {
        if (!std::exchange(is_ahead_, false) && !read_frame()) return false;
        for (std::size_t n = 0; n < elements_.size(); ++n) {
            const std::string& wanted = wanted_->atoms[n].element;
            if (elements_[n] != wanted && elements_[n] != "X" && wanted != "X")
                fail(fmt::format("expected element {} for atom {} ({}), found {}", wanted, n,
                                 wanted_->atom_label(static_cast<Index>(n)), elements_[n]));
            for (std::size_t axis = 0; axis < 3; ++axis)
                frame(static_cast<Index>(axis), static_cast<Index>(n)) = xyz_[n][axis];
        }
        return true;
    }

private:
    [[noreturn]] void fail(const std::string& text) const {
        const std::string in_frame = fmt::format("frame {}: {}", frames_, text);
        throw InputError(source_->name(), source_->line(), in_frame);
    }

    std::string_view next_line(std::string_view expected) {
        std::string_view line;
        if (source_->next(line)) return line;
        throw CutShort(source_->name(), source_->line(),
                       fmt::format("frame {}: expected {}, found the end of the file (cut short)",
                                   frames_, expected));
    }

    bool read_frame() {
        std::string_view line;
        do {
            if (!source_->next(line)) return false;
        } while (is_blank(line));
        ++frames_;
        Index count = 0;
        constexpr Index kMaxAtoms = 100'000'000;
        if (!parse_number(trimmed(line), count) || count < 1 || count > kMaxAtoms ||
            (own_ != nullptr && count != own_->atom_count()))
            fail(own_ == nullptr
                     ? fmt::format("expected the number of atoms, found {}", in_quotes(line))
                     : fmt::format("expected {} atoms as in the first frame, found {}",
                                   own_->atom_count(), in_quotes(line)));
        read_comment(next_line("a comment"));
        elements_.clear();
        xyz_.clear();
        for (Index n = 0; n < count; ++n) read_atom(next_line(fmt::format("{} atoms", count)));
        return true;
    }

    /// Reads the comment of extended XYZ: the meaning of columns, and the cell vectors.
    void read_comment(std::string_view line) {
        constexpr std::string_view kLattice = "Lattice=\"", kColumns = "Properties=";
        const std::size_t columns = line.find(kColumns), lattice = line.find(kLattice);
        if (columns != std::string_view::npos &&
            !line.substr(columns + kColumns.size()).starts_with("species:S:1:pos:R:3"))
            fail("expected the columns species:S:1:pos:R:3 first, found others");
        cell_ = {};
        if (lattice == std::string_view::npos) return;
        line.remove_prefix(lattice + kLattice.size());
        const std::vector<std::string_view> numbers = words(line.substr(0, line.find('"')));
        for (std::size_t n = 0; n < 9; ++n)
            if (numbers.size() != 9 || !parse_number(numbers[n], cell_.vectors[n / 3][n % 3]))
                fail("expected nine numbers as Lattice, found others");
    }

    void read_atom(std::string_view line) {
        const std::vector<std::string_view> fields = words(line);
        std::array<float, 3> xyz{};
        if (fields.size() < 4 || !is_printable_ascii(fields[0]) || !parse_xyz(fields, 1, xyz))
            fail(fmt::format("expected an element, x, y and z, found {}", in_quotes(line)));
        elements_.push_back(element_of(fields[0]));
        xyz_.push_back(xyz);
    }

    std::unique_ptr<ByteSource> source_;
    std::shared_ptr<const Topology> own_, wanted_;
    std::vector<std::string> elements_;
    std::vector<std::array<float, 3>> xyz_;
    bool is_ahead_ = true;  // a frame was read and not given
    Index frames_ = -1;     // the one last read, from 0
};

/// A line with only the number of atoms, a comment line, then elements and coordinates.
bool is_xyz(ByteReader& bytes) {
    const std::vector<std::string_view> lines = first_lines(header_of(bytes));
    const std::vector<std::string_view> atom = words(lines[2]);
    Index count = 0;
    std::array<float, 3> xyz{};
    return parse_number(trimmed(lines[0]), count) && count > 0 && atom.size() >= 4 &&
           atom[0].size() <= 8 && parse_xyz(atom, 1, xyz);
}

}  // namespace

FrameFormat xyz_format() { return {"XYZ", ".xyz ", is_xyz, open_frames_of<XyzFrames>}; }

}  // namespace pleat
