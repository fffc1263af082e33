// Plain slots: a kernel's vectors with the plain objective, which moves fields like couplings.
#pragma once

#include <span>

#include "pleat/core/math/minimise.h"
#include "pleat/couplings/kernel/kernel.h"

namespace pleat::couplings {

/// What a minimiser sees of a kernel where it is to move the fields as well; see Kernel. The kernel
/// outlives it.
class PlainSlots : public Slots {
public:
    explicit PlainSlots(Kernel& kernel) : kernel_(kernel) {}
    double evaluate(int x, int gradient) override {
        return kernel_.evaluate_plain(x, gradient).objective;
    }
    void dots(int a, std::span<const int> with, std::span<double> out) override {
        kernel_.dots(a, with, out);
    }
    void combine(int out, std::span<const int> slots, std::span<const double> factors) override {
        kernel_.combine(out, slots, factors);
    }
    void reserve(int count) override { kernel_.reserve(count); }
    Index size() const override { return kernel_.size(); }
    void download(int slot, float* to) const override { kernel_.download(slot, to); }
    void upload(int slot, const float* from) override { kernel_.upload(slot, from); }

protected:
    Kernel& kernel_;
};

}  // namespace pleat::couplings
