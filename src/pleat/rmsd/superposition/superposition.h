// Superposition: frames brought onto one structure, their mean, and how far atoms stray from it.
#pragma once

#include <vector>

#include "pleat/core/array.h"
#include "pleat/rmsd/rmsd.h"

namespace pleat::rmsd {

/// x -> rotation (x - from) + to.
struct RigidMotion {
    double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};  ///< row by row, proper
    double from[3] = {}, to[3] = {};

    void move(double (&x)[3]) const {
        const double y[3] = {x[0] - from[0], x[1] - from[1], x[2] - from[2]};
        for (int a = 0; a < 3; ++a)
            x[a] = to[a] + rotation[3 * a] * y[0] + rotation[3 * a + 1] * y[1] +
                   rotation[3 * a + 2] * y[2];
    }
};

/// Superposes frames on a target, [atom, axis] in angstrom, by its fitted atoms and their weights.
class Superposer {
public:
    Superposer(View<const double, 2> target, const AtomSets& sets);
    /// The motion that brings the fitted atoms of `frame` [atom, axis] closest to the target's.
    RigidMotion motion(View<const float, 2> frame) const;
    /// Writes all atoms of `frame`, moved by motion(frame), to `to` [atom, axis].
    void operator()(View<const float, 2> frame, View<double, 2> to) const;

private:
    /// Fitted atoms relative to their mean, times roots of weights, [axis, atom].
    template <class T>
    std::vector<double> centred(View<const T, 2> structure, double (&mean)[3]) const;

    std::vector<Index> fit_;
    std::vector<double> roots_;
    double weight_ = 0.0;
    std::vector<double> target_;
    double target_mean_[3] = {};
};

/// Converts a structure to float64, for use as target of a superposition.
Array<double, 2> to_double(View<const float, 2> structure);

/// The mean of superposed frames, all of which are superposed on this mean.
struct MeanStructure {
    Array<double, 2> xyz;  ///< [atom, axis], oriented about like the first frame
    int rounds = 0;
    double change = 0.0;  ///< of the last round: RMSD of the fitted atoms, angstrom
};
/// Starts with the first frame, and superposes and averages until a round changes less than 1e-6
/// angstrom (or 1e-7 of the structure's size, if that is more), at most 100 times. Throws
/// Cancelled, InputError for coordinates that are not finite.
MeanStructure mean_structure(const FrameStore& xyz, const AtomSets& sets, const Context& context);

/// Root mean square fluctuation of each atom, [atom], angstrom.
struct Fluctuations {
    std::vector<double> rmsf;      ///< root mean square distance from its mean position
    std::vector<double> distance;  ///< the same from its position in the target
};
/// Fluctuations of frames [frame, atom, axis] after superposition on `target` [atom, axis]. If the
/// target is their mean_structure(), fluctuations around the target and around the mean are equal.
Fluctuations fluctuations(const FrameStore& xyz, View<const double, 2> target, const AtomSets& sets,
                          const Context& context);

}  // namespace pleat::rmsd
