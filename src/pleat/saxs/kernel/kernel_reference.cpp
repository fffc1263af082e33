// The reference kernel of saxs: the Debye formula pair by pair and q by q in float64.
#include <cmath>

#include "pleat/saxs/cancellable_parallel.h"
#include "pleat/saxs/debye/sorted_scatterers.h"
#include "pleat/saxs/kernel/kernel.h"
#include "pleat/saxs/model/scatterers.h"

namespace pleat::saxs {

namespace {

/// sin(x) / x and its derivative.
double sinc(double x) { return x == 0.0 ? 1.0 : std::sin(x) / x; }
double sinc_slope(double x) {
    // For smaller x the difference of cosine and sine cancels, so the series is used; its next term
    // is x^3 / 30.
    if (std::fabs(x) < 1e-4) return -x / 3.0;
    return (std::cos(x) - std::sin(x) / x) / x;
}

class ReferenceKernel final : public Kernel {
public:
    ReferenceKernel(const Model& model, const Context& context)
        : model_(model), context_(context) {}

    void profiles(View<const float, 3> xyz, View<const float, 3> scales,
                  View<double, 3> partial) override {
        const Index count = model_.scatterer_count(), channels = model_.channel_count();
        for (double& value : partial) value = 0.0;
        for (Index frame = 0; frame < xyz.extent(0); ++frame) {
            const Array<double, 3> amplitude = amplitudes(scale_of(scales, frame));
            for (Index i = 0; i < count; ++i) {
                throw_if_stopped(context_);
                for (Index j = 0; j < count; ++j) {
                    const double r = distance(xyz[frame], i, j);
                    for (Index k = 0; k < model_.q_count(); ++k) {
                        const double s = sinc(model_.q[k] * r);
                        for (Index a = 0; a < channels; ++a)
                            for (Index b = 0; b < channels; ++b)
                                partial(frame, ordered_pair(a, b), k) +=
                                    amplitude(a, i, k) * amplitude(b, j, k) * s;
                    }
                }
            }
        }
    }

    void gradient(View<const float, 2> xyz, View<const float, 2> scales,
                  View<const double, 2> weight, View<double, 2> gradient) override {
        const Index count = model_.scatterer_count();
        for (double& value : gradient) value = 0.0;
        const Array<double, 3> amplitude = amplitudes(scales);
        for (Index i = 0; i < count; ++i) {
            throw_if_stopped(context_);
            for (Index j = 0; j < count; ++j) {
                const double r = distance(xyz, i, j);
                if (r == 0.0) continue;
                // Times two, because the sum contains each pair in both orders.
                const double slope = 2.0 * pair_slope(amplitude, weight, i, j, r) / r;
                for (Index axis = 0; axis < 3; ++axis)
                    gradient(axis, i) += slope * (double{xyz(axis, i)} - double{xyz(axis, j)});
            }
        }
    }

private:
    Index ordered_pair(Index a, Index b) const {
        return channel_pair(std::min(a, b), std::max(a, b), model_.channel_count());
    }

    static View<const float, 2> scale_of(View<const float, 3> scales, Index frame) {
        return scales.size() > 0 ? scales[frame] : View<const float, 2>{};
    }

    /// [channel, scatterer, q]
    Array<double, 3> amplitudes(View<const float, 2> scales) const {
        Array<double, 3> result(model_.channel_count(), model_.scatterer_count(), model_.q_count());
        const ScaleClasses classes(model_);
        for (Index c = 0; c < model_.channel_count(); ++c) {
            const Index scale = classes.scale_of(classes.class_of_channel[c]);
            for (Index i = 0; i < model_.scatterer_count(); ++i)
                for (Index k = 0; k < model_.q_count(); ++k)
                    result(c, i, k) = model_.factors(c, model_.types[i], k) *
                                      (scale >= 0 ? double{scales(scale, i)} : 1.0);
        }
        return result;
    }

    double pair_slope(const Array<double, 3>& amplitude, View<const double, 2> weight, Index i,
                      Index j, double r) const {
        double sum = 0.0;
        for (Index k = 0; k < model_.q_count(); ++k) {
            const double q = model_.q[k];
            double product = 0.0;
            for (Index a = 0; a < model_.channel_count(); ++a)
                for (Index b = 0; b < model_.channel_count(); ++b)
                    product += weight(ordered_pair(a, b), k) * 0.5 *
                               (amplitude(a, i, k) * amplitude(b, j, k) +
                                amplitude(b, i, k) * amplitude(a, j, k));
            sum += product * q * sinc_slope(q * r);
        }
        return sum;
    }

    const Model& model_;
    Context context_;
};

}  // namespace

std::unique_ptr<Kernel> make_reference_kernel(const Model& model, const Context& context) {
    return std::make_unique<ReferenceKernel>(model, context);
}

}  // namespace pleat::saxs
