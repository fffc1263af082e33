// NetCDF frames: AMBER trajectories and restarts in NetCDF-3, in angstrom.
//
// The convention AMBER has coordinates(frame, atom, spatial), the frame being the dimension of
// records, so that a record holds one frame beside its time, cell and velocities. The convention
// AMBERRESTART has coordinates(atom, spatial), one frame. Other programs write a frame dimension of
// a fixed length: each variable is then a block of all frames, and the file is read whole.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/netcdf_header.h"
#include "pleat/bio/ensemble/trajectory_frames.h"
#include "pleat/bio/input/text_fields.h"
#include "pleat/core/notes.h"

namespace pleat {

namespace {

constexpr std::int32_t kFloat = 5, kDouble = 6;

class NetcdfFrames : public TrajectoryFrames {
public:
    explicit NetcdfFrames(std::unique_ptr<ByteReader> bytes) : TrajectoryFrames(std::move(bytes)) {
        header_ = read_netcdf_header(*bytes_);
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
        if (before_ + coordinates_.bytes > record_bytes_) {
            fail("expected coordinates within a record, found them beyond its end");
        }
        find_parts(start);
        const auto gap = static_cast<std::size_t>(start - bytes_->position());
        if (bytes_->skip(gap) < gap) {
            fail("expected the values behind the header, found the end of the file (cut short)");
        }
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
        set_frame(frame, {values, width}, scale_);
    }

    void skip_coordinates() override {
        if (coordinates_.in_records) skip_in_frame(static_cast<std::size_t>(record_bytes_));
    }

    /// The values of the frame in a block that begins at this offset of the file.
    const char* values_of_frame(Index begin, Index bytes) const {
        const Index at = begin - whole_begin_ + frames_ * bytes;
        const auto size = static_cast<Index>(whole_.size());
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

    /// Lengths or angles of the cell, or the time, which each frame has.
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

    /// A variable with this many numbers in each frame; nothing if it has another shape.
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

    /// What makes the values of a variable angstrom, degrees or picoseconds: its unit times its
    /// factor.
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
        std::string unit(trimmed(units->second.text));
        for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
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
            part.values[n] = part.scale * (width == 4 ? double{stored_number<float>(at, true)}
                                                      : stored_number<double>(at, true));
    }

    void check_convention() {
        const auto found = header_.attributes.find("Conventions");
        const std::string text = found == header_.attributes.end() ? "" : found->second.text;
        if (text.find("AMBER") != std::string::npos) return;
        fail(fmt::format("expected NetCDF of the convention AMBER, found '{}'", text));
    }

    Index length(std::size_t dimension) const {
        const Index at = coordinates_.dimensions[dimension];
        return header_.dimensions[static_cast<std::size_t>(at)].length;
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
        atoms_ = length(rank - 2);
        if (atoms_ < 1) fail(fmt::format("expected at least one atom, found {}", atoms_));
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

    /// Reads a record's cell, its time and its coordinates, which are returned, and skips
    /// everything else.
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

std::unique_ptr<FrameReader> open_netcdf_frames(std::unique_ptr<ByteReader> bytes) {
    return std::make_unique<NetcdfFrames>(std::move(bytes));
}

}  // namespace pleat
