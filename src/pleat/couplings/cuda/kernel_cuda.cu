// CUDA kernel: keeps vectors on the GPU and evaluates by one-hot products on tensor cores.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "pleat/core/cuda/cuda_check.cuh"
#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/cuda/device_array.cuh"
#include "pleat/couplings/cuda/alignment_steps.cuh"
#include "pleat/couplings/cuda/column_steps.cuh"
#include "pleat/couplings/cuda/field_steps.cuh"
#include "pleat/couplings/cuda/pair_steps.cuh"
#include "pleat/couplings/cuda/vector_steps.cuh"
#include "pleat/couplings/fit/memory_estimate.h"
#include "pleat/couplings/kernel/kernel.h"

namespace pleat::couplings {

namespace {

using namespace cuda;
using pleat::cuda::check;
using pleat::cuda::DeviceArray;

constexpr int kMaxPasses = 30;       // over the sequences, for the fields of one evaluation
constexpr int kUncheckedPasses = 3;  // before the host asks whether more are needed
constexpr int kRowThreads = 128, kSumThreads = 1024;
constexpr float kDenseScale = 64;  // for couplings up to 1023, and down to 1e-9 in two numbers
constexpr double kLargestResidual = 16384;  // approximately; float16 reaches 65504
constexpr double kCoarseRounding = 1e-6, kFineRounding = 1e-9;

// Calls `launch` with the number of letters as a constant if it is a common one, else with 0.
template <class Launch>
void for_letters(int letters, const Launch& launch) {
    switch (letters) {
        case 21: return launch(std::integral_constant<int, 21>{});
        case 5: return launch(std::integral_constant<int, 5>{});
        default: return launch(std::integral_constant<int, 0>{});
    }
}

unsigned blocks(Index count) { return static_cast<unsigned>(count); }

class CudaKernel final : public Kernel {
public:
    CudaKernel(const Problem& problem, int index, const CudaChoices& choices);

    void reserve(int count) override {
        while (static_cast<int>(vectors_.size()) < count) vectors_.emplace_back(size());
    }
    Index size() const override { return layout_.fields() + layout_.pairs(); }
    double rounding() const override {
        return layout_.parts == 1 ? kCoarseRounding : kFineRounding;
    }
    void download(int vector, float* to) const override { vectors_[vector].download(to); }
    void upload(int vector, const float* from) override { vectors_[vector].upload(from); }
    void dots(int a, std::span<const int> with, std::span<double> out) override;
    void combine(int out, std::span<const int> vectors, std::span<const double> factors) override;

    Evaluation evaluate_best_fields(int x, int gradient) override {
        return evaluate_at(x, gradient, true);
    }
    Evaluation evaluate_plain(int x, int gradient) override {
        return evaluate_at(x, gradient, false);
    }
    const Evaluation& latest() const override { return latest_; }
    Model model(int vector) const override;
    void set_model(int vector, const Model& model) override;
    void set_fields(int vector, View<const float, 2> fields) override;
    Array<double, 2> raw_scores(int vector, int threads) const override;

private:
    void upload_alignment();
    void multiply(const OneHotProduct& product) const;
    Evaluation evaluate_at(int x, int gradient, bool best_fields);
    void sum_logits(const float* pairs);
    void fit_fields(bool best_fields);
    void sum_residuals();
    ProductBlock sum_products(Index letter_block, Index residual_block, float* out);
    void sum_gradient(const float* pairs, float* gradient);
    Vectors gather(std::span<const int> vectors, std::span<const double> factors) const;
    const float* pairs(int vector) const { return vectors_[vector].data() + layout_.fields(); }
    int q() const { return layout_.letters; }
    Index first_column(Index block) const { return block * layout_.block_columns(); }
    /// The columns of a block, and its tiles of 8 columns.
    Index columns_of(Index block) const {
        return std::min(layout_.block_columns(), layout_.columns - first_column(block));
    }
    Index tiles_of(Index block) const {
        return (columns_of(block) + kPairColumns - 1) / kPairColumns;
    }
    Index width_of(Index block) const {
        return round_up(columns_of(block) * layout_.row(), kTileColumns);
    }
    Index block_count() const {
        return (layout_.columns + layout_.block_columns() - 1) / layout_.block_columns();
    }

    Problem problem_;
    Layout layout_;
    Shape shape_;
    bool hopper_;
    float residual_scale_ = 1;
    DeviceArray<std::uint16_t> letters_;
    DeviceArray<__half> dense_, residuals_;
    DeviceArray<float> weights_, counts_, v_, logits_, products_, gap_sums_, offsets_;
    DeviceArray<float> marginal_parts_, marginals_;
    DeviceArray<Partial> partials_;
    DeviceArray<FieldState> states_;
    DeviceArray<int> remaining_, too_large_;
    DeviceArray<double> dot_parts_;
    DeviceArray<double2> pair_sums_;
    DeviceArray<Sums> sums_;
    std::vector<DeviceArray<float>> vectors_;
    Spread spread_{};
    ColumnInput input_{};
    Evaluation latest_;
};

Layout choose_layout(const Problem& problem, const CudaDevice& gpu, int blocks) {
    Layout layout{problem.letters.extent(0), problem.letters.extent(1), problem.letter_count};
    layout.parts = problem.objective_error < kCoarseRounding ? 2 : 1;
    layout.blocks = blocks;
    if (blocks > 0) return layout;
    return fit_layout(layout, Lbfgs::vectors_needed({.history = kHistory}), gpu.free_bytes);
}

CudaKernel::CudaKernel(const Problem& problem, int index, const CudaChoices& choices)
    : problem_(problem) {
    if (problem.letter_count > kMaxLetterCodes)
        throw std::logic_error("too many letters for the CUDA kernel");
    const CudaDevice gpu = use_cuda_device(index);
    hopper_ = gpu.major == 9 && gpu.minor == 0 && !choices.portable;
    layout_ = choose_layout(problem, gpu, choices.blocks);
    shape_ = {layout_.sequences, layout_.padded_sequences(),
              layout_.columns,   layout_.letters,
              layout_.row(),     layout_.parts,
              layout_.depth(),   layout_.width(),
              layout_.chunk(),   layout_.chunks()};
    dense_ = DeviceArray<__half>(layout_.dense_size());
    residuals_ = DeviceArray<__half>(layout_.residual_size());
    logits_ = DeviceArray<float>(shape_.width * shape_.padded_sequences);
    products_ = DeviceArray<float>(layout_.product_size());
    gap_sums_ = DeviceArray<float>(layout_.pair_tiles() * layout_.block_width());
    offsets_ = DeviceArray<float>(shape_.width);
    marginal_parts_ = DeviceArray<float>(layout_.sequence_tiles() * shape_.width);
    marginals_ = DeviceArray<float>(shape_.width);
    partials_ = DeviceArray<Partial>(shape_.chunks * shape_.columns);
    states_ = DeviceArray<FieldState>(shape_.columns);
    remaining_ = DeviceArray<int>(kMaxPasses);
    too_large_ = DeviceArray<int>(1);
    dot_parts_ = DeviceArray<double>(kMaxVectors * kVectorBlocks);
    pair_sums_ = DeviceArray<double2>(layout_.pair_tiles() * shape_.columns);
    sums_ = DeviceArray<Sums>(1);
    upload_alignment();
}

void CudaKernel::upload_alignment() {
    const Index columns = shape_.columns, tile_columns = layout_.letter_columns();
    std::vector<float> weights(shape_.padded_sequences, 0.0f), counts(layout_.fields()),
        v(layout_.fields());
    double total = 0, largest = 0;
    for (Index n = 0; n < shape_.sequences; ++n) {
        weights[n] = static_cast<float>(problem_.weights[n]);
        total += problem_.weights[n];
        largest = std::max(largest, problem_.weights[n]);
    }
    residual_scale_ =
        std::ldexp(1.0f, static_cast<int>(std::floor(std::log2(kLargestResidual / largest))));
    weights_ = DeviceArray<float>(shape_.padded_sequences);
    weights_.upload(weights.data());
    DeviceArray<std::uint8_t> rows(shape_.sequences * columns);
    rows.upload(problem_.letters.data);
    letters_ = DeviceArray<std::uint16_t>(layout_.letter_size());
    const dim3 tiles(blocks(columns), blocks(layout_.sequence_tiles()));
    tile_letters<<<tiles, kSequenceTile>>>(shape_, rows.data(), tile_columns, letters_.data());
    DeviceArray<double> sums(layout_.fields());
    count_letters<<<blocks(columns), kCountThreads>>>(shape_, letters_.data(), tile_columns,
                                                      weights_.data(), sums.data());
    check(cudaGetLastError(), "alignment");
    std::vector<double> all(layout_.fields());
    sums.download(all.data());
    for (Index k = 0; k < layout_.fields(); ++k) {
        const double f = all[k] / total;
        counts[k] = static_cast<float>(all[k]);
        v[k] = static_cast<float>(f * (1 - f));
    }
    counts_ = DeviceArray<float>(layout_.fields());
    counts_.upload(counts.data());
    v_ = DeviceArray<float>(layout_.fields());
    v_.upload(v.data());
    spread_ = {v_.data(), 1.0f, 0.0f};
    if (problem_.scaled) {
        spread_.offset = static_cast<float>(2 * problem_.lambda_pair);
        spread_.factor = static_cast<float>(2 * total);
    }
    input_ = {{letters_.data(), static_cast<int>(tile_columns), shape_.row},
              logits_.data(),
              offsets_.data(),
              weights_.data(),
              counts_.data(),
              problem_.lambda_single};
}

Vectors CudaKernel::gather(std::span<const int> vectors, std::span<const double> factors) const {
    if (vectors.size() > kMaxVectors) throw std::logic_error("too many vectors in one pass");
    Vectors v{{}, {}, static_cast<int>(vectors.size())};
    for (std::size_t k = 0; k < vectors.size(); ++k) {
        v.data[k] = vectors_[vectors[k]].data();
        v.factor[k] = k < factors.size() ? static_cast<float>(factors[k]) : 1.0f;
    }
    return v;
}

void CudaKernel::dots(int a, std::span<const int> with, std::span<double> out) {
    if (with.empty()) return;
    dot_stretches<<<kVectorBlocks, kVectorThreads>>>(vectors_[a].data(), gather(with, {}),
                                                     layout_.fields(), size(), problem_.pair_metric,
                                                     dot_parts_.data());
    check(cudaGetLastError(), "inner products");
    std::vector<double> parts(with.size() * kVectorBlocks);
    dot_parts_.download(parts.data(), 0, static_cast<Index>(parts.size()));
    for (std::size_t k = 0; k < with.size(); ++k) {
        out[k] = 0;
        for (int b = 0; b < kVectorBlocks; ++b) out[k] += parts[k * kVectorBlocks + b];
    }
}

void CudaKernel::combine(int out, std::span<const int> vectors, std::span<const double> factors) {
    combine_vectors<<<4 * kVectorBlocks, kVectorThreads>>>(gather(vectors, factors), size(),
                                                           vectors_[out].data());
    check(cudaGetLastError(), "linear combination");
}

void CudaKernel::multiply(const OneHotProduct& product) const {
    hopper_ ? one_hot_product_hopper(product) : one_hot_product_portable(product);
}

void CudaKernel::sum_logits(const float* pairs) {
    check(cudaMemsetAsync(too_large_.data(), 0, sizeof(int)), "cannot clear memory");
    const DenseOperand dense{dense_.data(), shape_.depth, shape_.parts};
    for (Index block = 0; block < block_count(); ++block) {
        const Index first = first_column(block) * shape_.row, width = width_of(block);
        const dim3 grid(blocks(columns_of(block)), blocks(layout_.pair_tiles()));
        for_letters(q(), [&](auto letters) {
            build_dense<letters>
                <<<grid, kPairThreads>>>(shape_, pairs, spread_,
                                         {first_column(block), dense, gap_sums_.data(),
                                          layout_.block_width(), kDenseScale, too_large_.data()});
        });
        const Index sums = columns_of(block) * shape_.row;
        add_rows<<<blocks((sums + kRowThreads - 1) / kRowThreads), kRowThreads>>>(
            gap_sums_.data(), layout_.pair_tiles(), layout_.block_width(), sums, 1.0f,
            offsets_.data() + first);
        check(cudaGetLastError(), "dense operand");
        multiply({input_.letters, dense_.data(), shape_.parts, shape_.depth / kTileDepth, 0,
                  shape_.padded_sequences, width, logits_.data() + first * shape_.padded_sequences,
                  shape_.padded_sequences, 1 / kDenseScale, false});
    }
}

void CudaKernel::fit_fields(bool best_fields) {
    const double target2 =
        4 * problem_.lambda_single * field_gap / static_cast<double>(shape_.columns);
    const dim3 grid(blocks(shape_.columns), blocks(shape_.chunks));
    const int passes = best_fields ? kMaxPasses : 1;
    check(cudaMemsetAsync(remaining_.data(), 0, kMaxPasses * sizeof(int)), "cannot clear memory");
    for (int pass = 0; pass < passes; ++pass) {
        for_letters(q(), [&](auto letters) {
            softmax_sums<letters.value - 1>
                <<<grid, kSequenceTile>>>(shape_, input_, states_.data(), partials_.data());
        });
        advance_fields<<<grid.x, kFieldThreads>>>(shape_, input_, partials_.data(), target2, passes,
                                                  states_.data(), remaining_.data() + pass);
        check(cudaGetLastError(), "fields");
        if (pass + 1 < std::min(kUncheckedPasses, passes)) continue;
        int remaining = 0;
        remaining_.download(&remaining, pass, 1);
        if (remaining == 0) break;
    }
}

void CudaKernel::sum_residuals() {
    const dim3 tiles(blocks(shape_.columns), blocks(layout_.sequence_tiles()));
    for_letters(q(), [&](auto letters) {
        residuals<letters.value - 1><<<tiles, kSequenceTile>>>(
            shape_, input_, states_.data(), residual_scale_,
            DenseOperand{residuals_.data(), shape_.padded_sequences, shape_.parts},
            marginal_parts_.data());
    });
    const Index sums = layout_.flat();
    add_rows<<<blocks((sums + kRowThreads - 1) / kRowThreads), kRowThreads>>>(
        marginal_parts_.data(), layout_.sequence_tiles(), shape_.width, sums, 1 / residual_scale_,
        marginals_.data());
    check(cudaGetLastError(), "residuals");
}

// out[letters of one block][residuals of another]
ProductBlock CudaKernel::sum_products(Index letter_block, Index residual_block, float* out) {
    const Index first_letter = first_column(letter_block) * shape_.row;
    const Index first_residual = first_column(residual_block) * shape_.row;
    const Index depth = shape_.padded_sequences * shape_.parts;
    multiply({input_.letters, residuals_.data() + first_residual * depth, shape_.parts,
              shape_.padded_sequences / kTileDepth, first_letter,
              round_up(columns_of(letter_block) * shape_.row, kTileRows), width_of(residual_block),
              out, layout_.block_width(), 1 / residual_scale_, true});
    return {out, layout_.block_width(), first_column(letter_block), first_column(residual_block)};
}

void CudaKernel::sum_gradient(const float* pairs, float* gradient) {
    sum_residuals();
    for (Index second = 0; second < block_count(); ++second) {
        for (Index first = 0; first <= second; ++first) {
            float* data = products_.data();
            const ProductBlock of_i = sum_products(second, first, data);
            const Index next = layout_.block_width() * layout_.block_width();
            const ProductBlock of_j =
                first == second ? of_i : sum_products(first, second, data + next);
            const dim3 grid(blocks(columns_of(first)), blocks(tiles_of(second)));
            const GradientStep step{of_i,
                                    of_j,
                                    marginals_.data(),
                                    pairs,
                                    gradient,
                                    static_cast<float>(problem_.lambda_pair),
                                    pair_sums_.data()};
            for_letters(q(), [&](auto letters) {
                finish_gradient<letters>
                    <<<grid, kPairThreads>>>(shape_, spread_, step, first_column(first),
                                             first_column(second) / kPairColumns);
            });
            check(cudaGetLastError(), "gradient");
        }
    }
}

Evaluation CudaKernel::evaluate_at(int x, int gradient, bool best_fields) {
    const Index fields = layout_.fields();
    start_fields<<<blocks(shape_.columns), 32>>>(shape_, vectors_[x].data(), states_.data());
    sum_logits(pairs(x));
    fit_fields(best_fields);
    sum_gradient(pairs(x), vectors_[gradient].data() + fields);
    finish_evaluation<kSumThreads><<<1, kSumThreads>>>(
        shape_, states_.data(), best_fields, pair_sums_.data(), pair_sums_.size(),
        too_large_.data(), vectors_[x].data(), vectors_[gradient].data(), sums_.data());
    check(cudaGetLastError(), "evaluation");
    Sums sums;
    sums_.download(&sums);
    latest_ = {.objective = sums.data_term + problem_.lambda_single * sums.field_norm2 +
                            problem_.lambda_pair * sums.pair_norm2,
               .field_gradient2 = sums.field_gradient2,
               .pair_gradient2 = sums.pair_gradient2,
               .point2 = sums.field_norm2 + sums.pair_norm2};
    // Such a point is far from a minimum: the line search treats it as a step that is too long.
    if (sums.too_large != 0) latest_.objective = std::numeric_limits<double>::infinity();
    return latest_;
}

Model CudaKernel::model(int vector) const {
    const Index columns = layout_.columns, count = columns * (columns - 1) / 2;
    const Index block = Index{q()} * q();
    Model model{Array<float, 2>(columns, q()), Array<float, 3>::unset(count, q(), q())};
    vectors_[vector].download(model.fields.data(), 0, layout_.fields());
    // The products of the latest evaluation are no longer needed, so their array is the buffer.
    const auto offset = [&](Index i) { return i * (2 * columns - i - 1) / 2 * block; };
    for (Index first = 0; first + 1 < columns;) {
        Index last = first + 1;
        while (last + 1 < columns && offset(last + 1) - offset(first) <= products_.size()) ++last;
        const dim3 grid(blocks(columns), blocks(last - first));
        rescale<<<grid, kPairThreads>>>(shape_, pairs(vector), first, spread_, false,
                                        products_.data());
        check(cudaGetLastError(), "model");
        products_.download(model.pairs.data() + offset(first), 0, offset(last) - offset(first));
        first = last;
    }
    return model;
}

void CudaKernel::set_model(int vector, const Model& model) {
    vectors_[vector].upload(model.fields.data(), 0, layout_.fields());
    vectors_[vector].upload(model.pairs.data(), layout_.fields(), layout_.pairs());
    const dim3 grid(blocks(shape_.columns), blocks(shape_.columns));
    rescale<<<grid, kPairThreads>>>(shape_, pairs(vector), 0, spread_, true,
                                    vectors_[vector].data() + layout_.fields());
    check(cudaGetLastError(), "model");
}

void CudaKernel::set_fields(int vector, View<const float, 2> fields) {
    check(cudaMemsetAsync(vectors_[vector].data(), 0, sizeof(float) * size()),
          "cannot clear memory");
    vectors_[vector].upload(fields.data, 0, layout_.fields());
}

Array<double, 2> CudaKernel::raw_scores(int vector, int) const {
    const Index columns = layout_.columns;
    DeviceArray<double> norms(columns * columns);
    const dim3 grid(blocks(columns), blocks(columns));
    pair_norms<<<grid, 32>>>(shape_, pairs(vector), spread_, norms.data());
    check(cudaGetLastError(), "scores");
    Array<double, 2> scores(columns, columns);
    norms.download(scores.data());
    for (Index i = 0; i < columns; ++i) {
        for (Index j = 0; j < i; ++j) scores(i, j) = scores(j, i);
    }
    return scores;
}

}  // namespace

std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, int index,
                                         const CudaChoices& choices) {
    return std::make_unique<CudaKernel>(problem, index, choices);
}

}  // namespace pleat::couplings
