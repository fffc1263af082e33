// Tests of checkpoints of profiles: stopped runs resume with the same bits, alone and on ranks.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"
#include "pleat/core/tests/thread_comm.h"
#include "pleat/saxs/saxs.h"
#include "random_model.h"

namespace pleat::saxs {
namespace {

using test::random_scatterers;
using test::RandomScatterers;

/// Counts the tiles that are computed, and asks to stop after some.
class StopsAfter final : public Progress {
public:
    explicit StopsAfter(int tiles) : left_(tiles) {}
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view note) override {
        if (note == "resumed") return;
        ++computed_;
        --left_;
    }
    void message(std::string_view) override {}
    bool cancelled() override { return left_ <= 0; }
    int computed() const { return computed_; }

private:
    int left_, computed_ = 0;
};

Context one_thread(const std::filesystem::path& checkpoint, Progress* progress) {
    Context context;
    context.threads = 1;
    context.checkpoint = checkpoint;
    context.progress = progress;
    return context;
}

/// 700 frames are three tiles.
RandomScatterers three_tiles() {
    return random_scatterers(
        {.scatterers = 6, .types = 2, .channels = 2, .scaled = 1, .q = 20, .frames = 700});
}

void expect_equal(const Array<double, 3>& found, const Array<double, 3>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin()));
}

TEST(Checkpoint, ResumesWithTheSameBits) {
    const pleat::test::TemporaryFolder folder;
    const RandomScatterers given = three_tiles();
    const Array<double, 3> expected =
        profiles(given.model, given.xyz, given.scales, {}, one_thread({}, nullptr));
    const std::filesystem::path file = folder / "checkpoint.tiles";
    StopsAfter first(1), rest(100);
    EXPECT_THROW(profiles(given.model, given.xyz, given.scales, {}, one_thread(file, &first)),
                 Cancelled);
    ASSERT_TRUE(std::filesystem::exists(file));
    expect_equal(profiles(given.model, given.xyz, given.scales, {}, one_thread(file, &rest)),
                 expected);
    EXPECT_EQ(rest.computed(), 2);
    StopsAfter none(100);
    expect_equal(profiles(given.model, given.xyz, given.scales, {}, one_thread(file, &none)),
                 expected);
    EXPECT_EQ(none.computed(), 0);
}

TEST(Checkpoint, ResumesOnAnotherNumberOfRanks) {
    const RandomScatterers given = three_tiles();
    const Array<double, 3> expected =
        profiles(given.model, given.xyz, given.scales, {}, one_thread({}, nullptr));
    for (const int ranks : {2, 3}) {
        SCOPED_TRACE(ranks);
        const pleat::test::TemporaryFolder folder;
        const std::filesystem::path file = folder / "checkpoint.tiles";
        StopsAfter first(1);
        EXPECT_THROW(profiles(given.model, given.xyz, given.scales, {}, one_thread(file, &first)),
                     Cancelled);
        std::atomic<int> computed = 0;
        pleat::test::on_ranks(ranks, [&](Comm& comm) {
            StopsAfter rest(100);
            Context context = one_thread(file, &rest);
            context.comm = &comm;
            expect_equal(profiles(given.model, given.xyz, given.scales, {}, context), expected);
            if (comm.rank() == 0) computed = rest.computed();
        });
        EXPECT_EQ(computed, 1);  // the two tiles that were left, in one round
    }
}

TEST(Checkpoint, IsRefusedForOtherCoordinatesModelsAndMethods) {
    const pleat::test::TemporaryFolder folder;
    const std::filesystem::path file = folder / "checkpoint.tiles";
    const RandomScatterers given = three_tiles();
    profiles(given.model, given.xyz, given.scales, {}, one_thread(file, nullptr));
    const auto refuse = [&](const auto& change) {
        RandomScatterers other = given;
        Options options;
        change(other, options);
        EXPECT_THROW(
            profiles(other.model, other.xyz, other.scales, options, one_thread(file, nullptr)),
            InputError);
    };
    refuse([](RandomScatterers& other, Options&) { other.xyz(600, 2, 5) += 0.01f; });
    refuse([](RandomScatterers& other, Options&) { other.scales(3, 0, 1) += 0.01f; });
    refuse([](RandomScatterers& other, Options&) { other.model.factors(0, 1, 7) += 0.01; });
    refuse([](RandomScatterers& other, Options&) { other.model.types[0] ^= 1; });
    refuse([](RandomScatterers&, Options& options) { options.precision = Precision::float64; });
    refuse([](RandomScatterers&, Options& options) { options.method = Method::debye; });
}

TEST(Checkpoint, IsNotMadeForOneTile) {
    const pleat::test::TemporaryFolder folder;
    const RandomScatterers given = random_scatterers({.scatterers = 6, .frames = 20});
    profiles(given.model, given.xyz, {}, {}, one_thread(folder / "checkpoint.tiles", nullptr));
    EXPECT_FALSE(std::filesystem::exists(folder / "checkpoint.tiles"));
}

TEST(Checkpoint, HasOneFilePerComponent) {
    EXPECT_EQ(component_checkpoint("run/checkpoint.tiles", 0), "run/checkpoint.tiles");
    EXPECT_EQ(component_checkpoint("run/checkpoint.tiles", 2), "run/checkpoint-2.tiles");
    EXPECT_EQ(component_checkpoint({}, 2), "");
}

/// Text as flags and Python give it, and the value that it sets.
TEST(Parameters, AreReadByNames) {
    Parameters parameters;
    const auto set = [&](const std::string& name, const std::string& text) {
        for (Field& field : fields(parameters))
            if (field.name == name) return field.set(text);
        FAIL() << name;
    };
    set("model", "two-bead");
    EXPECT_EQ(parameters.model, Resolution::two_bead);
    set("model", "one-bead");
    EXPECT_EQ(parameters.model, Resolution::one_bead);
    EXPECT_THROW(set("model", "three-bead"), UsageError);
    set("hydrogens", "explicit");
    EXPECT_EQ(parameters.hydrogens, Hydrogens::listed);
    set("precision", "float64");
    EXPECT_EQ(parameters.precision, Precision::float64);
    set("method", "multipole");
    EXPECT_EQ(parameters.method, Method::multipole);
    set("c1", "1.02");
    EXPECT_EQ(parameters.c1, 1.02);
    set("c1", "auto");
    EXPECT_FALSE(parameters.c1.has_value());
}

}  // namespace
}  // namespace pleat::saxs
