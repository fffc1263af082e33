// Reading on several threads: frames, notes and errors are those of one frame after another.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/bio/ensemble/ensemble_reader.h"
#include "pleat/bio/tests/packed.h"
#include "pleat/bio/tests/refusal.h"
#include "pleat/bio/tests/scratch_file.h"
#include "pleat/bio/tests/structure_text.h"
#include "pleat/bio/tests/written_trajectory.h"

namespace {

using namespace pleat;
using namespace pleat::testing;

constexpr std::size_t kTime = 12, kBox = 16, kPrecision = 56, kSmall = 84;

void put(std::string& frame, std::size_t at, const Bytes& number) {
    frame.replace(at, number.text.size(), number.text);
}

/// A frame of twelve atoms unlike any other. Some boxes split its molecules.
std::string xtc_frame(int f, bool has_box = false) {
    std::string frame = xtc_packed_frame(1995);
    put(frame, kTime, Bytes{}.put(static_cast<float>(f)));
    // Atoms that follow one another are some 4 angstrom apart.
    put(frame, kPrecision, Bytes{}.put(25.f + static_cast<float>(f) / 4096));
    const float box = f % 3 == 0 ? 9.f : f % 3 == 1 ? 0.6f : 1.1f;
    for (std::size_t axis = 0; axis < 3 && has_box; ++axis)
        put(frame, kBox + 16 * axis, Bytes{}.put(box));
    return frame;
}

std::string xtc_frames(int first, int count, bool has_box = false) {
    std::string text;
    for (int f = first; f < first + count; ++f) text += xtc_frame(f, has_box);
    return text;
}

std::string topology(bool has_positions = true) {
    std::string text;
    for (int i = 0; i < 12; ++i) {
        test::AtomText atom;
        atom.number = i + 1;
        atom.chain = i < 7 ? "A" : "B";
        atom.x = has_positions ? 3.8 * i : 0;
        text += test::pdb_line(atom);
    }
    return text + "END\n";
}

struct Read {
    std::vector<float> xyz;
    std::vector<FrameOrigin> origins;
    std::vector<Index> numbers;
    Notes notes;
    std::string error;
};

void expect_same(const Read& found, const Read& expected) {
    EXPECT_EQ(found.error, expected.error);
    EXPECT_EQ(found.numbers, expected.numbers);
    EXPECT_EQ(found.notes, expected.notes);
    ASSERT_EQ(found.xyz.size(), expected.xyz.size());
    EXPECT_TRUE(std::equal(found.xyz.begin(), found.xyz.end(), expected.xyz.begin()));
    const auto is_same = [](const FrameOrigin& a, const FrameOrigin& b) {
        return a.file == b.file && a.frame == b.frame && a.time == b.time;
    };
    EXPECT_TRUE(std::equal(found.origins.begin(), found.origins.end(), expected.origins.begin(),
                           expected.origins.end(), is_same));
}

/// Reads one frame after another.
Read read_alone(const std::vector<std::string>& files, const EnsembleOptions& options) {
    Read all;
    all.error = refusal([&] {
        EnsembleReader reader(files, options);
        Array<float, 2> frame(3, reader.atom_count());
        while (reader.next(frame)) {
            all.xyz.insert(all.xyz.end(), frame.begin(), frame.end());
            all.origins.push_back(reader.origin());
            all.numbers.push_back(reader.number());
        }
        all.notes = reader.notes();
    });
    if (all.error.empty()) return all;
    Read refused;
    refused.error = all.error;
    return refused;
}

/// Returns what is read one frame after another; any number of threads must read the same.
Read expect_same_on_threads(const std::vector<std::string>& files, EnsembleOptions options) {
    const Read expected = read_alone(files, options);
    for (const int threads : {1, 2, 5}) {
        SCOPED_TRACE(threads);
        options.threads = threads;
        Read found;
        found.error = refusal([&] {
            const Ensemble ensemble = read_ensemble(files, options);
            found.xyz.assign(ensemble.xyz.begin(), ensemble.xyz.end());
            found.origins = ensemble.origins;
            found.numbers = ensemble.numbers;
            found.notes = ensemble.notes;
        });
        expect_same(found, expected);
    }
    return expected;
}

class ReadingThreads : public ::testing::Test {
protected:
    ScratchFolder folder;
    EnsembleOptions options;

    void SetUp() override { options.topology = folder.write("atoms.pdb", topology()); }
    std::string write(const std::string& name, const std::string& bytes) const {
        return folder.write(name, bytes).string();
    }
};

TEST_F(ReadingThreads, ReadTheSameFramesOfManyFilesAndRanges) {
    DcdShape shape;
    shape.atoms = 12;
    shape.frames = shape.announced = 4;
    const std::vector<std::string> files = {
        write("a.xtc", xtc_frames(0, 4500)), write("b.dcd", dcd_file(shape)),
        write("c.xtc.gz", gzipped(xtc_frames(6000, 600))), write("d.xtc", xtc_frames(7000, 1))};
    for (const char* select : {"all", "A:3-6"})
        for (const char* range : {"0:", "5:", "::7", "-620:", "4490:4510", "3000:5000:3", "-1:"}) {
            SCOPED_TRACE(std::string(select) + " " + range);
            options.select = select;
            options.range = parse_frame_range(range);
            const Read read = expect_same_on_threads(files, options);
            EXPECT_EQ(read.error, "");
            EXPECT_FALSE(read.xyz.empty());
        }
}

TEST_F(ReadingThreads, MakeTheSameMoleculesWhole) {
    const std::vector<std::string> files = {write("a.xtc", xtc_frames(0, 900)),
                                            write("b.xtc", xtc_frames(1, 4500, true))};
    for (const bool has_positions : {true, false})
        for (const char* select : {"all", "A:3-6", "B"}) {
            SCOPED_TRACE(std::string(select) + (has_positions ? " with positions" : ""));
            options.topology = folder.write("atoms.pdb", topology(has_positions));
            options.select = select;
            const Read read = expect_same_on_threads(files, options);
            EXPECT_EQ(read.error, "");
            const auto is_of_molecules = [](const Note& note) {
                return note.kind == NoteKind::molecules;
            };
            EXPECT_TRUE(std::ranges::any_of(read.notes, is_of_molecules));
        }
    options.pbc = Pbc::whole;
    EXPECT_NE(expect_same_on_threads({files[1], files[0]}, options).error, "");
    options.pbc = Pbc::none;
    EXPECT_EQ(expect_same_on_threads(files, options).error, "");
}

TEST_F(ReadingThreads, RefuseTheFirstDamagedFrame) {
    options.select = "A";
    const std::size_t size = xtc_frame(0).size();
    const std::string whole = xtc_frames(0, 4300, true);
    const auto refused = [&](const std::vector<std::pair<int, std::size_t>>& damages,
                             int cut_frame = 0) {
        std::string text = whole;
        for (const auto& [frame, at] : damages) {
            const Bytes number = at == kPrecision ? Bytes{}.put(1e-30f) : Bytes{}.integer(77777);
            put(text, static_cast<std::size_t>(frame) * size + at, number);
            if (at == kBox)
                text.replace(static_cast<std::size_t>(frame) * size + kBox, 36, 36, '\0');
        }
        if (cut_frame > 0) text.resize(static_cast<std::size_t>(cut_frame) * size + 80);
        return expect_same_on_threads({write("a.xtc", text)}, options).error;
    };
    const auto names = [](const std::string& error, int frame) {
        return error.find("frame " + std::to_string(frame) + ":") != std::string::npos;
    };
    for (const int frame : {0, 1, 4096, 4200})
        for (const std::size_t at : {std::size_t{0}, kBox, kPrecision, kSmall}) {
            if (frame == 0 && at == kBox) continue;  // then it is the next one that differs
            SCOPED_TRACE(std::to_string(frame) + " at " + std::to_string(at));
            if (frame == 0 && at == 0) {
                EXPECT_NE(refused({{frame, at}}), "");
                continue;
            }
            EXPECT_TRUE(names(refused({{frame, at}}), frame));
        }
    EXPECT_TRUE(names(refused({{901, kSmall}, {900, kSmall}, {905, 0}}), 900));
    EXPECT_TRUE(names(refused({{901, 0}, {900, kPrecision}}), 900));
    EXPECT_TRUE(names(refused({{900, kSmall}}, 901), 900));
    EXPECT_TRUE(names(refused({}, 901), 901));
    options.truncated = true;
    EXPECT_TRUE(names(refused({{900, kSmall}}, 901), 900));
    EXPECT_EQ(refused({}, 901), "");
}

TEST_F(ReadingThreads, FillBlocksOfMemoryAndAFile) {
    // More than one block of 64 MiB, of frames that come again.
    constexpr Index kFrames = 500'000, kOther = 1000;
    const std::string some = xtc_frames(0, static_cast<int>(kOther));
    std::string text;
    for (Index n = 0; n < kFrames / kOther; ++n) text += some;
    const std::vector<std::string> files = {write("a.xtc", text)};
    const Read expected = read_alone({write("b.xtc", some)}, options);
    const auto row = static_cast<std::ptrdiff_t>(expected.xyz.size()) / kOther;
    options.threads = 2;
    const Ensemble in_memory = read_ensemble(files, options);
    const FrameOverflow overflow{[](Index frames, Index) { return frames < kOther; },
                                 folder.path() / "frames.f32"};
    const Ensemble on_disk = read_ensemble(files, options, &overflow);
    ASSERT_EQ(in_memory.frame_count(), kFrames);
    ASSERT_TRUE(on_disk.on_disk.is_on_disk());
    ASSERT_EQ(on_disk.frame_count(), kFrames);
    std::vector<float> rows(static_cast<std::size_t>(row * kFrames));
    on_disk.on_disk.read(0, row * kFrames, rows.data());
    Index others = 0;
    for (Index f = 0; f < kFrames; ++f) {
        others += !std::equal(in_memory.xyz[f].begin(), in_memory.xyz[f].end(),
                              expected.xyz.begin() + f % kOther * row);
        for (Index atom = 0; atom < 12; ++atom)
            for (Index axis = 0; axis < 3; ++axis)
                others += rows[static_cast<std::size_t>(f * row + 3 * atom + axis)] !=
                          in_memory.xyz(f, axis, atom);
    }
    EXPECT_EQ(others, 0);
}

}  // namespace
