// CUDA kernel: slots stay on the GPU, evaluations are one-hot products on tensor cores.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "pleat/core/cuda_check.cuh"
#include "pleat/core/cuda_device.h"
#include "pleat/core/device_array.cuh"
#include "pleat/couplings/column_steps.cuh"
#include "pleat/couplings/field_steps.cuh"
#include "pleat/couplings/kernel.h"
#include "pleat/couplings/one_hot_product.cuh"
#include "pleat/couplings/pair_steps.cuh"
#include "pleat/couplings/vector_steps.cuh"

namespace pleat::couplings {

namespace {

using namespace cuda;
using pleat::cuda::check;
using pleat::cuda::DeviceArray;

constexpr int kPairThreads = 128, kResidualThreads = 128, kFinishThreads = 256;
constexpr int kMostPasses = 30;  // over the sequences, for the fields of one evaluation

unsigned blocks(Index count) { return static_cast<unsigned>(count); }

class CudaKernel final : public Kernel {
public:
    CudaKernel(const Problem& problem, int index);

    void reserve(int count) override {
        while (static_cast<int>(slots_.size()) < count) slots_.emplace_back(size());
    }
    Index size() const override { return layout_.fields() + layout_.pairs(); }
    void download(int slot, float* to) const override { slots_[slot].download(to); }
    void upload(int slot, const float* from) override { slots_[slot].upload(from); }
    void dots(int a, std::span<const int> with, std::span<double> out) override;
    void combine(int out, std::span<const int> slots, std::span<const double> factors) override;

    Evaluation evaluate_best_fields(int x, int gradient) override {
        return evaluate_at(x, gradient, true);
    }
    Evaluation evaluate_plain(int x, int gradient) override { return evaluate_at(x, gradient, false); }
    const Evaluation& latest() const override { return latest_; }
    Model model(int slot) const override;
    void set_model(int slot, const Model& model) override;

private:
    void upload_alignment();
    Evaluation evaluate_at(int x, int gradient, bool best_fields);
    template <int kRow>
    void products(bool scatter);
    void sum_logits(const float* pairs);
    void fit_fields(bool best_fields);
    void sum_gradient(const float* pairs, float* gradient);
    Vectors gather(std::span<const int> slots, std::span<const double> factors) const;
    int q() const { return layout_.letters; }
    dim3 pair_grid() const { return {blocks(layout_.columns), blocks(layout_.columns)}; }

    Problem problem_;
    Layout layout_;
    Shape shape_;
    DeviceArray<__nv_bfloat16> letters_, high_, low_, residual_high_, residual_low_;
    DeviceArray<std::uint8_t> own_;
    DeviceArray<float> weights_, counts_, v_, sums_, products_;
    DeviceArray<Partial> partials_;
    DeviceArray<FieldState> states_;
    DeviceArray<int> remaining_;
    DeviceArray<double> dot_parts_;
    DeviceArray<double2> finish_parts_;
    std::vector<DeviceArray<float>> slots_;
    Spread spread_{};
    ColumnInput input_{};
    Evaluation latest_;
};

CudaKernel::CudaKernel(const Problem& problem, int index)
    : problem_(problem),
      layout_{problem.letters.extent(0), problem.letters.extent(1), problem.letter_count},
      shape_{layout_.sequences, layout_.padded_sequences(),
             layout_.columns,   layout_.letters,
             layout_.row(),     layout_.pitch(),
             layout_.chunks()} {
    if (q() > kMostLetterCodes)
        throw std::logic_error("more letters than the CUDA kernel has room for");
    use_cuda_device(index);
    upload_alignment();
    const Index width = shape_.padded_sequences, rows = layout_.operand_rows();
    high_ = DeviceArray<__nv_bfloat16>(rows * shape_.pitch);
    low_ = DeviceArray<__nv_bfloat16>(rows * shape_.pitch);
    residual_high_ = DeviceArray<__nv_bfloat16>(width * shape_.pitch);
    residual_low_ = DeviceArray<__nv_bfloat16>(width * shape_.pitch);
    sums_ = DeviceArray<float>(width * shape_.pitch);
    products_ = DeviceArray<float>(rows * shape_.pitch);
    partials_ = DeviceArray<Partial>(shape_.chunks * shape_.columns);
    states_ = DeviceArray<FieldState>(shape_.columns);
    remaining_ = DeviceArray<int>(1);
    dot_parts_ = DeviceArray<double>(kMostVectors * kVectorBlocks);
    finish_parts_ = DeviceArray<double2>(shape_.columns);
}

void CudaKernel::upload_alignment() {
    constexpr Index kBlock = 64;  // sequences whose letters are turned into columns at a time
    const Index columns = shape_.columns, width = shape_.padded_sequences;
    std::vector<std::uint16_t> bits(layout_.padded_columns() * width, kNoLetter);
    std::vector<std::uint8_t> own(columns * width, 0);
    std::vector<float> weights(width, 0.0f), counts(layout_.fields()), v(layout_.fields());
    std::vector<double> sums(layout_.fields(), 0.0);
    double total = 0;
    for (Index n = 0; n < shape_.sequences; ++n) {
        weights[n] = static_cast<float>(problem_.weights[n]);
        total += problem_.weights[n];
    }
    for (Index start = 0; start < shape_.sequences; start += kBlock) {
        for (Index i = 0; i < columns; ++i) {
            for (Index n = start; n < std::min(start + kBlock, shape_.sequences); ++n) {
                const std::uint8_t letter = problem_.letters(n, i);
                bits[i * width + n] = static_cast<std::uint16_t>(kLetterBits + letter);
                own[i * width + n] = letter;
                sums[i * q() + letter] += weights[n];
            }
        }
    }
    for (Index k = 0; k < layout_.fields(); ++k) {
        counts[k] = static_cast<float>(sums[k]);
        const double f = sums[k] / total;
        v[k] = static_cast<float>(f * (1 - f));
    }
    letters_ = DeviceArray<__nv_bfloat16>(layout_.padded_columns() * width);
    letters_.upload(reinterpret_cast<const __nv_bfloat16*>(bits.data()));
    own_ = DeviceArray<std::uint8_t>(columns * width);
    own_.upload(own.data());
    weights_ = DeviceArray<float>(width);
    weights_.upload(weights.data());
    counts_ = DeviceArray<float>(layout_.fields());
    counts_.upload(counts.data());
    v_ = DeviceArray<float>(layout_.fields());
    v_.upload(v.data());
    spread_ = {v_.data(), 1.0f, 0.0f};
    if (problem_.scaled) {
        spread_.offset = static_cast<float>(2 * problem_.lambda_pair);
        spread_.factor = static_cast<float>(2 * total);
    }
    input_ = {own_.data(), weights_.data(), counts_.data(), problem_.lambda_single};
}

Vectors CudaKernel::gather(std::span<const int> slots, std::span<const double> factors) const {
    if (slots.size() > kMostVectors) throw std::logic_error("too many vectors in one pass");
    Vectors v{{}, {}, static_cast<int>(slots.size())};
    for (std::size_t k = 0; k < slots.size(); ++k) {
        v.data[k] = slots_[slots[k]].data();
        v.factor[k] = k < factors.size() ? static_cast<float>(factors[k]) : 1.0f;
    }
    return v;
}

void CudaKernel::dots(int a, std::span<const int> with, std::span<double> out) {
    if (with.empty()) return;
    dot_stretches<<<kVectorBlocks, kVectorThreads>>>(slots_[a].data(), gather(with, {}),
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

void CudaKernel::combine(int out, std::span<const int> slots, std::span<const double> factors) {
    combine_vectors<<<4 * kVectorBlocks, kVectorThreads>>>(gather(slots, factors), size(),
                                                           slots_[out].data());
    check(cudaGetLastError(), "linear combination");
}

// False: logits of all sequences and columns; true: the gradient's sums over sequences.
template <int kRow>
void CudaKernel::products(bool scatter) {
    const auto launch = [&](auto kernel, int stage_bytes, Index rows, SplitMatrix dense,
                            Index depth, float* out) {
        const int bytes = kStages * stage_bytes;
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
              "shared memory");
        const dim3 grid(blocks(rows / kTileRows), blocks(shape_.pitch / kTileColumns));
        const LetterMatrix letters{letters_.data(), shape_.padded_sequences};
        kernel<<<grid, kThreads, bytes>>>(letters, dense, round_up(depth, kWarpRows) / kWarpRows,
                                          out, shape_.pitch);
        check(cudaGetLastError(), "one-hot product");
    };
    if (scatter) {
        launch(one_hot_product<kRow, true>, sizeof(Stage<kRow, true>), layout_.operand_rows(),
               {residual_high_.data(), residual_low_.data(), shape_.pitch}, shape_.padded_sequences,
               products_.data());
    } else {
        launch(one_hot_product<kRow, false>, sizeof(Stage<kRow, false>), shape_.padded_sequences,
               {high_.data(), low_.data(), shape_.pitch}, shape_.columns * kRow, sums_.data());
    }
}

void CudaKernel::sum_logits(const float* pairs) {
    build_dense<<<pair_grid(), kPairThreads>>>(shape_, pairs, spread_, high_.data(), low_.data());
    check(cudaGetLastError(), "dense operand");
    if (shape_.row == 24) {
        products<24>(false);
    } else {
        products<8>(false);
    }
}

void CudaKernel::fit_fields(bool best_fields) {
    const double target2 =
        4 * problem_.lambda_single * field_gap / static_cast<double>(shape_.columns);
    const dim3 grid(blocks(shape_.columns), blocks(shape_.chunks));
    const int most = best_fields ? kMostPasses : 1;
    int remaining = 1;
    for (int pass = 0; remaining > 0 && pass < most; ++pass) {
        remaining = 0;
        remaining_.upload(&remaining);
        softmax_sums<<<grid, kSequenceTile>>>(shape_, sums_.data(), input_, states_.data(),
                                              best_fields, partials_.data());
        advance_fields<<<grid.x, 32>>>(shape_, input_, partials_.data(), target2, most,
                                       states_.data(), remaining_.data());
        check(cudaGetLastError(), "fields");
        remaining_.download(&remaining);
    }
}

void CudaKernel::sum_gradient(const float* pairs, float* gradient) {
    const dim3 tiles(blocks(shape_.columns), blocks(shape_.padded_sequences / kResidualThreads));
    residuals<<<tiles, kResidualThreads>>>(shape_, sums_.data(), input_, states_.data(),
                                           residual_high_.data(), residual_low_.data());
    check(cudaGetLastError(), "residuals");
    if (shape_.row == 24) {
        products<24>(true);
    } else {
        products<8>(true);
    }
    add_orders<<<pair_grid(), kPairThreads>>>(shape_, products_.data(), gradient);
    finish_gradient<<<blocks(shape_.columns), kFinishThreads>>>(
        shape_, pairs, gradient, spread_, static_cast<float>(problem_.lambda_pair),
        finish_parts_.data());
    check(cudaGetLastError(), "gradient");
}

Evaluation CudaKernel::evaluate_at(int x, int gradient, bool best_fields) {
    const Index columns = shape_.columns, fields = layout_.fields();
    std::vector<float> e(fields), g(fields, 0.0f);
    slots_[x].download(e.data(), 0, fields);
    std::vector<FieldState> states(columns);
    for (Index i = 0; i < columns; ++i) {
        for (int a = 0; a < q() - 1; ++a) states[i].trial[a] = e[i * q() + a];
    }
    states_.upload(states.data());
    const float* pairs = slots_[x].data() + fields;
    sum_logits(pairs);
    fit_fields(best_fields);
    sum_gradient(pairs, slots_[gradient].data() + fields);

    states_.download(states.data());
    std::vector<double2> parts(columns);
    finish_parts_.download(parts.data());
    latest_ = {};
    for (Index i = 0; i < columns; ++i) {
        double norm = 0;
        for (int a = 0; a < q() - 1; ++a) {
            norm += states[i].trial[a] * states[i].trial[a];
            if (best_fields) e[i * q() + a] = static_cast<float>(states[i].trial[a]);
            // With the best fields this is zero up to rounding, and no part of the reduced problem.
            if (!best_fields) g[i * q() + a] = static_cast<float>(states[i].gradient[a]);
        }
        latest_.objective +=
            states[i].data_term + problem_.lambda_single * norm + problem_.lambda_pair * parts[i].y;
        latest_.field_gradient2 += states[i].gradient2;
        latest_.pair_gradient2 += parts[i].x;
        latest_.point2 += norm + parts[i].y;
    }
    slots_[x].upload(e.data(), 0, fields);
    slots_[gradient].upload(g.data(), 0, fields);
    return latest_;
}

Model CudaKernel::model(int slot) const {
    const Index pairs = layout_.columns * (layout_.columns - 1) / 2;
    Model model{Array<float, 2>(layout_.columns, q()), Array<float, 3>(pairs, q(), q())};
    slots_[slot].download(model.fields.data(), 0, layout_.fields());
    // The products of the latest evaluation are used up, and have room for all pairs.
    rescale<<<pair_grid(), kPairThreads>>>(shape_, slots_[slot].data() + layout_.fields(), spread_,
                                           false, products_.data());
    check(cudaGetLastError(), "model");
    products_.download(model.pairs.data(), 0, layout_.pairs());
    return model;
}

void CudaKernel::set_model(int slot, const Model& model) {
    slots_[slot].upload(model.fields.data(), 0, layout_.fields());
    slots_[slot].upload(model.pairs.data(), layout_.fields(), layout_.pairs());
    float* pairs = slots_[slot].data() + layout_.fields();
    rescale<<<pair_grid(), kPairThreads>>>(shape_, pairs, spread_, true, pairs);
    check(cudaGetLastError(), "model");
}

}  // namespace

std::unique_ptr<Kernel> make_cuda_kernel(const Problem& problem, int index) {
    return std::make_unique<CudaKernel>(problem, index);
}

}  // namespace pleat::couplings
