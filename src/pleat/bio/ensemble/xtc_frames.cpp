// XTC frames: compressed GROMACS trajectories, in nanometre and big-endian (XDR).
//
// A frame is magic number, atoms, step, time and box, then the atoms again and their coordinates:
// as floats for nine atoms or fewer, else packed as Unpacking describes. The magic number
// 2023 means that the count of packed bytes has 64 bits instead of 32.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "pleat/bio/ensemble/frame_formats.h"

namespace pleat {

namespace {

constexpr std::int32_t kMagic = 1995, kWideMagic = 2023;
constexpr std::size_t kHeaderBytes = 4 * (4 + 9 + 1);
constexpr std::size_t kPackingBytes = 36, kWidePackingBytes = 40;
constexpr Index kMaxUnpacked = 9;

/// The numbers before the packed coordinates of a frame.
struct XtcPacking {
    float precision = 0;                ///< integers per nanometre
    std::array<std::int32_t, 3> min{};  ///< smallest integer of each axis
    std::array<std::int32_t, 3> max{};  ///< largest integer of each axis
    std::int32_t small = 0;             ///< index of the range of small differences at the start
    std::size_t packed_bytes = 0;
};

__extension__ typedef unsigned __int128 Wide;

/// Ranges of small differences: three numbers in range n together take n bits, so the range is near
/// 2^(n / 3). The format fixes these values, including irregular ones.
constexpr std::array<std::int32_t, 73> kRanges = {
    0,        0,        0,       0,       0,       0,       0,       0,       0,       8,
    10,       12,       16,      20,      25,      32,      40,      50,      64,      80,
    101,      128,      161,     203,     256,     322,     406,     512,     645,     812,
    1024,     1290,     1625,    2048,    2580,    3250,    4096,    5060,    6501,    8192,
    10321,    13003,    16384,   20642,   26007,   32768,   41285,   52015,   65536,   82570,
    104031,   131072,   165140,  208063,  262144,  330280,  416127,  524287,  660561,  832255,
    1048576,  1321122,  1664510, 2097152, 2642245, 3329021, 4194304, 5284491, 6658042, 8388607,
    10568983, 13316085, 16777216};
constexpr std::int32_t kFirstRange = 9;
constexpr auto kLastRange = static_cast<std::int32_t>(kRanges.size()) - 1;
constexpr std::uint64_t kMaxMixed = 0xffffff;

/// Reads bits, most significant bit of each byte first; zeros after the end (checked later).
class BitReader {
public:
    static constexpr int kMaxBits = 57;

    explicit BitReader(std::string_view bytes) : bytes_(bytes) {}

    /// From 1 to kMaxBits bits.
    std::uint64_t read(int count) {
        std::array<char, 8> eight{};
        const std::size_t first = std::min(at_ / 8, bytes_.size());
        if (first + 8 <= bytes_.size())
            std::memcpy(eight.data(), bytes_.data() + first, 8);
        else
            bytes_.copy(eight.data(), 8, first);
        const std::uint64_t bits = stored_number<std::uint64_t>(eight.data(), true) << at_ % 8;
        at_ += static_cast<std::size_t>(count);
        return bits >> (64 - count);
    }
    bool past_end() const { return at_ > 8 * bytes_.size(); }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;  // in bits
};

using Integers = std::array<std::int64_t, 3>;

/// Divides a number into three below `ranges`.
template <class Unsigned>
Integers split_mixed(Unsigned mixed, const std::array<std::uint64_t, 3>& ranges) {
    const auto last = static_cast<std::int64_t>(mixed % ranges[2]);
    mixed /= ranges[2];
    return {static_cast<std::int64_t>(static_cast<std::uint64_t>(mixed / ranges[1])),
            static_cast<std::int64_t>(mixed % ranges[1]), last};
}

/// Decodes three numbers mixed into one of `count` bits, least significant byte first.
inline Integers read_mixed(BitReader& bits, int count, const std::array<std::uint64_t, 3>& ranges) {
    // The last byte may be shorter than the others.
    const int others = (count - 1) / 8 * 8, last = count - others;
    if (count > BitReader::kMaxBits) {
        Wide mixed = 0;
        for (int shift = 0; shift < others; shift += 8) mixed |= Wide{bits.read(8)} << shift;
        return split_mixed(mixed | Wide{bits.read(last)} << others, ranges);
    }
    std::uint64_t mixed = bits.read(count);
    if (others > 0)
        mixed = (mixed & ((std::uint64_t{1} << last) - 1)) << others |
                __builtin_bswap64(mixed >> last) >> (64 - others);
    return split_mixed(mixed, ranges);
}

int bit_length(Wide value) {
    const auto high = static_cast<std::uint64_t>(value >> 64);
    const auto low = static_cast<std::uint64_t>(value);
    return high != 0 ? 64 + std::bit_width(high) : std::bit_width(low);
}

/// Unpacks one frame into `frame` [axis, atom], in angstrom; run() returns the complaint (`expected
/// X, found Y`), empty if there is none.
///
/// An atom is three integers above `min`, mixed into one number with the ranges as its bases (or
/// three numbers if a range needs more than 24 bits). A bit says whether five more change the
/// length of the run that follows and the range of its differences; each atom of the run is its
/// difference from the atom before, in a range of the table of small ranges. The first two atoms of
/// a run are stored in exchanged order (oxygen and hydrogen of waters).
class Unpacking {
public:
    Unpacking(const XtcPacking& packing, std::string_view bytes, View<float, 2> frame)
        : packing_(packing),
          bits_(bytes),
          frame_(frame),
          angstrom_(10.0 / static_cast<double>(packing.precision)),
          small_(packing.small) {}

    std::string run() {
        if (const std::string problem = prepare(); !problem.empty()) return problem;
        const Index atoms = frame_.extent(1);
        while (atom_ < atoms) {
            Integers position = read_position();
            int change = 0;
            if (bits_.read(1) != 0) {
                const auto both = static_cast<int>(bits_.read(5));
                change = both % 3 - 1;
                run_ = both / 3;
            }
            if (run_ > atoms - atom_ - 1) {
                return fmt::format("expected a run within {} atoms, found {} more from atom {} on",
                                   atoms, run_, atom_ + 1);
            }
            if (run_ > 0) {
                read_run(position);
            } else {
                set_next(position);
            }
            if (bits_.past_end()) {
                return fmt::format(
                    "expected coordinates of {} atoms in {} bytes, found the end at "
                    "atom {}",
                    atoms, packing_.packed_bytes, atom_);
            }
            if (!set_small(small_ + change)) return range_problem(small_ + change);
        }
        return {};
    }

private:
    static std::string range_problem(std::int32_t small) {
        return fmt::format("expected a range of differences from {} to {}, found {}", kFirstRange,
                           kLastRange, small);
    }

    std::string prepare() {
        Wide product = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::int64_t extent =
                std::int64_t{packing_.max[axis]} - std::int64_t{packing_.min[axis]} + 1;
            if (extent < 1) {
                return fmt::format(
                    "expected the least integer of an axis below the greatest, found "
                    "{} and {}",
                    packing_.min[axis], packing_.max[axis]);
            }
            ranges_[axis] = static_cast<std::uint64_t>(extent);
            apart_ = apart_ || ranges_[axis] > kMaxMixed;
            product *= ranges_[axis];
        }
        mixed_bits_ = apart_ ? 0 : bit_length(product);
        return set_small(small_) ? std::string() : range_problem(small_);
    }

    bool set_small(std::int32_t small) {
        if (small < kFirstRange || small > kLastRange) return false;
        small_ = small;
        small_range_ = kRanges[small];
        return true;
    }

    Integers read_position() {
        Integers position{};
        if (apart_) {
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const int count = std::min(32, static_cast<int>(std::bit_width(ranges_[axis])));
                position[axis] = static_cast<std::int64_t>(bits_.read(count));
            }
        } else {
            position = read_mixed(bits_, mixed_bits_, ranges_);
        }
        for (std::size_t axis = 0; axis < 3; ++axis) position[axis] += packing_.min[axis];
        return position;
    }

    void read_run(const Integers& start) {
        const auto range = static_cast<std::uint64_t>(small_range_);
        Integers previous = start;
        for (int k = 0; k < run_; ++k) {
            Integers position = read_mixed(bits_, small_, {range, range, range});
            for (std::size_t axis = 0; axis < 3; ++axis)
                position[axis] += previous[axis] - small_range_ / 2;
            set_next(position);
            // The first stored atom is the second atom of the frame.
            if (k == 0) set_next(start);
            previous = position;
        }
    }

    void set_next(const Integers& position) {
        for (Index axis = 0; axis < 3; ++axis) {
            frame_(axis, atom_) =
                static_cast<float>(static_cast<double>(position[axis]) * angstrom_);
        }
        ++atom_;
    }

    const XtcPacking& packing_;
    BitReader bits_;
    View<float, 2> frame_;
    double angstrom_;
    std::int32_t small_;
    std::int32_t small_range_ = 0;
    std::array<std::uint64_t, 3> ranges_{};
    int mixed_bits_ = 0;
    bool apart_ = false;
    int run_ = 0;
    Index atom_ = 0;
};

class XtcFrames : public TrajectoryFrames {
public:
    explicit XtcFrames(std::unique_ptr<ByteReader> bytes) : TrajectoryFrames(std::move(bytes)) {
        const std::string_view start = bytes_->peek(8);
        if (start.size() < 8) fail("expected an XTC header, found fewer than 8 bytes");
        set_atom_count(stored_number<std::int32_t>(start.data() + 4, true));
    }

    std::string_view format() const override { return "XTC"; }
    bool next_stored(StoredCoordinates& stored, View<float, 2>) override {
        if (!begin_frame()) return false;
        read_stored(stored);
        ++frames_;
        return true;
    }

private:
    void read_coordinates(View<float, 2> frame) override {
        read_stored(stored_);
        if (const std::string problem = unpack(stored_, frame); !problem.empty())
            fail_in_frame(problem);
    }

    void skip_coordinates() override {
        std::size_t bytes = 12 * static_cast<std::size_t>(atoms_);
        if (atoms_ > kMaxUnpacked) bytes = padded(read_packing().packed_bytes);
        skip_in_frame(bytes);
    }

    static std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

    void read_stored(StoredCoordinates& stored) {
        std::size_t bytes = 12 * static_cast<std::size_t>(atoms_);
        if (atoms_ > kMaxUnpacked) {
            bytes = padded(read_packing().packed_bytes);
            stored.header = buffer_;
        }
        frame_bytes(bytes);
        stored.bytes.swap(buffer_);
        stored.unpack = unpack;
    }

    static std::string unpack(const StoredCoordinates& stored, View<float, 2> frame) {
        if (frame.extent(1) <= kMaxUnpacked) {
            set_frame(frame, stored.bytes.data(), 4, 10);
            return {};
        }
        const XtcPacking packing = packing_of(stored.header);
        return Unpacking(packing, {stored.bytes.data(), packing.packed_bytes}, frame).run();
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
        set_box(header.data() + 16, 4);
        return true;
    }

    static XtcPacking packing_of(const std::vector<char>& header) {
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
        const bool is_wide = header.size() == kWidePackingBytes;
        packing.packed_bytes = is_wide ? stored_number<std::uint64_t>(header.data() + 32, true)
                                       : static_cast<std::size_t>(integer(8));
        return packing;
    }

    XtcPacking read_packing() {
        const XtcPacking packing =
            packing_of(frame_bytes(wide_ ? kWidePackingBytes : kPackingBytes));
        const auto count = static_cast<std::int64_t>(packing.packed_bytes);
        // An atom takes at most three 32-bit numbers and six bits about its run.
        const Index max_bytes = 13 * atoms_ + 8;
        if (count < 0 || count > max_bytes) {
            fail_in_frame(fmt::format("expected at most {} packed bytes for {} atoms, found {}",
                                      max_bytes, atoms_, count));
        }
        if (!(packing.precision > 0) || !std::isfinite(packing.precision)) {
            fail_in_frame(
                fmt::format("expected a positive precision, found {}", packing.precision));
        }
        return packing;
    }

    bool wide_ = false;
    StoredCoordinates stored_;
};

}  // namespace

FrameFormat xtc_format() {
    return {"XTC", ".xtc ",
            [](ByteReader& bytes) {
                return has_magic(bytes, 0, std::string_view("\0\0\x07\xcb", 4)) ||
                       has_magic(bytes, 0, std::string_view("\0\0\x07\xe7", 4));
            },
            open_frames_of<XtcFrames>};
}

}  // namespace pleat
