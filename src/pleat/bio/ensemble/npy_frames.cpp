// NPY frames: an array [frame, atom, 3] of floats or doubles, in angstrom.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "pleat/bio/ensemble/frame_formats.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/npy_header.h"
#include "pleat/core/notes.h"

namespace pleat {

namespace {

class NpyFrames : public TrajectoryFrames {
public:
    explicit NpyFrames(std::unique_ptr<ByteReader> bytes) : TrajectoryFrames(std::move(bytes)) {
        read_header();
        if (header_.shape.size() != 3 || header_.shape[2] != 3) {
            fail(fmt::format("expected an array [frame, atom, 3], found shape ({})",
                             fmt::join(header_.shape, ", ")));
        }
        if (header_.dtype[1] != 'f') {
            fail(fmt::format("expected floats of 4 or 8 bytes, found element type '{}'",
                             header_.dtype));
        }
        count_ = header_.shape[0];
        atoms_ = header_.shape[1];
        if (count_ < 1) fail("expected frames, found none");
        if (atoms_ < 1) fail("expected atoms, found none");
        // Topology data of unnamed atoms takes more memory than their coordinates.
        constexpr Index kMaxUnseen = 1'000'000;
        if (bytes_->left() < 0 && atoms_ > kMaxUnseen)
            fail(fmt::format(
                "expected at most {} atoms in packed data or a pipe, found {}; unpack it, "
                "or save it to a file, first",
                kMaxUnseen, atoms_));
        // One frame is read first, so that atoms that only the header has get no memory.
        if (header_.fortran_order) {
            read_whole();
        } else {
            frame_bytes(row_bytes());
        }
    }

    std::string_view format() const override { return "NPY"; }
    bool is_trajectory() const override { return false; }
    std::shared_ptr<const Topology> atoms_by_order() const override {
        return std::make_shared<Topology>(unnamed_topology(atoms_, bytes_->name()));
    }

    void centre(const std::shared_ptr<Centring>& centring) override { centring_ = centring; }

private:
    bool begin_frame() override {
        if (frames_ == count_) check_end();
        return frames_ < count_;
    }

    void read_coordinates(View<float, 2> frame) override {
        const char* const numbers = row();
        const std::size_t width = header_.element_bytes;
        const bool big = header_.dtype[0] == '>';
        set_frame(frame, numbers, width, 1, big,
                  width == 8 ? shift_of(numbers, big) : std::array<double, 3>{});
    }

    /// Returns the shift to subtract from this frame's doubles before they are rounded to float32.
    std::array<double, 3> shift_of(const char* at, bool big) {
        if (centring_ == nullptr) return {};
        std::array<double, 3> mean{};
        for (Index atom = 0; atom < atoms_; ++atom)
            for (std::size_t axis = 0; axis < 3; ++axis, at += 8)
                mean[axis] += stored_number<double>(at, big) / static_cast<double>(atoms_);
        centring_->choose_shift(mean);
        const std::array<double, 3>& shift = centring_->shift;
        if (!told_ && shift != std::array<double, 3>{}) {
            notes_.push_back(
                {NoteKind::moved,
                 fmt::format(
                     "{}: {} moved to the origin, as float32 cannot hold coordinates so far "
                     "from it; the first by {:g} {:g} {:g} angstrom",
                     bytes_->name(),
                     centring_->centres_each_frame ? "frames are each" : "all frames are",
                     -shift[0], -shift[1], -shift[2])});
            told_ = true;
        }
        return shift;
    }

    std::size_t row_bytes() const {
        return static_cast<std::size_t>(3 * atoms_) * header_.element_bytes;
    }

    void read_header() {
        std::vector<char> start;
        const auto at = [&](std::size_t i) {
            return i < start.size() ? static_cast<unsigned char>(start[i]) : 0u;
        };
        const std::string_view prefix = bytes_->peek(12);
        start.assign(prefix.begin(), prefix.end());
        const bool first_version = at(6) == 1;
        std::size_t length = at(8) | at(9) << 8;
        if (!first_version) length |= std::size_t{at(10)} << 16 | std::size_t{at(11)} << 24;
        constexpr std::size_t kMaxHeader = 1 << 16;
        if (length > kMaxHeader)
            fail(fmt::format("expected an .npy header of at most {} bytes, found {}", kMaxHeader,
                             length));
        bytes_->read(start, length + (first_version ? 10 : 12));
        const std::size_t prefix_bytes =
            std::min<std::size_t>(first_version ? 10 : 12, start.size());
        header_bytes_.assign(start.begin(), start.end());
        // Keys and types of numeric arrays are ASCII; messages quote them.
        const bool ascii =
            std::all_of(start.begin() + static_cast<std::ptrdiff_t>(prefix_bytes), start.end(),
                        [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
        if (!ascii) fail("expected an .npy header in ASCII, found other characters");
        header_ = read_npy_header(header_bytes_, bytes_->name());
    }

    /// Reads an array in Fortran order, where a frame's numbers are spread over the whole file.
    void read_whole() {
        std::vector<char> data;
        const std::size_t found = bytes_->read(data, header_.data_bytes);
        if (found < header_.data_bytes)
            fail(fmt::format("expected {} bytes of type {} and shape ({}), found {}",
                             header_.data_bytes, header_.dtype, fmt::join(header_.shape, ", "),
                             found));
        std::vector<std::uint8_t> all = header_bytes_;
        all.insert(all.end(), data.begin(), data.end());
        whole_ = parse_npy(std::move(all), bytes_->name()).bytes;
        header_.dtype[0] = '<';
    }

    const char* row() {
        if (!header_.fortran_order)
            return frames_ == 0 ? buffer_.data() : frame_bytes(row_bytes()).data();
        return reinterpret_cast<const char*>(whole_.data()) +
               static_cast<std::size_t>(frames_) * row_bytes();
    }

    void check_end() {
        if (bytes_->at_end()) return;
        fail(fmt::format("expected the end of the file after {} frames, found more bytes", count_));
    }

    NpyHeader header_;
    std::vector<std::uint8_t> header_bytes_, whole_;
    Index count_ = 0;
    std::shared_ptr<Centring> centring_;
    bool told_ = false;
};

}  // namespace

FrameFormat npy_format() {
    return {"NPY", ".npy ", [](ByteReader& bytes) { return has_magic(bytes, 0, "\x93NUMPY"); },
            open_frames_of<NpyFrames>};
}

}  // namespace pleat
