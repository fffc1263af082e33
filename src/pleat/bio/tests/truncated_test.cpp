// Trajectories that are cut short: refused, or their whole frames taken with a warning.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <string>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/tests/packed.h"
#include "pleat/bio/tests/refusal.h"
#include "pleat/bio/tests/scratch_file.h"
#include "pleat/bio/tests/structure_text.h"
#include "pleat/bio/tests/written_trajectory.h"
#include "pleat/core/files/npy.h"

namespace {

using namespace pleat;
using namespace pleat::testing;
using pleat::test::AtomText;
using pleat::test::pdb_line;

std::string model(int atoms, float shift) {
    std::string text = "MODEL        1\n";
    for (int i = 0; i < atoms; ++i) {
        AtomText atom;
        atom.number = i + 1;
        atom.x = shift + static_cast<float>(i);
        text += pdb_line(atom);
    }
    return text + "ENDMDL\n";
}

/// Reads three frames of which the last is cut by `cut` bytes, all ways.
void expect_two_frames(const std::string& name, const std::string& whole, std::size_t cut,
                       int atoms) {
    SCOPED_TRACE(name);
    const ScratchFolder folder;
    EnsembleOptions options;
    options.topology = folder.write("atoms.pdb", model(atoms, 0));
    const std::string file = folder.write(name, whole.substr(0, whole.size() - cut)).string();
    const std::string refused = refusal([&] { read_ensemble({file}, options); });
    EXPECT_NE(refused.find("the option truncated keeps the 2 whole frames before it"),
              std::string::npos)
        << refused;
    options.truncated = true;
    const Ensemble found = read_ensemble({file, file}, options);
    EXPECT_EQ(found.frame_count(), 4);
    int warnings = 0;
    for (const Note& note : found.notes) warnings += note.is_warning;
    EXPECT_EQ(warnings, 2);
    // The frames are those of the whole file.
    const Ensemble all = read_ensemble({folder.write("whole_" + name, whole).string()}, options);
    ASSERT_EQ(all.frame_count(), 3);
    for (Index frame = 0; frame < 4; ++frame)
        for (Index axis = 0; axis < 3; ++axis)
            for (Index atom = 0; atom < atoms; ++atom)
                ASSERT_EQ(found.xyz(frame, axis, atom), all.xyz(frame % 2, axis, atom));
    // Frames that are passed over end in the same place.
    options.range.first = 1;
    EXPECT_EQ(read_ensemble({file}, options).frame_count(), 1);
}

TEST(Truncated, WholeFramesOfEveryFormatAreTaken) {
    DcdShape shape;
    shape.frames = 3;
    shape.announced = 0;
    expect_two_frames("a.dcd", dcd_file(shape), 7, 3);
    shape.cell = true;
    expect_two_frames("b.dcd", dcd_file(shape), 100, 3);
    const std::string packed = xtc_packed_frame(1995);
    expect_two_frames("a.xtc", packed + packed + packed, 20, 12);
    expect_two_frames("b.xtc", packed + packed + packed, packed.size() - 10, 12);
    expect_two_frames("c.xtc",
                      xtc_plain_frame(0, 9) + xtc_plain_frame(1, 9) + xtc_plain_frame(2, 9), 8, 9);
    const auto trr = [](int f) { return trr_frame<float>(f, 4, true, true); };
    expect_two_frames("a.trr", trr(0) + trr(1) + trr(2), 4, 4);
    expect_two_frames("b.trr", trr(0) + trr(1) + trr(2), trr(2).size() - 2, 4);
    expect_two_frames("a.nc", netcdf_file(2, 3, 3, 3), 5, 3);
    expect_two_frames("a.pdb", model(3, 0) + model(3, 1) + model(3, 2), 100, 3);
    expect_two_frames("b.pdb", model(3, 0) + model(3, 1) + model(3, 2), 60, 3);
}

TEST(Truncated, WholeFramesOfPackedDataAreTaken) {
    DcdShape shape;
    shape.atoms = 500;
    shape.frames = 3;
    const std::string whole = dcd_file(shape);
    const std::string cut = whole.substr(0, whole.size() - 10);
    const ScratchFolder folder;
    EnsembleOptions options;
    options.topology = folder.write("atoms.pdb", model(500, 0));
    options.truncated = true;
    const std::string packed = gzipped(cut);
    EXPECT_EQ(read_ensemble({folder.write("a.dcd.gz", packed).string()}, options).frame_count(), 2);
    EXPECT_EQ(
        read_ensemble({folder.write("b.dcd.gz", packed.substr(0, packed.size() - 12)).string()},
                      options)
            .frame_count(),
        2);
}

TEST(Truncated, AFileWithoutAWholeFrameAndDamageAreRefused) {
    const ScratchFolder folder;
    EnsembleOptions options;
    options.topology = folder.write("atoms.pdb", model(9, 0));
    options.truncated = true;
    const std::string frame = xtc_plain_frame(0, 9);
    const std::string none = folder.write("none.xtc", frame.substr(0, 50)).string();
    EXPECT_NE(refusal([&] { read_ensemble({none}, options); }), "");
    std::string damaged = frame + frame + frame;
    damaged[frame.size() + 3] = 'x';
    const std::string bad = folder.write("bad.xtc", damaged).string();
    EXPECT_NE(refusal([&] { read_ensemble({bad}, options); }).find("magic number"),
              std::string::npos);
}

TEST(Centring, DoublesFarFromTheOriginKeepTheirDigits) {
    const ScratchFolder folder;
    const std::string path = (folder.path() / "far.npy").string();
    std::vector<double> xyz;
    for (int frame = 0; frame < 2; ++frame)
        for (int k = 0; k < 12; ++k) xyz.push_back(1e5 * (frame + 1) + std::sin(0.7 * k + frame));
    write_npy(path, xyz.data(), {2, 4, 3});
    EnsembleOptions options;
    options.centre_each_frame = true;
    for (const bool each : {true, false}) {
        options.centre_each_frame = each;
        const Ensemble found = read_ensemble({path}, options);
        for (Index frame = 0; frame < (each ? 2 : 1); ++frame)
            for (Index axis = 0; axis < 3; ++axis)
                for (Index atom = 0; atom < 4; ++atom) {
                    const double moved = found.xyz(frame, axis, atom) - found.xyz(frame, axis, 0);
                    const auto* from = xyz.data() + frame * 12;
                    EXPECT_NEAR(moved, from[3 * atom + axis] - from[axis], 5e-7);
                }
        const auto told = [](const Note& note) { return note.kind == NoteKind::moved; };
        EXPECT_EQ(std::count_if(found.notes.begin(), found.notes.end(), told), 1);
    }
    for (std::size_t k = 0; k < xyz.size(); ++k) xyz[k] -= k < 12 ? 1e5 : 2e5;
    write_npy(path, xyz.data(), {2, 4, 3});
    EXPECT_EQ(read_ensemble({path}, options).xyz(1, 2, 3), static_cast<float>(xyz[23]))
        << "near the origin";
}

}  // namespace
