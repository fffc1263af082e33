// Trajectories that the tests write: DCD, XTC, TRR and AMBER NetCDF, whole, cut short and lying.
#include <gtest/gtest.h>

#include <string>

#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/tests/packed.h"
#include "pleat/bio/tests/refusal.h"
#include "pleat/bio/tests/written_trajectory.h"
#include "pleat/core/array.h"

namespace {

using namespace pleat;
using namespace pleat::testing;

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// Frames of a file, each [axis, atom], and what was noted.
struct Read {
    std::vector<Array<float, 2>> frames;
    Notes notes;
};

Read read(const std::string& bytes, bool skip_first = false) {
    const auto reader = open_frames("x", bytes);
    Read all;
    if (skip_first) {
        EXPECT_TRUE(reader->skip());
    }
    Array<float, 2> frame(3, reader->atom_count());
    while (reader->next(frame)) all.frames.push_back(frame);
    EXPECT_FALSE(reader->next(frame)) << "after the end";
    all.notes = reader->notes();
    return all;
}

std::string refused(const std::string& bytes) {
    return refusal([&] { read(bytes); });
}

/// Frame k of the file is frame first + k of place().
void expect_places(const Read& all, std::size_t frames, int atoms, int first = 0) {
    ASSERT_EQ(all.frames.size(), frames);
    for (std::size_t f = 0; f < frames; ++f) {
        ASSERT_EQ(all.frames[f].extent(1), atoms);
        for (int a = 0; a < 3; ++a) {
            for (int i = 0; i < atoms; ++i) {
                EXPECT_NEAR(all.frames[f](a, i), place(static_cast<int>(f) + first, a, i), 1e-5)
                    << "frame " << f << " axis " << a << " atom " << i;
            }
        }
    }
}

/// Cut anywhere, a file is refused, but between frames, where fewer frames are whole.
void expect_cuts_noticed(const std::string& file, std::size_t header, std::size_t frame_bytes) {
    for (std::size_t n = 1; n < file.size(); ++n) {
        const std::string text = refused(file.substr(0, n));
        const bool between = n >= header && (n - header) % frame_bytes == 0;
        EXPECT_EQ(text.empty(), between) << n << " of " << file.size() << " bytes: " << text;
        EXPECT_TRUE(between || has(text, "expected")) << text;
    }
}

TEST(Dcd, EveryByteOrderMarkerAndExtraRecordIsRead) {
    for (const bool big : {false, true}) {
        for (const int marker : {4, 8}) {
            for (const bool extras : {false, true}) {
                DcdShape shape;
                shape.big = big;
                shape.marker = marker;
                shape.cell = shape.fourth = extras;
                SCOPED_TRACE(::testing::Message() << big << marker << extras);
                const Read all = read(dcd_file(shape));
                expect_places(all, 2, 3);
                EXPECT_TRUE(all.notes.empty());
                expect_places(read(dcd_file(shape), true), 1, 3, 1);
                expect_places(read(gzipped(dcd_file(shape))), 2, 3);
            }
        }
    }
}

TEST(Dcd, FixedAtomsStayWhereTheFirstFrameHasThem) {
    DcdShape shape;
    shape.atoms = 5;
    shape.fixed = 2;
    for (const bool skip : {false, true}) {
        const Read all = read(dcd_file(shape), skip);
        ASSERT_EQ(all.frames.size(), skip ? 1u : 2u);
        const auto& second = all.frames.back();
        EXPECT_FLOAT_EQ(second(1, 0), place(0, 1, 0));
        EXPECT_FLOAT_EQ(second(2, 1), place(0, 2, 1));
        EXPECT_FLOAT_EQ(second(1, 2), place(1, 1, 2));
        EXPECT_FLOAT_EQ(second(2, 4), place(1, 2, 4));
    }
}

TEST(Dcd, AnotherNumberOfWholeFramesIsNotedAndCutFramesAreRefused) {
    DcdShape shape;
    shape.announced = 500;
    const Read all = read(dcd_file(shape));
    ASSERT_EQ(all.notes.size(), 1u);
    EXPECT_EQ(all.notes[0].text, "x: the header announces 500 frames, the file holds 2");
    shape.announced = 0;
    EXPECT_TRUE(read(dcd_file(shape)).notes.empty());
    const std::string file = dcd_file(shape);
    const std::size_t frame = 3 * (12 + 8);
    expect_cuts_noticed(file, file.size() - 2 * frame, frame);
    EXPECT_TRUE(has(refused(file.substr(0, file.size() - 1)), "frame 1: expected 20 more bytes"));
}

TEST(Dcd, HeadersThatLieAreRefused) {
    const std::string good = dcd_file({});
    const auto with = [&](std::size_t at, char byte) {
        std::string bad = good;
        bad[at] = byte;
        return refused(bad);
    };
    std::string velocities = good;
    velocities.replace(4, 4, "VELD");
    EXPECT_TRUE(has(refused(velocities), "found velocities"));
    EXPECT_TRUE(has(with(88, 1), "expected the header to end with its length 84"));
    const std::size_t atoms = 92 + 92 + 4;
    EXPECT_TRUE(has(with(atoms, 4), "frame 0: expected coordinates in a record of 16 bytes"));
    EXPECT_TRUE(has(with(atoms + 2, 1), "frame 0: expected 262164 more bytes, found"));
    EXPECT_TRUE(has(with(atoms + 3, '\x80'), "expected at least one atom"));
    EXPECT_TRUE(has(with(8 + 4 * 8, 3), "expected 0 to 2 fixed atoms, found 3"));
}

TEST(Xtc, PackedFramesAreUnpacked) {
    for (const int magic : {1995, 2023}) {
        const std::string frame = xtc_packed_frame(magic);
        const Read all = read(frame + frame);
        ASSERT_EQ(all.frames.size(), 2u);
        for (int i = 0; i < 12; ++i) {
            for (std::size_t a = 0; a < 3; ++a) {
                EXPECT_NEAR(all.frames[1](a, i), packed_place(i)[a] * 0.01, 1e-5)
                    << "atom " << i << " axis " << a;
            }
        }
        EXPECT_EQ(read(frame + frame, true).frames.size(), 1u);
        expect_cuts_noticed(frame + frame, frame.size(), frame.size());
    }
}

TEST(Xtc, SmallSystemsAreFloats) {
    const std::string file = xtc_plain_frame(0, 9) + xtc_plain_frame(1, 9);
    expect_places(read(file), 2, 9);
    expect_cuts_noticed(file, file.size() / 2, file.size() / 2);
}

TEST(Xtc, FramesThatContradictAreRefused) {
    const std::string frame = xtc_packed_frame(1995);
    const auto with = [&](std::size_t at, std::int32_t value) {
        std::string bad = frame;
        bad.replace(at, 4, Bytes{}.integer(value).text);
        return refused(frame + bad);
    };
    EXPECT_TRUE(has(with(0, 1994), "frame 1: expected the magic number 1995 or 2023, found 1994"));
    EXPECT_TRUE(has(with(4, 13), "frame 1: expected 12 atoms, found 13"));
    EXPECT_TRUE(has(with(52, 11), "frame 1: expected 12 atoms, found 11"));
    EXPECT_TRUE(has(with(56, 0), "expected a positive precision"));
    EXPECT_TRUE(has(with(60, 5000), "expected the least integer of an axis below"));
    EXPECT_TRUE(has(with(84, 8), "expected a range of differences"));
    EXPECT_TRUE(has(with(84, 73), "expected a range of differences"));
    EXPECT_TRUE(has(with(88, 8), "frame 1: expected"));
    EXPECT_TRUE(has(with(88, -1), "packed bytes"));
    EXPECT_TRUE(has(with(88, 1 << 30), "packed bytes"));
}

TEST(Trr, FloatsAndDoublesAreReadAndOtherFramesPassedOver) {
    const std::string file = trr_frame<float>(0, 4, true, false) +
                             trr_frame<float>(9, 4, false, true) +
                             trr_frame<double>(1, 4, true, true);
    const Read all = read(file);
    expect_places(all, 2, 4);
    ASSERT_EQ(all.notes.size(), 1u);
    EXPECT_TRUE(has(all.notes[0].text, "passed over 1 frame without coordinates"));
    expect_places(read(file, true), 1, 4, 1);
    const std::string one = trr_frame<double>(0, 4, true, true);
    expect_cuts_noticed(one + one, one.size(), one.size());
    std::string bad = one + one;
    bad.replace(one.size() + 24 + 4 * 7, 4, Bytes{}.integer(100).text);
    EXPECT_TRUE(has(refused(bad), "frame 1: expected 12 floats or doubles, found 100 bytes"))
        << refused(bad);
    EXPECT_TRUE(
        has(refused(one + trr_frame<double>(0, 5, true, true)), "frame 1: expected 4 atoms"));
}

TEST(Netcdf, EveryVersionIsRead) {
    for (const int version : {1, 2, 5}) {
        SCOPED_TRACE(version);
        const std::string file = netcdf_file(version, 3, 2, 2);
        expect_places(read(file), 2, 3);
        expect_places(read(file, true), 1, 3, 1);
        expect_places(read(netcdf_file(version, 3, 2, -1)), 2, 3);
        expect_cuts_noticed(file, file.size() - 2 * 40, 40);
        const Read more = read(netcdf_file(version, 3, 2, 7));
        ASSERT_EQ(more.notes.size(), 1u);
        EXPECT_TRUE(has(more.notes[0].text, "announces 7 frames, the file holds 2"));
    }
    EXPECT_TRUE(has(refused(netcdf_file(1, 3, 2, 2, "CF-1.0")), "of the convention AMBER"));
    EXPECT_TRUE(has(refused(netcdf_file(3, 3, 2, 2)), "expected NetCDF-3"));
}

TEST(Trajectory, OtherDataAreNamed) {
    EXPECT_TRUE(has(refused(std::string("\x89HDF\r\n\x1a\n", 8)), "HDF5"));
    EXPECT_TRUE(has(refused(std::string(64, '\0')), "found other binary data"));
    EXPECT_TRUE(has(refused(gzipped(dcd_file({})).substr(0, 60)), "cut short"));
}

}  // namespace
