// GRO frames: fixed columns in nanometre (https://manual.gromacs.org/current/reference-manual/
// file-formats.html#gro).
//
// Columns of an atom: residue number 1-5, residue name 6-10, atom name 11-15, atom number 16-20,
// then x, y and z. The distance between decimal points is the width of a coordinate.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pleat/bio/ensemble/frame_formats.h"
#include "pleat/bio/structure/coordinate_text.h"
#include "pleat/bio/structure/missing_names.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

constexpr std::size_t kFirstCoordinate = 20;  // the column in front of x
constexpr double kNanometre = 10;             // in angstrom

/// The distance between the decimal points of x, y and z; 0 unless there are three at equal
/// distances.
std::size_t coordinate_width(std::string_view line) {
    const std::size_t x = line.find('.', kFirstCoordinate), y = line.find('.', x + 1);
    if (x == std::string_view::npos || y == std::string_view::npos) return 0;
    const std::size_t z = line.find('.', y + 1);
    return z != std::string_view::npos && z - y == y - x ? y - x : 0;
}

bool same_names(const AtomRecord& a, const AtomRecord& b) {
    return a.name == b.name && a.residue_name == b.residue_name && a.number == b.number;
}

/// Whether the second line contains only a number, below a title.
bool is_gro(ByteReader& bytes) {
    std::string_view start = header_of(bytes);
    const std::size_t title = start.find('\n');
    if (title == std::string_view::npos) return false;
    start.remove_prefix(title + 1);
    Index count = 0;
    return parse_number(trimmed(start.substr(0, start.find('\n'))), count);
}

/// Reads the frames of a GRO file one at a time: a title, the number of atoms, one line per atom,
/// the box. Coordinates may have any number of decimals; velocities are ignored. Residue numbers
/// have five digits and restart at 0 after 99999; they are continued. Elements and chains are
/// guessed (missing_names.h).
class GroFrames : public ModelFrames {
public:
    explicit GroFrames(std::unique_ptr<ByteSource> source)
        : ModelFrames(source->name()), source_(std::move(source)) {
        start();
    }
    std::string_view format() const override { return "GRO"; }
    bool may_be_crystal() override { return false; }

protected:
    bool next_records(std::vector<AtomRecord>& records) override {
        constexpr int kNumbers = 100'000;  // that five digits hold
        Index count = 0;
        if (!read_count(count)) return false;
        Complaints complaints(file_);
        std::string_view line;
        int wraps = 0, previous = 0;
        for (Index n = 0; n < count; ++n) {
            if (!source_->next(line)) refuse_cut(fmt::format("{} atoms", count));
            if (n == 0) {
                width_ = coordinate_width(line);
                point_ = line.find('.', kFirstCoordinate) - kFirstCoordinate;
            }
            AtomRecord atom;
            if (const std::string problem = parse_atom(line, atom); !problem.empty())
                complaints.add(source_->line(), problem);
            if (previous == kNumbers - 1 && atom.number == 0) ++wraps;
            previous = atom.number;
            atom.number += wraps * kNumbers;
            records.push_back(std::move(atom));
        }
        complaints.throw_if_any();
        read_box();
        name_elements_and_chains(records);
        ++frames_;
        return true;
    }
    std::string bond_key(const AtomRecord&) const override { return {}; }
    bool has_chain_names() const override { return false; }

private:
    /// Reads the title, which may be blank, and the number of atoms; false if only blank lines are
    /// left.
    bool read_count(Index& count) {
        constexpr Index kMaxAtoms = 1'000'000'000, kMaxFromPipe = 500'000;
        std::string_view line;
        bool has_title = false;
        do {
            has_title = !trimmed(line).empty();
            if (!source_->next(line)) {
                if (has_title) refuse_cut("the number of atoms");
                return false;
            }
            if (has_title && !parse_number(trimmed(line), count)) refuse_count(line);
        } while (!parse_number(trimmed(line), count));
        if (count < 1 || count > kMaxAtoms) refuse_count(line);
        source_->limit_pipe(count, kMaxFromPipe, "frames of at most {} atoms",
                            std::to_string(count));
        return true;
    }
    /// Parses an atom line; returns a complaint, or an empty text.
    std::string parse_atom(std::string_view line, AtomRecord& atom) const {
        const std::size_t end = kFirstCoordinate + 3 * width_;
        if (width_ == 0 || line.size() < end || !is_printable_ascii(line.substr(0, end)))
            return fmt::format(
                "expected an atom (residue number, residue name, atom name and atom number in five "
                "columns each, then x, y and z), found {}",
                in_quotes(line));
        if (!parse_number(trimmed(line.substr(0, 5)), atom.number))
            return fmt::format("expected a residue number in columns 1-5, found {}",
                               in_quotes(line.substr(0, 5)));
        atom.residue_name = std::string(trimmed(line.substr(5, 5)));
        atom.name = std::string(trimmed(line.substr(10, 5)));
        if (atom.name.empty()) return "expected an atom's name in columns 11-15, found none";
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::string_view field = line.substr(kFirstCoordinate + axis * width_, width_);
            double value = 0;
            // Numbers with too many digits shift the following columns.
            if (field.find('.') != point_ || !parse_coordinate(field, value))
                return fmt::format("expected a coordinate in columns {}-{}, found {}",
                                   kFirstCoordinate + axis * width_ + 1,
                                   kFirstCoordinate + (axis + 1) * width_, in_quotes(field));
            atom.xyz[axis] = static_cast<float>(kNanometre * value);
        }
        return {};
    }
    /// Three numbers, or nine: xx yy zz xy xz yx yz zx zy.
    void read_box() {
        static constexpr std::size_t kPlaces[9][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2},
                                                      {1, 0}, {1, 2}, {2, 0}, {2, 1}};
        std::string_view line;
        if (!source_->next(line)) refuse_cut("a box");
        const std::vector<std::string_view> fields = words(line);
        cell_ = {};
        bool is_fine = fields.size() == 3 || fields.size() == 9;
        for (std::size_t n = 0; is_fine && n < fields.size(); ++n) {
            double value = 0;
            is_fine = parse_coordinate(fields[n], value);
            cell_.vectors[kPlaces[n][0]][kPlaces[n][1]] = kNanometre * value;
        }
        if (!is_fine)
            throw InputError(file_, source_->line(),
                             fmt::format("frame {}: expected a box of 3 or 9 numbers, found {}",
                                         frames_, in_quotes(line)));
    }
    /// Frames with the atoms of the first frame reuse its elements and chains.
    void name_elements_and_chains(std::vector<AtomRecord>& records) {
        if (!std::equal(records.begin(), records.end(), named_.begin(), named_.end(), same_names)) {
            const std::shared_ptr<Topology> topology = topology_of(records, file_);
            guess_elements(*topology);
            name_chains(*topology);
            std::vector<AtomRecord> named = records;
            for (std::size_t i = 0; i < named.size(); ++i) {
                named[i].element = topology->atoms[i].element;
                named[i].chain = topology->residue_of(static_cast<Index>(i)).chain;
            }
            named_ = std::move(named);
        }
        for (std::size_t i = 0; i < records.size(); ++i) {
            records[i].element = named_[i].element;
            records[i].chain = named_[i].chain;
        }
    }
    [[noreturn]] void refuse_cut(const std::string& expected) const {
        throw CutShort(file_, source_->line(),
                       fmt::format("frame {}: expected {}, found the end of the file (cut short)",
                                   frames_, expected));
    }
    [[noreturn]] void refuse_count(std::string_view found) const {
        throw InputError(
            file_, source_->line(),
            fmt::format("expected the number of atoms below a title, found {}", in_quotes(found)));
    }

    std::unique_ptr<ByteSource> source_;
    Index frames_ = 0;               // read so far
    std::size_t width_ = 0;          // of a coordinate in this frame
    std::size_t point_ = 0;          // where its decimal point is
    std::vector<AtomRecord> named_;  // of the frame last named
};

}  // namespace

FrameFormat gro_format() { return {"GRO", ".gro ", is_gro, open_frames_of<GroFrames>}; }

}  // namespace pleat
