// Kernel: objective, gradient and vector work of the couplings, wherever they are computed.
#pragma once

#include <cstdint>
#include <memory>

#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/core/math/minimise.h"
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {

/// The minimisation problem of one alignment. With N sequences x^n of weights w_n, L columns and q
/// letters (the gap last), h_i(a) = e_i(a) + sum_{j != i} e_ij(a, x_j^n) and e_i(gap) = 0:
///
///   f = sum_n w_n sum_i [ log sum_a exp h_i(a) - h_i(x_i^n) ]
///       + lambda_single sum_{i,a} e_i(a)^2 + lambda_pair sum_{i<j} sum_{a,b} e_ij(a,b)^2
///
/// (Seemayer et al. 2014, the objective that the program minimises.)
struct Problem {
    View<const std::uint8_t, 2> letters;  ///< [sequence, column], codes below letter_count
    View<const double, 1> weights;        ///< one a sequence, > 0
    int letter_count = 21;
    double lambda_single = 0.01;
    double lambda_pair = 0;  ///< the full factor, (L - 1) included
    /// True: slots hold couplings divided by 1/sqrt(2 lambda_pair + 2 W v_i(a) v_j(b)), with
    /// v = f (1 - f) of the weighted letter frequencies and W the sum of weights: about the
    /// diagonal of the Hessian, which makes the minimiser's steps even. False: slots hold the
    /// couplings.
    bool scaled = true;
    /// Inner products count each pair this many times (2 where a program stores both orders).
    double pair_metric = 1;
    /// Relative error of f that a kernel may make by rounding: a GPU takes one float16 number for
    /// each coupling and residual from 1e-6 on, two below.
    double objective_error = 1e-9;
};

/// What one evaluation gives besides the gradient.
struct Evaluation {
    double objective = 0;
    double field_gradient2 = 0;  ///< squared norm of df/de_i, in unscaled variables
    double pair_gradient2 = 0;   ///< squared norm of df/de_ij (i < j), in unscaled variables
    double point2 = 0;           ///< squared norm of the unscaled variables
};

/// A bound of f(x) - min f from strong convexity: each part of the variables has at least the
/// curvature of its own regulariser, so the gap is at most g^2 / (2 * 2 lambda), part by part.
double certified_gap(const Evaluation& at, const Problem& problem);

/// Vectors of fields and couplings in numbered slots; see Slots for the minimiser's part.
/// `evaluate` of Slots first minimises f over the fields at the slot's couplings (Newton steps a
/// column; the fields in the slot are replaced) and gives a gradient whose field part is zero: the
/// minimiser then works on min_e f(e, .), which is as convex, better conditioned, and has the same
/// optimum. `evaluate_plain` leaves the point as it is and gives the whole gradient.
class Kernel : public Slots {
public:
    double evaluate(int x, int gradient) final {
        return evaluate_best_fields(x, gradient).objective;
    }
    virtual Evaluation evaluate_best_fields(int x, int gradient) = 0;
    virtual Evaluation evaluate_plain(int x, int gradient) = 0;
    /// The Evaluation of the latest call.
    virtual const Evaluation& latest() const = 0;

    virtual Model model(int slot) const = 0;
    virtual void set_model(int slot, const Model& model) = 0;
    /// frobenius_scores() of the slot's model, made where the slot is.
    virtual Array<double, 2> raw_scores(int slot, int threads) const;
    /// Like set_model() with these fields [column, letter] and couplings of zero.
    virtual void set_fields(int slot, View<const float, 2> fields);

    /// Relative error of f by rounding, about.
    virtual double rounding() const { return 1e-9; }

    /// Accuracy wanted of the fields: their part of the certified gap, absolute.
    double field_gap = 1e-6;
};

/// Puts the model into the slot; one without pairs (an empty array) has couplings of zero.
void set_start(Kernel& kernel, int slot, const Model& start);

/// The one place where a device is chosen. Throws DeviceError when this build or machine lacks it.
std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context);

std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem);
std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, int threads);
/// What the CUDA kernel settles by itself, to be set by tests.
struct CudaChoices {
    bool portable = false;  ///< without the instructions of compute capability 9.0
    int blocks = 0;         ///< of columns worked on one after the other; 0: as few as fit
};
/// On the GPU of this number; at most 24 letters. DeviceError where there is none or it is full.
std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, int index,
                                         const CudaChoices& choices = {});

}  // namespace pleat::couplings
