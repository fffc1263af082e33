// Vector loops: Highway loops, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pleat/mutual_information/exact/vector_loops.cpp"
#include "hwy/foreach_target.h"  // compiles this file once per target; must come before highway.h

#include "hwy/highway.h"
#include "pleat/mutual_information/exact/vector_loops.h"

HWY_BEFORE_NAMESPACE();
namespace pleat::mutual_information::loops::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Widths are multiples of 8 values: vectors of at most 8 lanes fit them on every target.
using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr D kD;
constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(D()));

void products_of(const double* HWY_RESTRICT pair, const double* const* thirds, Index count,
                 double* out) {
    V sum[4] = {hn::Zero(kD), hn::Zero(kD), hn::Zero(kD), hn::Zero(kD)};
    Index at = 0;
    for (; at + kLanes <= count; at += kLanes) {
        const V value = hn::LoadU(kD, pair + at);
        for (int third = 0; third < 4; ++third)
            sum[third] = hn::MulAdd(value, hn::LoadU(kD, thirds[third] + at), sum[third]);
    }
    for (int third = 0; third < 4; ++third) {
        out[third] = hn::GetLane(hn::SumOfLanes(kD, sum[third]));
        for (Index last = at; last < count; ++last) out[third] += pair[last] * thirds[third][last];
    }
}

template <int kVectors>
void weighted_block(const double* HWY_RESTRICT weight, const double* HWY_RESTRICT rows, Index count,
                    Index width, double* HWY_RESTRICT sum) {
    V total[kVectors];
    for (auto& sums : total) sums = hn::Zero(kD);
    for (Index row = 0; row < count; ++row) {
        const V factor = hn::Set(kD, weight[row]);
        for (int v = 0; v < kVectors; ++v)
            total[v] = hn::MulAdd(factor, hn::LoadU(kD, rows + row * width + v * kLanes), total[v]);
    }
    for (int v = 0; v < kVectors; ++v) hn::StoreU(total[v], kD, sum + v * kLanes);
}

void weighted_sum_of(const double* weight, const double* rows, Index count, Index width,
                     double* sum) {
    constexpr int kVectors = 8;
    Index first = 0;
    for (; first + kVectors * kLanes <= width; first += kVectors * kLanes)
        weighted_block<kVectors>(weight, rows + first, count, width, sum + first);
    for (; first < width; first += kLanes)
        weighted_block<1>(weight, rows + first, count, width, sum + first);
}

// Four rows of the matrix by kVectors vectors, over all rows of left and right.
template <int kVectors>
void add_block(const double* HWY_RESTRICT left, const double* HWY_RESTRICT right, Index rows,
               Index width, double* HWY_RESTRICT matrix) {
    V total[4][kVectors];
    for (int f = 0; f < 4; ++f)
        for (int v = 0; v < kVectors; ++v)
            total[f][v] = hn::LoadU(kD, matrix + f * width + v * kLanes);
    for (Index row = 0; row < rows; ++row) {
        V value[kVectors];
        for (int v = 0; v < kVectors; ++v)
            value[v] = hn::LoadU(kD, right + row * width + v * kLanes);
        for (int f = 0; f < 4; ++f) {
            const V factor = hn::Set(kD, left[row * width + f]);
            for (int v = 0; v < kVectors; ++v)
                total[f][v] = hn::MulAdd(factor, value[v], total[f][v]);
        }
    }
    for (int f = 0; f < 4; ++f)
        for (int v = 0; v < kVectors; ++v)
            hn::StoreU(total[f][v], kD, matrix + f * width + v * kLanes);
}

void add_products_of(const double* left, const double* right, Index rows, Index width,
                     double* matrix) {
    constexpr int kVectors = 2;
    for (Index f = 0; f < width; f += 4) {
        Index g = 0;
        for (; g + kVectors * kLanes <= width && g < f + 4; g += kVectors * kLanes)
            add_block<kVectors>(left + f, right + g, rows, width, matrix + f * width + g);
        for (; g < f + 4; g += kLanes)
            add_block<1>(left + f, right + g, rows, width, matrix + f * width + g);
    }
}

void make_orthogonal_to(const double* others, Index rows, Index count, double* vector) {
    for (Index row = 0; row < rows; ++row) {
        const double* HWY_RESTRICT other = others + row * count;
        V sum = hn::Zero(kD);
        Index at = 0;
        for (; at + kLanes <= count; at += kLanes)
            sum = hn::MulAdd(hn::LoadU(kD, vector + at), hn::LoadU(kD, other + at), sum);
        double product = hn::GetLane(hn::SumOfLanes(kD, sum));
        for (Index last = at; last < count; ++last) product += vector[last] * other[last];
        const V factor = hn::Set(kD, product);
        for (at = 0; at + kLanes <= count; at += kLanes)
            hn::StoreU(hn::NegMulAdd(factor, hn::LoadU(kD, other + at), hn::LoadU(kD, vector + at)),
                       kD, vector + at);
        for (; at < count; ++at) vector[at] -= product * other[at];
    }
}

// Processes one vector of values of every letter (kPlain: one value).
template <class Tag>
void apply_gram_at(Tag tag, const GramFactors& factors, double* f, Index stride) {
    auto sum = hn::Zero(tag), to_largest = hn::Zero(tag);
    const auto largest = hn::LoadU(tag, f + factors.largest * stride);
    for (Index a = 0; a < factors.letters; ++a) {
        if (a == factors.largest) continue;
        const auto value = hn::LoadU(tag, f + a * stride);
        sum = hn::MulAdd(hn::Set(tag, factors.dyad[a]), value, sum);
        to_largest = hn::MulAdd(hn::Set(tag, factors.with_largest[a]), value, to_largest);
    }
    for (Index a = 0; a < factors.letters; ++a) {
        if (a == factors.largest) continue;
        const double dyad = factors.dyad[a];
        auto value = hn::LoadU(tag, f + a * stride);
        value = hn::Mul(hn::Set(tag, 1 - factors.sign * dyad * dyad), value);
        value = hn::MulAdd(hn::Set(tag, factors.sign * dyad), sum, value);
        value = hn::MulAdd(hn::Set(tag, factors.sign * factors.with_largest[a]), largest, value);
        hn::StoreU(value, tag, f + a * stride);
    }
    hn::StoreU(hn::MulAdd(hn::Set(tag, factors.sign), to_largest, largest), tag,
               f + factors.largest * stride);
}

void apply_gram_to(const GramFactors& factors, double* f, Index stride, Index width) {
    Index at = 0;
    for (; at + kLanes <= width; at += kLanes) apply_gram_at(kD, factors, f + at, stride);
    for (; at < width; ++at) apply_gram_at(hn::CappedTag<double, 1>(), factors, f + at, stride);
}

}  // namespace pleat::mutual_information::loops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pleat::mutual_information::loops {

HWY_EXPORT(products_of);
HWY_EXPORT(weighted_sum_of);
HWY_EXPORT(add_products_of);
HWY_EXPORT(make_orthogonal_to);
HWY_EXPORT(apply_gram_to);

void products(const double* pair, const double* const* thirds, Index count, double* out) {
    HWY_DYNAMIC_DISPATCH(products_of)(pair, thirds, count, out);
}
void weighted_sum(const double* weight, const double* rows, Index count, Index width, double* sum) {
    HWY_DYNAMIC_DISPATCH(weighted_sum_of)(weight, rows, count, width, sum);
}
void add_products(const double* left, const double* right, Index rows, Index width,
                  double* matrix) {
    HWY_DYNAMIC_DISPATCH(add_products_of)(left, right, rows, width, matrix);
}
void make_orthogonal(const double* others, Index rows, Index count, double* vector) {
    HWY_DYNAMIC_DISPATCH(make_orthogonal_to)(others, rows, count, vector);
}
void apply_gram(const GramFactors& factors, double* f, Index stride, Index width) {
    HWY_DYNAMIC_DISPATCH(apply_gram_to)(factors, f, stride, width);
}

}  // namespace pleat::mutual_information::loops
#endif  // HWY_ONCE
