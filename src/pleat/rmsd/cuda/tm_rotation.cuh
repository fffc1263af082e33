// TM rotation: the best rotation of a covariance in few instructions, each thread its own.
#pragma once

#include "pleat/core/cuda/host_device.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd::cuda {

/// The polynomial of the key matrix of a covariance whose squares sum to 1, and its derivative:
/// P(x) = (x^2 - 1)^2 - 8 determinant x - 4 minors.
template <class T>
struct KeyPolynomial {
    T determinant, minors;
    __device__ T value(T x) const {
        const T t = x * x - 1;
        return t * t - 8 * determinant * x - 4 * minors;
    }
    __device__ T slope(T x) const { return 4 * x * (x * x - 1) - 8 * determinant; }
};

/// The largest root, by Newton from above. All roots but those that are nearly double are found in
/// float32 first; a float32 reciprocal of the slope suffices in either precision.
static __device__ __forceinline__ double largest_root(const KeyPolynomial<double>& key) {
    constexpr double kBound = 1.7320508075688774;  // of the sum of singular values: sqrt(3)
    constexpr float kMinSlope = 0.05f;             // the float32 root is within 1e-4 then
    const KeyPolynomial<float> rough{static_cast<float>(key.determinant),
                                     static_cast<float>(key.minors)};
    auto guess = static_cast<float>(kBound);
    for (int n = 0; n < 12; ++n) {
        const float step = rough.value(guess) * pleat::cuda::rough_inverse(rough.slope(guess));
        guess -= step;
        if (!(step > 1e-5f)) break;
    }
    double x = rough.slope(guess) > kMinSlope ? double{guess} + 1e-4 : kBound;
    for (int n = 0; n < 20; ++n) {
        const double step =
            key.value(x) * pleat::cuda::rough_inverse(static_cast<float>(key.slope(x)));
        x -= step;
        if (!(fabs(step) > 1e-13)) break;
    }
    return x;
}

/// The adjugate of a symmetric 4 x 4 matrix of rank 3: each column is its null vector. Returns the
/// column with the largest entry on the diagonal in `column`, and that entry.
static __device__ __forceinline__ double null_vector(const double (&n)[4][4], double (&column)[4]) {
    // Minors of the upper and of the lower two rows: of columns 01, 02, 03, 12, 13, 23.
    double u[6], l[6];
    int next = 0;
#pragma unroll
    for (int a = 0; a < 3; ++a) {
#pragma unroll
        for (int b = a + 1; b < 4; ++b, ++next) {
            u[next] = n[0][a] * n[1][b] - n[1][a] * n[0][b];
            l[next] = n[2][a] * n[3][b] - n[3][a] * n[2][b];
        }
    }
    double largest = -1.0;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        // Laplace's expansion along the other row of its half; the sign does not matter.
        const double(&v)[4] = n[c ^ 1];
        const double(&m)[6] = c < 2 ? l : u;
        const double entries[4] = {
            v[1] * m[5] - v[2] * m[4] + v[3] * m[3], v[2] * m[2] - v[0] * m[5] - v[3] * m[1],
            v[0] * m[4] - v[1] * m[2] + v[3] * m[0], v[1] * m[1] - v[0] * m[3] - v[2] * m[0]};
        const double size = fabs(entries[c]);
        const bool is_larger = size > largest;
        largest = is_larger ? size : largest;
#pragma unroll
        for (int a = 0; a < 4; ++a) column[a] = is_larger ? entries[a] : column[a];
    }
    return largest;
}

/// rotation_by_jacobi(), which is rare, as a call.
static __device__ __attribute__((noinline)) void call_jacobi(const double (&r)[9], double (&m)[9]) {
    rotation_by_jacobi(r, m);
}

/// The rotation `m` of the covariance `r`, as rotation_of_covariance() finds it: Jacobi where the
/// largest root of the key matrix is not alone.
static __device__ __forceinline__ void find_rotation(const double (&r)[9], double (&m)[9]) {
    double square = 0.0;
#pragma unroll
    for (int n = 0; n < 9; ++n) square += r[n] * r[n];
    const double scale = rsqrt(square);
    double unit[9];
#pragma unroll
    for (int n = 0; n < 9; ++n) unit[n] = r[n] * scale;
    KeyPolynomial<double> key{0.0, 0.0};
#pragma unroll
    for (int a = 0; a < 3; ++a) {
        const int u = 3 * ((a + 1) % 3), v = 3 * ((a + 2) % 3);
#pragma unroll
        for (int b = 0; b < 3; ++b) {
            const int s = (b + 1) % 3, t = (b + 2) % 3;
            const double minor = unit[u + s] * unit[v + t] - unit[u + t] * unit[v + s];
            key.minors += minor * minor;
            if (a == 0) key.determinant += unit[b] * minor;
        }
    }
    const double root = largest_root(key);
    double n[4][4], quaternion[4] = {};
    key_matrix(unit, n);
#pragma unroll
    for (int a = 0; a < 4; ++a) n[a][a] -= root;
    // The product of the gaps to the other roots times the square of the largest component.
    constexpr double kMinGaps = 1e-3;
    const double gaps = null_vector(n, quaternion);
    if (!(gaps > kMinGaps * root * root * root)) return call_jacobi(r, m);
    rotation_of(quaternion, m);
}

}  // namespace pleat::rmsd::cuda
