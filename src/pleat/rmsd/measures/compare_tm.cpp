// TM-score and GDT_TS of pairs of structures.
#include <utility>

#include "pleat/rmsd/cuda/gpu_comparisons.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/measures/tm_search.h"

namespace pleat::rmsd {

namespace {

class TmComparison final : public Comparison {
public:
    TmComparison(FrameSet rows, FrameSet columns, bool is_gdt, bool is_reference)
        : rows_(std::move(rows)),
          columns_(std::move(columns)),
          is_gdt_(is_gdt),
          is_reference_(is_reference) {}

    Index block_rows() const override { return 1; }
    Index block_columns() const override { return 8; }
    double cost() const override {
        // Fragments and their sets: some superpositions for each atom.
        const auto atoms = static_cast<double>(rows_->atom_count());
        return (is_reference_ ? 15.0 : 4.0) * atoms * (500.0 + 10.0 * atoms);
    }

    void block(Block rows, Block columns, float* values) const override {
        TmSearch search(rows_->atom_count(), is_reference_ ? superpose_reference : superpose_fast,
                        !is_reference_);
        for (Index i = rows.first; i < rows.first + rows.count; ++i)
            for (Index j = columns.first; j < columns.first + columns.count; ++j) {
                const TmScores scores = search(rows_->frame(i), columns_->frame(j));
                *values++ = static_cast<float>(is_gdt_ ? scores.gdt_ts : scores.tm);
            }
    }

private:
    FrameSet rows_, columns_;
    bool is_gdt_, is_reference_;
};

}  // namespace

std::unique_ptr<Comparison> make_tm(FrameSet rows, FrameSet columns, Metric metric,
                                    const Context& context) {
    if (context.device.kind == Device::Kind::cuda)
        return make_tm_on_cuda(rows, columns, metric, context);
    return std::make_unique<TmComparison>(std::move(rows), std::move(columns),
                                          metric == Metric::gdt_ts,
                                          context.device.kind == Device::Kind::reference);
}

}  // namespace pleat::rmsd
