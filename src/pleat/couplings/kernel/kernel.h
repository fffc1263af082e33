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
    View<const double, 1> weights;        ///< one per sequence, > 0
    int letter_count = 21;
    double lambda_single = 0.01;
    double lambda_pair = 0;  ///< the full factor, (L - 1) included
    /// True: vectors hold couplings divided by 1/sqrt(2 lambda_pair + 2 W v_i(a) v_j(b)), with
    /// v = f (1 - f) of the weighted letter frequencies and W the sum of weights: about the
    /// diagonal of the Hessian, which makes the minimiser's steps even. False: vectors hold the
    /// couplings.
    bool scaled = true;
    /// Inner products count each pair this many times (2 where a program stores both orders).
    double pair_metric = 1;
    /// Relative error of f that rounding may cause. From 1e-6 on a GPU represents each coupling and
    /// residual by one float16 number, below by the sum of two.
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

/// Vectors of fields and couplings, known by number, and the objective of a vector (VectorStore).
/// `evaluate` first minimises f over the fields at the vector's couplings (Newton steps for each
/// column; replaces the fields in the vector) and gives a gradient whose fields are zero. The
/// minimiser then works on min_e f(e, .), which is as convex, better conditioned, and has the same
/// optimum. `evaluate_plain` changes nothing in the vector and gives the whole gradient.
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

    /// Approximate relative error of f by rounding.
    virtual double rounding() const { return 1e-9; }

    /// Accuracy to which the fields are minimised: their share of the certified gap, absolute.
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

/// Writes the model to the vector; a model with an empty array of pairs has couplings of zero.
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
