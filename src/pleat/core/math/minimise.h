// Minimise: L-BFGS and conjugate gradients over large vectors that stay where they are computed.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "pleat/core/view.h"

namespace pleat {

class NpzReader;
class NpzWriter;

/// Numbered vectors of one size, kept in the memory of whatever computes on them (host or device),
/// and a function f of one vector. A minimiser refers to vectors by their numbers and sees only
/// scalars. All sums are accumulated in double and in a fixed order.
struct VectorStore {
    virtual ~VectorStore() = default;
    /// Returns f at vector `x` and writes its gradient to vector `gradient`. May replace elements
    /// of `x` whose best value follows from the other elements; their gradient is then zero (see
    /// couplings/kernel/kernel.h).
    virtual double evaluate(int x, int gradient) = 0;
    /// out[k] = <a, with[k]>
    virtual void dots(int a, std::span<const int> with, std::span<double> out) = 0;
    /// out = sum_k factors[k] * vectors[k]; `out` may be one of `vectors`.
    virtual void combine(int out, std::span<const int> vectors,
                         std::span<const double> factors) = 0;
    /// Ensures that vectors 0 ... count - 1 exist.
    virtual void reserve(int count) = 0;
    /// Number of elements of one vector, as stored.
    virtual Index size() const = 0;
    virtual void download(int vector, float* to) const = 0;
    /// The elements in host memory as download() returns them; null if they are stored otherwise.
    virtual const float* host_data(int vector) const {
        (void)vector;
        return nullptr;
    }
    virtual void upload(int vector, const float* from) = 0;
};

/// The common part of minimisers: the vectors, f at the current point, and counters.
class Minimiser {
public:
    double objective() const { return objective_; }  ///< at the last point that was accepted
    Index evaluations() const { return evaluations_; }

protected:
    explicit Minimiser(VectorStore& vectors) : vectors_(vectors) {}
    double dot(int a, int b);

    VectorStore& vectors_;
    double objective_ = 0;
    Index evaluations_ = 0, iterations_ = 0;
};

/// Limited-memory BFGS (Nocedal and Wright 2006, algorithm 7.4) in the form that needs inner
/// products with the newest gradient only (Chen et al. 2014): two passes over the history per
/// iteration. Steps satisfy the Armijo condition, or near the optimum, where differences of f are
/// rounding, the approximate Wolfe conditions of Hager and Zhang (2005), which look at slopes
/// alone; the curvature condition is kept by skipping updates with <s,y> not positive.
class Lbfgs : public Minimiser {
public:
    struct Options {
        int history = 5;
        double first_step = 0.2;    ///< factor of the negative gradient at the first iteration
        double f_precision = 1e-9;  ///< relative rounding error of f
    };

    Lbfgs(VectorStore& vectors, const Options& options);
    /// The size of the VectorStore for this history; the minimiser owns all vectors. It reads the
    /// start from x().
    static int vectors_needed(const Options& options) { return 2 * options.history + 5; }

    /// Evaluates the starting point; call it once before step(), unless load() was called.
    void start();
    /// One iteration. Returns false if no step along the direction or the gradient lowers f, or if
    /// directions failed twice and f fell only by rounding errors in between.
    bool step();

    int x() const { return x_; }                ///< vector of the current point
    int gradient() const { return gradient_; }  ///< vector of its gradient

    /// Saves everything that later steps depend on. A loaded minimiser takes bit-identical steps,
    /// unless its history is shorter than the saved one; it then keeps the newest part.
    void save(NpzWriter& writer) const;
    void load(const NpzReader& reader);

private:
    struct Trial {
        double step, objective, slope;
        std::vector<double> products;  ///< of its gradient, see evaluate()
    };
    void direction(std::vector<double>& on_s, std::vector<double>& on_y, double& on_gradient) const;
    void set_direction(bool steepest);
    bool search();
    Trial evaluate(double step);
    void accept(const Trial& trial);
    void drop_oldest_pair();
    void add_newest_pair(double step);

    Options options_;
    int x_ = 0, gradient_ = 1, trial_x_ = 2, trial_gradient_ = 3, direction_ = 4;
    std::vector<int> s_, y_, free_vectors_;  ///< history, oldest first; vectors not in use
    std::vector<double> s_gradient_, products_y_gradient_;  ///< <s_k, g>, <y_k, g>
    std::vector<std::vector<double>> s_y_, products_y_y_;   ///< <s_i, y_j>, <y_i, y_j>
    double gradient_gradient_ = 0, slope_ = 0;
    /// f at the last restart from the gradient; infinite before the first one.
    double objective_at_restart_ = std::numeric_limits<double>::infinity();
    double restart_gradient_gradient_ = std::numeric_limits<double>::infinity();
};

/// Nonlinear conjugate gradients (Fletcher and Reeves 1964) as in libconjugrad, CCMpred's
/// optimiser, for comparison. Lbfgs is faster and continues to the optimum.
///
/// The direction is -g + |g|^2 / |g_previous|^2 times the previous direction. A line search starts
/// at the last step times the ratio of the slopes (first: at 1 / |g|) and only shortens the step.
/// It accepts the first step that decreases f enough (Armijo) and whose slope is still steeply
/// negative: below `steepness` times the initial slope. (Wolfe's curvature condition requires the
/// opposite; libconjugrad therefore takes short steps.) The point moves in place: after a failed
/// search it is the last trial, as in libconjugrad.
class ConjugateGradients : public Minimiser {
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
    /// Whether libconjugrad would not start: |g|^2 <= 1e-8 or |g|^2 <= min_fall |x|^2.
    bool is_converged_at_start();
    /// One iteration: `converged` if f fell by less than min_fall over the window, `failed` if
    /// no trial of the line search was accepted.
    Outcome step();

    int x() const { return kX; }                ///< vector of the current point
    int gradient() const { return kGradient; }  ///< vector of its gradient
    /// The number of iterations as libconjugrad counts them: without the one that detects
    /// convergence.
    Index iterations() const { return iterations_; }

    /// Saves everything that later steps depend on. A loaded minimiser takes bit-identical steps if
    /// vectors are float.
    void save(NpzWriter& writer) const;
    void load(const NpzReader& reader);

private:
    static constexpr int kX = 0, kGradient = 1, kDirection = 2;

    bool search();

    Options options_;
    double gradient2_ = 0, gradient2_before_ = 0;  ///< squared norms
    double slope_ = 0, slope_before_ = 0, step_ = 0;
    std::vector<double>
        recent_objectives_;  ///< f after the last `window` iterations, by iteration modulo window
};

}  // namespace pleat
