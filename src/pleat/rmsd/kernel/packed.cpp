// Packed frames: turning onto the common structure, rounding, and the terms of single frames.
#include "pleat/rmsd/kernel/packed.h"

#include <cmath>
#include <type_traits>
#include <vector>

#include "pleat/core/loops/parallel.h"
#include "pleat/rmsd/superposition/common_structure.h"

namespace pleat::rmsd {

namespace {

template <class Real>
void pack_frame(const double* p, const std::vector<double>& m, Index frame, Packed<Real>& packed) {
    const Index atoms = packed.atoms, lane = frame % kPanel;
    double terms[9] = {};
    double square_sum = 0.0, deviation_norm = 0.0;
    const auto deviation = [&](int axis, Index k) {
        return static_cast<Real>(p[axis * atoms + k] - m[axis * atoms + k]);
    };
    for (Index k = 0; k < atoms; ++k) {
        for (int a = 0; a < 3; ++a) {
            const Real rounded = deviation(a, k);
            packed.rows(frame, k, a) = rounded;
            packed.columns(frame / kPanel, k, a, lane) = rounded;
            const double from_m = rounded, value = m[a * atoms + k] + from_m;
            square_sum += value * value;
            deviation_norm += from_m * from_m;
            for (int b = 0; b < 3; ++b)
                terms[3 * a + b] += (from_m + 0.5 * m[a * atoms + k]) * m[b * atoms + k];
        }
    }
    for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
            packed.row_terms(frame, 3 * a + b) = terms[3 * a + b];
            packed.column_terms(frame / kPanel, 3 * b + a, lane) = terms[3 * a + b];
        }
    }
    packed.square_sum[frame] = square_sum;
    packed.inverse_norm[frame] = square_sum > 0 ? 1.0 / std::sqrt(square_sum) : 0.0;
    packed.deviation_norm[frame] = std::sqrt(deviation_norm);
}

}  // namespace

template <class Real>
Packed<Real> pack(const Frames& frames, int threads) {
    Packed<Real> packed;
    const Index atoms = frames.atom_count();
    const Index panels = (frames.frame_count() + kPanel - 1) / kPanel, padded = panels * kPanel;
    packed.frames = frames.frame_count();
    packed.atoms = atoms;
    packed.weight = frames.weight;
    packed.rows = Array<Real, 3>(padded, atoms, Index{3});
    packed.columns = Array<Real, 4>(panels, atoms, Index{3}, kPanel);
    packed.row_terms = Array<double, 2>(padded, Index{9});
    packed.column_terms = Array<double, 3>(panels, Index{9}, kPanel);
    packed.square_sum = Array<double, 1>(padded);
    packed.inverse_norm = Array<double, 1>(padded);
    packed.deviation_norm = Array<double, 1>(padded);
    constexpr bool kTurned = std::is_same_v<Real, float>;
    const std::vector<double> m =
        kTurned ? common_structure(frames, threads) : std::vector<double>(3 * atoms, 0.0);
    parallel_for(threads, packed.frames, [&](Index i, int) {
        if constexpr (kTurned) {
            std::vector<double> turned(3 * atoms);
            turn_onto(frames.frame(i), m.data(), atoms, turned.data());
            pack_frame(turned.data(), m, i, packed);
        } else {
            pack_frame(frames.frame(i), m, i, packed);
        }
    });
    return packed;
}

template Packed<float> pack<float>(const Frames&, int);
template Packed<double> pack<double>(const Frames&, int);

}  // namespace pleat::rmsd
