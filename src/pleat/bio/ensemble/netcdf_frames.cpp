// NetCDF frames: AMBER trajectories and restarts in NetCDF-3, in angstrom.
//
// The convention AMBER has coordinates(frame, atom, spatial), the frame being the dimension of
// records, so that a record holds one frame beside its time, cell and velocities. The convention
// AMBERRESTART has coordinates(atom, spatial), one frame. Other programs write a frame dimension of
// a fixed length: each variable is then a block of all frames, and the file is read whole.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/frame_formats.h"
#include "pleat/core/files/text.h"
#include "pleat/core/notes.h"

namespace pleat {

namespace {

constexpr std::int32_t kDimensions = 10, kVariables = 11, kAttributes = 12;
constexpr std::int32_t kChar = 2, kInt = 4, kFloat = 5, kDouble = 6;  // types
constexpr Index kMaxItems = 65536, kMaxName = 4096, kMaxText = Index{1} << 24;
constexpr Index kMaxBytes = Index{1} << 40;

/// Bytes per value of a NetCDF type, 0 if unknown: 1 byte, 2 char, 3 short, 4 int, 5 float, 6
/// double, 7 to 11 unsigned and 64-bit integers.
Index netcdf_type_bytes(std::int32_t type) {
    constexpr std::array<Index, 12> kBytes = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return type < 1 || type > 11 ? 0 : kBytes[type];
}

/// The content of a header (NetCDF classic format: CDF-1, CDF-2 with 64-bit offsets, CDF-5 with
/// 64-bit counts). Of attributes only texts and single numbers are kept.
struct NetcdfHeader {
    struct Attribute {
        std::string text;
        double number = 0;
    };
    struct Variable {
        std::string name;
        std::vector<Index> dimensions;  ///< indices into those of the file
        std::map<std::string, Attribute> attributes;
        std::int32_t type = 0;
        Index begin = 0;  ///< offset of its first value in the file
        Index bytes = 0;  ///< of one record, or of all, not padded
        bool in_records = false;
    };

    static constexpr Index kStreaming = -1;
    Index records = 0;           ///< or kStreaming where the writer did not finish
    std::vector<Index> lengths;  ///< [dimension]; 0: the dimension of records
    std::map<std::string, Attribute> attributes;
    std::vector<Variable> variables;

    const Variable* find(const std::string& name) const {
        for (const Variable& variable : variables) {
            if (variable.name == name) return &variable;
        }
        return nullptr;
    }
    /// Bytes from one record to the next.
    Index record_bytes() const {
        Index padded = 0, plain = 0, count = 0;
        for (const Variable& variable : variables) {
            if (!variable.in_records) continue;
            padded += (variable.bytes + 3) / 4 * 4;
            plain += variable.bytes;
            ++count;
        }
        // If only one variable has records, they are not padded.
        return count == 1 ? plain : padded;
    }
};

class HeaderReader {
public:
    explicit HeaderReader(ByteReader& bytes) : bytes_(bytes) {}

    NetcdfHeader read() {
        const char* magic = take(4);
        version_ = magic[3];
        if (std::string_view(magic, 3) != "CDF" ||
            (version_ != 1 && version_ != 2 && version_ != 5)) {
            fail(fmt::format("NetCDF-3 (CDF-1, CDF-2 or CDF-5), found version {}",
                             static_cast<int>(version_)));
        }
        NetcdfHeader header;
        const Index streaming = version_ == 5 ? Index{-1} : Index{0xffffffff};
        header.records = number();
        if (header.records == streaming) {
            header.records = NetcdfHeader::kStreaming;
        } else if (header.records < 0) {
            fail(fmt::format("a number of records, found {}", header.records));
        }
        for (Index left = list(kDimensions); left > 0; --left) {
            (void)text(count(kMaxName));  // its name
            header.lengths.push_back(count(kMaxBytes));
        }
        header.attributes = attributes();
        for (Index left = list(kVariables); left > 0; --left)
            header.variables.push_back(variable(header));
        return header;
    }

private:
    [[noreturn]] void fail(std::string_view what) const {
        throw InputError(bytes_.name(), 0, fmt::format("expected {}", what));
    }

    const char* take(Index size) {
        constexpr Index kMaxHeader = Index{1} << 20;
        if (size > kMaxHeader - bytes_.position())
            fail(
                fmt::format("a NetCDF header of at most {} bytes, found a longer one", kMaxHeader));
        if (bytes_.read(buffer_, static_cast<std::size_t>(size)) < static_cast<std::size_t>(size))
            fail("a whole NetCDF header, found the end of the file (cut short)");
        return buffer_.data();
    }

    std::int32_t integer() { return stored_number<std::int32_t>(take(4), true); }
    /// A number as wide as the version counts.
    Index number() {
        if (version_ == 5) return stored_number<std::int64_t>(take(8), true);
        return static_cast<Index>(stored_number<std::uint32_t>(take(4), true));
    }
    Index count(Index max) {
        const Index value = number();
        if (value < 0 || value > max)
            fail(fmt::format("a count of at most {} in the NetCDF header, found {}", max, value));
        return value;
    }
    /// Letters as messages may show them.
    std::string text(Index size) {
        std::string letters(take((size + 3) / 4 * 4), static_cast<std::size_t>(size));
        for (char& c : letters) {
            if (c != '\0' && (c < ' ' || c > '~')) c = '?';
        }
        return letters;
    }

    /// Reads the number of items of a list; an empty list has the tag 0.
    Index list(std::int32_t tag) {
        const std::int32_t found = integer();
        const Index items = count(kMaxItems);
        if (found != tag && !(found == 0 && items == 0))
            fail(fmt::format("list {} in the NetCDF header, found {}", tag, found));
        return items;
    }

    std::int32_t type() {
        const std::int32_t value = integer();
        if (netcdf_type_bytes(value) == 0) fail(fmt::format("a NetCDF-3 type, found {}", value));
        return value;
    }

    std::map<std::string, NetcdfHeader::Attribute> attributes() {
        std::map<std::string, NetcdfHeader::Attribute> found;
        for (Index left = list(kAttributes); left > 0; --left) {
            const std::string name = text(count(kMaxName));
            const std::int32_t kind = type();
            const Index values = count(kMaxText);
            NetcdfHeader::Attribute& attribute = found[name];
            if (kind == kChar) {
                const std::string letters = text(values);
                attribute.text = letters.substr(0, letters.find('\0'));
                continue;
            }
            const char* value = take((values * netcdf_type_bytes(kind) + 3) / 4 * 4);
            if (values != 1) continue;
            if (kind == kInt) attribute.number = stored_number<std::int32_t>(value, true);
            if (kind == kFloat) attribute.number = stored_number<float>(value, true);
            if (kind == kDouble) attribute.number = stored_number<double>(value, true);
        }
        return found;
    }

    NetcdfHeader::Variable variable(const NetcdfHeader& header) {
        NetcdfHeader::Variable variable;
        variable.name = text(count(kMaxName));
        Index values = 1;
        const Index rank = count(1024);
        for (Index i = 0; i < rank; ++i) {
            const Index dimension = count(kMaxItems);
            if (dimension >= std::ssize(header.lengths)) {
                fail(fmt::format("one of {} dimensions for '{}', found {}", header.lengths.size(),
                                 variable.name, dimension));
            }
            variable.dimensions.push_back(dimension);
            const Index length = header.lengths[dimension];
            if (length == 0 && i == 0) {
                variable.in_records = true;
            } else if (length > 0 && values > kMaxBytes / length) {
                fail(fmt::format("a variable that fits on a disk, found '{}'", variable.name));
            } else {
                values *= length;
            }
        }
        variable.attributes = attributes();
        variable.type = type();
        (void)number();  // its size, which large variables cannot say
        variable.begin = version_ == 1
                             ? static_cast<Index>(stored_number<std::uint32_t>(take(4), true))
                             : stored_number<std::int64_t>(take(8), true);
        variable.bytes = values * netcdf_type_bytes(variable.type);
        if (variable.begin < 0 || variable.begin > kMaxBytes) {
            fail(fmt::format("an offset of '{}' within the file, found {}", variable.name,
                             variable.begin));
        }
        return variable;
    }

    ByteReader& bytes_;
    std::vector<char> buffer_;
    char version_ = 0;
};

class NetcdfFrames : public TrajectoryFrames {
public:
    explicit NetcdfFrames(std::unique_ptr<ByteReader> bytes) : TrajectoryFrames(std::move(bytes)) {
        header_ = HeaderReader(*bytes_).read();
        check_convention();
        find_coordinates();
        if (!coordinates_.in_records) {
            read_whole();
            return;
        }
        const Index start = first_record();
        if (bytes_->position() > start || start > coordinates_.begin) {
            fail(fmt::format("expected coordinates behind the header of {} bytes, found them at {}",
                             bytes_->position(), coordinates_.begin));
        }
        before_ = coordinates_.begin - start;
        if (before_ + coordinates_.bytes > record_bytes_)
            fail("expected coordinates within a record, found them beyond its end");
        find_parts(start);
        const auto gap = static_cast<std::size_t>(start - bytes_->position());
        if (bytes_->skip(gap) < gap)
            fail("expected the values behind the header, found the end of the file (cut short)");
    }

    std::string_view format() const override { return "AMBER NetCDF"; }

private:
    void read_coordinates(View<float, 2> frame) override {
        const std::size_t width = coordinates_.type == kFloat ? 4 : 8;
        const char* const values = coordinates_.in_records
                                       ? read_record()
                                       : values_of_frame(coordinates_.begin, record_bytes_);
        if (!coordinates_.in_records)
            for (RecordPart* part : {&lengths_, &angles_, &times_})
                if (part->bytes > 0) set_part(*part, values_of_frame(part->before, part->bytes));
        if (times_.bytes > 0) time_ = times_.values[0];
        cell_ = lengths_.bytes > 0 && angles_.bytes > 0 ? make_cell(lengths_.values, angles_.values)
                                                        : PeriodicCell{};
        set_frame(frame, values, width, scale_);
    }

    void skip_coordinates() override {
        if (coordinates_.in_records) skip_in_frame(static_cast<std::size_t>(record_bytes_));
    }

    /// The values of the current frame in a block that begins at this file offset.
    const char* values_of_frame(Index begin, Index bytes) const {
        const Index at = begin - whole_begin_ + frames_ * bytes;
        const auto size = std::ssize(whole_);
        if (at < 0 || at + bytes > size)
            fail_at_end(static_cast<std::size_t>(bytes),
                        static_cast<std::size_t>(std::clamp<Index>(size - at, 0, bytes)));
        return whole_.data() + at;
    }

    void read_whole() {
        whole_begin_ = bytes_->position();
        find_parts(0);
        Index end = coordinates_.begin + announced_ * record_bytes_;
        for (const RecordPart* part : {&lengths_, &angles_, &times_})
            end = std::max(end, part->before + announced_ * part->bytes);
        if (coordinates_.begin < whole_begin_)
            fail(fmt::format("expected coordinates behind the header of {} bytes, found them at {}",
                             whole_begin_, coordinates_.begin));
        whole_.resize(bytes_->read(whole_, static_cast<std::size_t>(end - whole_begin_)));
    }

    /// A value per frame besides coordinates: cell lengths, cell angles or time.
    struct RecordPart {
        Index before = 0;  // bytes of a record in front of it, or of the file without records
        Index bytes = 0;   // of a frame
        std::size_t count = 0;
        double scale = 1;
        std::array<double, 3> values{};
    };

    void find_parts(Index start) {
        lengths_ = find_part("cell_lengths", 3, start);
        angles_ = find_part("cell_angles", 3, start);
        times_ = find_part("time", 1, start);
    }

    /// Finds a variable with this many numbers per frame; nothing if its shape differs.
    RecordPart find_part(const std::string& name, Index count, Index start) const {
        const NetcdfHeader::Variable* found = header_.find(name);
        RecordPart part;
        if (found == nullptr || found->in_records != coordinates_.in_records) return part;
        const Index width = netcdf_type_bytes(found->type), bytes = count * width;
        const bool is_real = found->type == kFloat || found->type == kDouble;
        const Index frames = coordinates_.in_records ? 1 : announced_;
        if (!is_real || found->bytes != frames * bytes || found->begin < start) return part;
        if (coordinates_.in_records && found->begin - start + bytes > record_bytes_) return part;
        part.before = found->begin - start;
        part.bytes = bytes;
        part.count = static_cast<std::size_t>(count);
        part.scale = scale_of(*found, name);
        if (part.scale == 0) part.bytes = 0;
        return part;
    }

    /// The factor that converts a variable to angstrom, degrees or picoseconds: its unit times its
    /// scale factor.
    double scale_of(const NetcdfHeader::Variable& variable, const std::string& name) const {
        static const std::map<std::string, double, std::less<>> kUnits = {
            {"", 1},
            {"angstrom", 1},
            {"a", 1},
            {"nanometer", 10},
            {"nm", 10},
            {"nanometre", 10},
            {"picometer", 0.01},
            {"pm", 0.01},
            {"degree", 1},
            {"deg", 1},
            {"radian", 180 / std::numbers::pi},
            {"rad", 180 / std::numbers::pi},
            {"picosecond", 1},
            {"ps", 1},
            {"femtosecond", 1e-3},
            {"fs", 1e-3},
            {"nanosecond", 1e3},
            {"ns", 1e3}};
        double scale = 1;
        if (const auto at = variable.attributes.find("scale_factor");
            at != variable.attributes.end())
            scale = at->second.number;
        if (!std::isfinite(scale) || scale == 0)
            fail(fmt::format("expected a scale_factor of {} other than 0, found {}", name, scale));
        const auto units = variable.attributes.find("units");
        if (units == variable.attributes.end()) return scale;
        const std::string unit = in_lower_case(trimmed(units->second.text));
        const auto known = kUnits.find(unit);
        const auto one =
            unit.ends_with('s') ? kUnits.find(unit.substr(0, unit.size() - 1)) : kUnits.end();
        if (known == kUnits.end() && one == kUnits.end() && name != "time")
            fail(
                fmt::format("expected {} in angstrom or nanometer, degrees or picoseconds, found "
                            "the unit '{}'",
                            name, unit));
        if (known == kUnits.end() && one == kUnits.end()) return 0;  // a time that nobody knows
        return scale * (known != kUnits.end() ? known : one)->second;
    }

    void read_part(RecordPart& part) {
        set_part(part, frame_bytes(static_cast<std::size_t>(part.bytes)).data());
    }

    static void set_part(RecordPart& part, const char* at) {
        const std::size_t width = static_cast<std::size_t>(part.bytes) / part.count;
        for (std::size_t n = 0; n < part.count; ++n, at += width)
            part.values[n] = part.scale * real_number(at, width, true);
    }

    void check_convention() {
        const auto found = header_.attributes.find("Conventions");
        const std::string text = found == header_.attributes.end() ? "" : found->second.text;
        if (text.find("AMBER") != std::string::npos) return;
        fail(fmt::format("expected NetCDF of the convention AMBER, found '{}'", text));
    }

    Index length(std::size_t dimension) const {
        return header_.lengths[coordinates_.dimensions[dimension]];
    }

    void find_coordinates() {
        const NetcdfHeader::Variable* found = header_.find("coordinates");
        if (found == nullptr) fail("expected a variable 'coordinates', found none");
        coordinates_ = *found;
        const std::size_t rank = coordinates_.dimensions.size();
        const bool has_rank = rank == 3 || (rank == 2 && !coordinates_.in_records);
        if (!has_rank || length(rank - 1) != 3)
            fail(
                "expected coordinates(frame, atom, spatial) or coordinates(atom, spatial), found "
                "other dimensions");
        if (coordinates_.type != kFloat && coordinates_.type != kDouble) {
            fail(fmt::format("expected coordinates of type float or double, found type {}",
                             coordinates_.type));
        }
        set_atom_count(length(rank - 2));
        scale_ = scale_of(coordinates_, "coordinates");
        if (const auto unit = coordinates_.attributes.find("units");
            unit != coordinates_.attributes.end() && scale_ != 1)
            notes_.push_back(
                {NoteKind::unit, fmt::format("{}: coordinates in units of {:g} "
                                             "angstrom (units '{}', scale_factor)",
                                             bytes_->name(), scale_, unit->second.text)});
        const Index frames = rank == 3 ? length(0) : 1;
        announced_ = coordinates_.in_records ? header_.records : frames;
        record_bytes_ =
            coordinates_.in_records ? header_.record_bytes() : coordinates_.bytes / frames;
    }

    Index first_record() const {
        Index first = std::numeric_limits<Index>::max();
        for (const NetcdfHeader::Variable& variable : header_.variables) {
            if (variable.in_records) first = std::min(first, variable.begin);
        }
        return first;
    }

    bool begin_frame() override {
        const bool is_end = coordinates_.in_records ? bytes_->at_end() : frames_ == announced_;
        if (is_end && announced_ != NetcdfHeader::kStreaming) compare_announced(announced_);
        return !is_end;
    }

    /// Reads cell, time and coordinates of a record and skips the rest; returns the coordinates.
    const char* read_record() {
        Index at = 0;
        const auto go_to = [&](Index to) {
            skip_in_frame(static_cast<std::size_t>(to - at));
            at = to;
        };
        const auto read_parts_until = [&](Index end) {
            RecordPart* parts[] = {&lengths_, &angles_, &times_};
            std::ranges::sort(parts, {}, &RecordPart::before);
            for (RecordPart* part : parts) {
                if (part->bytes == 0 || part->before < at || part->before + part->bytes > end)
                    continue;
                go_to(part->before);
                read_part(*part);
                at += part->bytes;
            }
        };
        read_parts_until(before_);
        go_to(before_);
        const std::vector<char>& bytes = frame_bytes(static_cast<std::size_t>(coordinates_.bytes));
        values_.assign(bytes.begin(), bytes.end());
        at += coordinates_.bytes;
        read_parts_until(record_bytes_);
        go_to(record_bytes_);
        return values_.data();
    }

    NetcdfHeader header_;
    NetcdfHeader::Variable coordinates_;
    Index announced_ = 0;
    Index record_bytes_ = 0;
    Index before_ = 0;  // bytes of a record in front of its coordinates
    RecordPart lengths_, angles_, times_;
    std::vector<char> values_;  // of the coordinates of one frame
    double scale_ = 1;
    std::vector<char> whole_;  // the values behind the header, without records
    Index whole_begin_ = 0;    // their offset in the file
};

}  // namespace

FrameFormat netcdf_format() {
    return {"AMBER NetCDF", ".nc .ncdf ",
            [](ByteReader& bytes) {
                return has_magic(bytes, 0, "CDF") && bytes.peek(4).size() > 3 &&
                       static_cast<unsigned char>(bytes.peek(4)[3]) < ' ';
            },
            open_frames_of<NetcdfFrames>};
}

}  // namespace pleat
