// Tests of runs of many frames: what the fits do not need is computed in part, and a note says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>

#include "pleat/core/tests/temporary_folder.h"
#include "pleat/saxs/saxs.h"

namespace pleat::saxs {
namespace {

constexpr Index kAtoms = 12;

/// Frames of some carbons at random positions.
Ensemble carbons(Index frames) {
    std::string text;
    for (Index i = 0; i < kAtoms; ++i) {
        char line[100];
        std::snprintf(line, sizeof line,
                      "ATOM  %5d  C   ALA A%4d    %8.3f%8.3f%8.3f  1.00  0.00           C\n",
                      static_cast<int>(i + 1), static_cast<int>(i + 1),
                      3.0 * static_cast<double>(i), 0.0, 0.0);
        text += line;
    }
    const test::TemporaryFolder folder;
    test::spill(folder / "s.pdb", text);
    Ensemble ensemble = read_ensemble({(folder / "s.pdb").string()});
    Array<float, 3> xyz(frames, 3, kAtoms);
    std::mt19937_64 random(5);
    std::uniform_real_distribution<float> position(0, 40);
    for (float& value : xyz) value = position(random);
    ensemble.origins.resize(static_cast<std::size_t>(frames), ensemble.origins.front());
    ensemble.xyz = std::move(xyz);
    return ensemble;
}

double diameter_of(View<const float, 2> frame) {
    double largest = 0;
    for (Index i = 0; i < frame.extent(1); ++i)
        for (Index j = 0; j < i; ++j) {
            double square = 0;
            for (Index axis = 0; axis < 3; ++axis)
                square += std::pow(double{frame(axis, i)} - double{frame(axis, j)}, 2);
            largest = std::max(largest, square);
        }
    return std::sqrt(largest);
}

Result run_to(double last_q, const Ensemble& ensemble) {
    Profile curve;
    for (int k = 0; k < 30; ++k) {
        curve.q.push_back(0.02 + (last_q - 0.02) * k / 29);
        curve.intensity.push_back(std::exp(-40 * curve.q.back() * curve.q.back()));
        curve.sigma.push_back(0.01);
    }
    Parameters parameters;
    parameters.c1 = 1;
    parameters.c2 = 0;
    parameters.max_members = 0;
    parameters.reweight = false;
    return run({&ensemble, 1}, &curve, nullptr, parameters, {});
}

bool has_note(const Result& result, const std::string& text) {
    return std::any_of(result.notes.begin(), result.notes.end(), [&](const Note& note) {
        return full_text(note).find(text) != std::string::npos;
    });
}

TEST(ManyFrames, EndWithTheCurveAndSampleDistances) {
    const Ensemble ensemble = carbons(2100);
    const Result result = run_to(0.2, ensemble);
    EXPECT_NEAR(result.q.back(), 0.2, 1e-12);
    EXPECT_TRUE(has_note(result, "end with the curve"));
    EXPECT_TRUE(has_note(result, "P(r)"));
    // P(r) adds up to I(0), which is the same for all frames here.
    const double sum = std::accumulate(result.pairs.begin(), result.pairs.end(), 0.0);
    EXPECT_NEAR(sum, result.frame_shapes[1].forward_intensity, 1e-6 * sum);
    for (const Index frame : {Index{0}, Index{1}, Index{2}, Index{2099}})
        EXPECT_NEAR(result.frame_shapes[static_cast<std::size_t>(frame)].diameter,
                    diameter_of(ensemble.xyz.view()[frame]), 1e-4);
}

TEST(ManyFrames, AreMoreThanAThousand) {
    const Result result = run_to(0.2, carbons(1000));
    EXPECT_DOUBLE_EQ(result.q.back(), 0.5);
    EXPECT_FALSE(has_note(result, "end with the curve"));
    EXPECT_FALSE(has_note(result, "P(r)"));
}

}  // namespace
}  // namespace pleat::saxs
