// Example: finds the arrangement of two domains from a scattering curve, by Metropolis moves.
//
//     refine_domains data/1ql9_A.pdb.gz [MOVES]
//
// Trypsin has two barrels, one in each half of its chain. The program opens the structure like a
// hinge, computes the curve of the open structure, and adds errors like those of a measurement.
// Then it starts from the closed structure with the curve alone. A move turns and shifts the second
// half a little; the session recomputes only the pairs between the halves. Since the curve is
// simulated, the program can compare the result with the true structure. Every residue scatters as
// the same smooth ball on its alpha carbon; use form factors of residues, as pleat saxs does, for
// measured curves.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <random>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/saxs/session/profile_session.h"

namespace {

using namespace pleat;
using saxs::ProfileSession;

constexpr double kLinker = 3.8;                      // angstrom between neighbours along the chain
constexpr double kNearest = 3.8;                     // and at least between others
constexpr double kStiffness = 2.0, kHardness = 1.0;  // per square angstrom, in units of chi^2 / 2

struct Curve {
    std::vector<double> intensity, sigma;
};

/// A turn by `angle` about `axis`, and a shift.
struct Turn {
    double axis[3], angle, shift[3];
};

Array<float, 2> moved(View<const float, 2> xyz, Index first, const Turn& turn) {
    const Index count = xyz.extent(1) - first;
    double centre[3] = {};
    for (int a = 0; a < 3; ++a)  // the hinge: the last residue that stays
        centre[a] = double{xyz(a, first - 1)};
    const double norm = std::hypot(turn.axis[0], turn.axis[1], turn.axis[2]);
    const double u[3] = {turn.axis[0] / norm, turn.axis[1] / norm, turn.axis[2] / norm};
    const double c = std::cos(turn.angle), s = std::sin(turn.angle);
    Array<float, 2> to(Index{3}, count);
    for (Index n = 0; n < count; ++n) {
        double x[3], cross[3], along = 0.0;
        for (int a = 0; a < 3; ++a) x[a] = double{xyz(a, first + n)} - centre[a];
        for (int a = 0; a < 3; ++a) {
            cross[a] = u[(a + 1) % 3] * x[(a + 2) % 3] - u[(a + 2) % 3] * x[(a + 1) % 3];
            along += u[a] * x[a];
        }
        for (int a = 0; a < 3; ++a)
            to(a, n) = static_cast<float>(centre[a] + c * x[a] + s * cross[a] +
                                          (1.0 - c) * along * u[a] + turn.shift[a]);
    }
    return to;
}

/// Penalty for overlap of the halves and for a broken chain between them.
double strain(View<const float, 2> xyz, Index first, View<const float, 2> second) {
    double sum = 0.0;
    for (Index n = 0; n < second.extent(1); ++n) {
        for (Index i = 0; i < first; ++i) {
            double squared = 0.0;
            for (int a = 0; a < 3; ++a) {
                const double d = double{second(a, n)} - double{xyz(a, i)};
                squared += d * d;
            }
            const bool neighbours = n == 0 && i == first - 1;
            if (neighbours) sum += kStiffness * std::pow(std::sqrt(squared) - kLinker, 2);
            if (!neighbours && squared < kNearest * kNearest)
                sum += kHardness * std::pow(kNearest - std::sqrt(squared), 2);
        }
    }
    return sum;
}

saxs::Model smooth_balls(Index residues) {
    saxs::Model model;
    constexpr Index kPoints = 51;
    for (Index k = 0; k < kPoints; ++k) model.q.push_back(0.006 * static_cast<double>(k));
    model.types.assign(static_cast<std::size_t>(residues), 0);
    model.factors = Array<double, 3>(Index{1}, Index{1}, kPoints);
    constexpr double kWidth = 1.9;  // angstrom, about the radius of gyration of a residue
    for (Index k = 0; k < kPoints; ++k)
        model.factors(0, 0, k) =
            10.0 * std::exp(-std::pow(kWidth * model.q[static_cast<std::size_t>(k)], 2) / 6.0);
    model.scaled = {0};
    return model;
}

/// The curve of a session's positions with errors of two percent, and more at large q.
Curve measured(const ProfileSession& of, const saxs::Model& model, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    Curve curve;
    for (Index k = 0; k < model.q_count(); ++k) {
        const double intensity = of.profile(0)(0, k);
        const double sigma = (0.02 + 0.1 * model.q[static_cast<std::size_t>(k)]) * intensity;
        curve.intensity.push_back(intensity + sigma * normal(random));
        curve.sigma.push_back(sigma);
    }
    return curve;
}

double chi_square(View<const double, 2> profile, const Curve& curve) {
    return saxs::fit_scale({profile.data, curve.intensity.size()}, curve.intensity, curve.sigma)
        .chi_square;
}

double radius_of_gyration(View<const float, 2> xyz) {
    double sum = 0.0;
    const double count = static_cast<double>(xyz.extent(1));
    for (int a = 0; a < 3; ++a) {
        const double mean = std::accumulate(xyz[a].begin(), xyz[a].end(), 0.0) / count;
        for (const float x : xyz[a]) sum += (x - mean) * (x - mean);
    }
    return std::sqrt(sum / count);
}

int refine(const char* path, int moves) {
    EnsembleOptions options;
    options.select = "ca";
    options.range = {.first = 0, .last = 1};
    Array<float, 3> xyz = read_ensemble({path}, options).xyz;  // [frame, axis, atom]
    const Index residues = xyz.extent(2), first = residues / 2;
    std::vector<std::int32_t> bodies;
    std::vector<Index> second;
    for (Index i = 0; i < residues; ++i) {
        bodies.push_back(i < first ? 0 : 1);
        if (i >= first) second.push_back(i);
    }
    const saxs::Model model = smooth_balls(residues);
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    Context context;
    context.threads = 1;
    const auto place = [&](Array<float, 3>& to, const Turn& turn) {
        const Array<float, 2> half = moved(to.view()[0], first, turn);
        for (Index a = 0; a < 3; ++a)
            for (Index n = 0; n < half.extent(1); ++n) to(0, a, first + n) = half(a, n);
    };
    // The true structure: open by 70 degrees about the axis that moves the halves farthest apart.
    Array<float, 3> truth = xyz;
    double widest = 0.0;
    for (int n = 0; n < 60; ++n) {
        Array<float, 3> tried = xyz;
        place(tried, {{normal(random), normal(random), normal(random)}, 1.22, {0, 0, 0}});
        const double size = radius_of_gyration(tried.view()[0]);
        if (size > widest) {
            widest = size;
            truth = tried;
        }
    }
    const Curve curve =
        measured(ProfileSession(model, truth, {}, bodies, {}, context), model, random);

    ProfileSession session(model, xyz, {}, bodies, {}, context);
    const double start = chi_square(session.profile(0), curve);
    double chi = start, best = start;
    double tension = strain(xyz.view()[0], first, moved(xyz.view()[0], first, {{0, 0, 1}, 0, {}}));
    int accepted = 0;
    for (int n = 0; n < moves; ++n) {
        const Array<float, 2> at = session.positions(0);
        const Turn turn{{normal(random), normal(random), normal(random)},
                        0.06 * normal(random),
                        {0.1 * normal(random), 0.1 * normal(random), 0.1 * normal(random)}};
        const Array<float, 2> half = moved(at, first, turn);
        const saxs::Move move{0, second, half};
        const double proposed = chi_square(session.propose({&move, 1})[0], curve);
        const double proposed_tension = strain(at, first, half);
        // Cooling from a hundredfold temperature lets the halves leave the start.
        const double temperature =
            std::pow(100.0, std::max(0.0, 1.0 - 2.0 * n / static_cast<double>(moves)));
        const double rise = 0.5 * (proposed - chi) + proposed_tension - tension;
        if (uniform(random) < std::exp(-rise / temperature)) {
            session.accept(0);
            chi = proposed;
            tension = proposed_tension;
            ++accepted;
        } else {
            session.reject(0);
        }
        best = std::min(best, chi);
    }
    const double points = static_cast<double>(model.q_count() - 1);
    const double drift = session.refresh(0);
    std::printf("%td residues, %d moves, %d accepted\n", static_cast<std::ptrdiff_t>(residues),
                moves, accepted);
    std::printf("chi^2 per point: start %.2f, end %.2f, best %.2f\n", start / points, chi / points,
                best / points);
    std::printf("radius of gyration: start %.2f, end %.2f, truth %.2f angstrom\n",
                radius_of_gyration(xyz.view()[0]), radius_of_gyration(session.positions(0)),
                radius_of_gyration(truth.view()[0]));
    std::printf("drift of the profile: %.1e\n", drift);
    return best / points < 1.5 && drift < 1e-5 ? 0 : 1;
}

}  // namespace

int main(int count, char** values) {
    if (count < 2 || count > 3) {
        std::fprintf(stderr, "usage: refine_domains STRUCTURE [MOVES]\n");
        return 2;
    }
    try {
        return refine(values[1], count > 2 ? std::atoi(values[2]) : 10000);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 3;
    }
}
