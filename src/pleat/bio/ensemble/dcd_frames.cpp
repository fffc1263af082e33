// DCD frames: CHARMM, NAMD and X-PLOR trajectories, in either byte order.
//
// A DCD file is a Fortran file: records between two copies of their length. First a record "CORD"
// with 20 integers, then titles, the number of atoms and, where some atoms are fixed, the free
// ones. A frame is a unit cell (CHARMM, where announced), then x, y and z of all atoms, each a
// record, and a fourth dimension (CHARMM, where announced). From the second frame on, fixed atoms
// are left out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pleat/bio/ensemble/frame_formats.h"

namespace pleat {

namespace {

constexpr std::size_t kHeaderBytes = 84;

class DcdFrames : public TrajectoryFrames {
public:
    explicit DcdFrames(std::unique_ptr<ByteReader> bytes) : TrajectoryFrames(std::move(bytes)) {
        read_markers();
        read_control();
        read_titles();
        const std::vector<char>& count = read_record("the number of atoms");
        if (count.size() != 4)
            fail(fmt::format("expected the number of atoms in 4 bytes, found {}", count.size()));
        set_atom_count(integer(count, 0));
        if (fixed_ < 0 || fixed_ >= atoms_)
            fail(fmt::format("expected 0 to {} fixed atoms, found {}", atoms_ - 1, fixed_));
    }

    std::string_view format() const override { return "DCD"; }

private:
    void read_coordinates(View<float, 2> frame) override {
        const bool only_free = fixed_ > 0 && frames_ > 0;
        for (Index axis = 0; axis < 3; ++axis) read_axis(axis, only_free, frame);
        if (fourth_dimension_) frame_record(axis_bytes(only_free), "a fourth dimension");
        if (fixed_ > 0 && frames_ == 0) first_.assign(frame.begin(), frame.end());
    }

    void skip_coordinates() override {
        // The first frame contains the fixed atoms.
        if (fixed_ > 0 && frames_ == 0) return TrajectoryFrames::skip_coordinates();
        for (int record = 0; record < (fourth_dimension_ ? 4 : 3); ++record)
            frame_record(axis_bytes(fixed_ > 0), "coordinates");
    }

    Index integer(const std::vector<char>& record, std::size_t at) const {
        return stored_number<std::int32_t>(record.data() + at, big_endian_);
    }

    /// The first length marker is 84 and thereby shows the byte order and width of all markers.
    void read_markers() {
        const std::string_view start = bytes_->peek(8);
        if (start.size() < 8) fail("expected a DCD header, found fewer than 8 bytes");
        for (const bool big : {false, true}) {
            const auto narrow = stored_number<std::uint32_t>(start.data(), big);
            const auto wide = stored_number<std::uint64_t>(start.data(), big);
            if (narrow != kHeaderBytes && wide != kHeaderBytes) continue;
            big_endian_ = big;
            marker_bytes_ = wide == kHeaderBytes ? 8 : 4;
            return;
        }
        fail(fmt::format("expected a DCD header of {} bytes, found another length", kHeaderBytes));
    }

    std::uint64_t marker(const char* bytes) const {
        return marker_bytes_ == 8 ? stored_number<std::uint64_t>(bytes, big_endian_)
                                  : stored_number<std::uint32_t>(bytes, big_endian_);
    }

    /// A record of the header.
    const std::vector<char>& read_record(std::string_view what, std::uint64_t max_bytes = 1 << 20) {
        char ends[8] = {};
        if (bytes_->read(ends, marker_bytes_) < marker_bytes_) cut_short(what);
        const std::uint64_t size = marker(ends);
        if (size > max_bytes)
            fail(fmt::format("expected {} in a record of at most {} bytes, found one of {}", what,
                             max_bytes, size));
        if (bytes_->read(buffer_, size) < size) cut_short(what);
        if (bytes_->read(ends, marker_bytes_) < marker_bytes_) cut_short(what);
        if (marker(ends) != size) {
            fail(fmt::format("expected {} to end with its length {}, found {}", what, size,
                             marker(ends)));
        }
        return buffer_;
    }

    /// Some programs (MDAnalysis before 0.20) write three titles but the length of two.
    void read_titles() {
        constexpr std::uint64_t kTitle = 80;
        const std::string_view start = bytes_->peek(marker_bytes_ + 4);
        if (start.size() < marker_bytes_ + 4) cut_short("the titles");
        const std::uint64_t size = marker(start.data());
        const auto titles = stored_number<std::uint32_t>(start.data() + marker_bytes_, big_endian_);
        const std::uint64_t counted = 4 + kTitle * titles;
        const auto ends = [&](std::uint64_t length) {
            const std::string_view whole = bytes_->peek(2 * marker_bytes_ + length);
            return whole.size() == 2 * marker_bytes_ + length &&
                   marker(whole.data() + marker_bytes_ + length) == size;
        };
        constexpr std::uint64_t kMaxPeek = 4000;
        if (size < 4 || size == counted || std::max(size, counted) > kMaxPeek || ends(size) ||
            !ends(counted)) {
            read_record("the titles");
            return;
        }
        bytes_->skip(2 * marker_bytes_ + counted);
    }

    [[noreturn]] void cut_short(std::string_view what) const {
        fail(fmt::format("expected {}, found the end of the file (cut short)", what));
    }

    void read_control() {
        const std::vector<char>& record = read_record("the header");
        if (std::string_view(record.data(), 4) != "CORD") {
            fail(fmt::format("expected coordinates (CORD), found {}",
                             std::string_view(record.data(), 4) == "VELD" ? "velocities (VELD)"
                                                                          : "something else"));
        }
        const auto control = [&](std::size_t i) { return integer(record, 4 + 4 * i); };
        announced_ = control(0);
        fixed_ = control(8);
        // X-PLOR writes neither a version nor unit cells.
        const bool charmm = control(19) != 0;
        unit_cell_ = charmm && control(10) != 0;
        fourth_dimension_ = charmm && control(11) != 0;
    }

    void read_free_atoms() {
        const auto count = static_cast<std::size_t>(atoms_ - fixed_);
        const std::vector<char>& record = read_record("the free atoms", 4 * count + (1 << 20));
        if (record.size() != 4 * count) {
            fail(fmt::format("expected {} free atoms, found a record of {} bytes", count,
                             record.size()));
        }
        free_.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            const Index atom = integer(record, 4 * i) - 1;
            if (atom < 0 || atom >= atoms_)
                fail(fmt::format("expected free atoms from 1 to {}, found {}", atoms_, atom + 1));
            free_.push_back(atom);
        }
    }

    bool begin_frame() override {
        // Only after the number of atoms was compared with the topology's.
        if (fixed_ > 0 && free_.empty()) read_free_atoms();
        if (bytes_->at_end()) {
            // Programs that append frames leave 0 until they finish.
            if (announced_ > 0) compare_announced(announced_);
            return false;
        }
        if (unit_cell_) read_cell(frame_record(48, "a unit cell"));
        return true;
    }

    /// Six doubles: a, gamma, b, beta, alpha, c with angles in degrees or as their cosines, or,
    /// since CHARMM 25, the lower half of the symmetric matrix of the cell, row by row.
    void read_cell(const char* bytes) {
        std::array<double, 6> x;
        for (std::size_t i = 0; i < 6; ++i)
            x[i] = stored_number<double>(bytes + 8 * i, big_endian_);
        const std::array<double, 3> angles = {x[4], x[3], x[1]};
        const auto all = [&](auto holds) { return std::ranges::all_of(angles, holds); };
        constexpr double kDegree = 180 / std::numbers::pi;
        cell_ = {};
        if (all([](double angle) { return angle >= -1 && angle <= 1; }))
            cell_ = make_cell(
                {x[0], x[2], x[5]},
                {kDegree * std::acos(x[4]), kDegree * std::acos(x[3]), kDegree * std::acos(x[1])});
        else if (all([](double angle) { return angle > 1 && angle < 180; }))
            cell_ = make_cell({x[0], x[2], x[5]}, angles);
        if (cell_.volume() == 0)
            cell_.vectors = {{{x[0], x[1], x[3]}, {x[1], x[2], x[4]}, {x[3], x[4], x[5]}}};
    }

    std::size_t axis_bytes(bool only_free) const {
        return 4 * static_cast<std::size_t>(only_free ? atoms_ - fixed_ : atoms_);
    }

    /// Reads a record of a frame with known length; its data follow the first marker.
    const char* frame_record(std::size_t size, std::string_view what) {
        const std::vector<char>& record = frame_bytes(size + 2 * marker_bytes_);
        const std::uint64_t first = marker(record.data());
        const std::uint64_t last = marker(record.data() + marker_bytes_ + size);
        if (first != size || last != size) {
            fail_in_frame(fmt::format("expected {} in a record of {} bytes, found {} and {}", what,
                                      size, first, last));
        }
        return record.data() + marker_bytes_;
    }

    void read_axis(Index axis, bool only_free, View<float, 2> frame) {
        const char* at = frame_record(axis_bytes(only_free), "coordinates");
        if (!only_free) {
            for (Index atom = 0; atom < atoms_; ++atom, at += 4)
                frame(axis, atom) = stored_number<float>(at, big_endian_);
            return;
        }
        const float* fixed = first_.data() + axis * atoms_;
        std::copy_n(fixed, atoms_, frame[axis].begin());
        for (const Index atom : free_) {
            frame(axis, atom) = stored_number<float>(at, big_endian_);
            at += 4;
        }
    }

    bool big_endian_ = false;
    std::size_t marker_bytes_ = 4;
    Index announced_ = 0;
    Index fixed_ = 0;
    bool unit_cell_ = false, fourth_dimension_ = false;
    std::vector<Index> free_;
    std::vector<float> first_;  // the first frame, where atoms are fixed
};

}  // namespace

FrameFormat dcd_format() {
    return {"DCD", ".dcd ",
            [](ByteReader& bytes) {
                return has_magic(bytes, 4, "CORD") || has_magic(bytes, 8, "CORD") ||
                       has_magic(bytes, 4, "VELD");
            },
            open_frames_of<DcdFrames>};
}

}  // namespace pleat
