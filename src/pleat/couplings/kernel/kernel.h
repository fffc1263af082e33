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
/// (the objective of CCMpred's program, Seemayer et al. 2014.)
struct Problem {
    View<const std::uint8_t, 2> letters;  ///< [sequence, column], codes below letter_count
    View<const double, 1> weights;        ///< one per sequence, > 0
    int letter_count = 21;
    double lambda_single = 0.01;
    double lambda_pair = 0;  ///< the full factor, (L - 1) included
    /// True: vectors hold couplings divided by 1/sqrt(2 lambda_pair + 2 W v_i(a) v_j(b)), with
    /// v = f (1 - f) of the weighted letter frequencies and W the sum of weights: about the
    /// diagonal of the Hessian, which makes the minimiser's steps even. False: vectors hold the
    /// couplings.
    bool scaled = true;
    /// How often inner products count each pair (2 as in programs that store both orders).
    double pair_metric = 1;
    /// Allowed relative rounding error of f. On a GPU each coupling and residual is stored as one
    /// float16 number if this is at least 1e-6, else as the sum of two.
    double objective_error = 1e-9;
};

/// The results of one evaluation besides the gradient.
struct Evaluation {
    double objective = 0;
    double field_gradient2 = 0;  ///< squared norm of df/de_i, in unscaled variables
    double pair_gradient2 = 0;   ///< squared norm of df/de_ij (i < j), in unscaled variables
    double point2 = 0;           ///< squared norm of the unscaled variables
};

/// An upper bound of f(x) - min f from strong convexity: f has at least the curvature 2
/// lambda_single along the fields and 2 lambda_pair along the couplings, so the gap is at most the
/// sum of g^2 / (4 lambda) over both.
double certified_gap(const Evaluation& at, const Problem& problem);
/// |g| / max(1, |x|)
double relative_gradient(const Evaluation& at);
/// Throws UsageError, with the options that may be the cause, unless the objective is finite.
void check_objective(const Evaluation& at);

/// Numbered vectors of fields and couplings, and the objective of a vector (VectorStore).
/// `evaluate` first minimises f over the fields at the vector's couplings (Newton steps per
/// column), stores these fields in the vector, and returns a gradient that is zero for fields. The
/// minimiser thus works on min_e f(e, .), which is equally convex, better conditioned, and has the
/// same optimum. `evaluate_plain` does not change the vector and returns the full gradient.
class Kernel : public VectorStore {
public:
    double evaluate(int x, int gradient) final {
        return evaluate_best_fields(x, gradient).objective;
    }
    virtual Evaluation evaluate_best_fields(int x, int gradient) = 0;
    virtual Evaluation evaluate_plain(int x, int gradient) = 0;
    virtual const Evaluation& latest() const = 0;

    virtual Model model(int vector) const = 0;
    virtual void set_model(int vector, const Model& model) = 0;
    /// frobenius_scores() of the vector's model, computed on the kernel's device.
    virtual Array<double, 2> raw_scores(int vector, int threads) const;
    /// Sets the vector to a model with these fields [column, letter] and zero couplings.
    virtual void set_fields(int vector, View<const float, 2> fields);

    /// Approximate relative rounding error of f.
    virtual double rounding() const { return 1e-9; }

    /// Accuracy of the minimised fields: their absolute contribution to the certified gap.
    double field_gap = 1e-6;
};

/// A kernel's vectors with evaluate_plain() as the objective, for minimisers that move the fields
/// like the couplings. The kernel must outlive it.
class PlainObjective : public VectorStore {
public:
    explicit PlainObjective(Kernel& kernel) : kernel_(kernel) {}
    double evaluate(int x, int gradient) override {
        return kernel_.evaluate_plain(x, gradient).objective;
    }
    void dots(int a, std::span<const int> others, std::span<double> out) override {
        kernel_.dots(a, others, out);
    }
    void combine(int out, std::span<const int> vectors, std::span<const double> factors) override {
        kernel_.combine(out, vectors, factors);
    }
    void reserve(int count) override { kernel_.reserve(count); }
    Index size() const override { return kernel_.size(); }
    void download(int vector, float* to) const override { kernel_.download(vector, to); }
    void upload(int vector, const float* from) override { kernel_.upload(vector, from); }

protected:
    Kernel& kernel_;
};

/// Writes the model to the vector; an empty array of pairs means zero couplings.
void set_start(Kernel& kernel, int vector, const Model& start);

/// The kernel of the context's device. Throws DeviceError if this build or machine lacks the
/// device.
std::unique_ptr<Kernel> make_kernel(const Problem& problem, const Context& context);

std::unique_ptr<Kernel> make_reference_kernel(const Problem& problem);
std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, int threads);
/// Settings of the CUDA kernel for tests; by default the kernel chooses them.
struct CudaChoices {
    bool portable = false;  ///< true: without the instructions of compute capability 9.0
    int blocks = 0;         ///< blocks of columns, computed one after the other; 0: as few as fit
};
/// The kernel on the GPU with this number, for at most 24 letters. Throws DeviceError if the GPU is
/// missing or out of memory.
std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, int index,
                                         const CudaChoices& choices = {});

}  // namespace pleat::couplings
