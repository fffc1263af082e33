// CPU kernel: each thread computes columns with the vectorised steps of column_work.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <vector>

#include "pleat/core/loops/parallel.h"
#include "pleat/couplings/contacts/scores.h"
#include "pleat/couplings/fit/field_newton.h"
#include "pleat/couplings/kernel/column_work.h"
#include "pleat/couplings/kernel/kernel.h"

namespace pleat::couplings {

namespace {

constexpr Index kChunk = 1 << 16;  // floats of a vector that one thread computes at a time

// VectorStore are float: fields [column][stride], then for each pair i < j a block [letter at
// j][letter at i, padded to the stride]. Padding is zero and stays zero.
class CpuKernel final : public Kernel {
public:
    CpuKernel(const Problem& problem, int threads)
        : problem_(problem),
          threads_(threads),
          layout_{problem.letters.extent(0), problem.letters.extent(1), problem.letter_count},
          columns_(layout_.columns),
          letter_count_(layout_.letters),
          stride_(static_cast<int>(layout_.stride())),
          tree_(build_sequence_tree(problem.letters, letter_count_, stride_, threads)),
          letters_(columns_, tree_.count()),
          weights_(tree_.count()),
          counts_(columns_, letter_count_),
          spread_(columns_, stride_),
          work_(threads),
          row_locks_(columns_) {
        double total = 0;
        for (Index k = 0; k < tree_.count(); ++k) {
            const std::uint8_t* row = &problem.letters(tree_.order[k], 0);
            const double w = problem.weights[tree_.order[k]];
            weights_[k] = static_cast<float>(w);
            total += w;
            for (Index i = 0; i < columns_; ++i) {
                letters_(i, k) = row[i];
                counts_(i, row[i]) += weights_[k];
            }
        }
        for (Index i = 0; i < columns_; ++i) {
            for (int a = 0; a < letter_count_; ++a) {
                const double f = counts_(i, a) / total;
                spread_(i, a) = static_cast<float>(f * (1 - f));
            }
        }
        scaling_.spread = spread_.view();
        if (problem.scaled) {
            scaling_.offset = static_cast<float>(2 * problem.lambda_pair);
            scaling_.factor = static_cast<float>(2 * total);
        }
    }

    void reserve(int count) override {
        while (static_cast<int>(vectors_.size()) < count) {
            vectors_.push_back(Array<float, 1>::unset(size()));
            clear(vectors_.back().data(), size());
        }
    }

    Index size() const override { return layout_.vector_size(); }
    void download(int vector, float* to) const override {
        std::copy_n(vectors_[vector].data(), size(), to);
    }
    const float* host_data(int vector) const override { return vectors_[vector].data(); }
    void upload(int vector, const float* from) override {
        std::copy_n(from, size(), vectors_[vector].data());
    }
    void dots(int a, std::span<const int> others, std::span<double> out) override {
        std::vector<double> factor(others.size(), 1.0);
        const auto range = [&](Index first, Index count, double metric) {
            const Index chunks = (count + kChunk - 1) / kChunk;
            Array<double, 2> partial(chunks, static_cast<Index>(others.size()));
            parallel_for(threads_, chunks, [&](Index c, int) {
                const Index start = first + c * kChunk;
                std::vector<const float*> from;
                for (const int vector : others) from.push_back(vectors_[vector].data() + start);
                dot_products(vectors_[a].data() + start, from,
                             std::min(kChunk, first + count - start), &partial(c, 0));
            });
            for (Index c = 0; c < chunks; ++c) {
                for (std::size_t k = 0; k < others.size(); ++k) out[k] += metric * partial(c, k);
            }
        };
        std::fill(out.begin(), out.end(), 0.0);
        range(0, layout_.field_size(), 1.0);
        range(layout_.field_size(), layout_.pair_size(), problem_.pair_metric);
    }

    void combine(int out, std::span<const int> vectors, std::span<const double> factors) override {
        const std::vector<float> single(factors.begin(), factors.end());
        parallel_for(threads_, (size() + kChunk - 1) / kChunk, [&](Index c, int) {
            const Index start = c * kChunk;
            std::vector<const float*> from;
            for (const int vector : vectors) from.push_back(vectors_[vector].data() + start);
            linear_combination(from, single, std::min(kChunk, size() - start),
                               vectors_[out].data() + start);
        });
    }

    Evaluation evaluate_best_fields(int x, int gradient) override {
        return evaluate_fields(x, gradient, true);
    }
    Evaluation evaluate_plain(int x, int gradient) override {
        return evaluate_fields(x, gradient, false);
    }
    const Evaluation& latest() const override { return latest_; }

    Model model(int vector) const override {
        Model model{
            Array<float, 2>(columns_, letter_count_),
            Array<float, 3>::unset(columns_ * (columns_ - 1) / 2, letter_count_, letter_count_)};
        parallel_for(threads_, columns_, [&](Index i, int) {
            std::copy_n(vectors_[vector].data() + i * stride_, letter_count_, &model.fields(i, 0));
            for (Index j = i + 1; j < columns_; ++j) {
                unscaled_block(vector, i, j, model.pairs[pair_index(i, j, columns_)]);
            }
        });
        return model;
    }

    void set_model(int vector, const Model& model) override {
        parallel_for(threads_, columns_, [&](Index i, int) {
            std::copy_n(&model.fields(i, 0), letter_count_, vectors_[vector].data() + i * stride_);
            for (Index j = i + 1; j < columns_; ++j) {
                const Index pair = pair_index(i, j, columns_);
                float* to = pairs(vector) + pair * block();
                for (int a = 0; a < letter_count_; ++a) {
                    for (int b = 0; b < letter_count_; ++b) {
                        to[b * stride_ + a] = model.pairs(pair, a, b) / scale(i, a, j, b);
                    }
                }
            }
        });
    }

    Array<double, 2> raw_scores(int vector, int threads) const override {
        Array<double, 2> scores(columns_, columns_);
        parallel_for(threads, columns_, [&](Index i, int) {
            Array<float, 2> block(letter_count_, letter_count_);
            for (Index j = i + 1; j < columns_; ++j) {
                unscaled_block(vector, i, j, block);
                scores(i, j) = scores(j, i) = centred_norm(block.view());
            }
        });
        return scores;
    }

    void set_fields(int vector, View<const float, 2> fields) override {
        clear(pairs(vector), layout_.pair_size());
        for (Index i = 0; i < columns_; ++i) {
            std::copy_n(&fields(i, 0), letter_count_, vectors_[vector].data() + i * stride_);
        }
    }

private:
    // The arrays that one thread works on.
    struct Workspace {
        Array<float, 3> table, gradient;  // [column, letter, stride]
        Array<float, 2> sums, rows;       // [position, stride]
    };
    struct ColumnResult {
        double data_term, field_gradient2, field_point2;
    };

    Index block() const { return layout_.block_size(); }
    float* pairs(int vector) { return vectors_[vector].data() + layout_.field_size(); }
    const float* pairs(int vector) const { return vectors_[vector].data() + layout_.field_size(); }
    float scale(Index i, int a, Index j, int b) const {
        return 1.0f / std::sqrt(scaling_.offset + scaling_.factor * spread_(j, b) * spread_(i, a));
    }

    /// e_ij(a,b) of the pair i < j of a vector, [a, b].
    void unscaled_block(int vector, Index i, Index j, View<float, 2> out) const {
        const float* from = pairs(vector) + pair_index(i, j, columns_) * block();
        for (int a = 0; a < letter_count_; ++a) {
            for (int b = 0; b < letter_count_; ++b) {
                out(a, b) = from[b * stride_ + a] * scale(i, a, j, b);
            }
        }
    }

    /// Sets floats to zero on all threads, since page faults of large vectors take most of the
    /// time.
    void clear(float* data, Index count) {
        parallel_for(threads_, (count + kChunk - 1) / kChunk, [&](Index c, int) {
            std::memset(data + c * kChunk, 0, sizeof(float) * std::min(kChunk, count - c * kChunk));
        });
    }

    Evaluation evaluate_fields(int x, int gradient, bool best_fields) {
        std::vector<ColumnResult> results(columns_);
        std::vector<PairSums> sums(columns_);
        clear(vectors_[gradient].data(), size());
        const ColumnSteps& steps = column_steps(stride_);
        parallel_for(threads_, columns_, [&](Index i, int thread) {
            Workspace& work = work_[thread];
            if (work.table.size() == 0) {
                work = {Array<float, 3>(columns_, letter_count_, stride_),
                        Array<float, 3>(columns_, letter_count_, stride_),
                        Array<float, 2>(tree_.count(), stride_),
                        Array<float, 2>(tree_.count(), stride_)};
            }
            results[i] = column(x, gradient, i, best_fields, work);
        });
        parallel_for(threads_, columns_, [&](Index i, int) {
            sums[i] = steps.finish_pairs(pairs(x), i, columns_, letter_count_, scaling_,
                                         problem_.lambda_pair, pairs(gradient));
        });
        latest_ = {};
        for (Index i = 0; i < columns_; ++i) {
            latest_.objective += results[i].data_term +
                                 problem_.lambda_single * results[i].field_point2 +
                                 sums[i].regulariser;
            latest_.field_gradient2 += results[i].field_gradient2;
            latest_.pair_gradient2 += sums[i].gradient2;
            latest_.point2 += results[i].field_point2 + sums[i].point2;
        }
        return latest_;
    }

    ColumnResult column(int x, int gradient, Index i, bool best_fields, Workspace& work) {
        const int free = letter_count_ - 1;
        const ColumnSteps& steps = column_steps(stride_);
        steps.build_table(pairs(x), i, columns_, letter_count_, scaling_, work.table.data());
        steps.sum_rows(tree_, work.table.data(), work.sums.data());

        const ColumnView view{tree_.count(), letter_count_, stride_, &letters_(i, 0),
                              weights_.data()};
        double e[kMaxFreeLetters + 1], field_gradient[kMaxFreeLetters + 1];
        float* fields = vectors_[x].data() + i * stride_;
        std::copy_n(fields, letter_count_, e);
        ColumnResult result{fit_fields(view, i, e, best_fields, work, field_gradient), 0, 0};
        for (int a = 0; a < free; ++a) {
            if (best_fields) fields[a] = static_cast<float>(e[a]);
            result.field_gradient2 += field_gradient[a] * field_gradient[a];
            result.field_point2 += e[a] * e[a];
            // At the optimal fields their gradient is zero up to rounding, so it is set to 0.
            if (!best_fields) {
                vectors_[gradient].data()[i * stride_ + a] = static_cast<float>(field_gradient[a]);
            }
        }
        for (Index k = 0; k < tree_.count(); ++k) work.rows(k, letters_(i, k)) -= weights_[k];
        std::memset(work.gradient.data(), 0, work.gradient.bytes());
        steps.scatter_rows(tree_, work.rows.data(), work.gradient.data());
        // Each block is the sum of exactly two terms, so the result does not depend on their order.
        for (Index j = 0; j < i; ++j) {
            const std::lock_guard lock(row_locks_[j]);
            steps.add_table(work.gradient.data(), i, j, j + 1, columns_, letter_count_,
                            pairs(gradient));
        }
        const std::lock_guard lock(row_locks_[i]);
        steps.add_table(work.gradient.data(), i, i + 1, columns_, columns_, letter_count_,
                        pairs(gradient));
        return result;
    }

    // Writes w_k p_k(a) to work.rows, and the gradient of the fields with its regulariser to
    // `gradient`.
    double fit_fields(const ColumnView& view, Index i, double* e, bool best_fields, Workspace& work,
                      double* gradient) {
        const int free = letter_count_ - 1;
        const ColumnSteps& steps = column_steps(stride_);
        double totals[kMaxFreeLetters + 1];
        const FieldPass pass = [&](const double* at, double* g, double* hessian) {
            const double data =
                steps.softmax_pass(view, work.sums.data(), at, work.rows.data(), totals);
            for (int a = 0; a < free; ++a) g[a] = totals[a] - counts_(i, a);
            if (hessian != nullptr) {
                steps.gram_pass(view, work.rows.data(), free, hessian);
                for (int k = 0; k < free * free; ++k) hessian[k] = -hessian[k];
                for (int a = 0; a < free; ++a) hessian[a * free + a] += totals[a];
            }
            return data;
        };
        double data = 0;
        if (best_fields) {
            const double target2 =
                4 * problem_.lambda_single * field_gap / static_cast<double>(columns_);
            data = minimise_fields(free, problem_.lambda_single, target2, e, pass);
        } else {
            data = pass(e, gradient, nullptr);
        }
        for (int a = 0; a < free; ++a) {
            gradient[a] = totals[a] - counts_(i, a) + 2 * problem_.lambda_single * e[a];
        }
        return data;
    }

    Problem problem_;
    int threads_;
    CpuLayout layout_;
    Index columns_;
    int letter_count_, stride_;
    SequenceTree tree_;
    Array<std::uint8_t, 2> letters_;  // [column, position]
    std::vector<float> weights_;      // by position
    Array<double, 2> counts_;         // weighted letter counts, [column, letter]
    Array<float, 2> spread_;
    Scaling scaling_;
    std::vector<Array<float, 1>> vectors_;
    std::vector<Workspace> work_;
    std::vector<std::mutex> row_locks_;
    Evaluation latest_;
};

}  // namespace

std::unique_ptr<Kernel> make_cpu_kernel(const Problem& problem, int threads) {
    return std::make_unique<CpuKernel>(problem, threads);
}

}  // namespace pleat::couplings
