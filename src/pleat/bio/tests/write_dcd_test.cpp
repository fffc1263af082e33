// DCD files that were written are read again as they were, by the reader that other programs' files
// have been checked with.
#include "pleat/bio/ensemble/write_frames.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/tests/refusal.h"
#include "pleat/bio/tests/scratch_file.h"
#include "pleat/bio/tests/written_trajectory.h"
#include "pleat/core/array.h"

namespace pleat {
namespace {

using pleat::testing::place;
using pleat::testing::ScratchFolder;

Array<float, 2> frame_of(int f, Index atoms) {
    Array<float, 2> frame(Index{3}, atoms);
    for (int a = 0; a < 3; ++a)
        for (int i = 0; i < atoms; ++i) frame(a, i) = place(f, a, i);
    return frame;
}

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(DcdWriter, FramesAreReadAgain) {
    const ScratchFolder folder;
    for (const Index atoms : {1, 2, 7}) {
        const std::filesystem::path path = folder.path() / "x.dcd";
        DcdWriter writer(path, atoms);
        for (int f = 0; f < 3; ++f) writer.add(frame_of(f, atoms));
        EXPECT_FALSE(std::filesystem::exists(path)) << "half a file";
        writer.close();
        const auto reader = open_frames(path);
        EXPECT_EQ(reader->format(), "DCD");
        ASSERT_EQ(reader->atom_count(), atoms);
        Array<float, 2> frame(Index{3}, atoms);
        for (int f = 0; f < 3; ++f) {
            ASSERT_TRUE(reader->next(frame));
            const Array<float, 2> expected = frame_of(f, atoms);
            EXPECT_TRUE(std::equal(frame.begin(), frame.end(), expected.begin()));
        }
        EXPECT_FALSE(reader->next(frame));
        EXPECT_TRUE(reader->notes().empty()) << "the header tells another number of frames";
        std::filesystem::remove(path);
    }
}

// The same bytes as a file written by hand in the tests of the reader, but for step and title.
TEST(DcdWriter, RecordsAreThoseOfCharmm) {
    const ScratchFolder folder;
    const std::filesystem::path path = folder.path() / "x.dcd";
    DcdWriter writer(path, 3);
    for (int f = 0; f < 2; ++f) writer.add(frame_of(f, 3));
    writer.close();
    const std::string found = bytes_of(path), expected = pleat::testing::dcd_file({});
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_EQ(found.substr(0, 12), expected.substr(0, 12));
    constexpr std::size_t kTitle = 92 + 8, kEnd = kTitle + 80;
    EXPECT_EQ(found.substr(88, kTitle - 88), expected.substr(88, kTitle - 88));
    EXPECT_EQ(found.substr(kEnd), expected.substr(kEnd));
}

TEST(DcdWriter, TooManyAtomsAreRefusedAndNothingIsLeft) {
    const ScratchFolder folder;
    const std::string text =
        pleat::testing::refusal([&] { DcdWriter writer(folder.path() / "x.dcd", Index{1} << 29); });
    EXPECT_NE(text.find("expected at most 536870911 atoms for DCD"), std::string::npos) << text;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace pleat
