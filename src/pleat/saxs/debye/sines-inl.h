// Sines of vectors: distances and their phases for every instruction set. Included once per target.
// No include guard: foreach_target.h compiles it again for each.
#include <type_traits>

#include <hwy/highway.h>

#include "pleat/saxs/debye/sine_grid.h"

HWY_BEFORE_NAMESPACE();
namespace pleat::saxs::HWY_NAMESPACE {

/// Polynomials of v^2 for |v| <= 1/4: sin(2 pi v) / v less kLeading, and cos(2 pi v). Each float32
/// coefficient was fitted by least squares after those before it had been rounded, so that no
/// rounding shifts all sines alike: where a profile is a thousandth of I(0), such a shift would
/// count a thousand times. Errors below 2e-9 in float32, 1e-17 in float64.
template <class T>
struct Polynomials;
template <>
struct Polynomials<float> {
    static constexpr float sine[] = {0.00193530705f, -41.3417015f, 81.6051483f,
                                     -76.7009583f,   41.9517975f,  -14.0371218f};
    static constexpr float cosine[] = {1.0f,         -19.7392082f, 64.9393005f,
                                       -85.4515228f, 60.107357f,   -24.7527618f};
};
template <>
struct Polynomials<double> {
    static constexpr double sine[] = {
        6.2831853071795862 - 6.28125, -41.341702240399755,  81.605249276073621,
        -76.705859752824921,          42.058693925428685,   -15.094641676117901,
        3.8199280942271643,           -0.71773379214134536, 0.10089695501646812};
    static constexpr double cosine[] = {1.0,
                                        -19.739208802178716,
                                        64.939394022668282,
                                        -85.456817206691511,
                                        60.244641371646722,
                                        -26.426256769631195,
                                        7.9035358711039381,
                                        -1.7143794371382703,
                                        0.28185225938435093,
                                        -0.035219604638146759};
};

constexpr double kLeading = 6.28125;

namespace hw = hwy::HWY_NAMESPACE;

template <class D, class V, int kTerms>
HWY_INLINE V polynomial(D d, V y, const hw::TFromD<D> (&terms)[kTerms]) {
    V sum = hw::Set(d, terms[kTerms - 1]);
    for (int n = kTerms - 2; n >= 0; --n) sum = hw::MulAdd(sum, y, hw::Set(d, terms[n]));
    return sum;
}

/// r and 1 / r from r^2; at least 1e-6 angstrom.
template <class D, class V>
HWY_INLINE void distance(D d, V squared, V& r, V& inverse) {
    using T = hw::TFromD<D>;
    squared = hw::Max(squared, hw::Set(d, T(1e-12)));
    if constexpr (std::is_same_v<T, float> && HWY_TARGET <= HWY_AVX3) {
        // 14 bits; one Newton step doubles them to 28.
        const V y = hw::ApproximateReciprocalSqrt(squared);
        const V rough = hw::Mul(squared, y);
        const V error = hw::NegMulAdd(rough, y, hw::Set(d, T(1)));
        const V half = hw::Mul(error, hw::Set(d, T(0.5)));
        inverse = hw::MulAdd(half, y, y);
        r = hw::MulAdd(half, rough, rough);
    } else {
        r = hw::Sqrt(squared);
        inverse = hw::Div(hw::Set(d, T(1)), r);
    }
}

/// Adding this number to another one rounds that to an integer, because its last digit has the
/// value 1.
template <class T>
constexpr T kRounder = std::is_same_v<T, float> ? T(12582912.0) : T(6755399441055744.0);

/// The phase r * turn (in turns) reduced by half turns to the range from -1/4 to 1/4; `sign` gets
/// the sign that the removed half turns cause.
template <class D, class V, class T = hw::TFromD<D>>
HWY_INLINE V reduced_phase(D d, V r, SplitNumber<T> turn, V& sign) {
    const V whole = hw::MulAdd(r, hw::Set(d, turn.high), hw::Mul(r, hw::Set(d, turn.low)));
    const V rounder = hw::Set(d, kRounder<T>);
    const V rounded = hw::Add(hw::Add(whole, whole), rounder);
    const hw::RebindToUnsigned<D> du;
    sign = hw::BitCast(d, hw::ShiftLeft<8 * sizeof(T) - 1>(hw::BitCast(du, rounded)));
    return hw::NegMulAdd(hw::Sub(rounded, rounder), hw::Set(d, T(0.5)), whole);
}

template <class D, class V, class T = hw::TFromD<D>>
HWY_INLINE V sine_polynomial(D d, V v, V y) {
    const V rest = hw::Mul(v, polynomial(d, y, Polynomials<T>::sine));
    return hw::MulAdd(v, hw::Set(d, static_cast<T>(kLeading)), rest);
}

template <class D, class V, class T = hw::TFromD<D>>
HWY_INLINE void sine_cosine(D d, V r, SplitNumber<T> turn, V& sine, V& cosine) {
    V sign;
    const V v = reduced_phase(d, r, turn, sign);
    const V y = hw::Mul(v, v);
    sine = hw::Xor(sine_polynomial(d, v, y), sign);
    cosine = hw::Xor(polynomial(d, y, Polynomials<T>::cosine), sign);
}

template <class D, class V, class T = hw::TFromD<D>>
HWY_INLINE V sine_of(D d, V r, SplitNumber<T> turn) {
    V sign;
    const V v = reduced_phase(d, r, turn, sign);
    return hw::Xor(sine_polynomial(d, v, hw::Mul(v, v)), sign);
}

}  // namespace pleat::saxs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
