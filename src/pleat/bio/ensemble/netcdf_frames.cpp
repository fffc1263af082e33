// NetCDF frames: AMBER trajectories and restarts in NetCDF-3, in angstrom.
//
// The convention AMBER has coordinates(frame, atom, spatial), the frame being the dimension of
// records, so that a record holds one frame beside its time, cell and velocities. The convention
// AMBERRESTART has coordinates(atom, spatial), one frame.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "pleat/bio/ensemble/netcdf_header.h"
#include "pleat/bio/ensemble/trajectory_frames.h"

namespace pleat {

namespace {

constexpr std::int32_t kFloat = 5, kDouble = 6;

class NetcdfFrames : public TrajectoryFrames {
public:
    explicit NetcdfFrames(std::unique_ptr<ByteReader> bytes) : TrajectoryFrames(std::move(bytes)) {
        header_ = read_netcdf_header(*bytes_);
        check_convention();
        find_coordinates();
        const Index start = first_record();
        if (bytes_->position() > start || start > coordinates_.begin) {
            fail(fmt::format("expected coordinates behind the header of {} bytes, found them at {}",
                             bytes_->position(), coordinates_.begin));
        }
        before_ = coordinates_.begin - start;
        if (before_ + coordinates_.bytes > record_bytes_) {
            fail("expected coordinates within a record, found them beyond its end");
        }
        lengths_ = find_part("cell_lengths", 3, start);
        angles_ = find_part("cell_angles", 3, start);
        times_ = find_part("time", 1, start);
        const auto gap = static_cast<std::size_t>(start - bytes_->position());
        if (bytes_->skip(gap) < gap) {
            fail("expected the values behind the header, found the end of the file (cut short)");
        }
    }

    std::string_view format() const override { return "AMBER NetCDF"; }

private:
    void read_coordinates(View<float, 2> frame) override {
        const std::size_t width = coordinates_.type == kFloat ? 4 : 8;
        set_frame(frame, {read_record(), width}, scale_);
    }

    void skip_coordinates() override { skip_in_frame(static_cast<std::size_t>(record_bytes_)); }

    /// Lengths or angles of the cell, or the time, which stand in each record.
    struct RecordPart {
        Index before = 0;  // bytes of a record in front of it
        Index bytes = 0;
        std::size_t count = 0;
        std::array<double, 3> values{};
    };

    /// A variable of so many numbers in each record; none if it has another shape.
    RecordPart find_part(const std::string& name, Index count, Index start) const {
        const NetcdfHeader::Variable* found = header_.find(name);
        RecordPart part;
        if (found == nullptr || !found->in_records || !coordinates_.in_records) return part;
        const Index width = netcdf_type_bytes(found->type);
        const bool is_real = found->type == kFloat || found->type == kDouble;
        if (!is_real || found->bytes != count * width || found->begin < start) return part;
        if (found->begin - start + found->bytes > record_bytes_) return part;
        part.before = found->begin - start;
        part.bytes = found->bytes;
        part.count = static_cast<std::size_t>(count);
        return part;
    }

    void read_part(RecordPart& part) {
        const char* at = frame_bytes(static_cast<std::size_t>(part.bytes)).data();
        const std::size_t width = static_cast<std::size_t>(part.bytes) / part.count;
        for (std::size_t n = 0; n < part.count; ++n) {
            part.values[n] = width == 4 ? double{stored_number<float>(at, true)}
                                        : stored_number<double>(at, true);
            at += width;
        }
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
        if (rank != (coordinates_.in_records ? 3u : 2u) || length(rank - 1) != 3) {
            fail(
                "expected coordinates(frame, atom, spatial) with frames as records, or "
                "coordinates(atom, spatial), found other dimensions");
        }
        if (coordinates_.type != kFloat && coordinates_.type != kDouble) {
            fail(fmt::format("expected coordinates of type float or double, found type {}",
                             coordinates_.type));
        }
        atoms_ = length(rank - 2);
        if (atoms_ < 1) fail(fmt::format("expected at least one atom, found {}", atoms_));
        const auto scale = coordinates_.attributes.find("scale_factor");
        if (scale != coordinates_.attributes.end()) scale_ = scale->second.number;
        announced_ = coordinates_.in_records ? header_.records : 1;
        record_bytes_ = coordinates_.in_records ? header_.record_bytes() : coordinates_.bytes;
    }

    Index first_record() const {
        if (!coordinates_.in_records) return coordinates_.begin;
        Index first = std::numeric_limits<Index>::max();
        for (const NetcdfHeader::Variable& variable : header_.variables) {
            if (variable.in_records) first = std::min(first, variable.begin);
        }
        return first;
    }

    bool begin_frame() override {
        const bool is_end = coordinates_.in_records ? bytes_->at_end() : frames_ == 1;
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
        if (times_.bytes > 0) time_ = times_.values[0];
        cell_ = lengths_.bytes > 0 && angles_.bytes > 0 ? make_cell(lengths_.values, angles_.values)
                                                        : PeriodicCell{};
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
};

}  // namespace

std::unique_ptr<FrameReader> open_netcdf_frames(std::unique_ptr<ByteReader> bytes) {
    return std::make_unique<NetcdfFrames>(std::move(bytes));
}

}  // namespace pleat
