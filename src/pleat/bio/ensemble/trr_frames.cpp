// TRR frames: full-precision GROMACS trajectories, in nanometre and big-endian (XDR).
//
// A frame consists of magic number 1993, a version text, the byte sizes of ten sections, numbers of
// atoms, step and counts, time and lambda, then the sections of nonzero size: box, virial,
// pressure, coordinates, velocities, forces. The sizes show whether numbers are floats or doubles.
// Frames without coordinates are skipped.
#include <fmt/format.h>

#include <array>

#include "pleat/bio/ensemble/frame_formats.h"
#include "pleat/core/notes.h"

namespace pleat {

namespace {

constexpr std::int32_t kMagic = 1993;
constexpr std::size_t kMaxText = 256;

/// Sections in the order of their sizes in the header; in the data the last three come after the
/// others.
enum Section {
    kInput,
    kEnergy,
    kBox,
    kVirial,
    kPressure,
    kTopology,
    kSymbols,
    kCoordinates,
    kVelocities,
    kForces,
    kSections
};

class TrrFrames : public TrajectoryFrames {
public:
    explicit TrrFrames(std::unique_ptr<ByteReader> bytes) : TrajectoryFrames(std::move(bytes)) {
        // The number of atoms follows the version text, whose length is the third number.
        const std::string_view start = bytes_->peek(12 + kMaxText + 4 * (kSections + 1));
        if (start.size() < 12) fail("expected a TRR header, found the end of the file (cut short)");
        const std::size_t text = padded(stored_number<std::uint32_t>(start.data() + 8, true));
        const std::size_t at = 12 + text + 4 * kSections;
        if (text > kMaxText || start.size() < at + 4)
            fail("expected a TRR header, found the end of the file (cut short)");
        set_atom_count(stored_number<std::int32_t>(start.data() + at, true));
    }

    std::string_view format() const override { return "TRR"; }

private:
    void read_coordinates(View<float, 2> frame) override {
        set_frame(frame, frame_bytes(size(kCoordinates)).data(), width_, 10);
        skip_section(kVelocities);
        skip_section(kForces);
    }

    void skip_coordinates() override {
        for (const Section section : {kCoordinates, kVelocities, kForces}) skip_section(section);
    }

    static std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }
    std::size_t size(Section section) const { return sizes_[section]; }

    std::int32_t integer() { return stored_number<std::int32_t>(frame_bytes(4).data(), true); }

    void skip_section(Section section) { skip_in_frame(size(section)); }

    void read_cell() {
        cell_ = {};
        if (size(kBox) == 0) return;
        set_box(frame_bytes(size(kBox)).data(), width_);
    }

    /// Moves to the coordinates of the next frame that has some.
    bool begin_frame() override {
        while (!bytes_->at_end()) {
            read_header();
            read_cell();
            for (const Section section : {kVirial, kPressure}) skip_section(section);
            if (size(kCoordinates) > 0) return true;
            skip_section(kVelocities);
            skip_section(kForces);
            if (passed_++ == 0) notes_.push_back({NoteKind::frames, {}});
            // The only note of this reader.
            notes_.back().text = fmt::format(
                "{}: passed over {} frame{} without coordinates (velocities or forces "
                "alone)",
                bytes_->name(), passed_, passed_ == 1 ? "" : "s");
        }
        if (frames_ == 0 && passed_ > 0)
            fail(
                fmt::format("expected frames with coordinates, found velocities or forces alone "
                            "in {} frame{}",
                            passed_, passed_ == 1 ? "" : "s"));
        return false;
    }

    void read_header() {
        const std::int32_t magic = integer();
        if (magic != kMagic)
            fail_in_frame(fmt::format("expected the magic number {}, found {}", kMagic, magic));
        (void)integer();  // the length of the version text, once more than XDR needs
        const auto text = static_cast<std::uint32_t>(integer());
        if (text > kMaxText) {
            fail_in_frame(fmt::format("expected a version of at most {} characters, found {}",
                                      kMaxText, text));
        }
        frame_bytes(padded(text));
        for (std::size_t& size : sizes_) {
            const std::int32_t bytes = integer();
            if (bytes < 0) fail_in_frame(fmt::format("expected sizes above 0, found {}", bytes));
            size = static_cast<std::size_t>(bytes);
        }
        const std::int32_t atoms = integer();
        if (atoms != atoms_)
            fail_in_frame(fmt::format("expected {} atoms, found {}", atoms_, atoms));
        for (const Section section : {kInput, kEnergy, kTopology, kSymbols}) {
            if (size(section) == 0) continue;
            fail_in_frame(
                fmt::format("expected no parts but box, virial, pressure, coordinates, "
                            "velocities and forces, found part {} of {} bytes",
                            section + 1, size(section)));
        }
        find_width();
        // Step, number of energies, time, lambda.
        const char* const last = frame_bytes(2 * 4 + 2 * width_).data();
        time_ = real_number(last + 8, width_, true);
    }

    /// Derives the width of numbers (4 or 8 bytes): a box has nine numbers, other sections three
    /// per atom.
    void find_width() {
        const auto three = 3 * static_cast<std::size_t>(atoms_);
        width_ = 0;
        for (const Section section :
             {kBox, kVirial, kPressure, kCoordinates, kVelocities, kForces}) {
            if (size(section) == 0) continue;
            const std::size_t count = section < kCoordinates ? 9 : three;
            const std::size_t width = size(section) / count;
            const bool other = width_ != 0 && width != width_;
            if (size(section) % count != 0 || (width != 4 && width != 8) || other) {
                fail_in_frame(fmt::format("expected {} floats or doubles, found {} bytes", count,
                                          size(section)));
            }
            width_ = width;
        }
        if (width_ == 0) fail_in_frame("expected a box, coordinates or velocities, found none");
    }

    std::array<std::size_t, kSections> sizes_{};
    std::size_t width_ = 4;
    Index passed_ = 0;  // frames without coordinates
};

}  // namespace

FrameFormat trr_format() {
    return {
        "TRR", ".trr ",
        [](ByteReader& bytes) { return has_magic(bytes, 0, std::string_view("\0\0\x07\xc9", 4)); },
        open_frames_of<TrrFrames>};
}

}  // namespace pleat
