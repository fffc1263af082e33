// Conjugate gradients: the nonlinear minimiser of Seemayer et al. (2014), with its stop.
#pragma once

#include <vector>

#include "pleat/core/math/minimise.h"

namespace pleat {

/// Nonlinear conjugate gradients (Fletcher and Reeves 1964) as libconjugrad, the optimiser of
/// CCMpred's program, does them; for comparisons with it. Lbfgs is faster and goes on to the
/// optimum.
///
/// The direction is -g + |g|^2 / |g_before|^2 times the one before. A line search begins at the
/// last step times the ratio of the slopes (the first one: at 1 / |g|) and only ever shortens. It
/// accepts the first step that lowers f enough (Armijo) and leaves a slope that still points down
/// steeply: below `steepness` times the slope at its beginning. (The curvature condition of Wolfe
/// asks for the opposite; that program's steps are short for it.) The point is moved in place:
/// after a search that failed it is the last trial, as in that program.
class ConjugateGradients {
public:
    struct Options {
        double armijo = 1e-4;
        double steepness = 0.2;
        double shortening = 0.5;  ///< factor between two trials of a line search
        int max_trials = 5;       ///< of one line search
        int window = 5;           ///< iterations over which f must fall
        double min_fall = 0.01;   ///< relative fall over the window below which f has converged
    };
    enum class Outcome { moved, converged, failed };

    ConjugateGradients(VectorStore& vectors, const Options& options);
    static constexpr int kVectorsNeeded = 3;

    /// Evaluates the start, read from x(); call once before step(), unless load() came first.
    void start();
    /// True if that program would not begin: |g|^2 <= 1e-8 or |g|^2 <= min_fall |x|^2.
    bool is_converged_at_start();
    /// One iteration: `converged` if f fell by less than min_fall over the window, `failed` if
    /// no trial of the line search was accepted.
    Outcome step();

    int x() const { return kX; }                     ///< vector of the current point
    int gradient() const { return kGradient; }       ///< vector of its gradient
    double objective() const { return objective_; }  ///< at the last point that was accepted
    /// Iterations as that program counts them: without the one at which f is found to have
    /// converged.
    Index iterations() const { return iterations_; }
    Index evaluations() const { return evaluations_; }

    /// Everything that the next steps depend on: a loaded minimiser takes the same steps, bit for
    /// bit, where vectors are float.
    void save(NpzWriter& writer) const;
    void load(const NpzReader& reader);

private:
    static constexpr int kX = 0, kGradient = 1, kDirection = 2;

    bool search();
    double dot(int a, int b);

    VectorStore& vectors_;
    Options options_;
    double objective_ = 0;
    double gradient2_ = 0, gradient2_before_ = 0;  ///< squared norms
    double slope_ = 0, slope_before_ = 0, step_ = 0;
    std::vector<double>
        recent_;  ///< f after the last `window` iterations, by iteration modulo window
    Index evaluations_ = 0, iterations_ = 0;
};

}  // namespace pleat
