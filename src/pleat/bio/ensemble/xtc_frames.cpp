// XTC frames: compressed GROMACS trajectories, in nanometre and big-endian (XDR).
//
// A frame is magic number, atoms, step, time and box, then the atoms again and their coordinates:
// as floats for nine atoms or fewer, else packed as described in xtc_packing.h. The magic number
// 2023 means that the count of packed bytes has 64 bits instead of 32.
#include <fmt/format.h>

#include <cmath>

#include "pleat/bio/ensemble/trajectory_frames.h"
#include "pleat/bio/ensemble/xtc_packing.h"

namespace pleat {

namespace {

constexpr std::int32_t kMagic = 1995, kWideMagic = 2023;
constexpr std::size_t kHeaderBytes = 4 * (4 + 9 + 1);
constexpr Index kMaxUnpacked = 9;

class XtcFrames : public TrajectoryFrames {
public:
    explicit XtcFrames(std::unique_ptr<ByteReader> bytes) : TrajectoryFrames(std::move(bytes)) {
        const std::string_view start = bytes_->peek(8);
        if (start.size() < 8) fail("expected an XTC header, found fewer than 8 bytes");
        atoms_ = stored_number<std::int32_t>(start.data() + 4, true);
        if (atoms_ < 1) fail(fmt::format("expected at least one atom, found {}", atoms_));
    }

    std::string_view format() const override { return "XTC"; }

private:
    void read_coordinates(View<float, 2> frame) override {
        if (atoms_ <= kMaxUnpacked)
            return set_frame(frame, {frame_bytes(12 * static_cast<std::size_t>(atoms_)).data()},
                             10);
        const XtcPacking packing = read_packing();
        const std::string problem = unpack_xtc(packing, packed(packing.packed_bytes), frame);
        if (!problem.empty()) fail_in_frame(problem);
    }

    void skip_coordinates() override {
        std::size_t bytes = 12 * static_cast<std::size_t>(atoms_);
        if (atoms_ > kMaxUnpacked) bytes = padded(read_packing().packed_bytes);
        skip_in_frame(bytes);
    }

    static std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

    std::string_view packed(std::size_t bytes) {
        const std::vector<char>& found = frame_bytes(padded(bytes));
        return {found.data(), bytes};
    }

    bool begin_frame() override {
        if (bytes_->at_end()) return false;
        const std::vector<char>& header = frame_bytes(kHeaderBytes);
        const auto magic = stored_number<std::int32_t>(header.data(), true);
        if (magic != kMagic && magic != kWideMagic) {
            fail_in_frame(fmt::format("expected the magic number {} or {}, found {}", kMagic,
                                      kWideMagic, magic));
        }
        wide_ = magic == kWideMagic;
        for (const std::size_t at : {std::size_t{4}, kHeaderBytes - 4}) {
            const auto atoms = stored_number<std::int32_t>(header.data() + at, true);
            if (atoms == atoms_) continue;
            fail_in_frame(fmt::format("expected {} atoms, found {}", atoms_, atoms));
        }
        time_ = stored_number<float>(header.data() + 12, true);
        for (std::size_t i = 0; i < 9; ++i)
            cell_.vectors[i / 3][i % 3] =
                10.0 * stored_number<float>(header.data() + 16 + 4 * i, true);
        return true;
    }

    XtcPacking read_packing() {
        const std::size_t count_bytes = wide_ ? 8 : 4;
        const std::vector<char>& header = frame_bytes(32 + count_bytes);
        const auto integer = [&](std::size_t i) {
            return stored_number<std::int32_t>(header.data() + 4 * i, true);
        };
        XtcPacking packing;
        packing.precision = stored_number<float>(header.data(), true);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            packing.min[axis] = integer(1 + axis);
            packing.max[axis] = integer(4 + axis);
        }
        packing.small = integer(7);
        const std::int64_t count =
            wide_ ? stored_number<std::int64_t>(header.data() + 32, true) : integer(8);
        // An atom takes three numbers of 32 bits and six bits about its run at the most.
        const Index max_bytes = 13 * atoms_ + 8;
        if (count < 0 || count > max_bytes) {
            fail_in_frame(fmt::format("expected at most {} packed bytes for {} atoms, found {}",
                                      max_bytes, atoms_, count));
        }
        if (!(packing.precision > 0) || !std::isfinite(packing.precision)) {
            fail_in_frame(
                fmt::format("expected a positive precision, found {}", packing.precision));
        }
        packing.packed_bytes = static_cast<std::size_t>(count);
        return packing;
    }

    bool wide_ = false;
};

}  // namespace

std::unique_ptr<FrameReader> open_xtc_frames(std::unique_ptr<ByteReader> bytes) {
    return std::make_unique<XtcFrames>(std::move(bytes));
}

}  // namespace pleat
